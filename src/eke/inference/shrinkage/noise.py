"""Noise of a history for linear estimates: its covariance, and the law of what was really drawn."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import cholesky, solve_triangular

from eke.arrays import FloatArray
from eke.errors import EstimateError
from eke.inference.posterior import ComposedNoise
from eke.privacy.law import NoiseLaw

_USED = 1e-13  # of the largest part: smaller ones do not change an interval

Drawn: TypeAlias = tuple[NoiseLaw, range, float]
"""Noises of one law, the rows of the evidence they are in, and their share in those."""


@dataclass(frozen=True, slots=True, eq=False)
class Noise:
    """Cov(e) = Σ of the noisy answers: a vector of variances, or a whole matrix."""

    covariance: FloatArray  # (m,) or (m, m)
    root: FloatArray  # (m,) deviations, or (m, m) lower Cholesky factor
    drawn_rows: NDArray[np.intp] | None = None  # (draws,) None: the laws are not known
    # (draws, 3) Laplace scale, Gaussian variance and grid step of each, as it counts in its row
    drawn_laws: FloatArray = field(default_factory=lambda: np.empty((0, 3)))

    @staticmethod
    def of_laws(laws: Sequence[NoiseLaw]) -> Noise:
        """Independent noises of known laws, one for each row."""
        return Noise.of_draws((law, range(row, row + 1), 1.0) for row, law in enumerate(laws))

    @staticmethod
    def of_draws(drawn: Iterable[Drawn]) -> Noise:
        """Independent noises of known laws, of which a row may hold several."""
        parts = list(drawn)
        numbers = [
            (
                share * law.laplace_scale,
                share**2 * law.gaussian_variance,
                share * law.step,
                share**2 * law.variance,
            )
            for law, _, share in parts
        ]
        sizes = [len(rows) for _, rows, _ in parts]
        each = np.array(numbers, np.float64).reshape(-1, 4).repeat(sizes, axis=0)
        places = np.fromiter(chain.from_iterable(rows for _, rows, _ in parts), np.intp, len(each))
        variances = np.bincount(places, each[:, 3]).astype(np.float64)
        return Noise(variances, np.sqrt(variances), places, each[:, :3])

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

    def variances_of(self, weights: FloatArray) -> FloatArray:
        """The variance of Σ weight·e for each column of weights; (columns,)."""
        if self.is_diagonal:
            return (weights**2).T @ self.covariance
        return np.asarray(np.einsum("ij,ij->j", weights, self.covariance @ weights))

    def law_of(self, weights: FloatArray, more_variance: float = 0.0) -> ComposedNoise:
        """The law of Σ weight·e, with every noise that was drawn in it, and a Gaussian part."""
        if self.drawn_rows is None:
            variance = float(self.variances_of(weights[:, None])[0])
            return ComposedNoise(np.empty(0), variance + more_variance)
        sizes = np.abs(weights[self.drawn_rows])
        sizes[sizes <= _USED * sizes.max(initial=0.0)] = 0.0
        laplace_scales, gaussian_variances, steps = self.drawn_laws.T
        gaussian = float(sizes**2 @ gaussian_variances)
        slack = 0.5 * float(sizes @ steps)
        return ComposedNoise(sizes * laplace_scales, gaussian + more_variance, slack)

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
        """The noise of some of the answers, without its laws."""
        if self.is_diagonal:
            return Noise(self.covariance[rows], self.root[rows])
        return Noise.of_covariance(self.covariance[np.ix_(rows, rows)])

    def between(self, rows: NDArray[np.intp], others: NDArray[np.intp]) -> FloatArray | None:
        """The covariance of some answers' noise with that of others; None when it is zero."""
        return None if self.is_diagonal else self.covariance[np.ix_(rows, others)]
