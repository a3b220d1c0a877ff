"""The discrete Laplace law: the noise of pure epsilon as it is really drawn."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eke.arrays import FloatArray
from eke.privacy.grid_variance import laplace_variance
from eke.privacy.loss_array import nano_array
from eke.privacy.noise_grid import check_grid
from eke.privacy.record_loss import pure_rate, record_nano


@dataclass(frozen=True, slots=True)
class DiscreteLaplace:
    """Noise K · 2^exponent with integer K and P(K = k) proportional to exp(-|k| / steps)."""

    steps: int
    exponent: int

    kind: ClassVar[str] = "discrete_laplace"
    loss_unit: ClassVar[str] = "epsilon"

    def __post_init__(self) -> None:
        check_grid(self.steps, self.exponent)

    @property
    def step(self) -> float:
        """The distance between neighbouring values of the noise."""
        return math.ldexp(1.0, self.exponent)

    @property
    def laplace_scale(self) -> float:
        """The scale b of the continuous Laplace law next to this one."""
        return math.ldexp(float(self.steps), self.exponent)

    @property
    def gaussian_variance(self) -> float:
        """Zero: no part of this noise is Gaussian."""
        return 0.0

    @property
    def variance(self) -> float:
        """The variance of what is drawn: step² · 2p/(1-p)² with p = exp(-1/steps)."""
        return laplace_variance(self.steps, self.exponent)

    def mass(self, k: ArrayLike) -> FloatArray:
        """P(K = k) for each k, in steps."""
        rate = 1.0 / self.steps
        distance = np.abs(np.asarray(k, dtype=np.float64))
        return np.asarray(math.tanh(0.5 * rate) * np.exp(-distance * rate))

    def tail(self, x: ArrayLike) -> FloatArray:
        """P(|noise| > x) for each x, in the units of the answer."""
        given = np.asarray(x, dtype=np.float64)
        with np.errstate(over="ignore"):
            first = np.floor(np.ldexp(given, -self.exponent)) + 1.0
            # 2p^k/(1+p) = e^-(k-1/2)/s / cosh(1/2s) keeps its digits for any number s of steps.
            beyond = np.exp((0.5 - first) / self.steps) / math.cosh(0.5 / self.steps)
        return np.where(given < 0.0, 1.0, beyond)

    def characteristic(self, t: ArrayLike) -> FloatArray:
        """E exp(i t noise) for each t; real, because the law is symmetric."""
        half_angle = 0.5 * self.step * np.asarray(t, dtype=np.float64)
        # (1-p)² / (1 - 2p cos θ + p²), written without the cancellation near p = 1.
        ratio = np.sin(half_angle) / math.sinh(0.5 / self.steps)
        return np.asarray(1.0 / (1.0 + ratio * ratio))

    @property
    def rate(self) -> Fraction:
        """The nano-epsilon of a coefficient of 1, not rounded."""
        return pure_rate(self.steps * Fraction(2) ** self.exponent)

    def loss_nano(self, coefficient: Fraction | int) -> int:
        """The nano-epsilon that a record with this coefficient loses, rounded up.

        Privacy: exact when the coefficient is a multiple of the step (docs/proofs/noise.md §1).
        """
        return record_nano(self.rate, 1, coefficient)

    def loss_nano_array(
        self, numerators: NDArray[np.int64], coefficient_exponent: int
    ) -> NDArray[np.int64]:
        """`loss_nano` of numerators · 2^coefficient_exponent, in the same shape."""
        return nano_array(self.rate, 1, numerators, coefficient_exponent)

    def to_json(self) -> dict[str, object]:
        """Plain values from which `law_from_json` makes the same law."""
        return {"kind": self.kind, "steps": self.steps, "exponent": self.exponent}
