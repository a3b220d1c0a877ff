"""Quantiles: the intervals hold as often as they promise, at every confidence, and are met.

Steps are planned from noisy values that were released before, and they stop when the interval is
narrow enough; the figures here are for the whole of it. Wider ones than needed would also hold, so
that the long test bounds the shares from both sides.
"""

from __future__ import annotations

from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pytest

from benchmarks.lab.quantiles import (
    LEVELS,
    Column,
    asked,
    room_by_values,
    shares_held,
    skewed,
)
from eke.domain import Domain, Integer
from eke.inference import QuantilePosterior
from eke.privacy.concentrated import CONCENTRATED
from eke.privacy.pure import PURE
from eke.question.ladder import Ladder
from tests.parts import in_long


@pytest.mark.parametrize("runs", [10, in_long(24)])
def test_intervals_hold_as_often_as_they_promise(runs):
    """N = 10 or 24 runs with Gaussian noise; four standard deviations below each level."""
    held = shares_held(runs, 1)
    for level, share in zip(LEVELS, held, strict=True):
        assert share >= level - 4 * (level * (1 - level) / runs) ** 0.5


@pytest.mark.parametrize(
    ("runs", "noise"), [(10, 16.0), pytest.param(16, 4.0, marks=pytest.mark.long)]
)
def test_noise_that_is_larger_than_told_is_noticed(runs, noise):
    """The positive control: 16 times the noise, N = 10, or 4 times, N = 16, is not allowed."""
    held = shares_held(runs, 2, noise=noise)
    assert held[2] < 0.95 - 4 * (0.95 * 0.05 / runs) ** 0.5


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


def test_what_whole_values_let_expect():
    """By hand: two cuts with ranks one deviation above and two below 0."""
    counts = np.array([40, 30, 30])
    column = Column(Domain(x=Integer(0, 2)), "x", counts)  # the median is 1, ranks -10 and 20
    ladder = Ladder.of_column(column.domain, "x", Fraction(1, 2), is_between=False)
    near = np.array([0, 1], np.intp), np.zeros(2), np.zeros(2), np.array([-10.0, 20.0])
    known = QuantilePosterior(ladder, *near, np.array([5.0, 20.0]), 100.0)
    normal = NormalDist()
    surely = normal.inv_cdf(0.975)
    expected = 1 - normal.cdf(-surely - 1) - normal.cdf(-surely - 2)
    assert room_by_values(column, 0.5, known, 0.95) == pytest.approx(expected)
    assert expected > 0.99
