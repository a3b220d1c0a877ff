"""Maximum entropy with exact sums: the dual solved by L-BFGS-B on a junction tree (HIST Th. 6).

Maximise Σ w_i·π_i − ln Z_w − ½ Σ s_i·w_i² over |w_i| ≤ β_i. Weights are scaled by the curvature
they would have if the model were right, so that a rare cell moves as fast as a common one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eke.arrays import FloatArray
from eke.inference.features import probabilities
from eke.inference.max_entropy.constraints import AttributeSet, Constraints
from eke.inference.max_entropy.junction_tree import (
    JunctionTree,
    calibrate,
    expand,
    junction_tree,
    sum_to,
)
from eke.inference.max_entropy.model import TreeDistribution
from eke.inference.max_entropy.report import FitDistance
from eke.query import Prior

_LARGEST_WEIGHT = 1e4  # with alpha = inf a weight may run away for ever


@dataclass(frozen=True, slots=True, eq=False)
class ExactFit:
    """The fitted model, its weights (for a warm start) and how well they converged."""

    distribution: TreeDistribution
    weights: FloatArray  # (m,)
    convergence: FitDistance


def tree_of(constraints: Constraints) -> JunctionTree:
    """The junction tree of the constraints."""
    sizes = {name: attribute.size for name, attribute in constraints.domain.attributes}
    return junction_tree(sizes, constraints.attribute_sets)


class Dual:
    """The dual function of constraints on a junction tree, with its gradient."""

    def __init__(self, constraints: Constraints, prior: Prior, tree: JunctionTree) -> None:
        self.constraints, self.tree = constraints, tree
        self._homes = {s: tree.home_of(s) for s in constraints.attribute_sets}
        self._base = [np.zeros(tree.shape(i)) for i in range(len(tree.cliques))]
        for name, vector in prior.vectors.items():
            home = tree.home_of((name,))
            around = tree.cliques[home].attributes
            self._base[home] = self._base[home] + expand(np.log(vector), (name,), around)

    def beliefs(self, weights: FloatArray) -> tuple[list[FloatArray], float]:
        """(clique probabilities, ln Z) at some weights."""
        tables = [table.copy() for table in self._base]
        for attributes, flat in self.constraints.log_tables(weights).items():
            home = self._homes[attributes]
            shaped = flat.reshape([self.tree.sizes[name] for name in attributes])
            tables[home] += expand(shaped, attributes, self.tree.cliques[home].attributes)
        return calibrate(self.tree, tables)

    def expectations(self, beliefs: list[FloatArray]) -> FloatArray:
        """p[f_i] of every constraint; shape (m,)."""
        marginals: dict[AttributeSet, FloatArray] = {}
        for attributes, home in self._homes.items():
            around = self.tree.cliques[home].attributes
            marginals[attributes] = sum_to(beliefs[home], around, attributes).reshape(-1)
        return self.constraints.expectations(marginals)

    def value_and_gradient(self, weights: FloatArray) -> tuple[float, FloatArray]:
        """The dual to be maximised (HIST eq. 37), and its gradient (eq. 39)."""
        given = self.constraints
        beliefs, log_total = self.beliefs(weights)
        curved = given.quadratics * weights
        value = float(weights @ given.targets) - log_total - 0.5 * float(weights @ curved)
        return value, given.targets - self.expectations(beliefs) - curved


def fit_exactly(
    constraints: Constraints,
    prior: Prior,
    tree: JunctionTree,
    *,
    start: FloatArray | None = None,
    tolerance: float = 1e-3,
    most_steps: int = 1000,
) -> ExactFit:
    """The maximum entropy distribution, on a junction tree that holds every constraint.

    `tolerance` is the largest distance from the optimum's conditions, in deviations of the noise,
    at which the fit counts as converged.
    """
    from scipy.optimize import Bounds, minimize  # noqa: PLC0415 - slow to load

    dual = Dual(constraints, prior, tree)
    scaling = 1.0 / np.sqrt(_curvature(constraints, prior))
    largest = np.minimum(constraints.bounds, _LARGEST_WEIGHT) / scaling
    first = np.zeros(constraints.size) if start is None else np.asarray(start, np.float64) / scaling

    def descend(scaled: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = dual.value_and_gradient(scaled * scaling)
        return -value, -gradient * scaling

    optimum = minimize(
        descend,
        np.clip(first, -largest, largest),
        jac=True,
        method="L-BFGS-B",
        bounds=Bounds(-largest, largest),
        options={
            "maxiter": most_steps,
            "maxfun": 2 * most_steps,
            "maxcor": 20,
            "ftol": 1e-16,
            "gtol": tolerance * float(np.min(constraints.deviations * scaling)),
        },
    )
    weights = np.asarray(optimum.x) * scaling
    weights = np.clip(weights, -constraints.bounds, constraints.bounds)
    beliefs, _ = dual.beliefs(weights)
    expected = dual.expectations(beliefs)
    gradient = constraints.targets - expected - constraints.quadratics * weights
    excess = constraints.excess(weights, gradient, expected) / constraints.deviations
    convergence = FitDistance(
        "exact",
        int(optimum.nit),
        float(np.abs(excess).max(initial=0.0)),
        float(np.sqrt(np.mean(excess**2))),
        0.0,
        tolerance,
        -float(optimum.fun),
    )
    distribution = TreeDistribution(constraints.domain, tree, tuple(beliefs))
    return ExactFit(distribution, weights, convergence)


def _curvature(constraints: Constraints, prior: Prior) -> FloatArray:
    """A guess of −∂²dual/∂w_i² at the optimum: p[f²] there is near the noisy share for a count."""
    marginals = {s: probabilities(prior, s) for s in constraints.attribute_sets}
    before = constraints.squares(marginals)
    seen = np.maximum(constraints.targets, 0.0)
    return (
        np.maximum(np.maximum(np.minimum(before, 1e9), seen), 1e-9) * 0.5 + constraints.quadratics
    )
