"""Moving loss between tables without changing their sum, so that Σ max becomes a tight bound.

The bound Σ_a max T_a is loose because each table is maximised at a cell of its own. Amounts that
depend only on shared attributes may be moved from one table to another without changing the sum;
sharing the maxima out evenly, again and again, makes the tables agree on where the maximum lies
(max-sum diffusion: Werner, "A linear programming approach to max-sum problem: a review", IEEE
PAMI 29(7), 2007). Everything is done in integers, so the bound has no rounding to worry about.

Cells that provably stay at or below a threshold of interest do not matter and are removed on the
way: whole values leave the domain, combinations of values are pushed down to a floor.
"""

from __future__ import annotations

from itertools import combinations
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from eke.privacy.loss_tables import Attributes, LossTables
from eke.privacy.pair_split import Cells, broadcast_shape, maxima_over_others

# Loss is moved along combinations of at most this many shared attributes.
LARGEST_GROUP = 3

Group = tuple[Attributes, list[Attributes]]


class Before(Protocol):
    """Tables of at most two attributes that were shifted elsewhere (`shifted_pairs.py`).

    They are settled as `ShiftedTables` settles its own.
    """

    @property
    def values(self) -> dict[str, NDArray[np.intp]]: ...

    @property
    def constant(self) -> int: ...

    @property
    def floor(self) -> int: ...

    @property
    def tables(self) -> dict[Attributes, Cells]: ...


class ShiftedTables:
    """A sum `constant + Σ tables` that stands for the part of B above a threshold.

    What holds at all times, for a threshold that only ever rises:

    - every table is ≤ 0, so `constant` bounds the sum;
    - a cell t with B(t) above the threshold is among `values` (or has an indistinguishable twin
      there) and its sum is at least B(t); exactly B(t) once `include_rests` was called;
    - every other cell that is still among `values` has a sum of at most the threshold, or at
      least its own B(t) and, once `include_rests` was called, exactly that.

    With `before` it goes on where that stopped, and the threshold is that of before.

    Privacy: `constant` is never less than the true maximum of B, unless that maximum does not
    exceed the threshold.
    """

    def __init__(self, losses: LossTables, threshold: int, *, before: Before | None = None) -> None:
        self._losses = losses
        self.tables: dict[Attributes, Cells] = {}
        if before is not None:
            self.values, self.constant, self.floor = before.values, before.constant, before.floor
            self.tables |= {name: cells.copy() for name, cells in before.tables.items()}
            return
        self.values = indistinguishable_values_merged(losses)
        self.constant = 0
        for table in losses:
            if len(table.attributes) <= 2:
                self._add(table.attributes, self._surviving(table.attributes, table.cells))
            else:
                for axes, cells in table.pair_split.pairs.items():
                    pair = tuple(table.attributes[axis] for axis in axes)
                    self._add(pair, self._surviving(pair, cells))
        self._normalise()
        # Deep enough to be certain that a cell on the floor is not worth a look, and shallow
        # enough that a sum over all tables stays within int64 (checked by `maximum`).
        self.floor = -max(self.constant - threshold, 1)
        self._settle()

    def with_rests(self) -> ShiftedTables:
        """The same after `include_rests`."""
        self.include_rests()
        return self

    def include_rests(self) -> None:
        """Add the parts of the larger tables that are not functions of two attributes."""
        for table in self._losses:
            if len(table.attributes) > 2:
                self._add(
                    table.attributes, self._surviving(table.attributes, table.pair_split.rest)
                )
        self._normalise()
        self._settle()

    @property
    def sweep_cost(self) -> int:
        """The number of table cells that one sweep visits."""
        return sum(self.tables[member].size for _, members in self._groups for member in members)

    def sweep(self, threshold: int) -> None:
        """Share out the maxima of each group of attributes once; stop when below the threshold."""
        alive: dict[str, NDArray[np.bool_]] = {}
        for group, members in self._groups:
            dead = self._share_out(group, members, threshold)
            if self.constant <= threshold:
                return
            if len(group) == 1:
                alive[group[0]] = ~dead
        if any(not mask.all() for mask in alive.values()):
            self._remove_values(alive)
            self._settle()

    def likely_cell(self) -> dict[str, int]:
        """A cell that looks best attribute by attribute: a start for a search, not a maximum."""
        cell = {name: int(values[0]) for name, values in self.values.items()}
        for group, members in self._groups:
            if len(group) == 1:
                scores = self._group_maxima(group, members)
                total = np.sum(scores, axis=0)
                cell[group[0]] = int(self.values[group[0]][int(total.argmax())])
        return cell

    def _share_out(
        self, group: Attributes, members: list[Attributes], threshold: int
    ) -> NDArray[np.bool_]:
        """Move loss so that all members have the same maxima over the group, up to one unit.

        Returns which combinations of values of the group cannot exceed the threshold. The group's
        best combination keeps the share zero in every member, so that the bound becomes
        `constant` plus its sum of maxima, which is never worse than before.
        """
        maxima = self._group_maxima(group, members)
        total = np.sum(maxima, axis=0)
        best = int(total.max())
        self.constant += best
        shortfall = best - total  # (values of the group...), >= 0
        dead: NDArray[np.bool_] = shortfall >= self.constant - threshold
        if len(members) > 1 or dead.any():
            share = shortfall // len(members)
            for position, member in enumerate(members):
                # The remainder of the integer division goes to the first member.
                owed = share + shortfall % len(members) if position == 0 else share
                moved = np.where(dead, self.floor, -owed - maxima[position])
                cells = self.tables[member]
                axes = tuple(member.index(name) for name in group)
                cells += moved.reshape(broadcast_shape(cells.shape, axes))
                np.maximum(cells, self.floor, out=cells)
        return dead

    def _group_maxima(self, group: Attributes, members: list[Attributes]) -> list[Cells]:
        return [
            maxima_over_others(self.tables[member], tuple(member.index(name) for name in group))
            for member in members
        ]

    def _surviving(self, attributes: Attributes, cells: Cells) -> Cells:
        """A new array of the cells whose values are all still in play."""
        if not attributes:
            return cells.copy()
        surviving: Cells = cells[np.ix_(*(self.values[name] for name in attributes))]
        return surviving

    def _add(self, attributes: Attributes, cells: Cells) -> None:
        if attributes in self.tables:
            self.tables[attributes] += cells
        else:
            self.tables[attributes] = cells

    def _remove_values(self, alive: dict[str, NDArray[np.bool_]]) -> None:
        for attributes, cells in self.tables.items():
            if any(not alive[name].all() for name in attributes):
                self.tables[attributes] = cells[np.ix_(*(alive[name] for name in attributes))]
        for name, mask in alive.items():
            self.values[name] = self.values[name][mask]

    def _normalise(self) -> None:
        """Move the maximum of every table to the constant."""
        for cells in self.tables.values():
            largest = int(cells.max())
            np.subtract(cells, largest, out=cells)
            self.constant += largest

    def _settle(self) -> None:
        """Drop attributes with one value left and recompute which attributes tables share."""
        settled: dict[Attributes, Cells] = {}
        for attributes, cells in self.tables.items():
            open_names = tuple(name for name in attributes if len(self.values[name]) > 1)
            reduced = cells.reshape([len(self.values[name]) for name in open_names])
            if not open_names:
                self.constant += int(reduced)
            elif open_names in settled:
                settled[open_names] = settled[open_names] + reduced
            else:
                settled[open_names] = reduced
        self.tables = settled
        self._normalise()
        for cells in self.tables.values():
            np.maximum(cells, self.floor, out=cells)
        self._groups = shared_groups(sorted(self.tables))


def indistinguishable_values_merged(losses: LossTables) -> dict[str, NDArray[np.intp]]:
    """One representative of each class of values that no table tells apart, per attribute."""
    labels: dict[str, list[NDArray[np.intp]]] = {name: [] for name in losses.sizes}
    for table in losses:
        for name, label in zip(table.attributes, table.value_labels, strict=True):
            labels[name].append(label)
    representatives = {}
    for name, columns in labels.items():
        if not columns:
            representatives[name] = np.zeros(1, np.intp)
            continue
        rows = np.stack(columns, axis=1)  # (values, tables)
        first_seen: dict[bytes, int] = {}
        for value, row in enumerate(rows.view(f"V{rows[0].nbytes}")[:, 0].tolist()):
            first_seen.setdefault(row, value)
        representatives[name] = np.array(list(first_seen.values()), np.intp)
    return representatives


def shared_groups(scopes: list[Attributes]) -> list[Group]:
    """The combinations of attributes to share maxima over, small ones first, with their tables.

    Single attributes always count, for they decide which values stay; larger combinations only
    when at least two tables contain them.
    """
    members: dict[Attributes, list[Attributes]] = {}
    for scope in scopes:
        for order in range(1, min(len(scope), LARGEST_GROUP) + 1):
            for group in combinations(scope, order):
                members.setdefault(group, []).append(scope)
    return [
        (group, members[group])
        for group in sorted(members, key=lambda names: (len(names), names))
        if len(group) == 1 or len(members[group]) > 1
    ]
