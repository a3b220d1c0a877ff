"""A Cholesky factor that grows by one column at a time without moving what is there.

K = UᵀU with U upper triangular, stored packed by columns: appending a row to K appends one column
to U at the end of the buffer. Triangular solves go to BLAS on the contiguous buffer (a strided
view would be copied on each call, forty times slower at five thousand rows).
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from scipy.linalg.blas import dtpsv

from eke.arrays import FloatArray
from eke.query.view import view_with


class PackedFactor:
    """An upper triangular factor U with UᵀU a growing positive definite matrix."""

    __slots__ = ("_buffer", "_shared", "size")

    def __init__(self) -> None:
        self.size = 0
        self._shared = False  # with a view, which must not see the columns change
        self._buffer = np.empty(64)

    @property
    def nbytes(self) -> int:
        return self._buffer.nbytes

    def view(self) -> PackedFactor:
        """The factor as it is, for good: neither of the two sees what becomes of the other."""
        self._shared = True
        return view_with(
            self,
            _buffer=self._buffer[: self.size * (self.size + 1) // 2],
            _shared=True,
        )

    def solve_transposed(self, right: FloatArray) -> FloatArray:
        """U⁻ᵀ right."""
        if not self.size:
            return right.copy()
        return np.asarray(dtpsv(self.size, self._buffer, right, trans=1))

    def solve(self, right: FloatArray) -> FloatArray:
        """U⁻¹ right."""
        if not self.size:
            return right.copy()
        return np.asarray(dtpsv(self.size, self._buffer, right))

    def append(self, column: FloatArray, pivot: float) -> None:
        """Add the column [column; pivot] to U."""
        start = self.size * (self.size + 1) // 2
        needed = start + self.size + 1
        if needed > len(self._buffer):
            grown = np.empty(max(needed, len(self._buffer) * 5 // 4 + 4096))
            grown[:start] = self._buffer[:start]
            self._buffer, self._shared = grown, False
        self._buffer[start : start + self.size] = column
        self._buffer[needed - 1] = pivot
        self.size += 1

    def update(self, vector: FloatArray) -> None:
        """Make U the factor of UᵀU + vector·vectorᵀ."""
        if self._shared:  # columns are appended beyond what others see, but these change
            self._buffer, self._shared = self._buffer.copy(), False
        _rank_one_update(self._buffer, self.size, vector.copy())


@njit(cache=True, nogil=True)  # milliseconds for long histories: others get on meanwhile
def _rank_one_update(buffer: FloatArray, size: int, vector: FloatArray) -> None:  # pragma: no cover
    # Column by column, replaying the rotations of the columns before: all memory access is
    # contiguous in the packed layout.
    cosines = np.empty(size)
    sines = np.empty(size)
    start = 0
    for j in range(size):
        v = vector[j]
        for k in range(j):
            u = buffer[start + k]
            buffer[start + k] = cosines[k] * u + sines[k] * v
            v = cosines[k] * v - sines[k] * u
        diagonal = buffer[start + j]
        radius = math.hypot(diagonal, v)
        buffer[start + j] = radius
        cosines[j] = diagonal / radius
        sines[j] = v / radius
        start += j + 1
