"""BAYES's first bound (Th. 3.2): what the variance alone says, by Chebyshev's inequality."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eke.errors import AccuracyError
from eke.inference.posterior.centred_belief import CentredBelief
from eke.inference.posterior.protocol import checked_bounds, checked_confidence


@dataclass(frozen=True, slots=True)
class ChebyshevPosterior(CentredBelief):
    """What holds for every law of the error that has this variance: wider than need be.

    Probabilities are lower bounds, as those of intervals are.
    """

    def halfwidth(self, confidence: float) -> float:
        """Half the width of `interval(confidence)`: Pr(|θ − θ̂| ≥ ε) is at most Var(θ̂)/ε²."""
        missed = 1.0 - checked_confidence(confidence)
        return math.sqrt(self.noise.variance / missed) + self.noise.grid_slack

    def probability(self, *, above: float | None = None, below: float | None = None) -> float:
        """At least so probable is θ > above, θ < below, or above < θ < below."""
        low, high = checked_bounds(above, below)
        reach = min(self.value - low, high - self.value) - self.noise.grid_slack
        return max(0.0, 1.0 - self.noise.variance / reach**2) if reach > 0.0 else 0.0

    def density(self, points: ArrayLike) -> NDArray[np.float64]:
        """A variance alone has none."""
        raise AccuracyError("Chebyshev's inequality tells no density; use posterior='exact'.")
