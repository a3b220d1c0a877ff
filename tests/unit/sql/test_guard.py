"""Caps and cleaning come before any parser."""

import pytest

from eke.errors import SqlError
from eke.question import Accuracy
from eke.sql import guard
from eke.sql.accuracy import without_accuracy
from eke.sql.place import SqlText


def tokens_of(text):
    return guard.scanned(SqlText(text))


def test_tokens_carry_kind_and_place():
    found = tokens_of("SELECT \"a b\", 'it''s' -- c\n>= 1.5e3")
    assert [(t.kind, t.text, t.start) for t in found] == [
        ("word", "SELECT", 0),
        ("name", '"a b"', 7),
        ("symbol", ",", 12),
        ("text", "'it''s'", 14),
        ("symbol", ">=", 27),
        ("number", "1.5e3", 30),
    ]


def test_cleaning_keeps_every_place():
    text = SqlText("SELECT /* a\nb */ COUNT(*) -- c\nFROM t;")
    kept = guard.single_statement(text, guard.scanned(text))
    clean = guard.cleaned(text, kept)
    assert len(clean) == len(text.characters)
    assert clean.count("\n") == 2
    assert clean.split() == ["SELECT", "COUNT(*)", "FROM", "t"]
    assert clean.index("FROM") == text.characters.index("FROM")


@pytest.mark.parametrize(
    ("text", "length"), [("x", guard.MOST_CHARACTERS), ("é", guard.MOST_CHARACTERS)]
)
def test_length_is_capped(text, length):
    assert len(tokens_of(text * length)) == 1
    with pytest.raises(SqlError, match="at most 20,000 are read"):
        tokens_of(text * (length + 1))


def test_the_number_of_tokens_is_capped():
    assert len(tokens_of("1 " * guard.MOST_TOKENS)) == guard.MOST_TOKENS
    with pytest.raises(SqlError, match="more than 4,000 words and signs"):
        tokens_of("1 " * (guard.MOST_TOKENS + 1))


@pytest.mark.parametrize(
    ("start", "end"), [("(", ")"), ("CASE ", " END"), ("NOT ", ""), ("- ", ""), ("+ ", "")]
)
def test_depth_is_capped(start, end):
    tokens_of(start * guard.MOST_DEPTH + "a" + end * guard.MOST_DEPTH)
    deep = guard.MOST_DEPTH + 1
    with pytest.raises(SqlError, match="more than 24 levels"):
        tokens_of(start * deep + "a" + end * deep)


def test_signs_beside_each_other_are_not_nested():
    tokens_of("NOT a AND " * 500 + "b")
    tokens_of("(a)" * 500)


def test_a_pair_of_quotes_does_not_close_a_text():
    with pytest.raises(SqlError, match="a text is not closed") as error:
        tokens_of("a '''")
    assert (error.value.line, error.value.column) == (1, 3)


@pytest.mark.parametrize("text", ["a\0b", "'a\0b'", '"a\0b"', "-- \0", "/* \0 */"])
def test_nul_is_refused_everywhere(text):
    with pytest.raises(SqlError, match=r"NUL|U\+0000"):
        tokens_of(text)


def test_places_count_lines_and_columns_from_one():
    with pytest.raises(SqlError) as error:
        tokens_of("a\nbc\n  ?")
    assert (error.value.line, error.value.column) == (3, 3)


def test_the_suffix_is_taken_off_and_read():
    text = SqlText("SELECT 1 ERROR WITHIN 60 AT CONFIDENCE 0.95")
    rest, accuracy = without_accuracy(text, guard.scanned(text))
    assert [t.text for t in rest] == ["SELECT", "1"]
    assert accuracy == Accuracy(60.0, 0.95)


def test_a_suffix_within_a_text_or_comment_is_none():
    text = SqlText("SELECT 'ERROR WITHIN 60' -- ERROR WITHIN 60")
    rest, accuracy = without_accuracy(text, guard.scanned(text))
    assert len(rest) == 2
    assert accuracy is None
