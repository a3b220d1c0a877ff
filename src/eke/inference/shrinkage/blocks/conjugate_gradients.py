"""Preconditioned conjugate gradients for many right-hand sides, stopped in units of what is wanted.

The error of an unfinished solution x of Cx = b is measured by (x − x*)ᵀC(x − x*): for a question b
that is, up to α², by how much the variance of the estimate exceeds the best one. What the last few
steps took away from it says how much is left (Hestenes and Stiefel 1952; Strakoš and Tichý 2002),
with a factor for caution; the residual bounds it for certain where a least eigenvalue is known.
"""

from __future__ import annotations

import math

import numpy as np

from eke.arrays import FloatArray
from eke.errors import EstimateError
from eke.inference.progress import Progress, silent
from eke.inference.shrinkage.blocks.implicit_kernel import ImplicitKernel
from eke.inference.shrinkage.blocks.preconditioner import Parts
from eke.inference.shrinkage.evidence import Evidence
from eke.inference.shrinkage.leave_one_out import choose_alpha_by_sample
from eke.inference.shrinkage.solver import AlphaChoice, Convergence, Operator, System

MOST_STEPS = 1000
_LOOK_BACK = 5
_CAUTION = 16.0  # the error may be so much larger than what the last steps took away


class ConjugateGradients:
    """The solver of histories whose kernel would not fit in memory, for finite α above 0."""

    def __init__(
        self,
        evidence: Evidence[ImplicitKernel],
        *,
        parts: Parts | None = None,
        most_steps: int = MOST_STEPS,
    ) -> None:
        if not evidence.noise.is_diagonal:
            raise EstimateError("noise in a history of blocks must be independent")
        self.evidence = evidence
        self.most_steps = most_steps
        self.parts = Parts(evidence.kernel) if parts is None else parts

    def at(self, alpha: float) -> System:
        """The equations at one α."""
        if not 0.0 < alpha < math.inf:
            raise EstimateError(
                "alpha must be a finite number above 0 for a history this large; "
                'for the unbiased estimate use method="blue"'
            )
        kernel = self.evidence.kernel
        ridges = self.evidence.noise.variances / alpha**2
        precondition: Operator = self.parts.at(ridges).times
        if not kernel.centred:  # one direction more, u·uᵀ (Sherman and Morrison 1950)
            precondition = _with_direction(precondition, kernel.means[:, None])

        def in_steps(columns: FloatArray, allowed: Operator) -> tuple[FloatArray, Convergence]:
            return solve(
                lambda x: kernel.times(x) + ridges[:, None] * x,
                precondition,
                columns,
                allowed,
                least_eigenvalue=float(ridges.min()),
                most_steps=self.most_steps,
            )

        return System(self.evidence, float(alpha), in_steps)

    def choose(self, progress: Progress = silent) -> AlphaChoice:
        """The α at which a sample of answers is predicted best by all others."""
        return choose_alpha_by_sample(self, progress=progress)


def _with_direction(inverse: Operator, u: FloatArray) -> Operator:
    """(C + u·uᵀ)⁻¹ from C⁻¹."""
    along = inverse(u)
    scaled = along / (1.0 + float(u[:, 0] @ along[:, 0]))
    return lambda columns: (solved := inverse(columns)) - scaled * (u[:, 0] @ solved)


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
    solution = np.zeros_like(columns)
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
        solution[:, active] += step * direction
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
    return solution, Convergence(steps, columns.shape[1], unfinished, float(worst.max(initial=0.0)))
