"""Terms: bounds, merging and tables."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eke.domain import Domain, Integer
from eke.query import Term
from eke.query.canonical import (
    DENSE_CELLS,
    canonical_terms,
    dense_table,
    finest_unit,
    merged_terms,
    table_terms,
    term_bounds,
    term_reach,
    wide_table,
)

DOMAIN = Domain(a=Integer(0, 2), b=Integer(0, 1), c=Integer(0, 3))


def term(weight, **factors):
    return Term(Fraction(weight), tuple((n, np.array(v, np.int64)) for n, v in factors.items()))


ENTRIES = st.integers(-5, 5)


@given(
    st.integers(-5, 5),
    st.lists(ENTRIES, min_size=3, max_size=3),
    st.lists(ENTRIES, min_size=2, max_size=2),
)
def test_bounds_of_a_product_are_its_extremes(weight, first, second):
    values = [weight * x * y for x, y in product(first, second)]
    one = term(weight, a=first, b=second)
    assert term_bounds(one) == (min(values), max(values))
    assert term_reach(one) == max(map(abs, values))


def test_bounds_of_a_number_are_the_number():
    assert list(term_bounds(term(-3))) == [-3, -3]
    assert term_reach(term(-3)) == 3


def test_merging_folds_common_factors_and_constants_into_the_weight():
    (one,) = merged_terms(DOMAIN, [term(2, b=[-3, -6], a=[4, 4, 4])])
    assert one.weight == -24
    assert [(n, v.tolist()) for n, v in one.factors] == [("b", [1, 2])]


def test_merging_adds_equal_products_and_drops_zeros():
    terms = [
        term(1, a=[0, 1, 0]),
        term(3, a=[0, 2, 0]),
        term(1, c=[0, 0, 0, 0]),
        term(0, b=[1, 0]),
        term(1, b=[1, 0]),
        term(-1, b=[1, 0]),
    ]
    (one,) = merged_terms(DOMAIN, terms)
    assert one.weight == 7
    assert merged_terms(DOMAIN, []) == []


def test_merging_keeps_weights_exact():
    (one,) = merged_terms(DOMAIN, [term(Fraction(1, 3), a=[0, 1, 0])] * 3)
    assert one.weight == 1


def test_order_of_terms_does_not_matter():
    terms = [term(1, a=[0, 1, 0]), term(2, b=[1, 0]), term(5, c=[1, 2, 3, 4])]
    forms = [canonical_terms(DOMAIN, order) for order in (terms, terms[::-1])]
    first, second = (
        [(t.weight, [(n, v.tolist()) for n, v in t.factors]) for t in form] for form in forms
    )
    assert first == second


def test_units_and_tables():
    terms = [term(Fraction(3, 4), a=[1, 2, 0]), term(6, b=[0, 1])]
    assert finest_unit(terms) == Fraction(1, 4)
    table = wide_table(DOMAIN, ("a", "b"), terms)
    assert table.tolist() == [[3, 27], [6, 30], [0, 24]]
    assert table.dtype == np.int64
    assert wide_table(DOMAIN, ("a", "b"), []).tolist() == [[0, 0]] * 3


def test_wide_tables_use_integers_of_any_length():
    terms = [term(2**40, a=[2**40, 1, 0]), term(1, b=[0, 1])]
    table = wide_table(DOMAIN, ("a", "b"), terms)
    assert table.tolist() == [[2**80, 2**80 + 1], [2**40, 2**40 + 1], [0, 1]]
    assert dense_table(DOMAIN, ("a", "b"), terms) is None
    assert table_terms(("a", "b"), table, Fraction(1)) is None


def test_dense_tables_are_refused_when_too_large():
    wide = Domain({n: Integer(0, 299) for n in "abc"})
    terms = [term(1, a=range(300)), term(1, b=range(300))]
    assert dense_table(wide, "abc", terms) is None
    small = dense_table(wide, "ab", terms)
    assert small is not None
    assert small.size > DENSE_CELLS
    assert (small == np.add.outer(np.arange(300), np.arange(300))).all()
    huge = [term(2**40, a=range(300), b=[2**40] * 299 + [0]), term(1, b=range(300))]
    assert dense_table(wide, "ab", huge) is None


@pytest.mark.parametrize("unit", [Fraction(1), Fraction(3, 8)])
def test_terms_of_a_table_add_up_to_it(unit):
    table = np.random.default_rng(1).integers(-3, 4, (3, 2, 4)) * 6
    terms = table_terms(("a", "b", "c"), table, unit)
    assert terms is not None
    total = sum((t.weight * _outer(t) for t in terms), np.zeros(table.shape, object))
    assert (total == table.astype(object) * unit).all()
    assert table_terms(("a",), np.zeros(3, np.int64), unit) == ()


def _outer(one):
    vectors = dict(one.factors)
    result = np.array(1, object)
    for name, size in zip("abc", (3, 2, 4), strict=True):
        result = np.multiply.outer(result, vectors.get(name, np.ones(size, int)).astype(object))
    return result
