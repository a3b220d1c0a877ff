"""Arithmetic modulo a prime: where equality is exact and nothing is ever rounded.

Residues are 32-bit integers below 2²⁹. What is long is compiled (`loops.py`). What is short goes
through BLAS, in doubles: a residue times 15 bits is a whole number below 2⁴⁴, and of these 512 add
up to one below 2⁵³, exactly and in any order.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from eke.inference.compiled import SMALL, loops, worth
from eke.query.growing import GrowingMatrix, GrowingVector
from eke.query.parts import Parts
from eke.query.view import made_of

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
    if worth(matrix.size // _EXACT_COLUMNS):
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

    Of its first rows the inverse is kept as well, and solving begins with a product with that.
    """

    __slots__ = ("_inverse", "_inverses", "_rows")

    def __init__(self) -> None:
        self._rows = GrowingVector(np.int32)  # without their diagonal
        self._inverses = GrowingVector(np.int32)  # of the diagonal
        self._inverse: GrowingMatrix[np.int32] = GrowingMatrix(np.int32)  # L⁻¹, up to SMALL rows

    @property
    def size(self) -> int:
        return len(self._inverses)

    @property
    def nbytes(self) -> int:
        return self._rows.nbytes + self._inverses.nbytes

    def view(self) -> ResidueTriangle:
        """The rows so far, for good; they never change, so they are shared (see `growing.py`)."""
        return self.from_parts(self.parts())

    def parts(self) -> Parts:
        """Everything in it, as arrays."""
        return {
            "rows": self._rows.array,
            "inverses": self._inverses.array,
            "inverse": self._inverse.array,
        }

    @classmethod
    def from_parts(cls, parts: Parts) -> ResidueTriangle:
        """A triangle as it was when its parts were taken."""
        return made_of(
            cls,
            _rows=GrowingVector.of(parts["rows"]),
            _inverses=GrowingVector.of(parts["inverses"]),
            _inverse=GrowingMatrix.of(parts["inverse"]),
        )

    def append(self, row: Residues, diagonal: int) -> None:
        """Add the row [row, diagonal] to L."""
        turned = inverse(diagonal)
        if self.size < SMALL:
            before = multiply(product(self._inverse.array.T, row), np.array(PRIME - turned))
            self._inverse.append(np.append(before, turned))
        self._rows.extend(row)
        self._inverses.extend(turned)

    def solve(self, right: Residues) -> Residues:
        """L⁻¹ right."""
        if worth(self.size):
            return np.asarray(
                loops().solve(self._rows.array, self._inverses.array, self.size, right)
            )
        solved = np.zeros(self.size, np.int64)
        first = len(self._inverse)
        solved[:first] = product(self._inverse.array, right[:first])
        rows, inverses = self._rows.array, self._inverses.array.tolist()
        for k in range(first, self.size):
            start = k * (k - 1) // 2
            rest = int(right[k]) - int((rows[start : start + k] * solved[:k] % PRIME).sum())
            solved[k] = rest * inverses[k] % PRIME
        return solved.astype(np.int32)

    def solve_transposed(self, right: Residues) -> Residues:
        """L⁻ᵀ right."""
        if worth(self.size):
            return np.asarray(
                loops().solve_transposed(self._rows.array, self._inverses.array, self.size, right)
            )
        rest = right[: self.size].astype(np.int64)
        first = len(self._inverse)
        rows, inverses = self._rows.array, self._inverses.array.tolist()
        for k in range(self.size - 1, first - 1, -1):
            start = k * (k - 1) // 2
            rest[k] = value = int(rest[k]) * inverses[k] % PRIME
            rest[:k] = (rest[:k] - rows[start : start + k] * np.int64(value)) % PRIME
        rest[:first] = product(self._inverse.array.T, rest[:first].astype(np.int32))
        return rest.astype(np.int32)
