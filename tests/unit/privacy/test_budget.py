"""Limits: rounded against the spender; (ε, δ) statements: straight from dp_accounting."""

from __future__ import annotations

import math
from fractions import Fraction

import dp_accounting
import pytest
from dp_accounting.rdp import RdpAccountant

from eke.errors import PrivacyError
from eke.privacy.budget import NANO, Limit, nano_floor
from eke.privacy.concentrated import CONCENTRATED, epsilon_of_rho
from eke.privacy.pure import PURE


@pytest.mark.parametrize(
    ("amount", "nano"),
    [
        (1, NANO),
        (1.0, NANO),
        (0.1, 100_000_000),
        (Fraction(1, 3), 333_333_333),
        (2 / 3, 666_666_666),
        (1e-9, 1),
        (1.9999999999, 1_999_999_999),
        (0.3, 299_999_999),  # the double next to 0.3 is below it
    ],
)
def test_limits_are_rounded_down(amount, nano):
    assert nano_floor(amount) == nano
    assert Fraction(nano, NANO) <= Fraction(amount)


@pytest.mark.parametrize(
    "amount", [0, -1, 0.0, -0.5, math.nan, math.inf, -math.inf, 1e-10, 2e9, True, False]
)
def test_other_limits_are_refused(amount):
    with pytest.raises(PrivacyError):
        nano_floor(amount)
    with pytest.raises(PrivacyError):
        Limit.of(amount, None)
    with pytest.raises(PrivacyError):
        Limit.of(None, amount)


def test_the_least_and_the_largest_limit():
    assert Limit(PURE, 1).nano == 1
    assert Limit(PURE, 2**60 - 1).nano == nano_floor(Fraction(2**60 - 1, NANO)) == 2**60 - 1
    for nano in (0, 2**60):
        with pytest.raises(PrivacyError):
            Limit(PURE, nano)
    with pytest.raises(PrivacyError):
        nano_floor(Fraction(2**60, NANO))


@pytest.mark.parametrize("amount", ["1", None, [1], 1j])
def test_limits_that_are_no_numbers_are_refused(amount):
    with pytest.raises(PrivacyError):
        nano_floor(amount)


def test_exactly_one_limit():
    assert Limit.of(1.0, None) == Limit(PURE, NANO)
    assert Limit.of(None, 0.5) == Limit(CONCENTRATED, NANO // 2)
    for both in ((None, None), (1.0, 1.0)):
        with pytest.raises(PrivacyError, match="exactly one"):
            Limit.of(*both)


def test_a_limit_is_checked_however_it_is_made():
    for measure, nano in (("delta", 5), (PURE, 0), (CONCENTRATED, -1), (CONCENTRATED, 2**60)):
        with pytest.raises(PrivacyError):
            Limit(measure, nano)  # type: ignore[arg-type]


@pytest.mark.parametrize("rho", [1e-9, 1e-4, 0.01, 0.1, 0.5, 1.0, 10.0])
@pytest.mark.parametrize("delta", [1e-12, 1e-9, 1e-6, 0.01])
def test_epsilon_of_rho_is_what_dp_accounting_says(rho, delta):
    accountant = RdpAccountant()
    accountant.compose(dp_accounting.ZCDpEvent(rho))
    found = epsilon_of_rho(rho, delta)
    assert found == accountant.get_epsilon(delta)
    assert found >= 0
    if rho >= 1e-4:  # below, dp_accounting runs out of Rényi orders and stays on the safe side
        # Bun and Steinke 2016, Prop. 1.3 is the classic, looser bound.
        assert found <= rho + 2 * math.sqrt(rho * math.log(1 / delta)) + 1e-9


def test_epsilon_of_rho_grows_with_rho_and_falls_with_delta():
    assert epsilon_of_rho(0.0, 1e-9) == 0.0
    assert epsilon_of_rho(0.1, 1e-9) < epsilon_of_rho(0.2, 1e-9)
    assert epsilon_of_rho(0.1, 1e-6) < epsilon_of_rho(0.1, 1e-9)


@pytest.mark.parametrize("delta", [0.0, 1.0, -1e-9, 2.0, math.nan])
def test_delta_must_be_a_probability(delta):
    with pytest.raises(PrivacyError):
        epsilon_of_rho(0.1, delta)
