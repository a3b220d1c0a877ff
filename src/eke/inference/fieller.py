"""Fieller: the intervals of ratios of two linear questions, many at once.

r is in the interval when the linear question N − r·D cannot be told from 0. That is exact, whatever
the noise, for N − r·D has an exact interval. An average in each of many groups is as many ratios;
their ends are searched together, because a step of all searches takes little longer than one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from eke.arrays import FloatArray
from eke.inference.joint import Joint
from eke.inference.posterior.composed import ComposedNoise
from eke.inference.posterior.exact import halfwidths, tails_each

_WIDENINGS = 60
_WIDER = 1.25
_WITHIN = 1e-7  # of the first step: how closely an end is searched
_MOST_STEPS = 200
_SMOOTH_STEPS = 8  # that a smooth function needs; after them every other one halves
_LEAST = 1e-300
_ROUNDING = 1e-12

Excess: TypeAlias = Callable[[FloatArray, NDArray[np.intp]], FloatArray]
"""By how much places (n,) are outside of some of the intervals, in any unit: above 0, outside."""


@dataclass(frozen=True, slots=True, eq=False)
class Ratio:
    """A ratio of two linear forms of estimates; coefficients, with the constant last."""

    joint: Joint
    numerator: FloatArray
    denominator: FloatArray

    def minus(self, ratio: float) -> tuple[float, ComposedNoise]:
        """What is known about N − ratio·D."""
        return self._known(self.numerator - ratio * self.denominator)

    def bottom(self) -> tuple[float, ComposedNoise]:
        """What is known about D."""
        return self._known(self.denominator)

    def estimate(self) -> float:
        """The ratio of the estimates; infinite or NaN where the denominator's is 0."""
        top, bottom = (
            float(form[:-1] @ self.joint.values) + float(form[-1])
            for form in (self.numerator, self.denominator)
        )
        return top / bottom if bottom else math.nan

    def _known(self, form: FloatArray) -> tuple[float, ComposedNoise]:
        value, noise = self.joint.combination(form[:-1])
        return value + float(form[-1]), noise


def fieller(ratios: Sequence[Ratio], confidence: float) -> list[tuple[float, float]]:
    """The interval of each ratio; infinite where its denominator may be 0."""
    bottoms = [ratio.bottom() for ratio in ratios]
    sizes = np.array([abs(value) for value, _ in bottoms])
    may_be_zero = sizes <= halfwidths([noise for _, noise in bottoms], confidence)
    intervals = [(-math.inf, math.inf)] * len(ratios)
    bounded = np.flatnonzero(~may_be_zero)
    some = [ratios[i] for i in bounded.tolist()]
    centres = np.array([ratio.estimate() for ratio in some])
    around = [ratio.minus(centre)[1] for ratio, centre in zip(some, centres.tolist(), strict=True)]
    steps = halfwidths(around, confidence) / sizes[bounded]
    target = 0.5 * (1.0 - confidence)

    def excess(places: FloatArray, which: NDArray[np.intp]) -> FloatArray:
        both = [some[i].minus(x) for i, x in zip(which % len(some), places.tolist(), strict=True)]
        beyond = np.array([max(abs(value) - noise.grid_slack, 0.0) for value, noise in both])
        upper = tails_each([noise for _, noise in both], beyond)
        # As far outside as the logarithm of its p-value is below that of the ends.
        return np.asarray(math.log(target) - np.log(np.maximum(upper, _LEAST)))

    lows, highs = np.split(
        edges(excess, np.concatenate([centres, centres]), np.concatenate([-steps, steps])), 2
    )
    for place, low, high in zip(bounded.tolist(), lows.tolist(), highs.tolist(), strict=True):
        exact = ratios[place].joint.is_exact
        intervals[place] = (low, high) if exact else outwards(low, high)
    return intervals


def outwards(low: float, high: float) -> tuple[float, float]:
    """An interval with its ends moved out by more than the rounding errors of formulas."""
    room = _ROUNDING * max(abs(low), abs(high))
    return low - room, high + room


def edges(excess: Excess, centres: FloatArray, steps: FloatArray) -> FloatArray:
    """Where intervals end, on the side of their centres to which the step goes, rounded outwards.

    Each search keeps a place inside and one outside; when they are near enough, the one outside is
    the end.
    """
    search = _Search(np.zeros_like(steps), steps.copy())
    noisy = np.flatnonzero(steps != 0.0)  # those without noise end where they begin
    left = noisy
    for _ in range(_WIDENINGS):
        if not left.size:
            break
        is_out = search.put(left, search.far[left], excess(centres[left] + search.far[left], left))
        left = left[~is_out]
        search.far[left] *= _WIDER
    search.far[left] = np.copysign(math.inf, steps[left])
    left = np.setdiff1d(noisy, left)
    tolerance = np.abs(steps) * _WITHIN
    for step in range(_MOST_STEPS):
        left = left[np.abs(search.far[left] - search.near[left]) > 2.0 * tolerance[left]]
        if not left.size:
            break
        halves = step >= _SMOOTH_STEPS and step % 2 == 0
        places = search.between(left, 0.5) if halves else search.crossings(left, tolerance[left])
        search.put(left, places, excess(centres[left] + places, left))
    return centres + search.far


class _Search:
    """For each of some functions a place inside, where it is below 0, and one outside."""

    def __init__(self, near: FloatArray, far: FloatArray) -> None:
        self.near, self.far = near, far
        self._inside, self._outside = -np.ones_like(near), np.ones_like(near)  # values there
        self._last = np.zeros_like(near)  # on which side the last place was

    def put(
        self, which: NDArray[np.intp], places: FloatArray, values: FloatArray
    ) -> NDArray[np.bool_]:
        """Take in what some functions are at places between; returns where that is outside."""
        is_out = values > 0.0
        out, within = which[is_out], which[~is_out]
        self.far[out], self._outside[out] = places[is_out], values[is_out]
        self.near[within] = places[~is_out]
        self._inside[within] = np.minimum(values[~is_out], -_LEAST)
        # Where the same end moves twice, the other counts half from now on (Illinois): so both do.
        self._inside[out[self._last[out] > 0.0]] *= 0.5
        self._outside[within[self._last[within] < 0.0]] *= 0.5
        self._last[out], self._last[within] = 1.0, -1.0
        return is_out

    def crossings(self, which: NDArray[np.intp], apart: FloatArray) -> FloatArray:
        """Where straight lines between both places cross 0, at least so far from either."""
        share = self._inside[which] / (self._inside[which] - self._outside[which])
        least = apart / np.abs(self.far[which] - self.near[which])
        return self.between(which, np.clip(share, least, 1.0 - least))

    def between(self, which: NDArray[np.intp], share: FloatArray | float) -> FloatArray:
        """So far on the way from the place inside to the one outside."""
        return np.asarray(self.near[which] + share * (self.far[which] - self.near[which]))
