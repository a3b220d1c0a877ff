"""Guarded claims in sessions: what is declined, what stays free, and that nothing is spent."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import eke
from eke.engine import Stale
from eke.errors import AccuracyError, QueryError, Refused
from eke.session.release.measured import checked_parts

DOMAIN = eke.Domain(
    age=eke.Integer(0, 19), sex=eke.Categorical("F", "M"), price=eke.Numeric(0, 2, step=0.5)
)
NUMBERS = np.arange(600)
TABLE = pd.DataFrame(
    {
        "age": NUMBERS * 7 % 20,
        "sex": np.where(NUMBERS % 3 == 0, "F", "M"),
        "price": NUMBERS % 5 / 2,
    }
)
WOMEN = eke.count(sex="F")
SAID = "nothing is measured which could raise that: count where sex = F: > 50 (entry"


@pytest.fixture
def session(tmp_path: Path) -> eke.Session:
    return eke.create(tmp_path / "people.eke", TABLE, DOMAIN, epsilon=5)


@pytest.fixture
def closed(session: eke.Session) -> eke.Session:
    """With a claim that is as probable as it may become."""
    session.guard(WOMEN, "> 50", threshold=0.9, note="Board, 12 May")
    session.ask(WOMEN, within=20)
    assert session.guards[0].closed
    return session


def entries(session: eke.Session) -> int:
    return len(session.ledger_entries())


DECLINED: dict[str, Callable[[eke.Session], object]] = {
    "the question itself": lambda s: s.ask(WOMEN, within=10),
    "for a price": lambda s: s.ask(WOMEN, spend=0.3),
    "with a key": lambda s: s.ask(WOMEN, within=5, key="a"),
    "by another policy": lambda s: s.ask(WOMEN, within=4, policy="look_ahead"),
    "a table that adds up to it": lambda s: s.ask(eke.marginal("age", "sex"), within=50),
    "in SQL": lambda s: s.ask("SELECT sex, COUNT(*) FROM t GROUP BY sex", 3),
    "a share": lambda s: s.ask(WOMEN, within="0.5 %"),
    "an average over it": lambda s: s.ask("SELECT AVG(age) FROM t WHERE sex = 'F'", 0.5),
    "averages of groups": lambda s: s.ask("SELECT sex, AVG(age) FROM t GROUP BY sex", 0.5),
    "a median of it": lambda s: s.ask("SELECT MEDIAN(age) FROM t WHERE sex = 'F'", 2),
    "a chosen quantile": lambda s: s.ask("SELECT CHOSEN_MEDIAN(price) FROM t", spend=0.1),
    "a release": lambda s: s.release(s.plan([["sex"]], budget=0.1)),
    "a workload": lambda s: s.release(s.plan(eke.all_marginals(DOMAIN, 2), budget=0.5)),
    "maximum entropy": lambda s: s.publish("max_entropy", epsilon=0.2, rows=9),
    "differential LDA": lambda s: s.publish("lda", epsilon=0.2, target="sex"),
}


@pytest.mark.parametrize("what", DECLINED)
def test_what_could_raise_it_is_declined_and_costs_nothing(closed: eke.Session, what: str) -> None:
    before = closed.budget, entries(closed)
    with pytest.raises(Refused) as refused:
        DECLINED[what](closed)
    assert "guarded claim" in str(refused.value)
    assert "othing was spent" in str(refused.value)
    assert (closed.budget, entries(closed)) == before


def test_each_of_these_is_answered_where_nothing_is_guarded(session: eke.Session) -> None:
    """Positive control: it is the guard that declines them."""
    session.ask(WOMEN, within=20)
    session.change_limit(500)
    for what, do in DECLINED.items():
        before = entries(session)
        do(session)
        assert entries(session) > before, what


def test_what_is_known_stays_free(closed: eke.Session) -> None:
    before = closed.budget
    assert closed.ask(WOMEN, within=20).free
    assert closed.claim(WOMEN, "> 50").probability == closed.guards[0].probability
    assert isinstance(closed.estimate(eke.count(age=3)), eke.session.Estimate)
    assert closed.publish("max_entropy", from_history=True, rows=5).cost == 0.0
    assert closed.budget == before


OPEN: tuple[Any, ...] = (
    eke.count(sex="M"),
    eke.count(age=(3, 9), sex="M"),
    "SELECT AVG(age) FROM t WHERE sex = 'M'",
    "SELECT age, COUNT(*) FROM t WHERE sex = 'M' GROUP BY age",
    "SELECT MEDIAN(age) FROM t WHERE sex = 'M'",
)


@pytest.mark.parametrize("question", OPEN, ids=str)
def test_what_is_about_others_stays_open(closed: eke.Session, question: Any) -> None:
    before = closed.guards[0].probability
    preview = closed.preview(question, within=30)
    assert preview.affordable
    assert not preview.guarded
    closed.ask(question, within=30)
    assert closed.guards[0].probability == pytest.approx(before, rel=1e-9)


def test_the_other_half_is_declined_once_the_whole_is_known(session: eke.Session) -> None:
    """The men tell of the women as soon as everybody is counted."""
    session.ask(WOMEN, within=20)
    session.guard(WOMEN, "> 50", threshold=0.9)
    session.ask(eke.count(), within=60, policy="direct")
    assert session.preview(eke.count(sex="M"), within=10).guarded


def test_beside_the_claim_it_stays_open_as_the_docs_say(closed: eke.Session) -> None:
    """A known limit: least squares learns nothing from the claim's number plus an unknown one."""
    beside = WOMEN + eke.count(age=3) * 0.05
    assert closed.preview(beside, within=10).affordable
    assert closed.preview(WOMEN + eke.count(age=3) * 0.0001, within=10).guarded
    closed.ask(eke.count(age=3), within=20, policy="direct")
    assert closed.preview(beside, within=5).guarded


def test_a_preview_says_so_for_nothing(closed: eke.Session) -> None:
    before = closed.budget, entries(closed)
    preview = closed.preview(WOMEN, within=10)
    assert (preview.action, preview.affordable, preview.most) == ("refuse", False, 0.0)
    assert SAID in preview.guarded
    assert "Instead: ±20 is free now (ask with within=20)." in preview.explain()
    curve = closed.curve(WOMEN, [30, 20, 5])
    assert [one.action for one in curve] == ["history", "history", "refuse"]
    told = closed.explain("SELECT COUNT(*) FROM t WHERE sex = 'F'", within=10)
    assert SAID in told["price"]["guarded"]
    price = closed.price(closed.plan([["sex"]], budget=0.1))
    assert not price.affordable
    assert SAID in price.guarded == price.standing_against
    assert closed.price(closed.plan([eke.count(sex="M").on(DOMAIN)], budget=0.1)).affordable
    assert (closed.budget, entries(closed)) == before


def test_refused_for_the_guard_it_may_be_estimated(closed: eke.Session) -> None:
    before = closed.budget
    assert isinstance(closed.ask(WOMEN, within=5, allow_estimate=True), eke.session.Estimate)
    assert closed.budget == before


def test_the_probability_is_that_of_a_claim(session: eke.Session) -> None:
    asked = (
        ("SELECT COUNT(*) FROM t WHERE sex = 'F'", "> 195"),
        ("SELECT COUNT(*) FROM t WHERE sex = 'F'", "<= 195"),
        ("SELECT COUNT(*) + 5 FROM t WHERE sex = 'F'", "200 to 215"),
        ("SELECT -2 * COUNT(*) FROM t WHERE sex = 'F'", "< -390"),
        ("SELECT SUM(price) FROM t WHERE sex = 'F'", ">= 195.5"),
        ("SELECT SUM(price) / 4 FROM t WHERE sex = 'F'", "48 to 52.25"),
    )
    for question, claim in asked:
        session.guard(question, claim, threshold=0.5)
    assert [one.probability for one in session.guards] == [None] * len(asked)
    session.ask(WOMEN, within=20)
    session.ask("SELECT SUM(price) FROM t WHERE sex = 'F'", 20)
    for (question, claim), state in zip(asked, session.guards, strict=True):
        said = session.claim(question, claim).probability
        assert state.probability == pytest.approx(said, abs=1e-12)
        assert (state.claim, state.closed) == (claim, said >= 0.5)


def test_open_as_long_as_it_is_below(session: eke.Session) -> None:
    """The threshold itself closes it: at the very probability that there is."""
    session.ask(WOMEN, within=20)
    probability = session.claim(WOMEN, "> 195").probability
    session.guard(WOMEN, "> 195", threshold=float(np.nextafter(probability, 1.0)))
    assert session.preview(WOMEN, within=10).affordable
    session.guard(WOMEN, "> 195", threshold=probability)
    assert [one.closed for one in session.guards] == [False, True]
    assert session.preview(WOMEN, within=10).guarded


def test_lifted_it_is_open_and_guarded_again_it_is_closed(closed: eke.Session) -> None:
    number = closed.guards[0].sequence
    closed.lift(number)
    assert closed.guards == ()
    assert closed.preview(WOMEN, within=15).affordable
    again = closed.guard(WOMEN, "> 50", threshold=0.9)
    assert again > number
    assert closed.preview(WOMEN, within=15).guarded
    kinds = [entry.kind for entry in closed.ledger_entries()]
    assert (kinds.count("guard"), kinds.count("lift")) == (2, 1)
    for wrong in (number, 1, 99):
        with pytest.raises(QueryError, match="guards no claim that is in force"):
            closed.lift(wrong)


def test_of_two_guards_the_one_is_named_that_would_suffer(closed: eke.Session) -> None:
    men = eke.count(sex="M")
    closed.ask(men, within=20)
    second = closed.guard(men, "> 300", threshold=0.9)
    assert f"(entry {second}," in closed.preview(men, within=10).guarded
    assert "sex = F" not in closed.preview(men, within=10).guarded
    both = closed.preview(eke.marginal("sex"), within=10).guarded
    assert "sex = F" in both
    assert "sex = M" in both


def test_a_look_ahead_gives_way_to_the_question_itself(tmp_path: Path) -> None:
    """What it would buy adds up to the claim; the question alone does not."""
    bought = []
    for is_guarded in (False, True):
        session = eke.create(tmp_path / f"{is_guarded}.eke", TABLE, DOMAIN, epsilon=50)
        session.ask(eke.count(), within=30, policy="direct")
        if is_guarded:
            session.guard(eke.count(), "> 100", threshold=0.9)
        for ages in ((2, 9), (3, 12)):
            session.ask(eke.count(age=ages), within=30, policy="look_ahead")
        plan: Any = [one for one in session.ledger_entries() if one.kind == "reserve"][-1]
        bought.append("instead_of" in plan.payload["plan"])
    assert bought == [True, False]


@pytest.mark.parametrize(
    ("question", "claim", "more", "error", "said"),
    [
        ("SELECT AVG(age) FROM t", "> 3", {}, QueryError, "one count or sum"),
        ("SELECT SUM(age) / COUNT(*) FROM t", "> 3", {}, QueryError, "a ratio"),
        ("SELECT sex, COUNT(*) FROM t GROUP BY sex", "> 3", {}, QueryError, "one by one"),
        (eke.marginal("sex"), "> 3", {}, QueryError, "one by one"),
        ("SELECT COUNT(*), SUM(age) FROM t", "> 3", {}, QueryError, "one column"),
        ("SELECT MEDIAN(age) FROM t", "> 3", {}, QueryError, "one count or sum"),
        (WOMEN, "3", {}, AccuracyError, "where the true answer lies"),
        (WOMEN, "9 to 3", {}, AccuracyError, "lower end first"),
        (WOMEN, "> 2013-01-01", {}, AccuracyError, "a number plainly"),
        (WOMEN, "> 3", {"threshold": 1.0}, QueryError, "between 0 and 1"),
        (WOMEN, "> 3", {"threshold": 0}, QueryError, "between 0 and 1"),
        (WOMEN, "> 3", {"threshold": "high"}, QueryError, "between 0 and 1"),
        (WOMEN, "> 3", {"note": "x" * 501}, QueryError, "at most 500"),
        (WOMEN, "> 3", {"note": "a\nb"}, QueryError, "printable"),
        (eke.count(nobody=3), "> 3", {}, QueryError, "nobody"),
    ],
)
def test_bad_claims_are_told_and_leave_nothing(
    session: eke.Session,
    question: Any,
    claim: str,
    more: dict[str, Any],
    error: type[Exception],
    said: str,
) -> None:
    before = entries(session)
    with pytest.raises(error, match=said):
        session.guard(question, claim, **{"threshold": 0.9, **more})
    assert entries(session) == before


def test_numbers_of_people_are_guarded(tmp_path: Path) -> None:
    table = TABLE.assign(person=NUMBERS // 2)
    session = eke.create(
        tmp_path / "ids.eke", table, DOMAIN, epsilon=50, unit=eke.Unit("person", rows=2)
    )
    session.guard("SELECT COUNT(DISTINCT person) FROM t", "> 50", threshold=0.9)
    session.ask("SELECT COUNT(DISTINCT person) FROM t", 20)
    assert session.guards[0].closed
    assert session.preview("SELECT COUNT(DISTINCT person) FROM t", within=5).guarded
    # Nobody knows what other numbers of people say of it: these are declined as well.
    assert session.preview("SELECT COUNT(DISTINCT person) FROM t WHERE age > 3", 5).guarded
    assert session.preview(WOMEN, within=30).affordable


# -- others meanwhile --------------------------------------------------------------------------


def test_a_guard_that_came_between_decision_and_charge_declines(
    session: eke.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    session.ask(WOMEN, within=20)
    vault, before = session._vault, session.budget
    guarded: list[int] = []
    release = vault.release

    def late(*words: Any, **named: Any) -> str:
        if not guarded:
            guarded.append(session.guard(WOMEN, "> 50", threshold=0.9))
        return release(*words, **named)

    monkeypatch.setattr(vault, "release", late)
    with pytest.raises(Refused, match="guarded claim"):
        session.ask(WOMEN, within=10)
    assert session.budget == before


def test_the_junction_declines_whatever_was_decided_elsewhere(
    session: eke.Session, tmp_path: Path
) -> None:
    """Another session guards; this one comes with a plan that it made and priced before."""
    session.ask(WOMEN, within=20)
    plan = session.plan([["sex"]], budget=0.1)
    assert session.price(plan).affordable
    eke.open(tmp_path / "people.eke", data=TABLE).guard(WOMEN, "> 50", threshold=0.9)
    before = session.budget
    with pytest.raises(Refused, match="guarded claim"):
        session.release(plan)
    assert session.budget == before


def test_a_decision_is_made_again_after_a_guard(session: eke.Session, tmp_path: Path) -> None:
    """One that was made before the guard is out of date, as after a charge."""
    session.ask(WOMEN, within=20)
    now = session._vault.snapshot().sequence
    eke.open(tmp_path / "people.eke", data=TABLE).guard(eke.count(), "> 5", threshold=0.9)
    plan = checked_parts(session._vault, session.plan([["sex"]], budget=0.1), session._measure)
    words: Any = {"analyst": "ann", "key": "a", "digest": "b", "answer": lambda *_: "done"}
    with pytest.raises(Stale):
        session._vault.release(plan, **words, as_of=now)
    assert session._vault.release(plan, **words) == "done"


def test_what_was_paid_for_is_finished(
    session: eke.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A charge before the guard was allowed: its answer is told under its key."""
    monkeypatch.setattr("eke.engine.vault.failpoint", _dies_at("engine.reserved"))
    with pytest.raises(KeyboardInterrupt):
        session.ask(WOMEN, within=20, key="mine")
    monkeypatch.undo()
    spent = session.budget
    session.ask(WOMEN, within=30)
    session.guard(WOMEN, "> 100", threshold=0.5)
    assert session.ask(WOMEN, within=20, key="mine").within <= 20
    assert session.budget.spent_nano >= spent.spent_nano


def _dies_at(place: str) -> Callable[[str], None]:
    def reached(name: str) -> None:
        if name == place:
            raise KeyboardInterrupt

    return reached


def test_everybody_sees_it_and_it_stands_in_the_ledger(closed: eke.Session, tmp_path: Path) -> None:
    other = eke.open(tmp_path / "people.eke", data=TABLE, analyst="otto")
    assert other.guards == closed.guards
    (state,) = other.guards
    assert (state.claim, state.threshold, state.note) == ("> 50", 0.9, "Board, 12 May")
    (entry,) = [one for one in other.ledger_entries() if one.kind == "guard"]
    assert entry.payload["question"] == "count where sex = F"
    assert state.to_dict()["sequence"] == entry.sequence
    assert other.verify().intact
    report = eke.write_report(other, tmp_path / "report.html").read_text("utf-8")
    assert "<h2>Guarded claims</h2>" in report
    assert "&gt; 50" in report
