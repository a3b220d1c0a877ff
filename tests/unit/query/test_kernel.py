"""Priors and stacks: checks, empty stacks and growth."""

from typing import Any

import numpy as np
import pytest

from eke.domain import Categorical, Domain, Integer
from eke.errors import QueryError
from eke.query import Prior, TermStack, constant, count, gram, inner, table, total

DOMAIN = Domain(age=Integer(17, 20), sex=Categorical("F", "M"))


def test_the_default_prior_is_uniform_and_given_ones_are_normalised():
    prior = Prior(DOMAIN, {"sex": [3, 1]})
    assert prior.vectors["age"].tolist() == [0.25] * 4
    assert prior.vectors["sex"].tolist() == [0.75, 0.25]


@pytest.mark.parametrize(
    "vectors",
    [
        {"sex": [1]},
        {"sex": [1, 2, 3]},
        {"sex": [[1, 2]]},
        {"sex": [1, 0]},
        {"sex": [1, -1]},
        {"sex": [1, float("nan")]},
        {"sex": [1, float("inf")]},
        {"sex": ["a", "b"]},
        {"sex": 1.0},
        {"income": [1, 2]},
    ],
)
def test_bad_priors_are_refused(vectors):
    with pytest.raises(QueryError, match="the prior"):
        Prior(DOMAIN, vectors)


def test_known_inner_products():
    prior = Prior(DOMAIN, {"sex": [3, 1]})
    women, everyone = count(sex="F").on(DOMAIN), count().on(DOMAIN)
    ages = total("age").on(DOMAIN)
    assert inner(women, everyone, prior) == pytest.approx(0.75)
    assert inner(everyone, everyone, prior) == pytest.approx(1)
    assert inner(women, count(sex="M").on(DOMAIN), prior) == 0
    assert inner(ages, everyone, prior) == pytest.approx(18.5)
    assert inner(ages, women, prior) == pytest.approx(18.5 * 0.75)
    assert inner(constant(5).on(DOMAIN), everyone, prior) == 0


def test_constants_do_not_matter():
    prior = Prior(DOMAIN)
    plain, shifted = total("age").on(DOMAIN), (total("age") + 100).on(DOMAIN)
    assert inner(plain, plain, prior) == inner(shifted, shifted, prior)


def test_an_empty_stack_answers_with_empty_arrays():
    stack = TermStack(Prior(DOMAIN), capacity=0)
    assert stack.against(count().on(DOMAIN)).shape == (0,)
    assert stack.gram().shape == (0, 0)
    assert gram([], Prior(DOMAIN)).shape == (0, 0)
    assert stack.at(np.zeros((3, 2), np.int64)).shape == (0, 3)
    assert stack.project({"age": np.ones((4, 5)), "sex": np.ones((2, 5))}).shape == (0, 5)


def test_rows_survive_growth_and_zero_queries_keep_their_place():
    """300 queries of one, several or no terms against a stack made large enough at once."""
    random = np.random.default_rng(11)
    queries = []
    for i in range(300):
        entries = random.integers(-2, 3, (4, 2)) if i % 3 else np.zeros((4, 2), int)
        queries.append(table(["age", "sex"], entries).on(DOMAIN))
    dense = np.array([_dense(q) for q in queries])
    small, large = TermStack(Prior(DOMAIN), capacity=1), TermStack(Prior(DOMAIN), capacity=5000)
    for query in queries:
        small.append(query)
        large.append(query)
    assert small.rows == large.rows == 300
    expected = dense @ dense.T / 8
    for stack in (small, large):
        assert np.allclose(stack.gram(), expected, atol=1e-12)
        assert np.allclose(stack.against(queries[1]), expected[1], atol=1e-12)
    assert (small.gram()[::3] == 0).all()


def _dense(query):
    codes = np.array([(a, s) for a in range(4) for s in range(2)])
    return [n * 2.0**query.exponent for n in query.numerators(("age", "sex"), codes)]


def test_wide_attributes_that_nobody_asks_about_cost_nothing():
    domain = Domain(income=Integer(0, 999_999), sex=Categorical("F", "M"))
    stack = TermStack(Prior(domain), capacity=10_000)  # 80 GB if it were laid out at once
    stack.append(count(sex="F").on(domain))
    assert stack.gram().tolist() == [[0.5]]
    assert stack.against(count(income=(0, 499_999)).on(domain)) == pytest.approx(0.25)


def test_queries_over_another_domain_are_refused():
    other: Any = count().on(Domain(x=Integer(0, 1)))
    stack = TermStack(Prior(DOMAIN))
    for act in (stack.append, stack.against):
        with pytest.raises(QueryError, match="different domains"):
            act(other)
    assert stack.rows == 0


def test_averages_over_some_attributes_are_those_of_all_cells():
    generator = np.random.default_rng(3)
    domain = Domain(a=Integer(0, 3), b=Integer(0, 1), c=Integer(0, 2))
    prior = Prior(domain, {"a": [1, 2, 3, 4], "c": [5, 1, 1]})
    queries = [
        count(a=(1, 2), c=1).on(domain),
        (count(a=1) * 3 - count(b=0, c=(0, 1))).on(domain),
        table(["a", "b"], generator.integers(-3, 4, (4, 2))).on(domain),
        constant(5).on(domain),
        count(b=1).on(domain),
    ]
    p0 = {name: prior.vectors[name] for name in domain.names}
    weights, cells = generator.normal(size=(5, 3)), np.array(list(np.ndindex(4, 2, 3)))
    for kept in (queries, queries[:1], queries[4:]):
        stack = TermStack(prior)
        for query in kept:
            stack.append(query)
        dense = stack.at(cells).reshape(-1, 4, 2, 3)
        given = weights[: len(kept)]
        over_a_c = np.einsum("qabc,b,qw->acw", dense, p0["b"], given)
        np.testing.assert_allclose(stack.averaged(["a", "c"], given), over_a_c, atol=1e-12)
        over_b = np.einsum("qabc,a,c,qw->bw", dense, p0["a"], p0["c"], given)
        np.testing.assert_allclose(stack.averaged(["b"], given), over_b, atol=1e-12)
        tables = generator.normal(size=(4, 3, 2))
        totals = np.einsum("qabc,b,acw->qw", dense, p0["b"], tables)
        np.testing.assert_allclose(stack.totals(["a", "c"], tables), totals, atol=1e-12)
