"""Noise of a history for linear estimates: a covariance, diagonal or dense, and its square root."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import cholesky, solve_triangular

from eke.arrays import FloatArray
from eke.errors import EstimateError
from eke.privacy.law import NoiseLaw


@dataclass(frozen=True, slots=True, eq=False)
class Noise:
    """Cov(e) = Σ of the noisy answers: a vector of variances, or a whole matrix."""

    covariance: FloatArray  # (m,) or (m, m)
    root: FloatArray  # (m,) deviations, or (m, m) lower Cholesky factor
    laws: tuple[NoiseLaw, ...] | None = None

    @staticmethod
    def of_laws(laws: Sequence[NoiseLaw]) -> Noise:
        """Independent noises of known laws."""
        variances = np.array([law.variance for law in laws], np.float64)
        return Noise(variances, np.sqrt(variances), tuple(laws))

    @staticmethod
    def of_covariance(covariance: ArrayLike) -> Noise:
        """Noises of which only variances (a vector) or the covariance (a matrix) are known.

        Error bars then treat them as Gaussian.
        """
        given = np.array(covariance, np.float64)
        if not np.isfinite(given).all() or given.ndim not in (1, 2):
            raise EstimateError("the noise needs a vector of variances or a covariance matrix")
        if given.ndim == 1:
            if not (given > 0).all():
                raise EstimateError("noise variances must be above zero")
            return Noise(given, np.sqrt(given))
        if given.shape[0] != given.shape[1] or not np.allclose(given, given.T):
            raise EstimateError("a covariance matrix must be square and symmetric")
        try:
            root = np.asarray(cholesky(given, lower=True))
        except np.linalg.LinAlgError as problem:
            raise EstimateError("a covariance matrix must be positive definite") from problem
        return Noise(given, root)

    @property
    def size(self) -> int:
        return len(self.covariance)

    @property
    def is_diagonal(self) -> bool:
        return self.covariance.ndim == 1

    @property
    def variances(self) -> FloatArray:
        return self.covariance if self.is_diagonal else np.diag(self.covariance)

    def whiten(self, columns: FloatArray) -> FloatArray:
        """Σ^{-1/2}·columns, with the Cholesky factor for the square root."""
        if self.is_diagonal:
            return columns / (self.root[:, None] if columns.ndim == 2 else self.root)
        return np.asarray(solve_triangular(self.root, columns, lower=True))

    def whiten_transposed(self, columns: FloatArray) -> FloatArray:
        """Σ^{-T/2}·columns: turns weights of whitened answers into weights of the answers."""
        if self.is_diagonal:
            return self.whiten(columns)
        return np.asarray(solve_triangular(self.root, columns, lower=True, trans="T"))

    def whiten_kernel(self, kernel: FloatArray) -> FloatArray:
        """Σ^{-1/2} K Σ^{-T/2}; shape (m, m)."""
        if self.is_diagonal:
            inverse = 1.0 / self.root
            result = kernel * inverse[:, None]
            result *= inverse
            return result
        return self.whiten(self.whiten(kernel).T)

    def of_rows(self, rows: NDArray[np.intp]) -> Noise:
        """The noise of some of the answers."""
        laws = None if self.laws is None else tuple(self.laws[i] for i in rows)
        if self.is_diagonal:
            return Noise(self.covariance[rows], self.root[rows], laws)
        return Noise.of_covariance(self.covariance[np.ix_(rows, rows)])

    def between(self, rows: NDArray[np.intp], others: NDArray[np.intp]) -> FloatArray | None:
        """The covariance of some answers' noise with that of others; None when it is zero."""
        return None if self.is_diagonal else self.covariance[np.ix_(rows, others)]
