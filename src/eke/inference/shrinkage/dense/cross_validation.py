"""Choosing α without touching data: k-fold cross-validation on noisy answers (HIST §3.5, Th. 4).

Each fold is predicted from the others and compared with its own noisy answers; the variance of
those is subtracted, which leaves an unbiased estimate of the mean squared error. One reduction for
each fold serves every α (`banded.py`). Noises that are correlated between folds would bias the
estimate; their covariance is known, and so is the correction.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from eke.arrays import FloatArray
from eke.errors import EstimateError
from eke.inference.shrinkage.dense.banded import Bands, reduce_to_band
from eke.inference.shrinkage.dense.kernel import DenseKernel
from eke.inference.shrinkage.evidence import Evidence
from eke.inference.shrinkage.leave_one_out import IndexArray, Predictions
from eke.inference.shrinkage.solver import AlphaChoice

GRID = 50
_TERNARY_STEPS = 18  # the last bracket is a 6000th of the first
_GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0


@dataclass(frozen=True, slots=True, eq=False)
class _Fold:
    """One training set, reduced, and the answers to predict from it."""

    bands: Bands
    answers: FloatArray  # (train,) rotated, whitened; so are the next two
    means: FloatArray  # (train,)
    products: FloatArray  # (train, test)
    shared_noise: FloatArray | None  # (train, test) rotated covariance of the noises
    test_values: FloatArray  # (test,) less what a known total explains; so is the next
    test_means: FloatArray
    test_variances: FloatArray
    test_squares: FloatArray
    free_total: bool

    def errors(self, alpha: float) -> FloatArray:
        """Unbiased estimates of the squared error of each prediction."""
        ridge = 1.0 / alpha**2
        solved = self.bands.solve(ridge, np.stack([self.answers, self.means], axis=1))
        residual, total = solved[:, 0], 0.0
        if self.free_total:
            total = float(self.means @ solved[:, 0]) / float(self.means @ solved[:, 1])
            residual = solved[:, 0] - total * solved[:, 1]
        predicted = self.products.T @ residual + total * self.test_means
        errors = (predicted - self.test_values) ** 2 - self.test_variances
        if self.shared_noise is not None:
            errors += 2.0 * np.einsum("ij,ij->j", self._weights(ridge)[0], self.shared_noise)
        return errors

    def predictions(self, alpha: float) -> Predictions:
        """The same with the variances of each prediction, as the estimator states them."""
        ridge = 1.0 / alpha**2
        weights, gain = self._weights(ridge)
        noise = np.einsum("ij,ij->j", weights, weights)
        explained = np.einsum("ij,ij->j", weights, self.products) - gain * (self.means @ weights)
        model = (self.test_squares - explained) / ridge - noise
        return Predictions(self.errors(alpha), noise, np.maximum(model, 0.0))

    def _weights(self, ridge: float) -> tuple[FloatArray, FloatArray]:
        """(weights, how much of each makes it right for every n)."""
        solved = self.bands.solve(ridge, self.products)
        if not self.free_total:
            return solved, np.zeros_like(self.test_means)
        inverse = self.bands.solve(ridge, self.means)
        gain = (self.test_means - self.means @ solved) / float(self.means @ inverse)
        return solved + np.multiply.outer(inverse, gain), gain


def choose_alpha(
    evidence: Evidence[DenseKernel],
    *,
    folds: int | Sequence[IndexArray] = 5,
    alphas: ArrayLike | None = None,
) -> AlphaChoice:
    """The α with the least cross-validated error, refined by ternary search.

    `folds` is a number (rows are dealt in turn, so the choice is the same for everyone) or lists
    of rows. `alphas` is the grid; by default it runs from where only the prior counts to where
    nearly nothing is shrunk. Privacy: free; it reads released values only.
    """
    tests = _dealt(evidence.size, folds)
    prepared = [_prepare(evidence, test) for test in tests]
    if alphas is None:
        grid = default_grid(evidence, max(fold.bands.largest_eigenvalue() for fold in prepared))
    else:
        grid = np.sort(np.asarray(alphas, np.float64).reshape(-1))
    if not (grid.size and np.isfinite(grid).all() and grid[0] > 0.0):
        raise EstimateError("alphas must be finite numbers above zero")

    def mean_error(alpha: float) -> float:
        return sum(float(f.errors(alpha).sum()) for f in prepared) / evidence.size

    scanned = [np.concatenate([f.errors(float(alpha)) for f in prepared]) for alpha in grid]
    means = np.array([float(errors.mean()) for errors in scanned])
    deviations = np.array([float(errors.std()) for errors in scanned]) / math.sqrt(evidence.size)
    best = int(np.argmin(means))
    chosen, least = _refined(mean_error, grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)])
    if means[best] < least:  # the curve need not be unimodal
        chosen, least = float(grid[best]), float(means[best])
    return AlphaChoice(chosen, grid, means, deviations, least, _inflation(prepared, chosen))


def _refined(error: Callable[[float], float], low: float, high: float) -> tuple[float, float]:
    """(α, its error) by ternary search between two α, on the logarithm.

    The thirds are golden sections, so that each step needs one new evaluation instead of two.
    """
    near, far = math.log(low), math.log(high)
    inner = [far - _GOLDEN * (far - near), near + _GOLDEN * (far - near)]
    errors = [error(math.exp(place)) for place in inner]
    for _ in range(_TERNARY_STEPS if far > near else 0):
        if errors[0] <= errors[1]:
            far, inner[1], errors[1] = inner[1], inner[0], errors[0]
            inner[0] = far - _GOLDEN * (far - near)
            errors[0] = error(math.exp(inner[0]))
        else:
            near, inner[0], errors[0] = inner[0], inner[1], errors[1]
            inner[1] = near + _GOLDEN * (far - near)
            errors[1] = error(math.exp(inner[1]))
    best = 0 if errors[0] <= errors[1] else 1
    return math.exp(inner[best]), errors[best]


def default_grid(evidence: Evidence[DenseKernel], largest: float, size: int = GRID) -> FloatArray:
    """α from a tenth of where the strongest direction starts to count, to almost no shrinkage.

    `largest` is the largest eigenvalue of the whitened kernel.
    """
    if not largest > 0.0:
        return np.array([1.0])
    typical = float(np.mean(evidence.kernel.diagonal() / evidence.noise.variances))
    low = 0.1 / math.sqrt(largest)
    high = 1e3 / math.sqrt(max(typical, 1e-4 * largest))
    return np.geomspace(low, high, size)


def _dealt(size: int, folds: int | Sequence[IndexArray]) -> list[IndexArray]:
    if not isinstance(folds, int):
        tests = [np.asarray(test, np.intp) for test in folds]
        if sorted(np.concatenate(tests).tolist()) != list(range(size)):
            raise EstimateError("folds must hold every row of the history exactly once")
    elif 2 <= folds <= size:
        tests = [np.arange(start, size, folds, dtype=np.intp) for start in range(folds)]
    else:
        raise EstimateError(
            f"cross-validation needs at least 2 folds and a row in each; the history has {size}"
        )
    if len(tests) < 2 or any(len(test) == 0 for test in tests):
        raise EstimateError("cross-validation needs at least 2 folds, none of them empty")
    return tests


def _prepare(evidence: Evidence[DenseKernel], test: IndexArray) -> _Fold:
    train = np.setdiff1d(np.arange(evidence.size), test)
    noise = evidence.noise.of_rows(train)
    kernel = evidence.kernel.matrix
    bands, rotation = reduce_to_band(noise.whiten_kernel(kernel[np.ix_(train, train)]))
    columns = [
        evidence.deviations[train, None],
        evidence.means[train, None],
        kernel[np.ix_(train, test)],
    ]
    shared = evidence.noise.between(train, test)
    if shared is not None:
        columns.append(shared)
    rotated = rotation.into(noise.whiten(np.concatenate(columns, axis=1)))
    ends = 2 + len(test)
    return _Fold(
        bands,
        rotated[:, 0],
        rotated[:, 1],
        rotated[:, 2:ends],
        None if shared is None else rotated[:, ends:],
        evidence.deviations[test],
        evidence.means[test],
        evidence.noise.variances[test],
        evidence.kernel.diagonal()[test],
        evidence.has_free_total,
    )


def _inflation(prepared: Sequence[_Fold], alpha: float) -> float:
    """By how much error bars must grow to hold what all folds miss."""
    predicted = [fold.predictions(alpha) for fold in prepared]
    return Predictions(
        np.concatenate([one.errors for one in predicted]),
        np.concatenate([one.noise_variances for one in predicted]),
        np.concatenate([one.model_variances for one in predicted]),
    ).inflation
