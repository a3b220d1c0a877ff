"""Tables kept whole: the same estimates as from all their cells one by one."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from eke.domain import Domain, Integer
from eke.history import Measurement, Row
from eke.inference import Inference, Joint, Regression, halfwidth, noise_of
from eke.inference.centred import CentredStack, centred_terms, subsets_of
from eke.inference.mixed import MixedRegression
from eke.inference.tables import ReleasedTables, table_weight
from eke.privacy.law import Gaussian, Laplace
from eke.query import Kronecker, Marginal, Query, Term, count, marginal, total
from tests.parts import parts

NAMES = ("a", "b", "c", "d")


def everyone(domain: Domain, weight: int = 1) -> Query:
    return Query.of(domain, [Term(Fraction(weight), ())])


def random_case(rng: np.random.Generator):
    """A domain, some tables over it, and some single answers before or after them."""
    sizes = rng.integers(1, 5, 4)
    domain = Domain({n: Integer(0, int(s) - 1) for n, s in zip(NAMES, sizes, strict=True)})
    law = Laplace if rng.random() < 0.5 else Gaussian
    tables = []
    for _ in range(rng.integers(1, 4)):
        names = domain.in_order(rng.choice(NAMES, rng.integers(1, 4), replace=False).tolist())
        block: Marginal | Kronecker = Marginal(names, everyone(domain, int(rng.integers(1, 4))))
        if rng.random() < 0.4:
            block = Kronecker(domain, names, tuple(alike(domain[n].size, rng) for n in names))
        values = tuple(rng.normal(50, 20, block.cells))
        tables.append(Measurement(block, law(float(rng.uniform(1, 9))), values))
    singles = [
        Row(random_query(domain, rng), float(rng.normal(50, 20)), law(float(rng.uniform(1, 9))))
        for _ in range(rng.integers(0, 8))
    ]
    return domain, tables, [row for row in singles if not row.query.is_zero]


def alike(size: int, rng: np.random.Generator) -> np.ndarray:
    """A matrix that treats all values alike: cells, a total, contrasts, or several of these."""
    parts = [np.eye(size), np.ones((1, size)), size * np.eye(size) - 1, np.ones((2, size))]
    chosen = rng.choice(len(parts), rng.integers(1, 3), replace=False)
    return np.concatenate([parts[i] for i in chosen]).astype(np.int64)


def random_query(domain: Domain, rng: np.random.Generator) -> Query:
    terms = []
    for _ in range(rng.integers(1, 3)):
        names = rng.choice(NAMES, rng.integers(0, 4), replace=False).tolist()
        factors = tuple((n, rng.integers(-1, 3, domain[n].size)) for n in domain.in_order(names))
        terms.append(Term(Fraction(int(rng.integers(1, 4))), factors))
    return Query.of(domain, terms)


def both(domain, tables, singles) -> tuple[MixedRegression, Regression]:
    released = ReleasedTables(domain)
    slow = Regression(domain)
    for table in tables:
        released.append(table)
        for row in table.rows():
            slow.append(row)
    for row in singles:
        slow.append(row)
    return MixedRegression(domain, released, singles), slow


@pytest.mark.parametrize("seed", parts(60, 20))
def test_estimates_are_those_of_the_cells_one_by_one(seed):
    """The slow twin is the regression over every cell."""
    rng = np.random.default_rng(seed)
    domain, tables, singles = random_case(rng)
    mixed, slow = both(domain, tables, singles)
    asked = [random_query(domain, rng) for _ in range(6)]
    asked += [row.query for row in singles[:3]]
    asked += [table.query.cell(0) for table in tables if not isinstance(table.query, Query)]
    asked.append(everyone(domain))
    for query in asked:
        found, expected = mixed.estimate(query), slow.estimate(query)
        assert (found is None) == (expected is None)
        if found is None or expected is None:
            continue
        assert found.value == pytest.approx(expected.value, rel=1e-6, abs=1e-6)
        own = noise_of(found, mixed.laws, mixed.tables)
        twin = noise_of(expected, slow.laws)
        assert own.variance == pytest.approx(twin.variance, rel=1e-6, abs=1e-9)
        assert halfwidth(own, 0.9) == pytest.approx(halfwidth(twin, 0.9), rel=1e-5, abs=1e-7)


def test_both_outcomes_occur():
    """Of the questions above some are determined by history and some are not."""
    outcomes = set()
    for seed in range(20):
        rng = np.random.default_rng(seed)
        domain, tables, singles = random_case(rng)
        mixed, _ = both(domain, tables, singles)
        outcomes |= {mixed.estimate(random_query(domain, rng)) is None for _ in range(6)}
        if len(outcomes) == 2:
            break
    assert outcomes == {True, False}


BIG = Domain(a=Integer(0, 19), b=Integer(0, 19), c=Integer(0, 4))


@pytest.fixture
def history() -> Inference:
    rng = np.random.default_rng(5)
    inference = Inference(BIG)
    for names in (("a", "b"), ("a", "c")):
        block = marginal(*names).on(BIG)
        inference.extend(Measurement(block, Laplace(3.0), tuple(rng.normal(10, 3, block.cells))))
    return inference


def test_large_tables_stay_tables(history):
    assert len(history.tables) == 1, "the one of 400 cells"
    assert len(history.rows) == 100
    question = count(a=(3, 9), b=(2, 4)).on(BIG)
    found = history.linear(question)
    assert found is not None
    value, noise = found
    # Some weights are zero but for rounding; how many of them are exactly zero, processors decide.
    assert 100 < noise.laplace_parts <= 500, "more than the cells of the smaller table"
    assert noise.laplace_scales.size < 120, "cells that count alike are held once"
    cells = [history.linear(count(a=i, b=j).on(BIG)) for i in range(3, 10) for j in range(2, 5)]
    assert value == pytest.approx(sum(cell[0] for cell in cells if cell is not None))


def test_what_a_table_does_not_hold_is_not_determined(history):
    assert history.linear(count(b=1, c=1).on(BIG)) is None
    history.append(Row(count(b=1, c=1).on(BIG), 7.0, Laplace(1.0)))
    assert history.linear(count(b=1, c=1).on(BIG)) is not None
    assert history.linear(count(b=1, c=2).on(BIG)) is None
    others = (count(b=1) - count(b=1, c=1)).on(BIG)
    assert history.linear(others) is not None


def test_a_joint_estimate_is_consistent_with_its_parts(history):
    queries = [total("a").on(BIG), count(a=(0, 4)).on(BIG), count().on(BIG)]
    joint = Joint.of(history, queries)
    assert joint is not None
    for place, query in enumerate(queries):
        value, noise = joint.combination(np.eye(3)[place])
        alone = history.linear(query)
        assert alone is not None
        assert value == pytest.approx(alone[0])
        assert noise.variance == pytest.approx(alone[1].variance)
    difference = history.linear((count() - count(a=(0, 4))).on(BIG))
    assert difference is not None
    value, noise = joint.combination(np.array([0.0, -1.0, 1.0]))
    assert value == pytest.approx(difference[0])
    assert noise.variance == pytest.approx(difference[1].variance)
    draws = joint.draws(20_000, np.random.default_rng(1))
    assert np.std(draws[2] - draws[1]) == pytest.approx(np.sqrt(noise.variance), rel=0.03)


def test_only_plain_counts_are_tables():
    assert table_weight(marginal("a").on(BIG)) == 1
    assert table_weight(marginal("a", of=total("b")).on(BIG)) is None
    assert table_weight(count().on(BIG)) is None
    halves = np.repeat(np.eye(2, dtype=np.int64), 10, axis=1)
    assert table_weight(Kronecker(BIG, ("a",), (halves,))) is None
    contrasts = 20 * np.eye(20, dtype=np.int64) - 1
    assert table_weight(Kronecker(BIG, ("a",), (contrasts,))) == 1
    with pytest.raises(ValueError, match="counts records"):
        ReleasedTables(BIG).append(
            Measurement(marginal("c", of=total("b")).on(BIG), Laplace(1.0), (0.0,) * 5)
        )


def test_rows_are_combined_component_by_component():
    """The slow twin: every term of every row by itself."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        domain, _, _ = random_case(rng)
        queries = [random_query(domain, rng) for _ in range(6)]
        weights, stack = rng.normal(size=6), CentredStack(domain)
        for query in queries:
            stack.append(query, 2.0)
        components = list(subsets_of(NAMES))
        found = stack.combined(weights, components)
        for names in components:
            expected = np.zeros([domain[name].size for name in names])
            for weight, query in zip(weights, queries, strict=True):
                for term in centred_terms(query):
                    part = term.part(names)
                    if part is not None:
                        table = np.ones(())
                        for vector in part[1]:
                            table = np.multiply.outer(table, vector)
                        expected += 0.5 * weight * part[0] * table
            np.testing.assert_allclose(found.get(names, 0.0 * expected), expected, atol=1e-12)
