"""ONLINE's posterior: the normalised product of the likelihoods of independent observations.

Each observation is a disjoint linear representation of the question (ONLINE §3.2); its likelihood
is the density of its own composed noise around it. Sums of Laplace and Gaussian noises have
log-concave densities and so has their product, hence the highest-density region is one interval:
the narrowest one, which ONLINE's Algorithm 4 walks to cell by cell.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eke.errors import AccuracyError
from eke.inference.posterior.composed import ComposedNoise
from eke.inference.posterior.log_concave import LogConcaveLaw
from eke.inference.posterior.log_density import LogDensity
from eke.inference.posterior.protocol import (
    checked_bounds,
    checked_confidence,
    checked_points,
    checked_value,
)

Reals = NDArray[np.float64]

# Every interval is widened by this part of its width, more than the numerical error of its ends, so
# that it holds at least what it promises.
_ROUNDED_UP = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class ProductPosterior:
    """The posterior of θ given observations θ + noise_i, under a flat prior (ONLINE eq. 37)."""

    observations: Sequence[tuple[float, ComposedNoise]]
    _law: LogConcaveLaw = field(init=False, repr=False)
    _slack: float = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not self.observations:
            raise AccuracyError("a product posterior needs at least one observation")
        if any(noise.is_zero for _, noise in self.observations):
            raise AccuracyError("an observation without noise leaves nothing to infer")
        values = np.array([checked_value(value) for value, _ in self.observations])
        logarithms = [LogDensity(noise) for _, noise in self.observations]

        def logarithm(points: Reals) -> Reals:
            total = np.zeros(points.shape)
            for value, density in zip(values, logarithms, strict=True):
                total += density(points - value)
            return total

        sharpest = min(noise.variance for _, noise in self.observations)
        law = LogConcaveLaw(logarithm, np.unique(values), math.sqrt(sharpest))
        object.__setattr__(self, "_law", law)
        # The drawn noises differ from the continuous ones by up to their grid slacks; no end of
        # the interval moves further than the observations do.
        object.__setattr__(self, "_slack", max(noise.grid_slack for _, noise in self.observations))

    @property
    def value(self) -> float:
        """The posterior mean, which minimises the expected squared error (ONLINE eq. 38)."""
        return self._law.mean

    @property
    def variance(self) -> float:
        """The variance of the posterior."""
        return self._law.variance

    def interval(self, confidence: float) -> tuple[float, float]:
        """The narrowest interval that holds θ with this probability (ONLINE Alg. 4)."""
        low, high = self._law.narrowest(checked_confidence(confidence))
        margin = 0.5 * _ROUNDED_UP * (high - low) + self._slack
        return low - margin, high + margin

    def probability(self, *, above: float | None = None, below: float | None = None) -> float:
        """Pr(θ > above), Pr(θ < below), or Pr(above < θ < below) when both are given."""
        low, high = checked_bounds(above, below)
        return min(1.0, max(0.0, self._law.below(high) - self._law.below(low)))

    def density(self, points: ArrayLike) -> Reals:
        """The density of θ at each point."""
        return self._law.density(checked_points(points))

    def support(self, coverage: float = 0.999) -> tuple[float, float]:
        """A (low, high) worth plotting: it holds θ with probability `coverage`."""
        return self.interval(coverage)
