"""What one measurement costs the records of many cells, each exactly as `record_loss.py` says."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from eke.errors import PrivacyError

_LARGEST = int(np.iinfo(np.int64).max)


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
