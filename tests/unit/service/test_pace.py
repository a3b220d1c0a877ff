"""Pace: what touched data leaves at multiples of a public step. The clock is moved by hand."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from eke.engine import UNPACED, draws, measuring, vault
from eke.engine.draws import Draws
from eke.errors import DataError, ServiceError
from eke.service import Settings, send
from eke.service.job_sight import JobSight
from eke.service.pace import Pace
from eke.service.route import releasing
from eke.session import Session
from eke.session.ask.turn import at_once
from tests.parts import in_long
from tests.service import BY_SEX, COUNT, Server, finished, serving

PEOPLE = "/api/v1/datasets/people"
STEP = 0.1
TABLES = {"workload": {"all_marginals": 1}, "budget": 0.05}


class Hand:
    """A clock that moves when somebody sleeps, or works."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += max(seconds, 1e-5)  # time passes, asleep or not
        await asyncio.sleep(0)

    def nap(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def hand() -> Hand:
    return Hand()


@pytest.fixture
def paced(folder: Path, hand: Hand) -> Iterator[Server]:
    with serving(folder, pace=Pace(STEP, hand, hand.sleep, hand.nap)) as server:
        yield server


def steps(server: Server, hand: Hand, path: str, body: Any, status: int = 200) -> float:
    """How many steps after its arrival the answer has left, to a thousandth."""
    began = hand.now
    found = server.call("POST", f"{PEOPLE}/{path}", "ann", body)
    assert found.status == status, found.text
    return round((hand.now - began) / STEP, 3)


def work(monkeypatch: pytest.MonkeyPatch, hand: Hand, seconds: float) -> None:
    """Let touching data take so long."""

    def busy(name: str) -> None:
        if name == "engine.counted":
            hand.now += seconds

    monkeypatch.setattr(measuring, "failpoint", busy)


@pytest.mark.parametrize(
    ("seconds", "expected"), [(0.0, 1), (0.003, 1), (0.0749, 1), (0.1001, 2), (0.47, 5)]
)
@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("ask", {"sql": COUNT, "within": 60}),
        ("ask-many", {"questions": [{"sql": COUNT, "within": 60}]}),
        ("releases", TABLES),
    ],
)
def test_paid_answers_leave_at_a_multiple(
    paced: Server,
    hand: Hand,
    monkeypatch: pytest.MonkeyPatch,
    path: str,
    body: Any,
    seconds: float,
    expected: int,
) -> None:
    work(monkeypatch, hand, seconds)
    assert steps(paced, hand, path, body) == pytest.approx(expected)
    assert paced.session.budget.spent > 0


def test_the_check_notices_answers_that_leave_at_once(
    folder: Path, hand: Hand, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Positive control: without a step the time is that of the work."""
    with serving(folder, pace=Pace(0.0, hand, hand.sleep, hand.nap)) as server:
        work(monkeypatch, hand, 0.03)
        assert steps(server, hand, "ask", {"sql": COUNT, "within": 60}) == pytest.approx(0.3)


def _taken(
    server: Server, hand: Hand, patched: pytest.MonkeyPatch, *, planning: float, counting: float
) -> int:
    """The steps of a paid answer whose planning and whose counting take so long."""
    work(patched, hand, counting)

    def plan(name: str) -> None:
        if name == "engine.reserved":
            hand.now += planning

    patched.setattr(vault, "failpoint", plan)
    return round(steps(server, hand, "ask", {"sql": COUNT, "spend": 0.01}))


STEPS_TAKEN = {
    "looks in steps": [1, 1, 2, 2, 2, 2, 2, 2, 4, 4],
    "at once": [1, 1, 1, 2, 1, 2, 2, 2, 3, 4],
}


@pytest.mark.parametrize("every", [2, in_long(1)])
def test_planning_may_cross_a_step_but_counting_adds_the_same(
    folder: Path, hand: Hand, monkeypatch: pytest.MonkeyPatch, every: int
) -> None:
    """Counting takes 1 or 24 ms of looks of 25 ms, planning less than a step up to nearly three.

    Positive control: without looks in steps, counting decides where planning nearly fills one.
    """
    taken: dict[str, list[int]] = {"looks in steps": [], "at once": []}
    with serving(folder, pace=Pace(STEP, hand, hand.sleep, hand.nap), epsilon=1e6) as server:
        for way, numbers in taken.items():
            if way == "at once":
                server.session.serve(at_once, UNPACED)
            for planning in (0.03, 0.08, 0.095, 0.15, 0.28)[::every]:
                numbers += [
                    _taken(server, hand, monkeypatch, planning=planning, counting=counting)
                    for counting in (0.001, 0.024)
                ]
    for way, numbers in STEPS_TAKEN.items():
        pairs = list(zip(numbers[::2], numbers[1::2], strict=True))
        assert taken[way] == [number for pair in pairs[::every] for number in pair]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("ask", {"sql": COUNT, "within": 60}),
        ("releases", TABLES),
        ("publications", {"mechanism": "max_entropy", "epsilon": 0.3}),
    ],
)
def test_what_was_drawn_is_stored_whole_steps_after_the_look_began(
    paced: Server, hand: Hand, monkeypatch: pytest.MonkeyPatch, path: str, body: Any
) -> None:
    """Every look of every kind of release; counting takes a little longer each time."""
    looks: list[float] = []
    look = Draws.look

    def looked(self: Draws) -> None:
        look(self)
        hand.now += 0.0031 * len(looks)
        looks.append(self._began)

    def stored(name: str) -> None:
        if name == "engine.drawn":
            taken.append((hand.now - looks[-1]) / (STEP / 4))

    taken: list[float] = []
    monkeypatch.setattr(Draws, "look", looked)
    monkeypatch.setattr(draws, "failpoint", stored)
    made = paced.call("POST", f"{PEOPLE}/{path}", "ann", body)
    if path == "publications":
        finished(paced, made.json())
        assert len(looks) > 2, "the parts, a choice, a measurement"
    assert len(taken) == len(looks) > 0
    assert taken == pytest.approx([max(1, round(steps)) for steps in taken])


def test_free_answers_do_not_wait(paced: Server, hand: Hand) -> None:
    paid = {"sql": BY_SEX, "within": 60}
    assert steps(paced, hand, "ask", paid) == pytest.approx(1)
    assert steps(paced, hand, "ask", paid) == 0
    assert steps(paced, hand, "ask-many", {"questions": [paid, paid]}) == 0
    assert steps(paced, hand, "preview", {"sql": COUNT, "within": 40}) == 0
    mixed = {"questions": [paid, {"sql": COUNT, "within": 20}]}
    assert steps(paced, hand, "ask-many", mixed) == pytest.approx(1)


def test_what_fails_after_the_decision_to_pay_waits_as_well(
    paced: Server, hand: Hand, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Errors that nobody foresaw, errors of the data, refusals, errors among several answers."""
    question = {"sql": COUNT, "within": 60}
    with monkeypatch.context() as patched:
        for problem, status in ((RuntimeError("row 17"), 500), (DataError("row 17"), 503)):
            for name in ("ask", "release"):
                patched.setattr(Session, name, _failing(hand, problem))
            for path, body in (
                ("ask", question),
                ("ask-many", {"questions": [question]}),
                ("releases", TABLES),
            ):
                assert steps(paced, hand, path, body, status) == pytest.approx(1)
    assert steps(paced, hand, "ask", {"sql": COUNT, "within": 0.01}, 402) == pytest.approx(1)
    refused = {"questions": [{"sql": COUNT, "within": 0.01}]}
    assert steps(paced, hand, "ask-many", refused) == pytest.approx(1)
    assert steps(paced, hand, "releases", {**TABLES, "budget": 9}, 402) == pytest.approx(1)


def _failing(hand: Hand, problem: Exception) -> Any:
    def fail(*_: object, **__: object) -> None:
        hand.now += 0.02
        raise problem

    return fail


def test_nobody_waits_for_an_answer_that_is_held_back(paced: Server, hand: Hand) -> None:
    """No thread is held, and the account's place for long work is free again."""
    headers = {
        "Authorization": f"Bearer {paced.tokens['ann']}",
        "Content-Type": "application/json",
    }
    held, leave = asyncio.Event(), asyncio.Event()

    async def sleep(seconds: float) -> None:
        held.set()
        await leave.wait()
        await hand.sleep(seconds)

    object.__setattr__(paced.app.state.eke.pace, "sleep", sleep)
    body = b'{"workload": {"all_marginals": 1}, "budget": 0.05}'

    async def all_three() -> tuple[int, int, int]:
        waiting = asyncio.create_task(send(paced.app, "POST", f"{PEOPLE}/releases", headers, body))
        await held.wait()
        plan = await send(paced.app, "POST", f"{PEOPLE}/plans", headers, body)
        schema = await send(paced.app, "GET", f"{PEOPLE}/schema", headers, b"")
        assert not waiting.done()
        leave.set()
        return (await waiting).status, plan.status, schema.status

    assert paced.loop.run(all_three()) == (200, 200, 200)


def test_the_step_is_counted_from_the_arrival() -> None:
    """On a clock of its own an average over many answers would tell the time in between."""
    hand = Hand()
    pace = Pace(STEP, hand, hand.sleep, hand.nap)
    for arrival in (0.0, 0.04, 7.77):
        hand.now = arrival + 0.13
        assert pace.due(arrival) == pytest.approx(arrival + 0.2)
        asyncio.run(pace.keep(arrival))
        assert hand.now == pytest.approx(arrival + 0.2, abs=1e-4)
        hand.now = arrival
        assert pace.due(arrival) == pytest.approx(arrival + STEP), "never at once"


def test_an_early_waking_is_slept_over() -> None:
    hand = Hand()

    async def short(seconds: float) -> None:
        hand.now += min(max(seconds, 1e-5), 0.03)

    asyncio.run(Pace(STEP, hand, short).keep(1000.0))
    assert hand.now == pytest.approx(1000.1, abs=1e-4)


class Waiting:
    """An event whose waiting moves the clock."""

    def __init__(self, hand: Hand) -> None:
        self.hand = hand

    def wait(self, seconds: float) -> bool:
        self.hand.now += seconds
        return False

    def is_set(self) -> bool:
        return False


def test_a_job_is_seen_to_move_and_to_end_at_multiples(
    hand: Hand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("eke.service.job_sight.threading.Event", lambda: Waiting(hand))
    noted: list[tuple[float, str]] = []
    sight = JobSight(lambda step, _: noted.append((hand.now, step)), Pace(1.0, hand))
    hand.now += 0.3
    sight.show("measuring", 0.2)
    assert noted == []
    hand.now += 0.4
    sight.show("making rows", 0.8)

    class Enough(Exception):
        pass

    def once(step: str, _: float) -> None:
        noted.append((hand.now, step))
        raise Enough

    sight._note = once
    with pytest.raises(Enough):
        sight._keep_noting()
    assert noted == [(1001.0, "making rows")], "only what is shown last, and then"
    hand.now += 0.6
    sight.wait()
    assert hand.now == 1002.0


def test_without_a_step_a_job_is_seen_to_move_at_once(hand: Hand) -> None:
    noted: list[str] = []
    with JobSight(lambda step, _: noted.append(step), Pace(0.0, hand)) as sight:
        sight.show("measuring", 0.2)
        assert noted == ["measuring"]
        sight.wait()
    assert hand.now == 1000.0
    assert "eke-job-sight" not in {one.name for one in threading.enumerate()}


def test_a_job_in_steps_ends_and_its_last_step_is_seen(folder: Path) -> None:
    """With the clock of the machine: the threads meet."""
    with serving(folder, answer_step=0.001) as server:
        rows = {"mechanism": "lda", "epsilon": 0.3, "options": {"target": "sex"}}
        made = server.call("POST", f"{PEOPLE}/publications", "ann", rows).json()
        finished(server, made)
        assert server.call("GET", f"{PEOPLE}/jobs/{made['id']}", "ann").json()["progress"] == 1.0


def test_times_of_releases_are_those_of_their_charges(server: Server) -> None:
    server.ask(COUNT, 60)
    server.call("POST", f"{PEOPLE}/releases", "ann", TABLES)
    server.session.publish("lda", epsilon=0.1, target="sex", key="rows", analyst="ann")
    entries = list(server.session.ledger_entries())
    after = {entry.at for entry in entries if entry.kind == "commit"}
    assert len(after) == 3
    numbers = [entry.sequence for entry in entries if entry.kind == "commit"]
    paths = ["history", f"history/{numbers[0]}", "budget/timeline"]
    paths += ["releases", f"releases/{numbers[1]}", "publications", f"publications/{numbers[2]}"]
    replies = [server.call("GET", f"{PEOPLE}/{path}", "ann") for path in paths]
    replies.append(server.call("POST", f"{PEOPLE}/releases", "ann", TABLES))
    assert {reply.status for reply in replies} == {200}
    texts = [reply.text for reply in replies]
    for text in texts:
        assert not any(time in text for time in after)
    charges = [entry.at for entry in entries if entry.kind == "reserve"]
    seen = "".join(texts)
    assert all(time in seen for time in charges)
    told = server.call("GET", f"{PEOPLE}/ledger", "otto").text
    assert all(time in told for time in after), "the chain is over the exact times"


@pytest.mark.parametrize("step", [-0.1, 10.5, float("nan")])
def test_a_step_makes_sense(step: float) -> None:
    with pytest.raises(ServiceError, match="step"):
        Settings(answer_step=step)


def test_releases_are_planned_before_they_are_held_back(
    paced: Server, hand: Hand, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is wrong with a plan touches nothing."""
    monkeypatch.setattr(releasing, "_planned", _failing(hand, ServiceError("no")))
    assert steps(paced, hand, "releases", TABLES, 409) == pytest.approx(0.2)
