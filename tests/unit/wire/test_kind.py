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

from eke.wire.kind import BOOL, DATE, FLOAT8, INT8, NUMERIC, TEXT, TIMESTAMP, encoded, literal
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
