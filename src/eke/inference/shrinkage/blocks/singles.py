"""Singles: questions asked one by one, as seen from the attributes of a block.

A product of vectors averages to a product over the attributes it shares with the block; a table
averages to a smaller table (HIST Th. 2). Neither is ever written out over the block's cells for
more than a few questions at a time.
"""

from __future__ import annotations

import numpy as np

from eke.arrays import FloatArray
from eke.inference.features import HistoryFeatures, TableGroup, averaged_tables, probabilities
from eke.inference.shrinkage.blocks.averages import averaged_along
from eke.query import Prior

Names = tuple[str, ...]


class Singles:
    """Questions, none of them a whole marginal, ready to be averaged over other attributes."""

    def __init__(self, features: HistoryFeatures, prior: Prior) -> None:
        self.features = features
        self._prior = prior
        self._stack = features.stack(prior)
        self._averages: dict[tuple[int, Names], FloatArray] = {}

    @property
    def size(self) -> int:
        return self.features.size

    def some(self, start: int, stop: int) -> Singles:
        """The questions from one row to another, numbered from 0."""
        rows = self.features.product_rows
        inside = np.flatnonzero((rows >= start) & (rows < stop))
        groups = []
        for group in self.features.groups:
            within = np.flatnonzero((group.rows >= start) & (group.rows < stop))
            if len(within):
                tables = group.dense()[within]
                groups.append(TableGroup(group.attributes, group.rows[within] - start, tables))
        products = [self.features.products[i] for i in inside]
        domain = self.features.domain
        chosen = HistoryFeatures(
            domain, products=products, product_rows=rows[inside] - start, groups=groups
        )
        return Singles(chosen, self._prior)

    def averaged(self, names: Names, weights: FloatArray) -> FloatArray:
        """Σ weight · E[question | names]; (size, columns) -> (|A_1|, …, |A_k|, columns)."""
        sizes = self._prior.domain.sizes(names)
        total = np.zeros((*sizes, weights.shape[1]))
        if self.features.products:
            total += self._stack.averaged(names, weights[self.features.product_rows])
        for place, group in enumerate(self.features.groups):
            shared = tuple(name for name in names if name in group.attributes)
            table = self._averages_of(place, group, shared).T @ weights[group.rows]
            lengths = [len(self._prior.vectors[n]) if n in shared else 1 for n in names]
            total += table.reshape(*lengths, -1)
        return total

    def products(self, names: Names, tables: FloatArray) -> FloatArray:
        """⟨question, table⟩ of every question with tables over the names; (size, columns)."""
        result = np.zeros((self.size, tables.shape[-1]))
        weights = probabilities(self._prior, names).reshape(*tables.shape[:-1], 1)
        if self.features.products:
            result[self.features.product_rows] = self._stack.totals(names, weights * tables)
        for place, group in enumerate(self.features.groups):
            shared = tuple(name for name in names if name in group.attributes)
            left = tables
            for axis in reversed(range(len(names))):
                if names[axis] not in shared:
                    left = averaged_along(left, self._prior.vectors[names[axis]], axis)
            weighted = left.reshape(-1, tables.shape[-1])
            weighted = weighted * probabilities(self._prior, shared)[:, None]
            result[group.rows] = self._averages_of(place, group, shared) @ weighted
        return result

    def _averages_of(self, place: int, group: TableGroup, shared: Names) -> FloatArray:
        """The tables of a group averaged over what is not shared; (questions, cells)."""
        if (place, shared) not in self._averages:
            self._averages[place, shared] = averaged_tables(group, shared, self._prior)
        return self._averages[place, shared]
