"""Row tables: counts of records over groups of values, for many marginals at once, compiled.

Fitting rows asks two things again and again: how many of the rows fall into each cell of each
table, and whether one row with another value brings the tables nearer to what is wanted of them.
Tables lie one after the other, flat in C order; each attribute of a table has a list that says the
group of every value.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numba import njit
from numpy.typing import NDArray

from eke.arrays import Codes, FloatArray
from eke.domain import Domain
from eke.publish.coarse import CoarseMarginal

Seeds: TypeAlias = NDArray[np.uint64]
_NONE = -1


@dataclass(frozen=True, slots=True, eq=False)
class RowTables:
    """Where the cells of some marginals lie, and which cell a row falls into."""

    starts: Codes  # (tables + 1,)
    columns: Codes  # (tables, widest) attributes of each table, -1 in the padding
    strides: Codes  # (tables, widest)
    lists: Codes  # (tables, widest) where the groups of the values begin
    groups: Codes  # all lists of groups, one after the other
    first: Codes  # (attributes + 1,) tables of attribute k are within[first[k]:first[k + 1]]
    within: Codes

    @staticmethod
    def of(domain: Domain, marginals: Sequence[CoarseMarginal]) -> RowTables:
        """The tables of some marginals over this domain."""
        widest = max((len(one.attributes) for one in marginals), default=1)
        columns = np.full((len(marginals), widest), _NONE, np.int64)
        strides, lists = np.zeros_like(columns), np.zeros_like(columns)
        places = {name: place for place, name in enumerate(domain.names)}
        starts, parts, length = [0], [np.empty(0, np.int64)], 0
        known: dict[int, int] = {}
        within: list[list[int]] = [[] for _ in places]
        for table, one in enumerate(marginals):
            shape = one.shape
            for slot, (name, labels) in enumerate(zip(one.attributes, one.groups, strict=True)):
                columns[table, slot] = places[name]
                strides[table, slot] = math.prod(shape[slot + 1 :])
                if id(labels) not in known:  # lists are shared by many tables
                    known[id(labels)] = length
                    parts.append(labels)
                    length += len(labels)
                lists[table, slot] = known[id(labels)]
                within[places[name]].append(table)
            starts.append(starts[-1] + math.prod(shape))
        return RowTables(
            np.array(starts, np.int64),
            columns,
            strides,
            lists,
            np.concatenate(parts),
            np.cumsum([0, *map(len, within)], dtype=np.int64),
            np.array([table for tables in within for table in tables], np.int64),
        )

    def counts(self, rows: Codes) -> FloatArray:
        """How many rows fall into each cell, all tables one after another."""
        return _counts(rows, self.starts, self.columns, self.strides, self.lists, self.groups)

    def apart(self, cells: FloatArray) -> list[FloatArray]:
        """The numbers of each table by themselves."""
        return [cells[begin:end] for begin, end in pairwise(self.starts.tolist())]  # none of none


@njit(nogil=True, cache=True)
def _counts(  # noqa: PLR0917 -- compiled code takes no keywords
    rows: Codes, starts: Codes, columns: Codes, strides: Codes, lists: Codes, groups: Codes
) -> FloatArray:  # pragma: no cover - compiled
    tables, widest = columns.shape
    result = np.zeros(starts[-1])
    for table in range(tables):
        for row in range(len(rows)):
            cell = starts[table]
            for slot in range(widest):
                column = columns[table, slot]
                if column < 0:
                    break
                cell += strides[table, slot] * groups[lists[table, slot] + rows[row, column]]
            result[cell] += 1.0
    return result


@dataclass(frozen=True, slots=True, eq=False)
class Neighbourhood:
    """Rows that agree in one attribute, and the attributes that were measured with each other."""

    order: Codes  # (attributes, rows) rows sorted by each attribute
    begin: Codes  # (attributes, most values + 1) where those with a value begin
    first: Codes  # (attributes + 1,) partners of attribute k are partners[first[k]:first[k + 1]]
    partners: Codes

    @staticmethod
    def of(domain: Domain, rows: Codes, tables: RowTables) -> Neighbourhood:
        """The neighbourhood of rows as they are now."""
        width = max(domain.shape) + 1
        order = np.ascontiguousarray(np.argsort(rows, axis=0, kind="stable").T)
        begin = np.array(
            [
                np.searchsorted(rows[own, column], np.arange(width))
                for column, own in enumerate(order)
            ],
            np.int64,
        )
        partners: list[set[int]] = [set() for _ in domain.names]
        for own in tables.columns:
            for column in own[own >= 0].tolist():
                partners[column] |= {int(other) for other in own if other >= 0} - {column}
        return Neighbourhood(
            order,
            begin,
            np.cumsum([0, *map(len, partners)], dtype=np.int64),
            np.array([other for own in partners for other in sorted(own)], np.int64),
        )


def improved(
    rows: Codes,
    tables: RowTables,
    neighbourhood: Neighbourhood,
    excess: FloatArray,
    weights: FloatArray,
    *,
    each: float,
    sweeps: int,
    seed: int,
) -> int:
    """How many values were changed, in place: each brings the rows nearer to what is wanted.

    `excess` says by how much each cell has too many, and is kept; its squares, times the weights
    of the tables, become less with every change. `each` is what one row stands for. A row is
    offered the value of another one that agrees with it in an attribute measured together with
    this, so that values that go together are offered together.
    """
    return int(
        _improved(
            rows,
            neighbourhood.order,
            neighbourhood.begin,
            neighbourhood.first,
            neighbourhood.partners,
            tables.first,
            tables.within,
            tables.columns,
            tables.strides,
            tables.lists,
            tables.groups,
            tables.starts,
            excess,
            weights,
            each,
            sweeps,
            seed,
        )
    )


@njit(nogil=True, cache=True)
def _improved(  # noqa: PLR0917 -- compiled code takes no keywords
    rows: Codes,
    order: Codes,
    begin: Codes,
    first_partner: Codes,
    partners: Codes,
    first: Codes,
    within: Codes,
    columns: Codes,
    strides: Codes,
    lists: Codes,
    groups: Codes,
    starts: Codes,
    excess: FloatArray,
    weights: FloatArray,
    each: float,
    sweeps: int,
    seed: int,
) -> int:  # pragma: no cover - compiled
    state = np.array([seed], np.uint64)
    count, width = rows.shape
    most = max(1, np.max(first[1:] - first[:-1]))
    cells = np.empty((2, most), np.int64)  # before and after
    changed = 0
    for _ in range(sweeps):
        for row in range(count):
            begun = _below(state, width)
            for step in range(width):
                column = (begun + step) % width
                own = partners[first_partner[column] : first_partner[column + 1]]
                other = _alike(row, rows, order, begin, own, state)
                offered = rows[other, column]
                if offered == rows[row, column]:
                    continue
                change = 0.0
                for number in range(first[column], first[column + 1]):
                    table = within[number]
                    before = after = starts[table]
                    for slot in range(columns.shape[1]):
                        named = columns[table, slot]
                        if named < 0:
                            break
                        place, stride = lists[table, slot], strides[table, slot]
                        part = stride * groups[place + rows[row, named]]
                        before += part
                        after += stride * groups[place + offered] if named == column else part
                    cells[0, number - first[column]] = before
                    cells[1, number - first[column]] = after
                    if before != after:
                        change += weights[table] * (excess[after] - excess[before] + each)
                if change < 0.0:
                    for number in range(first[column + 1] - first[column]):
                        excess[cells[0, number]] -= each
                        excess[cells[1, number]] += each
                    rows[row, column] = offered
                    changed += 1
    return changed


@njit(nogil=True, cache=True)
def _alike(  # noqa: PLR0917 -- compiled code takes no keywords
    row: int, rows: Codes, order: Codes, begin: Codes, partners: Codes, state: Seeds
) -> np.int64:  # pragma: no cover - compiled
    """A row that had this one's value in one of some attributes, or any row."""
    pick = _below(state, len(partners) + 1)
    if pick < len(partners):
        partner = partners[pick]
        low, high = begin[partner, rows[row, partner]], begin[partner, rows[row, partner] + 1]
        if high > low:
            return np.int64(order[partner, low + _below(state, high - low)])
    return _below(state, len(rows))


@njit(nogil=True, cache=True)
def _below(state: Seeds, limit: int) -> np.int64:  # pragma: no cover - compiled
    """A number from 0 on below the limit (SplitMix64, Steele, Lea and Flood 2014)."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    mixed = state[0]
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.int64((mixed ^ (mixed >> np.uint64(31))) % np.uint64(limit))
