"""Arithmetic modulo a prime: where equality is exact and nothing is ever rounded.

Residues are 32-bit integers below 2²⁹. What is long is compiled (`loops.py`). What is short goes
through BLAS, in doubles: a residue times 15 bits is a whole number below 2⁴⁴, and of these 512 add
up to one below 2⁵³, exactly and in any order.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from eke.inference.compiled import SMALL, loops
from eke.inference.growing import GrowingMatrix
from eke.query.view import view_with

Residues = NDArray[np.int32]

PRIME = 2**29 - 3
_HALF_BITS = 15
_HALF = 2**_HALF_BITS - 1
_EXACT_COLUMNS = 512


def residue(number: Fraction) -> int:
    """The number modulo PRIME; its denominator must not be a multiple of PRIME."""
    return number.numerator * pow(number.denominator, -1, PRIME) % PRIME


def inverse(number: int) -> int:
    """The residue whose product with the number is 1."""
    return pow(number, -1, PRIME)


def residues(vector: NDArray[np.int64]) -> Residues:
    """The entries of an integer vector modulo PRIME."""
    return (vector % PRIME).astype(np.int32)


def multiply(first: NDArray[np.integer], second: NDArray[np.integer]) -> Residues:
    """The products, entry by entry."""
    return (first.astype(np.int64) * second % PRIME).astype(np.int32)


def product(matrix: Residues, vector: Residues) -> Residues:
    """The matrix times the vector."""
    if len(matrix) > SMALL:
        return np.asarray(loops().product(np.ascontiguousarray(matrix), vector))
    total = np.zeros(len(matrix), np.int64)
    for start in range(0, matrix.shape[1], _EXACT_COLUMNS):
        columns = matrix[:, start : start + _EXACT_COLUMNS].astype(np.float64)
        numbers = vector[start : start + _EXACT_COLUMNS]
        high = (columns @ (numbers >> _HALF_BITS)).astype(np.int64) % PRIME
        total += (high << _HALF_BITS) + (columns @ (numbers & _HALF)).astype(np.int64)
    return residues(total)


class ResidueTriangle:
    """An invertible lower triangular matrix L that grows by one row at a time, packed by rows.

    While it is small its inverse is kept as well, and solving is a product with that.
    """

    __slots__ = ("_buffer", "_inverse", "_inverses", "size")

    def __init__(self) -> None:
        self.size = 0
        self._buffer = np.empty(64, np.int32)  # the rows without their diagonal
        self._inverses = np.empty(8, np.int32)  # of the diagonal
        self._inverse = GrowingMatrix(np.int32)  # L⁻¹, up to SMALL rows

    @property
    def nbytes(self) -> int:
        return self._buffer.nbytes + self._inverses.nbytes

    def view(self) -> ResidueTriangle:
        """The rows so far, for good; they never change, so they are shared (see `growing.py`)."""
        return view_with(
            self,
            _buffer=self._buffer[: self.size * (self.size - 1) // 2],
            _inverses=self._inverses[: self.size],
            _inverse=self._inverse.view(),
        )

    def append(self, row: Residues, diagonal: int) -> None:
        """Add the row [row, diagonal] to L."""
        start = self.size * (self.size - 1) // 2
        needed = start + self.size
        self._buffer = _with_room(self._buffer, needed)
        self._inverses = _with_room(self._inverses, self.size + 1)
        self._buffer[start:needed] = row
        self._inverses[self.size] = inverse(diagonal)
        if self.size < SMALL:
            turned = product(self._inverse.array.T, row)
            before = multiply(turned, np.array(PRIME - inverse(diagonal)))
            self._inverse.append(np.append(before, inverse(diagonal)))
        self.size += 1

    def solve(self, right: Residues) -> Residues:
        """L⁻¹ right."""
        if self.size <= SMALL:
            return product(self._inverse.array, right)
        return np.asarray(loops().solve(self._buffer, self._inverses, self.size, right))

    def solve_transposed(self, right: Residues) -> Residues:
        """L⁻ᵀ right."""
        if self.size <= SMALL:
            return product(self._inverse.array.T, right)
        return np.asarray(loops().solve_transposed(self._buffer, self._inverses, self.size, right))


def _with_room(buffer: Residues, needed: int) -> Residues:
    if needed <= len(buffer):
        return buffer
    grown = np.empty(max(needed, len(buffer) * 5 // 4 + 1024), np.int32)
    grown[: len(buffer)] = buffer
    return grown
