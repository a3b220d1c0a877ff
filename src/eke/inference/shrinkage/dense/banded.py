"""A symmetric matrix reduced once to a narrow band, so that every ridge is solved in O(m).

A = Q B Qᵀ with B banded and Q orthogonal, and (A + λI)⁻¹b = Q (B + λI)⁻¹ Qᵀb for every λ
afterwards: all that a scan over α needs (HIST §3.5 computes a whole PCA for each training set).
Eigendecompositions start with a reduction to three diagonals, half of which is matrix times vector
and waits for memory. A band of some dozens is as good here, and is reached by products of matrices
alone (Bischof, Lang and Sun 2000, their first stage).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigvals_banded, solveh_banded
from scipy.sparse import dia_array
from scipy.sparse.linalg import eigsh

from eke.arrays import FloatArray
from eke.errors import EstimateError

_WIDEST = 48  # more diagonals are reduced to no faster, and take longer to solve
_NARROWEST = 8
_ROWS = 256  # of the lower triangle worked on at a time, which fit the cache
_FEW = 64  # rows up to which eigenvalues are simply computed


@dataclass(frozen=True, slots=True, eq=False)
class Bands:
    """The banded matrix B: row d holds the diagonal d below the main one, padded at its end."""

    diagonals: FloatArray  # (width + 1, m)

    def solve(self, ridge: float, columns: FloatArray) -> FloatArray:
        """(B + ridge·I)⁻¹·columns."""
        ridged = self.diagonals.copy()
        ridged[0] += ridge
        try:
            return np.asarray(
                solveh_banded(ridged, columns, overwrite_ab=True, lower=True, check_finite=False)
            )
        except np.linalg.LinAlgError as problem:
            raise EstimateError(
                "alpha is too large for the precision of this history; use math.inf"
            ) from problem

    def largest_eigenvalue(self) -> float:
        """Accurate to a thousandth, which is plenty for the ends of a grid."""
        size = self.diagonals.shape[1]
        if not self.diagonals.any():
            return 0.0
        if size <= _FEW:
            return float(eigvals_banded(self.diagonals, lower=True)[-1])
        places = -np.arange(len(self.diagonals))
        below = dia_array((self.diagonals[1:], places[1:]), shape=(size, size))
        whole = below + below.T + dia_array((self.diagonals[:1], places[:1]), shape=(size, size))
        # A fixed start makes the grid the same for everyone; this one favours no direction.
        start = np.cos(np.arange(size, dtype=np.float64) ** 2)
        return float(eigsh(whole.tocsr(), 1, v0=start, tol=1e-3, return_eigenvectors=False)[0])


@dataclass(frozen=True, slots=True, eq=False)
class Reflections:
    """I − V T Vᵀ, acting on the rows from `first` on."""

    first: int
    vectors: FloatArray  # (rows, width) V
    triangle: FloatArray  # (width, width) T


@dataclass(frozen=True, slots=True, eq=False)
class Rotation:
    """The orthogonal matrix Q as a product of blocks of reflections."""

    blocks: tuple[Reflections, ...]

    def into(self, columns: FloatArray) -> FloatArray:
        """Qᵀ·columns; shape (m, columns)."""
        result = np.array(columns, np.float64)
        for block in self.blocks:
            rows = result[block.first :]
            rows -= block.vectors @ (block.triangle.T @ (block.vectors.T @ rows))
        return result

    def back(self, columns: FloatArray) -> FloatArray:
        """Q·columns; shape (m, columns)."""
        result = np.array(columns, np.float64)
        for block in reversed(self.blocks):
            rows = result[block.first :]
            rows -= block.vectors @ (block.triangle @ (block.vectors.T @ rows))
        return result


def reduce_to_band(matrix: FloatArray) -> tuple[Bands, Rotation]:
    """(B, Q) with Q B Qᵀ the symmetric matrix, which is overwritten."""
    size = len(matrix)
    # The reduction of a small matrix takes less time than the many solves afterwards.
    width = min(_WIDEST, max(_NARROWEST, size // 80))
    blocks = []
    for start in range(0, size - width - 1, width):
        first = start + width
        block, triangle = _reflections(matrix[first:, start:first], first)
        blocks.append(block)
        matrix[first:, start:first] = 0.0
        matrix[first : first + width, start:first] = triangle[: size - first]
        _apply_to_both_sides(matrix[first:, first:], block)
    diagonals = np.zeros((min(width, size - 1) + 1, size))
    for offset, diagonal in enumerate(diagonals):
        diagonal[: size - offset] = np.diagonal(matrix, -offset)
    return Bands(diagonals), Rotation(tuple(blocks))


def _reflections(panel: FloatArray, first: int) -> tuple[Reflections, FloatArray]:
    """Reflections that leave only an upper triangle of some columns, and that triangle."""
    rows, width = panel.shape
    # NumPy's LAPACK, not SciPy's: two libraries with threads of their own wait for each other.
    transposed, tau = np.linalg.qr(panel, mode="raw")
    factored = transposed.T
    triangle = np.triu(factored[:width])
    used = min(rows, width)
    vectors = np.tril(factored[:, :used], -1)
    np.fill_diagonal(vectors, 1.0)
    vectors[:, tau == 0.0] = 0.0  # such a reflection is none
    # (T⁻¹)_ij = v_i·v_j above the diagonal, 1/τ_i on it (Puglisi 1992).
    inverse = np.triu(vectors.T @ vectors, 1)
    np.fill_diagonal(inverse, 1.0 / np.where(tau == 0.0, 1.0, tau))
    return Reflections(first, vectors, np.linalg.inv(inverse)), triangle


def _apply_to_both_sides(matrix: FloatArray, block: Reflections) -> None:
    """(I − V T Vᵀ)ᵀ A (I − V T Vᵀ) in place, of which only the lower triangle is read or written.

    With X = A V T and Y = X − ½ V Tᵀ VᵀX it is A − Y Vᵀ − V Yᵀ.
    """
    vectors = block.vectors
    product = np.zeros_like(vectors)
    for here, whole, before in _strips(len(matrix)):
        strip = matrix[here, whole]
        product[here] += _symmetric_end(strip) @ vectors[whole]
        product[before] += matrix[here, before].T @ vectors[here]
    product = product @ block.triangle
    moved = product - 0.5 * (vectors @ (block.triangle.T @ (vectors.T @ product)))
    left = np.concatenate([moved, vectors], axis=1)
    right = np.concatenate([vectors, moved], axis=1)
    for here, whole, _ in _strips(len(matrix)):
        matrix[here, whole] -= left[here] @ right[whole].T


def _symmetric_end(strip: FloatArray) -> FloatArray:
    """Rows of a lower triangle with their last square, which lies on the diagonal, completed."""
    rows, columns = strip.shape
    square = strip[:, columns - rows :]
    square[...] = np.tril(square) + np.tril(square, -1).T
    return strip


def _strips(size: int) -> Iterator[tuple[slice, slice, slice]]:
    """(rows, columns up to the diagonal, columns before it) for each strip of a lower triangle."""
    for start in range(0, size, _ROWS):
        end = min(start + _ROWS, size)
        yield slice(start, end), slice(0, end), slice(0, start)
