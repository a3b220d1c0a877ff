"""Who comes in, and what becomes of whoever should not."""

from __future__ import annotations

import asyncio
import struct
import subprocess
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
from psycopg import errors

from eke.errors import ServiceError
from eke.service.pace import Pace
from eke.wire import DoorPlace, door
from eke.wire.clerk import Clerk
from tests.wire import Raw, Wire, open_door


@pytest.mark.parametrize(
    ("who", "more", "message"),
    [
        ("ann", {"password": "eke_0_wrong"}, "password authentication failed"),
        ("ann", {"user": "cleo"}, "password authentication failed"),
        ("ann", {"user": "nobody"}, "password authentication failed"),
        ("ann", {"dbname": "other"}, "does not exist"),
        ("ben", {}, "does not exist"),
        ("ann", {"options": "-c eke.within=0"}, "eke.within is a positive number"),
        ("ann", {"options": "-c nothing=0"}, "unrecognized configuration parameter"),
        ("ann", {"client_encoding": "latin1"}, "UTF-8 only"),
        ("ann", {"replication": "database"}, "nothing is replicated"),
        ("ann", {"sslmode": "require"}, "server does not support SSL"),
    ],
)
def test_who_does_not_come_in(wire: Wire, who: str, more: dict[str, Any], message: str) -> None:
    with pytest.raises(psycopg.OperationalError, match=message):
        psycopg.connect(**wire.words(who, **more))


def test_an_auditor_looks_and_does_not_ask(wire: Wire) -> None:
    before = wire.session.budget.spent
    with wire.connect("otto") as client:
        with pytest.raises(errors.InsufficientPrivilege):
            client.execute("SELECT COUNT(*) FROM people")
        assert client.execute("EXPLAIN SELECT COUNT(*) FROM people").fetchall()
    assert wire.session.budget.spent == before


def test_a_token_that_is_revoked_ends_it(wire: Wire) -> None:
    token = wire.access.new_token("ann")
    with wire.connect(password=token.text) as client:
        client.execute("SELECT COUNT(*) FROM people")
        wire.access.revoke(token.identity)
        with pytest.raises(errors.InvalidAuthorizationSpecification):
            client.execute("SELECT COUNT(*) FROM people")


def test_wrong_passwords_and_haste_are_limited(folder: Path) -> None:
    with open_door(folder, requests_per_minute=5, failures_per_minute=3) as wire:
        for _ in range(3):
            with pytest.raises(psycopg.OperationalError, match="authentication failed"):
                psycopg.connect(**wire.words(password="eke_1_2"))
        with pytest.raises(psycopg.OperationalError, match="too many wrong passwords"):
            psycopg.connect(**wire.words(password="eke_1_2"))
        with wire.connect() as client:  # a right one is never blocked
            for _ in range(5):
                client.execute("SELECT COUNT(*) FROM people")
            with pytest.raises(errors.ConfigurationLimitExceeded, match="wait"):
                client.execute("SELECT COUNT(*) FROM people")


def test_connections_are_bounded(wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(door, "MOST_OF_AN_ACCOUNT", 3)
    with ExitStack() as opened:
        for _ in range(3):
            opened.enter_context(wire.connect())
        with pytest.raises(psycopg.OperationalError, match="at most 3 connections"):
            wire.connect()
        opened.enter_context(wire.connect("cleo"))
        monkeypatch.setattr(door, "MOST_CONNECTIONS", 4)
        with pytest.raises(psycopg.OperationalError, match="too many connections"):
            wire.connect("cleo")
    monkeypatch.setattr(door, "MOST_CONNECTIONS", 200)
    for _ in range(50):  # places are free again, once the server has noticed
        try:
            wire.connect().close()
        except psycopg.OperationalError:
            time.sleep(0.1)
        else:
            return
    pytest.fail("no place became free")


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("certificate")
    key, made = folder / "key.pem", folder / "certificate.pem"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"),
            *("-keyout", str(key), "-out", str(made), "-subj", "/CN=localhost"),
            *("-addext", "subjectAltName=IP:127.0.0.1"),
        ],
        check=True,
        capture_output=True,
    )
    return made, key


def test_passwords_travel_within_tls(folder: Path, certificate: tuple[Path, Path]) -> None:
    made, key = certificate
    with open_door(folder, certificate=made, key=key, host="0.0.0.0") as wire:
        trusted: dict[str, Any] = {"sslmode": "verify-full", "sslrootcert": str(made)}
        with wire.connect(**trusted) as client:
            assert client.pgconn.ssl_in_use
            assert len(client.execute("SELECT COUNT(*) FROM people").fetchall()) == 1
        with pytest.raises(psycopg.OperationalError, match="within TLS only"):
            wire.connect(sslmode="disable")
        with Raw(wire) as raw:  # bytes that came before the handshake are nobody's
            raw.socket.sendall(struct.pack("!ii", 8, 80877103) + b"somebody else's")
            assert raw.socket.recv(1) != b"S"


def test_beyond_this_machine_a_certificate_is_needed(tmp_path: Path) -> None:
    with pytest.raises(ServiceError, match="within TLS only"):
        DoorPlace.of("0.0.0.0:5433")
    for text in ("5433", "localhost", "localhost:port", "localhost:99999", ":5433"):
        with pytest.raises(ServiceError, match="an address and a port"):
            DoorPlace.of(text)
    assert DoorPlace.of("[::1]:5433").host == "::1"
    wrong = tmp_path / "wrong.pem"
    wrong.write_text("nothing")
    with pytest.raises(ServiceError, match="cannot be read"):
        DoorPlace.of("0.0.0.0:5433", wrong).tls()


def test_a_statement_is_given_up(wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, goes_on = threading.Event(), threading.Event()
    plain = type(wire.session).ask

    def slow(self: Any, *words: Any, **named: Any) -> Any:
        begun.set()
        goes_on.wait(60)
        return plain(self, *words, **named)

    monkeypatch.setattr(type(wire.session), "ask", slow)
    with wire.connect() as client:
        canceller = threading.Thread(target=lambda: (begun.wait(60), client.cancel_safe()))
        canceller.start()
        with pytest.raises(errors.QueryCanceled):
            client.execute("SELECT COUNT(*) FROM people")
        canceller.join()
        goes_on.set()
        monkeypatch.undo()
        assert len(client.execute("SELECT COUNT(*) FROM people").fetchall()) == 1


def test_the_server_ends_although_a_client_waits(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, goes_on = threading.Event(), threading.Event()

    def slow(*_: object) -> None:
        begun.set()
        goes_on.wait(60)

    monkeypatch.setattr(Clerk, "_aim", slow)
    with ExitStack() as opened:
        with open_door(folder) as wire:
            raw = opened.enter_context(Raw(wire))
            raw.sign_in(wire)
            raw.send("Q", b"SELECT COUNT(*) FROM people\0")
            assert begun.wait(60)
            threading.Timer(0.5, goes_on.set).start()
        letter, body = raw.receive()
        assert (letter, b"57P01" in body) == ("E", True)
        assert raw.receive() == ("", b"")


def test_nobody_ends_what_is_not_theirs(wire: Wire) -> None:
    with wire.connect() as client, Raw(wire) as raw:
        raw.socket.sendall(struct.pack("!iiii", 16, 80877102, client.info.backend_pid, 12345))
        assert raw.receive() == ("", b"")
        assert client.execute("SHOW server_version").fetchone() == ("15.0",)


def test_paid_answers_leave_in_step(folder: Path) -> None:
    """With a clock that stands still, an answer that was paid for waits for the next step."""
    slept: list[float] = []
    now = [0.0]

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        now[0] += seconds + 0.01
        await asyncio.sleep(0)

    def nap(seconds: float) -> None:
        now[0] += seconds

    pace = Pace(0.5, lambda: now[0], sleep, nap)
    with open_door(folder, pace=pace) as wire, wire.connect() as client:
        client.execute("SELECT COUNT(*) FROM people")
        assert slept
        assert now[0] >= 0.5
        slept.clear()
        client.execute("SELECT COUNT(*) FROM people")  # control: a free one does not
        assert slept == []


def test_http_goes_on_beside_it(wire: Wire) -> None:
    with wire.connect():
        assert httpx.get(f"{wire.url}/health").status_code == 200
