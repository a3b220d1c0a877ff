"""Preconditioned conjugate gradients for many right-hand sides, stopped in units of what is wanted.

The error of an unfinished solution x of Cx = b is measured by (x − x*)ᵀC(x − x*): for a question b
that is, up to α², by how much the variance of the estimate exceeds the best one. What the last few
steps took away from it says how much is left (Hestenes and Stiefel 1952; Strakoš and Tichý 2002),
with a factor for caution; the residual bounds it for certain where a least eigenvalue is known.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from eke.arrays import FloatArray

Operator = Callable[[FloatArray], FloatArray]

MOST_STEPS = 1000
_LOOK_BACK = 5
_CAUTION = 16.0  # the error may be so much larger than what the last steps took away


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


NOTHING_SOLVED = Convergence(0, 0, 0, 0.0)


def solve(
    times: Operator,
    precondition: Operator,
    columns: FloatArray,
    allowed: Operator,
    *,
    least_eigenvalue: float = 0.0,
    most_steps: int = MOST_STEPS,
) -> tuple[FloatArray, Convergence]:
    """(C⁻¹·columns, report), for `times` x ↦ Cx.

    `allowed` says what error each column may have, given xᵀb so far; (columns,) -> (columns,). No
    eigenvalue of C may be below `least_eigenvalue`: it bounds the error by the residual alone.
    """
    found = np.zeros_like(columns)
    explained, worst = np.zeros(columns.shape[1]), np.zeros(columns.shape[1])
    active = np.flatnonzero((columns != 0.0).any(axis=0))
    residual = columns[:, active].copy()
    direction = precondition(residual) if len(active) else residual
    size = np.einsum("ij,ij->j", residual, direction)
    taken: list[FloatArray] = []  # what each of the last steps took away, by column
    steps = 0
    while len(active) and steps < most_steps:
        steps += 1
        image = times(direction)
        curvature = np.einsum("ij,ij->j", direction, image)
        step = np.divide(size, curvature, out=np.zeros_like(size), where=curvature > 0.0)
        found[:, active] += step * direction
        residual -= step * image
        explained[active] += step * size
        away = np.zeros(columns.shape[1])
        away[active] = step * size
        taken = [*taken[-(_LOOK_BACK - 1) :], away]
        error = np.full(len(active), np.inf)
        if len(taken) == _LOOK_BACK:
            error = _CAUTION * np.sum(taken, axis=0)[active]
        if least_eigenvalue > 0.0:
            error = np.minimum(error, np.einsum("ij,ij->j", residual, residual) / least_eigenvalue)
        limit = allowed(explained)[active]
        worst[active] = error / np.maximum(limit, 1e-300)
        left = (error > limit) & (step > 0.0)
        active, before = active[left], size[left]
        residual, direction = residual[:, left], direction[:, left]
        if len(active):
            towards = precondition(residual)
            size = np.einsum("ij,ij->j", residual, towards)
            turned = np.divide(size, before, out=np.zeros_like(size), where=before > 0.0)
            direction = towards + turned * direction
    unfinished = int((worst > 1.0).sum())
    return found, Convergence(steps, columns.shape[1], unfinished, float(worst.max(initial=0.0)))
