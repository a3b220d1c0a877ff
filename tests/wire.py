"""A server with its door for clients of PostgreSQL, for tests."""

from __future__ import annotations

import base64
import hashlib
import hmac
import socket
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import psycopg

import eke
from eke.service import Access, Account, Datasets, Settings, create_app
from eke.service.pace import Pace
from eke.service.state import State
from eke.wire import Door, DoorPlace
from tests.service import DOMAIN, listening, people


@dataclass(frozen=True)
class Wire:
    """Where the door is, and the tokens of its accounts."""

    port: int
    session: eke.Session
    access: Access
    tokens: dict[str, str]
    state: State
    url: str
    door: Door

    def words(self, who: str = "ann", **more: Any) -> dict[str, Any]:
        """What a client needs to come in."""
        given = {"host": "127.0.0.1", "port": self.port, "user": who, "dbname": "people"}
        return {**given, "password": self.tokens[who], **more}

    def connect(self, who: str = "ann", within: float | None = 20, **more: Any) -> Any:
        """A connection of psycopg, which commits by itself."""
        options = {} if within is None else {"options": f"-c eke.within={within}"}
        return psycopg.connect(**{"autocommit": True, **options, **self.words(who, **more)})


@contextmanager
def open_door(
    folder: Path,
    *,
    epsilon: float = 100.0,
    domain: eke.Domain = DOMAIN,
    certificate: Path | None = None,
    key: Path | None = None,
    host: str = "127.0.0.1",
    pace: Pace | None = None,
    **settings: Any,
) -> Iterator[Wire]:
    """Curator cleo, analyst ann, auditor otto, and ben, who may see nothing here."""
    session = eke.create(folder / "people.eke", people(), domain, epsilon=epsilon)
    access = Access(folder / "access.db")
    tokens = {}
    for name, role in {
        "cleo": "curator",
        "ann": "analyst",
        "ben": "analyst",
        "otto": "auditor",
    }.items():
        access.add(Account(name, role, ("other",) if name == "ben" else None))  # type: ignore[arg-type]
        tokens[name] = access.new_token(name).text
    door = Door(DoorPlace.of(f"{host}:0", certificate, key))
    chosen = Settings(secure_cookies=False, **{"answer_step": 0.0, **settings})
    app = create_app(Datasets([("people", session)]), access, chosen, pace, beside=door.open)
    with listening(app) as url:
        yield Wire(door.port, session, access, tokens, app.state.eke, url, door)
    access.close()


class ScramClient:
    """The client's side of SCRAM-SHA-256, written from the RFC; `header` tells of its binding."""

    def __init__(self, password: str, header: str = "n,,", nonce: str = "fyko+d2lbbFgONRv9qkxdawL"):
        self._password, self._header = password, header
        self._first = f"n=,r={nonce}"
        self._signature = ""

    def first(self) -> str:
        return self._header + self._first

    def final(self, server_first: str) -> str:
        """The proof, for what the server sent."""
        nonce, salt, turns = (part[2:] for part in server_first.split(","))
        salted = hashlib.pbkdf2_hmac(
            "sha256", self._password.encode(), base64.b64decode(salt), int(turns)
        )
        key = hmac.digest(salted, b"Client Key", "sha256")
        without = f"c={base64.b64encode(self._header.encode()).decode()},r={nonce}"
        said = f"{self._first},{server_first},{without}".encode()
        mask = hmac.digest(hashlib.sha256(key).digest(), said, "sha256")
        proof = bytes(left ^ right for left, right in zip(key, mask, strict=True))
        server_key = hmac.digest(salted, b"Server Key", "sha256")
        self._signature = base64.b64encode(hmac.digest(server_key, said, "sha256")).decode()
        return f"{without},p={base64.b64encode(proof).decode()}"

    def trusts(self, server_final: str) -> bool:
        """Whether the server has shown that it holds the verifier of this password."""
        return server_final == f"v={self._signature}"


class Raw:
    """A socket that speaks the protocol byte by byte."""

    def __init__(self, wire: Wire) -> None:
        self.socket = socket.create_connection(("127.0.0.1", wire.port), timeout=30)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def startup(self, version: int = 3 << 16, **parameters: str) -> None:
        pairs = b"".join(f"{n}\0{v}\0".encode() for n, v in parameters.items())
        body = struct.pack("!i", version) + (pairs + b"\0" if parameters else b"")
        self.socket.sendall(struct.pack("!i", len(body) + 4) + body)

    def send(self, letter: str, body: bytes = b"") -> None:
        self.socket.sendall(letter.encode() + struct.pack("!i", len(body) + 4) + body)

    def sign_in(self, wire: Wire, who: str = "ann") -> None:
        """Come in, and wait until it is ready."""
        self.startup(user=who, database="people")
        client = ScramClient(wire.tokens[who])
        self.prove(client)
        last = self.receive()
        assert client.trusts(last[1][4:].decode()), last
        while self.receive()[0] != "Z":
            pass

    def prove(self, client: ScramClient, mechanism: bytes = b"SCRAM-SHA-256") -> None:
        """Send what proves that a token is known; what comes of it is to be received."""
        assert self.receive() == ("R", struct.pack("!i", 10) + b"SCRAM-SHA-256\0\0")
        first = client.first().encode()
        self.send("p", mechanism + b"\0" + struct.pack("!i", len(first)) + first)
        letter, body = self.receive()
        assert (letter, body[:4]) == ("R", struct.pack("!i", 11)), body
        self.send("p", client.final(body[4:].decode()).encode())

    def receive(self) -> tuple[str, bytes]:
        """The next message; an empty letter when the server has hung up."""
        head = self._exactly(5)
        if len(head) < 5:
            return "", b""
        return chr(head[0]), self._exactly(struct.unpack("!i", head[1:])[0] - 4)

    def everything(self) -> list[tuple[str, bytes]]:
        """All messages until the server is ready again, or has hung up."""
        received = [self.receive()]
        while received[-1][0] not in ("Z", ""):
            received.append(self.receive())
        return received

    def _exactly(self, size: int) -> bytes:
        read = b""
        while len(read) < size:
            try:
                piece = self.socket.recv(size - len(read))
            except ConnectionError:
                return read
            if not piece:
                return read
            read += piece
        return read


def results_of(client: Any) -> Iterator[Any]:
    """The results of what was sent on a connection of libpq, bytes for what is copied.

    The server is a thread of this process: libpq must not wait for it by itself.
    """
    while client.flush():
        time.sleep(0.001)
    while True:
        client.consume_input()
        if client.is_busy():
            time.sleep(0.001)
            continue
        result = client.get_result()
        if result is None:
            return
        yield result
        while result.status == psycopg.pq.ExecStatus.COPY_OUT:
            client.consume_input()
            size, piece = client.get_copy_data(1)
            if size > 0:
                yield bytes(piece)
            elif size == 0:
                time.sleep(0.001)
            else:
                break
