"""What a posterior can be asked, whichever method computed it.

`exact.ExactPosterior` is eke's own; the methods of papers are in `inference/papers`.
"""

from __future__ import annotations

import math
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eke.errors import AccuracyError


@runtime_checkable
class Posterior(Protocol):
    """The belief about the true answer θ after everything released so far."""

    @property
    def value(self) -> float:
        """The point estimate θ̂."""
        ...

    @property
    def variance(self) -> float:
        """The variance of θ around θ̂."""
        ...

    def interval(self, confidence: float) -> tuple[float, float]:
        """The narrowest (low, high) that holds θ with at least this probability."""
        ...

    def probability(self, *, above: float | None = None, below: float | None = None) -> float:
        """Pr(θ > above), Pr(θ < below), or Pr(above < θ < below) when both are given."""
        ...

    def density(self, points: ArrayLike) -> NDArray[np.float64]:
        """The density of θ at each point."""
        ...

    def support(self, coverage: float = 0.999) -> tuple[float, float]:
        """A (low, high) worth plotting: it holds θ with probability `coverage`."""
        ...


@runtime_checkable
class SymmetricPosterior(Posterior, Protocol):
    """A posterior that is symmetric around its value, so that one number gives its interval."""

    def halfwidth(self, confidence: float) -> float:
        """Half the width of `interval(confidence)`."""
        ...


def checked_confidence(confidence: float) -> float:
    """The confidence as a float strictly between 0 and 1."""
    # Written so that NaN fails.
    if not (0.0 < confidence < 1.0):
        raise AccuracyError("confidence must lie strictly between 0 and 1, for example 0.95.")
    return float(confidence)


def checked_value(value: float) -> float:
    """The estimate as a finite float."""
    if not math.isfinite(value):
        raise AccuracyError("The estimate must be a finite number.")
    return float(value)


def checked_bounds(above: float | None, below: float | None) -> tuple[float, float]:
    """The open interval (above, below) asked about, with infinity where no bound is given."""
    if above is None and below is None:
        raise AccuracyError("Say what to compare with: pass `above`, `below` or both.")
    low = -math.inf if above is None else float(above)
    high = math.inf if below is None else float(below)
    if math.isnan(low) or math.isnan(high):
        raise AccuracyError("`above` and `below` must be numbers, not NaN.")
    return low, high


def checked_points(points: ArrayLike) -> NDArray[np.float64]:
    """The points as an array of floats without NaN."""
    array = np.asarray(points, dtype=np.float64)
    if bool(np.isnan(array).any()):
        raise AccuracyError("Points must be numbers, not NaN.")
    return array
