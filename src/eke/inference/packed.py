"""A Cholesky factor that grows by one column at a time without moving what is there.

K = UᵀU with U upper triangular, stored packed by columns: appending a row to K appends one column
to U at the end of the buffer, which is what compiled code works on (`compiled.py`). While U is
small, Uᵀ and its inverse are kept beside it, and solving is a product with the inverse and one step
of iterative refinement, which makes up for what an inverse loses.
"""

from __future__ import annotations

import math

import numpy as np

from eke.arrays import FloatArray
from eke.inference.compiled import SMALL, loops, worth
from eke.query.growing import GrowingMatrix
from eke.query.parts import Parts
from eke.query.view import view_with


class PackedFactor:
    """An upper triangular factor U with UᵀU a growing positive definite matrix."""

    __slots__ = ("_buffer", "_inverse", "_lower", "_shared", "size")

    def __init__(self) -> None:
        self.size = 0
        self._shared = False  # with a view, which must not see the columns change
        self._buffer = np.empty(64)
        self._lower = GrowingMatrix(np.float64)  # Uᵀ, up to SMALL rows
        self._inverse = GrowingMatrix(np.float64)  # of Uᵀ

    @property
    def nbytes(self) -> int:
        return self._buffer.nbytes + self._lower.nbytes + self._inverse.nbytes

    def view(self) -> PackedFactor:
        """The factor as it is, for good: neither of the two sees what becomes of the other."""
        self._shared = True
        return view_with(
            self,
            _buffer=self._buffer[: self.size * (self.size + 1) // 2],
            _shared=True,
            _lower=self._lower.view(),
            _inverse=self._inverse.view(),
        )

    def parts(self) -> Parts:
        """Everything in it that does not follow from the rest, as arrays."""
        return {"columns": self._buffer[: self.size * (self.size + 1) // 2]}

    @classmethod
    def from_parts(cls, parts: Parts) -> PackedFactor:
        found = cls()
        found._buffer, found._shared = parts["columns"], True
        found.size = math.isqrt(2 * len(found._buffer))
        if found.size <= SMALL:
            for k in range(found.size):
                found._lower.append(found._column(k))
        return found

    def _column(self, k: int) -> FloatArray:
        """The column of U up to its diagonal."""
        start = k * (k + 1) // 2
        return self._buffer[start : start + k + 1]

    def solve_transposed(self, right: FloatArray) -> FloatArray:
        """U⁻ᵀ right."""
        if self.size <= SMALL:
            return _refined(self._lower.array, self._inverted(), right)
        if worth(self.size):
            return np.asarray(loops().packed_solve(self._buffer, self.size, right, trans=True))
        solved = np.empty(self.size)
        for k in range(self.size):
            column = self._column(k)
            solved[k] = (right[k] - column[:-1] @ solved[:k]) / column[-1]
        return solved

    def solve(self, right: FloatArray) -> FloatArray:
        """U⁻¹ right."""
        if self.size <= SMALL:
            return _refined(self._lower.array.T, self._inverted().T, right)
        if worth(self.size):
            return np.asarray(loops().packed_solve(self._buffer, self.size, right, trans=False))
        rest = np.array(right[: self.size])
        for k in range(self.size - 1, -1, -1):
            column = self._column(k)
            rest[k] /= column[-1]
            rest[:k] -= rest[k] * column[:-1]
        return rest

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
        if self.size < SMALL:
            self._lower.append(np.append(column, pivot))
        self.size += 1

    def update(self, vector: FloatArray) -> None:
        """Make U the factor of UᵀU + vector·vectorᵀ."""
        if self._shared:  # columns are appended beyond what others see, but these change
            self._buffer, self._shared = self._buffer.copy(), False
        if self.size > SMALL:
            loops().rank_one_update(self._buffer, self.size, vector.copy())
            return
        upper, left = self._lower.array.T.copy(), vector.copy()
        for k in range(self.size):  # rotate the vector into one row after the other
            row = upper[k, k:]
            radius = math.hypot(row[0], left[k])
            cosine, sine = row[0] / radius, left[k] / radius
            row[:], left[k:] = cosine * row + sine * left[k:], cosine * left[k:] - sine * row
        self._lower, self._inverse = GrowingMatrix(np.float64), GrowingMatrix(np.float64)
        for k, row in enumerate(upper.T, start=1):
            self._lower.append(row[:k])
        self._buffer[: self.size * (self.size + 1) // 2] = upper.T[np.tril_indices(self.size)]

    def _inverted(self) -> FloatArray:
        """The inverse of Uᵀ; rows that are new since somebody asked are worked out now.

        Threads may ask one view at a time: what they share is replaced as a whole.
        """
        known = self._inverse
        if len(known) < self.size:
            known, lower = known.view(), self._lower.array
            for k in range(len(known), self.size):
                turned = lower[k, :k] @ known.array
                known.append(np.append(turned, -1.0) / -lower[k, k])
            self._inverse = known
        return known.array


def _refined(matrix: FloatArray, inverse: FloatArray, right: FloatArray) -> FloatArray:
    """The solution of matrix · x = right, by the inverse, with its residual taken care of."""
    solved = inverse @ right
    return np.asarray(solved + inverse @ (right - matrix @ solved))
