"""Turns: no account keeps the places for long work from the others, or waits without end."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from eke.planning.online import effort
from eke.service.failure import Problem
from eke.service.turns import FairTurns
from tests.service import BY_SEX, COUNT, Server

PATIENCE = 60.0
PEOPLE = "/api/v1/datasets/people"


class Working:
    """A thread that has, or waits for, a turn; it ends its turn when it is told to."""

    def __init__(self, turns: FairTurns, account: str, order: list[str]) -> None:
        self.begun, self.end = threading.Event(), threading.Event()
        self._turns, self._account, self._order = turns, account, order
        self.thread = threading.Thread(target=self._work, daemon=True)
        self.thread.start()

    def _work(self) -> None:
        with self._turns.turn(self._account):
            self._order.append(self._account)
            self.begun.set()
            assert self.end.wait(PATIENCE)


@contextmanager
def ended(*works: Working) -> Iterator[None]:
    try:
        yield
    finally:
        for work in works:
            work.end.set()
        for work in works:
            work.thread.join(PATIENCE)


def waiting(turns: FairTurns, many: int) -> None:
    """Return when so many requests wait."""
    with turns._changed:
        assert turns._changed.wait_for(lambda: len(turns._waiting) == many, PATIENCE)


def test_one_account_has_one_place_and_others_get_on() -> None:
    turns, order = FairTurns(places=2, patience=PATIENCE), list[str]()
    first = Working(turns, "ann", order)
    assert first.begun.wait(PATIENCE)
    more = [Working(turns, "ann", order), Working(turns, "ann", order)]
    with ended(first, *more):
        waiting(turns, 2)
        ben = Working(turns, "ben", order)
        with ended(ben):
            assert ben.begun.wait(PATIENCE), "the requests of ann that wait are not in the way"
            assert not any(one.begun.is_set() for one in more)
    assert order == ["ann", "ben", "ann", "ann"]


def test_the_control_of_two_shared_places_lets_one_account_take_both() -> None:
    places, order = threading.BoundedSemaphore(2), list[str]()
    for _ in range(2):
        assert places.acquire(blocking=False)
        order.append("ann")
    assert not places.acquire(blocking=False), "nothing is left for ben"


def test_whoever_had_a_turn_longest_ago_is_next() -> None:
    turns, order = FairTurns(places=1, patience=PATIENCE), list[str]()
    first = Working(turns, "ann", order)
    assert first.begun.wait(PATIENCE)
    again = Working(turns, "ann", order)
    waiting(turns, 1)
    ben = Working(turns, "ben", order)
    waiting(turns, 2)
    with ended(first, again, ben):
        pass
    assert order == ["ann", "ben", "ann"]


def test_few_requests_of_an_account_wait() -> None:
    turns, order = FairTurns(places=2, waiting=1, patience=PATIENCE), list[str]()
    first = Working(turns, "ann", order)
    assert first.begun.wait(PATIENCE)
    second = Working(turns, "ann", order)
    with ended(first, second):
        waiting(turns, 1)
        with pytest.raises(Problem, match="nothing was spent") as busy, turns.turn("ann"):
            pass
        assert busy.value.status == 429


def test_a_place_is_free_again_after_an_error() -> None:
    turns = FairTurns(places=1, patience=0.0)
    for _ in range(3):
        with pytest.raises(KeyError), turns.turn("ann"):
            raise KeyError
    with turns.turn("ann"), pytest.raises(Problem), turns.turn("ben"):
        pass


HEAVY = {
    "preview": {"sql": BY_SEX, "within": 5},
    "curve": {"sql": BY_SEX, "within": [5, 10]},
    "explain": {"sql": BY_SEX, "within": 5},
    "ask": {"sql": BY_SEX, "within": 80},
    "estimate": {"sql": COUNT},
    "claim": {"sql": BY_SEX, "claim": "> 9"},
    "plans": {"workload": {"all_marginals": 1}, "budget": 0.1},
    "publications/preview": {"mechanism": "lda", "epsilon": 0.1, "options": {"target": "sex"}},
}


@pytest.mark.parametrize("route", HEAVY)
def test_long_work_takes_a_turn_of_its_account(
    server: Server, route: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.ask(COUNT, 60)
    if route == "claim":  # which is about what was released
        server.ask(BY_SEX, 80)
    monkeypatch.setattr("eke.session.ask.work.LIGHT_STEPS", 0)  # whatever is no single question
    turns: FairTurns = server.app.state.eke.turns
    monkeypatch.setattr(turns, "_patience", 0.0)
    with turns.turn("ann"):
        busy = server.call("POST", f"{PEOPLE}/{route}", "ann", HEAVY[route])
        assert busy.status == 429, busy.text
        assert busy.headers["retry-after"] == "10"
        other = server.call("POST", f"{PEOPLE}/{route}", "cleo", HEAVY[route])
        assert other.status == 200, other.text
        assert server.ask(COUNT, 80).json()["receipt"]["source"] == "history"
    assert server.call("POST", f"{PEOPLE}/{route}", "ann", HEAVY[route]).status == 200


@pytest.mark.parametrize("route", ["preview", "curve", "explain", "ask"])
def test_too_much_work_is_a_bad_request(
    server: Server, route: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(effort, "MOST_STEPS", 1000)
    refused = server.call("POST", f"{PEOPLE}/{route}", "ann", HEAVY[route])
    assert refused.status == 400
    assert "group by fewer or coarser keys" in refused.json()["message"].lower()
    assert len(server.session.ledger_entries()) == 1


def test_a_question_without_a_turn_fails_by_itself(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("eke.session.ask.work.LIGHT_STEPS", 0)
    turns: FairTurns = server.app.state.eke.turns
    monkeypatch.setattr(turns, "_patience", 0.0)
    body = {"questions": [{"sql": COUNT, "within": 60}, {"sql": BY_SEX, "within": 60}]}
    with turns.turn("ann"):
        found = server.call("POST", f"{PEOPLE}/ask-many", "ann", body)
    assert found.status == 200
    first, second = found.json()["results"]
    assert first["answer"] is not None
    assert (second["answer"], second["error"]["status"]) == (None, 429)
