"""A choice among runs of options: its law, and that doubles decide nothing they get wrong."""

from __future__ import annotations

import math
import os
import secrets
import time
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from eke.errors import PrivacyError
from eke.mechanism import Secret, choice, choose_among_runs
from eke.mechanism.choice import choose_place, exact_run, quick_run
from eke.privacy.law import DiscreteGaussian, DiscreteLaplace
from tests.parts import in_long

WIDTHS = [2, 1, 3, 1, 4]
SCORES = [6, 2, 0, 3, 9]
SAMPLES = 40_000


def runs(widths: list[int], scores: list[int]) -> Secret:
    return Secret([number for run in zip(widths, scores, strict=True) for number in run], 0)


def chances(scale: float) -> np.ndarray:
    """Of every option by itself: the obvious version."""
    scores = np.repeat(np.array(SCORES, np.float64), WIDTHS)
    weights = np.exp(-scores / scale)
    return np.asarray(weights / weights.sum())


def test_chances_are_those_of_the_exponential_mechanism():
    """N = 40,000, chi-square; a correct choice fails in less than 1 run in 10^6.

    Positive control: a scale that is 15 % wider or narrower. The noise lies on a finer grid.
    """
    law, secret = DiscreteLaplace(16, -2), runs(WIDTHS, SCORES)
    drawn = [choose_among_runs(secret, law) for _ in range(SAMPLES)]
    found = np.bincount(drawn, minlength=sum(WIDTHS))
    assert len(found) == sum(WIDTHS)
    assert stats.chisquare(found, chances(4.0) * SAMPLES).pvalue > 1e-6
    for wrong in (3.4, 4.6):
        assert stats.chisquare(found, chances(wrong) * SAMPLES).pvalue < 1e-6


def some_runs(coins: np.random.Generator, number: int) -> tuple[list[int], list[int], Fraction]:
    widths = (1 + coins.integers(0, 2 ** coins.integers(1, 40), number)).tolist()
    scores = coins.integers(0, 2 ** coins.integers(1, 50), number).tolist()
    return widths, scores, Fraction(int(coins.integers(1, 2**40)), 2 ** int(coins.integers(0, 41)))


@pytest.mark.parametrize("number", [600, in_long(3000)])
def test_what_doubles_decide_is_what_exact_arithmetic_decides(number):
    """The slow twin on the same bits: choices among 1 to 40 runs."""
    coins = np.random.default_rng(5)
    decided = 0
    for _ in range(number):
        given = some_runs(coins, int(coins.integers(1, 41)))
        word = int(coins.integers(0, 2**64, dtype=np.uint64))
        quick = quick_run(*given, word)
        decided += quick is not None
        assert quick in (None, exact_run(*given, word))
    assert decided > number * 29 / 30


def border(widths: list[int], scores: list[int], scale: Fraction, run: int) -> int:
    """The 64 bits in which the end of a run lies: those that do not decide."""
    with localcontext(prec=100):
        rates = [Decimal(s) * scale.denominator / scale.numerator for s in scores]
        parts = [width * (-rate).exp() for width, rate in zip(widths, rates, strict=True)]
        return int(sum(parts[: run + 1]) / sum(parts) * 2**64)


@pytest.mark.parametrize("scale", [Fraction(1), Fraction(7, 3), Fraction(10**9)])
@pytest.mark.parametrize("run", range(len(WIDTHS) - 1))
def test_near_the_end_of_a_run_doubles_leave_it_open_and_more_bits_decide(run, scale, monkeypatch):
    """Positive control: without a margin doubles decide it, and some of it wrong."""
    given = (WIDTHS, SCORES, scale)
    word = border(*given, run)
    assert quick_run(*given, word) is None
    drawn = []

    def bits(number):
        drawn.append(number)
        return longer

    monkeypatch.setattr(secrets, "randbits", bits)
    longer = 0
    assert exact_run(*given, word) == run
    longer = 2**64 - 1
    assert exact_run(*given, word) == run + 1
    assert drawn == [64, 64]
    assert exact_run(*given, word - 1) == run
    assert exact_run(*given, word + 1) == run + 1
    assert drawn == [64, 64]


@pytest.mark.parametrize("run", range(len(WIDTHS) - 1))
def test_bits_beyond_those_of_pythons_own_decimals_decide(run, monkeypatch):
    """320 bits up to the end of a run: whatever precision others have set does not matter."""
    with localcontext(prec=300):
        rates = [Decimal(score) / 7 for score in SCORES]
        parts = [width * (-rate).exp() for width, rate in zip(WIDTHS, rates, strict=True)]
        whole = int(sum(parts[: run + 1]) / sum(parts) * 2**320)
    first, later = whole >> 256, [(whole >> 64 * left) % 2**64 for left in (3, 2, 1, 0)]
    for last, expected in ((later[-1] - 3, run), (later[-1] + 3, run + 1)):
        bits = iter([*later[:-1], last % 2**64])
        monkeypatch.setattr(secrets, "randbits", lambda _, bits=bits: next(bits))
        with localcontext(prec=4):
            assert exact_run(WIDTHS, SCORES, Fraction(7), first) == expected


def test_without_a_margin_doubles_would_be_wrong(monkeypatch):
    monkeypatch.setattr(choice, "_OF_CHANCES", 0.0)
    monkeypatch.setattr(choice, "_OF_SUMS", 0.0)
    wrong = 0
    for thirds in range(1, 60):
        given = (WIDTHS, SCORES, Fraction(thirds, 3))
        for run in range(len(WIDTHS) - 1):
            for near in (-2, -1, 1, 2):
                word = border(*given, run) + near
                wrong += quick_run(*given, word) != exact_run(*given, word)
    assert wrong > 0


def test_the_margins_hold_for_sums_of_a_million_parts():
    """20 columns of up to 200,000 runs: ends in doubles against sums without any rounding."""
    coins = np.random.default_rng(3)
    for number in (10, 1000, 50_000, 200_000):
        for _ in range(5):
            parts = coins.random(number) * np.exp(-40.0 * coins.random(number))
            ends, length = np.cumsum(parts), math.fsum(parts)
            for at in coins.integers(0, number, 5):
                exact = math.fsum(parts[: at + 1])
                assert abs(ends[at] - exact) <= 0.1 * choice._OF_SUMS * number * length


def test_the_margins_hold_for_powers():
    """2,000 chances from 1 down to 10^-300, scores and scales as they come."""
    coins = np.random.default_rng(4)
    for _ in range(2000):
        score, scale = int(coins.integers(0, 2**52)), Fraction(int(coins.integers(1, 2**53)), 7)
        scale = max(scale, Fraction(score, 690))
        found = float(np.exp(-np.array([score], np.float64) / float(scale))[0])
        with localcontext(prec=60):
            true = (-Decimal(score) * scale.denominator / scale.numerator).exp()
            assert abs(Decimal(found) - true) <= true * Decimal(choice._OF_CHANCES) / 4


@pytest.mark.parametrize(
    ("widths", "scores"),
    [([1], [0]), ([1], [10**30]), ([5], [3]), ([2**70], [0]), ([1, 2**70], [10**40, 10**40 + 1])],
)
def test_one_run_huge_runs_and_huge_scores(widths, scores):
    place = choose_place(widths, scores, Fraction(3))
    assert 0 <= place < sum(widths)


def test_hopeless_options_are_never_chosen_and_equal_ones_all_are():
    """N = 2,000; an option whose chance is 2^-64 by itself turns up in 1 run of 10^15."""
    places = {choose_place([1, 1, 1], [10**9, 0, 10**9], Fraction(7)) for _ in range(2000)}
    assert places == {1}
    assert {choose_place([3], [5], Fraction(1)) for _ in range(2000)} == {0, 1, 2}


@pytest.mark.parametrize(("word", "run"), [(0, 0), (2**64 - 1, 4)])
def test_the_ends_of_the_line_belong_to_the_first_and_the_last_run(word, run):
    assert exact_run(WIDTHS, SCORES, Fraction(9), word) == run
    assert quick_run(WIDTHS, SCORES, Fraction(9), word) in (None, run)


def test_a_million_runs_take_a_moment():
    """In a process's own seconds; exact arithmetic decides one in some thousand."""
    widths, scores = [1] * 10**6, [abs(place - 400_000) for place in range(10**6)]
    began = time.process_time()
    places = [choose_place(widths, scores, Fraction(1000)) for _ in range(3)]
    assert time.process_time() - began < 60
    assert all(abs(place - 400_000) < 100_000 for place in places)


def test_every_bit_comes_from_the_operating_system(monkeypatch):
    asked = []
    given = os.urandom

    def counted(size):
        asked.append(size)
        return given(size)

    monkeypatch.setattr(os, "urandom", counted)
    choose_place(WIDTHS, SCORES, Fraction(4))
    assert asked[0] == 8


@pytest.mark.parametrize(
    ("secret", "law"),
    [
        (Secret([], 0), DiscreteLaplace(3, 0)),
        (Secret([1, 2, 1], 0), DiscreteLaplace(3, 0)),
        (Secret([0, 2], 0), DiscreteLaplace(3, 0)),
        ([1, 2], DiscreteLaplace(3, 0)),
        (Secret([1, 2], 0), DiscreteGaussian(3, 0)),
    ],
)
def test_what_cannot_be_chosen_from_is_refused(secret, law):
    with pytest.raises(PrivacyError):
        choose_among_runs(secret, law)
