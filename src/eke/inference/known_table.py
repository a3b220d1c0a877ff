"""KnownTable: what history says about all cells of a block at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eke.arrays import FloatArray
from eke.inference.alike import Classes
from eke.inference.posterior import ComposedNoise, ExactPosterior
from eke.query import Query
from eke.query.block import Names


@dataclass(frozen=True, slots=True, eq=False)
class KnownTable:
    """The estimate of each cell, and the noise in it: cells of one kind have one law of error."""

    values: FloatArray  # (cells,) in C order
    kinds: Classes  # (cells,)
    noises: tuple[ComposedNoise, ...]  # (kinds,)

    def value(self, cell: int) -> float:
        """The estimate of one cell: the value of its posterior."""
        return float(self.values[cell])

    def posterior(self, cell: int) -> ExactPosterior:
        """What is known about one cell."""
        return ExactPosterior(float(self.values[cell]), self.noises[self.kinds[cell]])


def summed_inside(table: FloatArray, grouped: Names, inside: Query) -> FloatArray:
    """The cells of the block that sums a query by some attributes, in C order.

    The table is of counts over these attributes and those of the query, in the domain's order.
    """
    names = inside.domain.in_order({*grouped, *inside.attributes})
    others = tuple(axis for axis, name in enumerate(names) if name not in grouped)
    total = np.zeros(inside.domain.sizes(grouped))
    for term in inside.terms:
        weighed = float(term.weight) * table
        for name, vector in term.factors:
            shape = [-1 if name == one else 1 for one in names]
            weighed = weighed * vector.astype(np.float64).reshape(shape)
        total += weighed.sum(axis=others)
    return np.asarray(total.reshape(-1))
