"""A Cholesky factor that grows by one column at a time without moving what is there.

K = UᵀU with U upper triangular. The rows of Uᵀ are kept in bands: of each the part left of the
diagonal block, and the block. Solving goes from band to band: products with the left part, and, in
the block, a product with its inverse and one step of iterative refinement, which makes up for what
an inverse loses. So NumPy does it all, and the same question has the same answer to the last digit
in every process, whatever was asked there before.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from eke.arrays import FloatArray
from eke.inference.compiled import SMALL, loops
from eke.query.parts import Parts, within
from eke.query.view import made_of

WIDTH = 64
"""Rows of a band."""


class Band:
    """Rows of Uᵀ that follow each other. One that is full changes no more, and is shared."""

    __slots__ = ("_block", "_inverse", "_inverted", "_left", "rows")

    def __init__(self, before: int) -> None:
        self.rows = 0
        self._left = np.empty((WIDTH, before))
        self._block = np.zeros((WIDTH, WIDTH))
        self._inverse = np.zeros((WIDTH, WIDTH))
        self._inverted = 0  # rows of the inverse that are worked out

    @classmethod
    def of(cls, left: FloatArray, block: FloatArray) -> Band:
        """A band of these rows, as `parts` gave them; they are shared, and it moves to grow."""
        rows = len(block)
        if not 0 < rows <= WIDTH or block.shape[1:] != (WIDTH,) or len(left) != rows:
            raise ValueError("these are no rows of a band")
        inverse = np.zeros((WIDTH, WIDTH))
        return made_of(cls, rows=rows, _left=left, _block=block, _inverse=inverse, _inverted=0)

    def parts(self) -> Parts:
        """Its rows, as arrays: left of the diagonal block, and in it."""
        return {"left": self.left, "block": self._block[: self.rows]}

    @property
    def nbytes(self) -> int:
        return self._left.nbytes + self._block.nbytes + self._inverse.nbytes

    @property
    def left(self) -> FloatArray:
        return self._left[: self.rows]

    @property
    def block(self) -> FloatArray:
        return self._block[: self.rows, : self.rows]

    def row(self, number: int) -> FloatArray:
        """A row of Uᵀ, up to its diagonal."""
        return np.concatenate([self._left[number], self._block[number, : number + 1]])

    def view(self) -> Band:
        """The rows so far; they are shared, and the view moves when it grows."""
        return made_of(
            Band,
            rows=self.rows,
            _left=self.left,
            _block=self._block[: self.rows],
            _inverse=self._inverse.copy(),
            _inverted=self._inverted,
        )

    def copy(self) -> Band:
        """The same rows, to be changed."""
        left, block = self._with_room()
        inverse = np.zeros((WIDTH, WIDTH))
        return made_of(
            Band, rows=self.rows, _left=left, _block=block, _inverse=inverse, _inverted=0
        )

    def _with_room(self) -> tuple[FloatArray, FloatArray]:
        left, block = np.empty((WIDTH, self._left.shape[1])), np.zeros((WIDTH, WIDTH))
        left[: self.rows], block[: self.rows] = self.left, self._block[: self.rows]
        return left, block

    def append(self, row: FloatArray) -> None:
        if self.rows == len(self._left):  # a view has none
            self._left, self._block = self._with_room()
        before = self._left.shape[1]
        self._left[self.rows] = row[:before]
        self._block[self.rows, : self.rows + 1] = row[before:]
        self.rows += 1

    def solve(self, right: FloatArray) -> FloatArray:
        """The solution of block · x = right."""
        return _refined(self.block, self._worked_out(), right)

    def solve_transposed(self, right: FloatArray) -> FloatArray:
        """The solution of blockᵀ · x = right."""
        return _refined(self.block.T, self._worked_out().T, right)

    def rotate(self, vector: FloatArray, cosines: FloatArray, sines: FloatArray) -> None:
        """Turn the next part of the vector into these rows; see `PackedFactor.update`."""
        loops().rotate_rows(self.left, self._block[: self.rows], vector, cosines, sines)

    def _worked_out(self) -> FloatArray:
        """The inverse of the block; rows that are new since somebody asked are worked out now.

        Threads may do it at the same time: they write the same numbers.
        """
        for k in range(self._inverted, self.rows):
            turned = self._block[k, :k] @ self._inverse[:k, :k]
            self._inverse[k, : k + 1] = np.append(turned, -1.0) / -self._block[k, k]
            self._inverted = k + 1
        return self._inverse[: self.rows, : self.rows]


class PackedFactor:
    """An upper triangular factor U with UᵀU a growing positive definite matrix."""

    __slots__ = ("_bands", "size")

    def __init__(self) -> None:
        self.size = 0
        self._bands: list[Band] = []

    @property
    def nbytes(self) -> int:
        return sum(band.nbytes for band in self._bands)

    def view(self) -> PackedFactor:
        """The factor as it is, for good: neither of the two sees what becomes of the other."""
        bands = [*self._bands[:-1], *(band.view() for band in self._bands[-1:])]
        return made_of(PackedFactor, size=self.size, _bands=bands)

    def parts(self) -> Parts:
        """Everything in it that does not follow from the rest, as arrays, which are not copied."""
        bands = [within(str(place), band.parts()) for place, band in enumerate(self._bands)]
        return {name: array for parts in bands for name, array in parts.items()}

    @classmethod
    def from_parts(cls, parts: Parts) -> PackedFactor:
        """A factor as it was when its parts were taken; it shares them."""
        bands: list[Band] = []
        size = 0
        while f"{len(bands)}/left" in parts:
            left, block = parts[f"{len(bands)}/left"], parts[f"{len(bands)}/block"]
            if left.shape[1:] != (size,) or size % WIDTH:
                raise ValueError("these are no bands of one factor")
            bands.append(Band.of(left, block))
            size += bands[-1].rows
        return made_of(cls, size=size, _bands=bands)

    def columns(self) -> Iterator[FloatArray]:
        """The columns of U up to their diagonal."""
        return (band.row(number) for band in self._bands for number in range(band.rows))

    def solve_transposed(self, right: FloatArray) -> FloatArray:
        """U⁻ᵀ right."""
        solved, at = np.empty(self.size), 0
        for band in self._bands:
            end = at + band.rows
            solved[at:end] = band.solve(right[at:end] - band.left @ solved[:at])
            at = end
        return solved

    def solve(self, right: FloatArray) -> FloatArray:
        """U⁻¹ right."""
        rest, end = np.array(right[: self.size]), self.size
        for band in reversed(self._bands):
            at = end - band.rows
            rest[at:end] = band.solve_transposed(rest[at:end])
            rest[:at] -= rest[at:end] @ band.left
            end = at
        return rest

    def append(self, column: FloatArray, pivot: float) -> None:
        """Add the column [column; pivot] to U."""
        if self.size % WIDTH == 0:
            self._bands.append(Band(self.size))
        self._bands[-1].append(np.append(column, pivot))
        self.size += 1

    def update(self, vector: FloatArray) -> None:
        """Make U the factor of UᵀU + vector·vectorᵀ."""
        if self.size > SMALL:
            bands = [band.copy() for band in self._bands]
            cosines, sines = np.empty(self.size), np.empty(self.size)
            for band in bands:
                band.rotate(vector, cosines, sines)
            self._bands = bands
            return
        upper, left = np.zeros((self.size, self.size)), vector.copy()
        for k, column in enumerate(self.columns()):
            upper[: k + 1, k] = column
        for k in range(self.size):  # rotate the vector into one row after the other
            row = upper[k, k:]
            radius = math.hypot(row[0], left[k])
            cosine, sine = row[0] / radius, left[k] / radius
            row[:], left[k:] = cosine * row + sine * left[k:], cosine * left[k:] - sine * row
        self._bands = _bands_of([column[: k + 1] for k, column in enumerate(upper.T)])


def _bands_of(columns: Sequence[FloatArray]) -> list[Band]:
    """The bands of a factor with these columns, each up to its diagonal."""
    bands = [Band(begin) for begin in range(0, len(columns), WIDTH)]
    for k, column in enumerate(columns):
        bands[k // WIDTH].append(column)
    return bands


def _refined(matrix: FloatArray, inverse: FloatArray, right: FloatArray) -> FloatArray:
    """The solution of matrix · x = right, by the inverse, with its residual taken care of."""
    solved = inverse @ right
    return np.asarray(solved + inverse @ (right - matrix @ solved))
