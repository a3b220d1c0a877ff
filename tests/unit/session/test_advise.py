"""Advice: what tables would cost, drawn, and accepted in one call."""

from __future__ import annotations

import pandas as pd
import pytest

import eke
from eke.errors import AccuracyError
from eke.query import Kronecker


@pytest.mark.parametrize("limit", [{"epsilon": 5.0}, {"rho": 5.0}])
def test_advice_is_accepted_in_one_call(new, limit):
    session = new(**limit)
    assert len(session.advise()) == 0
    assert "No table" in session.advise()._repr_html_()
    for low in range(17, 23):
        session.ask(eke.count(age=(low, low + 3), sex="Male"), within=40)
    advice = session.advise()
    best = next(one for one in advice if one.suggestion.attributes == ("sex", "age"))
    assert "questions about sex, age cost" in str(advice)
    assert "<svg" in advice._repr_html_()
    assert len(advice.to_pandas()) >= len(best.suggestion.frontier)
    spent = session.budget.spent
    release = session.release(best.plan())
    assert release.cost == pytest.approx(best.suggestion.cost, rel=1e-3)
    assert session.budget.spent > spent
    for low in range(17, 22):
        again = session.ask(eke.count(age=(low, low + 3), sex="Female"), within=40 * 1.001)
        assert again.free
    with pytest.raises(AccuracyError, match="share"):
        best.plan(0.0)


def test_a_cheaper_point_of_the_frontier_can_be_chosen(new):
    session = new(epsilon=5.0)
    for within in (30, 60, 120):
        session.ask(eke.count(age=(17 + within // 30, 22), sex="Male"), within=within)
    best = session.advise()[0]
    assert best.plan(0.3).budget < best.plan().budget


def test_look_ahead_can_be_the_policy_of_a_dataset(new):
    session = new(epsilon=5.0, policy="look_ahead")
    answers = [
        session.ask(eke.count(age=(17 + i % 3, 20 + i % 7), sex="Male"), within=40)
        for i in range(20)
    ]
    assert answers[-1].free
    assert session.budget.spent < 5.0


@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
def test_a_strategy_for_ranges_is_advised_and_accepted_in_one_call(tmp_path, neighbours):
    """Under zCDP a wavelet serves ranges over a long attribute for less than its cells do."""
    kept = eke.Integer(0, 63, null=eke.Replace(0))
    people = pd.DataFrame({"hour": [i % 64 for i in range(640)]})
    session = eke.create(
        tmp_path / "d.eke", people, eke.Domain(hour=kept), rho=5.0, neighbours=neighbours
    )
    for low in range(6):
        session.ask(eke.count(hour=(low, 50 - 3 * low)), within=60)
    best = session.advise()[0]
    assert isinstance(best.suggestion.block, Kronecker)
    assert "counts of ranges" in str(best)
    assert "<svg" in best._repr_html_()
    plan = best.plan()
    assert "W" in plan.explain()
    release = session.release(plan)
    assert release.cost == pytest.approx(best.suggestion.cost, rel=1e-3)
    for low in range(6):
        again = session.ask(eke.count(hour=(low + 1, 51 - 3 * low)), within=60 * 1.1)
        assert again.free
