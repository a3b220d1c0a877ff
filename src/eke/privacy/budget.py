"""Limits and amounts: integers of nano-epsilon or nano-rho, rounded against the spender."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from numbers import Real

from eke.errors import PrivacyError
from eke.privacy.concentrated import CONCENTRATED
from eke.privacy.measure import Measure
from eke.privacy.pure import PURE

NANO = 1_000_000_000


def nano_floor(amount: float | Fraction) -> int:
    """A limit in nano-units: rounded down, so that it is never more than was granted."""
    if isinstance(amount, bool) or not isinstance(amount, Real):
        raise PrivacyError("a privacy limit must be a number, for example epsilon=1.0")
    if not math.isfinite(amount) or amount <= 0:
        raise PrivacyError("a privacy limit must be a positive, finite number")
    nano = math.floor(Fraction(amount) * NANO)
    if not 0 < nano < 2**60:
        raise PrivacyError("a privacy limit must be between 1e-9 and about 1e9")
    return nano


@dataclass(frozen=True, slots=True)
class Limit:
    """What the policy allows: a measure of loss and an amount of it."""

    measure: Measure
    nano: int

    def __post_init__(self) -> None:
        if not isinstance(self.measure, Measure):
            raise PrivacyError("a limit is given as epsilon= or rho=")
        if not 0 < self.nano < 2**60:
            raise PrivacyError("a limit must be positive and below about 1e9")

    @staticmethod
    def of(epsilon: float | None, rho: float | None) -> Limit:
        if (epsilon is None) == (rho is None):
            raise PrivacyError("give exactly one limit: epsilon= for pure DP or rho= for zCDP")
        if rho is not None:
            return Limit(CONCENTRATED, nano_floor(rho))
        return Limit(PURE, nano_floor(0.0 if epsilon is None else epsilon))
