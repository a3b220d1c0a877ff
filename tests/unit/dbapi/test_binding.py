"""Parameters become literals that are one token, whatever their value and their neighbours."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eke.dbapi import NotSupportedError, ProgrammingError
from eke.dbapi.binding import bound, literal
from eke.errors import SqlError
from eke.sql import parse
from tests.sql_adult import compact_domain

DOMAIN = compact_domain()


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, "NULL"),
        (True, "TRUE"),
        (False, "FALSE"),
        (7, "7"),
        (-7, "(-7)"),
        (2.5, "2.5"),
        (-1e-7, "(-1e-07)"),
        (Decimal("1E+2"), "100"),
        ("it's", "'it''s'"),
        ("", "''"),
        ("?", "'?'"),
        (np.int64(3), "3"),
        (np.float64(0.5), "0.5"),
        (np.bool_(True), "TRUE"),
        (np.str_("a"), "'a'"),
    ],
)
def test_literals(value: object, expected: str) -> None:
    assert literal(value) == expected


@pytest.mark.parametrize("value", [float("nan"), float("inf"), Decimal("NaN"), "a\0b"])
def test_values_that_no_literal_can_say(value: object) -> None:
    with pytest.raises(ProgrammingError):
        literal(value)


@pytest.mark.parametrize("value", [b"x", [1], {"a": 1}, object(), 1j, np.array([1, 2])])
def test_kinds_that_are_not_supported(value: object) -> None:
    with pytest.raises((NotSupportedError, ProgrammingError)):
        literal(value)


@pytest.mark.parametrize(
    ("text", "values", "expected"),
    [
        ("a = ?", [1], "a =  1 "),
        ("a = '?' AND b = ?", [1], "a = '?' AND b =  1 "),
        ('"?" = ?', ["x"], "\"?\" =  'x' "),
        ("a = ? -- why ?\n", [1], "a =  1  -- why ?\n"),
        ("a = /* ? */ ?", [1], "a = /* ? */  1 "),
        ("a-?", [-1], "a- (-1) "),
        ("5?", [5], "5 5 "),
        ("a = 'it''s ?' OR ?", [True], "a = 'it''s ?' OR  TRUE "),
    ],
)
def test_question_marks_outside_of_texts_are_replaced(
    text: str, values: list[object], expected: str
) -> None:
    assert bound(text, values) == expected


@pytest.mark.parametrize("text", ["a = ? AND b = ?", "a = b", "a = '?'"])
def test_numbers_of_values_must_agree(text: str) -> None:
    with pytest.raises(ProgrammingError, match=r"\?"):
        bound(text, [1])


@pytest.mark.parametrize("text", ["a = 'x ?", 'a = "x ?', "a = /* ?"])
def test_what_is_not_closed_takes_no_values(text: str) -> None:
    with pytest.raises(ProgrammingError, match="not closed"):
        bound(text, ["' OR 1 = 1 --"])
    assert bound(text, None) == text  # refused with its place by the reader of SQL


@pytest.mark.parametrize("values", ["text", b"bytes", 5, {"a": 1}])
def test_parameters_are_a_list(values) -> None:
    with pytest.raises(ProgrammingError, match="list or tuple"):
        bound("a = ?", values)


@given(st.text(max_size=40))
def test_a_text_can_only_ever_be_a_value(value: str) -> None:
    """Whatever the text holds, the question stays a comparison of one column with one text."""
    question = "SELECT COUNT(*) FROM adult WHERE sex = ? OR age = 17"
    if "\0" in value:
        with pytest.raises(ProgrammingError):
            bound(question, [value])
    elif value in ("Female", "Male"):
        assert len(parse(bound(question, [value]), DOMAIN).columns) == 1
    else:
        with pytest.raises(SqlError, match="is not a declared value of sex"):
            parse(bound(question, [value]), DOMAIN)


@given(st.integers(-(10**9), 10**9) | st.floats(1e-9, 1e9) | st.floats(-1e9, -1e-9))
def test_a_number_can_only_ever_be_a_value(value: float) -> None:
    spelled = parse(bound("SELECT ? + COUNT(*) - ? FROM adult", [value, value]), DOMAIN)
    plain = parse("SELECT COUNT(*) FROM adult", DOMAIN)
    assert spelled.blocks == plain.blocks
