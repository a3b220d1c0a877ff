"""Jobs, in a file and in PostgreSQL: two stores on one place stand for two servers."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing

import pytest

from eke.service import job_store
from eke.service.job_store import LEASE_SECONDS, JobState, JobStore
from eke.service.storage import open_storage
from tests.service import Clock


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def pair(place: str, clock: Clock) -> Iterator[tuple[JobStore, JobStore]]:
    with ExitStack() as stack:
        one, other = (
            JobStore(stack.enter_context(closing(open_storage(place))), clock) for _ in range(2)
        )
        yield one, other


@pytest.fixture
def store(pair: tuple[JobStore, JobStore]) -> JobStore:
    return pair[0]


@pytest.fixture
def other(pair: tuple[JobStore, JobStore]) -> JobStore:
    return pair[1]


def add(store: JobStore, job_id: str = "j", key: str = "k", account: str = "ann") -> bool:
    return store.add(job_id, "people", account, key, '{"mechanism": "lda"}')


def state(store: JobStore, job_id: str = "j") -> str:
    found = store.get(job_id)
    assert found is not None
    return found.state


def test_a_job_is_followed_everywhere(store: JobStore, other: JobStore, clock: Clock) -> None:
    assert add(store)
    assert store.begin("j", "checking")
    assert store.move("j", "measuring", 0.5)
    seen = other.get("j")
    assert seen is not None
    assert seen == store.get("j") == other.find("people", "ann", "k") == other.unfinished()[0]
    assert (seen.state, seen.step, seen.progress) == ("running", "measuring", 0.5)
    assert (seen.request, seen.owner) == ({"mechanism": "lda"}, store.owner)
    clock.now += 2
    store.end("j", "done", result=2**40)
    done = other.get("j")
    assert done is not None
    assert (done.state, done.progress, done.result) == ("done", 1.0, 2**40)
    assert done.ended_at == done.made_at + 2
    assert other.unfinished() == []
    assert other.get("none") is None
    assert other.get("a\0b") is None


def test_how_it_failed_is_kept(store: JobStore, other: JobStore) -> None:
    add(store)
    store.begin("j", "checking")
    store.move("j", "paying", 0.05)
    store.end("j", "failed", error={"error": "DataError", "status": 503})
    failed = other.get("j")
    assert failed is not None
    assert (failed.state, failed.progress) == ("failed", 0.05)
    assert failed.error == {"error": "DataError", "status": 503}


def test_a_key_has_one_job(store: JobStore, other: JobStore) -> None:
    assert add(store)
    assert not add(other, "j2")
    assert other.get("j2") is None
    assert add(other, "j2", account="ben"), "keys belong to accounts"


def test_the_newest_are_listed(store: JobStore, other: JobStore, clock: Clock) -> None:
    for number in range(4):
        clock.now += 1
        add((store, other)[number % 2], f"j{number}", f"k{number}", ("ann", "ben")[number // 2])
    assert [job.id for job in store.of("people")] == ["j3", "j2", "j1", "j0"]
    assert [job.id for job in other.of("people", "ann")] == ["j1", "j0"]
    assert [job.id for job in other.of("people", most=1)] == ["j3"]
    assert store.of("elsewhere") == []
    assert [job.id for job in store.unfinished()] == ["j0", "j1", "j2", "j3"]


def test_old_ones_make_room(store: JobStore, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_store, "_MOST_KEPT", 2)
    for number in range(4):
        clock.now += 1
        add(store, f"j{number}", f"k{number}")
        if number != 1:
            store.end(f"j{number}", "done")
    assert [job.id for job in store.of("people")] == ["j3", "j2", "j1"], "j1 is not over"


@pytest.mark.parametrize("ending", ["cancelled", "given_up"])
def test_what_waits_is_stopped_from_anywhere(
    store: JobStore, other: JobStore, ending: JobState
) -> None:
    add(store)
    assert other.stop_waiting("j", ending)
    assert state(store) == ending
    assert not store.begin("j", "checking"), "its own server leaves it"
    assert not other.stop_waiting("j", ending)
    assert store.again("j")


def test_what_runs_is_asked_back_from_anywhere(store: JobStore, other: JobStore) -> None:
    add(store)
    assert not other.ask_back("j"), "it does not run yet"
    store.begin("j", "checking")
    assert store.wanted("j")
    assert not other.wanted("j"), "it is not theirs"
    assert not other.stop_waiting("j", "cancelled")
    assert other.ask_back("j")
    assert state(other) == "running", "until its own server has stopped"
    assert not store.move("j", "paying", 0.05)
    assert not store.wanted("j")
    store.stopped("j", "cancelled")
    assert other.again("j")
    assert other.begin("j", "checking")
    assert other.move("j", "paying", 0.05), "asked for again, it is wanted again"


def test_what_is_given_up_ends_at_once(store: JobStore, other: JobStore, clock: Clock) -> None:
    add(store)
    assert not other.give_up("j"), "it does not run yet"
    store.begin("j", "checking")
    store.move("j", "measuring", 0.3)
    assert other.give_up("j")
    assert not other.give_up("j")
    given_up = other.get("j")
    assert given_up is not None
    assert (given_up.state, given_up.unwanted, given_up.ended_at) == ("given_up", True, clock.now)
    clock.now += 5
    assert not store.wanted("j")
    store.stopped("j", "given_up")
    assert other.get("j") == given_up, "when its worker noticed is nobody's business"


def test_a_job_wanted_again_is_not_stopped_by_the_one_before(store: JobStore) -> None:
    add(store)
    store.begin("j", "checking")
    store.give_up("j")
    assert store.again("j")
    store.stopped("j", "given_up")
    assert state(store) == "queued"


def test_only_its_server_works_on_a_job(store: JobStore, other: JobStore) -> None:
    add(store)
    assert not other.begin("j", "checking")
    assert store.begin("j", "checking")
    assert not store.begin("j", "checking")
    assert not other.move("j", "paying", 0.05)
    other.end("j", "failed")
    assert state(store) == "running"
    assert not other.again("j"), "it is not over"


def test_a_lease_runs_out(store: JobStore, other: JobStore, clock: Clock) -> None:
    add(store)
    add(store, "j2", "k2")
    add(store, "j3", "k3")
    add(other, "j4", "k4")
    store.begin("j", "checking")
    clock.now += LEASE_SECONDS
    store.beat(["j", "j2", "j4"])
    store.beat([])
    clock.now += 1
    assert [job.id for job in other.unfinished()] == ["j", "j2"], "of these it was said"
    assert state(store, "j3") == state(store, "j4") == "interrupted"
    clock.now += LEASE_SECONDS
    found = other.of("people")
    assert {job.state for job in found} == {"interrupted"}
    assert {job.ended_at for job in found if job.id in ("j", "j2")} == {clock.now}


def test_what_is_written_renews_a_lease(store: JobStore, other: JobStore, clock: Clock) -> None:
    add(store)
    clock.now += LEASE_SECONDS
    assert store.begin("j", "checking")
    clock.now += LEASE_SECONDS
    assert store.move("j", "measuring", 0.2)
    clock.now += LEASE_SECONDS
    assert state(other) == "running"
    clock.now += 1
    assert state(other) == "interrupted"


def test_a_server_that_was_slow_goes_on(store: JobStore, other: JobStore, clock: Clock) -> None:
    add(store)
    store.begin("j", "checking")
    clock.now += LEASE_SECONDS + 1
    assert state(other) == "interrupted"
    store.beat(["j"])
    assert state(other) == "interrupted", "being alive is not enough"
    assert store.move("j", "making rows", 0.9)
    found = other.get("j")
    assert found is not None
    assert (found.state, found.ended_at) == ("running", None)
    clock.now += LEASE_SECONDS + 1
    assert state(other) == "interrupted"
    store.end("j", "done", result=7)
    assert state(other) == "done"


def test_what_was_taken_over_is_not_disturbed(
    store: JobStore, other: JobStore, clock: Clock
) -> None:
    add(store)
    store.begin("j", "checking")
    clock.now += LEASE_SECONDS + 1
    assert state(other) == "interrupted"
    assert other.again("j")
    assert not store.again("j"), "one server has it"
    assert not store.move("j", "paying", 0.05)
    store.end("j", "failed")
    store.interrupt_own()
    found = store.get("j")
    assert found is not None
    assert (found.state, found.owner) == ("queued", other.owner)
    assert not store.begin("j", "checking")
    assert other.begin("j", "checking")


def test_a_server_that_stops_interrupts_its_own(store: JobStore, other: JobStore) -> None:
    add(store)
    add(other, "j2", "k2")
    assert store.interrupt_own() == 1
    assert [job.id for job in other.unfinished()] == ["j2"]


def test_a_server_that_starts_interrupts_what_was_left(
    place: str, store: JobStore, clock: Clock
) -> None:
    """In a file that is everything; in a place that is shared, the living keep theirs."""
    add(store)
    with closing(open_storage(place)) as storage:
        started = JobStore(storage, clock)
        assert started.interrupt_left() == (0 if storage.shared else 1)
        clock.now += LEASE_SECONDS + 1
        assert started.interrupt_left() == (1 if storage.shared else 0)
        assert state(started) == "interrupted"


def test_of_many_at_once_one_gets_the_job(place: str, clock: Clock) -> None:
    """Adding it, beginning it and taking it over: each is one statement, won by one server."""
    with ExitStack() as stack:
        stores = [
            JobStore(stack.enter_context(closing(open_storage(place))), clock) for _ in range(8)
        ]
        pool = stack.enter_context(ThreadPoolExecutor(8))
        start = threading.Barrier(8)

        def winners(action: Callable[[JobStore], bool], racing: list[JobStore]) -> list[JobStore]:
            def race(store: JobStore) -> bool:
                start.wait()
                return action(store)

            won = pool.map(race, racing)
            return [store for store, first in zip(racing, won, strict=True) if first]

        (owner,) = winners(lambda store: add(store, f"j-{store.owner}"), stores)
        job_id = f"j-{owner.owner}"
        assert winners(lambda store: store.begin(job_id, "checking"), stores) == [owner]
        assert owner.stop_waiting(job_id, "cancelled") is False
        for _ in range(5):
            assert owner.give_up(job_id)
            (owner,) = winners(lambda store: store.again(job_id), stores)
            # Its threads race as well, and only one of them runs it.
            assert winners(lambda store: store.begin(job_id, "checking"), [owner] * 8) == [owner]
        found = owner.get(job_id)
        assert found is not None
        assert (found.state, found.owner) == ("running", owner.owner)
