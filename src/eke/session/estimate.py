"""Estimates: what history says about any question, asked before or not, for free.

`blue` answers questions that history determines, without bias. `shrinkage` answers every question
and says how far it may be off: a prior, as strong as cross-validation finds best, fills in what
history leaves open. `max_entropy` answers from the most natural distribution that explains history;
its answers are those of a possible table, but carry no error bars.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import pandas as pd

from eke.domain import Domain
from eke.errors import EstimateError, QueryError
from eke.history import Measurement
from eke.inference import Inference, Posterior
from eke.inference.max_entropy import Fit, constraints_of_history, fit_max_entropy
from eke.inference.shrinkage import (
    Evidence,
    Shrinkage,
    choose_alpha,
    prior_from_history,
)
from eke.query import Marginal, Query, count, describe
from eke.sql import Aggregate, Statement

EstimateMethod: TypeAlias = Literal["blue", "shrinkage", "max_entropy"]
ENTROPY_ALPHA = 0.01
_LEAST_FOR_FOLDS = 20
_MOST_ROWS = 12_000


@dataclass(frozen=True, slots=True, repr=False)
class Estimate:
    """A value from history alone; nothing was measured for it, and it costs nothing."""

    question: str
    value: float
    interval: tuple[float, float] | None
    confidence: float
    method: EstimateMethod
    determined: bool  # whether history determines the question: then only noise makes it uncertain
    alpha: float | None = None
    _posterior: Posterior | None = field(default=None, compare=False)

    @property
    def within(self) -> float | None:
        """Half the width of the interval; None when there is none."""
        return None if self.interval is None else (self.interval[1] - self.interval[0]) / 2.0

    @property
    def cost(self) -> float:
        return 0.0

    @property
    def free(self) -> bool:
        return True

    @property
    def source(self) -> str:
        return "estimated from history"

    @property
    def posterior(self) -> Posterior:
        """The belief about the true answer: density, any interval, any probability."""
        if self._posterior is None:
            raise EstimateError('maximum entropy has no error bars; use method="shrinkage"')
        return self._posterior

    def probability(self, *, above: float | None = None, below: float | None = None) -> float:
        """The probability of a claim: that the true answer is above, below or between."""
        return self.posterior.probability(above=above, below=below)

    def __repr__(self) -> str:
        if self.interval is None:
            return f"Estimate({self.value:,.6g}, {self.method})"
        low, high = self.interval
        return f"Estimate({self.value:,.6g}, {low:,.6g} to {high:,.6g}, {self.method})"

    def explain(self) -> str:
        """A few lines: the question, the value, and what it rests on."""
        lines = [self.question]
        if self.interval is None:
            lines.append(f"{self.value:,.6g}, without error bars.")
        else:
            low, high = self.interval
            lines.append(
                f"{self.value:,.6g}, and with probability {self.confidence:.4g} "
                f"between {low:,.6g} and {high:,.6g}."
            )
        if self.method == "max_entropy":
            lines.append(
                "Free: the answer of the most natural distribution that explains history. No "
                'interval is known for it that keeps its promise; use method="shrinkage" for one.'
            )
        elif self.determined:
            lines.append("Free: history determines this question; only noise makes it uncertain.")
        else:
            lines.append(
                "Free: an estimate. History does not determine this question; what it leaves open "
                "is filled in by a prior, whose strength was chosen by cross-validation. It may be "
                "biased."
            )
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        low, high = self.interval or (None, None)
        return {
            "question": self.question,
            "value": self.value,
            "low": low,
            "high": high,
            "confidence": self.confidence,
            "method": self.method,
            "determined": self.determined,
        }


@dataclass(frozen=True, slots=True)
class TableEstimate:
    """The estimates of all cells of a marginal."""

    attributes: tuple[str, ...]
    keys: tuple[tuple[object, ...], ...]
    cells: tuple[Estimate, ...]

    def to_pandas(self) -> pd.DataFrame:
        labels = pd.DataFrame(self.keys, columns=list(self.attributes))
        parts = ("value", "low", "high")
        numbers = [{part: cell.to_dict()[part] for part in parts} for cell in self.cells]
        return pd.concat([labels, pd.DataFrame(numbers)], axis=1)


class Estimator:
    """Estimates from one state of the history; the kernel and models are made when first needed.

    Privacy: free. It holds released measurements only, and no handle on data.
    """

    def __init__(
        self, domain: Domain, measurements: Sequence[Measurement], inference: Inference
    ) -> None:
        self.domain = domain
        self.measurements = tuple(measurements)
        self.inference = inference

    def estimate(
        self, asked: Query | Marginal, method: EstimateMethod, confidence: float
    ) -> Estimate | TableEstimate:
        """The estimate of a question, or of every cell of a marginal."""
        if method not in get_args(EstimateMethod):
            raise EstimateError(f"method must be one of {', '.join(get_args(EstimateMethod))}")
        if isinstance(asked, Query):
            return self._single(asked, method, confidence)
        cells = tuple(self._single(query, method, confidence) for query in asked.queries())
        return TableEstimate(asked.attributes, tuple(asked.keys()), cells)

    def _single(self, query: Query, method: EstimateMethod, confidence: float) -> Estimate:
        determined = self.inference.linear(query) is not None
        if method == "max_entropy":
            share = self.model.distribution.expectation(query)
            value = self.total * share + float(query.constant)
            return Estimate(
                describe(query), value, None, confidence, method, determined, ENTROPY_ALPHA
            )
        if method == "blue":
            posterior = self.inference.posterior(query)
            alpha = math.inf
            if posterior is None:
                raise EstimateError(
                    "history does not determine this question, so that nothing unbiased can be "
                    'said about it; use method="shrinkage"'
                )
        else:
            posterior = self.shrinkage.posterior(query)
            alpha = self.shrinkage.alpha
        return Estimate(
            describe(query),
            posterior.value,
            posterior.interval(confidence),
            confidence,
            method,
            determined,
            alpha,
            posterior,
        )

    @cached_property
    def shrinkage(self) -> Shrinkage:
        """The shrinkage estimator at the α that cross-validation finds best."""
        rows = sum(len(measurement.values) for measurement in self.measurements)
        if not rows:
            raise EstimateError("there is no history yet; ask a question with a budget first")
        if rows > _MOST_ROWS:
            raise EstimateError(
                f"history has {rows:,} noisy answers; shrinkage takes up to {_MOST_ROWS:,}, "
                'use method="max_entropy"'
            )
        prior = prior_from_history(self.domain, self.measurements)
        evidence = Evidence.of_history(self.domain, self.measurements, prior)
        if evidence.size < _LEAST_FOR_FOLDS:
            return Shrinkage(evidence, _rough_alpha(evidence))
        choice = choose_alpha(evidence)
        return Shrinkage(evidence, choice.alpha, inflation=choice.inflation)

    @cached_property
    def total(self) -> float:
        """The estimated number of records."""
        return max(self.shrinkage.posterior(count().on(self.domain)).value, 1.0)

    @cached_property
    def model(self) -> Fit:
        """The maximum entropy model of the history."""
        constraints = constraints_of_history(
            self.domain, self.measurements, total=self.total, alpha=ENTROPY_ALPHA
        )
        return fit_max_entropy(constraints, prior_from_history(self.domain, self.measurements))


def linear_question(statement: Statement) -> Query:
    """The linear question that a SQL statement asks; others have no estimate yet."""
    (column, *others) = statement.columns
    if others or statement.group_by or not isinstance(column.formula, Aggregate):
        raise QueryError(
            "an estimate needs one count or sum, such as SELECT COUNT(*) FROM t WHERE age > 40; "
            "for groups pass eke.marginal(…)"
        )
    return statement.query(column.formula.index, 0)


def _rough_alpha(evidence: Evidence) -> float:
    """An α that explains the size of the deviations, for histories too short for folds.

    No less than the noise could hide, so that error bars are wide rather than narrow.
    """
    variances = evidence.noise.variances
    precision = evidence.means / variances
    total = float(precision @ evidence.values) / max(float(precision @ evidence.means), 1e-300)
    excess = float(((evidence.values - total * evidence.means) ** 2).sum())
    explained = float(np.diag(evidence.kernel).sum())
    if explained <= 1e-12 * float((evidence.means**2).sum()):
        return 1.0
    return math.sqrt(max(excess, float(variances.sum())) / explained)
