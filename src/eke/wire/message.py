"""Messages of PostgreSQL's protocol, version 3: bytes from a client read strictly, bytes for it.

A message is a letter, its length and its body; the first one of a connection has no letter. What
is not exactly as the protocol has it is refused (`Malformed`), whoever sent it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from eke.errors import EkeError

PROTOCOL = 3 << 16
SSL_REQUEST = 1234 << 16 | 5679
GSS_REQUEST = 1234 << 16 | 5680
CANCEL_REQUEST = 1234 << 16 | 5678


class Malformed(EkeError):
    """Bytes that are no message of the protocol."""


@dataclass(frozen=True, slots=True)
class Startup:
    """The first message of a connection: its version and what it wants to be."""

    version: int
    parameters: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Cancel:
    """Sent on a connection of its own: end what another one is waiting for."""

    process: int
    secret: int


@dataclass(frozen=True, slots=True)
class SimpleQuery:
    """A text with any number of statements, answered at once."""

    sql: str


@dataclass(frozen=True, slots=True)
class Parse:
    """A statement to keep under a name, with the types of its parameters as far as given."""

    name: str
    sql: str
    types: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Bind:
    """Values for the parameters of a statement; together they are a portal."""

    portal: str
    statement: str
    formats: tuple[int, ...]
    values: tuple[bytes | None, ...]
    results: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Describe:
    """Which columns a statement ("S") or a portal ("P") has."""

    kind: str
    name: str


@dataclass(frozen=True, slots=True)
class Execute:
    """Rows of a portal; at most so many, 0 for all."""

    portal: str
    most: int


@dataclass(frozen=True, slots=True)
class Close:
    """Forget a statement ("S") or a portal ("P")."""

    kind: str
    name: str


@dataclass(frozen=True, slots=True)
class Password:
    """What was sent to prove who it is."""

    text: bytes


@dataclass(frozen=True, slots=True)
class SaslFirst:
    """The first thing a client says to prove who it is, and by which mechanism."""

    mechanism: str
    text: str


@dataclass(frozen=True, slots=True)
class Plain:
    """A message that is nothing but its letter: Sync, Flush, Terminate, and copied data."""

    letter: str


Message: TypeAlias = SimpleQuery | Parse | Bind | Describe | Execute | Close | Password | Plain
_PLAIN = {"S": True, "H": True, "X": True, "d": False, "c": True, "f": False}  # whether it is empty


class _Body:
    """The body of a message, read from its beginning to its very end."""

    def __init__(self, body: bytes) -> None:
        self._body, self._at = body, 0

    def _take(self, size: int) -> bytes:
        if size < 0 or self._at + size > len(self._body):
            raise Malformed("a message ends too early")
        self._at += size
        return self._body[self._at - size : self._at]

    def short(self) -> int:
        return int(struct.unpack("!h", self._take(2))[0])

    def whole(self) -> int:
        return int(struct.unpack("!i", self._take(4))[0])

    def text(self) -> str:
        end = self._body.find(b"\0", self._at)
        if end < 0:
            raise Malformed("a text in a message has no end")
        try:
            text = self._take(end - self._at).decode("utf-8")
        except UnicodeDecodeError:
            raise Malformed("a text in a message is not UTF-8") from None
        self._at += 1
        return text

    def letter(self) -> str:
        letter = self._take(1)
        if letter not in (b"S", b"P"):
            raise Malformed("only statements and portals are described and closed")
        return letter.decode()

    def shorts(self) -> tuple[int, ...]:
        return tuple(self.short() for _ in range(self._many()))

    def wholes(self) -> tuple[int, ...]:
        return tuple(self.whole() for _ in range(self._many()))

    def values(self) -> tuple[bytes | None, ...]:
        return tuple(self._value() for _ in range(self._many()))

    def _value(self) -> bytes | None:
        size = self.whole()
        return None if size == -1 else self._take(size)

    def _many(self) -> int:
        many = self.short()
        if many < 0:
            raise Malformed("a message has a negative number of values")
        return many

    def rest(self) -> bytes:
        return self._take(len(self._body) - self._at)

    def end(self) -> None:
        if self._at != len(self._body):
            raise Malformed("a message is longer than what it says")


def read_startup(body: bytes) -> Startup | Cancel:
    """The first message of a connection, without its length."""
    reading = _Body(body)
    version = reading.whole()
    if version == CANCEL_REQUEST:
        cancel = Cancel(reading.whole(), reading.whole())
        reading.end()
        return cancel
    if version in (SSL_REQUEST, GSS_REQUEST):
        reading.end()
        return Startup(version, {})
    parameters: dict[str, str] = {}
    if version >> 16 != PROTOCOL >> 16:
        return Startup(version, parameters)
    while name := reading.text():
        parameters[name] = reading.text()
    reading.end()
    return Startup(version, parameters)


def read_message(letter: str, body: bytes) -> Message:
    """A message after the first one, from its letter and its body."""
    reading = _Body(body)
    message: Message
    if letter == "Q":
        message = SimpleQuery(reading.text())
    elif letter == "P":
        message = Parse(reading.text(), reading.text(), reading.wholes())
    elif letter == "B":
        message = Bind(
            reading.text(), reading.text(), reading.shorts(), reading.values(), reading.shorts()
        )
    elif letter == "D":
        message = Describe(reading.letter(), reading.text())
    elif letter == "E":
        message = Execute(reading.text(), reading.whole())
    elif letter == "C":
        message = Close(reading.letter(), reading.text())
    elif letter == "p":
        message = Password(reading.rest())
    elif letter in _PLAIN:
        message = Plain(letter)
        if not _PLAIN[letter]:
            reading.rest()
    else:
        raise Malformed(f"there is no message {letter!r} in this protocol")
    reading.end()
    return message


def read_sasl(body: bytes) -> SaslFirst:
    """What was sent first to prove who it is, where a mechanism was to be chosen."""
    reading = _Body(body)
    mechanism, size = reading.text(), reading.whole()
    text = reading.rest()
    if size != len(text):
        raise Malformed("a message is shorter or longer than it says")
    return SaslFirst(mechanism, text.decode("ascii", "replace"))


# -- for the client ----------------------------------------------------------------------------


def message(letter: str, body: bytes = b"") -> bytes:
    """A message as it is sent."""
    return letter.encode() + struct.pack("!i", len(body) + 4) + body


def text(value: str) -> bytes:
    """A text, up to the zero that ends it."""
    return value.replace("\0", "").encode("utf-8") + b"\0"


def authentication(kind: int, more: bytes = b"") -> bytes:
    """0 for in order, 3 for: send the password, 10 to 12 for the steps of a proof."""
    return message("R", struct.pack("!i", kind) + more)


def parameter_status(name: str, value: str) -> bytes:
    """A setting, told without being asked for."""
    return message("S", text(name) + text(value))


def backend_key(process: int, secret: int) -> bytes:
    """What a client must know to end what it waits for."""
    return message("K", struct.pack("!ii", process, secret))


def ready(status: str) -> bytes:
    """Ready for the next query; I outside of a transaction, T in one, E in a failed one."""
    return message("Z", status.encode())


def complete(tag: str) -> bytes:
    """A statement is done."""
    return message("C", text(tag))


def row_description(columns: Sequence[tuple[str, int, int, int]]) -> bytes:
    """(name, type, size of the type, format) of each column."""
    parts = [struct.pack("!h", len(columns))]
    for name, kind, size, form in columns:
        parts += [text(name), struct.pack("!ihihih", 0, 0, kind, size, -1, form)]
    return message("T", b"".join(parts))


def parameter_description(types: Sequence[int]) -> bytes:
    """The types of the parameters of a statement."""
    return message("t", struct.pack(f"!h{len(types)}i", len(types), *types))


def data_row(values: Iterable[bytes | None]) -> bytes:
    """One row; None for NULL."""
    cells = [sized(value) for value in values]
    return message("D", struct.pack("!h", len(cells)) + b"".join(cells))


def sized(value: bytes | None) -> bytes:
    """A value after its length; -1 for NULL."""
    return struct.pack("!i", -1) if value is None else struct.pack("!i", len(value)) + value


def copy_out(columns: int, *, binary: bool) -> bytes:
    """Rows are about to be copied."""
    form = int(binary)
    return message("H", struct.pack(f"!bh{columns}h", form, columns, *[form] * columns))


def report(fields: Mapping[str, str], *, notice: bool = False) -> bytes:
    """An error, or a notice: S severity, C code, M message, D detail, H hint, P position."""
    body = b"".join(letter.encode() + text(value) for letter, value in fields.items())
    return message("N" if notice else "E", body + b"\0")


PARSED, BOUND, CLOSED = message("1"), message("2"), message("3")
NO_DATA, SUSPENDED, EMPTY = message("n"), message("s"), message("I")
COPY_DONE = message("c")
