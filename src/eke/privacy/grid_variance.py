"""Variances of noise on a grid, without NumPy: `eke history` shows them."""

from __future__ import annotations

import math

WIDE_STEPS = 3
"""From so many steps on, a discrete Gaussian has the variance of the continuous one."""


def laplace_variance(steps: int, exponent: int) -> float:
    """The variance of discrete Laplace noise: step² · 2p/(1-p)² with p = exp(-1/steps)."""
    return math.ldexp(1.0, exponent) ** 2 / (2.0 * math.sinh(0.5 / steps) ** 2)


def wide_gaussian_variance(steps: int, exponent: int) -> float:
    """The variance of discrete Gaussian noise of WIDE_STEPS steps or more: (steps · step)².

    What the lattice takes off is below e^(-2π²·3²) of it (docs/proofs/noise.md §3), which a double
    next to 1 does not show.
    """
    return math.ldexp(float(steps), exponent) ** 2
