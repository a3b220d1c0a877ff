"""Fit: the maximum entropy model of a history, by exact sums where they fit, else by sampling."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eke.arrays import FloatArray
from eke.inference.max_entropy.constraints import Constraints
from eke.inference.max_entropy.core import Core
from eke.inference.max_entropy.exact import fit_exactly, tree_of
from eke.inference.max_entropy.gibbs import SampledDistribution
from eke.inference.max_entropy.model import TreeDistribution
from eke.inference.max_entropy.report import FitDistance
from eke.inference.max_entropy.sampled import SamplingEffort, fit_by_sampling
from eke.query import Prior

EXACT_CELLS = 2**22
"""Junction trees of at most this many cells are summed exactly."""


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """A fitted model: a distribution to question or to draw from, and how well it converged."""

    distribution: TreeDistribution | SampledDistribution
    weights: FloatArray  # (m,) of the constraints, for a warm start
    convergence: FitDistance
    core: Core | None = None  # of a sampled model, for a warm start as well


def fit_max_entropy(
    constraints: Constraints,
    prior: Prior | None = None,
    *,
    generator: np.random.Generator | None = None,
    exact_cells: int = EXACT_CELLS,
    effort: SamplingEffort | None = None,
    start: Fit | None = None,
    tolerance: float = 1e-3,
    most_steps: int = 1000,
) -> Fit:
    """The distribution nearest to the prior among those that explain the noisy answers (HIST §4).

    `start` is the fit of a shorter history, whose constraints come first here as well.
    `tolerance` and `most_steps` are for exact sums; `effort` says the same of sampling. Privacy:
    free; it reads released values only.
    """
    belief = Prior(constraints.domain) if prior is None else prior
    weights = np.zeros(constraints.size)
    if start is not None:
        weights[: len(start.weights)] = start.weights[: constraints.size]
    tree = tree_of(constraints)
    if tree.cells <= exact_cells:
        exact = fit_exactly(
            constraints, belief, tree, start=weights, tolerance=tolerance, most_steps=most_steps
        )
        return Fit(exact.distribution, exact.weights, exact.convergence)
    states = core = None
    if start is not None and isinstance(start.distribution, SampledDistribution):
        states, core = start.distribution.records, start.core
    source = np.random.default_rng() if generator is None else generator
    sampled = fit_by_sampling(
        constraints, belief, source, effort, start=weights, states=states, core=core
    )
    return Fit(sampled.distribution, sampled.weights, sampled.convergence, sampled.core)
