"""Shrinkage: an estimate of any query from all noisy answers (HIST §3.3, Th. 3).

θ̂ = kᵀ(K + Σ/α²)⁻¹y minimises α²‖q − q′‖² + Var(q′x̂) over the questions q′ that history
determines. α = ∞ is the best linear unbiased estimate, α = 0 the prior. Under a prior with variance
α²·p0 it is also the posterior mean, whose error is a Gaussian of variance α²‖q − wH‖² (what
history leaves open) plus the noise Σ w_i·e_i, whose law is known exactly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh

from eke.arrays import FloatArray
from eke.errors import EstimateError
from eke.inference.features import HistoryFeatures
from eke.inference.posterior import ComposedNoise, ExactPosterior
from eke.inference.regression import LinearEstimate
from eke.inference.shrinkage.evidence import Evidence, SeenQuestions
from eke.inference.state import noise_of
from eke.query import Block, Query

_ROUNDING = 4 * np.finfo(np.float64).eps
_OUTSIDE = 1e-6  # relative squared distance from the span that rounding does not explain


@dataclass(frozen=True, slots=True, eq=False)
class Estimates:
    """Estimates of several questions: what history says, and how far each may be off."""

    values: FloatArray  # (questions,)
    weights: FloatArray  # (m, questions): θ̂ = weightsᵀ·y + shifts
    noise_variances: FloatArray  # (questions,) of Σ w_i·e_i
    model_variances: FloatArray  # (questions,) of what history leaves open; inf when α = ∞

    @property
    def variances(self) -> FloatArray:
        return self.noise_variances + self.model_variances


class Shrinkage:
    """The estimator at one α; `inflation` widens error bars where cross-validation says so."""

    def __init__(self, evidence: Evidence, alpha: float, *, inflation: float = 1.0) -> None:
        if not alpha >= 0.0:
            raise EstimateError("alpha must be at least 0; math.inf is the unbiased estimate")
        if not 0.0 < inflation < math.inf:
            raise EstimateError("inflation must be a finite number above 0")
        if math.isinf(alpha) and evidence.has_free_total:
            # Unbiased for every n: the total is one more direction of the span, like any other.
            whole = evidence.kernel + np.multiply.outer(evidence.means, evidence.means)
            evidence = replace(evidence, total="ignored", kernel=whole)
        self.evidence = evidence
        self.alpha = float(alpha)
        self.inflation = float(inflation)
        self._means = evidence.noise.whiten(evidence.means)
        self._solver = _solver(evidence, self.alpha)
        self._by_mean = self._solver.solve(self._means)  # C⁻¹u
        self._mean_information = float(self._means @ self._by_mean)
        if evidence.has_free_total and not self._mean_information > 0.0:
            raise EstimateError(
                "history says nothing about the number of records; measure a count first"
            )

    def estimate(self, questions: Sequence[Block] | HistoryFeatures) -> Estimates:
        """The estimates of questions, without their constants."""
        domain = self.evidence.features.domain
        asked = (
            questions
            if isinstance(questions, HistoryFeatures)
            else HistoryFeatures.of(domain, questions)
        )
        return self.estimate_asked(self.evidence.asked(asked))

    def posterior(self, query: Query) -> ExactPosterior:
        """The belief about one question, its constant included."""
        found = self.estimate([query])
        model_variance = float(found.model_variances[0])
        if not math.isfinite(model_variance):
            raise EstimateError(
                "history does not determine this question, so its unbiased estimate has no error "
                'bars; use a finite alpha (method="shrinkage")'
            )
        value = float(found.values[0]) + float(query.constant)
        return ExactPosterior(value, self._noise(found, model_variance))

    def estimate_asked(self, asked: SeenQuestions) -> Estimates:
        """The estimates of questions whose inner products are known."""
        evidence = self.evidence
        products = evidence.noise.whiten(asked.products)
        solved = self._solver.solve(products)  # (m, questions), of whitened answers
        explained = np.einsum("ij,ij->j", solved, products)
        if evidence.has_free_total:
            gain = (asked.means - self._means @ solved) / self._mean_information
            solved = solved + np.multiply.outer(self._by_mean, gain)
            explained = np.einsum("ij,ij->j", solved, products) - gain * (self._means @ solved)
        weights = evidence.noise.whiten_transposed(solved)
        values = weights.T @ evidence.deviations
        if not isinstance(evidence.total, str):
            values = values + evidence.total * asked.means
        noise_variances = np.einsum("ij,ij->j", solved, solved)
        left_open = self._left_open(asked, explained, noise_variances)
        return Estimates(values, weights, noise_variances, self.inflation * left_open)

    def _left_open(
        self, asked: SeenQuestions, explained: FloatArray, noise_variances: FloatArray
    ) -> FloatArray:
        if self.alpha == 0.0:
            return np.zeros(len(explained))
        if math.isinf(self.alpha):
            outside = asked.squares - explained > _OUTSIDE * np.maximum(asked.squares, 1e-300)
            return np.where(outside, math.inf, 0.0)
        whole = self.alpha**2 * (asked.squares - explained)
        return np.maximum(whole - noise_variances, 0.0)

    def _noise(self, found: Estimates, model_variance: float) -> ComposedNoise:
        laws = self.evidence.noise.laws
        if laws is None:
            return ComposedNoise(np.empty(0), float(found.noise_variances[0]) + model_variance)
        weights = found.weights[:, 0]
        used = np.flatnonzero(np.abs(weights) > 1e-13 * np.abs(weights).max(initial=0.0))
        noise = noise_of(LinearEstimate(float(found.values[0]), used, weights[used]), laws)
        return replace(noise, gaussian_variance=noise.gaussian_variance + model_variance)


@dataclass(frozen=True, slots=True, eq=False)
class _Ridge:
    """(A + λI)⁻¹ by a Cholesky factor, for the whitened kernel A and λ = 1/α²."""

    factor: FloatArray

    def solve(self, columns: FloatArray) -> FloatArray:
        return np.asarray(cho_solve((self.factor, True), columns, check_finite=False))


@dataclass(frozen=True, slots=True, eq=False)
class _Spectral:
    """Σ_i u_i g_i u_iᵀ for gains g of eigenvalues: the pseudo-inverse when α = ∞."""

    vectors: FloatArray  # (m, r)
    gains: FloatArray  # (r,)

    def solve(self, columns: FloatArray) -> FloatArray:
        inside = self.vectors.T @ columns
        return self.vectors @ (inside * (self.gains[:, None] if inside.ndim == 2 else self.gains))


@dataclass(frozen=True, slots=True)
class _Nothing:
    """The limit λ → ∞, up to the factor 1/λ that cancels everywhere: only the prior counts."""

    has_free_total: bool

    def solve(self, columns: FloatArray) -> FloatArray:
        # C⁻¹u is needed up to its length only; for the questions it vanishes.
        return columns.copy() if columns.ndim == 1 and self.has_free_total else 0.0 * columns


def _solver(evidence: Evidence, alpha: float) -> _Ridge | _Spectral | _Nothing:
    if alpha == 0.0:
        return _Nothing(evidence.has_free_total)
    whitened = evidence.noise.whiten_kernel(evidence.kernel)
    ridge = 0.0 if math.isinf(alpha) else 1.0 / alpha**2
    rounding = _ROUNDING * len(whitened) * float(np.abs(whitened).sum(axis=1).max())
    if ridge > rounding:
        whitened.flat[:: len(whitened) + 1] += ridge
        factor, _ = cho_factor(whitened, lower=True, overwrite_a=True, check_finite=False)
        return _Ridge(factor)
    eigenvalues, vectors = eigh(whitened, overwrite_a=True, check_finite=False)
    kept = eigenvalues > rounding
    return _Spectral(vectors[:, kept], 1.0 / (eigenvalues[kept] + ridge))
