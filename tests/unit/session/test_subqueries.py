"""Queries in parentheses beside aggregates, asked through a session."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import eke
from eke.errors import QueryError

COUNTS = (3000, 1000, 2000)
TOTAL = sum(COUNTS)


@pytest.fixture
def session(tmp_path: Path) -> eke.Session:
    rows = pd.DataFrame({"month": np.repeat([1, 2, 3], COUNTS), "x": np.arange(TOTAL) % 10})
    domain = eke.Domain(month=eke.Integer(1, 3), x=eke.Integer(0, 9))
    return eke.create(tmp_path / "t.eke", data=rows, domain=domain, epsilon=10.0)


def test_a_share_of_all_records_is_that_of_a_window(session):
    text = "SELECT month, COUNT(*) / (SELECT COUNT(*) FROM t) AS s FROM t GROUP BY month"
    answer = session.ask(text, within=0.02)
    assert answer.values == pytest.approx([count / TOTAL for count in COUNTS], abs=0.08)
    assert all(0.0 <= low <= high <= 1.0 for low, high in answer.intervals)
    window = "SELECT month, COUNT(*) / SUM(COUNT(*)) OVER () AS s FROM t GROUP BY month"
    same = session.ask(window, within=0.02)
    assert same.free
    assert same.values == pytest.approx(answer.values, rel=1e-9)


def test_what_groups_are_compared_with_is_in_every_row(session):
    text = (
        "SELECT month, COUNT(*) AS n, (SELECT COUNT(*) FROM t WHERE x < 5) AS half FROM t "
        "GROUP BY month HAVING COUNT(*) > half - 1500 ORDER BY n DESC"
    )
    answer = session.ask(text, within=60)
    assert [row[0] for row in answer.rows] == [1, 3]
    halves = [row[2] for row in answer.rows]
    assert halves[0] == halves[1]
    assert halves[0].value == pytest.approx(TOTAL / 2, abs=300)
    assert (halves[0].high - halves[0].low) / 2 <= 60


def test_a_difference_is_one_linear_question(session):
    text = "SELECT COUNT(*) - (SELECT COUNT(*) FROM t WHERE month > 1) AS d FROM t"
    assert session.ask(text, within=50).value == pytest.approx(COUNTS[0], abs=250)
    assert session.ask("SELECT COUNT(*) FROM t WHERE month = 1", within=50).free


def test_what_having_uses_is_selected(session):
    text = (
        "SELECT month, COUNT(*) AS n FROM t GROUP BY month HAVING COUNT(*) > (SELECT AVG(x) FROM t)"
    )
    with pytest.raises(QueryError, match="select it as well"):
        session.ask(text, within=60)
    assert session.remaining == 10.0
