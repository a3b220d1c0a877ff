"""Shrinkage for large histories: the estimates of `shrinkage/estimator.py` by conjugate gradients.

With C = K + Σ/α² for a known number of records n, weights C⁻¹k are corrected by a multiple of C⁻¹u
so that the estimate is right for every n (u holds the answers on one record of the prior).
Whatever weights come out are those of a linear estimate whose error is known exactly: noise with a
known law, and α²‖q − wH‖² for what history leaves open. So unfinished weights would make an
interval wider, never wrong.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from eke.arrays import FloatArray
from eke.errors import EstimateError
from eke.inference.features import HistoryFeatures, norms
from eke.inference.posterior import ExactPosterior
from eke.inference.progress import Progress, silent
from eke.inference.shrinkage.estimator import Estimates
from eke.inference.shrinkage.large.conjugate_gradients import (
    MOST_STEPS,
    NOTHING_SOLVED,
    Convergence,
    solve,
)
from eke.inference.shrinkage.large.evidence import LargeEvidence
from eke.inference.shrinkage.large.preconditioner import Parts
from eke.query import Query

TOLERANCE = 1e-4
"""How far from the best one an estimate may be, in units of its own standard error."""
_ROUNDING = 1e-14  # of a question's own prior variance: less cannot be told in double precision
_COLUMNS = 64


class Ridge:
    """C⁻¹ at one α, by conjugate gradients, with C⁻¹u and C⁻¹y at hand."""

    def __init__(
        self,
        evidence: LargeEvidence,
        parts: Parts,
        alpha: float,
        *,
        most_steps: int = MOST_STEPS,
    ) -> None:
        if not 0.0 < alpha < math.inf:
            raise EstimateError(
                "alpha must be a finite number above 0 for a history this large; "
                'for the unbiased estimate use method="blue"'
            )
        self.evidence = evidence
        self.alpha = float(alpha)
        self.convergence = NOTHING_SOLVED
        self._most_steps = most_steps
        self._ridges = evidence.variances / alpha**2
        self._precondition = parts.at(self._ridges).times
        # n counts as known, as unknown with the variance α² of HIST's bare formulas, or as unknown.
        self._slack = {"estimated": 0.0, "ignored": 1.0}.get(str(evidence.total), math.inf)
        self.by_mean: FloatArray = np.zeros(evidence.size)
        self.mean_information = math.inf
        if math.isfinite(self._slack):
            unit = self.solve(evidence.means[:, None], relative=TOLERANCE**2)
            self.by_mean = unit[:, 0]
            self.mean_information = self._slack + float(evidence.means @ self.by_mean)
            if not self.mean_information > 0.0:
                raise EstimateError(
                    "history says nothing about the number of records; measure a count first"
                )

    def times(self, columns: FloatArray) -> FloatArray:
        """C·columns."""
        product = self.evidence.kernel.times(columns)
        product += self._ridges[:, None] * columns
        return product

    def solve(
        self,
        columns: FloatArray,
        *,
        relative: float = 0.0,
        own_squares: FloatArray | None = None,
        absolute: float = 0.0,
    ) -> FloatArray:
        """C⁻¹·columns; errors may be as large as `absolute`, or this part of bᵀC⁻¹b.

        Columns that are products with questions q come with ⟨q, q⟩: then the error may be
        TOLERANCE² of what the answers leave open of q.
        """

        def allowed(explained: FloatArray) -> FloatArray:
            if own_squares is None:
                return absolute + relative * explained
            left = TOLERANCE**2 * (own_squares - explained)
            return np.maximum(left, _ROUNDING * own_squares)

        found, report = solve(
            self.times,
            self._precondition,
            columns,
            allowed,
            least_eigenvalue=float(self._ridges.min()),
            most_steps=self._most_steps,
        )
        self.convergence = Convergence.together(self.convergence, report)
        return found

    def corrected(self, solved: FloatArray, means: FloatArray) -> FloatArray:
        """Weights C⁻¹k made right for every n; `means` are the questions' answers on p0."""
        if math.isinf(self._slack):
            return solved
        gain = (means - self.evidence.means @ solved) / self.mean_information
        return solved + np.multiply.outer(self.by_mean, gain)

    def projected(self, solved: FloatArray) -> FloatArray:
        """P·b for C⁻¹·b: what depends on an unknown n is taken out."""
        if math.isinf(self._slack):
            return solved
        along = (self.evidence.means @ solved) / self.mean_information
        return solved - np.multiply.outer(self.by_mean, along)

    def missed(self, weights: FloatArray, means: FloatArray) -> FloatArray:
        """What an unknown n of prior variance α² adds to the error, in units of α²."""
        if self._slack != 1.0:
            return np.zeros(len(means))
        return np.asarray((means - self.evidence.means @ weights) ** 2)


@dataclass(frozen=True, slots=True, eq=False)
class _Chunk:
    """Some questions and their estimates."""

    queries: Sequence[Query]
    estimates: Estimates


class LargeShrinkage:
    """The estimator at one finite α, for histories whose kernel would not fit in memory."""

    def __init__(
        self,
        evidence: LargeEvidence,
        alpha: float,
        *,
        inflation: float = 1.0,
        parts: Parts | None = None,
        most_steps: int = MOST_STEPS,
    ) -> None:
        if not 0.0 < inflation < math.inf:
            raise EstimateError("inflation must be a finite number above 0")
        self.evidence = evidence
        self.alpha = float(alpha)
        self.inflation = float(inflation)
        prepared = Parts(evidence.kernel) if parts is None else parts
        self._ridge = Ridge(evidence, prepared, self.alpha, most_steps=most_steps)

    @property
    def convergence(self) -> Convergence:
        """How solving went so far, over all questions."""
        return self._ridge.convergence

    def estimate(self, queries: Sequence[Query]) -> Estimates:
        """The estimates of questions, without their constants; weights are the evidence's rows'."""
        chunks = [chunk.estimates for chunk in self._chunks(queries)]
        return Estimates(
            np.concatenate([one.values for one in chunks]),
            np.concatenate([one.weights for one in chunks], axis=1),
            np.concatenate([one.noise_variances for one in chunks]),
            np.concatenate([one.model_variances for one in chunks]),
        )

    def posterior(self, query: Query) -> ExactPosterior:
        """The belief about one question, its constant included."""
        return next(self.posteriors([query]))

    def posteriors(
        self, queries: Sequence[Query], progress: Progress = silent
    ) -> Iterator[ExactPosterior]:
        """The beliefs about several questions, solved together."""
        done = 0
        progress("estimating", 0.0)
        for chunk in self._chunks(queries):
            found = chunk.estimates
            done += len(chunk.queries)
            progress("estimating", done / len(queries))
            for place, query in enumerate(chunk.queries):
                noise = self.evidence.noise(
                    found.weights[:, place], float(found.model_variances[place])
                )
                yield ExactPosterior(float(found.values[place]) + float(query.constant), noise)

    def _chunks(self, queries: Sequence[Query]) -> Iterator[_Chunk]:
        for start in range(0, len(queries), _COLUMNS):
            some = queries[start : start + _COLUMNS]
            yield _Chunk(some, self._solved(some))

    def _solved(self, queries: Sequence[Query]) -> Estimates:
        evidence, ridge = self.evidence, self._ridge
        kernel, prior = evidence.kernel, evidence.kernel.prior
        questions = HistoryFeatures.of(prior.domain, queries)
        means = questions.means(prior)
        whole = norms(questions, prior)
        squares = np.maximum(whole - means**2, 0.0)
        products = kernel.products(questions)
        # The number of records itself, and multiples of it: what rounding leaves is no question.
        constant = squares <= _ROUNDING * whole
        squares[constant], products[:, constant] = 0.0, 0.0
        solved = ridge.solve(products, own_squares=squares)
        weights = ridge.corrected(solved, means)
        values = weights.T @ evidence.deviations
        if not isinstance(evidence.total, str):
            values = values + evidence.total * means
        images = kernel.times(weights)
        apart = squares - np.einsum("ij,ij->j", weights, 2.0 * products - images)
        apart = np.maximum(apart, 0.0) + ridge.missed(weights, means)
        noise_variances = (weights**2).T @ evidence.variances
        return Estimates(values, weights, noise_variances, self.inflation * self.alpha**2 * apart)
