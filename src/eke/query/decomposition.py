"""Decomposition: a small table of integers as a short sum of products, in one fixed way.

Two ways are tried, each a function of the table alone, and the one that takes fewer words is taken
(anchored if they tie), so equal tables always become equal sums:

- *slices*: the rows along the longest axis are grouped by their direction; each direction times
  the table of its multipliers, taken apart likewise. Every cell belongs to one product, and a
  table that is a single product is found as such.
- *anchored*: f = Σ_S f_S with f_S a function of the attributes S that vanishes where one of them
  has its anchor, a code at which the table rarely leaves its most frequent value; each f_S is then
  sliced. Additive questions stay about as short as they were written.

Both keep the greatest power of two that divides all coefficients: cells of slices are disjoint,
and anchoring only adds and subtracts coefficients, which can be undone likewise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from eke.query.vector import SAFE, IntVector

Product: TypeAlias = tuple[int, dict[str, IntVector]]
"""An integer weight and one primitive, non-constant vector for each attribute it varies along."""


def decompose(names: Sequence[str], table: NDArray[np.int64]) -> list[Product]:
    """The table as a sum of products of vectors over the named axes."""
    cells = _without_constant_axes(_Cells.of(tuple(names), table.shape, table.reshape(-1)))
    sliced = _slices(cells)
    anchored = _anchored(cells, at_most=_length(sliced)) if len(sliced) > 1 else None
    return sliced if anchored is None else anchored


@dataclass(frozen=True, slots=True, eq=False)
class _Cells:
    """The non-zero cells of a table, in the order of their flat index."""

    names: tuple[str, ...]
    shape: tuple[int, ...]
    index: NDArray[np.int64]  # (cells,) flat, in C order
    values: NDArray[np.int64]  # (cells,)

    @staticmethod
    def of(names: tuple[str, ...], shape: tuple[int, ...], flat: NDArray[np.int64]) -> _Cells:
        index = np.flatnonzero(flat)
        return _Cells(names, shape, index, flat[index])

    def codes(self, axis: int) -> NDArray[np.int64]:
        return self.index // self._stride(axis) % self.shape[axis]

    def index_without(self, axis: int) -> NDArray[np.int64]:
        stride = self._stride(axis)
        return self.index // (stride * self.shape[axis]) * stride + self.index % stride

    def without(self, axis: int, index: NDArray[np.int64], values: NDArray[np.int64]) -> _Cells:
        names = self.names[:axis] + self.names[axis + 1 :]
        return _Cells(names, self.shape[:axis] + self.shape[axis + 1 :], index, values)

    def _stride(self, axis: int) -> int:
        return math.prod(self.shape[axis + 1 :])


def _slices(cells: _Cells) -> list[Product]:
    if not len(cells.values):
        return []
    if len(cells.values) == 1:
        return [_single_cell(cells)]
    long = int(np.argmax(cells.shape))
    name, length = cells.names[long], cells.shape[long]
    products: list[Product] = []
    for vector, multipliers in _directions(cells, long):
        whole = np.zeros(length, np.int64)
        whole[vector[0]] = vector[1]
        # A direction that does not vary (all ones, being primitive) is no factor at all.
        here = {} if len(vector[1]) == length and (whole == 1).all() else {name: whole}
        whole.setflags(write=False)
        products += [(weight, {**rest, **here}) for weight, rest in _slices(multipliers)]
    return products


def _directions(
    cells: _Cells, axis: int
) -> list[tuple[tuple[NDArray[np.int64], NDArray[np.int64]], _Cells]]:
    """The distinct primitive rows along an axis, as (codes, entries), with their multipliers."""
    rest = cells.index_without(axis)
    order = np.argsort(rest, kind="stable")
    rest, codes, values = rest[order], cells.codes(axis)[order], cells.values[order]
    starts = np.flatnonzero(np.concatenate(([True], rest[1:] != rest[:-1])))
    lengths = np.diff(np.concatenate((starts, [len(rest)])))
    divisors = np.gcd.reduceat(np.abs(values), starts)  # of a single number it is the number
    multipliers = np.where(values[starts] < 0, -divisors, divisors)
    entries = values // np.repeat(multipliers, lengths)
    rows: dict[tuple[bytes, bytes], list[int]] = {}
    for row, (start, length) in enumerate(zip(starts.tolist(), lengths.tolist(), strict=True)):
        stop = start + length
        key = (codes[start:stop].tobytes(), entries[start:stop].tobytes())
        rows.setdefault(key, []).append(row)
    directions = []
    for members in rows.values():
        start = int(starts[members[0]])
        stop = start + int(lengths[members[0]])
        parts = cells.without(axis, rest[starts[members]], multipliers[members])
        directions.append(((codes[start:stop], entries[start:stop]), parts))
    return directions


def _without_constant_axes(cells: _Cells) -> _Cells:
    """The same function without the axes along which it does not vary."""
    for axis in reversed(range(len(cells.names))):
        size, count = cells.shape[axis], len(cells.index)
        if count % size:
            continue
        codes = cells.codes(axis)
        order = np.argsort(codes, kind="stable")
        if not np.array_equal(codes[order], np.repeat(np.arange(size), count // size)):
            continue
        index = cells.index_without(axis)[order].reshape(size, -1)
        values = cells.values[order].reshape(size, -1)
        if (index == index[0]).all() and (values == values[0]).all():
            cells = cells.without(axis, index[0], values[0])
    return cells


def _single_cell(cells: _Cells) -> Product:
    factors = {}
    for axis, (name, size) in enumerate(zip(cells.names, cells.shape, strict=True)):
        if size > 1:
            indicator = np.zeros(size, np.int64)
            indicator[cells.codes(axis)[0]] = 1
            indicator.setflags(write=False)
            factors[name] = indicator
    return int(cells.values[0]), factors


def _anchored(cells: _Cells, *, at_most: int) -> list[Product] | None:
    """The anchored products, or None when they take more words than that."""
    if int(np.abs(cells.values).max()) << len(cells.names) >= SAFE:
        return None
    parts = np.zeros(cells.shape, np.int64)
    parts.flat[cells.index] = cells.values
    anchors = _anchors(parts)
    for axis, anchor in enumerate(anchors):
        along = np.moveaxis(parts, axis, 0)
        there = along[anchor].copy()
        along -= there
        along[anchor] = there
    cells = _Cells.of(cells.names, cells.shape, parts.reshape(-1))
    # Which attributes a part depends on, as a bit mask: those that are not at their anchor.
    masks = np.zeros(len(cells.index), np.int64)
    for axis, anchor in enumerate(anchors):
        masks |= (cells.codes(axis) != anchor).astype(np.int64) << axis
    order = np.argsort(masks, kind="stable")
    distinct, starts = np.unique(masks[order], return_index=True)
    if len(distinct) > at_most:  # each part takes a word at least
        return None
    members = np.split(order, starts[1:])
    products: list[Product] = []
    for mask, chosen in sorted(
        zip(distinct.tolist(), members, strict=True),
        key=lambda part: (part[0].bit_count(), part[0]),
    ):
        part = _slices(_part(cells, mask, chosen))
        at_most -= _length(part)
        if at_most < 0:
            return None
        products += part
    return products


def _length(products: Sequence[Product]) -> int:
    """How many words it takes to write them down: the weights and the runs of the vectors."""
    return sum(
        1 + sum(1 + int(np.count_nonzero(vector[1:] != vector[:-1])) for vector in factors.values())
        for _, factors in products
    )


def _anchors(table: NDArray[np.int64]) -> list[int]:
    """For each axis the first code with the fewest cells away from the most frequent value.

    Among equally frequent values the one nearest 0 counts, among those the one that comes first:
    multiples of a table have the same anchors.
    """
    values, first, counts = np.unique(table, return_index=True, return_counts=True)
    usual = values[np.lexsort((first, np.abs(values), -counts))[0]]
    others = table != usual
    axes = range(table.ndim)
    return [
        int(np.argmin(others.sum(axis=tuple(other for other in axes if other != axis))))
        for axis in axes
    ]


def _part(cells: _Cells, mask: int, chosen: NDArray[np.int64]) -> _Cells:
    """One f_S: the chosen cells as a table over the attributes in the mask."""
    here = _Cells(cells.names, cells.shape, cells.index[chosen], cells.values[chosen])
    axes = [axis for axis in range(len(cells.names)) if mask >> axis & 1]
    index = np.zeros(len(chosen), np.int64)
    for axis in axes:
        index = index * cells.shape[axis] + here.codes(axis)
    names = tuple(cells.names[axis] for axis in axes)
    return _Cells(names, tuple(cells.shape[axis] for axis in axes), index, here.values)
