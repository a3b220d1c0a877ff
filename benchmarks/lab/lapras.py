"""LAPRAS: answers to predicted queries by a matrix mechanism, to all others by a paced budget.

Made again from the description of Mundra, Sealfon, Sun and Liu, "LAPRAS: Learning-Augmented PRivate
Answering for linear query Streams" (ICML 2026, arXiv 2605.01960). A stream of S queries comes in
random order; an oracle has named some queries that may come. Those are answered from one release by
the matrix mechanism with the least total error. The b-th query that was not predicted, at place n
of the stream, is paid from a pool: B̂ = S (b - 1) / (n - 1) such queries are expected in all, so it
takes the share 1 / (max(1, B̂ - b) + 1) of what is left ("smooth allocation"). The first
T = ⌈log₂ S⌉² are a warm-up. A reserve is spent by halves when the pool is down to its least spend.

What the description leaves open is decided here so: each query of the warm-up takes an equal part
of the warm-up's budget (by the formula the first one would take half of the pool); the least spend
is a tenth of an equal part, LEAST / S; below it nothing but predictions is answered. Where budgets
are split as epsilons, half of delta is the matrix mechanism's, and each other answer has δ / 2S.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from eke.privacy.calibration import least_variance

FloatArray = NDArray[np.float64]
Variance = Callable[[float, bool], float]
"""That of the noise which a share of the budget pays for; True: for the matrix mechanism."""

LEAST = 0.1
_ROUNDS = 400
_NEAR = 1.001  # to the bound
_NOTHING = 1e-6  # so small an eigenvalue is what rounding leaves of 0


@dataclass(frozen=True, slots=True)
class Split:
    """The shares of the budget: four that add up to 1."""

    matrix: float
    warm_up: float
    rest: float
    reserve: float


SPLITS = {
    "equal": Split(1 / 4, 1 / 4, 1 / 4, 1 / 4),
    "matrix-heavy": Split(1 / 2, 1 / 6, 1 / 6, 1 / 6),
    "query-heavy": Split(1 / 6, 1 / 3, 1 / 3, 1 / 6),
    "reserve-heavy": Split(1 / 6, 1 / 6, 1 / 6, 1 / 2),
}
"""Those of the paper; what it does not say of the last query-heavy share follows from the sum."""


def as_epsilons(epsilon: float, delta: float, stream: int) -> Variance:
    """Noise by the analytic Gaussian mechanism, whose epsilons and deltas are added up."""

    def variance(share: float, for_matrix: bool) -> float:
        own = delta / 2 if for_matrix else delta / (2 * stream)
        return least_variance(share * epsilon, own)

    return variance


def as_rho(rho: float) -> Variance:
    """Noise by zCDP, which adds up better than epsilons do; the paper does not have it."""
    return lambda share, _: 1.0 / (2.0 * share * rho)


@dataclass(frozen=True, slots=True, eq=False)
class MatrixMechanism:
    """Noise for all queries of a workload at once, with nearly the least total variance.

    The least Σ q X⁻¹ q over X = AᵀA with no more than 1 on its diagonal is found by its dual: for
    any v > 0 it is at least (tr M)² / Σ v with M = (D V D)^½, D² = diag(v) and V the Gram matrix,
    and X = D⁻¹ M D⁻¹ attains the largest of these bounds. Cells that no query tells apart are one.
    """

    root: FloatArray  # (cells, draws) of X⁻¹: what draws of noise make of the counts
    total: float  # Σ of the variances of all queries, for noise of variance 1
    bound: float  # the least that it can be, by the dual

    @staticmethod
    def of(workload: FloatArray) -> MatrixMechanism:  # (queries, cells)
        columns, places = np.unique(workload.T, axis=0, return_inverse=True)
        touched = columns.any(axis=1)
        gram = columns[touched] @ columns[touched].T

        def negative(logarithms: FloatArray) -> tuple[float, FloatArray]:
            dual = np.exp(logarithms)
            middle = _root(gram * np.sqrt(np.outer(dual, dual)))
            trace, sum_ = float(np.trace(middle)), float(dual.sum())
            return math.log(sum_) - 2.0 * math.log(trace), dual / sum_ - np.diag(middle) / trace

        found = minimize(
            negative,
            np.log(np.diag(gram)) / 2.0,
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": _ROUNDS, "maxcor": 30, "ftol": 1e-14, "gtol": 1e-9},
        )
        dual = np.exp(np.asarray(found.x))
        best, largest = gram, math.inf
        for _ in range(_ROUNDS):  # where v is small, the bound does not tell how small it must be
            scaled = np.sqrt(np.outer(dual, dual))
            strategy = _root(gram * scaled) / scaled
            reach = np.diag(strategy) * dual.sum() / (np.diag(strategy) @ dual)
            if reach.max() < largest:
                best, largest = strategy, float(reach.max())
            if largest < _NEAR:
                break
            dual = dual * reach
        strategy = best / np.diag(best).max()
        values, vectors = np.linalg.eigh(strategy)
        kept = values > _NOTHING * values[-1]
        own = vectors[:, kept] / np.sqrt(values[kept])
        total = float(np.einsum("ij,ik,jk->", gram, own, own))
        root = np.zeros((len(columns), own.shape[1]))
        root[touched] = own  # of one of the cells that are alike: queries have sums of them
        alike = np.bincount(places.ravel(), minlength=len(columns))
        return MatrixMechanism((root / alike[:, None])[places.ravel()], total, math.exp(-found.fun))

    def errors(self, workload: FloatArray, variance: float, rng: np.random.Generator) -> FloatArray:
        """The errors of all answers for one draw of the noise."""
        drawn = rng.normal(0.0, math.sqrt(variance), self.root.shape[1])
        return np.asarray(workload @ (self.root @ drawn))


def _root(matrix: FloatArray) -> FloatArray:
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a stream: the errors of what was answered, and the share of the budget."""

    errors: FloatArray  # (stream,) nan where nothing was answered
    spent: float

    @property
    def answered(self) -> float:
        """The share of the stream that was answered."""
        return float(np.isfinite(self.errors).mean())

    @property
    def mean_error(self) -> float:
        """The mean absolute error of what was answered."""
        return float(np.nanmean(np.abs(self.errors)))


def lapras(
    predicted: FloatArray,  # (stream,) the error that the matrix mechanism left it; nan: no oracle
    split: Split,
    variance: Variance,
    rng: np.random.Generator,
) -> Outcome:
    """The errors of a stream in the order in which it comes; every query moves by 1 at most."""
    stream = len(predicted)
    warm_up = math.ceil(math.log2(stream)) ** 2
    least = LEAST / stream
    pool, reserve, bad = split.warm_up + split.rest, split.reserve, 0
    errors, stopped = np.full(stream, np.nan), False
    for place, known in enumerate(predicted.tolist(), start=1):
        if not math.isnan(known):
            errors[place - 1] = known
            continue
        bad += 1
        if bad <= warm_up:
            spend = split.warm_up / warm_up
        else:
            expected = stream * (bad - 1) / (place - 1)
            spend = pool / (max(1.0, expected - bad) + 1.0)
        if spend >= least:
            pool -= spend
        elif (spend := reserve / 2.0) >= least and not stopped:
            reserve -= spend
        else:
            stopped = True
            continue
        errors[place - 1] = rng.normal(0.0, math.sqrt(variance(spend, False)))
    return Outcome(
        errors, split.matrix + split.warm_up + split.rest + split.reserve - pool - reserve
    )


def independent(stream: int, variance: Variance, rng: np.random.Generator) -> Outcome:
    """Noise of its own for each query of a stream whose length is known."""
    deviation = math.sqrt(variance(1.0 / stream, False))
    return Outcome(rng.normal(0.0, deviation, stream), 1.0)
