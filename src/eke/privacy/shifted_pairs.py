"""Shifted tables of at most two attributes, side by side in one matrix: the same, and faster.

While no table has more than two attributes, loss is only moved between tables that share one. All
of these lie in the rows of that attribute then, so that a sweep takes a few operations for each
attribute where `ShiftedTables` takes some for each table. Every number is the same as there.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, combinations, pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from eke.privacy.loss_tables import Attributes, LossTables
from eke.privacy.pair_split import Cells
from eke.privacy.shifted_tables import ShiftedTables, indistinguishable_values_merged

# A matrix has room for all pairs of attributes; where few of them were asked for, it is not worth
# it. That is a matter of time and memory only.
SMALL_MATRIX = 2**16
LARGEST_MATRIX = 2**22
MOST_ROOM = 8


def shifted(losses: LossTables, threshold: int) -> Shifted:
    """The sum of tables, to be shifted; what it says does not depend on how it is kept."""
    values = indistinguishable_values_merged(losses)
    names = sorted({name for table in losses for name in table.attributes})
    room = sum(len(values[name]) for name in names) ** 2
    cells = sum(table.cells.size for table in losses)
    if names and room <= min(LARGEST_MATRIX, max(SMALL_MATRIX, MOST_ROOM * cells)):
        return ShiftedPairs(losses, threshold, names, values)
    return ShiftedTables(losses, threshold)


class ShiftedPairs:
    """What `ShiftedTables` is before `include_rests`, with the same promise.

    Each row and column of the matrix stands for one value of one attribute. Where the rows of an
    attribute meet the columns of another is the table of both, once each way; where they meet its
    own columns, the table of that attribute alone, the same in all of these columns. Where nothing
    was measured, there are zeros.

    Privacy: `constant` is never less than the true maximum of B, unless that maximum does not
    exceed the threshold. Every step is that of `ShiftedTables`, in the same order, in integers.
    """

    def __init__(
        self,
        losses: LossTables,
        threshold: int,
        names: Sequence[str],
        values: dict[str, NDArray[np.intp]],
    ) -> None:
        self._losses = losses
        self.values = values
        self.constant = 0
        starts = list(accumulate((len(values[name]) for name in names), initial=0))
        self._cells = np.zeros((starts[-1], starts[-1]), np.int64)
        # Which pairs of attributes have a table; on the diagonal, which attributes have their own.
        self._members = np.zeros((len(names), len(names)), np.bool_)
        self._lay_out(names)
        places = {name: place for place, name in enumerate(names)}
        for table in losses:
            if len(table.attributes) <= 2:
                self._add([places[name] for name in table.attributes], table.cells)
            else:
                here = [places[name] for name in table.attributes]
                for axes, cells in table.pair_split.pairs.items():
                    self._add([here[axis] for axis in axes], cells)
        self._share_among()
        self._normalise()
        self.floor = -max(self.constant - threshold, 1)
        self._settle()

    def with_rests(self) -> Shifted:
        """The same with the parts of larger tables that are not functions of two attributes."""
        if all(len(table.attributes) <= 2 for table in self._losses):
            return self
        return ShiftedTables(self._losses, 0, before=self).with_rests()

    @property
    def tables(self) -> dict[Attributes, Cells]:
        """The tables one by one."""
        tables: dict[Attributes, Cells] = {}
        for i, name in enumerate(self._names):
            if self._members[i, i]:
                tables[(name,)] = self._cells[self._rows[i], self._rows[i].start]
        for i, j in combinations(range(len(self._names)), 2):
            if self._members[i, j]:
                pair = self._names[i], self._names[j]
                tables[pair] = self._cells[self._rows[i], self._rows[j]]
        return tables

    @property
    def sweep_cost(self) -> int:
        """The number of table cells that one sweep visits, each table once an attribute."""
        sizes = np.diff(self._starts)
        cells = np.outer(sizes, sizes)
        np.fill_diagonal(cells, sizes)
        return int(cells[self._members].sum())

    def sweep(self, threshold: int) -> None:
        """Share out the maxima of each attribute once; stop when below the threshold."""
        alive: list[NDArray[np.bool_]] = []
        for i in range(len(self._names)):
            alive.append(self._share_out(i, threshold))
            if self.constant <= threshold:
                return
        staying = np.concatenate([np.zeros(0, np.bool_), *alive])
        if not staying.all():
            for name, rows in zip(self._names, self._rows, strict=True):
                self.values[name] = self.values[name][staying[rows]]
            self._take(staying)
            self._lay_out(self._names)
            self._settle()

    def likely_cell(self) -> dict[str, int]:
        """A cell that looks best attribute by attribute: a start for a search, not a maximum."""
        cell = {name: int(values[0]) for name, values in self.values.items()}
        for name, rows in zip(self._names, self._rows, strict=True):
            total = np.add.reduce(self._maxima(rows), axis=1)
            cell[name] = int(self.values[name][int(total.argmax())])
        return cell

    def _share_out(self, i: int, threshold: int) -> NDArray[np.bool_]:
        """Move loss as `ShiftedTables._share_out` does for the group of attribute i alone.

        Returns which values can exceed the threshold.
        """
        rows = self._rows[i]
        maxima = self._maxima(rows)
        total = np.add.reduce(maxima, axis=1)
        best = int(total.max())
        self.constant += best
        shortfall = best - total  # (values,), >= 0
        alive: NDArray[np.bool_] = shortfall < self.constant - threshold
        all_alive = bool(alive.all())
        number, first, absent = self._shares[i]
        if number > 1 or not all_alive:
            share = shortfall // number
            moved = -share[:, None] - maxima  # (values, attributes)
            # The remainder of the integer division goes to the first member.
            moved[:, first] -= shortfall - number * share
            if not all_alive:
                moved[~alive] = self.floor
            if absent:
                moved[:, absent] = 0
            cells = self._cells[rows]
            cells += moved.take(self._owners, axis=1)
            np.maximum(cells, self.floor, out=cells)
            alone = cells[:, rows].copy()
            self._cells[:, rows] = cells.T
            cells[:, rows] = alone
        return alive

    def _maxima(self, rows: slice) -> Cells:
        """The largest cell for each value of an attribute in each table; 0 where there is none."""
        maxima: Cells = np.maximum.reduceat(self._cells[rows], self._starts[:-1], axis=1)
        return maxima

    def _add(self, places: Sequence[int], cells: Cells) -> None:
        """Add a table over the attributes at these places."""
        if not places:
            self.constant += int(cells)
            return
        one, other = places[0], places[-1]
        self._members[one, other] = self._members[other, one] = True
        for axis, place in enumerate(places):
            values = self.values[self._names[place]]
            if len(values) < cells.shape[axis]:
                cells = cells.take(values, axis=axis)
        if one == other:
            self._cells[self._rows[one], self._rows[one]] += cells[:, None]
            return
        self._cells[self._rows[one], self._rows[other]] += cells
        self._cells[self._rows[other], self._rows[one]] += cells.T

    def _lay_out(self, names: Sequence[str]) -> None:
        """Note where the rows of each attribute are."""
        self._names = list(names)
        sizes = [len(self.values[name]) for name in names]
        starts = list(accumulate(sizes, initial=0))
        self._rows = [slice(start, end) for start, end in pairwise(starts)]
        self._starts = np.array(starts)
        self._owners = np.repeat(np.arange(len(names)), sizes)

    def _share_among(self) -> None:
        """Note among which tables the loss of each attribute is shared out."""
        # Of each attribute: how many tables it has, with which attribute the first by the names of
        # both is, and with which attributes it has none.
        self._shares = [
            (sum(own), own.index(True), [place for place, here in enumerate(own) if not here])
            for own in self._members.tolist()
        ]

    def _take(self, staying: NDArray[np.bool_]) -> None:
        self._cells = self._cells[staying][:, staying]

    def _normalise(self) -> None:
        """Move the maximum of every table to the constant."""
        if self._names:
            starts = self._starts[:-1]
            largest = np.maximum.reduceat(np.maximum.reduceat(self._cells, starts, axis=1), starts)
            self.constant += int(np.triu(largest).sum())
            if largest.any():
                self._cells -= largest[self._owners][:, self._owners]

    def _settle(self) -> None:
        """Drop attributes with one value left: their tables have one attribute less, or none."""
        closed = [i for i, rows in enumerate(self._rows) if rows.stop - rows.start == 1]
        if closed:
            self._drop(closed)
        self._normalise()
        np.maximum(self._cells, self.floor, out=self._cells)

    def _drop(self, closed: list[int]) -> None:
        left = [i for i in range(len(self._names)) if i not in closed]
        columns = [self._rows[i].start for i in closed]
        self.constant += int(np.triu(self._cells[np.ix_(columns, columns)]).sum())
        alone = np.add.reduce(self._cells[:, columns], axis=1)
        members = self._members[np.ix_(left, left)]
        for place, i in enumerate(left):
            self._cells[self._rows[i], self._rows[i]] += alone[self._rows[i], None]
            members[place, place] |= self._members[i, closed].any()
        staying = np.ones(len(self._cells), np.bool_)
        staying[columns] = False
        self._take(staying)
        self._members = members
        self._lay_out([self._names[i] for i in left])
        self._share_among()


Shifted: TypeAlias = ShiftedTables | ShiftedPairs
