"""Byte streams of every kind: nothing is charged, nothing stalls, nothing unexpected is logged."""

from __future__ import annotations

import logging
import random
import resource
import struct
from collections import deque
from contextlib import suppress

import httpx
import pytest

from eke.wire.door import MOST_UNKNOWN
from eke.wire.message import SSL_REQUEST
from tests.wire import Raw, Wire

STREAMS = 400
"""Streams tried; `STREAMS_LONG` in the long run."""
STREAMS_LONG = 100_000
_TEXTS = (
    b"SELECT COUNT(*) FROM people",
    b"SELECT sex, COUNT(*) FROM people GROUP BY sex",
    b"BEGIN",
    b"SHOW ALL",
    b"SET eke.within = 'x",
    b"DECLARE c CURSOR FOR SELECT 1",
    b"FETCH ALL FROM c",
    b"COPY (SELECT 1) TO STDOUT (FORMAT csv)",
    b"",
    b"\xff\xfe",
)


def one_message(draw: random.Random) -> bytes:
    letter = draw.choice(b"QPBDECSHXpdcfFz")
    text = draw.choice(_TEXTS) + b"\0"
    body = {
        ord("Q"): text,
        ord("P"): b"s\0" + text + struct.pack("!h", 0),
        ord("B"): b"p\0s\0" + struct.pack("!hhh", 0, draw.choice([0, 0, 1]), draw.choice([0, 1])),
        ord("D"): draw.choice([b"S", b"P", b"X"]) + b"s\0",
        ord("E"): b"p\0" + struct.pack("!i", draw.choice([0, 1, -1])),
        ord("C"): b"Ss\0",
    }.get(letter, b"")
    changed = bytearray(body)
    if changed and draw.random() < 0.3:
        changed[draw.randrange(len(changed))] = draw.randrange(256)
    size = len(changed) + 4
    if draw.random() < 0.05:
        size = draw.choice([0, 3, -1, size + 5, 2**31 - 1, 70_000])
    return bytes([letter]) + struct.pack("!i", size) + bytes(changed)


def fuzz(wire: Wire, streams: int, caplog: pytest.LogCaptureFixture) -> None:
    draw = random.Random(5)
    before = wire.session.budget.spent
    with caplog.at_level(logging.INFO, "eke.service"):
        for number in range(streams):
            with Raw(wire) as raw:
                if number % 4:
                    raw.sign_in(wire)
                    stream = b"".join(one_message(draw) for _ in range(8))
                else:
                    stream = draw.randbytes(draw.randrange(1, 60))
                with suppress(ConnectionError):  # the server hangs up on what is no message
                    raw.socket.sendall(stream)
                    if number % 2:  # others hang up at once
                        raw.send("S")
                        raw.send("X")
                        while raw.receive()[0]:
                            pass
    assert [one.msg for one in caplog.records if one.msg == "failed"] == []
    assert wire.session.budget.spent == before
    assert httpx.get(f"{wire.url}/health").status_code == 200
    with wire.connect() as client:
        assert client.execute("SHOW server_version").fetchone() == ("15.0",)


def test_streams_of_bytes(wire: Wire, caplog: pytest.LogCaptureFixture) -> None:
    fuzz(wire, STREAMS, caplog)


def come_to_nothing(wire: Wire, connections: int, caplog: pytest.LogCaptureFixture) -> None:
    """Connections that stay half open, say too much, too little or too slowly.

    So many of them are open at a time that the oldest are hung up on.
    """
    draw = random.Random(6)
    before, opened = wire.session.budget.spent, deque[Raw]()
    with caplog.at_level(logging.INFO, "eke.service"):
        for number in range(connections):
            raw = Raw(wire)
            opened.append(raw)
            with suppress(ConnectionError):
                _begin(raw, wire, number % 8, draw)
            if len(opened) > MOST_UNKNOWN + 30:
                opened.popleft().socket.close()
            if number % 50 == 0:
                assert httpx.get(f"{wire.url}/health").status_code == 200
                with wire.connect("cleo") as client:
                    assert client.execute("SHOW server_version").fetchone() == ("15.0",)
        assert sum(map(len, wire.door._unknown.values())) <= MOST_UNKNOWN + 1
        for raw in opened:
            raw.socket.close()
    assert [one.msg for one in caplog.records if one.msg == "failed"] == []
    assert wire.session.budget.spent == before


def _begin(raw: Raw, wire: Wire, kind: int, draw: random.Random) -> None:
    if kind == 1:
        raw.socket.sendall(struct.pack("!ii", 200, 3 << 16) + b"user\0ann\0")  # and no more
    elif kind == 2:
        raw.startup(version=SSL_REQUEST)
    elif kind == 3:
        raw.startup(user="ann", database="people")  # and no proof
    elif kind == 4:
        raw.socket.sendall(struct.pack("!i", draw.choice([2**31 - 1, 70_000, 7, -1])))
    elif kind == 5:
        for byte in struct.pack("!ii", 9, 3 << 16):  # one byte at a time
            raw.socket.sendall(bytes([byte]))
    elif kind == 6:
        raw.sign_in(wire)
        raw.socket.sendall(b"Q" + struct.pack("!i", 60_000) + b"SELECT COUNT(*)")  # and no more
        raw.socket.close()
    elif kind == 7:
        raw.sign_in(wire)
        raw.send("Q", b"SELECT * FROM pg_attribute LIMIT 2000\0")  # and reads nothing
        raw.socket.close()


def test_connections_that_come_to_nothing(wire: Wire, caplog: pytest.LogCaptureFixture) -> None:
    come_to_nothing(wire, 300, caplog)


@pytest.mark.long
def test_many_connections_that_come_to_nothing(
    wire: Wire, caplog: pytest.LogCaptureFixture
) -> None:
    """Also: what they leave behind in memory is bounded."""
    come_to_nothing(wire, 1_000, caplog)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    come_to_nothing(wire, 10_000, caplog)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # kilobytes


@pytest.mark.long
def test_many_streams_of_bytes(wire: Wire, caplog: pytest.LogCaptureFixture) -> None:
    fuzz(wire, STREAMS_LONG, caplog)
