"""Values in both formats, compared with what psycopg makes of them."""

from __future__ import annotations

import math
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from psycopg.adapt import PyFormat, Transformer
from psycopg.pq import Format

from eke.wire.kind import (
    BOOL,
    DATE,
    FLOAT8,
    INT8,
    NUMERIC,
    TEXT,
    TIMESTAMP,
    TIMESTAMPTZ,
    encoded,
    literal,
)
from eke.wire.report import Trouble

TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=9)
VALUES = st.one_of(
    st.tuples(st.just(INT8), st.integers(-(2**63), 2**63 - 1)),
    st.tuples(st.just(FLOAT8), st.floats(allow_nan=False)),
    st.tuples(st.just(BOOL), st.booleans()),
    st.tuples(st.just(TEXT), TEXTS),
    st.tuples(st.just(DATE), st.dates(date(1, 1, 1))),
    st.tuples(st.just(TIMESTAMP), st.datetimes()),
)


@given(VALUES, st.sampled_from([0, 1]))
def test_a_value_is_read_by_psycopg_as_it_was(pair: tuple[int, Any], form: int) -> None:
    kind, value = pair
    sent = encoded(value, kind, form)
    assert sent is not None
    loaded = Transformer().get_loader(kind, Format(form)).load(sent)
    assert loaded == value
    assert type(loaded) is type(value)


@given(VALUES.filter(lambda pair: pair[1] not in (math.inf, -math.inf)))
def test_a_parameter_of_psycopg_is_read_as_it_was(pair: tuple[int, Any]) -> None:
    kind, value = pair
    dumper = Transformer().get_dumper(value, PyFormat.BINARY)
    if kind == INT8:
        from psycopg.types.numeric import Int8  # noqa: PLC0415

        dumper = Transformer().get_dumper(Int8(value), PyFormat.BINARY)
    sent = dumper.dump(value)
    assert sent is not None
    text = literal(bytes(sent), kind, 1)
    expected = {
        BOOL: str(value).upper(),
        DATE: f"DATE '{value}'",
        TIMESTAMP: f"TIMESTAMP '{value}'",
        TEXT: "'" + str(value).replace("'", "''") + "'",
    }
    if kind in expected:
        assert text == expected[kind]
    else:
        assert float(text.strip("()")) == float(value)


@given(
    st.decimals(
        allow_nan=False, allow_infinity=False, places=6, min_value=-(10**12), max_value=10**12
    )
)
def test_a_numeric_in_binary(value: Decimal) -> None:
    sent = Transformer().get_dumper(value, PyFormat.BINARY).dump(value)
    assert sent is not None
    assert Decimal(literal(bytes(sent), NUMERIC, 1).strip("()")) == value


def test_what_is_no_number_is_no_number() -> None:
    for text in (b"1; drop", b"nan", b"inf", b"1 or 1=1", b"", b"--1"):
        with pytest.raises(Trouble):
            literal(text, INT8, 0)
    with pytest.raises(Trouble):
        literal(b"a\0b", TEXT, 0)
    with pytest.raises(Trouble):
        literal(b"\xff", TEXT, 0)
    assert literal(None, TEXT, 0) == "NULL"
    assert literal(b"it's", TEXT, 0) == "'it''s'"


def test_moments_as_text() -> None:
    moment = datetime(2013, 1, 31, 6, 5)  # noqa: DTZ001 - without a zone
    assert encoded(moment, TIMESTAMP, 0) == b"2013-01-31 06:05:00"


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        ("2002-01-01 +00", DATE, "DATE '2002-01-01'"),
        ("2002-01-01 +05:30", DATE, "DATE '2002-01-01'"),
        ("2002-01-01Z", DATE, "DATE '2002-01-01'"),
        ("2002-01-01", DATE, "DATE '2002-01-01'"),
        ("2002-01", DATE, "DATE '2002-01'"),
        ("2020-05-01 12:00:00+02", TIMESTAMP, "TIMESTAMP '2020-05-01 12:00:00'"),
        ("2020-05-01T12:00:00.5Z", TIMESTAMP, "TIMESTAMP '2020-05-01 12:00:00.500000'"),
        ("2020-05-01 12:00:00+02", TIMESTAMPTZ, "TIMESTAMP '2020-05-01 10:00:00'"),
        ("2020-05-01 12:00", TIMESTAMPTZ, "TIMESTAMP '2020-05-01 12:00:00'"),
        ("no moment", TIMESTAMP, "TIMESTAMP 'no moment'"),
        ("2020-05-01 12:00:00+02", TEXT, "'2020-05-01 12:00:00+02'"),
    ],
)
def test_days_and_moments_are_taken_with_the_zone_that_jdbc_adds(
    text: str, kind: int, expected: str
) -> None:
    assert literal(text.encode(), kind, 0) == expected


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        ('{a,"b c",NULL}', 1009, ["a", "b c", None]),
        ("{}", 1009, []),
        ("{1,2}", 1007, [1, 2]),
        ("{-1,2}", 1016, [-1, 2]),
        ("{t,f}", 1000, [True, False]),
        ("{0.5,2}", 1022, [0.5, 2.0]),
        ("{26,27}", 1028, [26, 27]),
    ],
)
def test_arrays_in_binary_are_read_by_psycopg(text: str, kind: int, expected: list[Any]) -> None:
    sent = encoded(text, kind, 1)
    assert sent is not None
    assert Transformer().get_loader(kind, Format.BINARY).load(sent) == expected


def test_vectors_count_from_zero() -> None:
    assert encoded("1 2", 22, 1) == bytes.fromhex(
        "00000001 00000000 00000015 00000002 00000000 00000002 0001 00000002 0002"
    )
    assert encoded("", 30, 1) == bytes.fromhex("00000000 00000000 0000001a")


def test_what_has_no_binary_form_is_refused() -> None:
    for value, kind in (("x", 3802), ("{public}", 4090)):
        with pytest.raises(Trouble, match="as text only"):
            encoded(value, kind, 1)


@given(st.decimals(allow_nan=False, allow_infinity=False, places=9))
def test_decimal_numbers_come_back_from_binary(number: Decimal) -> None:
    sent = encoded(str(number), NUMERIC, 1)
    assert sent is not None
    read = literal(sent, NUMERIC, 1)
    assert Decimal(read.strip("()")) == number
