from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
import pytest

from eke.domain import Domain, Integer
from eke.history import Measurement, Row
from eke.inference.regression import LinearEstimate, Regression, norm_of
from eke.inference.state import Inference
from eke.privacy.law import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace, NoiseLaw
from eke.query import Query, Term, count, marginal
from tests.parts import every, in_long, parts
from tests.unit.inference.dense import (
    domain_of,
    exact_rank,
    generalised_least_squares,
    is_estimable,
    matrix_of,
    product_query,
    query_of,
)

LAWS: list[NoiseLaw] = [
    Laplace(2.0),
    Laplace(0.3),
    Gaussian(9.0),
    DiscreteLaplace(5, 0),
    DiscreteLaplace(3 * 2**20, -20),
    DiscreteGaussian(7, -1),
]
NINE = (79, 2, 17, 51, 9, 7, 6, 50, 50)


def regression_of(domain: Domain, rows: list[Row]) -> Regression:
    regression = Regression(domain)
    for row in rows:
        regression.append(row)
    return regression


def random_rows(domain: Domain, queries: list[Query], generator: np.random.Generator) -> list[Row]:
    laws = [LAWS[int(k)] for k in generator.integers(0, len(LAWS), len(queries))]
    values = generator.normal(scale=30.0, size=len(queries))
    return [Row(q, float(v), law) for q, v, law in zip(queries, values, laws, strict=True)]


def full_weights(estimate: LinearEstimate, size: int) -> np.ndarray:
    weights = np.zeros(size)
    np.add.at(weights, estimate.rows, estimate.weights)
    return weights


def assert_is_blue(rows: Sequence[Row], question: Query, estimate: LinearEstimate) -> None:
    """Unbiased, of least variance, and the value that belongs to the weights."""
    history, wanted = matrix_of([row.query for row in rows]), matrix_of([question])[0]
    variances = np.array([row.law.variance for row in rows])
    weights = full_weights(estimate, len(rows))
    oracle = generalised_least_squares(history, variances, wanted)
    size = max(1.0, float(np.abs(weights) @ np.abs(history).max(axis=1)))
    np.testing.assert_allclose(weights @ history, wanted, atol=1e-9 * size)
    assert weights**2 @ variances == pytest.approx(oracle**2 @ variances, rel=1e-8)
    np.testing.assert_allclose(weights, oracle, atol=1e-7 * np.abs(oracle).max())
    values = np.array([row.value for row in rows])
    expected = float(oracle @ values) + float(question.constant)
    assert estimate.value == pytest.approx(
        expected, abs=1e-7 * float(np.abs(oracle) @ np.abs(values))
    )


# -- best linear unbiased -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "sizes", [(1,), (2,), (6,), (12,), (2, 3), (3, 4), (2, 2, 3), (1, 3, 1, 2)]
)
@pytest.mark.parametrize("seed", parts(5, 2))
def test_estimates_equal_generalised_least_squares(sizes, seed):
    generator = np.random.default_rng([seed, *sizes])
    domain = domain_of(*sizes)
    queries = [
        product_query(domain, generator)
        if generator.random() < 0.5
        else query_of(domain, generator.integers(-2, 4, domain.size))
        for _ in range(int(generator.integers(1, 2 * domain.size + 2)))
    ]
    rows = random_rows(domain, queries, generator)
    regression = regression_of(domain, rows)
    assert len(regression) == len(rows)
    assert regression.rank == exact_rank(queries)
    mixed = queries[0] * 3
    for query in queries[1:]:
        mixed = mixed + query * int(generator.integers(-2, 3))
    questions = [*queries[:3], mixed, *(product_query(domain, generator) for _ in range(6))]
    for question in questions:
        estimate = regression.estimate(question)
        assert (estimate is not None) == is_estimable(queries, question)
        if estimate is not None and not question.is_zero:
            assert_is_blue(rows, question, estimate)


@pytest.mark.parametrize("seed", parts(5, 2))
def test_marginals_and_single_queries_together(seed):
    generator = np.random.default_rng(900 + seed)
    domain = domain_of(2, 3, 4)
    measurements = [
        Measurement(marginal("a0", "a1").on(domain), DiscreteGaussian(5, 0), tuple(range(6))),
        Measurement(count(a2=(1, 2)).on(domain), Laplace(1.0), (4.5,)),
        Measurement(marginal("a2").on(domain), DiscreteLaplace(2, 0), (1.0, 2.0, -3.0, 4.0)),
        Measurement(marginal("a1", where={"a2": 1}).on(domain), Laplace(0.7), (3.0, 2.0, 9.0)),
    ]
    order = generator.permutation(4)
    inference = Inference(domain, [measurements[int(k)] for k in order])
    assert len(inference.rows) == 6 + 1 + 4 + 3
    history = [row.query for row in inference.rows]
    assert inference.regression.rank == exact_rank(history)
    for question in (
        count().on(domain),
        count(a0=1).on(domain),
        count(a1=[0, 2], a2=1).on(domain),
        count(a1=0).on(domain) - count(a2=3).on(domain) * 2,
        count(a0=1, a2=1).on(domain),
    ):
        estimate = inference.regression.estimate(question)
        assert (estimate is not None) == is_estimable(history, question)
        if estimate is not None:
            assert_is_blue(inference.rows, question, estimate)


@pytest.mark.parametrize("first", parts(5))
def test_precisions_that_differ_by_ten_to_the_twelve(first):
    domain = domain_of(3)
    queries = [
        query_of(domain, c) for c in ([1, 0, 0], [0, 1, 0], [1, 1, 0], [1, -1, 0], [0, 0, 1])
    ]
    laws = [Laplace(1e3), Laplace(1e3), Laplace(1e-3), Laplace(1e-3), Laplace(1.0)]
    rows = [Row(q, 1.0 + i, law) for i, (q, law) in enumerate(zip(queries, laws, strict=True))]
    for order in itertools.permutations(range(5)):
        if order[0] != first:
            continue
        chosen = [rows[i] for i in order]
        regression = regression_of(domain, chosen)
        for question in (queries[2], queries[0], query_of(domain, [3, 1, 2])):
            estimate = regression.estimate(question)
            assert estimate is not None
            assert_is_blue(chosen, question, estimate)


def test_the_constant_is_added_and_costs_nothing():
    domain = domain_of(2)
    regression = regression_of(domain, [Row(count().on(domain), 10.0, Laplace(1.0))])
    estimate = regression.estimate((2000 * count() - 10000).on(domain))
    assert estimate is not None
    assert estimate.value == pytest.approx(2000 * 10.0 - 10000)
    assert estimate.weights.tolist() == pytest.approx([2000.0])


def test_a_question_without_records_is_answered_by_its_constant():
    domain = domain_of(2)
    for rows in ([], [Row(count().on(domain), 10.0, Laplace(1.0))]):
        estimate = regression_of(domain, rows).estimate(query_of(domain, [0, 0], 7))
        assert estimate is not None
        assert estimate.value == 7.0
        assert estimate.weights.size == estimate.rows.size == 0


def test_an_empty_history_determines_nothing():
    domain = domain_of(2)
    regression = Regression(domain)
    assert regression.estimate(count().on(domain)) is None
    assert regression.rank == len(regression) == 0
    assert regression.nbytes > 0


# -- what history determines -----------------------------------------------------------------------


def test_duplicated_proportional_negated_and_zero_rows():
    domain = domain_of(2, 2)
    row = query_of(domain, [1, 2, 0, -1])
    queries = [row, row, row * 3, -row, query_of(domain, [0, 0, 0, 0]), row * 0.5]
    rows = random_rows(domain, queries, np.random.default_rng(3))
    regression = regression_of(domain, rows)
    assert regression.rank == 1
    for question in (row, row * -7, row * 0.25):
        estimate = regression.estimate(question)
        assert estimate is not None
        assert_is_blue(rows, question, estimate)
        assert 4 not in estimate.rows
    assert regression.estimate(query_of(domain, [1, 2, 0, 0])) is None


@pytest.mark.parametrize("seed", parts(6, 2))
def test_any_order_gives_the_same_estimates(seed):
    generator = np.random.default_rng(500 + seed)
    domain = domain_of(3, 3)
    queries = [product_query(domain, generator) for _ in range(6)]
    queries += [queries[0] + queries[1] * 2, queries[2] - queries[3], queries[1] * -1]
    rows = random_rows(domain, queries, generator)
    questions = [*(product_query(domain, generator) for _ in range(8)), *queries]
    expected = [regression_of(domain, rows).estimate(q) for q in questions]
    assert any(e is None for e in expected)
    for _ in range(4):
        order = [int(k) for k in generator.permutation(len(rows))]
        shuffled = regression_of(domain, [rows[k] for k in order])
        for question, first in zip(questions, expected, strict=True):
            again = shuffled.estimate(question)
            assert (again is None) == (first is None)
            if first is None or again is None:
                continue
            assert again.value == pytest.approx(first.value, rel=1e-8, abs=1e-8)
            weights = full_weights(again, len(rows))
            np.testing.assert_allclose(
                weights,
                full_weights(first, len(rows))[order],
                atol=1e-8 * np.abs(weights).max(initial=1),
            )


@pytest.mark.parametrize("length", [12, in_long(20)])
def test_growing_equals_starting_over(length):
    generator = np.random.default_rng(77)
    domain = domain_of(4, 3)
    rows = random_rows(domain, [product_query(domain, generator) for _ in range(length)], generator)
    questions = [product_query(domain, generator) for _ in range(5)]
    growing = Regression(domain)
    for k, row in enumerate(rows, start=1):
        growing.append(row)
        scratch = regression_of(domain, rows[:k])
        assert growing.rank == scratch.rank
        for question in [*questions, *(r.query for r in rows[: k + 1])]:
            first, second = growing.estimate(question), scratch.estimate(question)
            assert (first is None) == (second is None)
            if first is not None and second is not None:
                assert first.value == second.value


@pytest.mark.parametrize("seed", parts(4))
@pytest.mark.parametrize("digits", every(3, range(2, 10)))
def test_rows_that_nearly_depend_on_each_other(digits, seed):
    """Relative differences of 1e-2 to 1e-9: what is said is right, whatever is left unsaid."""
    generator = np.random.default_rng([digits, seed])
    domain = domain_of(3, 3)
    first, second, offset = (query_of(domain, generator.integers(1, 5, 9)) for _ in range(3))
    scale = 2.0 ** round(math.log2(10.0**-digits))
    near = first + second + offset * scale
    queries = [first, second, near]
    rows = [
        Row(q, v, Laplace(b)) for q, v, b in zip(queries, (5.0, 7.0, 12.5), (1, 2, 3), strict=True)
    ]
    assert exact_rank(queries) == 3
    for count_of_rows in (2, 3):
        for order in itertools.permutations(range(count_of_rows)):
            chosen = [rows[k] for k in order]
            history = [row.query for row in chosen]
            regression = regression_of(domain, chosen)
            questions = [first, second, near, near * -3, first + second, offset, offset * scale]
            for question in questions:
                estimate = regression.estimate(question)
                if estimate is None:
                    continue
                assert is_estimable(history, question)  # never a wrong "determined"
                weights = full_weights(estimate, count_of_rows)
                np.testing.assert_allclose(
                    weights @ matrix_of(history),
                    matrix_of([question])[0],
                    atol=1e-7 * float(np.abs(matrix_of([question])).max()),
                )
            for row in chosen:  # a row answers itself, at worst as if it were alone
                for factor in (1, -3, 0.5):
                    estimate = regression.estimate(row.query * factor)
                    assert estimate is not None
                    variances = np.array([chosen[k].law.variance for k in estimate.rows])
                    found = float(estimate.weights**2 @ variances)
                    assert found <= factor**2 * row.law.variance * (1 + 1e-7)


def test_rows_set_aside_are_averaged_with_their_multiples():
    domain = domain_of(4)
    base = query_of(domain, [2**30] * 4)
    near = query_of(domain, [2**30, 2**30, 2**30, 2**30 + 1])
    rows = [
        Row(base, 0.0, Laplace(1.0)),
        Row(near, 10.0, Laplace(1.0)),
        Row(near * -2, -26.0, Laplace(2.0)),  # says 13 with the same precision
        Row(near * 0.5, 4.0, Gaussian(0.5)),  # says 8 with the same precision, 2
    ]
    regression = regression_of(domain, rows)
    assert regression.rank == 1
    estimate = regression.estimate(near * 3 + query_of(domain, [0] * 4, 100))
    assert estimate is not None
    assert estimate.value == pytest.approx(3 * (10.0 + 13.0 + 8.0) / 3 + 100)
    weights = full_weights(estimate, 4)
    np.testing.assert_allclose(weights, [0.0, 1.0, -0.5, 2.0])
    assert regression.estimate(query_of(domain, [0, 0, 0, 1])) is None
    again = regression.estimate(base)
    assert again is not None
    assert again.rows.tolist() == [0]


@pytest.mark.parametrize("sizes", [NINE, in_long((10,) * 100), (100,) * 200, in_long((10,) * 400)])
def test_one_cell_of_a_huge_domain_is_not_overlooked(sizes):
    domain = domain_of(*sizes)
    everyone = count().on(domain)
    cell = count({name: size - 1 for name, size in zip(domain.names, sizes, strict=True)}).on(
        domain
    )
    others = everyone - cell
    twice = everyone + cell
    for history in ([everyone], [others], [twice]):
        regression = regression_of(domain, [Row(q, 1e6, Laplace(2.0)) for q in history])
        for question in (everyone, others, twice, cell):
            estimate = regression.estimate(question)
            assert (estimate is not None) == (question in history)
            if estimate is not None:
                assert estimate.weights.tolist() == pytest.approx([1.0])
    # Known exactly to be determined, though no inner product could resolve the difference.
    regression = regression_of(
        domain, [Row(everyone, 1e6, Laplace(2.0)), Row(cell, 3.0, Laplace(0.5))]
    )
    estimate = regression.estimate(others)
    if math.prod(sizes) < 10**400:
        assert estimate is not None
        assert full_weights(estimate, 2).tolist() == pytest.approx([1.0, -1.0])
        assert estimate.value == pytest.approx(1e6 - 3.0)
    # Independent, but too close: each still answers itself.
    regression = regression_of(
        domain, [Row(everyone, 1e6, Laplace(2.0)), Row(others, 9.0, Laplace(0.5))]
    )
    assert regression.estimate(cell) is None
    estimate = regression.estimate(others * -2)
    assert estimate is not None
    assert (estimate.value, estimate.weights.tolist()) == (-18.0, [-2.0])


def test_a_thin_slice_that_no_single_attribute_shows():
    """The difference of two products is confined to one value of each of nine attributes."""
    domain = domain_of(*NINE)
    where = {name: (0, size - 2) for name, size in zip(domain.names, NINE, strict=True)}
    wide = count(where).on(domain)
    for name in domain.names:
        wider = count({k: v for k, v in where.items() if k != name}).on(domain)
        regression = regression_of(domain, [Row(wide, 1.0, Laplace(1.0))])
        assert regression.estimate(wider) is None
        assert regression.estimate(wide * 5) is not None


def test_weights_are_unbiased_on_a_large_product_domain():
    """Σ a_i·h_i = q, checked at random cells and as tilted sums, for 150 two-way ranges."""
    generator = np.random.default_rng(5)
    domain = domain_of(*NINE)

    def ranges() -> Query:
        where = {}
        for k in generator.choice(9, 2, replace=False):
            low, high = sorted(int(v) for v in generator.integers(0, NINE[k], 2))
            where[f"a{k}"] = (low, high)
        return count(where).on(domain)

    queries = [ranges() for _ in range(150)]
    queries += [queries[1] + queries[2], queries[3] - queries[5] * 2]
    regression = regression_of(domain, random_rows(domain, queries, generator))
    assert regression.rank <= 150
    codes = np.stack([generator.integers(0, n, 400) for n in NINE], axis=1)
    at_cells = np.array([query.numerators(domain.names, codes) for query in queries], float)
    for _ in range(10):
        picked = [int(k) for k in generator.choice(152, 5, replace=False)]
        question = queries[picked[0]] * 2
        expected = 2 * at_cells[picked[0]]
        for k in picked[1:]:
            question = question - queries[k]
            expected = expected - at_cells[k]
        estimate = regression.estimate(question)
        assert estimate is not None
        weights = full_weights(estimate, len(queries))
        np.testing.assert_allclose(weights @ at_cells, expected, atol=1e-7)
    assert regression.estimate(ranges()) is None


def test_spellings_that_canonical_form_cannot_merge_are_one_question():
    """(1 + u)(1 + v)(1 + w) expanded over a support too large for a table equals its product."""
    domain = domain_of(50, 50, 50)
    generator = np.random.default_rng(11)
    vectors = {name: generator.integers(0, 3, 50).astype(np.int64) for name in domain.names}
    product = Query.of(domain, [Term(one(), tuple((n, 1 + v) for n, v in vectors.items()))])
    subsets = itertools.chain.from_iterable(
        itertools.combinations(vectors.items(), k) for k in range(4)
    )
    spelled = Query(domain, tuple(Term(one(), tuple(s)) for s in subsets), product.constant)
    assert len(spelled.terms) == 8
    regression = regression_of(domain, [Row(product, 5.0, Laplace(1.0))])
    estimate = regression.estimate(spelled)
    assert estimate is not None
    assert estimate.value == pytest.approx(5.0)
    assert estimate.weights.tolist() == pytest.approx([1.0])


def one():
    return count().on(domain_of(1)).terms[0].weight


def test_norms_that_floating_point_cannot_hold_are_zero():
    huge = domain_of(*[10] * 400)
    assert norm_of(count(dict.fromkeys(huge.names, 0)).on(huge)) == 0.0
    assert norm_of(count().on(huge)) == pytest.approx(1.0)
    small = domain_of(4)
    assert norm_of(query_of(small, [0, 0, 0, 0])) == 0.0
    assert norm_of(query_of(small, [2, 0, 0, 0])) == pytest.approx(1.0)


def test_terms_that_cancel_each_other_are_set_aside_not_trusted():
    domain = Domain({f"a{k}": Integer(0, 9) for k in range(40)})
    everyone = count().on(domain)
    cell = count(dict.fromkeys(domain.names, 1)).on(domain)
    # Spelled so that its norm is 1 - 2 + 1 of what is left of it.
    odd = Query(domain, (*(everyone - cell).terms, *(-everyone).terms), everyone.constant)
    regression = regression_of(
        domain, [Row(everyone, 1.0, Laplace(1.0)), Row(odd, 2.0, Laplace(1.0))]
    )
    estimate = regression.estimate(odd)
    assert estimate is not None
    assert estimate.value == 2.0
    assert regression.rank == 1
