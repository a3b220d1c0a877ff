"""Several accuracies in one batch: each marginal its own requirement, the least budget for all.

Measuring components by themselves, the variance of a target's cells is linear in the components'
variances V and the cost is a sum of convex functions of them:

    minimise Σ p/V (Gaussian) or Σ r/√V (Laplace)   subject to   per_cell @ V <= required

The dual has one multiplier for each target and a closed form for V. Under Laplace noise measuring
larger marginals is often cheaper than components; the requirement then fixes their noise by a
descent over the same objective, and the cheaper of both is taken.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array

from eke.arrays import FloatArray
from eke.errors import AccuracyError
from eke.planning.workload import budget as noise_budget
from eke.planning.workload.lattice import Lattice
from eke.planning.workload.options import Option, best_design, named_strategies
from eke.planning.workload.release.marginals import MarginalSection
from eke.planning.workload.release.plan import ReleasePlan
from eke.planning.workload.release.replaced import loss_factor
from eke.planning.workload.release.section import Alternative
from eke.planning.workload.strategy.blocks import BlockStrategy, residual_tables
from eke.planning.workload.workload import Workload
from eke.privacy.measure import Measure
from eke.query import Neighbours

_SHARPNESS = (8.0, 64.0, 512.0)


def plan_for_accuracies(
    workload: Workload,
    required: Sequence[float] | Mapping[tuple[str, ...], float],
    measure: Measure,
    neighbours: Neighbours = "add_remove",
    rows_per_unit: int = 1,
) -> ReleasePlan:
    """The cheapest plan found in which every marginal has its required standard error or less.

    `required` gives the standard error of a cell of each target, in order or by attributes.
    """
    if not workload.is_marginal:
        raise AccuracyError("requirements are for workloads of whole marginals; ask ranges apart")
    lattice = Lattice(workload)
    limits = _limits(lattice, required) ** 2
    options = [_by_components(lattice, residual_tables(lattice, measure), limits, measure)]
    if not measure.rotations_are_free or neighbours == "replace_one":
        strategies = _marginal_strategies(lattice, limits, measure)
        options += [_by_descent(lattice, strategy, limits, measure) for strategy in strategies]
    sections = []
    for option in options:
        cost = _cost(option, measure)
        section = MarginalSection(lattice, option, measure, cost, ())
        sections.append((cost * loss_factor(section, measure, neighbours, rows_per_unit), section))
    sections.sort(key=lambda pair: pair[0])
    budget, best = sections[0]
    listed = tuple(_alternative(lattice, cost, section.option) for cost, section in sections)
    chosen = MarginalSection(lattice, best.option, measure, best.budget, listed)
    return ReleasePlan(workload, measure, budget, (chosen,), rows_per_unit)


def _marginal_strategies(
    lattice: Lattice, limits: FloatArray, measure: Measure
) -> list[BlockStrategy]:
    """Sets of whole marginals that may be cheaper than components."""
    known = named_strategies(lattice, measure)
    simple = [known[name] for name in ("I", "Q", "C") if name in known]
    # A design for the total error, targets weighted by how much they matter, is a good start.
    weights = 1.0 / (limits * lattice.target_cells)
    targets = [
        replace(target, weight=float(weight))
        for target, weight in zip(lattice.workload.targets, weights, strict=True)
    ]
    weighted = Lattice(Workload(lattice.workload.domain, tuple(targets)))
    design = best_design(weighted, measure, 1.0)
    return simple if design is None else [*simple, design.strategy]


def _alternative(lattice: Lattice, cost: float, option: Option) -> Alternative:
    return Alternative(
        option.name,
        math.sqrt(option.total_error / float(lattice.weights @ lattice.target_cells)),
        math.sqrt(float(option.target_variances.max())),
        option.answers,
        cost,
    )


def least_cost_of_components(
    per_cell: csr_array[np.float64],
    prices: FloatArray,
    limits: FloatArray,
    measure: Measure,
) -> tuple[FloatArray, float]:
    """(V, lower bound of the cost): the optimal component variances that meet all limits.

    prices: cost of a component at V = 1. The bound is the value of the dual.
    """
    from scipy.optimize import minimize  # noqa: PLC0415 - slow to load

    power = measure.order / 2.0  # cost of a component is price / V^power

    def primal(multipliers: FloatArray) -> FloatArray:
        pressure = np.maximum(np.asarray(per_cell.T @ multipliers), 1e-300)
        return np.asarray((power * prices / pressure) ** (1.0 / (1.0 + power)))

    # Σ price/V^power + pressure·V at its least is homogeneous in the multipliers, so their scale
    # can be eliminated and a smooth function of their logarithms without constraints is left.
    degree = power / (1.0 + power)

    def negative_dual(logarithms: FloatArray) -> tuple[float, FloatArray]:
        multipliers = np.exp(logarithms)
        variances = primal(multipliers)
        reached = np.asarray(per_cell @ variances)
        least = float(np.sum(prices / variances**power)) + float(multipliers @ reached)
        bound = float(multipliers @ limits)
        value = degree * math.log(bound) - math.log(least)
        return value, multipliers * (degree * limits / bound - reached / least)

    start = -np.log(limits)
    optimum = minimize(
        negative_dual,
        start - float(start.max()),
        jac=True,
        method="L-BFGS-B",
        bounds=[(-60.0, 20.0)] * len(limits),
        options={"maxiter": 3000, "maxfun": 6000, "ftol": 1e-14, "gtol": 1e-11, "maxcor": 30},
    )
    multipliers = np.exp(optimum.x)
    variances = primal(multipliers)
    least = float(np.sum(prices / variances**power)) + float(multipliers @ (per_cell @ variances))
    bound = float(multipliers @ limits)
    scale = (degree * least / bound) ** (1.0 / (1.0 - degree))
    variances = variances / float((np.asarray(per_cell @ variances) / limits).max())
    return variances, least * scale**degree - scale * bound


def _by_components(
    lattice: Lattice, strategy: BlockStrategy, limits: FloatArray, measure: Measure
) -> Option:
    reaches, squares = strategy.reaches(measure), strategy.row_squares
    # The cost of a component whose variance is one.
    prices = measure.loss_of_reach(reaches, squares)
    is_needed = lattice.share > 0.0
    per_cell = lattice.per_cell[:, np.flatnonzero(is_needed)]
    variances, _ = least_cost_of_components(per_cell, prices, limits, measure)
    return _option(lattice, strategy, variances * squares)


def _by_descent(
    lattice: Lattice, strategy: BlockStrategy, limits: FloatArray, measure: Measure
) -> Option:
    """Noise of given blocks that meets all limits at a cost that descent cannot lower.

    The largest ratio of variance to limit is smoothed by a high norm, sharpened step by step; the
    result is scaled to meet every limit exactly.
    """
    from scipy.optimize import minimize  # noqa: PLC0415 - slow to load

    reaches = strategy.reaches(measure)
    gains = strategy.precisions(lattice)
    transposed = gains.T.tocsr()
    ratios = csr_array(lattice.per_cell.multiply(1.0 / limits[:, None]))
    power = measure.variance_power

    def objective(x: FloatArray, sharpness: float) -> tuple[float, FloatArray]:
        information = np.exp(power * x)
        precision = np.maximum(transposed @ information, 1e-300)
        reached = ratios @ (1.0 / precision)
        top = float(reached.max())
        shares = (reached / top) ** sharpness
        norm = math.log(top) + math.log(float(shares.sum())) / sharpness
        by_ratio = shares / reached / shares.sum()
        slope = -power * information * (gains @ ((ratios.T @ by_ratio) / precision**2))
        paid = reaches * np.exp(x)
        return norm + power * math.log(float(paid.sum())), slope + power * paid / paid.sum()

    x = np.zeros(len(reaches))
    for sharpness in _SHARPNESS:
        optimum = minimize(
            objective,
            x,
            args=(sharpness,),
            jac=True,
            method="L-BFGS-B",
            bounds=[(-30.0, 30.0)] * len(x),
            options={"maxiter": 500, "ftol": 1e-12},
        )
        x = optimum.x
    precision = transposed @ np.exp(power * x)
    excess = float((ratios @ (1.0 / precision)).max())
    return _option(lattice, strategy, np.exp(-power * x) / excess)


def _option(lattice: Lattice, strategy: BlockStrategy, noise_variances: FloatArray) -> Option:
    with np.errstate(divide="ignore"):
        components = 1.0 / np.asarray(
            strategy.precisions(lattice).T @ (1.0 / noise_variances), np.float64
        )
    targets = lattice.target_variances(components)
    total = float((lattice.weights * lattice.target_cells) @ targets)
    return Option(strategy, "least_squares", "least_squares", noise_variances, targets, total)


def _cost(option: Option, measure: Measure) -> float:
    return noise_budget.cost(option.noise_variances, option.strategy.reaches(measure), measure)


def _limits(
    lattice: Lattice, required: Sequence[float] | Mapping[tuple[str, ...], float]
) -> FloatArray:
    if isinstance(required, Mapping):
        lacking = [names for names in lattice.targets if names not in required]
        if lacking:
            raise AccuracyError(f"no requirement for the marginal over {', '.join(lacking[0])}")
        given = [required[names] for names in lattice.targets]
    else:
        given = list(required)
    if len(given) != len(lattice.targets):
        raise AccuracyError("give one required standard error for each marginal of the workload")
    limits = np.array(given, np.float64)
    if not ((limits > 0.0) & np.isfinite(limits)).all():
        raise AccuracyError("required standard errors must be positive and finite")
    return limits
