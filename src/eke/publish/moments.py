"""Moments: which sums over records a publication measures, and the matrices they make up.

First and second moments of features are linear queries: the sum of a number, a product of two, or,
where dummies are concerned, the cells of a marginal. So they are measured, charged and kept in
history like any question, and estimated from everything that history knows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from eke.arrays import FloatArray
from eke.domain import Domain
from eke.publish.features import UNIT, Feature, Features
from eke.query import Block, Marginal, Query, Term

Estimate = Callable[[Block], FloatArray]
"""The estimated values of a measured query, or of all cells of a block."""


@dataclass(frozen=True, slots=True, eq=False)
class Statistic:
    """One thing to measure: sums of `rows` by `columns` features, for each class if `by_class`.

    A block lists its cells in the domain's order of attributes; `axes` says which of target, row
    feature and column feature each of them is.
    """

    query: Block
    row: Feature | None
    column: Feature | None
    by_class: bool
    axes: tuple[str, ...]

    @property
    def cells(self) -> int:
        return self.query.cells


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """Estimated sizes and sums: (classes,), (classes, p) and, over all classes, (p, p)."""

    sizes: FloatArray
    sums: FloatArray
    products: FloatArray

    @property
    def total(self) -> float:
        return float(self.sizes.sum())

    @property
    def mean(self) -> FloatArray:
        """The mean of each feature over all records, (p,)."""
        return np.asarray(self.sums.sum(axis=0) / self.total)

    @property
    def covariance(self) -> FloatArray:
        """E[xxᵀ] - E[x]E[x]ᵀ, (p, p); the noise may have made it indefinite."""
        return np.asarray(self.products / self.total - np.outer(self.mean, self.mean))


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """The statistics of a publication over features and, if there are classes, a target."""

    features: Features
    target: str | None
    statistics: tuple[Statistic, ...]

    @property
    def classes(self) -> int:
        return 1 if self.target is None else self.features.domain[self.target].size

    def moments(self, estimate: Estimate, public_total: float | None = None) -> Moments:
        """The matrices from the estimated values of every statistic."""
        width, classes = self.features.width, self.classes
        sizes = np.full(classes, 0.0 if public_total is None else public_total / classes)
        sums, products = np.zeros((classes, width)), np.zeros((width, width))
        for statistic in self.statistics:
            block = _block(statistic, estimate(statistic.query))
            if statistic.row is None:
                sizes = block[:, 0, 0]
            elif statistic.column is None:
                sums[:, statistic.row.columns] = block[:, :, 0]
            else:
                at = statistic.row.columns, statistic.column.columns
                products[at] = block[0]
                products[at[::-1]] = block[0].T
        for feature in self.features.all:
            if feature.is_binary:  # x² = x, and two dummies of one attribute are never both 1
                pooled = sums[:, feature.columns].sum(axis=0)
                products[feature.columns, feature.columns] = np.diag(pooled)
        return Moments(sizes, sums, products)


def statistics_for(features: Features, target: str | None, *, count: bool) -> Measured:
    """Everything to measure: class sizes (or, with `count`, the total), sums and second moments."""
    domain = features.domain
    statistics = []
    if target is not None or count:
        statistics.append(_statistic(domain, None, None, target))
    statistics += [_statistic(domain, feature, None, target) for feature in features.all]
    statistics += [
        _statistic(domain, feature, feature, None)
        for feature in features.all
        if not feature.is_binary
    ]
    statistics += [_statistic(domain, one, two, None) for one, two in combinations(features.all, 2)]
    return Measured(features, target, tuple(statistics))


def _statistic(
    domain: Domain, row: Feature | None, column: Feature | None, target: str | None
) -> Statistic:
    inside = _weight(domain, [f for f in (row, column) if f is not None and f.numeric])
    role = {f.name: role for f, role in ((row, "row"), (column, "column")) if f and not f.numeric}
    if target is not None:
        role[target] = "class"
    names = domain.in_order(role)
    query = Marginal(names, inside) if names else inside
    return Statistic(query, row, column, target is not None, tuple(role[name] for name in names))


def _weight(domain: Domain, numeric: list[Feature]) -> Query:
    """The query that sums the product of some numeric features over all records."""
    weight, factors = Fraction(1), dict[str, NDArray[np.int64]]()
    for feature in numeric:
        weight *= UNIT
        known = factors.get(feature.name, np.ones(len(feature.table), np.int64))
        factors[feature.name] = known * feature.table[:, 0]
    return Query.unrounded(domain, [Term(weight, tuple(factors.items()))])


def _block(statistic: Statistic, values: FloatArray) -> FloatArray:
    """The values as (classes, row columns, column columns), one where there is nothing to list."""
    table = values.reshape(statistic.query.shape)
    order = [statistic.axes.index(role) for role in _ROLES if role in statistic.axes]
    shape = iter(table.transpose(order).shape)
    return table.transpose(order).reshape([*_sizes(statistic, shape)])


_ROLES = ("class", "row", "column")


def _sizes(statistic: Statistic, shape: Iterator[int]) -> Iterator[int]:
    for role in _ROLES:
        yield next(shape) if role in statistic.axes else 1
