"""Inner products under random product priors against dense sums over all cells (HIST eq. 20)."""

from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from eke.domain import Domain, Integer
from eke.query import Prior, Query, Term, TermStack, gram, inner
from eke.query.step_stack import StepStack
from tests import oracle
from tests.parts import law
from tests.questions import domains, questions

SHARES = st.floats(0.05, 20.0)


@st.composite
def cases(draw):
    """A domain, a prior, questions over it and their dense coefficients, (queries, cells)."""
    domain = draw(domains())
    shares = {
        name: draw(st.lists(SHARES, min_size=size, max_size=size))
        for name, size in zip(domain.names, domain.shape, strict=True)
    }
    asked = draw(st.lists(questions(domain, most_parts=2), min_size=1, max_size=4))
    dense = np.array([[float(v) for v in oracle.dense(q, domain)] for q in asked])
    return domain, shares, [q.expression().on(domain) for q in asked], dense


def close(actual, expected, size):
    """Equal up to rounding relative to the sizes of the two factors."""
    return np.allclose(actual, expected, rtol=1e-11, atol=1e-12 * float(np.max(size, initial=1)))


@law(cases(), few=30, many=120)
def test_gram_matrix_and_inner_products_are_dense_sums(case):
    domain, shares, queries, dense = case
    p0 = oracle.prior_cells(domain, shares)
    prior = Prior(domain, shares)
    expected = (dense * p0) @ dense.T
    size = (np.abs(dense) * p0) @ np.abs(dense).T
    K = gram(queries, prior)
    assert K.shape == (len(queries), len(queries))
    assert close(K, expected, size)
    assert np.allclose(K, K.T, rtol=1e-13)
    for i, first in enumerate(queries):
        for j, second in enumerate(queries):
            assert close(inner(first, second, prior), expected[i, j], size)


@law(cases(), st.integers(0, 3), st.floats(0.1, 50), few=30, many=120)
def test_stacks_agree_with_dense_sums_while_they_grow(case, capacity, divisor):
    domain, shares, queries, dense = case
    p0 = oracle.prior_cells(domain, shares)
    stack = TermStack(Prior(domain, shares), capacity=capacity)
    codes = oracle.codes(domain)
    functionals = {
        name: np.random.default_rng(3).normal(size=(size, 2))
        for name, size in zip(domain.names, domain.shape, strict=True)
    }
    weights = np.ones((len(codes), 2))
    for axis, name in enumerate(domain.names):
        weights = weights * functionals[name][codes[:, axis]]
    size = float(np.abs(dense).max()) ** 2 * len(codes) / min(divisor, 1.0)
    for held in range(len(queries) + 1):
        if held:
            stack.append(queries[held - 1], divisor)
        rows = dense[:held] / divisor
        assert stack.rows == held
        assert stack.at(codes).shape == (held, len(codes))
        assert close(stack.at(codes), rows, size)
        assert close(stack.gram(), (rows * p0) @ rows.T, size)
        assert close(stack.project(functionals), rows @ weights, size)
        for query, coefficients in zip(queries, dense, strict=True):
            assert stack.against(query).shape == (held,)
            assert close(stack.against(query), (rows * p0) @ coefficients, size)


@law(cases(), st.floats(0.1, 50), few=30, many=120)
def test_steps_agree_with_dense_sums_while_they_grow(case, divisor):
    """What a view has seen stays as it was."""
    domain, _, queries, dense = case
    stack = StepStack(domain)
    expected = dense @ dense.T / domain.size
    size = np.abs(dense) @ np.abs(dense).T / domain.size
    earlier = None
    for held, query in enumerate(queries, start=1):
        stack.append(query, divisor)
        for j, asked in enumerate(queries):
            found = stack.against(asked)
            assert close(found * divisor, expected[:held, j], size)
            if earlier is not None:
                assert np.allclose(earlier.against(asked), found[: earlier.rows], rtol=1e-14)
        earlier = stack.view() if earlier is None else earlier


@law(
    st.lists(st.sampled_from([0, 1, 7, 2**20, 2**40, 2**55, 2**61]), min_size=2, max_size=5),
    few=20,
    many=80,
)
def test_sums_beyond_doubles_are_multiplied_entry_by_entry(heights):
    """Ranges, ramps and huge vectors, in any order: as exact as Python's integers are."""
    size = 40
    domain = Domain(a=Integer(0, size - 1), b=Integer(0, 2))
    places = np.arange(size)
    vectors = [np.where(places == k % size, h, places % (k + 2)) for k, h in enumerate(heights)]
    queries = [
        Query.unrounded(domain, [Term(Fraction(1), (("a", vector.astype(np.int64)),))])
        for vector in vectors
        if vector.any()
    ]
    stack = StepStack(domain)
    for held, query in enumerate(queries, start=1):
        stack.append(query)
        for asked in queries:
            found = stack.against(asked)
            for row, product in zip(queries[:held], found, strict=True):
                pairs = zip(whole(row), whole(asked), strict=True)
                truth = sum(x * y for x, y in pairs)
                assert abs(Fraction(float(product)) - Fraction(truth, size)) <= Fraction(
                    truth, size * 2**50
                )


def whole(query):
    """The coefficients along `a`, as Python's integers."""
    (term,) = query.terms
    return [int(term.weight * int(value)) for value in dict(term.factors)["a"]]
