"""Query: rounding, checks, documents and identity."""

import json
import re
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from eke.domain import Categorical, Domain, Integer
from eke.errors import QueryError
from eke.query import Query, Term, constant, count, moment, table, total
from eke.query.vector import GRID_BITS
from tests import oracle

DOMAIN = Domain(age=Integer(17, 90), sex=Categorical("F", "M"), hours=Integer(0, 4, null="bucket"))
WEIGHTS = [0.1, Fraction(1, 3), 1e-9, 1e12, -0.3, 7, Fraction(-22, 7), 2**0.5]
HALF_STEP = Fraction(1, 2 ** (GRID_BITS + 1))


def term(weight, **factors):
    return Term(Fraction(weight), tuple((n, np.array(v, np.int64)) for n, v in factors.items()))


# -- rounding ------------------------------------------------------------------------------------


@pytest.mark.parametrize("weight", WEIGHTS)
@pytest.mark.parametrize("asked", [count(sex="F"), total("age"), moment(age=3, hours=2)])
def test_weights_are_rounded_relative_to_themselves(weight, asked):
    exact = Fraction(weight)
    query = (weight * asked).on(DOMAIN)
    plain = asked.on(DOMAIN)
    for rounded in (query, plain * weight, weight * plain):
        (one,) = rounded.terms
        (unit,) = plain.terms
        assert abs(one.weight / unit.weight - exact) <= HALF_STEP * abs(exact)
        assert one.weight.denominator & (one.weight.denominator - 1) == 0


@pytest.mark.parametrize("first", WEIGHTS)
@pytest.mark.parametrize("second", WEIGHTS)
def test_sums_are_rounded_relative_to_their_largest_term(first, second):
    """Each term moves a cell by at most half a step of the largest coefficient of any term."""
    domain = Domain(sex=DOMAIN["sex"], hours=DOMAIN["hours"])
    query = (first * count(sex="F") + second * total("hours")).on(domain)
    largest = max(abs(Fraction(first)), 4 * abs(Fraction(second)))
    values = oracle.written_out(query)
    for cell, value in zip(oracle.cells(domain), values, strict=True):
        exact = Fraction(first) * (cell["sex"] == "F") + Fraction(second) * (cell["hours"] or 0)
        assert abs(value - exact) <= 2 * HALF_STEP * largest
    assert query * 1 == query
    assert Query.from_document(domain, query.to_document()) == query


def test_tables_are_rounded_relative_to_their_largest_entry():
    entries = np.array([[0.1, 1e-9, Fraction(1, 3)], [1e12, -0.7, 0]], object)
    domain = Domain(sex=DOMAIN["sex"], x=Integer(0, 2))
    query = table(["sex", "x"], entries).on(domain)
    for value, exact in zip(oracle.written_out(query), entries.reshape(-1), strict=True):
        assert abs(value - Fraction(exact)) <= HALF_STEP * 10**12


def test_rounding_happens_once_so_thirds_add_up():
    third = count(sex="F") / 3
    assert (third * 3).on(DOMAIN) == count(sex="F").on(DOMAIN)
    assert (third + third + third).on(DOMAIN) == count(sex="F").on(DOMAIN)
    assert (0.1 * count() - count() * 0.1).on(DOMAIN).is_zero
    assert (0.1 * (total("age") + 5) * 10).on(DOMAIN).constant == Fraction(0.1) * 50


def test_a_large_part_that_cancels_does_not_swallow_a_small_one():
    small = (1e-9 * count(sex="F") + 1e12 * total("age") - 1e12 * total("age")).on(DOMAIN)
    assert small == (1e-9 * count(sex="F")).on(DOMAIN)


def test_negligible_parts_vanish_into_the_grid():
    assert (1e12 * count() + 1e-9 * count(sex="F")).on(DOMAIN) == (1e12 * count()).on(DOMAIN)


def test_constants_are_exact():
    assert (count() + Fraction(1, 3)).on(DOMAIN).constant == Fraction(1, 3)
    assert constant(0.1).on(DOMAIN).constant == Fraction(0.1)
    assert (5 - constant(2)).on(DOMAIN).constant == 3
    assert constant(7).on(DOMAIN).is_zero


def test_unrounded_queries_keep_every_bit():
    fine = Fraction(2**80 + 1, 2**80)
    query = Query.unrounded(DOMAIN, [term(fine, sex=[1, 0])])
    assert query.terms[0].weight == fine
    assert Query.of(DOMAIN, query.terms).terms[0].weight == 1
    with pytest.raises(QueryError, match=r"use Query\.of to round"):
        Query.unrounded(DOMAIN, [term(Fraction(1, 3), sex=[1, 0])])


def test_sums_of_queries_are_exact_up_to_62_bits_and_rounded_beyond():
    one, other = count(sex="F").on(DOMAIN), count(hours=0).on(DOMAIN)
    exact = one + other * Fraction(1, 2**50)
    assert exact - one == other * Fraction(1, 2**50)
    assert one + other * Fraction(1, 2**70) == one


def test_products_of_wide_vectors_are_rounded_not_wrapped():
    """Entries of 2^40 squared leave int64; the product is put on the grid instead."""
    domain = Domain(x=Integer(0, 2), y=Integer(0, 1))
    entries = [2**40 + 1, -(2**39), 3]
    wide = Query.unrounded(domain, [term(1, x=entries)])
    squared = oracle.written_out(wide.pointwise(wide))
    for value, entry in zip(squared[::2], entries, strict=True):
        assert abs(value - entry**2) <= HALF_STEP * entries[0] ** 2
    narrow = Query.unrounded(domain, [term(1, x=[2**30, 1, 0])])
    assert oracle.written_out(narrow.pointwise(narrow))[::2] == [2**60, 1, 0]


# -- checks --------------------------------------------------------------------------------------


@pytest.mark.parametrize("build", [Query.of, Query.unrounded])
@pytest.mark.parametrize(
    ("bad", "advice"),
    [
        (term(1, income=[1, 0]), "no attribute 'income'; the domain has age, sex, hours"),
        (term(1, sex=[1, 0, 0]), "'sex' needs 2 coefficients"),
        (term(1, sex=[[1, 0]]), "'sex' needs 2 coefficients"),
        (term(1, sex=[2**62, 0]), "below 2\\^62"),
        (Term(Fraction(1), (("sex", np.array([0.5, 1.0])),)), "must hold integers"),
        (
            Term(Fraction(1), (("sex", np.array([0, 1])), ("sex", np.array([1, 0])))),
            "multiply them first",
        ),
    ],
)
def test_bad_terms_are_refused(build, bad, advice):
    with pytest.raises(QueryError, match=advice):
        build(DOMAIN, [bad])


def test_queries_over_different_domains_do_not_mix():
    other = count().on(Domain(age=Integer(0, 9)))
    mine = count().on(DOMAIN)
    for act in (mine.__add__, mine.__sub__, mine.pointwise):
        with pytest.raises(QueryError, match="different domains"):
            act(other)
    assert mine != other
    assert mine != "count"
    assert mine == count().on(Domain(dict(DOMAIN.attributes)))


@pytest.mark.parametrize("factor", [True, None, "2", float("nan"), float("inf"), 1j])
def test_queries_are_multiplied_by_finite_numbers_only(factor):
    with pytest.raises(QueryError):
        count().on(DOMAIN) * factor


def test_cells_must_cover_the_attributes():
    query = count(sex="F", hours=1).on(DOMAIN)
    with pytest.raises(QueryError, match="codes of hours, too"):
        query.numerators(("sex",), np.zeros((1, 1), np.int64))


def test_counts_and_codes_must_be_of_equal_length():
    with pytest.raises(ValueError, match="mismatch"):
        count().on(DOMAIN).exact((), np.zeros((2, 0), np.int64), np.array([1]))


def test_tables_of_large_supports_are_refused():
    wide = Domain({f"a{i}": Integer(0, 99) for i in range(4)})
    with pytest.raises(QueryError, match="too large for a table"):
        count({f"a{i}": 5 for i in range(4)}).on(wide).table()


# -- shape ---------------------------------------------------------------------------------------


def test_attributes_and_support():
    query = (count(hours=1) + 2 * count(sex="F")).on(DOMAIN)
    assert query.attributes == ("sex", "hours")
    assert query.support_size == 2 * 6
    everyone = count().on(DOMAIN)
    assert (everyone.attributes, everyone.support_size, everyone.exponent) == ((), 1, 0)
    assert everyone.table().shape == ()
    assert everyone.numerators((), np.zeros((3, 0), np.int64)) == [1, 1, 1]
    nothing = constant(3).on(DOMAIN)
    assert list(nothing.extremes()) == [0, 0]
    assert nothing.exponent == 0
    assert nothing.exact(("sex",), np.array([[0], [1]]), np.array([5, 6])) == 0


def test_conditions_that_hold_for_all_are_no_conditions():
    assert count(sex=["F", "M"]).on(DOMAIN) == count().on(DOMAIN)
    assert count(age=(None, None)).on(DOMAIN) == count().on(DOMAIN)
    assert count(hours=(None, None)).on(DOMAIN) != count().on(DOMAIN)  # the bucket is left out


# -- documents -----------------------------------------------------------------------------------


def test_documents_are_short_and_readable():
    query = (2000 * count(age=(20, 29), sex="F") - 0.5).on(DOMAIN)
    assert query.to_document() == {
        "constant": "-1/2",
        "terms": [
            {
                "weight": "2000",
                "factors": {"age": [[0, 3], [1, 10], [0, 61]], "sex": [[1, 1], [0, 1]]},
            }
        ],
    }
    assert re.fullmatch("[0-9a-f]{64}", query.digest)


def test_documents_survive_json():
    query = (total("age") / 3 + 0.1 * count(sex="M") - moment(hours=4) + Fraction(1, 7)).on(DOMAIN)
    again = Query.from_document(DOMAIN, json.loads(json.dumps(query.to_document())))
    assert again == query
    assert again.digest == query.digest


def document(**changes: Any) -> dict[str, Any]:
    one = {"weight": "1", "factors": {"sex": [[1, 1], [0, 1]]}}
    return {"constant": "0", "terms": [{**one, **changes}]}


@pytest.mark.parametrize(
    "bad",
    [
        None,
        [],
        {},
        {"terms": []},
        {"constant": "0"},
        {"constant": "0", "terms": 3},
        {"constant": "0", "terms": [3]},
        {"constant": "x", "terms": []},
        {"constant": 1.5, "terms": []},
        {"constant": "1e999999999", "terms": []},
        document(weight="1/3"),
        document(weight="1/0"),
        document(weight="0.5"),
        document(weight=1),
        document(weight=None),
        document(weight="1" * 5000),
        document(factors=None),
        document(factors=[]),
        document(factors={"income": [[1, 2]]}),
        document(factors={"sex": []}),
        document(factors={"sex": [[1, 1]]}),
        document(factors={"sex": [[1, 3]]}),
        document(factors={"sex": [[1, 1], [0, 1.0]]}),
        document(factors={"sex": [["1", 1], [0, 1]]}),
        document(factors={"sex": [[True, 1], [0, 1]]}),
        document(factors={"sex": [[1, 2], [1, 0]]}),
        document(factors={"sex": [[1, 3], [1, -1]]}),
        document(factors={"sex": [1, 0]}),
        document(factors={"sex": "ab"}),
        document(factors={"sex": [[2**62, 1], [0, 1]]}),
        document(factors={"sex": [[2**70, 1], [0, 1]]}),
        document(factors={"sex": [[1, 10**12]]}),
        {"constant": "0", "terms": [{"weight": "9" * 400, "factors": {}}]},
        {"constant": "0", "terms": [{"weight": f"1/{2**1400}", "factors": {}}]},
    ],
)
def test_malformed_documents_are_refused(bad):
    with pytest.raises(QueryError):
        Query.from_document(DOMAIN, bad)


def test_a_document_in_another_spelling_becomes_canonical():
    spelled = {
        "constant": "2/4",
        "terms": [
            {"weight": "1", "factors": {"sex": [[2, 1], [0, 1]]}},
            {"weight": "-4/2", "factors": {"sex": [[0, 1], [-1, 1]]}},
        ],
    }
    assert Query.from_document(DOMAIN, spelled) == (2 * count() + Fraction(1, 2)).on(DOMAIN)


def test_vectors_cannot_be_changed_afterwards():
    for query in (
        count(sex="F").on(DOMAIN),
        (total("age") + total("hours")).on(DOMAIN),
        table("hours", [1, 2, 3, 4, 5, 6]).on(DOMAIN),
    ):
        for one in query.terms:
            for _, vector in one.factors:
                with pytest.raises(ValueError, match="read-only"):
                    vector[0] = 9
