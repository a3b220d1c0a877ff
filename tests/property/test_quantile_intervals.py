"""Quantiles: the intervals hold as often as they promise, at every confidence, and are met.

Steps are planned from noisy values that were released before, and they stop when the interval is
narrow enough; the figures here are for the whole of it. Wider ones than needed would also hold, so
that the long test bounds the shares from both sides.
"""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.lab.quantiles import LEVELS, asked, shares_held, skewed
from eke.privacy.concentrated import CONCENTRATED
from eke.privacy.pure import PURE


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
    column = skewed(rng)
    for wanted in (0.01, 0.5, 0.99):
        found = asked(column, [wanted], rng, within=0.4, confidence=0.999999, limit=1e9)
        (known,) = found.known
        assert known.interval(0.999999) == (column.quantile(wanted),) * 2
        assert known.value == column.quantile(wanted)
