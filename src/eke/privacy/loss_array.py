"""What one measurement costs the records of many cells, each exactly as `record_loss.py` says."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eke.errors import PrivacyError

_LARGEST = int(np.iinfo(np.int64).max)
_NEAR = 4096
"""Numbers that lie this close together are told apart without sorting, however few they are."""


def nano_array(
    rate: Fraction,
    power: int,
    numerators: NDArray[np.int64],  # (cells,) or any shape
    coefficient_exponent: int,
) -> NDArray[np.int64]:
    """⌈rate · |coefficient|^power⌉ of coefficients numerators · 2^coefficient_exponent.

    Privacy: each distinct coefficient is priced in Python's integers, as a quotient of whole
    numbers that is rounded up: nothing is rounded before, and nothing can overflow. A loss that
    does not fit in 64 bits is an error, never a wrapped or clipped number.
    """
    given = np.asarray(numerators)
    if given.dtype.kind not in "iu":
        raise PrivacyError("coefficients must be integers in units of 2^coefficient_exponent")
    unit_loss = rate * Fraction(2) ** (power * coefficient_exponent)
    over, under = unit_loss.numerator, unit_loss.denominator
    distinct, positions = _distinct(given)
    losses = [-(-over * abs(numerator) ** power // under) for numerator in distinct.tolist()]
    if max(losses, default=0) > _LARGEST:
        raise PrivacyError("the loss of one record is beyond all limits; ask for more noise")
    by_number: NDArray[np.int64] = np.array(losses, dtype=np.int64)[positions]
    return by_number.reshape(given.shape)


def _distinct(numbers: NDArray[np.integer[Any]]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """The distinct numbers in order, and the place of each number among them."""
    if numbers.size:
        low, high = int(numbers.min()), int(numbers.max())
        if high - low < max(_NEAR, numbers.size):
            above = (numbers - low).astype(np.intp)
            present = np.zeros(high - low + 1, np.bool_)
            present[above] = True
            return np.flatnonzero(present) + low, (np.cumsum(present) - 1)[above]
    return np.unique(numbers, return_inverse=True)
