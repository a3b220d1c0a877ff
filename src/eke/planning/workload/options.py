"""Options: every strategy for a workload of marginals with its exact expected error.

An option is a strategy, a way to share the noise out and a way to recover the targets; its error is
known before anything is spent, since it depends on neither data nor noise drawn. `best_option` is
what `strategy="auto"` means. Next: `release_plan` makes a plan of an option.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from heapq import nsmallest
from typing import Literal, TypeAlias

import numpy as np

from eke.arrays import FloatArray
from eke.errors import QueryError
from eke.inference.residuals import Names
from eke.planning.workload import budget as noise_budget
from eke.planning.workload.lattice import Lattice
from eke.planning.workload.strategy.blocks import (
    MOST_CELLS,
    BlockStrategy,
    base_counts,
    fourier_direct,
    fourier_encoded,
    marginals_strategy,
    residual_tables,
    workload_itself,
)
from eke.planning.workload.strategy.clusters import cluster_path, clustering
from eke.planning.workload.strategy.designs import coverings, uniform_error
from eke.planning.workload.strategy.local_search import improved
from eke.privacy.measure import Measure

Noise: TypeAlias = Literal["uniform", "groups", "least_squares"]
"""The same for all answers; optimal for the initial recovery; optimal after least squares."""
Recovery: TypeAlias = Literal["initial", "least_squares"]

_TRIED_DESIGNS = 16
_REFINED_DESIGNS = 4
_MOST_EVALUATED_BLOCKS = 200


@dataclass(frozen=True, slots=True, eq=False)
class Option:
    """A strategy with its noise, and the error that it will have."""

    strategy: BlockStrategy
    noise: Noise
    recovery: Recovery
    noise_variances: FloatArray  # of each block's answers; infinite when it is not measured
    target_variances: FloatArray  # of a cell of each target
    total_error: float  # the weighted sum of the variances of all questions

    @property
    def name(self) -> str:
        """As in the paper: a plus for noise that is not uniform; `gls` after least squares."""
        plus = "" if self.noise == "uniform" else "+"
        recovered = "" if self.recovery == "initial" else " gls"
        return f"{self.strategy.name}{plus}{recovered}"

    @property
    def answers(self) -> int:
        """How many noisy numbers are measured."""
        measured = np.isfinite(self.noise_variances)
        return sum(b.rows for b, used in zip(self.strategy.blocks, measured, strict=True) if used)


def evaluate(
    lattice: Lattice,
    strategy: BlockStrategy,
    measure: Measure,
    budget: float,
    *,
    noise: Noise,
    recovery: Recovery,
) -> Option:
    """The option with its exact expected error."""
    reaches = strategy.reaches(measure)
    question_weights = lattice.weights * lattice.target_cells
    error_weights = strategy.initial.T @ question_weights
    if noise == "uniform":
        variances = noise_budget.uniform(reaches, measure, budget, strategy.row_squares)
    else:
        variances = noise_budget.by_groups(error_weights, reaches, measure, budget)
    if recovery == "initial":
        if noise == "least_squares":
            raise QueryError("noise for least squares needs recovery by least squares, too")
        needed = np.where(error_weights > 0.0, variances, 0.0)
        targets = strategy.initial @ needed
        return Option(
            strategy, noise, recovery, variances, targets, float(question_weights @ targets)
        )
    precisions = strategy.precisions(lattice)
    if noise == "least_squares":
        starts = [
            variances,
            noise_budget.uniform(reaches, measure, budget, strategy.row_squares),
        ]
        tried = [
            noise_budget.for_least_squares(
                precisions, lattice.importance, reaches, measure, budget, start=start
            )
            for start in starts[: 1 if measure.rotations_are_free else 2]
        ]
        tried.append(variances)
        variances = min(tried, key=lambda v: lattice.total_error(_components(precisions, v)))
    components = _components(precisions, variances)
    return Option(
        strategy,
        noise,
        recovery,
        variances,
        lattice.target_variances(components),
        lattice.total_error(components),
    )


def options(lattice: Lattice, measure: Measure, budget: float) -> list[Option]:
    """Every named strategy as the paper has it, and at its best; the least error first."""
    ways: tuple[tuple[Noise, Recovery], ...] = (
        ("uniform", "initial"),
        ("groups", "initial"),
        ("least_squares", "least_squares"),
    )
    evaluated = [
        evaluate(lattice, strategy, measure, budget, noise=noise, recovery=recovery)
        for strategy in named_strategies(lattice, measure).values()
        for noise, recovery in ways
    ]
    design = best_design(lattice, measure, budget)
    if design is not None:
        evaluated.append(design)
    return sorted(evaluated, key=lambda option: (option.total_error, option.answers))


def best_option(lattice: Lattice, measure: Measure, budget: float) -> Option:
    """The option with the least expected error.

    With Gaussian noise that is the residual strategy: no other has a smaller sum of variances
    (ResidualPlanner, NeurIPS 2023), so none is tried.
    """
    if measure.rotations_are_free:
        residual = residual_tables(lattice, measure)
        return evaluate(
            lattice, residual, measure, budget, noise="groups", recovery="least_squares"
        )
    return options(lattice, measure, budget)[0]


def named_strategies(lattice: Lattice, measure: Measure) -> dict[str, BlockStrategy]:
    """The strategies of the paper that fit, and residuals."""
    strategies: list[BlockStrategy | None] = [
        base_counts(lattice),
        workload_itself(lattice),
        clustering(lattice, cluster_path(lattice, measure)),
    ]
    for make in (fourier_encoded, fourier_direct):
        try:
            strategies.append(make(lattice))
        except QueryError:  # too many coefficients
            continue
    strategies.append(residual_tables(lattice, measure))
    return {
        s.name: s
        for s in strategies
        if s is not None and sum(b.rows for b in s.blocks) <= MOST_CELLS
    }


def best_design(lattice: Lattice, measure: Measure, budget: float) -> Option | None:
    """The best of many sets of larger marginals that cover the workload."""
    sets = [list(c.marginals) for c in cluster_path(lattice, measure)]
    sets += coverings(lattice)
    ranked = nsmallest(
        _TRIED_DESIGNS,
        (
            (uniform_error(lattice, marginals, measure), number, marginals)
            for number, marginals in enumerate(sets)
            if len(marginals) <= _MOST_EVALUATED_BLOCKS
        ),
    )
    tried = [_design(lattice, marginals, measure, budget) for _, _, marginals in ranked]
    for option in nsmallest(_REFINED_DESIGNS, tried, key=lambda option: option.total_error):
        marginals = [block.attributes for block in option.strategy.blocks]
        better = improved(lattice, marginals, option.noise_variances, measure)
        if better != marginals:
            tried.append(_design(lattice, better, measure, budget))
    return min(tried, key=lambda option: option.total_error, default=None)


def _design(lattice: Lattice, marginals: list[Names], measure: Measure, budget: float) -> Option:
    return evaluate(
        lattice,
        marginals_strategy("design", lattice, marginals),
        measure,
        budget,
        noise="least_squares",
        recovery="least_squares",
    )


def rmse(option: Option, lattice: Lattice) -> float:
    """The root of the weighted mean of the variances of all questions."""
    return math.sqrt(option.total_error / float(lattice.weights @ lattice.target_cells))


def _components(precisions: noise_budget.SparseRows, noise_variances: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore"):
        return 1.0 / np.asarray(precisions.T @ (1.0 / noise_variances), np.float64)
