"""Requests per second of the server with 20 clients, next to a bare endpoint in the same run.

The history holds 1,000 measurements. Free answers are asked again from it; paid ones are new
questions. The bare endpoint is FastAPI with one durable INSERT (SQLite, synchronous=FULL), the
least that a server which records its requests does. Clients are threads of this process, the
server is a process of its own; both share the machine, so that only ratios mean something.

    python benchmarks/service.py [--measurements 1000] [--seconds 8]
"""

from __future__ import annotations

import argparse
import http.client
import json
import multiprocessing
import socket
import sqlite3
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import uvicorn
from fastapi import FastAPI

import eke
from eke.service import Access, Account, Datasets, Settings, create_app

CLIENTS = 20
DOMAIN = eke.Domain(age=eke.Integer(0, 89), sex=eke.Categorical("F", "M"), hours=eke.Integer(0, 59))


def people(rows: int = 50_000) -> pd.DataFrame:
    """A table that every process makes anew, the same each time."""
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


def serve_eke(folder: str, port: int) -> None:
    """The server, on the dataset and accounts in a folder."""
    session = eke.open(Path(folder) / "t.eke", data=people())
    settings = Settings(requests_per_minute=10**9)
    app = create_app(Datasets([("t", session)]), Access(Path(folder) / "access.db"), settings)
    uvicorn.run(app, port=port, log_config=None, access_log=False)


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


@contextmanager
def running(target: Callable[[str, int], None], folder: Path) -> Iterator[int]:
    """The port of a server in a process of its own."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
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
        yield port
    finally:
        process.terminate()
        process.join()


def load(
    port: int, path: str, headers: dict[str, str], bodies: Iterator[dict[str, Any]], seconds: float
) -> dict[str, float]:
    """Rate and latencies of 20 clients that send these bodies, one after the other each."""
    latencies: list[float] = []
    lock, stop = threading.Lock(), time.perf_counter() + seconds

    def client() -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        own = []
        while time.perf_counter() < stop:
            with lock:
                body = json.dumps(next(bodies))
            began = time.perf_counter()
            connection.request("POST", path, body, headers)
            response = connection.getresponse()
            response.read()
            assert response.status == 200, response.status
            own.append(time.perf_counter() - began)
        connection.close()
        with lock:
            latencies.extend(own)

    began = time.perf_counter()
    threads = [threading.Thread(target=client) for _ in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    took = time.perf_counter() - began
    cuts = statistics.quantiles(latencies, n=100)
    return {
        "requests": len(latencies),
        "per_second": len(latencies) / took,
        "p50_ms": 1000 * cuts[49],
        "p99_ms": 1000 * cuts[98],
    }


def main() -> None:
    """Print the table, then the same as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--measurements", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=8.0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        session = eke.create(folder / "t.eke", people(), DOMAIN, epsilon=1e6)
        asked = 0
        known: list[dict[str, Any]] = []
        while len(session.history) < options.measurements:
            body = question(asked)
            session.ask(body["sql"], within=body["within"], policy="direct")
            known.append(body)
            asked += 1
        access = Access(folder / "access.db")
        access.add(Account("ann", "analyst"))
        token = access.new_token("ann").text
        access.close()
        headers = {"Content-Type": "application/json"}
        found = {}
        with running(serve_bare, folder) as port:
            bodies = (known[i % len(known)] for i in count())
            found["bare FastAPI + SQLite FULL"] = load(
                port, "/ask", headers, bodies, options.seconds
            )
        headers["Authorization"] = f"Bearer {token}"
        with running(serve_eke, folder) as port:
            path = "/api/v1/datasets/t/ask"
            bodies = (known[i % len(known)] for i in count())
            load(port, path, headers, bodies, 1.0)  # the first question loads the history
            found["eke, free"] = load(port, path, headers, bodies, options.seconds)
            new = ({**question(10**6 + i), "within": 5} for i in count())
            found["eke, paid"] = load(port, path, headers, new, options.seconds)
    bare = found["bare FastAPI + SQLite FULL"]["per_second"]
    print(f"{options.measurements} measurements, {CLIENTS} clients")
    print(f"{'':28}{'requests/s':>12}{'p50 ms':>10}{'p99 ms':>10}{'bare / this':>13}")
    for label, row in found.items():
        ratio = bare / row["per_second"]
        print(
            f"{label:28}{row['per_second']:12.1f}{row['p50_ms']:10.1f}{row['p99_ms']:10.1f}"
            f"{ratio:13.2f}"
        )
    print(json.dumps(found))


if __name__ == "__main__":
    main()
