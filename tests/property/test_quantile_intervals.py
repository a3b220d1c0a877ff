"""Quantiles: the intervals hold as often as they promise, at every confidence, and are met.

Steps are planned from noisy values that were released before, and they stop when the interval is
narrow enough; the figures here are for the whole of it. Wider ones than needed would also hold, so
that the long test bounds the shares from both sides.
"""

from __future__ import annotations

import numpy as np
import pytest

import eke
from benchmarks.lab.quantiles import Column, asked
from eke.privacy.concentrated import CONCENTRATED
from eke.privacy.pure import PURE

VALUES, ROWS = 256, 4001  # no share of them is a whole number: then ranks can tie
LEVELS = (0.8, 0.9, 0.95, 0.99)


def column(rng):
    """A skewed column, another one for each run."""
    numbers = np.clip(rng.lognormal(4.0, 0.5, ROWS), 0, VALUES - 1).astype(int)
    counts = np.bincount(numbers, minlength=VALUES)
    return Column(eke.Domain(x=eke.Integer(0, VALUES - 1)), "x", counts)


def shares_held(runs, seed, measure=CONCENTRATED, noise=1.0, share=None):
    """The share of runs whose interval holds the truth, at each level."""
    rng = np.random.default_rng(seed)
    held = np.zeros(len(LEVELS))
    for _ in range(runs):
        own = column(rng)
        wanted = share or float(rng.choice([0.1, 0.25, 0.5, 0.75]))
        found = asked(own, [wanted], rng, within=3.0, measure=measure, noise=noise, limit=5.0)
        assert found.decision.action == "history"
        (known,) = found.known
        assert noise > 1.0 or known.halfwidth(0.95) <= 3.0
        true = own.quantile(wanted)
        for place, level in enumerate(LEVELS):
            low, high = known.interval(level)
            held[place] += low <= true <= high
    return held / runs


def test_intervals_hold_as_often_as_they_promise():
    """N = 24 runs with Gaussian noise; four standard deviations below each level."""
    held = shares_held(24, 1)
    for level, share in zip(LEVELS, held, strict=True):
        assert share >= level - 4 * (level * (1 - level) / 24) ** 0.5


def test_noise_that_is_larger_than_told_is_noticed():
    """The positive control: four times the noise, N = 16, falls below what the test allows."""
    held = shares_held(16, 2, noise=4.0)
    assert held[2] < 0.95 - 4 * (0.95 * 0.05 / 16) ** 0.5


@pytest.mark.long
@pytest.mark.parametrize("measure", [PURE, CONCENTRATED], ids=str)
def test_intervals_hold_and_are_not_too_wide(measure):
    """N = 400 runs: within four standard deviations below, and 0.03 to 0.1 above, each level."""
    held = shares_held(400, 3, measure=measure)
    most = (0.92, 0.97, 0.995, 1.0)
    for level, share, high in zip(LEVELS, held, most, strict=True):
        assert level - 4 * (level * (1 - level) / 400) ** 0.5 <= share <= high


def test_one_quantile_is_where_the_records_say_when_there_is_hardly_any_noise():
    """The slow twin adds the counts up, one by one."""
    rng = np.random.default_rng(4)
    own = column(rng)
    for wanted in (0.01, 0.5, 0.99):
        found = asked(own, [wanted], rng, within=0.4, confidence=0.999999, limit=1e9)
        (known,) = found.known
        assert known.interval(0.999999) == (own.quantile(wanted),) * 2
        assert known.value == own.quantile(wanted)
