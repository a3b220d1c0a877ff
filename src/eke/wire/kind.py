"""Kinds: the types of PostgreSQL that are sent or taken, as text and in binary."""

from __future__ import annotations

import re
import struct
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal, localcontext
from typing import Final

from eke.catalogue.arrays import array_elements
from eke.catalogue.kind import BY_OID
from eke.wire.message import sized
from eke.wire.report import Trouble

BOOL: Final = 16
CHAR: Final = 18
NAME: Final = 19
INT8: Final = 20
INT2: Final = 21
INT4: Final = 23
TEXT: Final = 25
OID: Final = 26
FLOAT4: Final = 700
FLOAT8: Final = 701
UNKNOWN: Final = 705
BPCHAR: Final = 1042
VARCHAR: Final = 1043
VOID: Final = 2278
DATE: Final = 1082
TIMESTAMP: Final = 1114
TIMESTAMPTZ: Final = 1184
NUMERIC: Final = 1700

_SIZES = {
    BOOL: 1,
    CHAR: 1,
    NAME: 64,
    INT8: 8,
    INT2: 2,
    INT4: 4,
    OID: 4,
    FLOAT4: 4,
    FLOAT8: 8,
    DATE: 4,
    TIMESTAMP: 8,
    TIMESTAMPTZ: 8,
}
_PACKED = {INT2: "!h", INT4: "!i", INT8: "!q", OID: "!I", FLOAT4: "!f", FLOAT8: "!d"}
_TEXTS = frozenset({TEXT, VARCHAR, BPCHAR, NAME, CHAR, UNKNOWN, VOID})
_NUMBERS = frozenset({*_PACKED, NUMERIC})
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?")
_LONGEST = 200  # of a number as text
_TRUTHS = {
    **dict.fromkeys(("t", "true", "y", "yes", "on", "1"), True),
    **dict.fromkeys(("f", "false", "n", "no", "off", "0"), False),
}
_DAY_WITH_ZONE = re.compile(r"^\s*(\d{4}-\d\d-\d\d)\s*(?:Z|[+-]\d\d(?::?\d\d)?)\s*$")
_MOST_GROUPS = 32  # of four digits
_DAY_ONE = date(2000, 1, 1)
_MOMENT_ONE = datetime(2000, 1, 1)  # noqa: DTZ001 - timestamps are told without a zone


def size_of(kind: int) -> int:
    """The size of a type in bytes; -1 where it varies."""
    return _SIZES.get(kind, -1)


def encoded(value: object, kind: int, form: int) -> bytes | None:
    """A value as it is sent, in text (0) or in binary (1)."""
    if value is None:
        return None
    if form == 0 or kind in _TEXTS:
        return shown(value).encode("utf-8")
    return _in_binary(value, kind)


def _in_binary(value: object, kind: int) -> bytes:
    if kind == DATE and isinstance(value, date):
        return struct.pack("!i", (value - _DAY_ONE).days)
    if kind in (TIMESTAMP, TIMESTAMPTZ) and isinstance(value, datetime):
        since = value.replace(tzinfo=None) - _MOMENT_ONE
        return struct.pack("!q", since // timedelta(microseconds=1))
    if kind == NUMERIC:
        return _numeric_sent(shown(value))
    if (kind in _PACKED or kind == BOOL) and isinstance(value, (int, float)):
        return struct.pack(_PACKED.get(kind, "!?"), value)
    return _array(value, BY_OID[kind].element if kind in BY_OID else 0)


def _array(value: object, element: int) -> bytes:
    """An array of one dimension that is written as a text, or a vector, which counts from 0."""
    if element and isinstance(value, str):
        is_vector = not value.startswith("{")
        parts = value.split() if is_vector else array_elements(value)
        sent = [_element(part, element) for part in parts]
        head = struct.pack("!iiI", 1 if parts else 0, None in sent, element)
        size = struct.pack("!ii", len(parts), 0 if is_vector else 1) if parts else b""
        return head + size + b"".join(map(sized, sent))
    raise Trouble("0A000", "a column of this type is sent as text only; ask for the text format")


def _element(text: str | None, kind: int) -> bytes | None:
    if text is None:
        return None
    if kind == BOOL:
        return encoded(text == "t", kind, 1)
    if kind in _PACKED:
        return encoded(float(text) if kind in (FLOAT4, FLOAT8) else int(text), kind, 1)
    return encoded(text, kind, 1)


def shown(value: object) -> str:
    """A value as PostgreSQL writes it."""
    if isinstance(value, bool):
        return "t" if value else "f"
    if isinstance(value, float):
        return _float_text(value)
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    return value.isoformat() if isinstance(value, date) else str(value)


def _float_text(value: float) -> str:
    if value != value:  # noqa: PLR0124 - the only number that differs from itself
        return "NaN"
    if value in (float("inf"), float("-inf")):
        return "Infinity" if value > 0 else "-Infinity"
    return repr(value).removesuffix(".0")


def literal(value: bytes | None, kind: int, form: int) -> str:
    """A parameter as it stands in SQL: a number, a text in quotes, a date."""
    if value is None:
        return "NULL"
    text = _read_text(value) if form == 0 or kind in _TEXTS else _read_binary(value, kind)
    if kind in _NUMBERS:
        number = text.strip()
        if len(number) > _LONGEST or not _NUMBER.fullmatch(number):
            raise Trouble("22P02", "a parameter that is declared as a number is none")
        return f"({number})" if number.startswith("-") else number
    if kind == BOOL:
        truth = _TRUTHS.get(text.strip().lower())
        if truth is None:
            raise Trouble(
                "22P02", "a parameter that is declared as boolean is neither true nor not"
            )
        return "TRUE" if truth else "FALSE"
    text = _without_zone(text, kind)
    quoted = "'" + text.replace("'", "''") + "'"
    if kind == DATE:
        return f"DATE {quoted}"
    return f"TIMESTAMP {quoted}" if kind in (TIMESTAMP, TIMESTAMPTZ) else quoted


def _without_zone(text: str, kind: int) -> str:
    """A day or a moment without its distance from UTC, which PostgreSQL passes over as well.

    A parameter that is declared with a time zone is brought to UTC first.
    """
    if kind == DATE:
        return _DAY_WITH_ZONE.sub(r"\1", text)
    if kind not in (TIMESTAMP, TIMESTAMPTZ):
        return text
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        return text
    if kind == TIMESTAMPTZ and moment.tzinfo is not None:
        moment = moment.astimezone(UTC)
    return moment.replace(tzinfo=None).isoformat(sep=" ")


def _read_text(value: bytes) -> str:
    try:
        text = value.decode("utf-8")
    except UnicodeDecodeError:
        raise Trouble("22021", "a parameter is not UTF-8") from None
    if "\0" in text:
        raise Trouble("22021", "a parameter has a zero byte in it")
    return text


def _read_binary(value: bytes, kind: int) -> str:
    try:
        if kind in _PACKED:
            number = struct.unpack(_PACKED[kind], value)[0]
            return repr(number)
        if kind == BOOL:
            return str(bool(struct.unpack("!b", value)[0])).lower()
        if kind == DATE:
            days = struct.unpack("!i", value)[0]
            return (_DAY_ONE + timedelta(days=days)).isoformat()
        if kind in (TIMESTAMP, TIMESTAMPTZ):
            since = timedelta(microseconds=struct.unpack("!q", value)[0])
            return (_MOMENT_ONE + since).isoformat(sep=" ")
        if kind == NUMERIC:
            return str(_numeric(value))
    except (struct.error, OverflowError, ValueError):
        raise Trouble("22P03", "a parameter in binary is not of the declared type") from None
    raise Trouble("0A000", "parameters of this type are taken as text only; send it as text")


def _numeric_sent(text: str) -> bytes:
    """A decimal number in groups of four digits, without those that are zero at either end."""
    number = Decimal(text)
    whole, _, fraction = f"{number.copy_abs():f}".partition(".")
    digits = whole.zfill(-(-len(whole) // 4) * 4) + fraction.ljust(-(-len(fraction) // 4) * 4, "0")
    groups = [int(digits[at : at + 4]) for at in range(0, len(digits), 4)]
    weight = -(-len(whole) // 4) - 1
    while groups and not groups[0]:
        del groups[0]
        weight -= 1
    while groups and not groups[-1]:
        del groups[-1]
    sign = 0x4000 if number < 0 else 0
    head = struct.pack("!hhHh", len(groups), weight if groups else 0, sign, len(fraction))
    return head + struct.pack(f"!{len(groups)}h", *groups)


def _numeric(value: bytes) -> Decimal:
    """PostgreSQL's numeric: groups of four digits, with the weight of the first one."""
    groups, weight, sign, _ = struct.unpack("!hhHh", value[:8])
    if sign not in (0, 0x4000) or not 0 <= groups <= _MOST_GROUPS or abs(weight) > _MOST_GROUPS:
        raise ValueError("no number")
    digits = struct.unpack(f"!{groups}h", value[8:])
    number = Decimal(0)
    with localcontext(prec=16 * _MOST_GROUPS):  # so that none is rounded
        for place, digit in enumerate(digits):
            number += Decimal(digit).scaleb(4 * (weight - place))
        return -number if sign else number
