"""Advice: what tables would cost, drawn, and accepted in one call."""

from __future__ import annotations

import pytest

import eke
from eke.errors import AccuracyError


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
