"""Crossing: where a continuous function of one number changes its sign (Chandrupatla's method).

SciPy has the like, and takes longer to load than a paid answer takes.
"""

from __future__ import annotations

import math
from collections.abc import Callable

_MOST_STEPS = 2_200  # halving needs half as many from one end of the doubles to the other
_ROUNDING = 2.0**-51


def crossing(
    function: Callable[[float], float], low: float, high: float, *, within: float
) -> float:
    """A point at most `within`, or the rounding of doubles, from where the sign changes.

    The signs at the two ends must differ; a zero counts as either.
    """
    near, far = low, high
    value, opposite = function(low), function(high)
    if value == 0.0 or opposite == 0.0:
        return low if value == 0.0 else high
    if (value > 0.0) == (opposite > 0.0):
        raise ValueError("a function that does not change its sign has no crossing")
    best, share = near, 0.5
    for _ in range(_MOST_STEPS):
        point = near + share * (far - near)
        there = function(point)
        # `past` is the end that is given up: it and the two that stay make a parabola.
        if (there > 0.0) == (value > 0.0):
            past, given_up = near, value
        else:
            past, given_up, far, opposite = far, opposite, near, value
        near, value = point, there
        best = near if abs(value) < abs(opposite) else far
        if value == 0.0:
            return near
        least = 0.5 * (within + _ROUNDING * abs(best)) / abs(far - near)
        if least > 0.5:
            return best
        share = _next_share((near, value), (far, opposite), (past, given_up))
        share = min(1.0 - least, max(least, share))
    return best


def _next_share(
    near: tuple[float, float], far: tuple[float, float], past: tuple[float, float]
) -> float:
    """How far from the near end to the far one to go: by a parabola where it is safe, else half."""
    (a, fa), (b, fb), (c, fc) = near, far, past
    if fa in (fb, fc) or fb == fc or c == b:
        return 0.5
    place, height = (a - b) / (c - b), (fa - fb) / (fc - fb)
    if not (height**2 < place and (1.0 - height) ** 2 < 1.0 - place):
        return 0.5
    share = fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
    return share if math.isfinite(share) else 0.5
