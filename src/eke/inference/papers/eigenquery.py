"""Eigenqueries: the orthonormal questions that a history answers with uncorrelated errors.

HIST §3.1: with Σ^{-1/2}KΣ^{-1/2} = UΛ²Uᵀ the rows of W = Λ⁺UᵀΣ^{-1/2} write the eigenqueries
V = WQ as combinations of the measured ones; their least squares answers z = Wy have variances
1/λ². Estimates use them with the gains α²/(α² + 1/λ²) (§3.3). For inspection: `shrinkage`
computes the same numbers faster.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from eke.arrays import FloatArray
from eke.errors import EstimateError
from eke.inference.shrinkage.dense.kernel import DenseKernel
from eke.inference.shrinkage.evidence import Evidence, SeenQuestions


@dataclass(frozen=True, slots=True, eq=False)
class Eigenqueries:
    """The eigenqueries of a history, the best answered first."""

    coefficients: FloatArray  # (r, m) W: eigenqueries in terms of the measured queries
    answers: FloatArray  # (r,) z
    variances: FloatArray  # (r,) 1/λ²
    total: float | None  # the known number of records, whose direction was taken out
    deviations: FloatArray  # (m,)

    @property
    def rank(self) -> int:
        return len(self.answers)

    def gains(self, alpha: float) -> FloatArray:
        """y_i = α²/(α² + 1/λ_i²): how much each eigenquery counts; shape (r,)."""
        if math.isinf(alpha):
            return np.ones(self.rank)
        return alpha**2 / (alpha**2 + self.variances)

    def estimate(self, asked: SeenQuestions, alpha: float) -> FloatArray:
        """Σ y_i c_i z_i with c_i = ⟨q, v_i⟩ for each question (HIST Th. 3)."""
        coordinates = self.coefficients @ asked.products  # (r, questions)
        values = coordinates.T @ (self.gains(alpha) * self.answers)
        return values if self.total is None else values + self.total * asked.means


def eigenqueries(evidence: Evidence[DenseKernel], most: int | None = None) -> Eigenqueries:
    """The eigenqueries of the evidence, or the `most` best answered of them."""
    if evidence.has_free_total:
        raise EstimateError('eigenqueries need a known total, or total="ignored"')
    size = evidence.size
    whitened = evidence.noise.whiten_kernel(evidence.kernel.matrix)
    first = 0 if most is None else max(0, size - most)
    squares, vectors = eigh(whitened, subset_by_index=(first, size - 1), check_finite=False)
    nonzero = np.flatnonzero(squares > 4e-16 * size * squares[-1])[::-1]
    roots = np.sqrt(squares[nonzero])
    coefficients = evidence.noise.whiten_transposed(vectors[:, nonzero] / roots).T
    return Eigenqueries(
        coefficients,
        coefficients @ evidence.deviations,
        1.0 / squares[nonzero],
        None if isinstance(evidence.total, str) else evidence.total,
        evidence.deviations,
    )
