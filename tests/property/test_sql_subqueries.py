"""Queries in parentheses beside aggregates have the values that DuckDB computes."""

from __future__ import annotations

import numpy as np
import pytest

from eke.sql import aggregate
from tests.parts import parts
from tests.property.test_sql_values import check_all, compare
from tests.sql_adult import Adult
from tests.sql_subqueries import SubqueryWriter

STATEMENTS = 900
PARTS = 30


@pytest.fixture(scope="module")
def adult() -> Adult:
    return Adult(4000)


@pytest.mark.parametrize("part", parts(PARTS))
def test_values_are_those_of_duckdb(adult, part):
    """30 generated statements, 900 with the long ones."""
    writer = SubqueryWriter(np.random.default_rng([2010, part]))
    check_all(adult, writer.statement, STATEMENTS // PARTS)


def test_a_query_of_each_group_is_noticed(adult, monkeypatch):
    """Positive control: taken for an aggregate of the group, the same comparison fails."""
    text = "SELECT sex, COUNT(*) / (SELECT COUNT(*) FROM adult) AS c FROM adult GROUP BY sex"
    assert compare(adult, text) is None
    monkeypatch.setattr(aggregate, "in_all_rows", lambda *parts: parts[2])
    assert compare(adult, text) is not None
