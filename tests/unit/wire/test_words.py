"""Statements told apart, with quotes, comments and parameters in them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eke.wire.report import Trouble
from eke.wire.words import filled, parameters_in, statements, words_of

PIECES = st.sampled_from(
    (
        *("select", "1", "'a;b'", "'it''s'", '"x;y"', "-- ; \n", "/* ; /* ; */ */", "$1", "$$;$$"),
        *("$a$;'$a$", "E'\\';'", "+", "(", ")", "::", "größe", "\n", "1.5e3"),
    )
)


@given(st.lists(st.lists(PIECES, min_size=1, max_size=6), max_size=4))
def test_a_text_ends_where_no_quote_and_no_comment_is_open(parts: list[list[str]]) -> None:
    texts = [" ".join(part) for part in parts]
    read = statements(";".join(texts))
    blank = {"-- ; \n", "/* ; /* ; */ */", "\n"}
    expected = [text for part, text in zip(parts, texts, strict=True) if set(part) - blank]
    assert [one.text for one in read] == expected
    for one in read:
        assert all(one.text[word.start :].startswith(word.text) for word in one.words)


@given(st.text(max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        words = words_of(text)
    except Trouble:
        return
    assert "".join(word.text for word in words) == text


@pytest.mark.parametrize("text", ["'a", '"a', "/* a", "$$ a", "/* /* */"])
def test_what_has_no_end_is_refused(text: str) -> None:
    with pytest.raises(Trouble):
        statements(text)


def test_parameters_are_filled_in_outside_of_quotes() -> None:
    (statement,) = statements("select '$1', $2 -- $3\n, $1")
    assert parameters_in(statement.words) == 2
    assert filled(statement, ["1", "'x'"]).split() == [
        "select",
        "'$1',",
        "'x'",
        "--",
        "$3",
        ",",
        "1",
    ]
    with pytest.raises(Trouble, match=r"\$2"):
        filled(statement, ["1"])
