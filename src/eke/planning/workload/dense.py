"""Dense planning: any workload matrix, any strategy matrix, on few cells.

Everything here is the mathematics of CUBE §3 written out with matrices: recovery by generalised
least squares (eq. 7), budgets for a given recovery, and both in turn until neither helps. It serves
single queries and user-given strategies, and is the slow twin of the closed forms for marginals.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eke.arrays import FloatArray
from eke.errors import QueryError
from eke.planning.workload import budget as noise_budget
from eke.planning.workload.options import Noise, Recovery
from eke.planning.workload.strategy.matrices import MatrixStrategy
from eke.privacy.measure import Measure

_ROUNDS = 12
_TOLERANCE = 1e-5
_IGNORED = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class DensePlan:
    """A strategy matrix with noise and recovery for a workload matrix."""

    strategy: MatrixStrategy
    noise_variances: FloatArray  # (rows,)
    recovery: FloatArray  # (questions, rows)
    variances: FloatArray  # (questions,)
    total_error: float


def initial_recovery(workload: FloatArray, strategy: FloatArray) -> FloatArray:
    """R with R·S = Q of least norm; raises when the strategy does not determine the workload."""
    recovery = workload @ np.linalg.pinv(strategy, rcond=1e-11)
    # What is zero but for rounding must not ask for a share of the budget.
    recovery[np.abs(recovery) < 1e-10 * np.abs(recovery).max()] = 0.0
    if not np.allclose(recovery @ strategy, workload, atol=1e-6 * (1.0 + np.abs(workload).max())):
        raise QueryError("the strategy does not determine the workload; measure more rows")
    return recovery


def least_squares_recovery(
    workload: FloatArray, strategy: FloatArray, noise_variances: FloatArray
) -> FloatArray:
    """R = Q (SᵀΣ⁻¹S)⁺ SᵀΣ⁻¹: the best linear unbiased recovery (CUBE eq. 7)."""
    recovery = np.zeros((len(workload), len(strategy)))
    # A row with hardly any budget says nothing that others do not say better.
    information = (strategy**2).sum(axis=1) / noise_variances
    used = information > _IGNORED * information.max()
    root = 1.0 / np.sqrt(noise_variances[used])
    recovery[:, used] = initial_recovery(workload, root[:, None] * strategy[used]) * root
    return recovery


def row_budgets(
    error_weights: FloatArray, strategy: MatrixStrategy, measure: Measure, budget: float
) -> FloatArray:
    """The best noise of every row for a given recovery.

    In closed form when rows can be grouped, and those of a group matter equally (Def. 3.2) and add
    up to the same; otherwise the convex problem is solved. The last condition is missing in CUBE's
    Lemma 3.2, which fails without it: rows that share few cells with the other groups could be
    given more. With it, equal multipliers for all cells prove that the closed form is optimal.
    """
    size = np.abs(strategy.matrix.astype(np.float64))
    groups = strategy.groups
    sums_alike = groups is not None and _alike(measure.raised(size).sum(axis=1), groups)
    if groups is not None and sums_alike and _alike(error_weights, groups):
        count = int(groups.max()) + 1
        sums = np.bincount(groups, error_weights, count).astype(np.float64)
        reaches = np.zeros(count)
        np.maximum.at(reaches, groups, size.max(axis=1))
        reaches = measure.raised(reaches)
        return noise_budget.by_groups(sums, reaches, measure, budget)[groups]
    return noise_budget.convex(error_weights, size, measure, budget).noise_variances


def dense_plan(
    workload: FloatArray,
    strategy: MatrixStrategy,
    measure: Measure,
    budget: float,
    *,
    weights: FloatArray | None = None,
    noise: Noise = "least_squares",
    recovery: Recovery = "least_squares",
    initial: FloatArray | None = None,
) -> DensePlan:
    """The plan for a workload matrix (questions, cells) with exact variances.

    `initial` is the recovery that budgets are first made for; by default that of least norm.
    """
    questions = np.ones(len(workload)) if weights is None else weights
    rows = strategy.matrix.astype(np.float64)
    matrix = initial_recovery(workload, rows) if initial is None else initial
    if noise == "uniform":
        size = measure.raised(np.abs(rows))
        reach = np.array([float(size.sum(axis=0).max())])
        variances = np.full(len(rows), noise_budget.uniform(reach, measure, budget)[0])
    else:
        variances = row_budgets(questions @ matrix**2, strategy, measure, budget)
    best = _plan(strategy, variances, matrix, questions)
    if recovery == "initial":
        return best
    for _ in range(_ROUNDS if noise == "least_squares" else 1):
        matrix = least_squares_recovery(workload, rows, variances)
        if noise == "least_squares":
            variances = row_budgets(questions @ matrix**2, strategy, measure, budget)
        planned = _plan(strategy, variances, matrix, questions)
        gained = best.total_error - planned.total_error
        if gained > 0.0:
            best = planned
        if gained < _TOLERANCE * best.total_error:
            break
    return best


def _plan(
    strategy: MatrixStrategy, variances: FloatArray, recovery: FloatArray, questions: FloatArray
) -> DensePlan:
    used = np.where(np.isfinite(variances), variances, 0.0)
    by_question = recovery**2 @ used
    return DensePlan(strategy, variances, recovery, by_question, float(questions @ by_question))


def _alike(values: FloatArray, groups: NDArray[np.int64]) -> bool:
    """True when the values of the rows of a group are the same."""
    count = int(groups.max()) + 1
    low, high = np.full(count, math.inf), np.full(count, -math.inf)
    np.minimum.at(low, groups, values)
    np.maximum.at(high, groups, values)
    return bool(np.all(high - low <= 1e-9 * np.maximum(high, 1e-300)))
