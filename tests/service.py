"""A server in process with one account of each kind, for tests."""

from __future__ import annotations

import asyncio
import json as json_module
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import httpx
import pandas as pd
import pytest
import uvicorn
from fastapi import FastAPI
from fastapi.routing import APIRoute

import eke
from eke.publish import Published
from eke.service import Access, Account, Datasets, Reply, Settings, create_app, send
from eke.service.pace import Pace
from eke.session import Session

DOMAIN = eke.Domain(
    sex=eke.Categorical("Female", "Male"),
    age=eke.Integer(17, 26),
    city=eke.Categorical("<script>alert(1)</script>", "b & c", "d"),
)
COUNT = "SELECT COUNT(*) FROM people"
Serving: TypeAlias = AbstractContextManager[tuple[subprocess.Popen[str], str]]
BY_SEX = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"


def people(rows: int = 400) -> pd.DataFrame:
    """A table whose rows are fixed by arithmetic."""
    cities = ["<script>alert(1)</script>", "b & c", "d"]
    return pd.DataFrame(
        {
            "sex": ["Female" if n % 3 == 0 else "Male" for n in range(rows)],
            "age": [17 + n % 10 for n in range(rows)],
            "city": [cities[n // 7 % 3] for n in range(rows)],
        }
    )


class Clock:
    """A time that tests move."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Server:
    """An application with its parts, and the tokens of its accounts by name."""

    app: FastAPI
    loop: asyncio.Runner
    access: Access
    session: eke.Session
    clock: Clock
    folder: Path
    tokens: dict[str, str] = field(default_factory=dict)

    def call(
        self,
        method: str,
        path: str,
        who: str | None = None,
        json: Any = None,
        **headers: str,
    ) -> Reply:
        """The response to a request of an account, by its token."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if who is not None:
            sent["Authorization"] = f"Bearer {self.tokens.get(who, who)}"
        if json is not None:
            sent["Content-Type"] = "application/json"
        body = b"" if json is None else json_module.dumps(json).encode()
        return self.send(method, path, sent, body)

    def send(self, method: str, path: str, headers: dict[str, str], body: bytes = b"") -> Reply:
        return self.loop.run(send(self.app, method, path, headers, body))

    def ask(self, sql: str, within: float | None, who: str = "ann", **headers: str) -> Reply:
        body = {"sql": sql, "within": within}
        return self.call("POST", "/api/v1/datasets/people/ask", who, body, **headers)


def routes_of(app: FastAPI) -> list[APIRoute]:
    """Every route of an application, those of included routers and hidden ones, too.

    A kind of route that is not known here is an error rather than left out.
    """
    found: list[APIRoute] = []
    left: list[Any] = list(app.routes)
    while left:
        one = left.pop(0)
        if isinstance(one, APIRoute):
            found.append(one)
        elif hasattr(one, "original_router"):  # how FastAPI keeps routers that were included
            left += one.original_router.routes
        else:
            assert getattr(one, "path", None) == app.openapi_url, one
    described = {
        (m.upper(), path) for path, methods in app.openapi()["paths"].items() for m in methods
    }
    listed = {(method, one.path) for one in found for method in one.methods or ()}
    assert described <= listed, described - listed
    return found


def finished(server: Server, job: dict[str, Any], who: str = "cleo") -> Any:
    """The publication that a job has made, when it has."""
    place = f"/api/v1/datasets/{job['dataset']}/jobs/{job['id']}"
    while (found := server.call("GET", place, who).json())["state"] in ("queued", "running"):
        time.sleep(0.02)
    assert found["state"] == "done", found
    return found["publication"]


@contextmanager
def serving(
    folder: Path,
    epsilon: float = 1.0,
    *,
    access: str | None = None,
    pace: Pace | None = None,
    table: pd.DataFrame | None = None,
    domain: eke.Domain = DOMAIN,
    **settings: Any,
) -> Iterator[Server]:
    """A server with curator cleo, analysts ann and ben, auditor otto; ben sees no dataset."""
    data = people() if table is None else table
    session = eke.create(folder / "people.eke", data, domain, epsilon=epsilon, analyst="server")
    clock = Clock()
    accounts = Access(folder / "access.db" if access is None else access, clock)
    roles = {"cleo": "curator", "ann": "analyst", "ben": "analyst", "otto": "auditor"}
    tokens = {}
    for name, role in roles.items():
        accounts.add(Account(name, role, ("other",) if name == "ben" else None))  # type: ignore[arg-type]
        tokens[name] = accounts.new_token(name).text
    # At once, unless a test is about that: the suite asks thousands of paid questions.
    chosen = Settings(folder=folder, secure_cookies=False, **{"answer_step": 0.0, **settings})
    app = create_app(Datasets([("people", session)]), accounts, chosen, pace)
    with asyncio.Runner() as loop:
        yield Server(app, loop, accounts, session, clock, folder, tokens)
    app.state.eke.jobs.stop()
    accounts.close()


@contextmanager
def listening(app: FastAPI) -> Iterator[str]:
    """The address of a real server of the application, on a free port, in a thread."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False))
    thread = threading.Thread(target=server.run, args=([listener],))
    thread.start()
    try:
        while not server.started:
            time.sleep(0.01)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        listener.close()


@contextmanager
def serve_command(
    *words: str,
    folder: Path | None = None,
    variables: Mapping[str, str] | None = None,
    before: str = "",
    log: Path | None = None,
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """(process, address) of `eke serve` with these words, once it answers; killed at the end.

    `before` is Python that the process runs first. What it says is in its pipe, which holds some
    hundred lines before the process waits for a reader, or in a file.
    """
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    code = f"{before}\nfrom eke.cli import main; main()"
    with ExitStack() as stack:
        said = subprocess.PIPE if log is None else stack.enter_context(log.open("w"))
        started = subprocess.Popen(
            [sys.executable, "-c", code, "serve", *words, "--port", str(port)],
            cwd=folder,
            env={**os.environ, **(variables or {})},
            stderr=said,
            text=True,
        )
    url = f"http://127.0.0.1:{port}"
    try:
        while True:
            assert started.poll() is None, started.communicate()[1]
            try:
                httpx.get(f"{url}/health")
            except httpx.TransportError:
                time.sleep(0.1)
                continue
            break
        yield started, url
    finally:
        started.kill()
        started.communicate()


def hold_publications(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """While it is not set, every publication waits before it looks at its request."""
    opened = threading.Event()
    plain = Session.publish

    def waiting(self: Session, *words: Any, progress: Any, **named: Any) -> Published:
        opened.wait(120)
        return plain(self, *words, progress=progress, **named)

    monkeypatch.setattr(Session, "publish", waiting)
    return opened
