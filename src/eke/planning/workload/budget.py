"""Budgets: how much noise each group of measurements gets (CUBE §3.1 and appendix A).

Noise is stated as the variance of each answer. With Laplace noise of scale b the variance is 2b²
and a group with L1 reach C costs C/b of epsilon; with Gaussian noise of variance v a group whose
squared L2 reach is C costs C/2v of rho. Groups are touched by every record, so their costs add.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from scipy.sparse import csr_array

from eke.arrays import FloatArray
from eke.errors import PrivacyError
from eke.privacy.measure import Measure

SparseRows: TypeAlias = "csr_array[np.float64]"

# A group whose share of the budget falls below this is not measured at all.
_NEGLIGIBLE = 1e-9
# Multipliers of conditions that do not bind stay this far from zero, where the dual has no slope.
_LEAST_MULTIPLIER = 1e-10


def cost(noise_variances: FloatArray, reaches: FloatArray, measure: Measure) -> float:
    """The epsilon or rho that a record pays for all groups together."""
    return float(np.sum(measure.loss_of_reach(reaches, noise_variances)))


def scaled_to(
    noise_variances: FloatArray, reaches: FloatArray, measure: Measure, budget: float
) -> FloatArray:
    """The same proportions of noise, at exactly the given cost."""
    if not (budget > 0.0 and math.isfinite(budget)):
        raise PrivacyError("the budget of a plan must be positive and finite")
    ratio = cost(noise_variances, reaches, measure) / budget
    return np.asarray(noise_variances * ratio**measure.variance_power)


def uniform(
    reaches: FloatArray, measure: Measure, budget: float, row_squares: FloatArray | None = None
) -> FloatArray:
    """The same noise for every answer, or for every answer once its row has unit length."""
    proportions = np.ones(len(reaches)) if row_squares is None else row_squares
    return scaled_to(proportions, reaches, measure, budget)


def by_groups(
    error_weights: FloatArray, reaches: FloatArray, measure: Measure, budget: float
) -> FloatArray:
    """The noise that minimises Σ error_weight · variance, in closed form (eq. 4-6, appendix A).

    Laplace: 1/b ∝ (s/C)^(1/3). Gaussian: v ∝ (C/s)^(1/2), C being the squared reach. A group that
    no answer needs gets no budget.
    """
    with np.errstate(divide="ignore"):
        variances = (error_weights / reaches) ** (-2.0 / (2.0 + measure.order))
    return scaled_to(variances, reaches, measure, budget)


@dataclass(frozen=True, slots=True)
class ConvexBudget:
    """Noise variances, their error, and a proof of how far it can be from the optimum."""

    noise_variances: FloatArray
    error: float
    lower_bound: float  # no budget whatsoever has a smaller error


def convex(
    error_weights: FloatArray, strategy: FloatArray, measure: Measure, budget: float
) -> ConvexBudget:
    """The optimal noise of every single row of any strategy matrix (problem (1)-(3)).

    strategy: (rows, cells). The dual has one multiplier for each cell and a closed form for the
    rows, so it is smooth and its value bounds the optimum from below.
    """
    from scipy.optimize import Bounds, minimize  # noqa: PLC0415 - slow to load

    size: FloatArray = measure.raised(np.abs(strategy))
    used = error_weights > 0.0
    # Cells that meet the same rows give the same condition.
    load, weight = np.unique(size[used], axis=1), error_weights[used]
    power = 2.0 / (2.0 + measure.order)

    def best(pressure: FloatArray) -> FloatArray:
        """The losses x of the rows with the least Σ weight · variance(x) + pressure · x."""
        falls = measure.variance_power  # variances are variance_for(1) / x^falls
        slope = falls * measure.variance_for(1.0)
        return np.asarray((slope * weight / pressure) ** (1.0 / (1.0 + falls)))

    def dual(multipliers: FloatArray) -> tuple[float, FloatArray]:
        pressure = np.maximum(load @ multipliers, 1e-300)
        chosen = best(pressure)
        value = np.sum(weight * measure.variance_for(chosen) + pressure * chosen)
        return budget * float(multipliers.sum()) - float(value), budget - load.T @ chosen

    # The dual is homogeneous up to its linear part, so the best multiple of a start is known.
    start = np.full(load.shape[1], 1.0)
    gain = start.sum() * budget - dual(start)[0]
    start *= (power * gain / (start.sum() * budget)) ** (1.0 / (1.0 - power))
    unit = float(start[0])

    def scaled_dual(y: FloatArray) -> tuple[float, FloatArray]:
        value, slope = dual(unit * y)
        return value, unit * slope

    optimum = minimize(
        scaled_dual,
        start / unit,
        jac=True,
        method="L-BFGS-B",
        bounds=Bounds(_LEAST_MULTIPLIER, math.inf),
        options={"maxiter": 2000, "maxfun": 4000, "ftol": 1e-12, "gtol": 1e-10, "maxcor": 30},
    )
    multipliers = unit * optimum.x
    pressure = np.maximum(load @ multipliers, 1e-300)
    chosen = best(pressure)
    chosen *= budget / float((load.T @ chosen).max())
    variances = np.full(len(error_weights), math.inf)
    variances[used] = measure.variance_for(chosen)
    error = float(weight @ variances[used])
    return ConvexBudget(variances, error, -dual(multipliers)[0])


def for_least_squares(
    precisions: csr_array[np.float64],
    importance: FloatArray,
    reaches: FloatArray,
    measure: Measure,
    budget: float,
    *,
    start: FloatArray | None = None,
) -> FloatArray:
    """The noise that minimises the error after generalised least squares, not of a provisional one.

    precisions: (blocks, components), of unit noise. The error Σ importance / precision does not
    change with the scale of the budget once multiplied by the cost (squared for Laplace), so the
    logarithms of the noise are free variables. Gaussian: the problem is convex. Laplace: it is
    not; the result is no worse than the start (noise variances; uniform by default).
    """
    from scipy.optimize import minimize  # noqa: PLC0415 - slow to load

    used = importance > 0.0
    gains, weight = precisions[:, np.flatnonzero(used)], importance[used]
    transposed = gains.T.tocsr()
    exponent = measure.variance_power
    first = np.ones(len(reaches)) if start is None else np.asarray(start, np.float64)
    alive = np.isfinite(first)
    first = np.where(alive, first, 1e12 * np.min(first[alive]))
    logarithms = -np.log(first) / exponent

    def error(x: FloatArray) -> tuple[float, FloatArray]:
        information = np.exp(exponent * x)
        total = np.maximum(transposed @ information, 1e-300)
        loss = float(np.sum(weight / total))
        paid = reaches * np.exp(x)
        slope = -exponent * information * (gains @ (weight / total**2)) / loss
        return (
            math.log(loss) + exponent * math.log(float(paid.sum())),
            slope + exponent * paid / paid.sum(),
        )

    centre = float(logarithms.max())
    optimum = minimize(
        error,
        logarithms - centre,
        jac=True,
        method="L-BFGS-B",
        bounds=[(-40.0, 40.0)] * len(reaches),
        options={"maxiter": 2000, "maxfun": 4000, "ftol": 1e-13, "gtol": 1e-9, "maxcor": 20},
    )
    best = optimum.x if optimum.fun <= error(logarithms - centre)[0] else logarithms - centre
    paid = reaches * np.exp(best)
    is_used = paid > _NEGLIGIBLE * paid.sum()
    if np.any(transposed @ is_used.astype(np.float64) <= 0.0):
        is_used = np.ones(len(paid), bool)  # dropping them all would lose a component
    variances = np.where(is_used, np.exp(-exponent * best), math.inf)
    return scaled_to(variances, reaches, measure, budget)
