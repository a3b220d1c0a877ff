"""Many tables one after another, looked up or counted for thousands of records at once, compiled.

Sampling asks the same two things of all tables of a model again and again: the sum of a record's
entries, and how many records fall into each cell. Here each is one pass over the records.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numba import njit

from eke.arrays import Codes, FloatArray
from eke.domain import Domain

AttributeSet = tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class TableLayout:
    """Where the cells of tables over some attribute sets lie, each table flat in C order."""

    attribute_sets: tuple[AttributeSet, ...]
    columns: Codes  # (tables, widest) attributes of each table, padded
    strides: Codes  # (tables, widest) 0 in the padding
    starts: Codes  # (tables + 1,)

    @staticmethod
    def of(domain: Domain, attribute_sets: Sequence[AttributeSet]) -> TableLayout:
        """The layout for tables over these attribute sets."""
        widest = max((len(attributes) for attributes in attribute_sets), default=1)
        columns = np.zeros((len(attribute_sets), max(widest, 1)), np.int64)
        strides = np.zeros_like(columns)
        starts = [0]
        for table, attributes in enumerate(attribute_sets):
            sizes = domain.sizes(attributes)
            for place, name in enumerate(attributes):
                columns[table, place] = domain.names.index(name)
                strides[table, place] = math.prod(sizes[place + 1 :])
            starts.append(starts[-1] + math.prod(sizes))
        return TableLayout(tuple(attribute_sets), columns, strides, np.array(starts, np.int64))

    def flat(self, tables: Mapping[AttributeSet, FloatArray]) -> FloatArray:
        """All tables one after another; shape (cells,)."""
        if not self.attribute_sets:
            return np.empty(0)
        return np.concatenate([tables[own].reshape(-1) for own in self.attribute_sets])

    def sums(self, records: Codes, flat: FloatArray) -> FloatArray:
        """The sum of each record's entries in all tables; shape (records,)."""
        return _sums(records, flat, self.columns, self.strides, self.starts)

    def shares(self, records: Codes) -> dict[AttributeSet, FloatArray]:
        """The share of records in each cell, as flat tables."""
        counts = _counts(records, self.columns, self.strides, self.starts) / max(len(records), 1)
        return {
            own: counts[self.starts[table] : self.starts[table + 1]]
            for table, own in enumerate(self.attribute_sets)
        }


@njit(nogil=True, cache=True)
def _sums(
    records: Codes, flat: FloatArray, columns: Codes, strides: Codes, starts: Codes
) -> FloatArray:  # pragma: no cover - compiled
    tables, widest = columns.shape
    result = np.zeros(len(records))
    for row in range(len(records)):
        total = 0.0
        for table in range(tables):
            cell = starts[table]
            for place in range(widest):
                cell += strides[table, place] * records[row, columns[table, place]]
            total += flat[cell]
        result[row] = total
    return result


@njit(nogil=True, cache=True)
def _counts(
    records: Codes, columns: Codes, strides: Codes, starts: Codes
) -> FloatArray:  # pragma: no cover - compiled
    tables, widest = columns.shape
    result = np.zeros(starts[-1])
    for row in range(len(records)):
        for table in range(tables):
            cell = starts[table]
            for place in range(widest):
                cell += strides[table, place] * records[row, columns[table, place]]
            result[cell] += 1.0
    return result
