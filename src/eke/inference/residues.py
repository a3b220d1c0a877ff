"""Arithmetic modulo a prime, compiled: where equality is exact and nothing is ever rounded.

Residues are 32-bit integers below 2²⁹. Because 2²⁹ is 3 modulo the prime, a product h·2²⁹ + l of
two of them is 3h + l, and billions of these add up within 63 bits before a division is needed.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numba import njit
from numpy.typing import NDArray

from eke.query.view import view_with

Residues = NDArray[np.int32]

PRIME = 2**29 - 3
_BITS = 29
_LOW = 2**_BITS - 1


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


class ResidueTriangle:
    """An invertible lower triangular matrix L that grows by one row at a time, packed by rows."""

    __slots__ = ("_buffer", "_inverses", "size")

    def __init__(self) -> None:
        self.size = 0
        self._buffer = np.empty(64, np.int32)  # the rows without their diagonal
        self._inverses = np.empty(8, np.int32)  # of the diagonal

    @property
    def nbytes(self) -> int:
        return self._buffer.nbytes + self._inverses.nbytes

    def view(self) -> ResidueTriangle:
        """The rows so far, for good; they never change, so they are shared (see `growing.py`)."""
        return view_with(
            self,
            _buffer=self._buffer[: self.size * (self.size - 1) // 2],
            _inverses=self._inverses[: self.size],
        )

    def append(self, row: Residues, diagonal: int) -> None:
        """Add the row [row, diagonal] to L."""
        start = self.size * (self.size - 1) // 2
        needed = start + self.size
        self._buffer = _with_room(self._buffer, needed)
        self._inverses = _with_room(self._inverses, self.size + 1)
        self._buffer[start:needed] = row
        self._inverses[self.size] = inverse(diagonal)
        self.size += 1

    def solve(self, right: Residues) -> Residues:
        """L⁻¹ right."""
        return np.asarray(_solve(self._buffer, self._inverses, self.size, right))

    def solve_transposed(self, right: Residues) -> Residues:
        """L⁻ᵀ right."""
        return np.asarray(_solve_transposed(self._buffer, self._inverses, self.size, right))


def _with_room(buffer: Residues, needed: int) -> Residues:
    if needed <= len(buffer):
        return buffer
    grown = np.empty(max(needed, len(buffer) * 5 // 4 + 1024), np.int32)
    grown[: len(buffer)] = buffer
    return grown


@njit(cache=True)
def _dot(first: Residues, second: Residues, size: int) -> np.int64:  # pragma: no cover
    high = np.int64(0)
    low = np.int64(0)
    for i in range(size):
        term = np.int64(first[i]) * np.int64(second[i])
        high += term >> _BITS
        low += term & _LOW
    return (high % PRIME * 3 + low) % PRIME


@njit(cache=True)
def product(matrix: Residues, vector: Residues) -> Residues:  # pragma: no cover
    """The matrix times the vector."""
    result = np.empty(matrix.shape[0], np.int32)
    for i in range(matrix.shape[0]):
        result[i] = _dot(matrix[i], vector, matrix.shape[1])
    return result


@njit(cache=True)
def _solve(
    buffer: Residues, inverses: Residues, size: int, right: Residues
) -> Residues:  # pragma: no cover
    solved = np.empty(size, np.int32)
    start = 0
    for k in range(size):
        rest = right[k] - _dot(buffer[start : start + k], solved, k)
        solved[k] = rest % PRIME * np.int64(inverses[k]) % PRIME
        start += k
    return solved


@njit(cache=True)
def _solve_transposed(
    buffer: Residues, inverses: Residues, size: int, right: Residues
) -> Residues:  # pragma: no cover
    rest = right[:size].astype(np.int64)
    solved = np.empty(size, np.int32)
    for k in range(size - 1, -1, -1):
        value = rest[k] % PRIME * np.int64(inverses[k]) % PRIME
        solved[k] = value
        start = k * (k - 1) // 2
        minus = (PRIME - value) % PRIME
        for i in range(k):
            term = minus * np.int64(buffer[start + i])
            rest[i] += 3 * (term >> _BITS) + (term & _LOW)
    return solved
