"""Maximum entropy's α, chosen by answers that are held out (HIST §3.5, for §4).

The bounds of a constraint are in proportion to α; a bound of 0 takes it out. So answers are held
out by bounds, and the model of the others predicts them at each α of a grid, the strongest prior
first, each from the weights of the one before. Where no junction tree holds all constraints, the
tractable core of them chooses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from eke.arrays import FloatArray
from eke.inference.features import TableGroup
from eke.inference.max_entropy.constraints import Constraints
from eke.inference.max_entropy.core import core_sets
from eke.inference.max_entropy.exact import fit_exactly, tree_of
from eke.query import Prior

ALPHAS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3)
USUAL = 0.01
"""Of histories with too few answers to hold any out."""
_LEAST = 20  # answers
_CELLS = 2**14  # of the junction tree that chooses
_FOLDS = 5
_STEPS = 60
_MANY = 500  # answers: only one of the parts is predicted then


def choose_entropy_alpha(
    constraints: Constraints,
    prior: Prior,
    *,
    folds: int | None = None,
    alphas: Sequence[float] = ALPHAS,
) -> float:
    """The α whose models predict held-out answers best, given the constraints at α = 1.

    Answers are dealt to `folds` parts in turn. Of more than 500 only one part in five is predicted,
    unless `folds` is given. Privacy: free; it reads released values only.
    """
    part = tractable_part(constraints)
    parts = _FOLDS if folds is None else folds
    if part.size < max(_LEAST, parts):
        return USUAL
    predicted = parts if folds is not None or part.size <= _MANY else 1
    errors = np.zeros(len(alphas))
    for fold in range(predicted):
        errors += _errors(part, prior, np.arange(part.size) % parts == fold, alphas)
    return float(alphas[int(np.argmin(errors))])


def tractable_part(constraints: Constraints) -> Constraints:
    """The constraints over as many attribute sets as a small junction tree can hold."""
    if tree_of(constraints).cells <= _CELLS:
        return constraints
    chosen = core_sets(constraints, _CELLS)
    inside = [group for group in constraints.groups if group.attributes in chosen]
    if not inside:
        return constraints
    rows = np.unique(np.concatenate([group.rows for group in inside]))
    place = np.full(constraints.size, -1, np.intp)
    place[rows] = np.arange(len(rows))
    return Constraints(
        constraints.domain,
        tuple(TableGroup(g.attributes, place[g.rows], g.tables) for g in inside),
        constraints.targets[rows],
        constraints.bounds[rows],
        constraints.quadratics[rows],
        constraints.deviations[rows],
    )


def _errors(
    constraints: Constraints, prior: Prior, held_out: np.ndarray, alphas: Sequence[float]
) -> FloatArray:
    """The summed squared errors of predicted shares at each α; (alphas,)."""
    tree, weights = tree_of(constraints), np.zeros(constraints.size)
    errors = []
    for alpha in alphas:
        told = replace(
            constraints,
            bounds=np.where(held_out, 0.0, alpha * constraints.bounds),
            quadratics=constraints.quadratics / alpha,
        )
        fitted = fit_exactly(told, prior, tree, start=weights, most_steps=_STEPS)
        weights = fitted.weights
        marginals = {
            names: fitted.distribution.marginal(names).reshape(-1)
            for names in constraints.attribute_sets
        }
        off = constraints.expectations(marginals) - constraints.targets
        errors.append(float((off[held_out] ** 2).sum()))
    return np.array(errors)
