"""What one measurement costs one record, in integer nano-units that are never below the truth.

A record whose coefficient in the measured query is h moves the exact answer by h. Laplace noise of
scale b then costs it |h|/b of epsilon, Gaussian noise of variance v costs it h²/(2v) of rho
(docs/proofs/noise.md). Everything here is rational arithmetic on Python integers: no float is
ever rounded, so nothing can be rounded down.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from eke.errors import PrivacyError

NANO = 10**9
_LARGEST = int(np.iinfo(np.int64).max)


def pure_nano(coefficient: Fraction | int, laplace_scale: Fraction) -> int:
    """The least integer of nano-epsilon that is at least |coefficient| / laplace_scale.

    Privacy: rounded up; a zero coefficient costs exactly 0.
    """
    return math.ceil(NANO * abs(_exact(coefficient)) / laplace_scale)


def concentrated_nano(coefficient: Fraction | int, noise_variance: Fraction) -> int:
    """The least integer of nano-rho that is at least coefficient² / (2 · noise_variance).

    Privacy: rounded up; a zero coefficient costs exactly 0.
    """
    return math.ceil(NANO * _exact(coefficient) ** 2 / (2 * noise_variance))


def nano_array(
    loss_nano: Callable[[Fraction], int],
    numerators: NDArray[np.int64],  # (cells,) or any shape
    coefficient_exponent: int,
) -> NDArray[np.int64]:
    """The losses of many coefficients numerators · 2^coefficient_exponent, in the same shape.

    Privacy: each distinct coefficient is priced by `loss_nano` in exact arithmetic; a loss that
    does not fit in 64 bits is an error, never a wrapped or clipped number.
    """
    given = np.asarray(numerators)
    if given.dtype.kind not in "iu":
        raise PrivacyError("coefficients must be integers in units of 2^coefficient_exponent")
    unit = Fraction(2) ** coefficient_exponent
    distinct, positions = np.unique(given, return_inverse=True)
    losses = [loss_nano(int(numerator) * unit) for numerator in distinct]
    if max(losses, default=0) > _LARGEST:
        raise PrivacyError("the loss of one record is beyond all limits; ask for more noise")
    return np.array(losses, dtype=np.int64)[positions].reshape(given.shape)


def _exact(coefficient: Fraction | int) -> Fraction:
    if not isinstance(coefficient, (int, Fraction)):
        raise PrivacyError("a coefficient must be an int or a Fraction, so that its loss is exact")
    return Fraction(coefficient)
