"""Windows, ranks and the first rows, asked through a session."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import eke
from eke.codec.answer import answer_document, read_answer
from eke.errors import QueryError
from eke.history import Measurement, Row
from eke.inference import Inference, state
from eke.planning import QuestionDemand
from eke.privacy.law import Laplace
from eke.session.ask import ranks
from eke.session.ask.known_cells import KnownCells
from eke.sql import parse

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
    assert answer.first.surely == (True, True, False)[:limit]
    assert (len(answer.first.others) > 0) == (limit == 3)
    assert answer.first.more == 0
    assert read_answer(answer_document(answer, posterior=False)).first == answer.first
    assert json.loads(answer.to_json())["first"]["surely"] == list(answer.first.surely)
    names = [key[0] for key in answer.first.others]
    assert all(str(name) in answer.caveats[0] for name in names)


def test_rows_of_which_anything_is_possible_may_be_first(session, monkeypatch):
    """As if nothing were known of month 5: it may be among the first two, month 3 is not sure."""
    interval = ranks._interval

    def vague(formula, row, *rest):
        return ranks._ANYTHING if row == 4 else interval(formula, row, *rest)

    monkeypatch.setattr(ranks, "_interval", vague)
    text = "SELECT month, COUNT(*) AS n FROM t GROUP BY month ORDER BY n DESC LIMIT 2"
    answer = session.ask(text, within=100)
    assert answer.keys == ((1,), (3,))
    assert answer.first.others == ((5,),)
    assert answer.first.surely == (True, False)


@pytest.mark.parametrize("formula", ["COUNT(*)", "5 - 2 * COUNT(*)", "COUNT(*) / 4 + 1"])
def test_intervals_of_a_table_are_those_of_its_cells(formula, monkeypatch):
    """The slow twin finds them one by one; scaled and shifted, upwards and downwards."""
    monkeypatch.setattr(state, "LEAST_CELLS", 0)
    domain = eke.Domain(month=eke.Integer(1, 12), sex=eke.Boolean())
    inference = Inference(domain)
    table, values = eke.marginal("month").on(domain), tuple(float(n * n) for n in range(12))
    inference.extend_all([Measurement(table, Laplace(3.0), values)])
    inference.append(Row(eke.count(month=(2, 4)).on(domain), 20.0, Laplace(1.0)))
    text = f"SELECT month, {formula} AS n FROM t GROUP BY month ORDER BY n DESC LIMIT 2"
    demand = QuestionDemand(parse(text, domain), (None, 10.0), 0.9)
    question, known = demand.question, KnownCells.of(demand.question, inference)
    assert list(known.tables) == [0]
    order = question.order_by[0]
    alone = replace(known, tables={})
    each = 1.0 - 0.1 / 12
    slow = [ranks._interval(order.by, row, each, demand, alone) for row in question.places]
    assert np.allclose(ranks.joint_intervals(order, demand, known), slow, rtol=1e-9)
    assert len({round(high - low, 6) for low, high in slow}) == 2


def test_nothing_is_said_of_rows_in_the_order_of_keys(session):
    text = "SELECT month, COUNT(*) AS n FROM t GROUP BY month ORDER BY month LIMIT 2"
    assert not any("among the first" in one for one in session.ask(text, within=100).caveats)
