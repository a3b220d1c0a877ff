"""Cells: the protected table as its non-empty cells with their counts, ready to be summed.

The data engine codes and aggregates the table once, when it is opened. From then on every marginal
is integer arithmetic on these arrays, so it cannot fail on a raw value and does not depend on the
order of rows, on partitions or on threads.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from eke.data.source import Counts, Rows
from eke.errors import DataError, SecretLeak

_WIDEST_KEY = 2**62
_DENSE_AT_LEAST = 65_536


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Cells:
    """The sparse histogram of a table over its whole domain, sorted by code."""

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    columns: tuple[NDArray[np.signedinteger[Any]], ...]  # one an attribute, (cells,) each
    counts: NDArray[np.int64]  # (cells,)

    def __post_init__(self) -> None:
        if len(self.names) != len(self.sizes) or len(self.names) != len(self.columns):
            raise DataError("cells need one size and one column an attribute")
        for size, column in zip(self.sizes, self.columns, strict=True):
            if column.shape != self.counts.shape:
                raise DataError("all columns of the coded table must have the same length")
            if len(column) and not 0 <= int(column.min()) <= int(column.max()) < size:
                raise DataError("a code lies outside the domain; please report this fault in eke")

    def __repr__(self) -> str:
        return f"Cells({', '.join(self.names)}; exact counts are not shown)"

    def __reduce__(self) -> NoReturn:
        raise SecretLeak("the protected table cannot be pickled or copied")

    def marginal(self, attributes: tuple[str, ...]) -> Counts:
        """Exact counts of the non-empty cells of some attributes, sorted by code."""
        places = [self._place(name) for name in attributes]
        if len(set(places)) != len(places):
            raise DataError("an attribute set may name each attribute only once")
        if not places:
            total = np.array([self.counts.sum(dtype=np.int64)], dtype=np.int64)
            return Counts((), np.zeros((1, 0), dtype=np.int64), total)
        if not len(self.counts):
            nothing = np.zeros(0, dtype=np.int64)
            return Counts(attributes, nothing.reshape(0, len(places)), nothing)
        key, width = self._key(places)
        if width <= max(_DENSE_AT_LEAST, 4 * len(key)):
            sums = np.zeros(width, dtype=np.int64)
            np.add.at(sums, key, self.counts)
            some_row = np.empty(width, dtype=np.int64)
            some_row[key] = np.arange(len(key))
            filled = np.flatnonzero(sums)
            rows, totals = some_row[filled], sums[filled]
        else:
            order = np.argsort(key, kind="stable")
            ordered = key[order]
            starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
            rows, totals = order[starts], np.add.reduceat(self.counts[order], starts)
        codes = np.empty((len(rows), len(places)), dtype=np.int64)
        for at, place in enumerate(places):
            codes[:, at] = self.columns[place][rows]
        return Counts(attributes, codes, totals)

    def sha256(self) -> str:
        """The digest of the sorted cells; the same table gives the same one in any row order."""
        digest = hashlib.sha256(repr((self.names, self.sizes)).encode())
        for column in (*self.columns, self.counts):
            digest.update(np.ascontiguousarray(column, dtype="<i8").tobytes())
        return digest.hexdigest()

    def _place(self, name: str) -> int:
        if name not in self.names:
            raise DataError(f"no attribute {name!r}; the domain has {', '.join(self.names)}")
        return self.names.index(name)

    def _key(self, places: list[int]) -> tuple[NDArray[np.int64], int]:
        """One integer a row that orders rows as their codes do, and a bound above all of them."""
        key = np.zeros(len(self.counts), dtype=np.int64)
        width = 1
        for place in places:
            size, codes = self.sizes[place], self.columns[place]
            if width * size > _WIDEST_KEY:
                # Ranks keep the order and are as few as there are rows, so the product fits again.
                distinct, key = np.unique(key, return_inverse=True)
                width = len(distinct)
            if width * size > _WIDEST_KEY:  # of millions of rows and a column of 10¹² values
                distinct, codes = np.unique(codes, return_inverse=True)
                size = len(distinct)
            key = key * size + codes
            width *= size
        return key, width


def sorted_cells(
    names: tuple[str, ...],
    sizes: tuple[int, ...],
    columns: list[NDArray[np.signedinteger[Any]]],
    counts: NDArray[np.int64],
) -> Cells:
    """The cells of an aggregated table in whatever order the engine returned it."""
    order = np.lexsort(columns[::-1])
    return Cells(names, sizes, tuple(column[order] for column in columns), counts[order])


def cells_of_rows(rows: Rows, sizes: tuple[int, ...]) -> Cells:
    """The cells that these rows fill: the rows without their order."""
    distinct, counts = np.unique(rows.codes, axis=0, return_counts=True)
    return sorted_cells(rows.attributes, sizes, list(distinct.T), counts.astype(np.int64))
