"""Functional: what is known about a formula of several answers: an average, a ratio, a variance.

A ratio of two linear questions has Fieller's interval: r is in it when the linear question
N − r·D cannot be told from 0. That is exact, whatever the noise, for N − r·D has an exact
interval. Other formulas are evaluated on draws of the true answers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eke.arrays import FloatArray
from eke.errors import AccuracyError
from eke.inference.crossing import crossing
from eke.inference.joint import Joint
from eke.inference.posterior import halfwidth
from eke.inference.posterior.protocol import checked_bounds, checked_confidence, checked_points
from eke.question import Formula, evaluated

DRAWS = 40_000
_MOST_UNDEFINED = 0.1  # of the probability that an interval may miss
_BINS = 60
_WIDENINGS = 60


@dataclass(frozen=True, slots=True, eq=False)
class FormulaPosterior:
    """The belief about a formula of the true answers; draws are made when somebody looks.

    `seed` makes the draws, and so the interval, the same for everyone who asks the same.
    """

    formula: Formula
    joint: Joint
    seed: int
    bounds: tuple[float, float] = (-math.inf, math.inf)  # an average lies between its values
    _drawn: list[FloatArray] = field(default_factory=list, init=False, repr=False)

    @property
    def value(self) -> float:
        """The formula of the estimates, kept within its bounds; NaN where it has no value."""
        value = float(evaluated(self.formula, self.joint.values[:, None])[0])
        low, high = self.bounds
        if math.isfinite(low) and math.isfinite(high) and not math.isfinite(value):
            return 0.5 * (low + high)
        return min(max(value, low), high)

    @property
    def variance(self) -> float:
        """The variance of the draws."""
        return float(np.var(self._defined()))

    def interval(self, confidence: float) -> tuple[float, float]:
        """An interval that holds the formula of the true answers; infinite where none is known."""
        confidence = checked_confidence(confidence)
        uncut = self._uncut(confidence)
        low, high = self.bounds
        if uncut is not None:
            first, last = uncut
            # Noise may put all of the interval beyond what is possible. Then half of it is kept on
            # this side: a point, or next to nothing, would look like certainty.
            half = 0.5 * (last - first)
            if first > high - half:
                return max(min(first, high - half), low), high
            if last < low + half:
                return low, min(max(last, low + half), high)
            return max(first, low), min(last, high)
        draws = self._draws()
        missing = 1.0 - draws.size / DRAWS
        if missing > _MOST_UNDEFINED * (1.0 - confidence) or not math.isfinite(self.value):
            return -math.inf, math.inf
        tail = 0.5 * (1.0 - confidence)
        first, last = np.quantile(draws, [tail, 1.0 - tail])
        return min(float(first), self.value), max(float(last), self.value)

    def halfwidth(self, confidence: float) -> float:
        """Half the width of the interval; of one that is cut at its bounds, half of what it was.

        Measuring ends when this is small enough. An interval that noise has put beyond what is
        possible is not more accurate than others, and must not end it.
        """
        uncut = self._uncut(checked_confidence(confidence))
        if uncut is None:
            low, high = self.interval(confidence)
            return 0.5 * (high - low)
        return 0.5 * min(uncut[1] - uncut[0], self.bounds[1] - self.bounds[0])

    def _uncut(self, confidence: float) -> tuple[float, float] | None:
        """The interval of a ratio of linear forms before it is cut; None for other formulas."""
        ratio = self.formula.ratio(len(self.joint.values))
        return None if ratio is None else fieller(self.joint, *ratio, confidence)

    def probability(self, *, above: float | None = None, below: float | None = None) -> float:
        """The share of draws above, below or between."""
        low, high = checked_bounds(above, below)
        draws = self._defined()
        return float(np.mean((draws > low) & (draws < high))) if draws.size else 0.0

    def density(self, points: ArrayLike) -> NDArray[np.float64]:
        """The density at each point, from a histogram of the draws."""
        heights, edges = np.histogram(self._inner(), bins=_BINS, density=True)
        middles = 0.5 * (edges[1:] + edges[:-1])
        densities = np.interp(checked_points(points), middles, heights, left=0.0, right=0.0)
        return np.asarray(densities)

    def support(self, coverage: float = 0.999) -> tuple[float, float]:
        """A (low, high) worth plotting."""
        tail = 0.5 * (1.0 - coverage)
        low, high = np.quantile(self._inner(), [tail, 1.0 - tail])
        return float(low), float(high)

    def _inner(self) -> FloatArray:
        draws = self._defined()
        low, high = np.quantile(draws, [0.0005, 0.9995])
        return np.asarray(draws[(draws >= low) & (draws <= high)])

    def _draws(self) -> FloatArray:
        """The draws for which the formula has a value; there may be none."""
        if not self._drawn:
            generator = np.random.default_rng(self.seed)
            drawn = evaluated(self.formula, self.joint.draws(DRAWS, generator))
            self._drawn.append(drawn[np.isfinite(drawn)])
        return self._drawn[0]

    def _defined(self) -> FloatArray:
        draws = self._draws()
        if not draws.size:
            raise AccuracyError("history says nothing about this formula yet; ask for it first")
        return draws


def fieller(
    joint: Joint, numerator: FloatArray, denominator: FloatArray, confidence: float
) -> tuple[float, float]:
    """Fieller's interval of a ratio of two linear forms (coefficients, constant last)."""
    top, bottom = _estimate(joint, numerator), _estimate(joint, denominator)
    if abs(bottom) <= _width(joint, denominator, confidence):
        return -math.inf, math.inf  # the denominator may be 0
    centre = top / bottom

    def excess(ratio: float) -> float:
        form = numerator - ratio * denominator
        return abs(_estimate(joint, form)) - _width(joint, form, confidence)

    step = _width(joint, numerator - centre * denominator, confidence) / abs(bottom)
    return _edge(excess, centre, -step), _edge(excess, centre, step)


def _edge(excess: Callable[[float], float], centre: float, step: float) -> float:
    """Where the interval ends on one side, rounded outwards."""
    if step == 0.0:
        return centre
    # Widths are roots themselves, and asked twice they may differ by their rounding errors; a
    # search needs one value for one place.
    beyond = cache(lambda x: excess(centre + x))
    near, far = 0.0, step
    for _ in range(_WIDENINGS):
        if beyond(far) > 0.0:
            break
        near, far = far, 1.25 * far
    else:
        return math.copysign(math.inf, step)
    tolerance = abs(step) * 1e-7
    root = far
    if beyond(near) < 0.0:  # else the end is within rounding errors of `near`: the outer one counts
        root = crossing(beyond, near, far, within=tolerance)
    return centre + root + math.copysign(2.0 * tolerance, step)


def _estimate(joint: Joint, form: FloatArray) -> float:
    return float(form[:-1] @ joint.values) + float(form[-1])


def _width(joint: Joint, form: FloatArray, confidence: float) -> float:
    return halfwidth(joint.combination(form[:-1])[1], confidence)
