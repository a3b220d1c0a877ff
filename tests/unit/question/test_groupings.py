"""Groupings number rows and cells as the obvious lists do; a stack is its parts, one by one."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from eke.domain import Categorical, Domain, Integer
from eke.errors import QueryError
from eke.query import Marginal, Query, Term
from eke.question import Grouping, Groupings, GroupKey, PerRow, Question, Stacked
from eke.sql import parse

DOMAIN = Domain(a=Categorical("x", "y"), b=Integer(1, 3), c=Categorical("p", "q", null="bucket"))
EVERYONE = Query.of(DOMAIN, [Term(Fraction(1), ())])
C, A = (GroupKey.of_column(DOMAIN, name) for name in "ca")
SETS = Groupings((C, A), (Grouping((0, 1), (None, None)), Grouping((1,), (None, None)),
                          Grouping((1,), (None, None)), Grouping((), (None, None))))  # fmt: skip
"""In another order than the domain's, with a set that is there twice."""


def slow_rows() -> list[tuple[object, object]]:
    pairs = list(product(C.labels, A.labels))
    return [*pairs, *((None, label) for label in A.labels * 2), (None, None)]


def test_rows_are_those_of_each_grouping_one_after_the_other():
    assert SETS.labels() == slow_rows()
    assert SETS.rows == len(slow_rows()) == 6 + 2 + 2 + 1
    assert SETS.place(3) == (0, (1, 1))
    assert SETS.place(9) == (2, (1,))
    assert SETS.place(10) == (3, ())


def test_a_cell_counts_the_records_that_its_row_shows():
    """Slow twin: the condition on each label, multiplied by hand."""
    block = SETS.block(EVERYONE)
    assert isinstance(block, Stacked)
    assert block.common == block.inside == EVERYONE
    for row, labels in enumerate(slow_rows()):
        expected = EVERYONE
        is_rolled_up = row >= 6, row == 10
        for key, label, skipped in zip((C, A), labels, is_rolled_up, strict=True):
            if not skipped:
                expected = expected.pointwise(key.part(DOMAIN, key.labels.index(label)))
        assert block.cell(SETS.cell(DOMAIN, row)) == expected
        assert block.has_value(row)
    assert SETS.cells(DOMAIN) == [SETS.cell(DOMAIN, row) for row in range(SETS.rows)]
    assert list(block.queries()) == [block.cell(i) for i in range(block.cells)]


def test_the_finest_groups_are_measured_first_and_each_table_once():
    block = SETS.block(EVERYONE)
    assert block.measurable() == [
        Marginal(("a", "c"), EVERYONE),
        Marginal(("a",), EVERYONE),
        EVERYONE,
    ]
    assert block.grouped is None
    assert block.by_columns is None


def test_one_grouping_is_a_plain_table():
    assert Groupings.of_all((C, A)).block(EVERYONE) == Marginal(("a", "c"), EVERYONE)
    assert Groupings.of_all(()).block(EVERYONE) == EVERYONE
    assert Groupings.of_all(()).rows == 1


def test_rows_with_a_query_of_their_own_keep_their_groupings():
    half = Fraction(1, 2) * EVERYONE
    cells = [None, *[EVERYONE] * 9, half]
    block = SETS.listed(DOMAIN, cells)
    assert [part.cells for part in block.parts] == [6, 2, 2, 1]
    assert all(isinstance(part, PerRow) for part in block.parts)
    assert block.common is None
    assert block.inside == EVERYONE
    assert [block.has_value(i) for i in range(11)] == [False, *[True] * 10]
    assert block.cell(10) == half


@pytest.mark.parametrize("row", [-1, 11])
def test_there_are_no_other_rows(row):
    with pytest.raises(QueryError, match="numbered 0 to 10"):
        SETS.cell(DOMAIN, row)
    with pytest.raises(QueryError, match="numbered 0 to 10"):
        SETS.block(EVERYONE).cell(row)


def asked(text: str) -> Question:
    return parse(text, DOMAIN, "t")


def test_a_condition_leaves_the_rows_that_some_record_can_be_in():
    """Slow twin: a row is possible where its query is not always 0."""
    for where in ("a = 'x'", "b < 3 AND c = 'q'", "a = 'y' AND b = 2 OR c IS NULL"):
        question = asked(f"SELECT COUNT(*) FROM t WHERE {where} GROUP BY CUBE (a, c), ROLLUP (b)")
        slow = [row for row in range(question.rows) if not question.query(0, row).is_zero]
        assert list(question.places) == slow


def test_grouping_tells_a_missing_value_from_a_total():
    question = asked("SELECT c, GROUPING(c) AS total, COUNT(*) FROM t GROUP BY ROLLUP (c)")
    assert question.keys() == [("p", 0), ("q", 0), (None, 0), (None, 1)]
    question = asked("SELECT GROUPING(c, a), GROUPING_ID(), COUNT(*) FROM t GROUP BY CUBE (a, c)")
    numbers = [row[2:] for row in question.groups.labels()]
    assert list(dict.fromkeys(numbers)) == [(0, 0), (2, 1), (1, 2), (3, 3)]


def test_several_totals_are_several_rows():
    question = asked("SELECT COUNT(*) FROM t GROUP BY GROUPING SETS ((), ())")
    assert question.rows == 2
    assert not question.is_number
    assert asked("SELECT COUNT(*) FROM t GROUP BY ()").is_number


def test_a_formula_is_an_average_in_totals_as_well():
    question = asked("SELECT a, AVG(b) FROM t GROUP BY ROLLUP (a)")
    assert question.bounds(question.columns[1].formula) == (1.0, 3.0)
    mixed = question.mixed((0, 1), (Fraction(1), Fraction(-2)))
    assert [part.cells for part in mixed.parts] == [2, 1]
    total = mixed.cell(2)
    assert np.array_equal(total.table() * 2.0**total.exponent, [-1.0, 0.0, 1.0])
