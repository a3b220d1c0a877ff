"""The rows of ROLLUP, CUBE and GROUPING SETS have the values that DuckDB computes."""

from __future__ import annotations

import numpy as np
import pytest

from eke.sql.groupings import KeySets
from tests.parts import parts
from tests.property.test_sql_values import check_all, compare
from tests.sql_adult import Adult
from tests.sql_sets import SetWriter

STATEMENTS = 1000
PARTS = 40


@pytest.fixture(scope="module")
def adult() -> Adult:
    return Adult(4000)


@pytest.mark.parametrize("part", parts(PARTS))
def test_rows_are_those_of_duckdb(adult, part):
    """25 generated statements, 1,000 with the long ones."""
    writer = SetWriter(np.random.default_rng([1908, part]))
    check_all(adult, writer.statement, STATEMENTS // PARTS)


def test_another_grouping_is_noticed(adult, monkeypatch):
    """Positive control: with a ROLLUP that leaves the total out, the same comparison fails."""
    text = "SELECT GROUPING(sex) AS g, sex, COUNT(*) AS c FROM adult GROUP BY ROLLUP (sex)"
    assert compare(adult, text) is None
    monkeypatch.setattr(
        KeySets, "of", lambda self, group: [(self.read(group.expressions[0].expressions[0]),)]
    )
    assert compare(adult, text) is not None
