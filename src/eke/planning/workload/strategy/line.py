"""Strategies for one attribute: ranges and prefixes with the least error.

A strategy along an attribute is a list of levels: integer rows and a weight each, so that a record
meets rows whose weighted absolute values (Laplace) or weighted squares (Gaussian) add up to at most
one. Products of such strategies serve targets over several attributes, as in HDMM (McKenna et al.
2018), whose p-identity matrices `optimised` finds by descent.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from eke.arrays import FloatArray
from eke.planning.workload.strategy.matrices import MatrixStrategy, haar, hierarchy, identity
from eke.planning.workload.workload import Along
from eke.privacy.measure import Measure

IntMatrix = NDArray[np.int64]

_BRANCHINGS = (2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 32)
_MOST_OPTIMISED = 400  # values; beyond, descent over whole matrices takes too long
_MATRIX_BITS = 20


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """Rows that get the same noise; `weight` multiplies their information."""

    matrix: IntMatrix
    weight: float  # 1/b for Laplace noise, 1/variance for Gaussian, at unit cost


@dataclass(frozen=True, slots=True, eq=False)
class LineStrategy:
    """What is measured along one attribute at unit cost, and the error of that."""

    name: str
    levels: tuple[Level, ...]
    inverse: FloatArray  # (n, n): the covariance of the cells' estimates, for unit row variances
    error: float  # trace of workload Gram times inverse

    @property
    def rows(self) -> int:
        return sum(len(level.matrix) for level in self.levels)


def workload_gram(kind: Along, size: int) -> FloatArray:
    """WᵀW of the questions along an attribute, without listing them."""
    i = np.arange(size, dtype=np.float64)
    low, high = np.minimum.outer(i, i), np.maximum.outer(i, i)
    if kind == "cells":
        return np.eye(size)
    if kind == "prefixes":
        return np.asarray(size - high)
    return np.asarray((low + 1.0) * (size - high))


def question_variances(kind: Along, covariance: FloatArray) -> FloatArray:
    """The variance of every question: by value, by end, or by (first, last) in order."""
    if kind == "cells":
        return np.asarray(covariance.diagonal().copy())
    sums = covariance.cumsum(axis=0).cumsum(axis=1)
    if kind == "prefixes":
        return np.asarray(sums.diagonal().copy())
    padded = np.pad(sums, ((1, 0), (1, 0)))
    size = len(covariance)
    first, last = np.triu_indices(size)
    upper, lower = last + 1, first
    return np.asarray(
        padded[upper, upper] - padded[upper, lower] - padded[lower, upper] + padded[lower, lower]
    )


def question_values(kind: Along, table: FloatArray, axis: int) -> FloatArray:
    """The questions along an axis from its cells; ranges ordered by first, then last value."""
    if kind == "cells":
        return table
    sums = np.moveaxis(table, axis, 0).cumsum(axis=0)
    if kind == "ranges":
        first, last = np.triu_indices(len(sums))
        padded = np.concatenate([np.zeros_like(sums[:1]), sums])
        sums = padded[last + 1] - padded[first]
    return np.moveaxis(sums, 0, axis)


@lru_cache(maxsize=64)
def line_strategies(kind: Along, size: int, measure: Measure) -> tuple[LineStrategy, ...]:
    """The strategies along an attribute, the least error first."""
    gram = workload_gram(kind, size)
    strategies = [_weighted(identity(size), gram, measure)]
    if size > 1:
        strategies.append(_weighted(haar(size), gram, measure))
        trees = [hierarchy(size, b) for b in _BRANCHINGS if b < 2 * size]
        strategies.append(_weighted(_best_tree(trees, gram, measure), gram, measure))
        if size <= _MOST_OPTIMISED and kind != "cells":
            strategies.append(optimised(gram, measure))
    return tuple(sorted(strategies, key=lambda strategy: strategy.error))


def _best_tree(trees: list[MatrixStrategy], gram: FloatArray, measure: Measure) -> MatrixStrategy:
    """The hierarchy whose branching costs least with the same noise on all levels."""

    def error(tree: MatrixStrategy) -> float:
        rows = tree.matrix.astype(np.float64)
        levels = float(tree.groups.max() + 1) if tree.groups is not None else 1.0
        inverse = _inverse(rows.T @ rows)
        noise = float(levels**measure.variance_power)
        return float(np.sum(gram * inverse)) * noise

    return min(trees, key=error)


def _weighted(strategy: MatrixStrategy, gram: FloatArray, measure: Measure) -> LineStrategy:
    """The strategy with the weights of its levels optimised for the error after least squares."""
    from scipy.optimize import minimize  # noqa: PLC0415 - slow to load

    groups = np.zeros(len(strategy.matrix), int) if strategy.groups is None else strategy.groups
    parts = [strategy.matrix[groups == g] for g in range(int(groups.max()) + 1)]
    floats = [part.astype(np.float64) for part in parts]
    grams = [part.T @ part for part in floats]
    power = measure.variance_power  # information of a row is weight ** power

    def error(x: FloatArray) -> tuple[float, FloatArray]:
        weights = np.exp(x - np.log(np.exp(x).sum()))  # every level has reach one
        information = sum(w**power * g for w, g in zip(weights, grams, strict=True))
        inverse = _inverse(np.asarray(information))
        middle = inverse @ gram @ inverse
        value = float(np.sum(gram * inverse))
        slope = np.array(
            [-power * w**power * np.sum(middle * g) for w, g in zip(weights, grams, strict=True)]
        )
        return np.log(value), (slope - weights * slope.sum()) / value

    x = np.zeros(len(parts))
    if len(parts) > 1:
        x = minimize(
            error,
            x,
            jac=True,
            method="L-BFGS-B",
            bounds=[(-8.0, 8.0)] * len(parts),  # no level is ever quite without weight
            options={"maxiter": 60, "ftol": 1e-7},
        ).x
    weights = np.exp(x - np.log(np.exp(x).sum()))
    levels = tuple(Level(p, float(w)) for p, w in zip(parts, weights, strict=True))
    return _with_levels(strategy.name, levels, gram, measure)


def optimised(gram: FloatArray, measure: Measure) -> LineStrategy:
    """A matrix [I; Θ]·D with unit columns whose error is (locally) least.

    Laplace: few rows Θ, as HDMM does. Gaussian: as many as values where that is
    affordable, which spans all strategies.
    The entries are rounded to a grid afterwards and the error is that of the rounded matrix.
    """
    from scipy.optimize import Bounds, minimize  # noqa: PLC0415 - slow to load

    size = len(gram)
    extra = min(size, 64 + size // 8) if measure.rotations_are_free else size // 16 + 1
    # A start that is the same every time: intervals of all lengths, slightly irregular.
    golden = 0.5 * (np.sqrt(5.0) - 1.0)
    start = (np.arange(1, extra * size + 1) * golden) % 1.0
    smooth = workload_gram("prefixes", size)[:: max(1, size // extra)][:extra] / size
    starts = (start.reshape(extra, size), 0.5 * smooth + 0.1 * start.reshape(extra, size))

    def error(x: FloatArray) -> tuple[float, FloatArray]:
        return _p_identity_error(x.reshape(extra, size), gram, measure)

    tried = [
        minimize(
            error,
            theta.reshape(-1),
            jac=True,
            method="L-BFGS-B",
            bounds=Bounds(0.0, math.inf),
            options={"maxiter": 150, "maxfun": 200, "ftol": 1e-6},
        )
        for theta in starts
    ]
    best = min(tried, key=lambda found: float(found.fun))
    stacked = np.vstack([np.eye(size), best.x.reshape(extra, size)])
    norms = measure.root(measure.raised(np.abs(stacked)).sum(axis=0))
    matrix = np.rint(stacked / norms * 2.0**_MATRIX_BITS).astype(np.int64)
    matrix = matrix[matrix.any(axis=1)]
    reach = measure.raised(np.abs(matrix)).sum(axis=0).max()
    return _with_levels("optimised", (Level(matrix, 1.0 / float(reach)),), gram, measure)


def _p_identity_error(
    theta: FloatArray, gram: FloatArray, measure: Measure
) -> tuple[float, FloatArray]:
    """The logarithm of tr(WᵀW (AᵀA)⁻¹) for A = [I; Θ]/norms, and its gradient."""
    size = theta.shape[1]
    norms = measure.root(1.0 + measure.raised(theta).sum(axis=0))
    inverse = _inverse(np.eye(size) + theta.T @ theta)
    scaled = gram * np.outer(norms, norms)
    value = float(np.sum(inverse * scaled))
    by_norm = 2.0 * ((inverse * gram) @ norms)
    slope = -2.0 * theta @ (inverse @ scaled @ inverse)
    slope += by_norm * (theta / norms) ** (measure.order - 1)
    return float(np.log(value)), (slope / value).reshape(-1)


def _with_levels(
    name: str, levels: tuple[Level, ...], gram: FloatArray, measure: Measure
) -> LineStrategy:
    power = measure.variance_power
    information = np.zeros_like(gram)
    for level in levels:
        rows = level.matrix.astype(np.float64)
        information += level.weight**power * (rows.T @ rows)
    inverse = _inverse(information)
    return LineStrategy(name, levels, inverse, float(np.sum(inverse * gram)))


def _inverse(matrix: FloatArray) -> FloatArray:
    return np.asarray(cho_solve(cho_factor(matrix), np.eye(len(matrix))))


_WEIGHT_STEPS = 64  # of the weights in a single matrix


@lru_cache(maxsize=64)
def one_matrix(size: int, measure: Measure) -> IntMatrix:
    """A strategy for ranges along an attribute in one matrix, all rows with the same noise.

    A hierarchy (Laplace) or the Haar wavelet (Gaussian), its levels weighed by whole numbers. It
    has few rows, so that least squares over single answers stays cheap.
    """
    gram = workload_gram("ranges", size)
    if measure.rotations_are_free:
        strategy = _weighted(haar(size), gram, measure)
    else:
        trees = [hierarchy(size, b) for b in _BRANCHINGS if b < 2 * size]
        strategy = _weighted(_best_tree(trees, gram, measure), gram, measure)
    power = 1.0 / measure.order
    largest = max(level.weight for level in strategy.levels)
    rows = [
        max(1, round(_WEIGHT_STEPS * (level.weight / largest) ** power)) * level.matrix
        for level in strategy.levels
    ]
    matrix = np.vstack(rows)
    matrix.setflags(write=False)
    return matrix


def line_of(matrix: IntMatrix, kind: Along, measure: Measure) -> LineStrategy:
    """The rows of one matrix as a strategy along an attribute, at unit cost."""
    size = matrix.shape[1]
    if np.array_equal(matrix, np.eye(size)):
        return _with_levels("I", (Level(matrix, 1.0),), workload_gram(kind, size), measure)
    reach = float(measure.raised(np.abs(matrix)).sum(axis=0).max())
    name = "W" if measure.rotations_are_free else "H"
    return _with_levels(name, (Level(matrix, 1.0 / reach),), workload_gram(kind, size), measure)
