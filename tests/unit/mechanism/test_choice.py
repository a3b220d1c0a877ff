"""The exponential mechanism by rejection: exact chances, and refusals."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from scipy import stats

from eke.errors import PrivacyError
from eke.mechanism import Secret, choose_several_with_noise, choose_with_noise, secret
from eke.privacy.law import DiscreteGaussian, DiscreteLaplace

ANSWERS = [7, 10, 4, 10, -20]


def chances(scale: float) -> np.ndarray:
    weights = np.exp((np.array(ANSWERS) - max(ANSWERS)) / scale)
    return np.asarray(weights / weights.sum())


@pytest.mark.parametrize(
    ("number", "wrong_scale"), [(2500, 8.0), pytest.param(6000, 6.0, marks=pytest.mark.long)]
)
def test_chances_are_those_of_the_exponential_mechanism(monkeypatch, number, wrong_scale):
    """Chi-square; a correct mechanism fails in less than 1 run in 10^6.

    Positive control: the same counts against twice the scale; with N = 6,000, half as large again.
    The answers lie on a grid two bits coarser than the noise.
    """
    monkeypatch.setattr(secret, "TRIES_EACH", 2)  # any number of tries has the same chances
    law = DiscreteLaplace(16, -2)
    drawn = [choose_with_noise(Secret(ANSWERS, 0), law) for _ in range(number)]
    found = np.bincount(drawn, minlength=len(ANSWERS))
    # The last answer has a chance of e^-7.5 and is pooled with the next.
    pooled, expected = found[:4].copy(), chances(4.0)[:4].copy()
    pooled[2] += found[4]
    expected[2] += chances(4.0)[4]
    assert stats.chisquare(pooled, expected * pooled.sum()).pvalue > 1e-6
    wrong = chances(wrong_scale)[:4].copy()
    wrong[2] += chances(wrong_scale)[4]
    assert stats.chisquare(pooled, wrong * pooled.sum()).pvalue < 1e-6


def test_several_are_chosen_one_after_the_other(monkeypatch):
    """N = 2,000: the pairs that come out against the product of chances, chi-square, below 10^-6.

    Positive control: the chances of drawing both at once from the same list.
    """
    monkeypatch.setattr(secret, "TRIES_EACH", 2)
    answers, law = [4, 6, 0], DiscreteLaplace(4, 0)
    places = list(permutations(range(3), 2))
    drawn = [tuple(choose_several_with_noise(Secret(answers, 0), law, 2)) for _ in range(2000)]
    found = np.array([drawn.count(pair) for pair in places])
    weights = np.exp(np.array(answers) / 4.0)
    one_by_one = np.array(
        [weights[i] / weights.sum() * weights[j] / (weights.sum() - weights[i]) for i, j in places]
    )
    at_once = np.array([weights[i] * weights[j] for i, j in places])
    assert stats.chisquare(found, one_by_one * 2000).pvalue > 1e-6
    assert stats.chisquare(found, at_once / at_once.sum() * 2000).pvalue < 1e-6
    assert sorted(choose_several_with_noise(Secret(answers, 0), law, 3)) == [0, 1, 2]
    for picks in (0, 4):
        with pytest.raises(PrivacyError, match="each pick"):
            choose_several_with_noise(Secret(answers, 0), law, picks)


def test_offers_are_uniform(monkeypatch):
    """N = 50,000 of five places; and what lies in the last stretch is drawn again."""
    found = np.bincount(secret._uniform(5, 50_000), minlength=5)
    assert stats.chisquare(found).pvalue > 1e-6
    last, fine = (2**64 - 1).to_bytes(8, "little"), (17).to_bytes(8, "little")
    given = iter([last + fine, fine])
    monkeypatch.setattr("secrets.token_bytes", lambda _count: next(given))
    assert secret._uniform(3, 2) == [2, 2]  # 2^64 - 1 is a multiple of three, one too many


def test_a_round_without_a_taken_offer_is_followed_by_another(monkeypatch):
    rounds = []

    def draw(_law: object, number: int) -> np.ndarray:
        rounds.append(number)
        return np.full(number, -1 if len(rounds) < 3 else 0)

    monkeypatch.setattr(secret, "draw", draw)
    assert choose_with_noise(Secret([5], 0), DiscreteLaplace(3, 0)) == 0
    assert rounds == [64, 64, 64]


def test_all_offers_are_drawn_before_the_secret_is_opened(monkeypatch):
    """The number of draws is public: it depends on the number of answers alone."""
    drawn = []

    def draw(_law: object, number: int) -> np.ndarray:
        drawn.append(number)
        return np.full(number, 10**6)

    monkeypatch.setattr(secret, "draw", draw)
    for answers in ([0, 0, 0], [0, 10**5, -3]):
        choose_with_noise(Secret(answers, 0), DiscreteLaplace(3, 0))
    assert drawn == [192, 192]


@pytest.mark.parametrize(
    ("answers", "law"),
    [
        (Secret([], 0), DiscreteLaplace(3, 0)),
        ([1, 2], DiscreteLaplace(3, 0)),
        (Secret([1], 0), DiscreteGaussian(3, 0)),
        (Secret([1], -4), DiscreteLaplace(3, 0)),
    ],
)
def test_what_cannot_be_chosen_is_refused(answers, law):
    with pytest.raises(PrivacyError):
        choose_with_noise(answers, law)
