"""What measures say, against the formulas of their definitions."""

from __future__ import annotations

import math
from fractions import Fraction
from statistics import NormalDist

import pytest

from eke.errors import PrivacyError
from eke.privacy.concentrated import CONCENTRATED, epsilon_of_rho
from eke.privacy.pure import PURE


@pytest.mark.parametrize("epsilon", [Fraction(1, 8), Fraction(1), Fraction(5)])
def test_the_epsilon_of_a_choice_and_its_loss_are_inverse(epsilon):
    """An ε-DP exponential mechanism moves scores by ε/2 of its scale; it is ε²/8-zCDP."""
    assert PURE.loss_of_choice(epsilon / 2) == epsilon
    assert PURE.epsilon_of_choice(float(epsilon)) == epsilon
    assert CONCENTRATED.loss_of_choice(epsilon / 2) == epsilon**2 / 8
    assert CONCENTRATED.epsilon_of_choice(float(epsilon**2 / 8)) == pytest.approx(float(epsilon))


@pytest.mark.parametrize("missing", [0.9, 0.5, 0.1, 0.01, 1e-6])
def test_sums_of_noises_are_between_one_alone_and_very_many(missing):
    many = NormalDist().inv_cdf(1 - missing / 2)
    alone = -math.log(missing) / math.sqrt(2)
    assert PURE.sum_quantile(missing) == pytest.approx(max(many, alone))
    assert CONCENTRATED.sum_quantile(missing) == pytest.approx(many)
    assert CONCENTRATED.quantile(missing) == pytest.approx(many)


@pytest.mark.parametrize("rho", [1e-4, 0.1, 3.0])
def test_the_epsilon_of_rho_is_below_the_simple_bound_and_not_far(rho):
    """Bun and Steinke (2016), Proposition 1.3: ρ + 2√(ρ ln 1/δ)."""
    delta = 1e-9
    simple = rho + 2 * math.sqrt(rho * math.log(1 / delta))
    assert 0.7 * simple < epsilon_of_rho(rho, delta) < simple
    assert CONCENTRATED.epsilon(rho, delta) == epsilon_of_rho(rho, delta)
    assert epsilon_of_rho(rho, 1e-3) < epsilon_of_rho(rho, delta)
    assert PURE.epsilon(rho, None) == PURE.epsilon(rho, delta) == rho


def test_an_epsilon_of_rho_needs_a_delta():
    assert epsilon_of_rho(0.0, 1e-9) == 0.0
    with pytest.raises(PrivacyError, match="for a delta"):
        CONCENTRATED.epsilon(0.1, None)
    for delta in (0.0, 1.0, -0.1, 1.5):
        with pytest.raises(PrivacyError, match="strictly between"):
            epsilon_of_rho(0.1, delta)


def test_nothing_is_exceeded_with_probability_zero() -> None:
    assert CONCENTRATED.quantile(0.0) == CONCENTRATED.sum_quantile(0.0) == math.inf
