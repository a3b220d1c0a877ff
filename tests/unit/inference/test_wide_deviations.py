"""Queries over a column taken for a wide one have the products that its listed values give."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from eke.arrays import FloatArray
from eke.domain import Domain, Integer, wide
from eke.inference.centred import CentredStack, subsets_of
from eke.query import Query, Term, runs
from eke.query.pieces import Pieces
from eke.query.run_stack import ATOM

SIZE = 300
UNKNOWN = [names for names in subsets_of(("x", "g")) if "x" in names]
DOMAIN = Domain(x=Integer(0, SIZE - 1), g=Integer(0, 2))


def queries(rng: np.random.Generator, count: int) -> list[Query]:
    """Ranges, sums and squares of x, some of them in groups of g."""
    made = []
    for _ in range(count):
        start, stop = sorted(rng.integers(1, SIZE, 2).tolist())
        d1, d2 = rng.integers(-3, 4, 2).tolist()
        parts = [(0, (0,)), (start, (int(rng.integers(1, 9)), d1, d2)), (stop + 1, (0,))]
        pieces = Pieces(SIZE, [part for part in parts if part[0] < SIZE])
        vector = np.array([pieces.at(code) for code in range(SIZE)], np.int64)
        factors: list[tuple[str, Any]] = [("x", vector)]
        if rng.random() < 0.5:
            factors.append(("g", rng.integers(1, 5, 3)))
        made.append(Query.unrounded(DOMAIN, [Term(Fraction(3), tuple(factors))]))
    return made


def products(asked: list[Query], rows: list[Query]) -> list[FloatArray]:
    """The inner products of each query with all rows, whole and of what tables of g leave out."""
    stack = CentredStack(DOMAIN)
    for row in rows:
        stack.append(row, 2.0)
    together = [stack.view().against_whole(query) for query in asked]
    return together + [stack.against(query, UNKNOWN, lambda _: 0.5) for query in asked]


def slow_products(asked: list[Query], rows: list[Query], prior: FloatArray) -> list[FloatArray]:
    """The same, cell by cell; the prior is over the values of x."""
    whole, unknown = [], []
    for query in asked:
        tables = [_table(one) for one in (query, *rows)]
        whole.append(np.array([(prior @ (tables[0] * t)).mean() / 2 for t in tables[1:]]))
        left = [table - prior @ table for table in tables]  # what does not depend on g alone
        sums = []
        for one in left[1:]:
            by_group = SIZE * (prior @ (left[0] * one))
            alone = SIZE * prior @ (left[0].mean(axis=1) * one.mean(axis=1))
            # Component {x} is the mean over g; {x, g} the rest of the sum over all cells.
            sums.append((alone + by_group.sum() - 3 * alone) / 4)
        unknown.append(np.array(sums))
    return whole + unknown


def _table(query: Query) -> FloatArray:
    cells = np.indices((SIZE, 3)).reshape(2, -1).T
    entries = np.array(query.numerators(DOMAIN.names, cells), np.float64)
    return (entries * 2.0**query.exponent).reshape(SIZE, 3)


def test_products_of_runs_are_those_of_listed_values(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    asked, rows = queries(rng, 20), queries(rng, 30)
    uniform = np.full(SIZE, 1 / SIZE)
    for one, other in zip(products(asked, rows), slow_products(asked, rows, uniform), strict=True):
        assert np.allclose(one, other, rtol=1e-9, atol=1e-6)
    monkeypatch.setattr(wide, "MOST_LISTED", 100)
    monkeypatch.setattr(runs, "WIDE", 16)
    as_runs = [
        [query.rebuilt(DOMAIN) for query in given]  # vectors are made anew, as runs
        for given in (asked, rows)
    ]
    kept = {type(v) for q in as_runs[0] for term in q.terms for n, v in term.vectors if n == "x"}
    assert kept == {runs.Runs}
    prior = (1 - 3 * float(ATOM)) * uniform
    prior[[0, -2, -1]] += float(ATOM)
    as_listed = slow_products(asked, rows, prior)
    for one, other in zip(products(*as_runs), as_listed, strict=True):
        assert np.allclose(one, other, rtol=1e-9, atol=1e-6)
    assert not np.allclose(as_listed[0], slow_products(asked, rows, uniform)[0])  # a control


def test_a_wrong_mean_would_be_noticed() -> None:
    """Positive control: products without means differ from those about them."""
    rng = np.random.default_rng(2)
    (query,) = queries(rng, 1)
    stack = CentredStack(DOMAIN)
    stack.append(query, 1.0)
    (about_means,) = stack.against(query, [("x",)], lambda _: 1.0)
    (plain,) = stack.against_whole(query)
    assert not np.isclose(about_means, plain * SIZE)
