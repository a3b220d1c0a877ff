"""Whole tables are refined by the law of single answers, and by the same bits as these."""

from __future__ import annotations

import os
import secrets
from collections import Counter
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from eke.mechanism import Secret, draw, refine_with_noise, secret, table_noise, table_refining
from eke.mechanism.noise import MANY
from eke.mechanism.refining import FinerNoise
from eke.mechanism.table_noise import draw_geometric, whole_part
from eke.mechanism.table_refining import FinerTable
from eke.privacy.law import DiscreteLaplace, Refinement
from tests.parts import among
from tests.unit.mechanism.test_refining import LAWS, SIGNIFICANCE, conditional, fit

WIDE = 2**20
PAIRS = [(1, 2), (3, 5), (2, 20), (WIDE, WIDE + 1), (WIDE, 2 * WIDE + 5), (1000, 10**6)]
AT_ONCE = [(3, 5, 0), (2, 20, 1), (1, 3, -2), (6, 7, 9), (2, 20, -30)]


@pytest.mark.parametrize(("fine", "coarse"), PAIRS)
def test_doubles_decide_what_exact_arithmetic_decides(fine: int, coarse: int) -> None:
    """The slow twin: 300 answers of the same bits, one by one; noise near 0 among them."""
    law = Refinement(fine, 0, coarse)
    noises = draw(law.coarse, 300)
    noises[:20] = np.arange(-10, 10)
    table, before = FinerTable(law), noises.tolist()
    drawn = table.draw(len(before))
    slow = [FinerNoise(law).given(one, drawn.one(place)) for place, one in enumerate(before)]
    assert table.given(before, drawn) == slow
    assert len(set(slow)) > 5


def test_what_is_left_open_is_decided_by_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    law = Refinement(3, 0, 5)
    table, before = FinerTable(law), draw(DiscreteLaplace(5, 0), 400).tolist()
    drawn = table.draw(400)
    quick = table.given(before, drawn)
    given, asked = FinerNoise.given, []
    monkeypatch.setattr(table_refining, "_OF_PLACES", 2.0)

    def counted(noise: FinerNoise, *of: object) -> int:
        asked.append(of)
        return given(noise, *of)  # type: ignore[arg-type]

    monkeypatch.setattr(FinerNoise, "given", counted)
    assert table.given(before, drawn) == quick
    assert len(asked) == 400


@pytest.mark.parametrize("law", among(LAWS, AT_ONCE))
def test_finer_noise_has_its_law_given_the_noise_before(law: tuple[int, int, int]) -> None:
    """N = 50,000 each; 20 laws in the long part, all of which must fit at p > 1e-5."""
    fine, coarse, before = law
    table = FinerTable(Refinement(fine, 0, coarse))
    sample = table.given([before] * 50_000, table.draw(50_000))
    assert fit(sample, conditional(*law)) > SIGNIFICANCE
    wrong = conditional(fine, 2 * coarse, before)  # the positive control
    assert fit(sample, wrong) < SIGNIFICANCE


def test_the_pair_is_finer_noise_made_coarser() -> None:
    """N = 100,000: n₂ by itself has its law, and n₁ - n₂ is zero or noise, whatever n₂ is."""
    fine, coarse, reach = 4, 9, np.arange(-400, 401)
    law = Refinement(fine, 0, coarse)
    first = draw(law.coarse, 100_000).tolist()
    table = FinerTable(law)
    second = table.given(first, table.draw(len(first)))
    assert fit(second, law.fine.mass(reach)) > SIGNIFICANCE
    assert fit(second, DiscreteLaplace(fine + 1, 0).mass(reach)) < SIGNIFICANCE
    a1, a2 = np.exp(-1 / coarse), np.exp(-1 / fine)
    still = (a2 / a1) * ((1 - a1) / (1 - a2)) ** 2
    shares = (1 - still) * law.coarse.mass(reach) + still * (reach == 0)
    for chosen in (lambda n: abs(n) <= 2, lambda n: n > 2, lambda n: n < -2):
        added = [one - two for one, two in zip(first, second, strict=True) if chosen(two)]
        assert fit(added, shares) > SIGNIFICANCE
    careless = draw(law.fine, 100_000)  # the positive control: what is left depends on n₂
    chosen_by = np.array(first)[careless > 2] - careless[careless > 2]
    assert fit(chosen_by.tolist(), shares) < SIGNIFICANCE


def test_answers_are_refined_on_their_grid() -> None:
    """The noise that is left is that of the finer law; N = 20,000 answers of a table."""
    law = Refinement(20, -3, 160)
    exact = [place % 7 for place in range(20_000)]
    before = [
        (one << 3) + int(n) for one, n in zip(exact, draw(law.coarse, len(exact)), strict=True)
    ]
    after = refine_with_noise(Secret(exact, 0), before, law)
    noise = Counter(one - (number << 3) for one, number in zip(after, exact, strict=True))
    reach = np.arange(-400, 401)
    assert fit(list(noise.elements()), law.fine.mass(reach)) > SIGNIFICANCE
    assert fit(list(noise.elements()), DiscreteLaplace(22, 0).mass(reach)) < SIGNIFICANCE


@pytest.mark.parametrize(("fine", "coarse"), PAIRS)
def test_the_ends_of_the_pieces_are_as_near_as_the_margin_supposes(fine: int, coarse: int) -> None:
    law = Refinement(fine, 0, coarse)
    table, chances = FinerTable(law), FinerNoise(law)._chances(80)
    distances = [0, 1, 2, 3, 9, fine, coarse, 7 * coarse, 60 * coarse, 10**6 * coarse]
    found = table._ends(np.array(distances, np.float64))
    for place, distance in enumerate(distances):
        for near, true in zip(found, chances.ends(distance), strict=True):
            assert abs(Decimal(float(near[place])) - true) < Decimal(2) ** -46


def test_doubles_are_as_near_as_the_margin_supposes() -> None:
    """2,000 values of NumPy's expm1 against fifty digits; `exp` is in test_table_noise.py."""
    some = np.random.default_rng(1).random(1000)
    rates = np.concatenate([some * 40.0, some * 2.0**-30])
    with localcontext(prec=50):
        for rate, found in zip(rates.tolist(), np.expm1(-rates).tolist(), strict=True):
            true = (-Decimal(rate)).exp() - 1
            assert abs(Decimal(found) - true) <= abs(true) * Decimal(2) ** -50


def near_an_end(law: Refinement, before: int) -> list[int]:
    """Places of 128 bits to either side of the ends of the pieces, all much nearer than a double.

    The place of no piece that is empty is among them.
    """
    with localcontext(prec=80):
        ends = [end * 2**128 for end in FinerNoise(law)._chances(80).ends(before)]
        return [int(end) + side * 2**60 for end in ends for side in (-1, 1)]


def test_a_place_next_to_an_end_is_left_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """Positive control: without a margin doubles decide it, and some of it wrong."""
    law, before = Refinement(30, 0, 47), 11
    places = near_an_end(law, before)
    table = FinerTable(law)
    drawn = table_refining.DrawnTogether(
        np.array([place >> 64 for place in places], np.uint64),
        np.array([place % 2**64 for place in places], np.uint64),
        np.zeros(len(places), np.int64) + 3,
        np.zeros(len(places), np.int64) + 100,
    )
    true = [table._one_by_one.given(before, drawn.one(place)) for place in range(len(places))]
    assert table.given([before] * len(places), drawn) == true
    monkeypatch.setattr(table_refining, "_OF_PLACES", 0.0)
    assert table.given([before] * len(places), drawn) != true


def test_noise_that_doubles_do_not_hold_is_refined_exactly() -> None:
    law = Refinement(2**20, 0, 2**21)
    table, before = FinerTable(law), [2**53, -(2**70), 2**62, 5]
    drawn = table.draw(len(before))
    slow = [table._one_by_one.given(one, drawn.one(place)) for place, one in enumerate(before)]
    assert table.given(before, drawn) == slow


@pytest.mark.parametrize("steps", [Fraction(3, 2), Fraction(22, 7), Fraction(2**41 + 1, 3)])
def test_geometric_numbers_of_any_rate(steps: Fraction, monkeypatch: pytest.MonkeyPatch) -> None:
    """The slow twin by the same words; and N = 20,000 against the law, with one 10 % off."""
    words = table_noise.random_words(500)
    with monkeypatch.context() as patch:
        patch.setattr(table_noise, "random_words", lambda _: words)
        quick = draw_geometric(steps, 500).tolist()
    assert quick == [whole_part(steps, word) for word in words.tolist()]
    sample = draw_geometric(steps, 20_000) + np.random.default_rng(0).random(20_000)

    def law(x: np.ndarray, scale: float) -> np.ndarray:
        """Of the number and something uniform added to it."""
        whole = np.floor(x)
        low, high = -np.expm1(-whole / scale), -np.expm1(-(whole + 1) / scale)
        return np.asarray(low + (x - whole) * (high - low))

    assert stats.kstest(law(sample, float(steps)), "uniform").pvalue > SIGNIFICANCE
    assert stats.kstest(law(sample, 1.1 * float(steps)), "uniform").pvalue < SIGNIFICANCE


def test_many_answers_are_refined_together_and_few_one_by_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    together: list[int] = []
    plain = FinerTable.draw

    def watched(table: FinerTable, count: int) -> table_refining.DrawnTogether:
        together.append(count)
        return plain(table, count)

    monkeypatch.setattr(FinerTable, "draw", watched)
    near = 2**40  # so near to each other that doubles decide nothing
    for fine, coarse, count in (
        (WIDE, 2 * WIDE, MANY - 1),
        (WIDE, 2 * WIDE, MANY),
        (near, near + 1, MANY),
        (WIDE, WIDE + 1, MANY + 1),
    ):
        refine_with_noise(Secret([5] * count, 0), [7] * count, Refinement(fine, 0, coarse))
    assert together == [MANY, MANY + 1]


def test_all_is_drawn_before_the_secret_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    """N = 300: nothing random is asked for once exact answers are at hand."""
    hidden = Secret([5] * 300, 0)
    opened: list[str] = []
    plain = secret._EXACT

    class Watched:
        def __get__(self, instance: Secret, owner: type | None = None) -> tuple[int, ...]:
            opened.append("opened")
            exact: tuple[int, ...] = plain.__get__(instance)
            return exact

    def late(*_: object) -> bytes:
        assert not opened
        return secrets.token_bytes(_[0])  # type: ignore[arg-type]

    monkeypatch.setattr(secret, "_EXACT", Watched())
    monkeypatch.setattr(os, "urandom", late)
    assert len(refine_with_noise(hidden, [8] * 300, Refinement(WIDE, 0, 2 * WIDE))) == 300
    assert opened == ["opened"]
