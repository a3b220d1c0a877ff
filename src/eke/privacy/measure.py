"""Measure: in what losses are counted, and everything that follows from the choice.

A record with coefficient c in an answer with noise of scale b loses an amount that grows as
(|c| / b)^order. Prices, shares of a budget, group privacy and the best strategies all follow from
that and from the noise that goes with it: code asks the measure, and never for its name. A third
measure is a file like `pure.py` and `concentrated.py`, entered in `measures.py`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from fractions import Fraction
from statistics import NormalDist
from typing import ClassVar, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from eke.arrays import FloatArray
from eke.privacy.continuous_law import Gaussian, Laplace
from eke.privacy.discrete_gaussian import DiscreteGaussian
from eke.privacy.discrete_laplace import DiscreteLaplace

Number = TypeVar("Number", int, float, NDArray[np.float64], NDArray[np.int64])
Real = TypeVar("Real", float, NDArray[np.float64])


class Measure(ABC):
    """What a loss counts. There is one value of each kind: `PURE` and `CONCENTRATED`."""

    name: ClassVar[str]
    """The unit of losses, as people and documents write it."""
    order: ClassVar[int]
    """A loss grows as this power of a coefficient."""
    unit_law: ClassVar[Laplace | Gaussian]
    """The noise of scale one, ideal."""
    rotations_are_free: ClassVar[bool]
    """Whether answers can be turned into others of the same price, as under L2 norms.

    Then choosing noise is a convex problem, and residual tables are the best strategy for marginals
    (ResidualPlanner, NeurIPS 2023).
    """
    sums_keep_their_law: ClassVar[bool]
    """Whether a sum of noises is a noise of the same family."""

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"<{self.name}>"

    def __reduce__(self) -> str:
        """The name of the one value: a copy, or one from another process, is this very object."""
        return type(self).__name__.upper()

    # -- losses and noise ----------------------------------------------------------------------

    @abstractmethod
    def loss(self, coefficient: float, noise_scale: float) -> float:
        """What a record with this coefficient loses."""

    @abstractmethod
    def noise_scale(self, coefficient: float, loss: float) -> float:
        """The noise with which a record with this coefficient loses so much."""

    @abstractmethod
    def noise_steps(self, coefficient: int, loss_nano: int) -> Fraction:
        """The same exactly: for a coefficient in whole units, in these units.

        Privacy: rounded up, so that the noise is never less than the loss pays for.
        """

    @overload
    def loss_of_reach(self, reach: float, noise_variance: float) -> float: ...
    @overload
    def loss_of_reach(self, reach: FloatArray, noise_variance: FloatArray) -> FloatArray: ...
    @abstractmethod
    def loss_of_reach(
        self, reach: float | FloatArray, noise_variance: float | FloatArray
    ) -> float | FloatArray:
        """What a record loses by answers whose coefficients, `raised`, sum up to the reach."""

    @overload
    def variance_for(self, loss: float) -> float: ...
    @overload
    def variance_for(self, loss: FloatArray) -> FloatArray: ...
    @abstractmethod
    def variance_for(self, loss: float | FloatArray) -> float | FloatArray:
        """The variance of noise with which a coefficient of one loses so much."""

    @abstractmethod
    def law_for(self, loss: float) -> Laplace | Gaussian:
        """The ideal noise with which a coefficient of one loses so much."""

    @abstractmethod
    def quantile(self, missing: float) -> float:
        """What noise of scale one exceeds, to either side, with this probability."""

    @abstractmethod
    def sum_quantile(self, missing: float) -> float:
        """What any sum of noises exceeds so rarely, at most, in its standard deviations."""

    def variance(self, noise_scale: float) -> float:
        """The variance of noise of a scale."""
        return noise_scale**2 * self.unit_law.variance

    def scale_of(self, noise_variance: float) -> float:
        """The scale of noise with a variance."""
        return math.sqrt(noise_variance / self.unit_law.variance)

    @abstractmethod
    def law(
        self, noise_scale: float | Fraction, coefficient_exponent: int
    ) -> DiscreteLaplace | DiscreteGaussian:
        """The noise that is drawn, on a grid (`choose_grid`), with at least this scale."""

    # -- choices -------------------------------------------------------------------------------

    @abstractmethod
    def loss_of_choice(self, ratio: Fraction) -> Fraction:
        """The loss of choosing with chances ∝ exp(score / b) when scores move by ratio · b.

        Privacy: the range of the privacy loss is twice the ratio (Cesar and Rogers 2021); see
        docs/proofs/selection.md.
        """

    @abstractmethod
    def epsilon_of_choice(self, loss: float) -> float:
        """The ε with which an exponential mechanism loses so much."""

    # -- powers --------------------------------------------------------------------------------

    @property
    def variance_power(self) -> float:
        """Variances fall as this power of the loss."""
        return 2.0 / self.order

    def raised(self, number: Number) -> Number:
        """Numbers to the power in which losses grow; these add up."""
        power: Number = number**self.order
        return power

    @abstractmethod
    def root(self, number: Real) -> Real:
        """The inverse of `raised`."""

    def group_factor(self, rows: int) -> int:
        """By how much a unit of several rows multiplies every loss.

        Privacy: group privacy; its rows are at most so many replaced or added records.
        """
        return self.raised(rows)

    # -- what people ask -----------------------------------------------------------------------

    @abstractmethod
    def epsilon(self, loss: float, delta: float | None) -> float:
        """The ε of a loss, for a δ where one is needed."""


def normal_quantile(missing: float) -> float:
    """What a standard normal number exceeds, to either side, with this probability."""
    return -NormalDist().inv_cdf(missing / 2.0) if missing > 0.0 else math.inf
