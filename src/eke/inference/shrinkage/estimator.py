"""Shrinkage: an estimate of any query from all noisy answers (HIST §3.3, Th. 3).

θ̂ = kᵀ(K + Σ/α²)⁻¹y minimises α²‖q − q′‖² + Var(q′x̂) over the questions q′ that history
determines. α = ∞ is the best linear unbiased estimate, α = 0 the prior. Under a prior with variance
α²·p0 it is also the posterior mean, whose error is a Gaussian of variance α²‖q − wH‖² (what
history leaves open) plus the noise Σ w_i·e_i, whose law is known exactly. Both are said of the
weights w as they are: had a solver stopped early, an interval would be wider, never wrong.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from eke.arrays import FloatArray
from eke.errors import EstimateError
from eke.inference.features import HistoryFeatures
from eke.inference.posterior import ExactPosterior, Posterior
from eke.inference.progress import Progress, silent
from eke.inference.shrinkage.evidence import SeenQuestions
from eke.inference.shrinkage.interactions import Interactions
from eke.inference.shrinkage.solver import TOLERANCE, Convergence, Solver
from eke.query import Block, Query

_ROUNDING = 1e-14  # of a question's own prior variance: less cannot be told in double precision
_OUTSIDE = 1e-6  # relative squared distance from the span that rounding does not explain
_COLUMNS = 64

B = TypeVar("B", bound=Block)


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
    """The estimator at one α.

    Error bars of single questions allow for what is open as `interactions` say, and keep within
    what measured tables allow. Without these, and where nothing but noise is open, they are those
    of α, widened by `inflation`.
    """

    def __init__(
        self,
        solver: Solver,
        alpha: float,
        *,
        inflation: float = 1.0,
        interactions: Interactions | None = None,
    ) -> None:
        if not 0.0 < inflation < math.inf:
            raise EstimateError("inflation must be a finite number above 0")
        self._system = solver.at(alpha)
        self.evidence = self._system.evidence
        self.alpha = float(alpha)
        self.inflation = float(inflation)
        self.interactions = interactions

    @property
    def convergence(self) -> Convergence | None:
        """How solving went so far, over all questions; None where it takes no steps."""
        return self._system.convergence

    def estimate(self, questions: Sequence[Block] | HistoryFeatures) -> Estimates:
        """The estimates of questions, without their constants; weights are the evidence's rows'."""
        if isinstance(questions, HistoryFeatures):
            return self.estimate_asked(self.evidence.asked(questions))
        estimates = [self._together(some) for some in _chunks(questions)]
        return Estimates(
            np.concatenate([one.values for one in estimates]),
            np.concatenate([one.weights for one in estimates], axis=1),
            np.concatenate([one.noise_variances for one in estimates]),
            np.concatenate([one.model_variances for one in estimates]),
        )

    def posterior(self, query: Query) -> Posterior:
        """The belief about one question, its constant included."""
        return next(self.posteriors([query]))

    def posteriors(
        self, queries: Sequence[Query], progress: Progress = silent
    ) -> Iterator[Posterior]:
        """The beliefs about several questions, solved together."""
        done = 0
        progress("estimating", 0.0)
        for some in _chunks(queries):
            estimates = self._together(some)
            done += len(some)
            progress("estimating", done / max(len(queries), 1))
            for place, query in enumerate(some):
                model_variance = float(estimates.model_variances[place])
                if not math.isfinite(model_variance):
                    raise EstimateError(
                        "history does not determine this question, so its unbiased estimate has no "
                        'error bars; use a finite alpha (method="shrinkage")'
                    )
                value = float(estimates.values[place]) + float(query.constant)
                yield self._believed(query, value, estimates.weights[:, place], model_variance)

    def estimate_asked(self, asked: SeenQuestions) -> Estimates:
        """The estimates of questions whose inner products are known."""
        evidence, squares = self.evidence, asked.squares

        def allowed(explained: FloatArray) -> FloatArray:
            return np.maximum(TOLERANCE**2 * (squares - explained), _ROUNDING * squares)

        weights = self._system.weights(asked.products, asked.means, allowed)
        values = weights.T @ evidence.deviations
        if not isinstance(evidence.total, str):
            values = values + evidence.total * asked.means
        images = evidence.kernel.times(weights)
        apart = squares - np.einsum("ij,ij->j", weights, 2.0 * asked.products - images)
        if math.isinf(self.alpha):
            outside = apart > _OUTSIDE * np.maximum(squares, 1e-300)
            left_open = np.where(outside, math.inf, 0.0)
        else:
            left_open = self.alpha**2 * np.maximum(apart, 0.0)
        noise_variances = evidence.noise.variances_of(weights)
        return Estimates(values, weights, noise_variances, self.inflation * left_open)

    def _believed(
        self, query: Query, value: float, weights: FloatArray, stated: float
    ) -> Posterior:
        """The belief with these weights; `stated` is the variance that α says is left open."""
        seen, noise = self.interactions, self.evidence.noise
        parts = None
        if seen is not None and 0.0 < self.alpha < math.inf:
            parts = seen.left_open(query)
        if seen is None or parts is None:
            return ExactPosterior(value, noise.law_of(weights, stated))
        norm = stated / (self.inflation * self.alpha**2)
        left_open = norm * parts.variance + parts.margin_noise
        belief = ExactPosterior(value, noise.law_of(weights, left_open))
        return seen.bounds.around(query, belief)

    def _together(self, blocks: Sequence[Block]) -> Estimates:
        domain = self.evidence.kernel.prior.domain
        return self.estimate_asked(self.evidence.asked(HistoryFeatures.of(domain, blocks)))


def _chunks(blocks: Sequence[B]) -> Iterator[Sequence[B]]:
    for start in range(0, max(len(blocks), 1), _COLUMNS):
        yield blocks[start : start + _COLUMNS]
