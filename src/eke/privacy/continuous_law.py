"""Continuous Laplace and Gaussian noise: for histories that come as arrays of numbers.

The papers' examples give noisy answers with real-valued noise. eke reasons about such histories
and prices them, but never draws from these laws: what eke draws is on a grid.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eke.arrays import FloatArray
from eke.errors import PrivacyError
from eke.privacy.loss_array import nano_array
from eke.privacy.record_loss import concentrated_rate, pure_rate, record_nano

_ERFC = np.frompyfunc(math.erfc, 1, 1)


@dataclass(frozen=True, slots=True)
class Laplace:
    """Noise with density exp(-|x| / laplace_scale) / (2 laplace_scale)."""

    laplace_scale: float

    kind: ClassVar[str] = "laplace"
    loss_unit: ClassVar[str] = "epsilon"

    def __post_init__(self) -> None:
        object.__setattr__(self, "laplace_scale", _positive(self.laplace_scale))

    @property
    def step(self) -> float:
        """Zero: the noise takes any real value."""
        return 0.0

    @property
    def gaussian_variance(self) -> float:
        """Zero: no part of this noise is Gaussian."""
        return 0.0

    @property
    def variance(self) -> float:
        """Twice the squared scale."""
        return 2.0 * self.laplace_scale**2

    def tail(self, x: ArrayLike) -> FloatArray:
        """P(|noise| > x) for each x."""
        given = np.asarray(x, dtype=np.float64)
        return np.asarray(np.exp(-np.maximum(given, 0.0) / self.laplace_scale))

    def characteristic(self, t: ArrayLike) -> FloatArray:
        """E exp(i t noise) for each t."""
        scaled = self.laplace_scale * np.asarray(t, dtype=np.float64)
        return np.asarray(1.0 / (1.0 + scaled * scaled))

    @property
    def rate(self) -> Fraction:
        """The nano-epsilon of a coefficient of 1, not rounded."""
        return pure_rate(Fraction(self.laplace_scale))

    def loss_nano(self, coefficient: Fraction | int) -> int:
        """The nano-epsilon that a record with this coefficient loses, rounded up.

        Privacy: a statement about ideal real-valued noise, not about what a float sampler drew.
        """
        return record_nano(self.rate, 1, coefficient)

    def loss_nano_array(
        self, numerators: NDArray[np.int64], coefficient_exponent: int
    ) -> NDArray[np.int64]:
        """`loss_nano` of numerators · 2^coefficient_exponent, in the same shape."""
        return nano_array(self.rate, 1, numerators, coefficient_exponent)

    def to_json(self) -> dict[str, object]:
        """Plain values from which `law_from_json` makes the same law."""
        return {"kind": self.kind, "laplace_scale": self.laplace_scale}


@dataclass(frozen=True, slots=True)
class Gaussian:
    """Noise with the normal density of mean 0 and this variance."""

    noise_variance: float

    kind: ClassVar[str] = "gaussian"
    loss_unit: ClassVar[str] = "rho"

    def __post_init__(self) -> None:
        object.__setattr__(self, "noise_variance", _positive(self.noise_variance))

    @property
    def step(self) -> float:
        """Zero: the noise takes any real value."""
        return 0.0

    @property
    def laplace_scale(self) -> float:
        """Zero: no part of this noise is Laplace."""
        return 0.0

    @property
    def gaussian_variance(self) -> float:
        """The variance; all of the noise is Gaussian."""
        return self.noise_variance

    @property
    def variance(self) -> float:
        """The variance."""
        return self.noise_variance

    def tail(self, x: ArrayLike) -> FloatArray:
        """P(|noise| > x) for each x."""
        given = np.maximum(np.asarray(x, dtype=np.float64), 0.0)
        return np.asarray(_ERFC(given / math.sqrt(2.0 * self.noise_variance)), dtype=np.float64)

    def characteristic(self, t: ArrayLike) -> FloatArray:
        """E exp(i t noise) for each t."""
        given = np.asarray(t, dtype=np.float64)
        return np.asarray(np.exp(-0.5 * self.noise_variance * given * given))

    @property
    def rate(self) -> Fraction:
        """The nano-rho of a coefficient of 1, not rounded."""
        return concentrated_rate(Fraction(self.noise_variance))

    def loss_nano(self, coefficient: Fraction | int) -> int:
        """The nano-rho that a record with this coefficient loses, rounded up.

        Privacy: a statement about ideal real-valued noise, not about what a float sampler drew.
        """
        return record_nano(self.rate, 2, coefficient)

    def loss_nano_array(
        self, numerators: NDArray[np.int64], coefficient_exponent: int
    ) -> NDArray[np.int64]:
        """`loss_nano` of numerators · 2^coefficient_exponent, in the same shape."""
        return nano_array(self.rate, 2, numerators, coefficient_exponent)

    def to_json(self) -> dict[str, object]:
        """Plain values from which `law_from_json` makes the same law."""
        return {"kind": self.kind, "noise_variance": self.noise_variance}


def _positive(number: object) -> float:
    """The number as a float; raise unless it is finite and above zero (NaN fails too)."""
    if isinstance(number, bool) or not isinstance(number, (int, float)):
        raise PrivacyError("the width of the noise must be a number")
    try:
        width = float(number)
    except OverflowError:
        raise PrivacyError("the width of the noise is too large for a float") from None
    if not 0.0 < width < math.inf:
        raise PrivacyError("the width of the noise must be a finite number above zero")
    return width
