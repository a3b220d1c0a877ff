"""A law on the line given by the logarithm of its density, up to a constant, which is concave.

Being concave it has one peak and falls off at least exponentially, so that a search from the peak
finds where it matters, and every highest-density region is one interval.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from eke.errors import AccuracyError
from eke.inference.crossing import crossing

Reals = NDArray[np.float64]

_DROP = 32.0  # exp(-32): what lies beyond is left out
_PIECES = 2048
_LEAST_PIECES = 64  # between two corners
_ZOOM = 33
_LARGEST = 1e10  # of a logarithm, whose rounding error of 1e-6 is then still harmless


@dataclass(frozen=True, slots=True, eq=False)
class LogConcaveLaw:
    """The law with density proportional to exp(logarithm), peaked between the outermost corners.

    `corners` are the points where the logarithm may not be smooth.
    """

    logarithm: Callable[[Reals], Reals]
    corners: Reals
    width: float  # the order of magnitude of the law's own width
    mean: float = field(init=False)
    variance: float = field(init=False)
    _nodes: Reals = field(init=False, repr=False)
    _density: Reals = field(init=False, repr=False)  # at the nodes
    _below: Reals = field(init=False, repr=False)  # Pr(θ ≤ node)
    _constant: float = field(init=False, repr=False)  # ln ∫ exp(logarithm)

    def __post_init__(self) -> None:
        peak, top = self._peak()
        low = peak - self._reach(peak, top, -1.0)
        high = peak + self._reach(peak, top, 1.0)
        if not (abs(top) < _LARGEST and low < high):
            raise AccuracyError(
                "The observations contradict each other too much for a product posterior; "
                "use the exact one."
            )
        nodes = self._placed_nodes(low, high)
        middles = 0.5 * (nodes[1:] + nodes[:-1])
        ends = np.exp(self.logarithm(nodes) - top)
        inner = np.exp(self.logarithm(middles) - top)
        sixths = np.diff(nodes) / 6.0

        def integrals(function: Callable[[Reals], Reals]) -> Reals:  # of each piece, by Simpson
            at_ends, at_middles = function(nodes) * ends, function(middles) * inner
            return sixths * (at_ends[:-1] + 4.0 * at_middles + at_ends[1:])

        masses = integrals(np.ones_like)
        total = float(masses.sum())
        mean = peak + float(integrals(lambda x: x - peak).sum()) / total
        variance = float(integrals(lambda x: (x - mean) ** 2).sum()) / total
        object.__setattr__(self, "mean", mean)
        object.__setattr__(self, "variance", variance)
        object.__setattr__(self, "_nodes", nodes)
        object.__setattr__(self, "_density", ends / total)
        object.__setattr__(self, "_below", np.concatenate(([0.0], np.cumsum(masses))) / total)
        object.__setattr__(self, "_constant", top + math.log(total))

    def density(self, points: Reals) -> Reals:
        """The density at each point."""
        return np.asarray(np.exp(self.logarithm(points) - self._constant))

    def below(self, point: float) -> float:
        """Pr(θ ≤ point)."""
        if point <= self._nodes[0]:
            return 0.0
        if point >= self._nodes[-1]:
            return 1.0
        piece = int(np.searchsorted(self._nodes, point, "right")) - 1
        start, end = float(self._nodes[piece]), float(self._nodes[piece + 1])
        return _Cubic.of(self, piece).value((point - start) / (end - start))

    def narrowest(self, probability: float) -> tuple[float, float]:
        """The narrowest interval with this probability: its ends are equally likely values."""
        # By the probability left of the interval: first between two nodes, then in between.
        starts = self._below[self._below <= 1.0 - probability]
        at_end = np.interp(starts + probability, self._below, self._density)
        risen = np.append(self._density[: len(starts)] >= at_end, True)
        around = int(np.argmax(risen)) + np.array([-2, 1])
        low, high = np.append(starts, 1.0 - probability)[np.clip(around, 0, len(starts))]

        def rise(left: float) -> float:
            return self._quantile(left)[1] - self._quantile(left + probability)[1]

        if rise(low) < 0.0 < rise(high):
            left = crossing(rise, low, high, within=1e-13)
        else:  # a flat top: any place on it will do
            left = 0.5 * (low + high)
        return self._quantile(left)[0], self._quantile(left + probability)[0]

    def _quantile(self, probability: float) -> tuple[float, float]:
        """The point with Pr(θ ≤ point) = probability, and the density there."""
        piece = int(np.searchsorted(self._below, probability, "right")) - 1
        piece = min(max(piece, 0), len(self._nodes) - 2)
        start, end = float(self._nodes[piece]), float(self._nodes[piece + 1])
        cubic = _Cubic.of(self, piece)
        share = cubic.solve(probability)
        return start + share * (end - start), cubic.slope(share) / (end - start)

    def _placed_nodes(self, low: float, high: float) -> Reals:
        """Nodes from low to high, every corner among them."""
        corners = self.corners[(self.corners > low) & (self.corners < high)]
        cuts = np.concatenate(([low], corners, [high]))
        pieces = max(_LEAST_PIECES, _PIECES // (len(cuts) - 1))
        return np.unique(np.concatenate([np.linspace(a, b, pieces + 1) for a, b in pairwise(cuts)]))

    def _peak(self) -> tuple[float, float]:
        """The highest point and the logarithm there."""
        points = self.corners
        while True:
            values = self.logarithm(points)
            best = int(np.argmax(values))
            low = float(points[max(best - 1, 0)])
            high = float(points[min(best + 1, len(points) - 1)])
            if high - low <= max(1e-3 * self.width, 1e-14 * (abs(low) + abs(high))):
                return float(points[best]), float(values[best])
            points = np.union1d(points[best], np.linspace(low, high, _ZOOM))

    def _reach(self, peak: float, top: float, sign: float) -> float:
        """How far from the peak the logarithm has dropped by `_DROP`, or slightly more."""

        def dropped(steps: Reals) -> NDArray[np.bool_]:
            return np.asarray(top - self.logarithm(peak + sign * steps) >= _DROP)

        near, far = 0.0, 4.0 * self.width
        while not bool(dropped(np.array([far]))[0]):  # ends: a concave function falls for ever
            near, far = far, 4.0 * far
        while far - near > max(0.25 * self.width, 1e-14 * (abs(peak) + far)):
            steps = np.linspace(near, far, _ZOOM)
            first = max(1, int(np.argmax(dropped(steps))))
            near, far = float(steps[first - 1]), float(steps[first])
        return far


@dataclass(frozen=True, slots=True)
class _Cubic:
    """Pr(θ ≤ node + share·length) within one piece: right values and slopes at both ends."""

    start: float
    rise: float
    first: float  # slopes, per share
    last: float

    @classmethod
    def of(cls, law: LogConcaveLaw, piece: int) -> _Cubic:
        # The parts are the law's own; this class is only its shorthand.
        nodes, below, density = law._nodes, law._below, law._density  # noqa: SLF001
        length = float(nodes[piece + 1] - nodes[piece])
        start, end = float(below[piece]), float(below[piece + 1])
        first, last = float(density[piece]), float(density[piece + 1])
        return cls(start, end - start, length * first, length * last)

    def value(self, share: float) -> float:
        rest = 1.0 - share
        lean = (self.first - self.rise) * rest - (self.last - self.rise) * share
        return self.start + share * self.rise + share * rest * lean

    def slope(self, share: float) -> float:
        rest = 1.0 - share
        bulge = 6.0 * self.rise - 3.0 * (self.first + self.last)
        return self.first * rest + self.last * share + share * rest * bulge

    def solve(self, value: float) -> float:
        """The share where the cubic has this value, by Newton's method kept within a bracket."""
        low, high, share = 0.0, 1.0, 0.5
        for _ in range(60):
            gap = self.value(share) - value
            low, high = (low, share) if gap > 0.0 else (share, high)
            slope = self.slope(share)
            following = share - gap / slope if slope > 0.0 else -1.0
            if not low <= following <= high:
                following = 0.5 * (low + high)
            if abs(following - share) < 1e-13:
                return following
            share = following
        return share
