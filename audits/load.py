"""Two servers under mixed load, and what must hold at the end whatever happened in between.

Both are processes started by `eke serve`, with one ledger and the same accounts in PostgreSQL.
Clients ask for free, paid, refused and senseless things, repeat keys at the other server, release
tables and publish rows. At the end what was spent is the sum of the log, the ledger is intact,
nothing was answered by a 5xx, and all answers to one key are the same bytes.
"""

from __future__ import annotations

import os
import random
import secrets
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

import eke
from audits.place import memory_folder
from audits.row import Row, Scale, number
from eke.service import Access, Account
from tests.postgresql_server import running_server
from tests.service import COUNT, DOMAIN, people, serve_command

PEOPLE = "/api/v1/datasets/people"
CLIENTS = 6
EPSILON = 20.0
#: The positive control: a server to which every key is new.
FORGETFUL = """
from eke.session import Session
plain = Session.ask
Session.ask = lambda self, *words, key=None, **named: plain(self, *words, **named)
"""
LDA = {"mechanism": "lda", "epsilon": 0.05, "options": {"target": "sex"}}


@dataclass
class Seen:
    """What clients saw, and what the ledger holds at the end."""

    statuses: Counter[int] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    answers: dict[str, set[str]] = field(default_factory=dict)
    broken: int = 0  # requests without any reply
    spent: int = 0
    log: int = 0
    limit: int = 0
    open: int = 0
    problems: tuple[str, ...] = ()

    def violations(self) -> list[str]:
        """What does not hold."""
        unequal = sum(len(texts) > 1 for texts in self.answers.values())
        found = {
            "5xx": sum(n for status, n in self.statuses.items() if status >= 500),
            "requests without a reply": self.broken,
            "keys with several answers": unequal,
            "spent is not the sum of the log": int(self.spent != self.log),
            "over the limit": int(self.spent > self.limit),
            "charges without an answer": self.open,
            "problems of the ledger": len(self.problems),
        }
        return [f"{count} {name}" for name, count in found.items() if count]


class Client:
    """An analyst who sends one request after another, at either server."""

    _lock = threading.Lock()  # of what all of them have seen

    def __init__(self, urls: tuple[str, str], token: str, number: int, seen: Seen) -> None:
        self._urls, self._seen, self._number = urls, seen, number
        self._rng = random.Random()  # noqa: S311 - it chooses what to ask
        self._http = httpx.Client(headers={"Authorization": f"Bearer {token}"}, timeout=60)

    def run(self, until: float) -> None:
        turn = 0
        with self._http:
            while time.monotonic() < until:
                turn += 1
                try:
                    self._once(turn)
                except httpx.TransportError:
                    with self._lock:
                        self._seen.broken += 1

    def _once(self, turn: int) -> None:
        kind = self._rng.choices(
            ["paid", "free", "repeated", "refused", "senseless", "tables", "rows", "read"],
            [20, 30, 15, 10, 10, 2, 1, 12],
        )[0]
        kind = "paid" if turn == 1 else kind
        with self._lock:
            self._seen.kinds[kind] += 1
        key = f"{self._number}-{turn}"
        age = self._rng.randrange(17, 27)
        ask = f"{PEOPLE}/ask"
        if kind == "paid":
            within = self._rng.uniform(60, 90)
            self._post(
                ask, {"sql": f"{COUNT} WHERE age = {age}", "within": within}, key, twice=True
            )
        elif kind == "free":
            self._post(ask, {"sql": COUNT, "within": 400}, None)
        elif kind == "repeated":  # everybody's key is their own
            body = {"sql": f"{COUNT} WHERE age = {age}", "within": 95}
            self._post(ask, body, f"{self._number}-age-{age}", twice=True)
        elif kind == "refused":
            self._post(ask, {"sql": COUNT, "within": 1e-6}, None)
        elif kind == "senseless":
            self._post(ask, {"sql": "SELECT height FROM people", "within": -1}, None)
        elif kind == "tables":
            body = {"workload": {"all_marginals": 1}, "budget": 0.02}
            self._post(f"{PEOPLE}/releases", body, key, twice=True)
        elif kind == "rows":
            self._post(f"{PEOPLE}/publications", LDA, key)
        else:
            self._note(self._http.get(f"{self._rng.choice(self._urls)}{PEOPLE}/budget"))

    def _post(self, path: str, body: Any, key: str | None, *, twice: bool = False) -> None:
        headers = {} if key is None else {"Idempotency-Key": key}
        order = self._rng.sample(self._urls, 2)[: 1 + twice]
        for url in order:
            reply = self._http.post(f"{url}{path}", json=body, headers=headers)
            self._note(reply)
            if twice and reply.status_code == 200:
                with self._lock:
                    self._seen.answers.setdefault(str(key), set()).add(reply.text)

    def _note(self, reply: httpx.Response) -> None:
        with self._lock:
            self._seen.statuses[reply.status_code] += 1


@contextmanager
def two_servers(before: str = "") -> Iterator[tuple[tuple[str, str], str, list[str], Path]]:
    """(addresses, ledger, tokens, table) of two servers with one ledger and the same accounts.

    `before` is Python that both servers run first.
    """
    with ExitStack() as stack:
        folder = stack.enter_context(memory_folder())
        database = stack.enter_context(running_server())
        table = folder / "people.csv"
        people().to_csv(table, index=False)
        ledger, accounts = (database.address(f"t_{secrets.token_hex(8)}") for _ in range(2))
        eke.create(ledger, table, DOMAIN, epsilon=EPSILON, analyst="cleo")
        tokens = []
        with closing(Access(accounts)) as access:
            for place in range(CLIENTS):
                access.add(Account(f"ann-{place}", "analyst"))
                tokens.append(access.new_token(f"ann-{place}").text)
        words = (f"people={ledger}", "--access", accounts, "--rate", "1000000")
        urls = []
        for _ in range(2):
            process, url = stack.enter_context(serve_command(*words, before=before))
            stack.enter_context(read_log(process))
            urls.append(url)
        yield (urls[0], urls[1]), ledger, tokens, table


@contextmanager
def read_log(process: subprocess.Popen[str]) -> Iterator[None]:
    """Within the block somebody reads what the process says: it would wait on a full pipe."""
    assert process.stderr is not None
    descriptor = process.stderr.fileno()

    def read() -> None:
        while os.read(descriptor, 65_536):
            pass

    reader = threading.Thread(target=read)
    reader.start()
    try:
        yield
    finally:
        process.kill()
        reader.join()


def mixed_load(seconds: float, before: str = "") -> Seen:
    """What was seen and is left of so many seconds of load."""
    seen = Seen()
    with two_servers(before) as (urls, ledger, tokens, table):
        until = time.monotonic() + seconds
        clients = [Client(urls, token, place, seen) for place, token in enumerate(tokens)]
        threads = [threading.Thread(target=client.run, args=(until,)) for client in clients]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        finish_jobs(urls, tokens)
        session = eke.open(ledger, data=str(table))
        entries, report = session.ledger_entries(), session.verify()
        seen.spent, seen.limit = session.budget.spent_nano, session.budget.limit_nano
        seen.log = sum(int(str(e.payload["cost"])) for e in entries if e.kind == "reserve")
        seen.open = len(report.open_reservations)
        seen.problems = report.problems
    return seen


def finish_jobs(urls: tuple[str, str], tokens: list[str]) -> None:
    """Wait until no publication is under way."""
    for token in tokens:
        headers = {"Authorization": f"Bearer {token}"}
        while True:
            reply = httpx.get(f"{urls[0]}{PEOPLE}/jobs", headers=headers, timeout=60)
            if not any(word in reply.text for word in ('"queued"', '"running"')):
                break
            time.sleep(0.2)


def load(scale: Scale) -> tuple[Row, ...]:
    """Ten minutes at full scale."""
    seconds = scale.of(600, 4)
    seen = mixed_load(seconds)
    broken = mixed_load(scale.of(30, 4), FORGETFUL).violations()
    requests = sum(seen.statuses.values())
    found = seen.violations()
    return (
        Row(
            title="load with invariants, two servers on one ledger",
            samples=f"{seconds} s, {number(requests)} requests of {len(seen.kinds)} kinds",
            figure=", ".join(found)
            or (
                f"0 violations: no 5xx, spent = sum of the log, ledger intact, "
                f"{number(len(seen.answers))} keys with one answer each"
            ),
            control=f"servers to which every key is new: {', '.join(broken) or 'missed'}",
            passed=not found and requests > 0 and seen.spent > 0,
            caught=bool(broken),
        ),
    )
