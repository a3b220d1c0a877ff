"""KnownTable: what history says about all cells of a table of counts at once."""

from __future__ import annotations

from dataclasses import dataclass

from eke.arrays import FloatArray
from eke.inference.alike import Classes
from eke.inference.posterior import ComposedNoise, ExactPosterior


@dataclass(frozen=True, slots=True, eq=False)
class KnownTable:
    """The estimate of each cell, and the noise in it: cells of one kind have one law of error."""

    values: FloatArray  # (cells,) in C order
    kinds: Classes  # (cells,)
    noises: tuple[ComposedNoise, ...]  # (kinds,)

    def posterior(self, cell: int) -> ExactPosterior:
        """What is known about one cell."""
        return ExactPosterior(float(self.values[cell]), self.noises[self.kinds[cell]])
