"""Intervals of numbers of people, and of what follows from these, hold as often as they say."""

from __future__ import annotations

import math

import numpy as np
import pytest

from eke.privacy.concentrated import CONCENTRATED
from eke.privacy.pure import PURE
from tests.formula_lab import carried_out, demanded, truth
from tests.parts import in_long

CASES = {
    "people": ("SELECT COUNT(DISTINCT id) FROM t WHERE x < 9", 40.0),
    "share": ("SELECT COUNT(DISTINCT id) FILTER (WHERE x < 9) / COUNT(DISTINCT id) FROM t", 0.01),
    "each": ("SELECT SUM(x) / COUNT(DISTINCT id) FROM t", 0.2),
}
CONFIDENCES = (0.8, 0.9, 0.95, 0.99)


def held(name: str, runs: int, measure=PURE, stretch: float = 1.0) -> list[int]:
    """How often the interval at each confidence holds the true value, after the same steps."""
    text, within = CASES[name]
    demand = demanded(text, within)
    right, found = truth(demand, 0, 0), [0] * len(CONFIDENCES)
    for seed in range(runs):
        draw = np.random.default_rng([seed, len(name)])
        facts, _ = carried_out(demand, draw, measure=measure, limit=20.0, stretch=stretch)
        belief = demand.posterior(0, 0, facts.inference)
        assert belief is not None
        for place, confidence in enumerate(CONFIDENCES):
            low, high = belief.interval(confidence)
            found[place] += low <= right <= high
    return found


def as_promised(found: list[int], runs: int) -> bool:
    """Within four standard deviations below, so that one run in thirty thousand fails."""
    return all(
        count >= runs * sure - 4 * math.sqrt(runs * sure * (1 - sure))
        for count, sure in zip(found, CONFIDENCES, strict=True)
    )


@pytest.mark.parametrize("measure", [PURE, CONCENTRATED])
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("runs", [40, in_long(120)])
def test_intervals_hold_as_often_as_they_say(name, measure, runs):
    """N = 40 at 80, 90, 95 and 99 %, in the long part 120."""
    assert as_promised(held(name, runs, measure), runs)


@pytest.mark.long
@pytest.mark.parametrize("measure", [PURE, CONCENTRATED])
@pytest.mark.parametrize("name", CASES)
def test_intervals_hold_in_many_runs(name, measure):
    """N = 1,000 at 80, 90, 95 and 99 %, and not much too often: they are not too wide."""
    found = held(name, 1000, measure)
    assert as_promised(found, 1000)
    assert found[0] < 0.87 * 1000
    assert found[2] < 0.98 * 1000


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize(
    ("runs", "stretch"), [(40, 4.0), pytest.param(120, 2.0, marks=pytest.mark.long)]
)
def test_noise_that_is_larger_than_told_is_noticed(name, runs, stretch):
    """Positive control, N = 40 with noise × 4, or 120 with × 2: intervals hold too rarely."""
    assert not as_promised(held(name, runs, stretch=stretch), runs)
