"""Candidates: the marginals that could be measured next, no finer than the noise allows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations

from eke.arrays import FloatArray
from eke.domain import Domain
from eke.publish.coarse import CoarseMarginal, Labels, groups_of_values
from eke.publish.recipe import Recipe


def attribute_sets(names: Sequence[str], recipe: Recipe) -> list[tuple[str, ...]]:
    """The pairs of columns, and the triples where these are not too many; by their number alone."""
    sets: list[tuple[str, ...]] = list(combinations(names, 2))
    if math.comb(len(names), 3) <= recipe.most_triples:
        sets += combinations(names, 3)
    return sets


class OfferedMarginals:
    """All marginals that are worth measuring with noise of some deviation, in groups of values."""

    def __init__(
        self,
        domain: Domain,
        shares: Mapping[str, FloatArray],
        total: float,
        sets: Sequence[tuple[str, ...]],
        recipe: Recipe,
        *,
        deviation: float,
    ) -> None:
        self._domain, self._recipe = domain, recipe
        least = recipe.least_noises * deviation / total
        levels = dict.fromkeys((*recipe.levels, *recipe.triple_levels))
        self._groups: dict[int, dict[str, Labels]] = {
            most: groups_of_values(domain, shares, most=most, least_share=least) for most in levels
        }
        self._most_cells = min(recipe.most_cells, int(4.0 * total) + 64)
        self.marginals = [one for names in sets for one in self._of(names)]

    def _of(self, names: tuple[str, ...]) -> list[CoarseMarginal]:
        recipe = self._recipe
        by_shape: dict[tuple[int, ...], CoarseMarginal] = {}
        for most in recipe.levels if len(names) == 2 else recipe.triple_levels:
            groups = tuple(self._groups[most][name] for name in names)
            shape = tuple(int(labels.max()) + 1 for labels in groups)
            if min(shape) > 1 and math.prod(shape) <= self._most_cells and shape not in by_shape:
                block = CoarseMarginal(self._domain, names, groups)
                if block.coefficients <= recipe.most_coefficients:
                    by_shape[shape] = block
        return list(by_shape.values())
