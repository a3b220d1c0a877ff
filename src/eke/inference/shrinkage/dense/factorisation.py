"""Factorisation: the equations of a history with a dense kernel, solved at once.

C = K + Σ/α² is whitened first, A + I/α² with A = Σ^{-1/2}KΣ^{-T/2}, so that rounding is measured
against the noise. Where 1/α² drowns in it, as at α = ∞, eigenvalues that rounding may have made
count for nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh

from eke.arrays import FloatArray
from eke.errors import EstimateError
from eke.inference.progress import Progress, silent
from eke.inference.shrinkage.dense.cross_validation import choose_alpha
from eke.inference.shrinkage.dense.kernel import DenseKernel
from eke.inference.shrinkage.evidence import Evidence
from eke.inference.shrinkage.solver import AlphaChoice, Operator, System

_LEAST_FOR_FOLDS = 20  # shorter histories say too little to be parted
_ROUNDING = 4 * np.finfo(np.float64).eps


@dataclass(frozen=True, slots=True, eq=False)
class Factorisation:
    """The solver of histories of a few thousand answers: exact, for any α and any noise."""

    evidence: Evidence[DenseKernel]

    def at(self, alpha: float) -> System:
        """The equations at one α; `math.inf` makes estimates unbiased, 0 leaves the prior alone."""
        if not alpha >= 0.0:
            raise EstimateError("alpha must be at least 0; math.inf is the unbiased estimate")
        evidence = self.evidence
        if math.isinf(alpha) and evidence.has_free_total:
            # Unbiased for every n: the total is one more direction of the span, like any other.
            evidence = replace(evidence, total="ignored", kernel=evidence.kernel.not_centred())
        noise, inverse = evidence.noise, _inverse(evidence, alpha)

        def at_once(columns: FloatArray, _: Operator) -> tuple[FloatArray, None]:
            return noise.whiten_transposed(inverse(noise.whiten(columns))), None

        return System(evidence, float(alpha), at_once)

    def choose(self, progress: Progress = silent) -> AlphaChoice:
        """The α of least error over five folds, which needs some answers; else a rough one."""
        progress("choosing alpha", 0.0)
        if self.evidence.size < _LEAST_FOR_FOLDS:
            choice = AlphaChoice.guessed(self.evidence.rough_alpha())
        else:
            choice = choose_alpha(self.evidence)
        progress("choosing alpha", 1.0)
        return choice


def _inverse(evidence: Evidence[DenseKernel], alpha: float) -> Operator:
    """(A + I/α²)⁻¹ as a function of columns; for α = 0 its limit, up to the factor α²."""
    if alpha == 0.0:
        return np.copy
    whitened = evidence.noise.whiten_kernel(evidence.kernel.matrix)
    ridge = 0.0 if math.isinf(alpha) else 1.0 / alpha**2
    rounding = _ROUNDING * len(whitened) * float(np.abs(whitened).sum(axis=1).max())
    if ridge > rounding:
        whitened.flat[:: len(whitened) + 1] += ridge
        factor, _ = cho_factor(whitened, lower=True, overwrite_a=True, check_finite=False)
        return lambda columns: np.asarray(cho_solve((factor, True), columns, check_finite=False))
    eigenvalues, vectors = eigh(whitened, overwrite_a=True, check_finite=False)
    is_nonzero = eigenvalues > rounding
    inside, gains = vectors[:, is_nonzero], 1.0 / (eigenvalues[is_nonzero] + ridge)
    return lambda columns: inside @ (gains[:, None] * (inside.T @ columns))
