"""Requests per second of the server with 20 clients, next to a bare endpoint in the same run.

The history holds 1,000 measurements. Free answers are asked from it, each question for the first
time since the server was started, then again and again; paid ones are new questions. The bare
endpoint is FastAPI with one durable INSERT (SQLite, synchronous=FULL), the least that a server
which records its requests does. Clients are threads of this process, the
server is a process of its own; both share the machine, so that only ratios mean something. Bare and
free requests take turns of a second and a half, so that whatever else the machine does slows both.
"server ms" is processor time of the server's process for one request (Linux only). The same
questions are repeated by 50 clients over HTTP and over PostgreSQL's protocol, by turns as well.

Last, one analyst asks known questions, by turns alone and while another account lets the server
work on the largest previews it accepts, several at a time and without pause. The ratio of the two
99th percentiles says how much one account's previews slow another's free answers down.

    python benchmarks/service.py [--measurements 1000] [--seconds 9]
"""

from __future__ import annotations

import argparse
import http.client
import json
import multiprocessing
import os
import socket
import sqlite3
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from itertools import count, cycle
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import psycopg
import uvicorn
from fastapi import FastAPI

import eke
from eke.service import Access, Account

CLIENTS = 20
ROUND_SECONDS = 1.5
BARE, FIRST = "bare FastAPI + SQLite FULL", "eke, free, first time"
AGAIN, PAID = "eke, free, again", "eke, paid"
MANY_HTTP, MANY_PG = "eke, free, again, 50 × HTTP", "eke, free, again, 50 × psql's"
ALONE, BESIDE = "eke, free, one client alone", "eke, free, beside previews"
PREVIEWERS, MANY = 3, 50
DOMAIN = eke.Domain(age=eke.Integer(0, 89), sex=eke.Categorical("F", "M"), hours=eke.Integer(0, 59))


def people(rows: int = 50_000) -> pd.DataFrame:
    """A table, the same each time."""
    draw = np.random.default_rng(7)
    return pd.DataFrame(
        {
            "age": draw.integers(0, 90, rows),
            "sex": np.where(draw.random(rows) < 0.5, "F", "M"),
            "hours": draw.integers(0, 60, rows),
        }
    )


def question(number: int) -> dict[str, Any]:
    """A box in age and hours; a thousand of them are all different."""
    draw = np.random.default_rng(number)
    a, b = sorted(draw.integers(0, 90, 2).tolist())
    c, d = sorted(draw.integers(0, 60, 2).tolist())
    sex = " AND sex = 'F'" if number % 2 else ""
    where = f"age BETWEEN {a} AND {b} AND hours BETWEEN {c} AND {d}{sex}"
    return {"sql": f"SELECT COUNT(*) FROM t WHERE {where}", "within": 300}  # noqa: S608 - eke reads it


def largest_preview(number: int) -> dict[str, Any]:
    """Many columns in every group, each time to another accuracy: nearly all that is accepted."""
    columns = ", ".join(f"COUNT(*) FILTER (WHERE hours < {6 * n})" for n in range(1, 10))
    return {"sql": f"SELECT age, {columns} FROM t GROUP BY age", "within": 1.0 + number / 1000}  # noqa: S608


def serve_eke(folder: str, port: int) -> None:
    """The server as its command starts it, on the dataset and accounts in a folder."""
    options = ["--port", str(port), "--access", f"{folder}/access.db", "--rate", str(10**9)]
    options += ["--pg", f"127.0.0.1:{(Path(folder) / 'pg').read_text()}"]
    log = os.open(Path(folder) / "server.log", os.O_WRONLY | os.O_CREAT)
    os.dup2(log, 1)
    os.dup2(log, 2)
    command = [sys.executable, "-m", "eke", "serve", f"{folder}/t.eke", *options]
    os.execv(sys.executable, command)  # noqa: S606 - the command itself


def serve_bare(folder: str, port: int) -> None:
    """The least that a server does which records its requests durably."""
    app = FastAPI()
    connection = sqlite3.connect(
        Path(folder) / "bare.db", check_same_thread=False, isolation_level=None
    )
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("CREATE TABLE request (body TEXT)")
    lock = threading.Lock()

    @app.post("/ask")
    def ask(body: dict[str, Any]) -> dict[str, Any]:
        with lock:
            connection.execute("INSERT INTO request VALUES (?)", (json.dumps(body),))
        return {"value": 1.0, "low": 0.0, "high": 2.0}

    @app.get("/health")
    def health() -> dict[str, str]:
        return {"status": "ok"}

    uvicorn.run(app, port=port, log_config=None, access_log=False)


@dataclass(frozen=True)
class Target:
    """A server in a process of its own, and what to send to it."""

    port: int
    process: int
    path: str
    headers: dict[str, str]
    postgresql: dict[str, Any] = field(default_factory=dict)

    def processor_seconds(self) -> float:
        """Processor time that the server has used so far."""
        stat = Path(f"/proc/{self.process}/stat")
        if not stat.exists():
            return float("nan")
        fields = stat.read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def running(
    target: Callable[[str, int], None], folder: Path, path: str, headers: dict[str, str]
) -> Iterator[Target]:
    """A server in a process of its own."""
    port, pg = free_port(), free_port()
    (folder / "pg").write_text(str(pg))
    process = multiprocessing.get_context("spawn").Process(target=target, args=(str(folder), port))
    process.start()
    while True:
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
            connection.request("GET", "/health")
            connection.getresponse().read()
            connection.close()
            break
        except OSError:
            time.sleep(0.1)
    try:
        token = headers.get("Authorization", "").removeprefix("Bearer ")
        words = {"host": "127.0.0.1", "port": pg, "user": "ann", "password": token, "dbname": "t"}
        told = {**words, "options": "-c eke.within=300"}
        yield Target(port, process.pid or 0, path, headers, told)
    finally:
        process.terminate()
        process.join()


@dataclass
class Tally:
    """What some rounds of load have measured."""

    latencies: list[float] = field(default_factory=list)
    seconds: float = 0.0
    processor: float = 0.0

    def row(self) -> dict[str, float]:
        """Rate, latencies in milliseconds and processor time of one request."""
        cuts = statistics.quantiles(self.latencies, n=100)
        return {
            "requests": len(self.latencies),
            "per_second": len(self.latencies) / self.seconds,
            "p50_ms": 1000 * cuts[49],
            "p99_ms": 1000 * cuts[98],
            "server_ms": 1000 * self.processor / len(self.latencies),
        }


@contextmanager
def previewing(target: Target, headers: dict[str, str], sizes: list[int]) -> Iterator[None]:
    """While it lasts, another account previews without pause; the statuses are collected."""
    over, numbers = threading.Event(), count()
    path = target.path.replace("/ask", "/preview")

    def client() -> None:
        connection = http.client.HTTPConnection("127.0.0.1", target.port, timeout=600)
        while not over.is_set():
            body = json.dumps(largest_preview(next(numbers)))
            connection.request("POST", path, body, headers)
            response = connection.getresponse()
            response.read()
            sizes.append(response.status)
        connection.close()

    threads = [threading.Thread(target=client) for _ in range(PREVIEWERS)]
    for thread in threads:
        thread.start()
    time.sleep(0.5)  # the first of them is under way
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join()


Send: TypeAlias = Callable[[dict[str, Any]], None]
Opening: TypeAlias = Callable[[Target], AbstractContextManager[Send]]


@contextmanager
def over_http(target: Target) -> Iterator[Send]:
    """A connection over which bodies are posted."""
    with closing(http.client.HTTPConnection("127.0.0.1", target.port, timeout=300)) as connection:

        def send(body: dict[str, Any]) -> None:
            connection.request("POST", target.path, json.dumps(body), target.headers)
            response = connection.getresponse()
            response.read()
            assert response.status == 200, response.status

        yield send


@contextmanager
def over_postgresql(target: Target) -> Iterator[Send]:
    """A connection of psycopg's, over which the same questions are asked."""
    with psycopg.connect(**target.postgresql, autocommit=True) as connection:

        def send(body: dict[str, Any]) -> None:
            connection.execute(body["sql"]).fetchall()

        yield send


def load(
    target: Target,
    bodies: Iterator[dict[str, Any]],
    seconds: float,
    tally: Tally,
    *,
    clients: int = CLIENTS,
    opening: Opening = over_http,
) -> None:
    """Let clients send these bodies, one after the other each, for some time or to the end."""
    lock = threading.Lock()

    def client(send: Send, stop: float) -> None:
        own = []
        while time.perf_counter() < stop:
            with lock:
                asked = next(bodies, None)
            if asked is None:
                break
            began = time.perf_counter()
            send(asked)
            own.append(time.perf_counter() - began)
        with lock:
            tally.latencies.extend(own)

    with ExitStack() as opened:
        sending = [opened.enter_context(opening(target)) for _ in range(clients)]
        began, used = time.perf_counter(), target.processor_seconds()
        threads = [
            threading.Thread(target=client, args=(send, began + seconds)) for send in sending
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    tally.seconds += time.perf_counter() - began
    tally.processor += target.processor_seconds() - used


def prepare(folder: Path, measurements: int) -> tuple[list[dict[str, Any]], list[str]]:
    """A dataset with a history, the questions in it, and the tokens of two accounts."""
    people().to_parquet(folder / "people.parquet")
    session = eke.create(folder / "t.eke", folder / "people.parquet", DOMAIN, epsilon=1e6)
    known: list[dict[str, Any]] = []
    while len(session.history) < measurements:
        body = question(len(known))
        session.ask(body["sql"], within=body["within"], policy="direct")
        known.append(body)
    access = Access(folder / "access.db")
    tokens = []
    for name in ("ann", "ben"):
        access.add(Account(name, "analyst"))
        tokens.append(access.new_token(name).text)
    access.close()
    return known, tokens


def main() -> None:
    """Print the table, then the same as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--measurements", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=9.0)
    options = parser.parse_args()
    tallies = {
        name: Tally() for name in (BARE, FIRST, AGAIN, MANY_HTTP, MANY_PG, PAID, ALONE, BESIDE)
    }
    statuses: list[int] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        known, tokens = prepare(folder, options.measurements)
        plain = {"Content-Type": "application/json"}
        allowed, other = ({**plain, "Authorization": f"Bearer {one}"} for one in tokens)
        with (
            running(serve_bare, folder, "/ask", plain) as bare,
            running(serve_eke, folder, "/api/v1/datasets/t/ask", allowed) as own,
        ):
            again = cycle(known)
            load(bare, again, 1.0, Tally())
            load(own, iter(known[:1]), 60.0, Tally())  # the first question loads the history
            load(own, iter(known[1:]), 600.0, tallies[FIRST])
            for _ in range(max(1, round(options.seconds / ROUND_SECONDS))):
                load(bare, again, ROUND_SECONDS, tallies[BARE])
                load(own, again, ROUND_SECONDS, tallies[AGAIN])
                load(own, again, ROUND_SECONDS, tallies[MANY_HTTP], clients=MANY)
                load(
                    own,
                    again,
                    ROUND_SECONDS,
                    tallies[MANY_PG],
                    clients=MANY,
                    opening=over_postgresql,
                )
            for _ in range(max(1, round(options.seconds / ROUND_SECONDS / 3))):
                load(own, again, 3 * ROUND_SECONDS, tallies[ALONE], clients=1)
                with previewing(own, other, statuses):
                    load(own, again, 3 * ROUND_SECONDS, tallies[BESIDE], clients=1)
            new = ({**question(10**6 + i), "within": 5} for i in count())
            load(own, new, options.seconds, tallies[PAID])
    found = {label: tally.row() for label, tally in tallies.items()}
    print(f"{options.measurements} measurements, {CLIENTS} clients")
    titles = ("requests/s", "p50 ms", "p99 ms", "server ms", "bare / this")
    print(f"{'':28}" + "".join(f"{title:>13}" for title in titles))
    for label, row in found.items():
        figures = [row["per_second"], row["p50_ms"], row["p99_ms"]]
        ratio = found[BARE]["per_second"] / row["per_second"]
        print(
            f"{label:28}"
            + "".join(f"{figure:13.1f}" for figure in figures)
            + f"{row['server_ms']:13.2f}{ratio:13.2f}"
        )
    slowed = found[BESIDE]["p99_ms"] / found[ALONE]["p99_ms"]
    answered = {status: statuses.count(status) for status in sorted(set(statuses))}
    print(f"previews by status: {answered}; p99 beside them / alone: {slowed:.2f}")
    share = found[MANY_PG]["per_second"] / found[MANY_HTTP]["per_second"]
    print(f"over PostgreSQL's protocol / over HTTP, with {MANY} clients each: {share:.2f}")
    print(json.dumps({**found, "previews": answered, "slowed": slowed, "share": share}))


if __name__ == "__main__":
    main()
