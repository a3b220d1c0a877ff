"""Kept answers: what the ledger keeps for each analyst, against a list that is made by hand."""

from __future__ import annotations

import json
from typing import Any

import pytest

import eke
from eke.engine import vault
from eke.errors import QueryError

COUNT = "SELECT COUNT(*) FROM people"
MEAN = "SELECT AVG(age) AS mean FROM people"


class Crash(BaseException):
    """Stands for a process that dies."""


def stored(session: eke.Session, analyst: str, key: str) -> dict[str, Any]:
    """What the ledger keeps under a key."""
    request = session._vault.ledger.find(analyst, key)
    assert request is not None
    assert request.answer is not None
    return dict(json.loads(request.answer))


def slowly(session: eke.Session, analyst: str) -> list[int]:
    """The entries that hold an analyst's answers: each entry is looked at, and each stored text."""
    entries = {entry.sequence: entry for entry in session.ledger_entries()}
    found = []
    for entry in entries.values():
        opened = entries[int(str(entry.about.get("reservation", entry.sequence)))]
        if entry.kind not in ("commit", "remember") or opened.about["analyst"] != analyst:
            continue
        body = stored(session, analyst, str(opened.about["key"]))
        if "cells" in body and "question" in body.get("receipt", {}):
            found.append(entry.sequence)
    return found[::-1]


def test_the_list_is_that_of_a_slow_look_at_the_ledger_whenever_it_is_asked_for(session):
    """Two analysts use the same keys, and the list grows with the ledger."""
    work = (
        lambda: session.ask(COUNT, within=90, key="k", analyst="ann"),
        lambda: session.ask(COUNT, within=90, key="k", analyst="ben"),
        lambda: session.ask(COUNT, within=60, analyst="ben"),
        lambda: session.ask(COUNT, within=60, analyst="ann"),  # free, without a key: not kept
        lambda: session.release(session.plan([["sex"]], budget=0.05), key="t", analyst="ann"),
        lambda: session.ask(MEAN, within=2, key="m", analyst="ann"),
        lambda: session.ask(MEAN, within=1, analyst="ben"),  # in steps, without a key: kept
        lambda: session.ask(MEAN, within=1, analyst="ann"),  # and free for others: not kept
        lambda: session.publish("lda", epsilon=0.1, target="sex", key="r", analyst="ann"),
        lambda: session.publish("max_entropy", from_history=True, key="h", analyst="ben"),
        lambda: session.change_cap("ann", 5.0),
        lambda: session.ask(eke.count(sex="Female"), within=80, key="f", analyst="ann"),
    )
    assert session.answers.of("ann") == ([], None)
    for step in work:
        step()
        for analyst in ("ann", "ben"):
            kept, following = session.answers.of(analyst)
            assert [one.sequence for one in kept] == slowly(session, analyst)
            assert following is None
    assert [len(slowly(session, analyst)) for analyst in ("ann", "ben", "zoe")] == [3, 3, 0]
    assert session.answers.of("zoe") == ([], None)


def test_pages_of_every_size_make_the_whole_list(session):
    for number in range(5):
        session.ask(COUNT, within=90, key=f"k{number}")
    whole = [one.sequence for one in session.answers.of(session.analyst)[0]]
    assert len(whole) == 5
    for size in (1, 2, 4, 5, 6):
        found, before = [], None
        while True:
            page, before = session.answers.of(session.analyst, before=before, most=size)
            found += [one.sequence for one in page]
            if before is None:
                break
        assert found == whole, size


def test_an_answer_is_read_as_it_was_given(session):
    given = session.ask(f"{COUNT} GROUP BY sex", within=70, key="k", analyst="ann")
    session.ask(f"{COUNT} GROUP BY sex", within=30, analyst="ben")
    (kept,), _ = session.answers.of("ann")
    again = session.answers.answer("ann", kept.sequence)
    assert again == given
    assert again.caveats == given.caveats
    with pytest.raises(QueryError, match="no answer of yours"):
        session.answers.answer("ben", kept.sequence)
    with pytest.raises(QueryError, match="no answer of yours"):
        session.answers.answer("ann", 1)


def test_what_is_only_charged_is_listed_once_it_is_answered(session, monkeypatch):
    def crash(*_: object) -> None:
        raise Crash

    with monkeypatch.context() as broken:
        broken.setattr(vault, "failpoint", crash)
        with pytest.raises(Crash):
            session.ask(COUNT, within=60, key="k")
    assert session.answers.of(session.analyst) == ([], None)
    session.ask(COUNT, within=60, key="k")
    (kept,), _ = session.answers.of(session.analyst)
    charged = [entry for entry in session.ledger_entries() if entry.kind == "reserve"]
    assert kept.at == charged[0].at
    assert kept.asked == {"sql": COUNT, "policy": "top_up", "within": 60, "confidence": 0.95}


def test_answers_from_before_are_listed_without_their_question_in_sql(session):
    """As an older version has stored them: nothing in the text says what was asked."""
    session.ask(COUNT, within=60, analyst="ann")
    text = stored(session, "ann", _key_of(session))
    old = json.dumps({name: part for name, part in text.items() if name != "asked"})
    session._vault.remember("ann", "old", "0" * 64, old)
    newest, other = session.answers.of("ann")[0]
    assert (newest.asked, newest.receipt) == (None, other.receipt)
    with pytest.raises(QueryError, match="ask it again where it was asked"):
        session.answers.answer("ann", newest.sequence)


def _key_of(session: eke.Session) -> str:
    return str(next(e for e in session.ledger_entries() if e.kind == "reserve").about["key"])


@pytest.mark.parametrize(
    "aim",
    [
        {"within": 90},
        {"within": "30 %"},
        {"within": {"mean": 2}},
        {"spend": 0.03},
        {"spend": 0.05, "groups_of": 100, "confidence": 0.9},
        {"within": 2, "groups_of": 100},
    ],
)
def test_what_was_asked_is_kept_as_it_was_said(session: eke.Session, aim: dict[str, Any]) -> None:
    """Sent again, it is the same request: the same key gives the same answer for nothing."""
    sql = MEAN if "groups_of" in aim or isinstance(aim.get("within"), dict) else COUNT
    answer = session.ask(sql, key="k", **aim)
    (kept,), _ = session.answers.of(session.analyst)
    assert kept.asked is not None
    asked = dict(kept.asked)
    assert [asked.get(name) for name in ("spend", "groups_of")] == [
        aim.get(name) for name in ("spend", "groups_of")
    ]
    spent = session.budget.spent
    assert session.ask(asked.pop("sql"), key="k", **asked).flat_rows() == answer.flat_rows()
    assert session.budget.spent == spent
    again = session.answers.answer(session.analyst, kept.sequence)
    assert again.flat_rows() == answer.flat_rows()
