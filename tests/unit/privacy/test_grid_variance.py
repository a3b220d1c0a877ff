"""Variances without NumPy: to the last bit those of the laws' own formulas."""

from __future__ import annotations

import math

import pytest

from eke.privacy.discrete_gaussian import _ALIASES, _alias_total, _alias_weights
from eke.privacy.grid_variance import WIDE_STEPS, laplace_variance, wide_gaussian_variance
from eke.privacy.law import DiscreteGaussian, DiscreteLaplace

STEPS = (1, 2, 3, 4, 5, 7, 20, 1023, 1024, 2**20 + 1, 2**53)


def lattice_share(steps: int) -> float:
    """The slow twin: the variance on the lattice, as a share of the continuous one."""
    weights = _alias_weights(steps)
    deficit = 4.0 * math.pi**2 * float((2.0 * weights * _ALIASES**2).sum())
    return 1.0 - steps**2 * deficit / _alias_total(steps)


@pytest.mark.parametrize("exponent", [-40, 0, 3])
@pytest.mark.parametrize("steps", STEPS)
def test_variances_are_those_of_the_laws(steps: int, exponent: int) -> None:
    assert laplace_variance(steps, exponent) == DiscreteLaplace(steps, exponent).variance
    gaussian = DiscreteGaussian(steps, exponent)
    assert gaussian.variance == gaussian.gaussian_variance * lattice_share(steps)
    if steps >= WIDE_STEPS:
        assert gaussian.variance == wide_gaussian_variance(steps, exponent)


def test_fewer_steps_show_the_lattice() -> None:
    assert lattice_share(1) < 1.0, "positive control"
    assert lattice_share(WIDE_STEPS) == 1.0
