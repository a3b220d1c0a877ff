"""A symmetric matrix reduced once to three diagonals, so that every ridge is solved in O(m).

A = Q T Qᵀ with T tridiagonal (Householder, LAPACK `sytrd`) costs a fraction of an
eigendecomposition, and (A + λI)⁻¹b = Q (T + λI)⁻¹ Qᵀb for every λ afterwards. That is all that a
scan over α needs (HIST §3.5 computes a whole PCA for each training set).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigvalsh_tridiagonal, lapack, solveh_banded

from eke.errors import EstimateError

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Bands:
    """The tridiagonal matrix T."""

    diagonal: FloatArray  # (m,)
    above: FloatArray  # (m - 1,)

    def solve(self, ridge: float, columns: FloatArray) -> FloatArray:
        """(T + ridge·I)⁻¹·columns."""
        if len(self.diagonal) == 1:
            return np.asarray(columns / (self.diagonal[0] + ridge))
        both = np.zeros((2, len(self.diagonal)))
        both[0] = self.diagonal + ridge
        both[1, :-1] = self.above
        try:
            return np.asarray(solveh_banded(both, columns, lower=True, check_finite=False))
        except np.linalg.LinAlgError as problem:
            raise EstimateError(
                "alpha is too large for the precision of this history; use math.inf"
            ) from problem

    def largest_eigenvalue(self) -> float:
        last = len(self.diagonal) - 1
        if last == 0:
            return float(self.diagonal[0])
        found = eigvalsh_tridiagonal(
            self.diagonal, self.above, select="i", select_range=(last, last)
        )
        return float(found[0])


@dataclass(frozen=True, slots=True, eq=False)
class Rotation:
    """The orthogonal matrix Q as a product of reflections."""

    reflectors: FloatArray  # (m - 1, m - 1), column-major
    tau: FloatArray  # (m - 1,)

    def into(self, columns: FloatArray) -> FloatArray:
        """Qᵀ·columns; shape (m, columns)."""
        return self._applied(columns, "T")

    def back(self, columns: FloatArray) -> FloatArray:
        """Q·columns; shape (m, columns)."""
        return self._applied(columns, "N")

    def _applied(self, columns: FloatArray, transposed: str) -> FloatArray:
        result = np.array(columns, np.float64, order="F")
        if len(result) < 2 or not result.size:
            return result
        work = 64 * result.shape[1]
        product, _, status = lapack.dormqr(
            "L", transposed, self.reflectors, self.tau, np.asfortranarray(result[1:]), work
        )
        if status != 0:
            raise EstimateError("the kernel could not be applied; are all numbers finite?")
        result[1:] = product
        return result


def tridiagonalise(matrix: FloatArray) -> tuple[Bands, Rotation]:
    """(T, Q) with Q T Qᵀ the symmetric matrix, which may be overwritten."""
    size = len(matrix)
    if size < 2:
        return Bands(matrix.reshape(-1).copy(), np.empty(0)), Rotation(
            np.empty((0, 0)), np.empty(0)
        )
    work = int(lapack.dsytrd_lwork(size, lower=1)[0])
    # A symmetric matrix is its own transpose: in C order it is already what LAPACK wants.
    given = matrix.T if matrix.flags.c_contiguous else matrix
    reduced, diagonal, above, tau, status = lapack.dsytrd(given, lower=1, lwork=work, overwrite_a=1)
    if status != 0:
        raise EstimateError("the kernel could not be reduced; are all numbers finite?")
    return Bands(diagonal, above), Rotation(np.asfortranarray(reduced[1:, :-1]), tau)
