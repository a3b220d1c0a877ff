"""Pure differential privacy: losses are ε, the noise is Laplace."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from eke.privacy.continuous_law import Laplace
from eke.privacy.discrete_laplace import DiscreteLaplace
from eke.privacy.measure import Measure, Real, normal_quantile
from eke.privacy.noise_grid import choose_grid
from eke.privacy.record_loss import NANO


class Pure(Measure):
    """A record with coefficient c loses |c| / b; the sensitivities are L1 norms."""

    name: ClassVar[str] = "epsilon"
    order: ClassVar[int] = 1
    unit_law: ClassVar[Laplace] = Laplace(1.0)
    rotations_are_free: ClassVar[bool] = False
    sums_keep_their_law: ClassVar[bool] = False

    def loss(self, coefficient: float, noise_scale: float) -> float:
        return coefficient / noise_scale

    def noise_scale(self, coefficient: float, loss: float) -> float:
        return coefficient / loss

    def noise_steps(self, coefficient: int, loss_nano: int) -> Fraction:
        return Fraction(coefficient * NANO, loss_nano)

    def loss_of_reach(self, reach: Any, noise_variance: Any) -> Any:
        return reach * np.sqrt(2.0 / noise_variance)

    def variance_for(self, loss: Any) -> Any:
        return 2.0 / loss**2

    def law_for(self, loss: float) -> Laplace:
        return Laplace(1.0 / loss)

    def quantile(self, missing: float) -> float:
        return -math.log(missing)

    def sum_quantile(self, missing: float) -> float:
        # One noise alone at high confidences, very many together at low ones.
        return max(normal_quantile(missing), -math.log(missing) / math.sqrt(2.0))

    def law(self, noise_scale: float | Fraction, coefficient_exponent: int) -> DiscreteLaplace:
        return choose_grid(DiscreteLaplace, noise_scale, coefficient_exponent)

    def loss_of_choice(self, ratio: Fraction) -> Fraction:
        return 2 * ratio

    def epsilon_of_choice(self, loss: float) -> float:
        return loss

    def root(self, number: Real) -> Real:
        return number

    def epsilon(self, loss: float, delta: float | None) -> float:
        return loss


PURE = Pure()
