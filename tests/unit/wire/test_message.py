"""Bytes that are read strictly: what is no message is refused, and nothing else happens."""

from __future__ import annotations

import struct
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eke.wire.message import (
    Bind,
    Cancel,
    Close,
    Describe,
    Execute,
    Malformed,
    Parse,
    Plain,
    SimpleQuery,
    Startup,
    read_message,
    read_startup,
)

NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)
VALUES = st.lists(st.none() | st.binary(max_size=6), max_size=4)
SHORTS = st.lists(st.integers(0, 1), max_size=4)


def _text(value: str) -> bytes:
    return value.encode() + b"\0"


def _shorts(values: list[int]) -> bytes:
    return struct.pack(f"!h{len(values)}h", len(values), *values)


@given(NAMES, NAMES, SHORTS, VALUES, SHORTS)
def test_a_bind_is_read_as_it_was_written(
    portal: str, statement: str, formats: list[int], values: list[bytes | None], results: list[int]
) -> None:
    sent = b"".join(
        struct.pack("!i", -1) if one is None else struct.pack("!i", len(one)) + one
        for one in values
    )
    body = _text(portal) + _text(statement) + _shorts(formats)
    body += struct.pack("!h", len(values)) + sent + _shorts(results)
    expected = Bind(portal, statement, tuple(formats), tuple(values), tuple(results))
    assert read_message("B", body) == expected
    for cut in range(len(body)):  # control: no shorter body is a message
        with pytest.raises(Malformed):
            read_message("B", body[:cut])
    with pytest.raises(Malformed):
        read_message("B", body + b"\0")


@given(NAMES, NAMES, st.lists(st.integers(-(2**31), 2**31 - 1), max_size=4))
def test_the_other_messages(name: str, sql: str, types: list[int]) -> None:
    body = _text(name) + _text(sql) + struct.pack(f"!h{len(types)}i", len(types), *types)
    assert read_message("P", body) == Parse(name, sql, tuple(types))
    assert read_message("Q", _text(sql)) == SimpleQuery(sql)
    assert read_message("D", b"S" + _text(name)) == Describe("S", name)
    assert read_message("C", b"P" + _text(name)) == Close("P", name)
    assert read_message("E", _text(name) + struct.pack("!i", 7)) == Execute(name, 7)
    assert read_message("S", b"") == Plain("S")
    first = struct.pack("!i", 3 << 16) + _text("user") + _text(sql) + b"\0"
    assert read_startup(first) == Startup(3 << 16, {"user": sql})


def test_a_request_to_cancel() -> None:
    assert read_startup(struct.pack("!iii", 80877102, 5, -9)) == Cancel(5, -9)


@given(st.characters(max_codepoint=255), st.binary(max_size=60))
def test_whatever_comes_is_a_message_or_refused(letter: str, body: bytes) -> None:
    for read in (lambda: read_message(letter, body), lambda: read_startup(body)):
        with suppress(Malformed):
            read()
