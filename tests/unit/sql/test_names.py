"""Names as people write them: count for the only COUNT, and texts in double quotes."""

from __future__ import annotations

import pytest

import eke
from eke.errors import SqlError
from eke.question import Aggregate
from eke.sql import parse

DOMAIN = eke.Domain(sex=eke.Categorical("F", "M"), n=eke.Integer(0, 5))


@pytest.mark.parametrize("name", ["count", "COUNT"])
def test_the_only_aggregate_of_a_kind_goes_by_its_name(name):
    text = "SELECT sex, COUNT(*) FROM t GROUP BY sex {} ORDER BY {} DESC"
    question = parse(text.format(f"HAVING {name} > 10", name), DOMAIN)
    assert [(one.by, one.descending) for one in question.order_by] == [(Aggregate(0), True)]
    assert question.having == parse(text.format("HAVING COUNT(*) > 10", 2), DOMAIN).having


def test_of_two_it_is_not_clear_which_is_meant():
    with pytest.raises(SqlError, match="no column 'count'"):
        parse("SELECT sex, COUNT(*), COUNT(n) FROM t GROUP BY sex ORDER BY count", DOMAIN)


def test_a_column_of_that_name_comes_first():
    domain = eke.Domain(count=eke.Categorical("a", "b"), n=eke.Integer(0, 5))
    question = parse("SELECT count, COUNT(*) FROM t GROUP BY count ORDER BY count", domain)
    assert (
        question.order_by[0].by
        == parse("SELECT count, COUNT(*) FROM t GROUP BY count ORDER BY 1", domain).order_by[0].by
    )


def test_a_text_in_double_quotes_is_pointed_out():
    with pytest.raises(SqlError, match="a text stands in single quotes: 'F'"):
        parse('SELECT COUNT(*) FROM t WHERE sex = "F"', DOMAIN)
