"""Bounded: a belief about a count that other counts, measured with noise, keep between two ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eke.inference.posterior.composed import ComposedNoise
from eke.inference.posterior.exact import bounded_halfwidth
from eke.inference.posterior.protocol import (
    Posterior,
    checked_bounds,
    checked_confidence,
    checked_points,
)

SHARE = 0.05
"""Of an interval's chance to miss: what the ends take of it. The belief itself keeps the rest."""
_DRAWN_AT = 0.05  # the chance to miss whose ends probabilities and density go by
_SUREST = 1.0 - 2.0**-53  # the confidence next to 1; what is closer counts as this one
_NOTHING = 1e-6  # so little of a belief between the ends says nothing about what is there


@dataclass(frozen=True, slots=True)
class NoisyBound:
    """A bound of the true answer: a number off by some of the noises, each by its whole width."""

    value: float
    noises: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class BoundedPosterior:
    """What is known of θ, which lies above `floor` and every `at_least` and below every `at_most`.

    Intervals are those of the belief, cut at the ends, and wider by as much as the belief lies
    beyond these. Both hold with the promised probability together: a share of the chance to miss
    goes to the noises of the limits, the same to each, so that the limits hold however the best of
    them is picked (Bonferroni). Probabilities and the density are those of the belief between the
    ends, and with the chance that these miss, those of the belief alone. A belief that lies beyond
    the ends is wrong, and says nothing of what is between them.
    """

    of: Posterior
    noises: Sequence[ComposedNoise]
    at_least: Sequence[NoisyBound]
    at_most: Sequence[NoisyBound]  # at least one
    floor: float

    def ends(self, miss: float) -> tuple[float, float]:
        """(low, high) that hold θ but for a share of a chance to miss."""
        sure = min(1.0 - SHARE * miss / max(len(self.noises), 1), _SUREST)
        widths = [bounded_halfwidth(noise, sure) for noise in self.noises]
        lows = [one.value - sum(widths[k] for k in one.noises) for one in self.at_least]
        highs = [one.value + sum(widths[k] for k in one.noises) for one in self.at_most]
        return max([self.floor, *lows]), max(self.floor, min(highs))

    @property
    def value(self) -> float:
        """The belief's own, moved to the nearer end where it lies beyond."""
        low, high = self.ends(1.0)
        return min(max(self.of.value, min(low, high)), max(low, high))

    @property
    def variance(self) -> float:
        """That of the belief alone, which the ends can only lessen."""
        return self.of.variance

    def interval(self, confidence: float) -> tuple[float, float]:
        miss = 1.0 - checked_confidence(confidence)
        low, high = self.ends(miss)
        rest = (1.0 - SHARE) * miss
        if low > high:  # limits contradict each other, so noise went beyond what was allowed for
            return self.of.interval(1.0 - rest)
        mass = self._mass(1.0)
        if mass < _NOTHING:
            return low, high
        # Of what the belief holds between the ends, too, no more may be missed.
        near, far = self.of.interval(min(1.0 - rest * mass, _SUREST))
        value = self.value
        return min(max(low, near), high, value), max(min(high, far), low, value)

    def probability(self, *, above: float | None = None, below: float | None = None) -> float:
        """Pr(θ > above), Pr(θ < below), or Pr(above < θ < below) when both are given."""
        low, high = checked_bounds(above, below)
        if low >= high:
            return 0.0
        doubt = SHARE * _DRAWN_AT
        return doubt * self.of.probability(above=low, below=high) + (1.0 - doubt) * self._between(
            low, high
        )

    def density(self, points: ArrayLike) -> NDArray[np.float64]:
        at = checked_points(points)
        alone = self.of.density(at)
        doubt, (low, high) = SHARE * _DRAWN_AT, self.ends(_DRAWN_AT)
        if low > high:
            return alone
        mass = self._mass(_DRAWN_AT)
        if low == high:  # one number, drawn as wide as a record
            low, high = low - 0.5, high + 0.5
        bounded = np.full(at.shape, 1.0 / (high - low)) if mass < _NOTHING else alone / mass
        inside = np.where((at >= low) & (at <= high), bounded, 0.0)
        return np.asarray(doubt * alone + (1.0 - doubt) * inside)

    def support(self, coverage: float = 0.999) -> tuple[float, float]:
        return self.interval(coverage)

    def _between(self, above: float, below: float) -> float:
        """The probability of an open interval if the ends hold."""
        low, high = self.ends(_DRAWN_AT)
        if low > high:
            return self.of.probability(above=above, below=below)
        if low == high:
            return 1.0 if above < low < below else 0.0
        near, far = max(above, low), min(below, high)
        if near >= far:
            return 0.0
        mass = self._mass(_DRAWN_AT)
        if mass < _NOTHING:
            return (far - near) / (high - low)
        return min(self.of.probability(above=near, below=far) / mass, 1.0)

    def _mass(self, miss: float) -> float:
        """The probability that the belief gives to what is between the ends."""
        low, high = self.ends(miss)
        return self.of.probability(above=low, below=high) if low < high else 0.0
