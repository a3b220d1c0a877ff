"""The estimator behind `session.estimate`: one state of the history, put to use three ways.

Histories of a few thousand answers have a dense kernel, and α is chosen by cross-validation on all
of them (`inference/shrinkage/dense`); longer ones keep their blocks and are solved by conjugate
gradients (`inference/shrinkage/blocks`). What the three methods promise is in `estimate.py`.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import get_args

import numpy as np

from eke.domain import Domain
from eke.errors import EstimateError
from eke.history import PUBLIC, Measurement, lasting
from eke.inference import Inference, Posterior
from eke.inference.as_history import (
    SHARE_OF_NOISE,
    SHARE_TO_CHOOSE,
    outside_measurements,
    softened,
)
from eke.inference.max_entropy import (
    Fit,
    choose_entropy_alpha,
    constraints_of_history,
    fit_max_entropy,
)
from eke.inference.posterior import ComposedNoise, ExactPosterior
from eke.inference.progress import Progress, silent
from eke.inference.shrinkage import (
    AlphaChoice,
    ConjugateGradients,
    Evidence,
    Factorisation,
    Interactions,
    Shrinkage,
    Solver,
    Total,
    choose_alpha,
    evidence_of_blocks,
    prior_from_history,
    singles_in,
)
from eke.planning.online.effort import steps_for
from eke.query import Block, Prior, Query, count
from eke.session.ask.assumptions import DEFAULT, Assumptions
from eke.session.ask.estimate import Estimate, EstimateMethod, TableEstimate

_DENSE_ROWS = 4_000
"""Longer histories keep their blocks, if these hold most answers: quicker than a dense kernel."""
_MOST_DENSE_ROWS = 12_000
"""Of answers measured one by one, so many fit in a dense kernel."""


class Estimator:
    """Estimates from one state of the history; the kernel and models are made when first needed.

    Privacy: free. It holds released measurements only, and no handle on data.
    """

    def __init__(
        self,
        domain: Domain,
        measurements: Sequence[Measurement],
        inference: Inference,
        before: Estimator | None = None,
        assumptions: Assumptions = DEFAULT,
    ) -> None:
        self.domain = domain
        self.assumptions = assumptions
        self._given = tuple(measurements)
        outside = outside_measurements(inference.outside)
        self.measurements = (*outside, *lasting(measurements))
        self.inference = inference
        self._shrinkage: Shrinkage | None = None
        self._model: Fit | None = None
        self._entropy_alpha: float | None = None
        self._preparing = threading.RLock()  # threads that need the same wait for it, not make it
        # The model of a shorter history is a good start for this one's.
        self._start = None if before is None else before.model_for(self.measurements)

    def steps_for(self, cells: int) -> int:
        """The steps of estimating so many cells, once the history is prepared for it."""
        rows = sum(len(measurement.values) for measurement in self.measurements)
        return steps_for(cells, min(rows, _MOST_DENSE_ROWS), together=False)

    def estimate(
        self,
        asked: Block,
        method: EstimateMethod,
        confidence: float,
        progress: Progress = silent,
    ) -> Estimate | TableEstimate:
        """The estimate of a question, or of every cell of a marginal."""
        if method not in get_args(EstimateMethod):
            raise EstimateError(f"method must be one of {', '.join(get_args(EstimateMethod))}")
        if method == "blue" and self.assumptions != DEFAULT:
            raise EstimateError(
                'method="blue" is unbiased, without prior, alpha or folds; use "shrinkage" for it'
            )
        if asked.people and method != "blue":
            raise EstimateError(
                "numbers of people do not follow from tables of records, so nothing is estimated "
                "from these; ask for the number, or use method='blue'"
            )
        if method != "blue":
            self._check_listed(asked, method)
        queries = list(asked.queries())
        # What is public follows from nothing better; no method can say it otherwise.
        public = [self.inference.public(query) for query in queries]
        left = [query for query, known in zip(queries, public, strict=True) if known is None]
        modelled = iter(self._by_method(left, method, confidence, progress) if left else ())
        estimates = [
            next(modelled) if known is None else _public(query, known, method, confidence)
            for query, known in zip(queries, public, strict=True)
        ]
        if asked.is_single:
            return estimates[0]
        return TableEstimate(asked.attributes, tuple(asked.keys()), tuple(estimates))

    def _by_method(
        self, queries: Sequence[Query], method: EstimateMethod, confidence: float, tell: Progress
    ) -> list[Estimate]:
        if method == "max_entropy":
            return self._by_entropy(queries, confidence, tell)
        if method == "shrinkage":
            return self._shrunk(queries, confidence, tell)
        return [
            self._believed(query, self._unbiased(query), method, math.inf, confidence)
            for query in queries
        ]

    def _check_listed(self, asked: Block, method: EstimateMethod) -> None:
        """Raise when the question, or an answer of history, is about a wide column."""
        blocks = [asked, *(measurement.query for measurement in self.measurements)]
        for name, attribute in asked.domain.attributes:
            if attribute.is_wide and any(name in block.read for block in blocks):
                raise EstimateError(
                    f"the history, or the question, is about {name!r}, and method={method!r} "
                    f"lists all values of a column ({attribute.size:,}); use method='blue', or ask"
                )

    def _shrunk(
        self, queries: Sequence[Query], confidence: float, progress: Progress
    ) -> list[Estimate]:
        estimator = self._prepared(progress)
        alpha = estimator.alpha
        beliefs = list(estimator.posteriors(queries, progress))
        estimates = [
            self._believed(query, belief, "shrinkage", alpha, confidence)
            for query, belief in zip(queries, beliefs, strict=True)
        ]
        seen = estimator.interactions
        return [
            replace(
                one,
                convergence=estimator.convergence,
                caveats=() if seen is None else seen.caveats(query),
            )
            for one, query in zip(estimates, queries, strict=True)
        ]

    def _believed(
        self,
        query: Query,
        belief: Posterior,
        method: EstimateMethod,
        alpha: float,
        confidence: float,
    ) -> Estimate:
        return Estimate(
            query.description,
            belief.value,
            belief.interval(confidence),
            confidence,
            method,
            self._is_determined(query),
            alpha,
            _posterior=belief,
        )

    def _by_entropy(
        self, queries: Sequence[Query], confidence: float, progress: Progress
    ) -> list[Estimate]:
        model, total = self.model(progress)
        total = total if self.inference.total is None else float(self.inference.total)
        return [
            Estimate(
                query.description,
                total * model.distribution.expectation(query) + float(query.constant),
                None,
                confidence,
                "max_entropy",
                self._is_determined(query),
                self._entropy_alpha,
            )
            for query in queries
        ]

    def _unbiased(self, query: Query) -> Posterior:
        posterior = self.inference.posterior(query)
        if posterior is None:
            raise EstimateError(
                "history does not determine this question, so that nothing unbiased can be "
                'said about it; use method="shrinkage"'
            )
        return posterior

    def _is_determined(self, query: Query) -> bool:
        return self.inference.linear(query) is not None

    @property
    def _total(self) -> Total:
        """The number of records as shrinkage takes it."""
        known = self.inference.total
        return "estimated" if known is None else float(known)

    @property
    def shrinkage(self) -> Shrinkage:
        """The shrinkage estimator at the α that cross-validation finds best."""
        return self._prepared(silent)

    def _prepared(self, progress: Progress) -> Shrinkage:
        with self._preparing:
            if self._shrinkage is None:
                progress("reading the history", 0.0)
                solver = self._solver(SHARE_TO_CHOOSE)
                choice = self._choice(solver, progress)
                if any(one.law == PUBLIC for one in self.measurements):
                    solver = self._solver(SHARE_OF_NOISE)
                self._shrinkage = Shrinkage(
                    solver,
                    choice.alpha,
                    inflation=choice.inflation,
                    interactions=self._interactions(solver.evidence.kernel.prior),
                )
            return self._shrinkage

    def _interactions(self, prior: Prior) -> Interactions | None:
        """What the tables of the history say of the size of what they leave open."""
        known, before = softened(self.measurements, SHARE_OF_NOISE), self.assumptions.before
        return Interactions.of_history(known, prior, before(self.domain))

    def _prior(self, known: Sequence[Measurement]) -> Prior:
        """The prior as assumed: what history says of single columns, if nothing else."""
        if self.assumptions.prior == "marginals":
            return prior_from_history(self.domain, known)
        return self.assumptions.before(self.domain)

    def _choice(self, solver: Solver, progress: Progress) -> AlphaChoice:
        """The α that is assumed, or that answers held out find best."""
        alpha, folds = self.assumptions.alpha, self.assumptions.folds
        if alpha is not None:
            return AlphaChoice.guessed(alpha)
        if folds is None:
            return solver.choose(progress)
        if not isinstance(solver, Factorisation):
            raise EstimateError(
                "of a history this long single answers are held out, and not folds; leave folds out"
            )
        return choose_alpha(solver.evidence, folds=folds)

    def _solver(self, share: float) -> Solver:
        """What solves this history fastest, of what has room for it; see `softened`."""
        rows = sum(len(measurement.values) for measurement in self.measurements)
        large = rows > _MOST_DENSE_ROWS
        if _DENSE_ROWS < rows <= _MOST_DENSE_ROWS:
            large = 2 * singles_in(self.measurements) < rows
        known = softened(self.measurements, share)
        prior = self._prior(known)
        told = self.domain, known, prior, self._total
        if large:
            return ConjugateGradients(evidence_of_blocks(*told))
        return Factorisation(Evidence.of_history(*told))

    def model(self, progress: Progress = silent) -> tuple[Fit, float]:
        """(the maximum entropy model of the history, the known or estimated number of records)."""
        total = max(self._records(progress), 1.0)  # a model is of at least one record
        with self._preparing:
            if self._model is None:
                prior = self._prior(softened(self.measurements, SHARE_OF_NOISE))
                self._entropy_alpha = self._chosen_for_entropy(prior, total, progress)
                progress("fitting the model", 0.0)
                constraints = constraints_of_history(
                    self.domain, self.measurements, total=total, alpha=self._entropy_alpha
                )
                self._model = fit_max_entropy(constraints, prior, start=self._start)
                progress("fitting the model", 1.0)
            return self._model, total

    def _records(self, progress: Progress) -> float:
        """The number of records: known, or as shrinkage estimates it, with an α of its own."""
        if self.inference.total is not None:
            return float(self.inference.total)
        usual = replace(self.assumptions, alpha=None, folds=None)
        plain = self
        if usual != self.assumptions:
            plain = Estimator(self.domain, self._given, self.inference, None, usual)
        return plain._prepared(progress).posterior(count().on(self.domain)).value

    def _chosen_for_entropy(self, prior: Prior, total: float, progress: Progress) -> float:
        """The α that is assumed, or that answers held out find best."""
        if self.assumptions.alpha is not None:
            return self.assumptions.alpha
        progress("choosing alpha", 0.0)
        constraints = constraints_of_history(self.domain, self.measurements, total=total, alpha=1.0)
        return choose_entropy_alpha(constraints, prior, folds=self.assumptions.folds)

    def model_for(self, measurements: Sequence[Measurement]) -> Fit | None:
        """The model, if it was fitted and these measurements begin with its own."""
        begin = tuple(measurements[: len(self.measurements)])
        return self._model if begin == self.measurements else None


def _public(query: Query, known: float, method: EstimateMethod, confidence: float) -> Estimate:
    """A public number as an estimate: nothing about it is uncertain."""
    exactly = ExactPosterior(known, ComposedNoise(np.empty(0)))
    return Estimate(
        query.description,
        known,
        (known, known),
        confidence,
        method,
        determined=True,
        public=True,
        _posterior=exactly,
    )
