"""What the workers of one server share, looked at in one process."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
from contextlib import closing
from pathlib import Path

import pytest

import eke
from eke.service import Access, Account, Datasets, Settings, create_app
from eke.service.job_store import JobStore
from eke.service.metric import Counted, Metrics
from eke.service.peers import Peers
from eke.service.rate import Rate
from eke.service.shared_buckets import SharedBuckets
from eke.service.workers import run_workers
from tests.service import DOMAIN, people


def rates(folder: Path, clock: list[float], per_minute: int = 30) -> tuple[Rate, Rate]:
    """Those of two workers; each maps the file by itself."""
    made = [
        Rate(per_minute, lambda: clock[0], SharedBuckets(folder / "some.rate", b"server"))
        for _ in range(2)
    ]
    return made[0], made[1]


def test_workers_give_a_caller_together_what_one_process_gives(folder: Path) -> None:
    """Against the dictionary of one process: 3,000 takes of 40 names by either of two workers."""
    rng, clock = random.Random(7), [100.0]
    workers, twin = rates(folder, clock), Rate(30, lambda: clock[0])
    waits = set()
    for _ in range(3000):
        clock[0] += rng.random() * 0.05
        name = f"caller-{rng.randrange(40)}"
        wait = twin.take(name)
        assert rng.choice(workers).take(name) == wait
        waits.add(wait > 0.0)
    assert waits == {False, True}


def test_processes_take_turns_at_the_buckets(folder: Path) -> None:
    """Four processes send 250 each where 600 are allowed; the clock stands still."""
    children = []
    for _ in range(4):
        child = os.fork()
        if child == 0:
            mine, _ = rates(folder, [100.0], 600)
            allowed = sum(mine.take("ann") == 0.0 for _ in range(250))
            (folder / f"{os.getpid()}.allowed").write_text(str(allowed))
            os._exit(0)
        children.append(child)
    for child in children:
        assert os.waitpid(child, 0)[1] == 0
    counts = [int(path.read_text()) for path in folder.glob("*.allowed")]
    assert len(counts) == 4
    assert sum(counts) == 600


def test_more_callers_than_slots_are_all_served(folder: Path) -> None:
    clock = [100.0]
    workers = rates(folder, clock)
    for number in range(20_000):
        clock[0] += 1e-6
        assert workers[number % 2].take(f"caller-{number}") == 0.0


def counted(*numbers: int) -> Metrics:
    made = Metrics()
    for number in numbers:
        for _ in range(number):
            made.count("eke_answers_total", dataset="people", source=f"s{number}")
        made.time("/ask", 0.02 * number)
    return made


def test_a_port_that_is_taken_interrupts_no_jobs_of_the_server_that_has_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def taken(_: object) -> None:  # what uvicorn does then; it leaves a socket open besides
        raise SystemExit(1)

    place = str(folder / "access.db")
    with closing(Access(place)) as access:
        jobs = JobStore(access.storage)
        jobs.add("1", "people", "ann", "k", "{}")
        monkeypatch.setattr("uvicorn.Config.bind_socket", taken)
        with pytest.raises(SystemExit):
            run_workers([], place, Settings(), number=2, host="127.0.0.1", port=1)
        assert [job.state for job in jobs.unfinished()] == ["queued"]
        assert JobStore(access.storage).interrupt_left() == 1  # what a start does


def test_counts_of_workers_add_up() -> None:
    together, apart = counted(1, 2, 3), counted(2)
    others = [counted(one).counts() for one in (1, 3)]
    read = [Counted.of(one.document()) for one in others]
    assert apart.text(others=read) == together.text()
    assert apart.text(others=read[:1]) != together.text()


def test_counts_are_there_for_the_others_and_stay_when_a_worker_ends(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    peers = Peers(folder, "server", os.getppid())

    async def served() -> None:
        async with peers.open(counted(3)):
            pass

    asyncio.run(served())
    assert peers.counts() == []  # these are its own
    monkeypatch.setattr(os, "getpid", lambda: 1)
    assert [one.numbers.total() for one in peers.counts()] == [3]
    shutil.rmtree(folder)
    asyncio.run(served())  # nobody is left to be told
    folder.mkdir()


def test_what_one_tells_the_others_hear_and_it_does_not(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    peers = Peers(folder, "server", os.getppid())

    async def told() -> bytes:
        heard = asyncio.Queue[bytes]()
        with peers.listening(heard.put_nowait):
            peers.tell(b"mine")
            with monkeypatch.context() as other:
                other.setattr(os, "getpid", lambda: 1)
                peers.tell(b"theirs")
            return await heard.get()

    assert asyncio.run(told()) == b"theirs"
    peers.tell(b"nobody listens")


def test_a_dataset_that_one_worker_makes_the_others_have(folder: Path) -> None:
    people().to_csv(folder / "people.csv", index=False)
    seeing, blind = Datasets(folder=folder), Datasets()
    assert seeing.items() == []
    (folder / "half.eke").write_text("it is being made")
    session = eke.create(folder / "people.eke", folder / "people.csv", DOMAIN, epsilon=1.0)
    assert seeing.get("half") is None
    assert seeing.get("../people") is None
    assert seeing.get("people") is not None
    assert blind.get("people") is None
    assert [name for name, _ in seeing.items()] == ["people"]
    assert seeing.offer("people", session) is seeing.get("people")


def test_the_jobs_of_all_workers_are_those_of_the_server(folder: Path) -> None:
    place = folder / "access.db"
    stores = []
    for server in ("first", "first", "second", None):
        access = Access(place)
        if access.find("ann") is None:
            access.add(Account("ann", "curator"))
        peers = None if server is None else Peers(folder, server, os.getppid())
        app = create_app(Datasets(), access, Settings(), peers=peers)
        stores.append(app.state.eke.jobs._store)
    for number, store in enumerate(stores):
        store.add(f"j{number}", "people", "ann", f"k{number}", "{}")
    jobs = {job.id: job for job in stores[0].unfinished()}
    here = [[store.is_here(jobs[f"j{n}"]) for n in range(4)] for store in stores]
    assert here == [
        [True, True, False, False],
        [True, True, False, False],
        [False, False, True, False],
        [False, False, False, True],
    ]
    assert stores[0].interrupt_left() == 0  # the others live
    assert stores[3].interrupt_left() == 4  # a file has one server
