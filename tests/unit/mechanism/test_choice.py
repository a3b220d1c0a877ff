"""The exponential mechanism by rejection: exact chances, and refusals."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from eke.errors import PrivacyError
from eke.mechanism import Secret, choose_with_noise, secret
from eke.privacy.law import DiscreteGaussian, DiscreteLaplace

ANSWERS = [7, 10, 4, 10, -20]


def chances(scale: float) -> np.ndarray:
    weights = np.exp((np.array(ANSWERS) - max(ANSWERS)) / scale)
    return np.asarray(weights / weights.sum())


def test_chances_are_those_of_the_exponential_mechanism(monkeypatch):
    """N = 6,000, chi-square; a correct mechanism fails in less than 1 run in 10^6.

    Positive control: the same counts against a scale half as large again. The answers lie on a grid
    two bits coarser than the noise.
    """
    monkeypatch.setattr(secret, "TRIES_EACH", 2)  # any number of tries has the same chances
    law = DiscreteLaplace(16, -2)
    drawn = [choose_with_noise(Secret(ANSWERS, 0), law) for _ in range(6000)]
    found = np.bincount(drawn, minlength=len(ANSWERS))
    # The last answer has a chance of e^-7.5 and is pooled with the next.
    pooled, expected = found[:4].copy(), chances(4.0)[:4].copy()
    pooled[2] += found[4]
    expected[2] += chances(4.0)[4]
    assert stats.chisquare(pooled, expected * pooled.sum()).pvalue > 1e-6
    wrong = chances(6.0)[:4].copy()
    wrong[2] += chances(6.0)[4]
    assert stats.chisquare(pooled, wrong * pooled.sum()).pvalue < 1e-6


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
