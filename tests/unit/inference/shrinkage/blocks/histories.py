"""Histories with blocks of every kind, small enough to be written out cell by cell."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from eke.domain import Domain, Integer
from eke.history import Measurement
from eke.inference.features import probabilities, table_of
from eke.inference.shrinkage.blocks.implicit_kernel import ImplicitKernel
from eke.privacy.law import Gaussian, Laplace, NoiseLaw
from eke.query import Block, Kronecker, Prior, Query, count, marginal, table

Reals = NDArray[np.float64]
DOMAIN = Domain(a=Integer(0, 4), b=Integer(0, 2), c=Integer(0, 3), d=Integer(0, 5))
PRIOR = Prior(DOMAIN, {"a": [1, 2, 3, 4, 50], "c": [1, 1, 2, 2], "d": [5, 3, 1, 1, 1, 0.1]})
P0 = probabilities(PRIOR, DOMAIN.names)
ALPHA = 30.0


def history(generator: np.random.Generator, *, varied: bool) -> list[Measurement]:
    """All pairs and some single questions; if `varied`, also blocks that overlap in pairs."""
    asked: list[tuple[Block, NoiseLaw]] = [
        (marginal(*pair).on(DOMAIN), Laplace(3.0)) for pair in combinations(DOMAIN.names, 2)
    ]
    for _ in range(6):
        low, high = sorted(int(v) for v in generator.integers(0, 5, 2))
        asked.append((count(a=(low, high), d=int(generator.integers(6))).on(DOMAIN), Laplace(2.0)))
    ragged = generator.integers(-2, 3, (5, 4))
    asked.append((table(["a", "c"], ragged).on(DOMAIN), Laplace(4.0)))
    if varied:
        halves = np.array([[1, 1, 0, 0, 0], [0, 0, 1, 1, 1]])
        ladder = np.array([[1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1], [1, 0, 0, 0, 0, 0]])
        asked += [
            (marginal("a", "b").on(DOMAIN), Gaussian(16.0)),
            (marginal("a").on(DOMAIN), Laplace(5.0)),
            (marginal("b", of=count(a=(1, 3))).on(DOMAIN), Laplace(2.0)),
            (marginal("a", of=count(a=(1, 3), c=2) * 3).on(DOMAIN), Laplace(2.0)),
            (marginal("b", of=count(a=1) + count(c=2)).on(DOMAIN), Laplace(2.0)),
            (marginal("a", "c", "d").on(DOMAIN), Laplace(2.0)),
            (marginal("b", "c", "d").on(DOMAIN), Laplace(1.0)),
            (Kronecker(DOMAIN, ("a", "d"), (halves, ladder)), Laplace(1.0)),
        ]
    truth = 400.0 * P0 + generator.normal(0.0, ALPHA * np.sqrt(P0))
    return [measured(query, law, truth, generator) for query, law in asked]


def measured(
    query: Block, law: NoiseLaw, truth: Reals, generator: np.random.Generator
) -> Measurement:
    """Noisy answers on a table over all cells."""
    exact = matrix_of([query]) @ truth
    noise = generator.normal(0.0, np.sqrt(law.variance), len(exact))
    return Measurement(query, law, tuple((exact + noise).tolist()))


def questions(generator: np.random.Generator) -> list[Query]:
    """Questions nobody asked, of several kinds."""
    mixed = table(["b", "d"], generator.integers(-2, 3, (3, 6)))
    expressions = [count(a=2, b=1, c=3), count(d=(1, 3)), count(), mixed, count(a=(1, 4)) * 3 - 7]
    return [expression.on(DOMAIN) for expression in expressions]


def matrix_of(asked: list[Block]) -> Reals:
    """The coefficients of each question over all cells, blocks taken apart; (m, cells)."""
    singles = [one for query in asked for one in query.queries()]
    return np.array([table_of(query, DOMAIN.names) for query in singles])


def written_out(kernel: ImplicitKernel) -> Reals:
    """The coefficients of the kernel's rows over all cells; (rows, cells)."""
    singles, rows = kernel.singles.features, []
    for block in kernel.blocks:
        outside = tuple(k for k, n in enumerate(DOMAIN.names) if n not in block.attributes)
        tables = np.expand_dims(block.tables(np.eye(block.rows)), outside)
        rows.append(np.broadcast_to(tables, (*DOMAIN.shape, block.rows)).reshape(-1, block.rows).T)
    alone = np.empty((singles.size, DOMAIN.size))
    for place, query in zip(singles.product_rows, singles.products, strict=True):
        alone[place] = matrix_of([query])[0]
    for group in singles.groups:
        shape = [DOMAIN[n].size if n in group.attributes else 1 for n in DOMAIN.names]
        tables = group.dense().reshape(-1, *shape)
        whole = np.broadcast_to(tables, (len(tables), *DOMAIN.shape))
        alone[group.rows] = whole.reshape(len(tables), -1)
    return np.concatenate([*rows, alone])
