"""Job turns: lines of several accounts are served one after the other."""

from __future__ import annotations

import threading

from eke.service.job_turn import JobTurns


def taken(turns: JobTurns, number: int) -> list[str | None]:
    return [turns.take() for _ in range(number)]


def test_accounts_take_turns() -> None:
    turns = JobTurns()
    for name in ("a1", "a2", "a3"):
        turns.put("ann", name)
    turns.put("ben", "b1")
    turns.put("cleo", "c1")
    turns.put("ben", "b2")
    assert taken(turns, 6) == ["a1", "b1", "c1", "a2", "b2", "a3"]


def test_whoever_was_served_just_now_is_behind_everybody_else() -> None:
    turns = JobTurns()
    turns.put("ann", "a1")
    assert turns.take() == "a1"
    turns.put("ann", "a2")
    turns.put("ben", "b1")
    turns.put("cleo", "c1")
    assert taken(turns, 3) == ["b1", "c1", "a2"]


def test_what_waits_is_listed() -> None:
    turns = JobTurns()
    turns.put("ann", "a1")
    turns.put("ben", "b1")
    assert sorted(turns.waiting()) == ["a1", "b1"]
    turns.take()
    assert turns.waiting() == ["b1"]


def test_a_taker_waits_until_there_is_something_or_nothing_more() -> None:
    turns = JobTurns()
    found: list[str | None] = []
    taker = threading.Thread(target=lambda: found.extend(taken(turns, 2)))
    taker.start()
    turns.put("ann", "a1")
    while turns.waiting():
        pass
    turns.close()
    taker.join(60)
    assert found == ["a1", None]
