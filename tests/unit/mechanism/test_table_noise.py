"""Many draws at once: their law, and that doubles decide nothing that they could get wrong."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from eke.errors import PrivacyError
from eke.mechanism import draw, noise, table_noise
from eke.mechanism.table_noise import draw_gaussian, draw_laplace, is_below, whole_part
from eke.privacy.law import DiscreteGaussian, DiscreteLaplace
from tests.parts import in_long
from tests.unit.mechanism.test_noise import FAMILIES, SAMPLES, SIGNIFICANCE, WIDE, fit

STEPS = (1, 3, 1000, WIDE, 2**32)
DRAWN = {DiscreteLaplace: draw_laplace, DiscreteGaussian: draw_gaussian}


@pytest.fixture
def replayed(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Bits that are the same again after each call of what this gives."""
    fixed = np.random.default_rng(7)

    def again() -> None:
        nonlocal fixed
        fixed = np.random.default_rng(7)

    monkeypatch.setattr(os, "urandom", lambda size: fixed.bytes(size))  # noqa: PLW0108 -- what is there when it is called
    return again


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("steps", "wrong"), [(1, (2,)), (10, (7, 13)), (2**32, (0.7, 1.3))])
def test_drawn_noise_has_the_stated_law(family, steps, wrong):
    """N = 100,000; must fit at p > 1e-4 and must not fit a scale that is 30 % off (1: twice)."""
    sample = DRAWN[family](steps, SAMPLES)
    assert fit(sample, family(steps, -3)) > SIGNIFICANCE
    for other in wrong:
        stretched = round(other * steps) if isinstance(other, float) else other
        assert fit(sample, family(stretched, -3)) < SIGNIFICANCE


@pytest.mark.parametrize("family", FAMILIES)
def test_it_has_the_law_of_opendps_draws(family):
    """N = 20,000 of each, by two samples of Kolmogorov and Smirnov; 30 % more is told apart."""
    ours, theirs = (
        DRAWN[family](WIDE, 20_000),
        np.array(noise._measurement(family(WIDE, 0))([0] * 20_000)),
    )
    assert stats.ks_2samp(ours, theirs).pvalue > SIGNIFICANCE
    assert stats.ks_2samp(1.3 * ours, theirs).pvalue < SIGNIFICANCE


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("steps", STEPS)
@pytest.mark.parametrize("number", [200, in_long(1000)])
def test_what_doubles_decide_is_what_exact_arithmetic_decides(
    family, steps, number, replayed, monkeypatch
):
    """The slow twin: draws of the same bits, all of them left to exact arithmetic."""
    replayed()
    quick = DRAWN[family](steps, number)
    monkeypatch.setattr(table_noise, "_OF_LOGARITHMS", 2.0)
    monkeypatch.setattr(table_noise, "_OF_CHANCES", 2.0)
    asked = []

    def counted(*given):
        asked.append(given)
        return whole_part(*given)

    monkeypatch.setattr(table_noise, "whole_part", counted)
    replayed()
    assert np.array_equal(DRAWN[family](steps, number), quick)
    assert len(asked) >= 2 * number


def threshold(steps: int, whole: int) -> int:
    """The 64 bits in which exp(-whole / steps) lies: those that do not decide."""
    with localcontext(prec=80):
        return int((Decimal(-whole) / steps).exp() * 2**64)


@pytest.mark.parametrize("steps", [1, 3, WIDE])
@pytest.mark.parametrize("whole", [1, 2, 7, 40])
def test_where_64_bits_do_not_decide_more_are_drawn(steps, whole, monkeypatch):
    word = threshold(steps, whole)
    drawn = []

    def bits(_):
        drawn.append(longer)
        return longer

    monkeypatch.setattr(secrets, "randbits", bits)
    longer = 0  # below the threshold: exp(-whole / steps) is passed
    assert whole_part(steps, word) == whole
    longer = 2**64 - 1
    assert whole_part(steps, word) == whole - 1
    assert not is_below(Fraction(whole, steps), word)
    longer = 0
    assert is_below(Fraction(whole, steps), word)
    assert len(drawn) == 4


@pytest.mark.parametrize("steps", [1, 3, WIDE])
def test_doubles_leave_open_what_is_near_a_threshold(steps, monkeypatch):
    """Positive control: without a margin they decide it, and half of it wrong."""
    words = [threshold(steps, whole) + near for whole in range(1, 21) for near in (-2, -1, 1, 2)]
    true = [whole_part(steps, word) for word in words]
    monkeypatch.setattr(table_noise, "random_words", lambda _: np.array(words, np.uint64))
    assert table_noise._geometric(steps, len(words)).tolist() == true
    monkeypatch.setattr(table_noise, "_OF_LOGARITHMS", 0.0)
    monkeypatch.setattr(table_noise, "whole_part", lambda *_: -1)
    assert table_noise._geometric(steps, len(words)).tolist() != true


def test_doubles_are_as_near_as_the_margins_suppose() -> None:
    """2,000 logarithms and powers, near 0 and 1 and between, against fifty digits."""
    with localcontext(prec=50):
        some = np.random.default_rng(1).random(1000)
        shares = np.concatenate([some, 1.0 - some * 2.0**-30, some * 2.0**-40])
        for share, found in zip(shares.tolist(), (-np.log(shares)).tolist(), strict=True):
            true = -Decimal(share).ln()
            assert abs(Decimal(found) - true) <= (1 + true) * Decimal(2) ** -50
        rates = np.concatenate([some * 40.0, some])
        for rate, found in zip(rates.tolist(), np.exp(-rates).tolist(), strict=True):
            assert abs(Decimal(found) - (-Decimal(rate)).exp()) <= Decimal(2) ** -50


@pytest.mark.parametrize("family", FAMILIES)
def test_many_draws_are_made_together_and_few_by_opendp(family, monkeypatch):
    by_opendp = []
    measured = noise._measurement

    def watched(law):
        def counted(zeros):
            by_opendp.append(len(zeros))
            return measured(law)(zeros)

        return counted

    monkeypatch.setattr(noise, "_measurement", watched)
    for steps, count in ((WIDE, 255), (WIDE, 256), (2**32, 256), (2**32 + 1, 256), (2**53, 300)):
        assert draw(family(steps, 0), count).shape == (count,)
    assert by_opendp == [255, 256, 300]


@pytest.mark.parametrize("count", [1, 2**16 - 1, 2**16, 2**16 + 1, 2**17])
def test_blocks_are_as_many_as_asked_for(count):
    for drawn in (draw_laplace, draw_gaussian):
        found = drawn(WIDE, count)
        assert found.dtype == np.int64
        assert len(found) == count


def test_chances_at_the_ends() -> None:
    assert is_below(Fraction(0), 2**64 - 1)
    assert is_below(Fraction(1), 0)
    assert not is_below(Fraction(1), 2**64 - 1)
    assert whole_part(1, 2**64 - 1) == 0


def test_numbers_beyond_64_bits_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_noise, "_LARGEST", 5)
    with pytest.raises(PrivacyError, match="range of 64 bits"):
        whole_part(1, threshold(1, 5) - 1)
