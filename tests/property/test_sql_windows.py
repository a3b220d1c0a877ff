"""Window functions over the groups of a question have the values that DuckDB computes."""

from __future__ import annotations

import numpy as np
import pytest

from eke.sql import frame
from tests.parts import parts
from tests.property.test_sql_values import check_all, compare
from tests.sql_adult import Adult
from tests.sql_windows import WindowWriter

STATEMENTS = 1000
PARTS = 40


@pytest.fixture(scope="module")
def adult() -> Adult:
    return Adult(4000)


@pytest.mark.parametrize("part", parts(PARTS))
def test_windows_are_those_of_duckdb(adult, part):
    """25 generated statements, 1,000 with the long ones."""
    writer = WindowWriter(np.random.default_rng([1711, part]))
    check_all(adult, writer.statement, STATEMENTS // PARTS)


def test_another_frame_is_noticed(adult, monkeypatch):
    """Positive control: with frames that begin a row later, the same comparison fails."""
    text = (
        "SELECT tier, SUM(COUNT(*)) OVER (ORDER BY tier ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) "
        "AS c FROM adult GROUP BY tier"
    )
    assert compare(adult, text) is None
    right = frame._at
    monkeypatch.setattr(
        frame,
        "_at",
        lambda part, at, offset, kind, *, is_start: (
            right(part, at, offset, kind, is_start=is_start) + is_start
        ),
    )
    assert compare(adult, text) is not None
