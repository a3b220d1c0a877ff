"""Kept: in which form inference has a measurement, and what one noise is in an estimate."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from eke.inference.regression import LinearEstimate
from eke.inference.tables import CellWeights
from eke.query import Block


@dataclass(frozen=True, slots=True)
class Kept:
    """How a measurement is kept: as these rows, as that table, or, with neither, not at all."""

    rows: range = range(0)
    table: int | None = None

    def serves(self, block: Block) -> bool:
        """True where all answers of a block are kept, in one form or the other."""
        return self.table is not None or len(self.rows) == block.cells

    def taken_from(
        self, estimate: LinearEstimate, block: Block, place: int
    ) -> tuple[float, LinearEstimate]:
        """The weight of one of the answers in an estimate, and the estimate without that noise."""
        if self.table is None:
            is_own = estimate.rows == self.rows[place]
            rows, weights = estimate.rows[~is_own], estimate.weights[~is_own]
            weight = float(estimate.weights[is_own].sum())
            return weight, replace(estimate, rows=rows, weights=weights)
        released = next((part for part in estimate.cells if part.table == self.table), None)
        if released is None:
            return 0.0, estimate
        names = block.attributes
        sizes = dict(zip(released.names, released.weights.shape, strict=True))
        spread = released.weights.reshape([sizes.get(name, 1) for name in names])
        others = np.broadcast_to(spread, block.shape).copy()
        weight = float(others.flat[place])
        others.flat[place] = 0.0
        rest = CellWeights(released.table, names, others, 1)
        cells = tuple(rest if part is released else part for part in estimate.cells)
        return weight, replace(estimate, cells=cells)


@dataclass(slots=True)
class Foreign:
    """Which of the first rows, and which of the first tables, are from outside; and from where."""

    rows: list[int | None] = field(default_factory=list)  # a place in `outside`; None: public rows
    tables: list[int] = field(default_factory=list)
