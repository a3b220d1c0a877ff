"""Entries about the outside world: what a standing makes of them, and what they cost."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import eke
from eke.engine.standing import Standing
from eke.session.beginning import beginning_of

DOMAIN = eke.Domain(age=eke.Integer(0, 19), sex=eke.Categorical("F", "M"))
NUMBERS = np.arange(600)
TABLE = pd.DataFrame({"age": NUMBERS * 7 % 20, "sex": np.where(NUMBERS % 3 == 0, "F", "M")})


@pytest.fixture
def session(tmp_path: Path) -> eke.Session:
    return eke.create(tmp_path / "people.eke", TABLE, DOMAIN, epsilon=5)


def busy(session: eke.Session) -> None:
    """Measurements, facts and tables of others by turns, some of them removed again."""
    session.ask(eke.marginal("age"), within=30)
    session.add_fact(eke.Fact(eke.count(), 600, "Yearbook"))
    session.ask(eke.count(age=(3, 9), sex="F"), within=20)
    learned = session.learn(
        eke.NoisyTable(eke.count(age=(0, 9)), 290, laplace_scale=5), source="Office"
    )
    session.add_fact(eke.Fact(eke.count(age=(15, None), sex="F"), 0, "By law"))
    session.ask(eke.count(age=(3, 9), sex="F"), within=10)  # refines
    session.release(session.plan(eke.all_marginals(DOMAIN, 2), budget=0.5))
    session.forget(learned)
    session.ask(eke.count(sex="F"), within=9)


QUESTIONS = (
    eke.count(),
    eke.count(sex="F"),
    eke.count(age=(3, 9)),
    eke.count(age=(3, 9), sex="M"),
    eke.count(age=16),
    eke.count(age=16, sex="F"),
)


def test_the_same_entries_give_the_same_standing_however_they_come(session: eke.Session) -> None:
    """All at once, one by one, and as the session took them in while it wrote them."""
    busy(session)
    entries = session.ledger_entries()
    beginning = beginning_of(session.settings)
    at_once, one_by_one = Standing(beginning), Standing(beginning)
    at_once.take_in(entries)
    for entry in entries:
        one_by_one.take_in([entry])
    for question in QUESTIONS:
        query = question.on(DOMAIN)
        told = [standing.facts().inference.linear(query) for standing in (at_once, one_by_one)]
        here = session._vault.facts().inference.linear(query)
        for answer in told:
            assert answer is not None
            assert here is not None
            assert answer[0] == pytest.approx(here[0], abs=1e-9)
            assert answer[1].variance == pytest.approx(here[1].variance)
    assert at_once.outside == one_by_one.outside
    assert [item.until is None for item in at_once.outside] == [True, False, True]


def test_the_accountant_never_sees_them(tmp_path: Path) -> None:
    """The same questions cost the same loss when nothing follows from what is registered."""
    spent = []
    for is_told in (False, True):
        path = tmp_path / f"{is_told}.eke"
        session = eke.create(path, TABLE, DOMAIN, epsilon=5)
        if is_told:
            session.add_fact(eke.Fact(eke.count(sex="F"), 200, "Yearbook"))
            session.learn(eke.NoisyTable(eke.count(age=0), 30, noise_variance=4), source="Office")
        session.ask(eke.count(age=(3, 9)), within=20)
        session.ask(eke.count(age=(10, 12), sex="M"), within=20)
        accountant = session._vault.facts().accountant
        assert accountant.spent == session.budget.spent_nano
        spent.append((session.budget.spent_nano, len(session.history), session.shares.spent))
    assert spent[0] == spent[1]


def test_what_was_known_then_is_what_was_answered_from(session: eke.Session) -> None:
    busy(session)
    before = session._vault.inference_through(2)
    assert before.public(eke.count().on(DOMAIN)) is None
    assert not before.outside
    facts = [entry.sequence for entry in session.ledger_entries() if entry.kind == "register"]
    after = session._vault.inference_through(facts[0])
    assert after.public(eke.count().on(DOMAIN)) == 600.0
    assert len(session._vault.inference_through(facts[2]).outside) == 3
    assert len(session._vault.snapshot().facts.inference.outside) == 2


def test_a_decision_is_made_again_when_a_fact_came_between(
    session: eke.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The fact answers the question that was about to be paid for."""
    vault = session._vault
    registered: list[int] = []
    release = vault.release

    def late(*words: object, **named: object) -> str:
        if not registered:
            registered.append(session.add_fact(eke.Fact(eke.count(), 600, "Yearbook")))
        return release(*words, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(vault, "release", late)
    answer = session.ask(eke.count(), within=20)
    assert (answer.value, answer.cost) == (600.0, 0.0)
    assert session.budget.spent_nano == 0


def test_long_histories_open_without_a_checkpoint_of_facts(
    session: eke.Session, tmp_path: Path
) -> None:
    for low in range(18):
        session.ask(eke.count(age=(low, 19)), within=80)
    session.add_fact(eke.Fact(eke.count(), 600, "Yearbook"))
    session.ask(eke.count(age=(3, 4)), within=80)
    again = eke.open(tmp_path / "people.eke", data=TABLE)
    for question in QUESTIONS[:1]:
        assert again.ask(question, within=1).value == 600.0
    here, there = (one.estimate(eke.count(age=(5, 19)), "blue") for one in (session, again))
    assert here.to_dict() == there.to_dict()


def test_released_tables_meet_the_facts(session: eke.Session) -> None:
    session.add_fact(eke.Fact(eke.marginal("sex"), [200, 400], "Yearbook"))
    session.add_fact(eke.Fact(eke.count(age=(0, 4), sex="M"), 101, "Register"))
    plan = session.plan(eke.all_marginals(DOMAIN, 2), budget=0.2)
    release = session.release(plan)
    read_again = session.archive.release(release.sequence)
    for one in (release, read_again):
        assert one.total == 600
        tables = one.consistent()
        np.testing.assert_allclose(tables[("age", "sex")].sum(axis=0), [200, 400], atol=1e-6)
        assert tables[("age", "sex")][:5, 1].sum() == pytest.approx(101, abs=1e-6)
        positive = one.consistent(nonnegative=True)[("age", "sex")]
        assert positive.min() >= 0.0
        np.testing.assert_allclose(positive.sum(axis=0), [200, 400], atol=0.01)
        assert one.whole()[("age", "sex")].sum() == 600
