"""Small domains written out cell by cell, with questions of every kind over them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eke.domain import Domain, Integer
from eke.inference.features import HistoryFeatures, probabilities, table_of
from eke.query import Marginal, Prior, Query, count, marginal, moment, table

Reals = NDArray[np.float64]
DOMAIN = Domain(a=Integer(0, 4), b=Integer(0, 2), c=Integer(0, 3))
PRIOR = Prior(DOMAIN, {"a": [1, 2, 3, 4, 5], "c": [1, 1, 2, 2]})


def random_query(generator: np.random.Generator) -> Query:
    """A range, a dense table, a moment or a sum of products."""
    kind = generator.integers(4)
    low, high = sorted(int(v) for v in generator.integers(0, 5, 2))
    ranged = count(a=(low, high), b=int(generator.integers(3)))
    if kind == 0:
        return table(["a", "c"], generator.integers(-2, 3, (5, 4))).on(DOMAIN)
    if kind == 1:
        return moment({"a": 1, "c": 2}).on(DOMAIN)
    if kind == 2:
        return (ranged * 3 - count(c=int(generator.integers(4)))).on(DOMAIN)
    return ranged.on(DOMAIN)


@dataclass(frozen=True, slots=True, eq=False)
class World:
    """Measured questions with their matrix H, a histogram x, and the prior as p0."""

    features: HistoryFeatures
    matrix: Reals  # (m, cells)
    histogram: Reals  # (cells,)
    p0: Reals  # (cells,)

    @staticmethod
    def drawn(generator: np.random.Generator, queries: int = 9) -> World:
        asked: list[Query | Marginal] = [random_query(generator) for _ in range(queries)]
        asked.insert(4, marginal("b", "c").on(DOMAIN))
        asked.append(marginal("b", of=count(a=(1, 3))).on(DOMAIN))
        histogram = generator.poisson(5.0, DOMAIN.size).astype(np.float64)
        p0 = probabilities(PRIOR, DOMAIN.names)
        return World(HistoryFeatures.of(DOMAIN, asked), matrix_of(asked), histogram, p0)

    @property
    def size(self) -> int:
        return len(self.matrix)


def matrix_of(asked: list[Query | Marginal]) -> Reals:
    """The coefficients of each question over all cells, blocks taken apart; (m, cells)."""
    singles = [
        one
        for query in asked
        for one in (query.queries() if isinstance(query, Marginal) else [query])
    ]
    return np.array([table_of(query, DOMAIN.names) for query in singles])


def random_covariance(size: int, generator: np.random.Generator) -> Reals:
    """A covariance with unequal variances and correlations."""
    root = generator.standard_normal((size, size))
    return np.diag(generator.uniform(1.0, 20.0, size)) + 0.2 * root @ root.T
