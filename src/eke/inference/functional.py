"""Functional: what is known about a formula of several answers: an average, a ratio, a variance.

A ratio of two linear questions has Fieller's interval (`fieller.py`), which is exact whatever the
noise. Other formulas are evaluated on draws of the true answers.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eke.arrays import FloatArray
from eke.errors import AccuracyError
from eke.inference.fieller import Ratio, fieller, outwards
from eke.inference.joint import Joint
from eke.inference.memo import keep_few
from eke.inference.posterior.exact import halfwidth
from eke.inference.posterior.protocol import checked_bounds, checked_confidence, checked_points
from eke.question import Formula, evaluated

DRAWS = 40_000
_MOST_UNDEFINED = 0.1  # of the probability that an interval may miss
_BINS = 60
_SAME = 1e-9  # of their size: draws that differ by less differ by rounding errors


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
    _radicand: list[FormulaPosterior] = field(default_factory=list, init=False, repr=False)
    ends: dict[Hashable, tuple[float, float]] = field(default_factory=dict, init=False, repr=False)
    """Of a ratio, by confidence, before they are cut at the bounds; `search_ratios` finds them."""

    def ratio(self) -> Ratio | None:
        """The ratio of linear forms that the formula is; None for other formulas."""
        forms = self.formula.ratio(len(self.joint.values))
        return None if forms is None else Ratio(self.joint, *forms)

    @property
    def numbers(self) -> int:
        """How many numbers it holds when somebody has looked."""
        return 0 if self.ratio() is not None else DRAWS * (1 + (self._root() is not None))

    @property
    def value(self) -> float:
        """The formula of the estimates, kept within its bounds; NaN where it has no value."""
        root = self._root()
        if root is not None:
            return math.sqrt(max(root.value, 0.0)) if math.isfinite(root.value) else math.nan
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
        root = self._root()
        if root is not None:
            return _rooted(*root.interval(confidence))
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
        undefined = 1.0 - self.draws().size / DRAWS
        open_ended = undefined > _MOST_UNDEFINED * (1.0 - confidence) or not math.isfinite(
            self.value
        )
        if open_ended or self._may_divide_by_zero(confidence):
            return -math.inf, math.inf
        tail = 0.5 * (1.0 - confidence)
        first, last = np.quantile(self.draws(), [tail, 1.0 - tail])
        return outwards(min(float(first), self.value), max(float(last), self.value))

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
        known = self.ends.get(confidence)  # one look: another thread may make room at any time
        ratio = self.ratio() if known is None else None
        if ratio is None:
            return known
        return keep_few(self.ends, confidence, fieller([ratio], confidence)[0])

    def probability(self, *, above: float | None = None, below: float | None = None) -> float:
        """The share of draws above, below or between."""
        low, high = checked_bounds(above, below)
        draws = self._defined()
        return float(np.mean((draws > low) & (draws < high))) if draws.size else 0.0

    def density(self, points: ArrayLike) -> NDArray[np.float64]:
        """The density at each point, from a histogram of the draws."""
        low, high = self.support()
        if not high > low:
            raise AccuracyError("An exact answer has no density; use its value.")
        heights, edges = np.histogram(self._inner(), bins=_BINS, density=True)
        middles = 0.5 * (edges[1:] + edges[:-1])
        densities = np.interp(checked_points(points), middles, heights, left=0.0, right=0.0)
        return np.asarray(densities)

    def support(self, coverage: float = 0.999) -> tuple[float, float]:
        """A (low, high) worth plotting; the value twice where all draws are the same number."""
        tail = 0.5 * (1.0 - coverage)
        low, high = np.quantile(self._inner(), [tail, 1.0 - tail])
        if high - low <= _SAME * max(abs(low), abs(high)):
            return self.value, self.value
        return float(low), float(high)

    def _inner(self) -> FloatArray:
        draws = self._defined()
        low, high = np.quantile(draws, [0.0005, 0.9995])
        return np.asarray(draws[(draws >= low) & (draws <= high)])

    def draws(self) -> FloatArray:
        """The draws for which the formula has a value; there may be none."""
        if not self._drawn:
            generator = np.random.default_rng(self.seed)
            root = self._root()
            if root is None:
                drawn = evaluated(self.formula, self.joint.draws(DRAWS, generator))
            else:
                drawn = np.sqrt(np.maximum(root.draws(), 0.0))
            self._drawn.append(drawn[np.isfinite(drawn)])
        return self._drawn[0]

    def _may_divide_by_zero(self, confidence: float) -> bool:
        """Whether a sum or count that the formula divides by cannot be told from 0, as in a ratio.

        Draws on both sides of 0 give an interval, which says nothing.
        """
        for part in self.formula.fragile():
            forms = part.ratio(len(self.joint.values))
            if forms is not None and not forms[1][:-1].any():
                value, noise = Ratio(self.joint, *forms).minus(0.0)
                if abs(value) <= halfwidth(noise, confidence):
                    return True
        return False

    def _root(self) -> FormulaPosterior | None:
        """What is known about the radicand of a root; None for other formulas.

        A variance is not below 0, whatever noise makes of it: what its root may be is the root of
        what it may be, from 0 on. What is below 0 without any noise has no root.
        """
        radicand = self.formula.radicand
        if radicand is None or self.joint.is_exact:
            return None
        if not self._radicand:
            self._radicand.append(FormulaPosterior(radicand, self.joint, self.seed))
        return self._radicand[0]

    def _defined(self) -> FloatArray:
        draws = self.draws()
        if not draws.size:
            raise AccuracyError("history says nothing about this formula yet; ask for it first")
        return draws


def _rooted(low: float, high: float) -> tuple[float, float]:
    """The roots of the ends of an interval; what is below 0 is cut off.

    Noise may put all of it below 0. Then half of its width is kept above: a point would look like
    certainty.
    """
    if not (math.isfinite(low) and math.isfinite(high)):
        return -math.inf, math.inf
    return math.sqrt(max(low, 0.0)), math.sqrt(max(high, 0.5 * (high - low)))


def search_ratios(posteriors: Iterable[FormulaPosterior], confidence: float) -> None:
    """Find the intervals of those that are ratios, all at once; each remembers its own."""
    confidence = checked_confidence(confidence)
    unknown = [posterior for posterior in posteriors if confidence not in posterior.ends]
    ratios = [(posterior, posterior.ratio()) for posterior in unknown]
    pairs = [(posterior, ratio) for posterior, ratio in ratios if ratio is not None]
    intervals = fieller([ratio for _, ratio in pairs], confidence)
    for (posterior, _), interval in zip(pairs, intervals, strict=True):
        keep_few(posterior.ends, confidence, interval)
