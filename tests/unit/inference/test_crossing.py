"""Crossings against SciPy's, on smooth, steep, flat, kinked and broken functions."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.optimize import brentq

from eke.inference.crossing import crossing

FUNCTIONS: dict[str, Callable[[float], float]] = {
    "line": lambda x: 3.0 * x - 1.0,
    "cubic": lambda x: (x - 0.3) ** 3,
    "flat": lambda x: (x - 0.7) ** 9,
    "exponential": lambda x: math.exp(30.0 * x) - 1e6,
    "kink": lambda x: abs(x - 0.2) - 0.1 if x > 0.2 else -0.1,
    "jump": lambda x: 1.0 if x > math.pi / 10 else -1.0,
    "tail": lambda x: 0.5 * math.erfc(x * 6.0) - 1e-6,
    "falling": lambda x: 0.1 - x,
    "huge": lambda x: 1e300 * (x - 0.123),
    "tiny": lambda x: 1e-300 * (x - 0.123),
}


@pytest.mark.parametrize("within", [1e-3, 1e-9, 0.0])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_it_is_where_the_sign_changes(name, within):
    function, calls = FUNCTIONS[name], []

    def counted(x: float) -> float:
        calls.append(x)
        return function(x)

    found = crossing(counted, 0.0, 1.0, within=within)
    reach = max(within, 2.0**-50)
    low, high = function(found - reach), function(found + reach)
    assert low == 0.0 or high == 0.0 or function(found) == 0.0 or (low > 0.0) != (high > 0.0)
    if name not in ("flat", "cubic"):  # there the value itself underflows around the place
        assert abs(found - brentq(function, 0.0, 1.0, xtol=1e-14)) <= reach + 2e-14
    assert len(calls) <= 2 + 4 * math.log2(1.0 / max(within, 2.0**-53))


def test_random_brackets_in_both_directions():
    """N = 500 places over many magnitudes."""
    rng = np.random.default_rng(8)
    for place in rng.normal(size=500) * 10.0 ** rng.integers(-8, 9, 500):
        width = abs(place) * rng.uniform(0.1, 3.0)
        ends = [place - width * rng.uniform(0.01, 1.0), place + width * rng.uniform(0.01, 1.0)]

        def rising(x: float, place: float = place) -> float:
            return math.atan(x - place)

        found = crossing(rising, *rng.permutation(ends), within=0.0)
        assert abs(found - place) <= 4e-15 * abs(place)


def test_ends_that_are_zero_and_ends_of_one_sign():
    assert crossing(lambda x: x, 0.0, 1.0, within=0.1) == 0.0
    assert crossing(lambda x: x - 1.0, 0.0, 1.0, within=0.1) == 1.0
    with pytest.raises(ValueError, match="change its sign"):
        crossing(lambda x: x + 1.0, 0.0, 1.0, within=0.1)
