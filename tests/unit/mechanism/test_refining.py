"""Refined noise: its law given the noise before, and what both together give away."""

from __future__ import annotations

import math
import secrets
from collections import Counter
from decimal import Decimal, FloatOperation, Inexact, Rounded, localcontext
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from eke.errors import PrivacyError
from eke.mechanism import Secret, draw, refine_with_noise, refining
from eke.mechanism.refining import FinerNoise, geometric
from eke.privacy.law import DiscreteLaplace, Refinement
from tests.parts import among

SIGNIFICANCE = 1e-5
REACH = 400


def conditional(fine: int, coarse: int, before: int) -> np.ndarray:
    """P(n₂ = j | n₁) for |j| ≤ REACH, from the law of the pair; the slow twin."""
    j = np.arange(-REACH, REACH + 1)
    a1, a2 = math.exp(-1 / coarse), math.exp(-1 / fine)
    still = (a2 / a1) * ((1 - a1) / (1 - a2)) ** 2
    moved = (1 - still) * (1 - a1) / (1 + a1) * a1 ** np.abs(before - j)
    weights = a2 ** np.abs(j) * (still * (j == before) + moved)
    return np.asarray(weights / weights.sum())


def fit(sample: list[int], shares: np.ndarray) -> float:
    """The chi-square p-value of whole numbers under their shares from -REACH to REACH."""
    counted = Counter(sample)
    counts = np.array([counted[j] for j in range(-REACH, REACH + 1)])
    thin = shares * len(sample) < 10
    pooled = np.append(counts[~thin], counts[thin].sum())
    expected = np.append(shares[~thin], shares[thin].sum()) * len(sample)
    keep = expected > 0.0
    return float(
        stats.chisquare(pooled[keep], expected[keep] * (len(sample) / expected.sum())).pvalue
    )


def drawn(fine: int, coarse: int, before: int, count: int) -> list[int]:
    noise = FinerNoise(Refinement(fine, 0, coarse))
    return [noise.given(before, noise.draw()) for _ in range(count)]


LAWS = [
    (fine, coarse, before)
    for before in (0, 1, -2, 9, -30)
    for fine, coarse in ((3, 5), (6, 7), (2, 20), (1, 3))
]
AT_ONCE = [(3, 5, 0), (2, 20, 1), (1, 3, -2), (6, 7, 9), (2, 20, -30)]


@pytest.mark.parametrize("law", among(LAWS, AT_ONCE))
def test_finer_noise_has_its_law_given_the_noise_before(law: tuple[int, int, int]) -> None:
    """N = 1,500 each; 20 laws in the long part, all of which must fit at p > 1e-5."""
    sample = drawn(*law, 1_500)
    assert fit(sample, conditional(*law)) > SIGNIFICANCE


@pytest.mark.parametrize(("fine", "coarse"), [(1, 2), (1, 3), (2, 3), (3, 5), (6, 7), (2, 20)])
@pytest.mark.parametrize("distance", [0, 1, 2, 3, 7, 30])
def test_the_pieces_have_their_chances(fine: int, coarse: int, distance: int) -> None:
    """Without a draw: the ends of the pieces against the law that the slow twin adds up."""
    ends = FinerNoise(Refinement(fine, 0, coarse))._chances(80).ends(distance)
    same, below, between = map(float, ends)
    law = conditional(fine, coarse, distance)
    low, inside = law[: REACH + 1].sum(), law[REACH + 1 : REACH + distance].sum()
    assert below - (same if distance else 0.0) == pytest.approx(low, rel=1e-12)
    assert between - below == pytest.approx(inside, rel=1e-12, abs=1e-13)
    a1, a2 = math.exp(-1 / coarse), math.exp(-1 / fine)
    still = (a2 / a1) * ((1 - a1) / (1 - a2)) ** 2
    both = (1 - a2) / (1 + a2) * a2**distance * still
    assert same == pytest.approx(both / ((1 - a1) / (1 + a1) * a1**distance), rel=1e-12)


def test_another_law_does_not_fit() -> None:
    """The positive control: N = 1,500 as above, against the law given another noise before."""
    assert fit(drawn(3, 5, 4, 1_500), conditional(3, 5, 2)) < SIGNIFICANCE


def test_the_pair_is_finer_noise_made_coarser() -> None:
    """N = 8,000: n₂ by itself has its law, and n₁ - n₂ is zero or noise, whatever n₂ is."""
    fine, coarse = 4, 9
    first = draw(DiscreteLaplace(coarse, 0), 8_000).tolist()
    noise = FinerNoise(Refinement(fine, 0, coarse))
    second = [noise.given(one, noise.draw()) for one in first]
    j = np.arange(-REACH, REACH + 1)
    assert fit(second, DiscreteLaplace(fine, 0).mass(j)) > SIGNIFICANCE
    assert fit(second, DiscreteLaplace(fine + 1, 0).mass(j)) < SIGNIFICANCE
    a1, a2 = math.exp(-1 / coarse), math.exp(-1 / fine)
    still = (a2 / a1) * ((1 - a1) / (1 - a2)) ** 2
    shares = (1 - still) * DiscreteLaplace(coarse, 0).mass(j) + still * (j == 0)
    for chosen in (lambda n: abs(n) <= 2, lambda n: n > 2, lambda n: n < -2):
        added = [one - two for one, two in zip(first, second, strict=True) if chosen(two)]
        assert fit(added, shares) > SIGNIFICANCE


@pytest.mark.parametrize(("fine", "coarse"), [(2, 3), (3, 10), (7, 8)])
def test_both_together_cost_what_the_finer_costs(fine: int, coarse: int) -> None:
    """By brute force over all pairs of outcomes for answers 0 and 1, to the last digit."""
    outcomes = range(-60, 61)
    mass = DiscreteLaplace(coarse, 0).mass(np.arange(-REACH, REACH + 1))

    def joint(first: int, second: int, exact: int) -> float:
        n1, n2 = first - exact, second - exact
        return float(mass[n1 + REACH] * conditional_at(fine, coarse, n1, n2))

    losses = [
        abs(math.log(joint(first, second, 0) / joint(first, second, 1)))
        for first in outcomes
        for second in outcomes
    ]
    assert max(losses) == pytest.approx(1 / fine, rel=1e-6)


def conditional_at(fine: int, coarse: int, before: int, after: int) -> float:
    key = fine, coarse, before
    if key not in _TABLES:
        _TABLES[key] = conditional(fine, coarse, before)
    return float(_TABLES[key][after + REACH])


_TABLES: dict[tuple[int, int, int], np.ndarray] = {}


def test_careless_refining_would_cost_more() -> None:
    """The positive control of the brute force: independent noises cost the sum."""
    coarse, fine = DiscreteLaplace(10, 0), DiscreteLaplace(3, 0)
    pairs = [(a, b) for a in range(-20, 21) for b in range(-20, 21)]
    losses = [
        abs(math.log(coarse.mass(a) * fine.mass(b) / coarse.mass(a - 1) / fine.mass(b - 1)))
        for a, b in pairs
    ]
    assert max(losses) == pytest.approx(1 / 10 + 1 / 3)


def test_answers_are_refined_on_their_grid() -> None:
    """The noise that is left is that of the finer law; N = 1,000 answers."""
    law = Refinement(50, -3, 400)
    secret = Secret([7] * 1_000, 0)
    before = [(7 << 3) + int(n) for n in draw(law.coarse, 1_000)]
    after = refine_with_noise(secret, before, law)
    noise = np.array(after) - (7 << 3)
    assert stats.kstest(noise / 50, stats.laplace.cdf).pvalue > SIGNIFICANCE
    assert stats.kstest(noise / 100, stats.laplace.cdf).pvalue < SIGNIFICANCE


@pytest.mark.parametrize("rate", [Fraction(1, 7), Fraction(3, 5), Fraction(5, 2)])
def test_geometric_numbers(rate: Fraction) -> None:
    """N = 3,000; a rate that is a third off does not fit."""
    sample = [geometric(rate) for _ in range(3_000)]
    j = np.arange(-REACH, REACH + 1)

    def shares(one: float) -> np.ndarray:
        return np.where(j >= 0, (1 - math.exp(-one)) * np.exp(-one * np.maximum(j, 0)), 0.0)

    assert fit(sample, shares(float(rate))) > SIGNIFICANCE
    assert fit(sample, shares(float(rate) * 4 / 3)) < SIGNIFICANCE


def test_a_place_next_to_a_threshold_is_looked_at_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a margin that hardly any clears at once, the pieces are the same as without."""
    noise = FinerNoise(Refinement(3, 0, 5))
    places = [secrets.randbits(128) for _ in range(60)]
    plain = [noise._piece(4, place) for place in places]
    monkeypatch.setattr(refining, "_MARGIN", Decimal("0.9"))
    monkeypatch.setattr(refining, "_DIGITS", 20)  # they are doubled with each look
    assert [noise._piece(4, place) for place in places] == plain


def test_more_bits_follow_those_that_do_not_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of five bits that are too near to an end, and five more, each place is in its own piece."""
    bits = 5
    monkeypatch.setattr(refining, "_BITS", bits)
    monkeypatch.setattr(refining, "_MARGIN", Decimal(1) / 2**bits)
    noise = FinerNoise(Refinement(3, 0, 5))
    ends = noise._chances(80).ends(4)
    drawn: list[int] = []
    waiting: list[int] = []

    def next_bits(many: int) -> int:
        drawn.append(many)
        return waiting.pop(0) if waiting else 0

    monkeypatch.setattr(secrets, "randbits", next_bits)
    looked_again = 0
    for place in range(2**bits):
        for more in range(2**bits):
            drawn.clear()
            waiting[:] = [more]
            piece = noise._piece(4, place)
            at = Decimal(place * 2**bits + (more if drawn else 0)) / 4**bits
            assert piece == sum(at > end for end in ends)
            assert drawn == [bits * 2**n for n in range(len(drawn))]
            looked_again += bool(drawn)
    assert 0 < looked_again < 4**bits


def test_what_others_do_to_decimals_does_not_matter() -> None:
    noise = FinerNoise(Refinement(3, 0, 5))
    numbers = [noise.draw() for _ in range(50)]
    plain = [noise.given(4, one) for one in numbers]
    with localcontext(prec=2) as context:
        for signal in (Inexact, Rounded, FloatOperation):
            context.traps[signal] = True
        assert [noise.given(4, one) for one in numbers] == plain


def test_huge_and_tiny_refinements_are_drawn() -> None:
    for fine, coarse in ((2**53 - 1, 2**53), (1, 2**53), (2**20, 2**20 + 1)):
        noise = FinerNoise(Refinement(fine, 0, coarse))
        for before in (0, 1, coarse, -50 * coarse):
            assert isinstance(noise.given(before, noise.draw()), int)


def test_only_refinements_of_the_right_form_are_drawn() -> None:
    secret, law = Secret([1, 2], 0), Refinement(5, 0, 9)
    with pytest.raises(PrivacyError, match="only a Secret"):
        refine_with_noise([1, 2], [3, 4], law)  # type: ignore[arg-type]
    with pytest.raises(PrivacyError, match="by a Refinement"):
        refine_with_noise(secret, [3, 4], DiscreteLaplace(5, 0))  # type: ignore[arg-type]
    for before in ([3], [3, 4.0], [3, True], [3, np.int64(4)]):
        with pytest.raises(PrivacyError, match="in whole steps"):
            refine_with_noise(secret, before, law)  # type: ignore[arg-type]
    with pytest.raises(PrivacyError, match="coarser than that of the answers"):
        refine_with_noise(secret, [3, 4], Refinement(5, 1, 9))
    with pytest.raises(PrivacyError, match="fewer steps"):
        Refinement(9, 0, 9)
