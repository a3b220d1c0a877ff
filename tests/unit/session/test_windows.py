"""Windows, ranks and the first rows, asked through a session."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import eke
from eke.errors import QueryError

COUNTS = (3000, 1000, 2000, 1005)


@pytest.fixture
def session(tmp_path: Path) -> eke.Session:
    rows = pd.DataFrame({"month": np.repeat([1, 2, 3, 4], COUNTS)})
    domain = eke.Domain(month=eke.Integer(1, 5))
    return eke.create(tmp_path / "t.eke", data=rows, domain=domain, epsilon=5.0)


def test_a_running_total_is_as_accurate_as_asked_and_then_free(session):
    text = "SELECT month, SUM(COUNT(*)) OVER (ORDER BY month) AS r FROM t GROUP BY month"
    paid = session.ask(text, within=60)
    assert not paid.free
    assert all((high - low) / 2 <= 60 for low, high in paid.intervals)
    assert np.allclose(paid.values, [3000, 4000, 6000, 7005, 7005], atol=300)
    assert session.ask(text, within=60).free
    total = session.ask("SELECT COUNT(*) FROM t", within=60)
    assert total.free
    assert total.interval == pytest.approx(paid.intervals[-1])


def test_the_first_change_is_null(session):
    text = "SELECT month, COUNT(*) - LAG(COUNT(*)) OVER (ORDER BY month) AS d FROM t GROUP BY month"
    answer = session.ask(text, within=60)
    assert answer.values[0] is None
    assert answer.intervals[0] == (None, None)
    assert np.allclose(answer.values[1:], [-2000, 1000, -995, -1005], atol=300)


def test_a_ratio_to_the_row_before_is_planned_for_the_rows_that_have_one(session):
    text = "SELECT month, COUNT(*) / LAG(COUNT(*)) OVER (ORDER BY month) AS g FROM t GROUP BY month"
    answer = session.ask(text, within=0.2)
    assert answer.values[0] is None
    assert answer.values[1:4] == pytest.approx([1 / 3, 2, 0.5], abs=0.4)


def test_shares_of_the_total_lie_between_0_and_1(session):
    text = "SELECT month, COUNT(*) / SUM(COUNT(*)) OVER () AS s FROM t GROUP BY month"
    answer = session.ask(text, within=0.05)
    assert all(0 <= low <= high <= 1 for low, high in answer.intervals)


def test_ranks_cost_nothing_and_say_what_is_possible(session):
    text = (
        "SELECT month, COUNT(*) AS n, RANK() OVER (ORDER BY n DESC) AS place FROM t GROUP BY month "
        "QUALIFY place <= 4 ORDER BY place"
    )
    answer = session.ask(text, within={"n": 100})
    assert [row[2].value for row in answer.rows] == [1, 2, 3, 4]
    assert [(row[2].low, row[2].high) for row in answer.rows] == [(1, 1), (2, 2), (3, 4), (3, 4)]
    assert answer.keys[0] == (1,)
    assert json.loads(answer.to_json())["rows"][2]["place_high"] == 4


def test_what_ranks_are_ordered_by_is_selected(session):
    text = "SELECT month, COUNT(*) AS n, RANK() OVER (ORDER BY SUM(month)) FROM t GROUP BY month"
    with pytest.raises(QueryError, match="select it as well"):
        session.ask(text, within=100)


@pytest.mark.parametrize(
    ("limit", "sentence"),
    [
        (2, "The rows shown are the first 2, all at once with probability 0.95."),
        (3, "2 of the 3 rows shown are surely among the first 3, all at once"),
    ],
)
def test_the_first_rows_say_which_are_sure(session, limit, sentence):
    text = f"SELECT month, COUNT(*) AS n FROM t GROUP BY month ORDER BY n DESC LIMIT {limit}"
    answer = session.ask(text, within=100)
    assert answer.caveats[0].startswith(sentence)
    assert ("Not shown, but possibly among them" in answer.caveats[0]) == (limit == 3)


def test_nothing_is_said_of_rows_in_the_order_of_keys(session):
    text = "SELECT month, COUNT(*) AS n FROM t GROUP BY month ORDER BY month LIMIT 2"
    assert not any("among the first" in one for one in session.ask(text, within=100).caveats)
