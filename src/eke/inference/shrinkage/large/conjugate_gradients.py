"""Preconditioned conjugate gradients for many right-hand sides, stopped in units of what is wanted.

The error of an unfinished solution x of Cx = b is measured by (x − x*)ᵀC(x − x*): for a question b
that is, up to α², by how much the variance of the estimate exceeds the best one. What the next few
steps take away from it is a lower bound that is tight as soon as steps get small (Hestenes and
Stiefel 1952; Strakoš and Tichý 2002), so a solution is taken when its last steps took away no more
than is allowed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
Operator = Callable[[FloatArray], FloatArray]

MOST_STEPS = 1000
_LOOK_BACK = 3
_AT_ONCE = 1e-4  # a residual so far below what is allowed needs no further look


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
    most_steps: int = MOST_STEPS,
) -> tuple[FloatArray, Convergence]:
    """(C⁻¹·columns, report), for `times` x ↦ Cx.

    `allowed` says what error each column may have, given xᵀb so far; (columns,) -> (columns,).
    """
    found = np.zeros_like(columns)
    residual = columns.copy()
    explained = np.zeros(columns.shape[1])
    active = np.flatnonzero((columns != 0.0).any(axis=0))
    worst = np.zeros(columns.shape[1])
    residual = residual[:, active]
    towards = precondition(residual)
    size = np.einsum("ij,ij->j", residual, towards)
    direction = towards.copy()
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
        towards = precondition(residual)
        before, size = size, np.einsum("ij,ij->j", residual, towards)
        limit = allowed(explained)[active]
        recent = (
            np.sum(taken, axis=0)[active]
            if len(taken) == _LOOK_BACK
            else np.full(len(active), np.inf)
        )
        error = np.minimum(recent, size / _AT_ONCE)
        worst[active] = error / np.maximum(limit, 1e-300)
        left = (error > limit) & (step > 0.0)
        turned = np.divide(size, before, out=np.zeros_like(size), where=before > 0.0)
        direction = towards + turned * direction
        if not left.all():
            active, size = active[left], size[left]
            residual, direction = residual[:, left], direction[:, left]
    unfinished = int((worst > 1.0).sum())
    return found, Convergence(steps, columns.shape[1], unfinished, float(worst.max(initial=0.0)))
