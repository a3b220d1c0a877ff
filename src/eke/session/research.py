"""Estimates from plain arrays whose noise may be correlated: HIST's setting, on a flat domain.

Answers of a matrix mechanism made elsewhere have correlated noise of a known covariance Σ. Least
squares and shrinkage take Σ as it is; maximum entropy takes the answers L⁻¹y with Σ = LLᵀ, whose
noise is independent, and which say the same.

Privacy: all of it is post-processing of what is given.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eke.arrays import FloatArray
from eke.domain import Domain
from eke.errors import EstimateError
from eke.history import Measurement
from eke.inference.features import HistoryFeatures
from eke.inference.max_entropy import choose_entropy_alpha, constraints_of, fit_max_entropy
from eke.inference.posterior import Posterior
from eke.inference.shrinkage import Evidence, Factorisation, Noise, Shrinkage, choose_alpha
from eke.privacy.law import Gaussian
from eke.query import Query, count, table
from eke.session.ask.assumptions import Assumptions


@dataclass(frozen=True, slots=True, eq=False)
class Arrays:
    """Noisy answers with the covariance of their noise, or with the laws of the measurements."""

    domain: Domain
    measurements: Sequence[Measurement]
    covariance: FloatArray | None = None  # (m, m)

    @property
    def values(self) -> FloatArray:
        return np.array([value for one in self.measurements for value in one.values])

    def unbiased(self, query: Query) -> Posterior:
        """Generalised least squares; refuses what the answers do not determine."""
        return Shrinkage(Factorisation(self._evidence(Assumptions())), math.inf).posterior(query)

    def shrunk(self, query: Query, assumed: Assumptions) -> Posterior:
        """The estimate of shrinkage (HIST Th. 3), whose error bars rest on α."""
        evidence = self._evidence(assumed)
        solver = Factorisation(evidence)
        if assumed.alpha is not None:
            return Shrinkage(solver, assumed.alpha).posterior(query)
        choice = (
            solver.choose()
            if assumed.folds is None
            else choose_alpha(evidence, folds=assumed.folds)
        )
        return Shrinkage(solver, choice.alpha, inflation=choice.inflation).posterior(query)

    def by_entropy(self, query: Query, assumed: Assumptions) -> tuple[float, float]:
        """(the answer of the maximum entropy model, its α)."""
        usual = Assumptions(assumed.prior)
        total = max(self.shrunk(count().on(self.domain), usual).value, 1.0)
        features, values, laws = self._independent()
        told: dict[str, Any] = {"total": total}
        prior = assumed.before(self.domain)
        alpha = assumed.alpha
        if alpha is None:
            free = constraints_of(features, values, laws, alpha=1.0, **told)
            alpha = choose_entropy_alpha(free, prior, folds=assumed.folds)
        constraints = constraints_of(features, values, laws, alpha=alpha, **told)
        fit = fit_max_entropy(constraints, prior)
        return total * fit.distribution.expectation(query) + float(query.constant), alpha

    def _evidence(self, assumed: Assumptions) -> Any:
        features = HistoryFeatures.of_measurements(self.domain, self.measurements)
        if self.covariance is not None:
            noise = Noise.of_covariance(self.covariance)
        else:
            noise = Noise.of_laws([one.law for one in self.measurements for _ in one.values])
        return Evidence.of(features, self.values, noise, assumed.before(self.domain))

    def _independent(self) -> tuple[HistoryFeatures, FloatArray, list[Any]]:
        """(features, values, laws) that say the same with independent noise."""
        if self.covariance is None:
            laws = [one.law for one in self.measurements for _ in one.values]
            return (
                HistoryFeatures.of_measurements(self.domain, self.measurements),
                self.values,
                laws,
            )
        noise = Noise.of_covariance(self.covariance)
        (name,) = self.domain.names
        size = self.domain[name].size
        rows = np.zeros((len(self.measurements), size))
        for place, measured in enumerate(self.measurements):
            for query in measured.query.queries():
                for term in query.terms:
                    factor = dict(term.factors).get(name, np.ones(size))
                    rows[place] += float(term.weight) * np.asarray(factor, np.float64)
        whitened = noise.whiten(rows)
        queries = [table([name], row).on(self.domain) for row in whitened]
        laws = [Gaussian(1.0)] * len(queries)
        return (
            HistoryFeatures.of(self.domain, queries),
            noise.whiten(self.values[:, None])[:, 0],
            laws,
        )


def covariance_of(given: object, answers: int) -> FloatArray:
    """The covariance matrix that somebody wrote, checked: (m, m), symmetric, positive definite."""
    try:
        matrix = np.asarray(given, np.float64)
    except (TypeError, ValueError) as problem:
        raise EstimateError("covariance must be a matrix of numbers") from problem
    if matrix.shape != (answers, answers):
        raise EstimateError(f"covariance must be {answers} × {answers}: a row for each answer")
    Noise.of_covariance(matrix)
    return matrix
