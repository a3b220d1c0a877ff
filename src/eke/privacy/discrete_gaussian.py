"""The discrete Gaussian law: the noise of zCDP as it is really drawn.

Canonne, Kamath, Steinke, "The Discrete Gaussian for Differential Privacy" (2020), CKS below.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eke.arrays import FloatArray
from eke.privacy.grid_variance import WIDE_STEPS, wide_gaussian_variance
from eke.privacy.loss_array import nano_array
from eke.privacy.noise_grid import check_grid
from eke.privacy.record_loss import concentrated_rate, record_nano

# Terms of the Poisson-summed series: the first one left out is below e^(-2π²·5²) at one step.
_ALIASES = np.arange(1, 5, dtype=np.float64)
# Up to here tails are summed term by term; above, Euler–Maclaurin is exact to 1e-13.
_SUMMED_STEPS = 1024
_ERFC = np.frompyfunc(math.erfc, 1, 1)


@dataclass(frozen=True, slots=True)
class DiscreteGaussian:
    """Noise K · 2^exponent with integer K and P(K = k) proportional to exp(-k² / 2 steps²)."""

    steps: int
    exponent: int

    kind: ClassVar[str] = "discrete_gaussian"
    loss_unit: ClassVar[str] = "rho"

    def __post_init__(self) -> None:
        check_grid(self.steps, self.exponent)

    @property
    def step(self) -> float:
        """The distance between neighbouring values of the noise."""
        return math.ldexp(1.0, self.exponent)

    @property
    def laplace_scale(self) -> float:
        """Zero: no part of this noise is Laplace."""
        return 0.0

    @property
    def gaussian_variance(self) -> float:
        """The variance of the continuous Gaussian law next to this one."""
        return wide_gaussian_variance(self.steps, self.exponent)

    @property
    def variance(self) -> float:
        """The variance of what is drawn: at most `gaussian_variance` (docs/proofs/noise.md §3)."""
        if self.steps >= WIDE_STEPS:
            return self.gaussian_variance
        weights = _alias_weights(self.steps)
        deficit = 4.0 * math.pi**2 * float(np.sum(2.0 * weights * _ALIASES**2))
        share = 1.0 - self.steps**2 * deficit / _alias_total(self.steps)
        return self.gaussian_variance * share

    def mass(self, k: ArrayLike) -> FloatArray:
        """P(K = k) for each k, in steps."""
        standard = np.asarray(k, dtype=np.float64) / self.steps
        total = self.steps * math.sqrt(2.0 * math.pi) * _alias_total(self.steps)
        return np.asarray(np.exp(-0.5 * standard * standard) / total)

    def tail(self, x: ArrayLike) -> FloatArray:
        """P(|noise| > x) for each x, in the units of the answer."""
        given = np.asarray(x, dtype=np.float64)
        with np.errstate(over="ignore"):
            first = np.floor(np.ldexp(given, -self.exponent)) + 1.0
        first = np.fmax(first, 1.0)
        if self.steps <= _SUMMED_STEPS:
            sums = _tail_sums(self.steps)
            beyond = sums[np.minimum(first, len(sums) - 1).astype(np.int64)]
        else:
            beyond = _euler_maclaurin_tail(first, self.steps)
        return np.where(given < 0.0, 1.0, np.where(np.isnan(given), np.nan, beyond))

    def characteristic(self, t: ArrayLike) -> FloatArray:
        """E exp(i t noise) for each t; real, because the law is symmetric."""
        angle = self.step * np.asarray(t, dtype=np.float64)
        angle = angle - 2.0 * math.pi * np.round(angle / (2.0 * math.pi))
        shifts = 2.0 * math.pi * np.concatenate([-_ALIASES, [0.0], _ALIASES])
        shifted = self.steps * (angle[..., np.newaxis] + shifts)
        # Poisson summation turns a sum over |k| up to many steps into these nine terms.
        waves = np.exp(-0.5 * shifted * shifted).sum(axis=-1)
        return np.asarray(waves / _alias_total(self.steps))

    @property
    def rate(self) -> Fraction:
        """The nano-rho of a coefficient of 1, not rounded."""
        return concentrated_rate((self.steps * Fraction(2) ** self.exponent) ** 2)

    def loss_nano(self, coefficient: Fraction | int) -> int:
        """The nano-rho that a record with this coefficient loses, rounded up.

        Privacy: exact when the coefficient is a multiple of the step (docs/proofs/noise.md §1).
        """
        return record_nano(self.rate, 2, coefficient)

    def loss_nano_array(
        self, numerators: NDArray[np.int64], coefficient_exponent: int
    ) -> NDArray[np.int64]:
        """`loss_nano` of numerators · 2^coefficient_exponent, in the same shape."""
        return nano_array(self.rate, 2, numerators, coefficient_exponent)

    def to_json(self) -> dict[str, object]:
        """Plain values from which `law_from_json` makes the same law."""
        return {"kind": self.kind, "steps": self.steps, "exponent": self.exponent}


def _alias_weights(steps: int) -> FloatArray:
    """exp(-2π² steps² n²) for n = 1, 2, …: how far the lattice sum is from the integral."""
    return np.asarray(np.exp(-2.0 * math.pi**2 * (steps * _ALIASES) ** 2))


def _alias_total(steps: int) -> float:
    """The sum over all k of exp(-k²/2 steps²), divided by steps · √(2π)."""
    return 1.0 + 2.0 * float(_alias_weights(steps).sum())


@lru_cache(maxsize=64)
def _tail_sums(steps: int) -> FloatArray:
    """P(|K| >= k) for k = 0, 1, … up to where it is no longer a positive double."""
    masses = DiscreteGaussian(steps, 0).mass(np.arange(40 * steps + 1))
    sums = np.asarray(2.0 * np.cumsum(masses[::-1])[::-1])
    sums[0] = 1.0
    sums.setflags(write=False)
    return sums


def _euler_maclaurin_tail(first: FloatArray, steps: int) -> FloatArray:
    """P(|K| >= first) for many steps: the integral from first - 1/2 and its two corrections."""
    # Beyond 50 standard deviations all terms are zero, but z³ would overflow before they meet.
    z = np.minimum((first - 0.5) / steps, 50.0)
    density = np.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)
    integral = 0.5 * np.asarray(_ERFC(z / math.sqrt(2.0)), dtype=np.float64)
    slope = -z * density
    third = z * (3.0 - z * z) * density
    return np.asarray(
        2.0 * (integral + slope / (24.0 * steps**2) - 7.0 * third / (5760.0 * steps**4))
    )
