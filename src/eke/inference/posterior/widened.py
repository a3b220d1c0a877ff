"""Widened: a belief about a value that may be off by up to a known bound, besides the noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eke.inference.posterior.protocol import Posterior, checked_bounds, checked_points


@dataclass(frozen=True, slots=True)
class WidenedPosterior:
    """What is known of θ + d, where θ has a posterior and all that is known of d is |d| ≤ `by`.

    Intervals hold, and probabilities are at least what they say, whatever d is.
    """

    of: Posterior
    by: float

    @property
    def value(self) -> float:
        return self.of.value

    @property
    def variance(self) -> float:
        """That of the noise alone."""
        return self.of.variance

    def interval(self, confidence: float) -> tuple[float, float]:
        low, high = self.of.interval(confidence)
        return low - self.by, high + self.by

    def probability(self, *, above: float | None = None, below: float | None = None) -> float:
        """A lower bound: the probability if d is as bad for the claim as it can be."""
        low, high = checked_bounds(above, below)
        if not low + self.by < high - self.by:
            return 0.0
        return self.of.probability(above=low + self.by, below=high - self.by)

    def density(self, points: ArrayLike) -> NDArray[np.float64]:
        """For drawing: as if all values of d were equally likely."""
        width = 2.0 * self.by
        drawn = [
            self.of.probability(above=x - self.by, below=x + self.by) / width
            for x in checked_points(points).reshape(-1).tolist()
        ]
        return np.asarray(drawn).reshape(np.shape(points))

    def support(self, coverage: float = 0.999) -> tuple[float, float]:
        low, high = self.of.support(coverage)
        return low - self.by, high + self.by
