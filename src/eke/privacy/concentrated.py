"""Zero-concentrated differential privacy: losses are ρ, the noise is Gaussian."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from eke.errors import PrivacyError
from eke.privacy.continuous_law import Gaussian
from eke.privacy.discrete_gaussian import DiscreteGaussian
from eke.privacy.measure import Measure, Real, normal_quantile
from eke.privacy.noise_grid import choose_grid
from eke.privacy.record_loss import NANO

_FINE = 20  # bits of a unit to which exact noise scales are rounded


class Concentrated(Measure):
    """A record with coefficient c loses c² / 2σ²; the sensitivities are L2 norms."""

    name: ClassVar[str] = "rho"
    order: ClassVar[int] = 2
    unit_law: ClassVar[Gaussian] = Gaussian(1.0)
    rotations_are_free: ClassVar[bool] = True
    sums_keep_their_law: ClassVar[bool] = True

    def loss(self, coefficient: float, noise_scale: float) -> float:
        return coefficient**2 / (2.0 * noise_scale**2)

    def noise_scale(self, coefficient: float, loss: float) -> float:
        return coefficient / math.sqrt(2.0 * loss)

    def noise_steps(self, coefficient: int, loss_nano: int) -> Fraction:
        square = -(-(coefficient**2) * NANO * 4**_FINE // (2 * loss_nano))
        return Fraction(root_above(square), 2**_FINE)

    def loss_of_reach(self, reach: Any, noise_variance: Any) -> Any:
        return reach / (2.0 * noise_variance)

    def variance_for(self, loss: Any) -> Any:
        return 1.0 / (2.0 * loss)

    def law_for(self, loss: float) -> Gaussian:
        return Gaussian(1.0 / (2.0 * loss))

    def quantile(self, missing: float) -> float:
        return normal_quantile(missing)

    def sum_quantile(self, missing: float) -> float:
        return normal_quantile(missing)

    def law(self, noise_scale: float | Fraction, coefficient_exponent: int) -> DiscreteGaussian:
        return choose_grid(DiscreteGaussian, noise_scale, coefficient_exponent)

    def loss_of_choice(self, ratio: Fraction) -> Fraction:
        return ratio**2 / 2

    def epsilon_of_choice(self, loss: float) -> float:
        return math.sqrt(8.0 * loss)

    def root(self, number: Real) -> Real:
        return np.sqrt(number) if isinstance(number, np.ndarray) else math.sqrt(number)

    def epsilon(self, loss: float, delta: float | None) -> float:
        if delta is None:
            raise PrivacyError("a zCDP budget has an epsilon for a delta: budget.epsilon(1e-9)")
        return epsilon_of_rho(loss, delta)


def root_above(square: int) -> int:
    """The square root of a whole number, rounded up."""
    return math.isqrt(square - 1) + 1 if square > 0 else 0


def epsilon_of_rho(rho: float, delta: float) -> float:
    """The ε of the (ε, δ) statement that ρ-zCDP implies, by dp-accounting's RDP accountant."""
    if not 0.0 < delta < 1.0:
        raise PrivacyError("delta must lie strictly between 0 and 1, e.g. 1e-9")
    if rho == 0.0:
        return 0.0
    # Imported here because it takes a quarter of the time of `import eke` and serves zCDP only.
    from dp_accounting import ZCDpEvent  # noqa: PLC0415
    from dp_accounting.rdp import RdpAccountant  # noqa: PLC0415

    accountant = RdpAccountant()
    accountant.compose(ZCDpEvent(rho))
    return float(accountant.get_epsilon(delta))


CONCENTRATED = Concentrated()
