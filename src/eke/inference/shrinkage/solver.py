"""Solver: how the equations of a history are solved, at every α; all that an estimator asks for.

Everything comes down to C = K + Σ/α². `dense/factorisation.py` factors it, which is exact and takes
any noise; `blocks/conjugate_gradients.py` never writes it out, and stops when the error is as small
as wanted. `System` makes weights of either, `leave_one_out.py` predicts answers with them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np

from eke.arrays import FloatArray
from eke.errors import EstimateError
from eke.inference.progress import Progress, silent
from eke.inference.shrinkage.evidence import Evidence, HistoryKernel

TOLERANCE = 1e-4
"""How far from the best one an estimate may be, in units of its own standard error."""


@dataclass(frozen=True, slots=True)
class Convergence:
    """How solving went: steps taken, and columns whose error was still above what is allowed."""

    steps: int
    columns: int
    unfinished: int
    worst: float  # error of the worst column in units of what was allowed

    @property
    def converged(self) -> bool:
        return self.unfinished == 0

    @staticmethod
    def together(first: Convergence, second: Convergence) -> Convergence:
        """The report of two solves."""
        return Convergence(
            max(first.steps, second.steps),
            first.columns + second.columns,
            first.unfinished + second.unfinished,
            max(first.worst, second.worst),
        )


Operator: TypeAlias = Callable[[FloatArray], FloatArray]
Solve: TypeAlias = Callable[[FloatArray, Operator], tuple[FloatArray, Convergence | None]]
"""x = C⁻¹·b for columns b; (x − x*)ᵀC(x − x*) may be what the operator allows, given xᵀb so far."""


@dataclass(frozen=True, slots=True, eq=False)
class AlphaChoice:
    """The α of least estimated error, and the whole curve it was chosen from."""

    alpha: float
    alphas: FloatArray  # (tried,)
    mean_squared_errors: FloatArray  # (tried,) may be negative: unbiased estimates are
    standard_errors: FloatArray  # (tried,) of those
    least_error: float  # estimated mean squared error at `alpha`
    inflation: float
    """By which factor the model's variance had to grow, at least 1, to explain the residuals."""
    convergence: Convergence | None = None
    """How solving went, where it took steps."""

    @staticmethod
    def guessed(alpha: float) -> AlphaChoice:
        """An α that was not compared with others."""
        nothing = np.empty(0)
        return AlphaChoice(alpha, nothing, nothing, nothing, math.nan, 1.0)

    @property
    def root_mean_squared_errors(self) -> FloatArray:
        """The curve as HIST Fig. 3 draws it."""
        return np.sqrt(np.maximum(self.mean_squared_errors, 0.0))


class Solver(Protocol):
    """One history, and a way to solve its equations."""

    @property
    def evidence(self) -> Evidence[HistoryKernel]: ...

    def at(self, alpha: float) -> System:
        """The equations at one α."""
        ...

    def choose(self, progress: Progress = silent) -> AlphaChoice:
        """The α that cross-validation finds best. Privacy: free; reads released values only."""
        ...


class System:
    """The equations at one α; weights from it are right for every n where n is unknown.

    With u for the answers on one record of the prior, weights C⁻¹b are corrected by a multiple of
    C⁻¹u. For α = ∞, C⁻¹ is the pseudo-inverse of K; for α = 0, the limit of C⁻¹/α².
    """

    def __init__(self, evidence: Evidence[HistoryKernel], alpha: float, solve: Solve) -> None:
        self.evidence = evidence
        self.alpha = alpha
        self.convergence: Convergence | None = None
        """How solving went so far; None where nothing is left to steps."""
        self._solve = solve
        if evidence.has_free_total:
            means = evidence.means
            unit = self._solved(means[:, None], lambda explained: TOLERANCE**2 * explained)
            self._by_mean = unit[:, 0]
            self._information = float(means @ self._by_mean)
            if not self._information > 0.0:
                raise EstimateError(
                    "history says nothing about the number of records; measure a count first"
                )

    def weights(
        self, columns: FloatArray, means: FloatArray | float, allowed: Operator
    ) -> FloatArray:
        """C⁻¹·columns, corrected so that answers on one record of the prior are `means`."""
        only_prior = self.alpha == 0.0
        solved = np.zeros_like(columns) if only_prior else self._solved(columns, allowed)
        if not self.evidence.has_free_total:
            return solved
        gain = (means - self.evidence.means @ solved) / self._information
        return solved + np.multiply.outer(self._by_mean, gain)

    def _solved(self, columns: FloatArray, allowed: Operator) -> FloatArray:
        solution, report = self._solve(columns, allowed)
        if report is not None:
            before = self.convergence
            self.convergence = report if before is None else Convergence.together(before, report)
        return solution
