"""Calibrations: how much Gaussian noise an (ε, δ) statement needs, by one theorem or another.

For answers that one record changes by Δ₂ in Euclidean length:

- zCDP: ρ = Δ₂²/2σ², and the (ε, δ) that follow from ρ by dp-accounting; the rule of this package;
- CUBE Th. 2.2: σ² = 2 Δ₂² ln(2/δ)/ε²;
- analytic: the least noise with which one release has the statement (Balle and Wang 2018).

The theorem is not true for every ε: where it asks for less than the least noise, it is too little.
These are figures to compare; nothing is charged by them. They are about continuous noise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from eke.errors import PrivacyError
from eke.privacy.concentrated import epsilon_of_rho


@dataclass(frozen=True, slots=True)
class Calibration:
    """One rule, and the variance of the noise that it asks for where Δ₂ is one."""

    rule: str
    variance: float
    suffices: bool


def calibrations(rho: float, delta: float) -> tuple[float, tuple[Calibration, ...]]:
    """(ε, rules): the ε that ρ implies at δ, and what each rule asks for at that (ε, δ)."""
    if not rho > 0.0 or not math.isfinite(rho):
        raise PrivacyError("calibrations compare a positive, finite rho")
    epsilon = epsilon_of_rho(rho, delta)
    least = least_variance(epsilon, delta)
    rules = {
        "zCDP": 1.0 / (2.0 * rho),
        "CUBE Th. 2.2": theorem_variance(epsilon, delta),
        "analytic Gaussian": least,
    }
    # What rounding leaves of the least noise suffices.
    return epsilon, tuple(
        Calibration(rule, variance, variance >= least * (1.0 - 1e-9))
        for rule, variance in rules.items()
    )


def theorem_variance(epsilon: float, delta: float) -> float:
    """CUBE Th. 2.2: 2 ln(2/δ)/ε², where Δ₂ is one."""
    if not 0.0 < delta < 1.0 or not epsilon > 0.0:
        raise PrivacyError("an (epsilon, delta) statement has a positive epsilon, 0 < delta < 1")
    return 2.0 * math.log(2.0 / delta) / epsilon**2


def least_variance(epsilon: float, delta: float) -> float:
    """The least variance with which one release is (ε, δ)-private, where Δ₂ is one."""
    # Imported here for the time that it takes, as in `concentrated`.
    from dp_accounting import get_sigma_gaussian  # noqa: PLC0415

    return float(get_sigma_gaussian(epsilon, delta)) ** 2
