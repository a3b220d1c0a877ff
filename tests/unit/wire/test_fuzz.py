"""Byte streams of every kind: nothing is charged, nothing stalls, nothing unexpected is logged."""

from __future__ import annotations

import logging
import random
import struct
from contextlib import suppress

import httpx
import pytest

from tests.wire import Raw, Wire

STREAMS = 400
"""Streams tried; `STREAMS_LONG` in the long run."""
STREAMS_LONG = 20_000
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


@pytest.mark.long
def test_many_streams_of_bytes(wire: Wire, caplog: pytest.LogCaptureFixture) -> None:
    fuzz(wire, STREAMS_LONG, caplog)
