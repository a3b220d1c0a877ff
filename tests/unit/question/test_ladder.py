"""Ladders: the numbers a quantile may be, and what is counted to find it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Literal

import numpy as np
import pytest

import eke
from eke.errors import QueryError
from eke.query.runs import dense
from eke.question import formula_from_document
from eke.question.ladder import Ladder
from eke.question.rungs import Uneven
from eke.sql import parse
from tests.parts import in_long

HALF = Fraction(1, 2)
DOMAIN = eke.Domain(
    sex=eke.Categorical("F", "M"),
    age=eke.Integer(0, 9, null="bucket"),
    income=eke.Binned([0, 10, 30, 100]),
)


def rows_of(query, name):
    """The coefficient of each code of a column; of a question about that column alone."""
    table = np.zeros(DOMAIN[name].size)
    for term in query.terms:
        vector = dict(term.factors).get(name, np.ones_like(table))
        table += float(term.weight) * vector
    return table


def uneven(ladder: Ladder) -> Uneven:
    """The rungs of a ladder that lists them."""
    assert isinstance(ladder.rungs, Uneven)
    return ladder.rungs


def test_steps_are_the_numbers_of_a_column_without_its_bucket():
    ladder = Ladder.of_column(DOMAIN, "age", HALF, is_between=False)
    assert uneven(ladder).values.tolist() == list(range(10))
    assert uneven(ladder).places.tolist() == [*range(10), -1]


def test_numbers_in_any_order_are_sorted_and_equal_ones_share_a_step():
    numbers = np.array([3, np.nan, -1, 3])
    ladder = Ladder.of("age", numbers, None, HALF, is_between=False)
    assert uneven(ladder).values.tolist() == [-1, 3]
    assert uneven(ladder).places.tolist() == [1, -1, 0, 1]


@pytest.mark.parametrize("share", [Fraction(1, 2), Fraction(9, 10), Fraction(1, 3)])
def test_tilted_is_the_count_up_to_a_step_less_the_share_of_all(share):
    ladder = Ladder.of_column(DOMAIN, "age", share, is_between=False)
    counted = eke.count().on(DOMAIN)
    for step in range(ladder.last):
        found = rows_of(ladder.tilted(counted, step), "age")
        slow = [(code <= step) - share if code < 10 else 0 for code in range(11)]
        assert found.tolist() == [float(share.denominator * one) for one in slow]


def test_parts_are_disjoint_and_make_up_all_that_have_a_number():
    ladder = Ladder.of_column(DOMAIN, "age", HALF, is_between=False)
    counted = eke.count().on(DOMAIN)
    parts = [rows_of(ladder.between(counted, *ends), "age") for ends in [(0, 3), (4, 4), (5, 9)]]
    assert sum(parts).tolist() == [1.0] * 10 + [0.0]


def test_bins_widen_an_interval_each_by_itself():
    ladder = Ladder.of_column(DOMAIN, "income", HALF, is_between=True)
    assert uneven(ladder).values.tolist() == [5, 20, 65]
    assert ladder.outwards(5, 20) == (0, 30)
    assert ladder.outwards(65, 65) == (30, 100)


@pytest.mark.parametrize("share", [0, 1, -1, 2, Fraction(1, 10**7)])
def test_a_share_that_is_none_is_refused(share):
    with pytest.raises(QueryError, match=r"share"):
        Ladder.of_column(DOMAIN, "age", Fraction(share), is_between=False)


def test_a_column_without_numbers_is_refused():
    with pytest.raises(eke.EkeError, match="no numbers"):
        eke.median("sex").on(DOMAIN)


def test_quantiles_are_not_calculated_with():
    with pytest.raises(QueryError, match="not calculated with"):
        (eke.median("age") - eke.mean("age")).on(DOMAIN)
    with pytest.raises(QueryError, match="not calculated with"):
        eke.root(eke.median("age")).on(DOMAIN)


def test_python_and_its_document_are_the_same_question():
    question = eke.quantile("age", 0.9, sex="F").by("sex").on(DOMAIN)
    formula = formula_from_document(question.identity["query"]["formula"], 1)
    assert formula.to_document() == question.identity["query"]["formula"]
    assert question.text == "0.9 quantile of age in (count where sex = F and age 0–9) by sex"


@pytest.mark.parametrize(
    "document",
    [
        {"quantile": {"answer": 1}, "attribute": "age", "share": "1/2", "between": True},
        {"quantile": {"answer": 0}, "attribute": "age", "share": "half", "between": True},
        {"quantile": {"answer": 0}, "attribute": "age", "share": "1/2", "between": 1},
        {"quantile": {"answer": 0}, "attribute": "age", "share": "1/2"},
        {"quantile": {"root": {"answer": 0}}, "attribute": "age", "share": "1/2", "between": True},
        {"quantile": {"answer": 0}, "attribute": "age", "share": "3/2", "between": True},
    ],
)
def test_documents_that_are_no_quantile_are_refused(document):
    with pytest.raises(QueryError):
        formula_from_document(document, 1)


def listed(ladder: Ladder, column: eke.domain.Attribute, slope: Fraction) -> Ladder:
    """The same ladder with a step in a list for each code: the slow twin."""
    whole, unit = column.whole_numbers()
    numbers = np.array([float(slope * Fraction(one, unit)) for one in whole])
    numbers[column.size - column.has_bucket :] = np.nan
    rungs = Uneven.of(numbers, column.half_widths(), abs(slope))
    return replace(ladder, rungs=replace(rungs, rising=None))


@pytest.mark.parametrize("bucket", ["bucket", "never"])
@pytest.mark.parametrize("slope", [Fraction(1), Fraction(-3, 7)])
@pytest.mark.parametrize("cuts", [15, in_long(60)])
def test_wide_ladders_in_runs_are_what_lists_are(
    bucket: Literal["bucket", "never"], slope: Fraction, cuts: int
) -> None:
    """The slow twin looks at every code."""
    domain = eke.Domain(x=eke.Numeric(-1, 699.5, step=0.01, null=bucket), g=eke.Integer(0, 1))
    ladder = Ladder.even(domain, "x", Fraction(1, 3), is_between=True, slope=slope)
    assert ladder is not None
    twin, counted = listed(ladder, domain["x"], slope), eke.count(g=1).on(domain)
    assert (ladder.last, ladder.rungs.codes) == (twin.last, twin.rungs.codes)
    rng = np.random.default_rng(4)
    ends = [(0, 0), (0, ladder.last), (ladder.last, ladder.last), (5, 4)]
    for first, last in [*ends, *np.sort(rng.integers(0, ladder.last + 1, (cuts - 4, 2))).tolist()]:
        assert ladder.between(counted, first, last) == twin.between(counted, first, last)
        assert ladder.tilted(counted, last) == twin.tilted(counted, last)
        assert ladder.value(first) == twin.value(first)
        for number in (ladder.value(first), ladder.value(first) + 1e-4, float(first)):
            for side in ("left", "right"):
                assert ladder.rungs.rank(number, side) == twin.rungs.rank(number, side)
        assert ladder.outwards(ladder.value(first), ladder.value(last)) == twin.outwards(
            twin.value(first), twin.value(last)
        )
    for text in ("x BETWEEN 3 AND 500.25", "x < 7 OR x > 600", "x IN (1, 2, 5)", "x <= 699.5"):
        query = parse(f"SELECT COUNT(*) FROM t WHERE {text}", domain).query(0, 0)
        vectors = [vector for term in query.terms for _, vector in term.vectors]
        for vector in vectors:
            assert list(ladder.rungs.cuts(vector)) == list(twin.rungs.cuts(dense(vector)))
    assert ladder == replace(ladder)
    assert ladder != Ladder.even(domain, "x", Fraction(1, 3), is_between=True, shift=Fraction(1))


def test_narrow_columns_and_constants_have_no_even_ladders() -> None:
    domain = eke.Domain(x=eke.Integer(0, 65_535), y=eke.Integer(0, 70_000))
    assert Ladder.even(domain, "x", HALF, is_between=False) is None
    assert Ladder.even(domain, "y", HALF, is_between=False, slope=Fraction(0)) is None
    assert Ladder.even(domain, "y", HALF, is_between=False) is not None


def test_a_wide_ladder_whose_steps_rise_more_slowly_is_kept_in_runs_as_well() -> None:
    domain = eke.Domain(x=eke.Integer(0, 99_999), g=eke.Integer(0, 1))
    numbers = np.repeat(np.arange(100.0), 1000)
    rising = Ladder.of("x", numbers, None, HALF, is_between=False)
    twin, counted = (
        replace(rising, rungs=replace(uneven(rising), rising=None)),
        eke.count().on(domain),
    )
    for first, last in [(0, 0), (0, 99), (3, 50), (99, 99), (5, 4)]:
        assert rising.between(counted, first, last) == twin.between(counted, first, last)
        assert rising.tilted(counted, last) == twin.tilted(counted, last)
    falling = Ladder.of("x", -numbers, None, HALF, is_between=False)
    assert uneven(falling).rising is None
