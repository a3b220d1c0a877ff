"""Section: the part of a plan that answers one kind of questions.

Whole marginals, products with ranges, and single queries are planned by different mathematics. Each
is a section: what it measures, the noise, and how answers follow from noisy values. Everything in a
section depends on the workload and the budget only.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from eke.arrays import FloatArray
from eke.privacy.measure import Measure
from eke.query import Block

_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class PlannedBlock:
    """One block to be measured, with the scale of the noise of each of its answers.

    The scale is that of a Laplace law (epsilon) or the standard deviation of a Gaussian (rho).
    """

    measured: Block
    noise_scale: float
    cost: float  # what a record pays: epsilon or rho


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Estimated answers to the questions of a target, or to single queries."""

    attributes: tuple[str, ...]
    along: tuple[str, ...]
    values: FloatArray
    variance: FloatArray  # of each value, or one number for all


@dataclass(frozen=True, slots=True)
class Alternative:
    """One line of `explain`: a strategy that was considered, and what it would give.

    `cost` is the budget at which it has these errors, when that is not the plan's own: plans for
    required accuracies compare budgets, others compare errors.
    """

    name: str
    rmse: float
    largest: float  # the largest standard deviation of a question
    answers: int  # noisy numbers to be released
    cost: float | None = None


def variance_factor(measure: Measure, before: float, after: float) -> float:
    """By how much variances grow when the budget goes from one to another.

    Proportions of noise, and which strategy is best, do not depend on the budget.
    """
    return float((before / after) ** measure.variance_power)


def remaining_variances(variances: FloatArray, told: FloatArray) -> FloatArray:
    """What is left of variances after a known number told so much of them.

    What rounding leaves of a question that is known then is nothing.
    """
    left = np.asarray(variances - told, np.float64)
    return np.where(left > _ROUNDING * variances, left, 0.0)


def errors_by_budget(
    option: Alternative, planned_for: float, budgets: Sequence[float], measure: Measure
) -> list[tuple[str, float, float]]:
    """(strategy, budget, RMSE) for a plot of error against budget.

    Errors fall with the budget (Laplace) or its root (Gaussian); which strategy is best does not
    depend on it.
    """
    return [
        (
            option.name,
            float(budget),
            option.rmse * math.sqrt(variance_factor(measure, planned_for, budget)),
        )
        for budget in budgets
    ]


def scaled_alternatives(
    alternatives: Sequence[Alternative], factor: float
) -> tuple[Alternative, ...]:
    """The same lines after all variances were multiplied by a factor."""
    root = math.sqrt(factor)
    return tuple(
        replace(option, rmse=root * option.rmse, largest=root * option.largest)
        for option in alternatives
    )


class Section(Protocol):
    """What a plan does for some of its questions."""

    @property
    def strategy(self) -> str: ...

    @property
    def questions(self) -> int: ...

    @property
    def question_weight(self) -> float:
        """The sum of the weights of all questions."""
        ...

    @property
    def total_error(self) -> float:
        """The weighted sum of the variances of all questions."""
        ...

    @property
    def variances(self) -> list[FloatArray]:
        """The variances of the questions of each target, or one number for all of them."""
        ...

    @property
    def alternatives(self) -> tuple[Alternative, ...]: ...

    def at(self, budget: float) -> Section:
        """The same section at another budget."""
        ...

    @property
    def part_count(self) -> int: ...

    def parts(self) -> list[PlannedBlock]: ...

    def recover(self, answers: Sequence[FloatArray], total: float | None = None) -> list[Table]:
        """The estimates that follow from the noisy values of the parts, in their order.

        With a `total`, from these and the number of records, which is then public: the best
        correction of each estimate v by the estimated total T is cov(v, T)/var(T) · (total − T).
        """
        ...
