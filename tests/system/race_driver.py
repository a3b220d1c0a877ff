"""Races for one budget on whole releases, in an interpreter of its own so that it may fork freely.

`python race_driver.py <scenario> <place> <number>` prints one JSON object, as `release_driver.py`
does. The tests in `test_concurrent_spending.py` and `test_two_servers.py` start it and judge the
figures.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import eke
from eke.errors import BudgetExceeded, EkeError
from tests.system.ledger_driver import dataset, in_processes, listen
from tests.system.release_driver import WITHIN, ask, create, question, shown_in, wrong_books

WORKERS = 8


def race(place: str, attempts: int, *, workers: int, **limit: float) -> dict[str, object]:
    """Workers that ask until the limit stops them."""
    (measure, amount) = next(iter(limit.items()))
    session = create(dataset(place, f"race_{measure}"), policy="direct", **limit)
    # Each question costs about a twentieth of the limit, but never divides it.
    within = 20 * 2.9957 / amount if measure == "epsilon" else 1.96 * (20 / (2 * amount)) ** 0.5

    def work(worker: int) -> dict[str, Any]:
        outcome: dict[str, Any] = {"cost": 0, "refused": 0, "free": 0, "errors": [], "released": 0}
        for number in range(attempts):
            asked = question(worker * attempts + number)
            try:
                answer = session.ask(
                    asked, within * (1 + 0.01 * number), key=f"{worker}-{number}", analyst="ann"
                )
            except BudgetExceeded:
                outcome["refused"] += 1
            except (EkeError, OSError, ValueError) as error:
                outcome["errors"].append(f"{type(error).__name__}: {error}")
            else:
                outcome["cost"] += answer.receipt.cost_nano
                outcome["free" if answer.free else "released"] += 1
        return outcome

    results: Any = in_processes(workers, work)
    entries = session.ledger_entries()
    budget = session.budget
    return {
        "limit": budget.limit_nano,
        "spent": budget.spent_nano,
        "cost": sum(result["cost"] for result in results),
        "released": sum(result["released"] for result in results),
        "refused": sum(result["refused"] for result in results),
        "errors": [text for result in results for text in result["errors"]],
        "reserves": sum(entry.kind == "reserve" for entry in entries),
        "commits": sum(entry.kind == "commit" for entry in entries),
        "problems": [*session.verify().problems, *wrong_books(entries)],
    }


def same_key(place: str, rounds: int) -> dict[str, object]:
    """Workers that all ask the same keys at once: one charge and one answer for each."""
    session = create(dataset(place, "same"), epsilon=100.0)

    def work(_: int) -> list[str]:
        return [ask(session, 3 * number, str(number)) for number in range(rounds)]

    results: Any = in_processes(WORKERS, work)
    entries = session.ledger_entries()
    return {
        "answers": len({json.dumps(result) for result in results}),
        "keys": len({entry.about["key"] for entry in entries if "key" in entry.about}),
        "requests": sum(entry.kind in {"reserve", "remember"} for entry in entries),
        "reserves": sum(entry.kind == "reserve" for entry in entries),
        "commits": sum(entry.kind == "commit" for entry in entries),
        "problems": [*session.verify().problems, *wrong_books(entries)],
    }


# --- two servers ---------------------------------------------------------------------------------


def serve(where: str, clients: int, asked: int, first: int, writer: int) -> None:
    """One server: a process with its own session and many threads, each an analyst who retries."""
    session = eke.open(where, analyst="ann")
    lock = threading.Lock()

    def say(line: str) -> None:
        with lock:
            os.write(writer, (line + "\n").encode())

    def client(number: int) -> None:
        for turn in range(asked):
            at = first + number * asked + turn
            say(f"started {at}")
            try:
                answer = session.ask(question(at), within=WITHIN, key=f"key-{at}", analyst="ann")
            except BudgetExceeded:
                say(f"refused {at}")
            except (EkeError, OSError, ValueError) as error:
                say(f"failed {at} {type(error).__name__}:{str(error).replace(' ', '_')}")
            else:
                shown = [answer.value, *answer.interval, answer.receipt.cost_nano]
                say(f"released {at} {json.dumps(shown, separators=(',', ':'))}")

    threads = [threading.Thread(target=client, args=(number,)) for number in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def start_server(where: str, clients: int, asked: int, first: int) -> tuple[int, int]:
    """A forked server, and the pipe on which it says what it did."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        status = 1
        with suppress(BaseException):
            serve(where, clients, asked, first, writer)
            status = 0
        os._exit(status)
    os.close(writer)
    return child, reader


def books(where: str, said: list[list[str]]) -> dict[str, Any]:
    """What the ledger holds, next to what was said to have been done."""
    session = eke.open(where, analyst="ann")
    entries, budget, ledger = session.ledger_entries(), session.budget, session._vault.ledger
    released = {line[1]: json.loads(line[2]) for line in said if line[0] == "released"}
    problems = [*session.verify().problems, *wrong_books(entries)]
    for number, shown in released.items():
        request = ledger.find("ann", f"key-{number}")
        if request is None or request.answer is None or shown_in(request.answer) != shown:
            problems.append(f"{number} was released without a record, or otherwise than recorded")
    costs = [int(str(entry.payload["cost"])) for entry in entries if entry.kind == "reserve"]
    return {
        "limit": budget.limit_nano,
        "spent": budget.spent_nano,
        "log": sum(costs),
        "released": len(released),
        "refused": sum(line[0] == "refused" for line in said),
        "failed": [line[2] for line in said if line[0] == "failed"],
        "open": len(session.verify().open_reservations),
        "problems": problems,
    }


def two_servers(place: str, clients: int) -> dict[str, object]:
    """Two servers whose clients, half at each, spend one limit that stops most of them."""
    where = dataset(place, "two")
    create(where, epsilon=1.0, policy="direct")
    started = [start_server(where, clients // 2, 2, first) for first in (0, 10**6)]
    said: list[list[str]] = []
    for child, reader in started:
        said += listen(reader)
        os.waitpid(child, 0)
    return books(where, said)


def two_servers_killed(place: str, runs: int) -> dict[str, object]:
    """One of two servers is killed at a random instant, and its clients go to the other one."""
    problems: list[str] = []
    failed: list[str] = []
    unfinished = killed = 0
    rng = random.Random()
    for run in range(runs):
        where = dataset(place, f"pair_{run}")
        create(where, epsilon=1000.0)
        begun = time.perf_counter()
        ask(eke.open(where, analyst="ann"), 0, "warm")
        duration = time.perf_counter() - begun
        started = [start_server(where, 2, 3, first) for first in (100, 200)]
        time.sleep(rng.uniform(0.2, 4.0) * duration)
        dies = rng.randrange(2)
        os.kill(started[dies][0], signal.SIGKILL)
        said: list[list[str]] = []
        for at, (child, reader) in enumerate(started):
            said += listen(reader)
            status = os.waitpid(child, 0)[1]
            killed += at == dies and os.WIFSIGNALED(status)
        open_before = len(eke.open(where).verify().open_reservations)
        unfinished += open_before > 0
        # Everybody who got no answer retries, twice, at a server that has seen nothing of it.
        answered = {line[1] for line in said if line[0] != "started"}
        for number in sorted({line[1] for line in said if line[0] == "started"} - answered):
            texts = set()
            for _ in range(2):
                answer = eke.open(where, analyst="ann").ask(
                    question(int(number)), within=WITHIN, key=f"key-{number}"
                )
                texts.add(json.dumps([answer.value, *answer.interval]))
            if len(texts) != 1:
                problems.append(f"{number} got several answers")
        figures = books(where, said)
        failed += figures["failed"]
        problems += figures["problems"]
        keys = [e.about["key"] for e in eke.open(where).ledger_entries() if "key" in e.about]
        if figures["open"] or figures["spent"] != figures["log"] or len(set(keys)) != len(keys):
            problems.append(f"run {run}: a charge without an answer, or two for one key")
    return {"killed": killed, "unfinished": unfinished, "failed": failed, "problems": problems}


SCENARIOS: dict[str, Callable[[str, int], dict[str, object]]] = {
    "race_epsilon": lambda place, n: race(place, n, workers=WORKERS, epsilon=1.0),
    "race_rho": lambda place, n: race(place, n, workers=WORKERS, rho=0.5),
    "same_key": same_key,
    "two_servers": two_servers,
    "two_servers_killed": two_servers_killed,
}

if __name__ == "__main__":
    scenario, where, count = sys.argv[1:]
    sys.stdout.write(json.dumps(SCENARIOS[scenario](where, int(count))))
