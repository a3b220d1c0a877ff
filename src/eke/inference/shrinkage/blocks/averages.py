"""Averages: what tables over different attributes, added up, look like from each set of attributes.

Under a product prior every function falls apart into orthogonal components, one for each set of
attributes: average over the others, then subtract the averages along every axis that is left.
E[Σ tables | A] needs the components that A shares with other sets only, so that all block × block
products of a kernel together cost as much as a few passes over the tables.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from itertools import combinations

import numpy as np

from eke.arrays import FloatArray
from eke.query import Prior

Names = tuple[str, ...]


class Averages:
    """Conditional means of a sum of tables under a prior, less its overall mean."""

    def __init__(self, sets: Collection[Names], prior: Prior) -> None:
        self._prior = prior
        shared: set[Names] = {()}
        for one, other in combinations(dict.fromkeys(sets), 2):
            both = tuple(name for name in one if name in other)
            shared.update(_subsets(both))
        self._shared = {names: {s for s in shared if set(names).issuperset(s)} for names in sets}

    def given_each(self, tables: Mapping[Names, FloatArray]) -> dict[Names, FloatArray]:
        """E[Σ tables | A] − E[Σ tables] for the attributes A of each; (|A_1|, …, columns)."""
        components = {names: self._components(names, table) for names, table in tables.items()}
        sums: dict[Names, FloatArray] = {}
        for parts in components.values():
            for subset, part in parts.items():
                before = sums.get(subset)
                sums[subset] = part if before is None else before + part
        averages = {}
        for names, table in tables.items():
            total = table.copy()
            for subset, part in components[names].items():
                lengths = [len(self._prior.vectors[n]) if n in subset else 1 for n in names]
                others = sums[subset] - part if subset else -part
                total += others.reshape(*lengths, -1)
            averages[names] = total
        return averages

    def _components(self, names: Names, table: FloatArray) -> dict[Names, FloatArray]:
        """The shared components of one table."""
        components = {}
        undecided: list[tuple[int, Names, FloatArray, set[Names]]]
        undecided = [(len(names), (), table, self._shared[names])]
        while undecided:
            axis, subset, part, wanted = undecided.pop()
            if axis == 0:
                components[subset] = part
                continue
            axis -= 1
            name = names[axis]
            mean = averaged_along(part, self._prior.vectors[name], axis)
            without = {s for s in wanted if name not in s}
            if without:
                undecided.append((axis, subset, mean, without))
            if len(without) < len(wanted):
                deviation = part - np.expand_dims(mean, axis)
                undecided.append((axis, (name, *subset), deviation, wanted - without))
        return components


def averaged_along(table: FloatArray, weights: FloatArray, axis: int) -> FloatArray:
    """Σ_v weight(v) · table(…, v, …): the axis is gone."""
    before = math.prod(table.shape[:axis])
    after = math.prod(table.shape[axis + 1 :])
    mean = np.matmul(weights, table.reshape(before, len(weights), after))
    return np.asarray(mean).reshape(*table.shape[:axis], *table.shape[axis + 1 :])


def _subsets(names: Sequence[str]) -> list[Names]:
    return [part for length in range(len(names) + 1) for part in combinations(names, length)]
