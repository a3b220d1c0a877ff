"""The grid that noise and answers share: powers of two, so that every conversion is exact.

Noise is an integer number of steps of size 2^exponent, and its scale is a whole number of steps.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Protocol, TypeVar

from eke.errors import PrivacyError
from eke.query.vector import floor_log2

# With at least 2^20 steps to the scale the lattice changes probabilities by less than 1e-6.
FINENESS_BITS = 20
# A scale beyond 2^53 steps is not a double, and OpenDP takes doubles. Its integers saturate at
# 2^63, that is 2^10 scales away: an event of probability e^-1024, below the smallest double.
MOST_STEPS = 2**53
# Keeps step² and the variance within the range of doubles.
EXTREME_EXPONENT = 400


class OnGrid(Protocol):
    """A law that is made from a whole number of steps and the exponent of the step."""

    def __init__(self, steps: int, exponent: int) -> None: ...


LawOnGrid = TypeVar("LawOnGrid", bound=OnGrid)


def choose_grid(
    family: type[LawOnGrid], noise_scale: float | Fraction, coefficient_exponent: int
) -> LawOnGrid:
    """The law of the family whose scale is `noise_scale`, or the next above it on the grid.

    `noise_scale` is the Laplace scale for `DiscreteLaplace` and the standard deviation for
    `DiscreteGaussian`. The step divides both the coefficient grid 2^coefficient_exponent and
    2^-20 of the scale.

    Privacy: the scale is rounded up, so the noise is never less than asked for. The step is a
    function of the two public arguments only.
    """
    check_exponent(coefficient_exponent)
    if isinstance(noise_scale, float) and not math.isfinite(noise_scale):
        raise PrivacyError("the scale of the noise must be a finite number")
    wanted = Fraction(noise_scale)
    if wanted <= 0:
        raise PrivacyError("the scale of the noise must be positive")
    exponent = min(coefficient_exponent, floor_log2(wanted) - FINENESS_BITS)
    return family(math.ceil(wanted / Fraction(2) ** exponent), exponent)


def check_grid(steps: int, exponent: int) -> None:
    """Raise unless the two numbers make a law that can be drawn and priced exactly."""
    if type(steps) is not int or steps < 1:
        raise PrivacyError("the scale of discrete noise must be a whole, positive number of steps")
    if steps > MOST_STEPS:
        raise PrivacyError(
            "this noise is more than 2^53 grid steps wide; put the coefficients of the query on "
            "a coarser grid or ask for less noise"
        )
    check_exponent(exponent)


def check_exponent(exponent: int) -> None:
    """Raise unless 2^exponent is a step whose square is an ordinary double."""
    if type(exponent) is not int or abs(exponent) > EXTREME_EXPONENT:
        raise PrivacyError(
            f"a grid exponent must be an int between -{EXTREME_EXPONENT} and {EXTREME_EXPONENT}"
        )
