"""Clustering: measure fewer, larger marginals and sum the workload's up from them.

Each measured marginal costs every record its share of the budget, so two marginals that overlap
are often cheaper as one. `cluster_path` merges greedily, always the pair after which the error of
CUBE's initial recovery is least (Ding et al. 2011, as CUBE §5 uses it), down to one marginal.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from eke.arrays import FloatArray
from eke.inference.residuals import Names
from eke.planning.workload.lattice import Lattice
from eke.planning.workload.strategy.blocks import (
    MOST_CELLS,
    BlockStrategy,
    marginals_strategy,
    maximal_targets,
)
from eke.privacy.measure import Measure

MOST_CLUSTERED = 700
"""Merging takes the cube of the number of marginals; beyond this many it is not tried."""


@dataclass(frozen=True, slots=True)
class Clusters:
    """Marginals to be measured, and the error of the initial recovery at unit noise each."""

    error: float
    marginals: tuple[Names, ...]


def cluster_path(lattice: Lattice, measure: Measure) -> list[Clusters]:
    """The sets of marginals that greedy merging goes through, the workload's own first."""
    start = maximal_targets(lattice)
    if len(start) > MOST_CLUSTERED:
        return []
    names = lattice.workload.domain.in_order({n for target in start for n in target})
    weight_of = _assigned_weights(lattice, start)
    members = np.array([[n in target for n in names] for target in start]).reshape(len(start), -1)
    weights = np.array([weight_of[target] for target in start])
    log_sizes = np.log([float(lattice.sizes[n]) for n in names])
    unions = _union_cells(members, members, log_sizes)
    path = [_clusters(names, members, weights, log_sizes, measure)]
    while len(members) > 1:
        first, second = _best_pair(unions, weights)
        union = members[first] | members[second]
        if float(log_sizes @ union) > math.log(MOST_CELLS):
            break
        # Everything inside the union joins it: measuring it as well would only cost.
        outside = (members & ~union).any(axis=1)
        members = np.vstack([members[outside], union])
        weights = np.append(weights[outside], weights[~outside].sum())
        old = unions[np.ix_(outside, outside)]
        edge = _union_cells(members, members[-1:], log_sizes)
        unions = np.block([[old, edge[:-1]], [edge.T]])
        path.append(_clusters(names, members, weights, log_sizes, measure))
    return path


def clustering(lattice: Lattice, path: list[Clusters]) -> BlockStrategy | None:
    """C: the best set of marginals on the path, by the error of the initial recovery."""
    if not path:
        return None
    best = min(path, key=lambda clusters: clusters.error)
    return marginals_strategy("C", lattice, list(best.marginals))


def _clusters(
    names: Names,
    members: NDArray[np.bool_],
    weights: FloatArray,
    log_sizes: FloatArray,
    measure: Measure,
) -> Clusters:
    noise = float(len(members)) ** measure.variance_power
    error = noise * float(np.exp(members @ log_sizes) @ weights)
    return Clusters(error, tuple(tuple(compress(names, row)) for row in members.tolist()))


def _assigned_weights(lattice: Lattice, start: list[Names]) -> dict[Names, float]:
    """The total weight of the targets that each maximal marginal answers."""
    sets = [(frozenset(names), names) for names in sorted(start, key=lattice.size)]
    starting = set(start)
    weights = dict.fromkeys(start, 0.0)
    for target, weight in zip(lattice.targets, lattice.weights, strict=True):
        wanted = frozenset(target)
        holder = target if target in starting else next(n for s, n in sets if wanted <= s)
        weights[holder] += float(weight)
    return weights


def _union_cells(
    first: NDArray[np.bool_], second: NDArray[np.bool_], log_sizes: FloatArray
) -> FloatArray:
    """(first, second): the number of cells of the union of every two marginals."""
    left, right = first.astype(np.float64), second.astype(np.float64)
    shared = (left * log_sizes) @ right.T
    logs = (left @ log_sizes)[:, None] + (right @ log_sizes)[None, :] - shared
    return np.asarray(np.exp(np.minimum(logs, 600.0)))


def _best_pair(unions: FloatArray, weights: FloatArray) -> tuple[int, int]:
    """The pair whose union leaves the least Σ cells · weight.

    The number of marginals falls by one for every pair, so only that sum decides.
    """
    before = unions.diagonal() * weights
    after = unions * (weights[:, None] + weights[None, :])
    after -= before[:, None]
    after -= before[None, :]
    np.fill_diagonal(after, np.inf)
    flat = int(after.argmin())
    return flat // len(weights), flat % len(weights)
