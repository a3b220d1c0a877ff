"""A lower bound of the loss with which all questions of a trace can be answered.

Let Q be the matrix of the questions and Σ the covariance of the errors of unbiased answers. A
record more in cell t moves the expected answers by column q_t. Chapman and Robbins:
q_tᵀ Σ⁻¹ q_t ≤ χ², the χ²-divergence between the laws of the answers with and without the record,
and that is at most e^ε + e^-ε - 2 under pure ε, at most e^{2ρ} - 1 under zCDP. If every variance
is at most n_q, then for any weights λ (over questions) and p (over cells) that add up to one,

    ‖ diag(λ/n)^½ · Q · diag(p)^½ ‖_*  ≤  χ        (the nuclear norm; its maximum is γ₂),

since for X = Qᵀ Σ⁻¹ Q the sum Σ p_t X_tt ≤ χ² and Σ λ_q (Q X⁺ Qᵀ)_qq / n_q ≤ 1, and
tr(X⁺G)·tr(DX) ≥ (tr (D^½ G D^½)^½)². With Gaussian noise the best maximum is attained: there the
bound is the least loss of any linear mechanism. λ and p are found by a fixed point; any will do.

An interval does not fix a variance. n_q is the larger of what Gaussian and Laplace noise may have.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from benchmarks.lab.questions import Questions
from eke.privacy.measure import Measure
from eke.privacy.pure import PURE

_ROUNDS = 10
_AT_ONCE = 4096


def factorisation_bound(questions: Questions, rounds: int = _ROUNDS) -> float:
    """A lower bound of χ; see above."""
    allowed = np.maximum(questions.gaussian, questions.laplace)
    scaled = questions.coefficients / np.sqrt(allowed)[:, None].astype(np.float32)
    rows, cells = scaled.shape
    weights, places = np.full(rows, 1.0 / rows), np.full(cells, 1.0 / cells)
    best = 0.0
    for _ in range(rounds):
        left, right = (np.sqrt(x).astype(np.float32) for x in (weights, places))
        matrix = scaled * left[:, None] * right
        small = matrix if rows <= cells else matrix.T
        values, vectors = np.linalg.eigh(_gram(small))
        roots = np.sqrt(np.maximum(values, 0.0))
        best = max(best, float(roots.sum()))
        short = (vectors**2) @ roots
        kept = roots > 1e-6 * roots.max()
        turned = (vectors[:, kept] / np.sqrt(roots[kept])).astype(np.float32).T @ small
        long = np.asarray((turned**2).sum(axis=0), np.float64)
        weights, places = (short, long) if rows <= cells else (long, short)
        weights, places = weights / weights.sum(), places / places.sum()
    return best


def _gram(matrix: NDArray[np.float32]) -> NDArray[np.float64]:
    """M·Mᵀ in double precision: roots of eigenvalues are sensitive to rounding."""
    total = np.zeros((len(matrix), len(matrix)))
    for start in range(0, matrix.shape[1], _AT_ONCE):
        part = matrix[:, start : start + _AT_ONCE].astype(np.float64)
        total += part @ part.T
    return total


def least_loss(divergence_root: float, measure: Measure) -> float:
    """The loss below which χ cannot be reached."""
    if measure == PURE:
        return 2.0 * math.asinh(divergence_root / 2.0)
    return 0.5 * math.log1p(divergence_root**2)
