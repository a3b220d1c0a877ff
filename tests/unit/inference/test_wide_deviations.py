"""Queries over a column taken for a wide one have the products that its listed values give."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from eke.domain import Domain, Integer, wide
from eke.inference.centred import CentredStack, subsets_of
from eke.query import Query, Term, runs
from eke.query.pieces import Pieces

SIZE = 300
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


def products(asked: list[Query], rows: list[Query]) -> list[np.ndarray]:
    """The inner products of each query with all rows, whole and of what tables of g leave out."""
    stack = CentredStack(DOMAIN)
    for row in rows:
        stack.append(row, 2.0)
    unknown = [names for names in subsets_of(("x", "g")) if "x" in names]
    together = [stack.view().against_whole(query) for query in asked]
    return together + [stack.against(query, unknown, lambda _: 0.5) for query in asked]


def test_products_of_runs_are_those_of_listed_values(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    asked, rows = queries(rng, 20), queries(rng, 30)
    listed = products(asked, rows)
    monkeypatch.setattr(wide, "MOST_LISTED", 100)
    monkeypatch.setattr(runs, "WIDE", 16)
    as_runs = [
        [query.rebuilt(DOMAIN) for query in given]  # vectors are made anew, as runs
        for given in (asked, rows)
    ]
    kept = {type(v) for q in as_runs[0] for term in q.terms for n, v in term.vectors if n == "x"}
    assert kept == {runs.Runs}
    for one, other in zip(listed, products(*as_runs), strict=True):
        assert np.allclose(one, other, rtol=1e-9, atol=1e-6)
    assert any(not np.allclose(one, 0) for one in listed)


def test_a_wrong_mean_would_be_noticed() -> None:
    """Positive control: products without means differ from those about them."""
    rng = np.random.default_rng(2)
    (query,) = queries(rng, 1)
    stack = CentredStack(DOMAIN)
    stack.append(query, 1.0)
    (about_means,) = stack.against(query, [("x",)], lambda _: 1.0)
    (plain,) = stack.against_whole(query)
    assert not np.isclose(about_means, plain * SIZE)
