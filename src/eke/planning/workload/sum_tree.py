"""Sums of one table over many sets of its attributes, each made of the smallest that holds it.

All pairs of nineteen columns are 171 marginals; summing each from the whole table reads it 171
times. A node of the tree takes one attribute: the sets that lack it are summed on from the smaller
table without it, the others from this one. All pairs of nineteen columns of two values then read as
many cells as the whole table has ten times over.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from eke.arrays import FloatArray
from eke.inference.residuals import Names


@dataclass(frozen=True, slots=True)
class SumTree:
    """How marginals over several sets follow from a table over `names`."""

    names: Names
    """The attributes that any of the sets has."""
    without: SumTree | None = None
    """Of the sets that lack an attribute; None at a leaf."""
    holding: SumTree | None = None
    """Of the sets that have it."""

    @staticmethod
    def of(attributes: Names, sets: Sequence[Names]) -> SumTree:
        """The tree of some sets, at least one, whose attributes are in the order of the table's."""
        names = tuple(name for name in attributes if any(name in one for one in sets))
        counts = {name: sum(name in one for one in sets) for name in names}
        rarest = min(names, key=lambda name: (counts[name], name), default=None)
        if rarest is None or counts[rarest] == len(sets):
            return SumTree(names)  # all sets are this one
        without = SumTree.of(names, [one for one in sets if rarest not in one])
        return SumTree(names, without, SumTree.of(names, [one for one in sets if rarest in one]))

    def sums(self, table: FloatArray, attributes: Names) -> dict[Names, FloatArray]:
        """The marginal over each set, of a table over attributes."""
        axes = tuple(axis for axis, name in enumerate(attributes) if name not in self.names)
        marginal = np.asanyarray(table.sum(axis=axes)) if axes else table
        if self.without is None or self.holding is None:
            return {self.names: marginal}
        return {
            **self.without.sums(marginal, self.names),
            **self.holding.sums(marginal, self.names),
        }

    def spread(self, tables: Mapping[Names, FloatArray], attributes: Names) -> FloatArray:
        """The sum of the tables over the sets, each the same for all values of other attributes.

        One axis for each of the attributes, of length 1 where no set has it. It is to `sums` what a
        matrix' transpose is to it.
        """
        if self.without is None or self.holding is None:
            together = tables[self.names]
        else:
            together = self.holding.spread(tables, self.names)
            together = together + self.without.spread(tables, self.names)
        lengths = dict(zip(self.names, together.shape, strict=True))
        return together.reshape([lengths.get(name, 1) for name in attributes])

    def work(self, sizes: Mapping[str, int]) -> int:
        """How many cells are read while sums are made below this node."""
        if self.without is None or self.holding is None:
            return 0
        cells = math.prod(sizes[name] for name in self.names)
        return sum(
            (0 if below.names == self.names else cells) + below.work(sizes)
            for below in (self.without, self.holding)
        )
