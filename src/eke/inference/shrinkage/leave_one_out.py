"""Choosing α for a large history: leave-one-out cross-validation on a sample of its answers.

With P = (K + Σ/α²)⁻¹, corrected for an unknown number of records, the answer i predicted from all
others is off by (Py)_i / P_ii, and its variance is α² / P_ii (HIST Th. 4 with folds of one answer).
That takes one solve for each answer left out, so only a sample is: the same rows for everyone,
spread over the history. Instead of a whole grid, α moves from a first guess to where the error is
least and is then refined; the curve need not have one valley only.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from eke.arrays import FloatArray
from eke.errors import EstimateError
from eke.inference.progress import Progress, silent
from eke.inference.shrinkage.solver import AlphaChoice, Convergence, Solver, System

IndexArray = NDArray[np.intp]

SAMPLE = 256
_COLUMNS = 64
_GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0
_FACTOR = 4.0  # between the first values of α
_FARTHEST = 6  # such factors from the first guess at most
_REFINEMENTS = 2
_EXPECTED = 7  # values of α that are tried as a rule
_OFF = 1e-2  # of a prediction's deviation: how far solving may leave it off


@dataclass(frozen=True, slots=True, eq=False)
class Predictions:
    """Answers as predicted by others that do not know them, at one α."""

    errors: FloatArray  # (answers,) unbiased estimates of squared errors; may be negative
    noise_variances: FloatArray  # (answers,) of the predictions
    model_variances: FloatArray  # (answers,) what the other answers leave open

    @property
    def mean_error(self) -> float:
        return float(self.errors.mean())

    @property
    def standard_error(self) -> float:
        return float(self.errors.std()) / math.sqrt(len(self.errors))

    @property
    def inflation(self) -> float:
        """How much larger than stated the model's part of the error is; never less than stated."""
        stated = float(self.model_variances.sum())
        excess = float((self.errors - self.noise_variances).sum())
        return max(1.0, excess / stated) if stated > 0.0 else 1.0


def choose_alpha_by_sample(
    solver: Solver, *, sample: int = SAMPLE, progress: Progress = silent
) -> AlphaChoice:
    """The α with the least error among those tried. Privacy: free; reads released values only."""
    if sample < 2:
        raise EstimateError("leave-one-out needs a sample of at least 2 answers")
    rows = spread_rows(solver.evidence.size, sample)
    tried: dict[float, Predictions] = {}
    reports: list[Convergence] = []

    def error(given: float) -> float:
        exponent = round(given, 9)  # the golden section meets earlier points again
        if exponent not in tried:
            progress("choosing alpha", min(len(tried) / _EXPECTED, 0.95))
            system = solver.at(first * _FACTOR**exponent)
            tried[exponent] = predictions(system, rows)
            if system.convergence is not None:
                reports.append(system.convergence)
        return tried[exponent].mean_error

    first = solver.evidence.rough_alpha()
    best = _descended(error)
    low, high = best - 1.0, best + 1.0
    for _ in range(_REFINEMENTS):
        left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        if error(left) <= error(right):
            high = right
        else:
            low = left
    progress("choosing alpha", 1.0)
    order = sorted(tried)
    least = min(order, key=lambda exponent: tried[exponent].mean_error)
    return AlphaChoice(
        first * _FACTOR**least,
        np.array([first * _FACTOR**exponent for exponent in order]),
        np.array([tried[exponent].mean_error for exponent in order]),
        np.array([tried[exponent].standard_error for exponent in order]),
        tried[least].mean_error,
        tried[least].inflation,
        reduce(Convergence.together, reports) if reports else None,
    )


def predictions(system: System, rows: IndexArray) -> Predictions:
    """The answers of some rows, each predicted from all other rows; noises are independent."""
    evidence, alpha = system.evidence, system.alpha
    variances = evidence.noise.variances

    def never_far(explained: FloatArray) -> FloatArray:
        return np.full_like(explained, (_OFF * alpha) ** 2)

    def nearly(explained: FloatArray) -> FloatArray:
        return _OFF**2 * explained

    explained = system.weights(evidence.deviations[:, None], 0.0, never_far)[rows, 0]
    diagonal, noise = np.empty(len(rows)), np.empty(len(rows))
    for start in range(0, len(rows), _COLUMNS):
        some = rows[start : start + _COLUMNS]
        unit = np.zeros((evidence.size, len(some)))
        unit[some, np.arange(len(some))] = 1.0
        columns = system.weights(unit, 0.0, nearly)
        here = np.arange(start, start + len(some))
        diagonal[here] = columns[some, np.arange(len(some))]
        columns[some, np.arange(len(some))] = 0.0
        noise[here] = (columns**2).T @ variances
    diagonal = np.maximum(diagonal, 1e-300)
    noise /= diagonal**2
    errors = (explained / diagonal) ** 2 - variances[rows]
    model = np.maximum(alpha**2 / diagonal - variances[rows] - noise, 0.0)
    return Predictions(errors, noise, model)


def spread_rows(size: int, sample: int) -> IndexArray:
    """So many different rows, spread evenly without a period; all of them if there are no more."""
    if sample >= size:
        return np.arange(size, dtype=np.intp)
    places = np.modf(np.arange(1, 4 * sample + 1) * _GOLDEN)[0]
    drawn = dict.fromkeys((places * size).astype(np.intp).tolist())
    return np.sort(np.array(list(drawn)[:sample], np.intp))


def _descended(error: Callable[[float], float]) -> float:
    """The exponent at which going on by one, up or down, makes the error larger."""
    here, step = 0.0, 1.0
    if error(-1.0) <= error(0.0):
        here, step = -1.0, -1.0
    while abs(here) < _FARTHEST and error(here + step) < error(here):
        here += step
    return here
