"""What one measurement costs one record, in integer nano-units that are never below the truth.

A record whose coefficient in the measured query is h moves the exact answer by h. Laplace noise of
scale b then costs it |h|/b of epsilon, Gaussian noise of variance v costs it h²/(2v) of rho
(docs/proofs/noise.md). Everything here is rational arithmetic on Python integers: no float is
ever rounded, so nothing can be rounded down. `loss_array.py` does it for many cells at once.
"""

from __future__ import annotations

import math
from fractions import Fraction

from eke.errors import PrivacyError

NANO = 10**9


def pure_rate(laplace_scale: Fraction) -> Fraction:
    """The nano-epsilon of a coefficient of 1, not rounded; losses are in proportion to |h|."""
    return NANO / laplace_scale


def concentrated_rate(noise_variance: Fraction) -> Fraction:
    """The nano-rho of a coefficient of 1, not rounded; losses are in proportion to h²."""
    return NANO / (2 * noise_variance)


def record_nano(rate: Fraction, power: int, coefficient: Fraction | int) -> int:
    """The least integer of nano-units that is at least rate · |coefficient|^power.

    Privacy: rounded up; a zero coefficient costs exactly 0.
    """
    return math.ceil(abs(_exact(coefficient)) ** power * rate)


def _exact(coefficient: Fraction | int) -> Fraction:
    if not isinstance(coefficient, (int, Fraction)):
        raise PrivacyError("a coefficient must be an int or a Fraction, so that its loss is exact")
    return Fraction(coefficient)
