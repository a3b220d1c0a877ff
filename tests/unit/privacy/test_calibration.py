"""What an (ε, δ) statement asks of Gaussian noise, by three rules."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import norm

from eke.errors import PrivacyError
from eke.privacy.calibration import calibrations, least_variance, theorem_variance
from eke.privacy.concentrated import epsilon_of_rho


def _delta(epsilon: float, variance: float) -> float:
    """The δ of Gaussian noise where Δ₂ is one: the area between two densities, added up."""
    sigma = math.sqrt(variance)
    x = np.linspace(-12 * sigma, 12 * sigma + 1, 400_001)
    excess = norm.pdf(x, 1.0, sigma) - math.exp(epsilon) * norm.pdf(x, 0.0, sigma)
    return float(np.maximum(excess, 0.0).sum() * (x[1] - x[0]))


@pytest.mark.parametrize("delta", [1e-3, 1e-6])
@pytest.mark.parametrize("rho", [0.001, 0.1, 0.5, 2.0])
def test_the_least_noise_is_the_least(rho, delta):
    epsilon, (concentrated, theorem, least) = calibrations(rho, delta)
    assert epsilon == epsilon_of_rho(rho, delta)
    assert (concentrated.rule, theorem.rule, least.rule) == (
        *("zCDP", "CUBE Th. 2.2", "analytic Gaussian"),
    )
    assert concentrated.variance == 1 / (2 * rho)
    assert concentrated.suffices
    assert least.suffices
    assert least.variance <= concentrated.variance
    assert _delta(epsilon, least.variance) == pytest.approx(delta, rel=1e-3)
    assert theorem.variance == pytest.approx(2 * math.log(2 / delta) / epsilon**2)
    assert theorem.suffices == (_delta(epsilon, theorem.variance) <= delta)


def test_the_theorem_holds_for_small_epsilon_and_fails_for_large_ones():
    """At ε = 12, δ = 1e-6 its noise has a δ above the one that it names."""
    assert theorem_variance(0.5, 1e-6) > least_variance(0.5, 1e-6)
    assert theorem_variance(12.0, 1e-6) < least_variance(12.0, 1e-6)
    assert _delta(12.0, theorem_variance(12.0, 1e-6)) > 1.3e-6
    assert _delta(0.5, theorem_variance(0.5, 1e-6)) < 1e-6


@pytest.mark.parametrize(("rho", "delta"), [(0.0, 1e-6), (math.inf, 1e-6), (1.0, 0.0), (1.0, 1.0)])
def test_what_is_no_statement_is_refused(rho, delta):
    with pytest.raises(PrivacyError):
        calibrations(rho, delta)
    with pytest.raises(PrivacyError):
        theorem_variance(rho if math.isfinite(rho) and rho else 0.0, 1.0)
