"""Races and crashes on a ledger, run in an interpreter of its own so that it may fork freely.

`python ledger_driver.py <scenario> <place> <number>` prints one JSON object; the place is a folder,
or a PostgreSQL address that ends where the name of a dataset goes on. The tests in
`test_ledger_processes.py` start it and judge the figures.
"""

from __future__ import annotations

import json
import os
import random
import secrets
import select
import signal
import sqlite3
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import psycopg

from eke.errors import BudgetExceeded, EkeError, LedgerError
from eke.ledger import Ledger
from eke.ledger.failpoint import FAILPOINTS, VARIABLE

COST = 3
WORKERS = 8


def dataset(place: str, name: str) -> str:
    """The path or address of a ledger at a place."""
    return f"{place}_{name}" if "://" in place else str(Path(place) / f"{name}.eke")


def reserve(ledger: Ledger, key: str, cost: int) -> tuple[int, str | None]:
    """The reservation of a key, old or new, and the answer if there is one already."""
    with ledger.exclusive() as book:
        request = book.find("ann", key, digest=key)
        if request is not None:
            return request.sequence, request.answer
        reservation = book.reserve(
            analyst="ann",
            key=key,
            digest=key,
            payload={"cost": cost},
            spent_after=book.spent + cost,
        )
    return reservation.sequence, None


def release(ledger: Ledger, key: str, cost: int = COST) -> str:
    """The answer of a key: fresh noise at every attempt, one stored answer at last."""
    number, answer = reserve(ledger, key, cost)
    if answer is None:
        noisy = secrets.token_hex(8)
        with ledger.exclusive() as book:
            answer = book.commit(number, {"value": noisy}, noisy).answer
    return answer


def release_too_early(ledger: Ledger, key: str, say: Callable[[str], None]) -> None:
    """The positive control: the value goes out before the commit is durable."""
    number, _ = reserve(ledger, key, COST)
    noisy = secrets.token_hex(8)
    with ledger.exclusive() as book:
        book.commit(number, {"value": noisy}, noisy)
        say(f"released {key} {noisy}")


# --- races ---------------------------------------------------------------------------------------


def in_processes(workers: int, work: Callable[[int], object]) -> list[object]:
    """What each forked worker returned, as JSON."""
    pipes = []
    for number in range(workers):
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reader)
            try:
                with os.fdopen(writer, "w") as out:
                    out.write(json.dumps(work(number)))
            except EkeError:
                traceback.print_exc()
            finally:
                os._exit(0)
        os.close(writer)
        pipes.append((child, reader))
    results = []
    for child, reader in pipes:
        with os.fdopen(reader) as source:
            said = source.read()
        os.waitpid(child, 0)
        if not said:
            raise SystemExit("a worker failed")  # its own traceback says why
        results.append(json.loads(said))
    return results


def race(place: str, attempts: int, workers: int = WORKERS) -> dict[str, object]:
    """Workers that spend 1 to 5 units at a time until a limit that stops most of them."""
    where = dataset(place, "race")
    ledger = Ledger.create(where, {}, limit=attempts * workers)

    def work(worker: int) -> tuple[int, int]:
        spent = refused = 0
        for number in range(attempts):
            cost = 1 + (worker + number) % 5
            try:
                release(ledger, f"{worker}-{number}", cost)
                spent += cost
            except BudgetExceeded:
                refused += 1
        return spent, refused

    results = in_processes(workers, work)
    entries = Ledger.open(where).entries()
    return {
        "limit": ledger.limit,
        "spent": ledger.balance().spent,
        "log": sum(e.payload["cost"] for e in entries if e.kind == "reserve"),  # type: ignore[misc]
        "released": sum(r[0] for r in results),  # type: ignore[index]
        "refused": sum(r[1] for r in results),  # type: ignore[index]
        "commits": sum(e.kind == "commit" for e in entries),
        "reserves": sum(e.kind == "reserve" for e in entries),
        "problems": list(ledger.verify().problems),
    }


def same_key(place: str, rounds: int) -> dict[str, object]:
    """Workers that all ask the same keys at once: one charge and one answer for each."""
    ledger = Ledger.create(dataset(place, "same"), {}, limit=COST * rounds)

    def work(_: int) -> list[str]:
        return [release(ledger, str(number)) for number in range(rounds)]

    results = in_processes(WORKERS, work)
    return {
        "answers": len({json.dumps(result) for result in results}),
        "distinct": len(set(results[0])),  # type: ignore[call-overload]
        "spent": ledger.balance().spent,
        "limit": ledger.limit,
        "problems": list(ledger.verify().problems),
    }


def naive_race(place: str, attempts: int) -> dict[str, object]:
    """The positive control: read, check, then write, as careless code does it."""
    table = f"naive_{secrets.token_hex(8)}"

    def connect() -> Any:
        if "://" in place:
            return psycopg.connect(place.partition("&dataset=")[0], autocommit=True)
        return sqlite3.connect(Path(place) / "naive.db", isolation_level=None, timeout=30)

    with closing(connect()) as connection:
        connection.execute(f"CREATE TABLE {table} AS SELECT 0 AS spent")
    limit = attempts * WORKERS // 3

    def work(_: int) -> int:
        released = 0
        with closing(connect()) as connection:
            for _attempt in range(attempts):
                (spent,) = connection.execute(f"SELECT spent FROM {table}").fetchone()
                time.sleep(0.0005)  # measuring takes a moment
                if spent + 1 <= limit:
                    connection.execute(f"UPDATE {table} SET spent = {spent + 1}")
                    released += 1
        return released

    return {"limit": limit, "released": sum(in_processes(WORKERS, work))}  # type: ignore[arg-type]


# --- crashes -------------------------------------------------------------------------------------


def victim(
    ledger: Ledger, keys: list[str], fatal: str | None, *, careless: bool = False
) -> tuple[int, int]:
    """A forked child that releases key after key, and the pipe on which it says so."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        if fatal is not None:
            os.environ[VARIABLE] = fatal

        def say(line: str) -> None:
            os.write(writer, (line + "\n").encode())

        status = 1
        with suppress(BaseException):
            for key in keys:
                say(f"started {key}")
                if careless:
                    release_too_early(ledger, key, say)
                else:
                    say(f"released {key} {release(ledger, key)}")
            status = 0
        os._exit(status)
    os.close(writer)
    return child, reader


def autopsy(where: str, said: list[list[str]]) -> tuple[list[str], str]:
    """What is wrong after a crash, and in which state the last key was found."""
    problems = []
    ledger = Ledger.open(where)  # walks the chain and raises when it does not hold
    for key, answer in (line[1:] for line in said if line[0] == "released"):
        request = ledger.find("ann", key)
        if request is None or request.answer != answer:
            problems.append(f"{key} was released without a record")
    last = said[-1][1]
    before = ledger.find("ann", last)
    found = "nothing" if before is None else before.state
    charged = ledger.balance().spent
    answers = {release(ledger, last), release(ledger, last)}
    if before is not None and before.answer is not None:
        answers.add(before.answer)
    if len(answers) != 1:
        problems.append(f"{last} got several answers")
    if ledger.balance().spent - charged != (COST if before is None else 0):
        problems.append(f"{last} was not charged exactly once")
    report = ledger.verify()
    problems.extend(report.problems)
    entries = ledger.entries()
    reserves = [entry.about["key"] for entry in entries if entry.kind == "reserve"]
    commits = [entry.about["reservation"] for entry in entries if entry.kind == "commit"]
    if len(set(reserves)) != len(reserves) or len(set(commits)) != len(commits):
        problems.append("a key was charged twice or a reservation closed twice")
    if report.open_reservations or len(commits) != len(reserves):
        problems.append("a charge without an answer remains after the retry")
    if report.spent != COST * len(reserves):
        problems.append("the loss is not the sum of the log")
    return problems, found


def listen(reader: int) -> list[list[str]]:
    """All whole lines that a dead child managed to say."""
    with os.fdopen(reader) as source:
        text = source.read()
    return [line.split() for line in text.split("\n")[:-1]]


def random_kills(place: str, runs: int) -> dict[str, object]:
    """Children killed at random instants; a new ledger every 20 runs to keep the checks short."""
    problems: list[str] = []
    found = {"nothing": 0, "reserved": 0, "committed": 0}
    killed = 0
    where = ""
    for run in range(runs):
        if run % 20 == 0:
            where = dataset(place, f"kill_{run}")
            Ledger.create(where, {}, limit=10**9)
        ledger = Ledger.open(where)
        begun = time.perf_counter()
        release(ledger, f"{run}-warm")
        duration = time.perf_counter() - begun  # of a release now, on this machine, with this load
        child, reader = victim(ledger, [f"{run}-{i}" for i in range(1000)], None)
        select.select([reader], [], [])
        time.sleep(random.uniform(0.0, 2.0) * duration)
        os.kill(child, signal.SIGKILL)
        killed += os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
        wrong, state = autopsy(where, listen(reader))
        problems.extend(wrong)
        found[state] += 1
    return {"killed": killed, "found": found, "problems": problems}


def failpoints(place: str, passes: int) -> dict[str, object]:
    """Children that die at each failpoint, in the reservation and in the commit."""
    problems: list[str] = []
    died: list[str] = []
    found: dict[str, str] = {}
    names = [name for name in FAILPOINTS if name.startswith("ledger.")]
    for name in (name for name in names if ".create." not in name):
        for number in range(1, passes + 1):
            where = dataset(place, f"{name}-{number}".replace(".", "-"))
            child, reader = victim(Ledger.create(where, {}, 10**6), ["key"], f"{name}@{number}")
            if os.WIFSIGNALED(os.waitpid(child, 0)[1]):
                died.append(f"{name}@{number}")
            wrong, found[f"{name}@{number}"] = autopsy(where, listen(reader))
            problems.extend(f"{name}@{number}: {text}" for text in wrong)
    for name in (name for name in names if ".create." in name):
        where = dataset(place, name.replace(".", "-"))
        child = os.fork()
        if child == 0:
            os.environ[VARIABLE] = name
            Ledger.create(where, {}, 10)
            os._exit(0)
        if os.WIFSIGNALED(os.waitpid(child, 0)[1]):
            died.append(name)
        elif "claimed" in name and "://" in where:
            continue  # a server has no file to claim: the child came through
        try:
            Ledger.open(where)
            problems.append(f"{name}: half a ledger was opened")
        except LedgerError:
            if "://" not in where:
                Path(where).unlink()
            Ledger.create(where, {}, 10).verify().require()
    return {"names": names, "died": died, "found": found, "problems": problems}


def careless(place: str, runs: int) -> dict[str, object]:
    """The positive control: a child that releases first and dies before it commits."""
    problems: list[str] = []
    for run in range(runs):
        where = dataset(place, f"careless_{run}")
        ledger = Ledger.create(where, {}, 10**6)
        child, reader = victim(ledger, ["key"], "ledger.before_commit@2", careless=True)
        os.waitpid(child, 0)
        problems.extend(autopsy(where, listen(reader))[0])
    return {"problems": problems}


SCENARIOS: dict[str, Callable[[str, int], dict[str, object]]] = {
    "race": race,
    "race64": lambda place, attempts: race(place, attempts, workers=64),
    "same_key": same_key,
    "naive_race": naive_race,
    "random_kills": random_kills,
    "failpoints": failpoints,
    "careless": careless,
}

if __name__ == "__main__":
    scenario, where, count = sys.argv[1:]
    sys.stdout.write(json.dumps(SCENARIOS[scenario](where, int(count))))
