"""No text keeps the parser busy: its work is counted, in calls, and grows with the text only.

The phrases are every word that the parser knows, repeated in every place of a question, alone and
in pairs. Without the count of the way back some of them double the work with each repetition.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType

import numpy as np
import pytest
from sqlglot import parse as read_without_end
from sqlglot.dialects.dialect import Dialect

from eke.errors import SqlError
from eke.sql import parse
from eke.sql.parser import DIALECT
from tests.sql_public import dated_domain

WORDS = sorted(
    word
    for word in Dialect.get_or_raise(DIALECT).tokenizer_class.KEYWORDS
    if word.replace(" ", "").isalpha()
)
DOMAIN = dated_domain()
PLACES = (
    "SELECT COUNT(*) FROM adult {} WHERE age > 3",
    "SELECT COUNT(*) FROM adult {} other ON adult.age = other.age",
    "SELECT {} age FROM adult",
    "SELECT COUNT(*) FROM adult WHERE {} age > 3",
    "SELECT COUNT(*) FROM adult GROUP BY sex {}",
    "SELECT COUNT(*) FROM adult WHERE day > {} DATE '2013-01-01' + INTERVAL 7 DAY",
    "SELECT EXTRACT({} month FROM day) AS m, COUNT(*) FROM adult GROUP BY m",
    "SELECT sex, SUM(COUNT(*)) OVER ({} ORDER BY sex) FROM adult GROUP BY sex",
    "SELECT COUNT(*) FROM adult {} UNION ALL SELECT COUNT(*) FROM adult",
    "SELECT PERCENTILE_CONT(0.5) {} WITHIN GROUP (ORDER BY age) FROM adult",
    "SELECT sector, COUNT(*) FROM adult JOIN classes {} USING (workclass) GROUP BY sector",
    "SELECT sex, COUNT(*) FROM adult GROUP BY ROLLUP ({} sex)",
    "SELECT COUNT(*) / ({} SELECT COUNT(*) FROM adult) FROM adult",
)
SHAPES = ("{} ", "{} x ", "x {} ", "{} adult, ", "{} 1 ")
TIMES = 24
CALLS_A_TOKEN = 600
"""Enough for every text here that is read in one go; work that doubles 24 times passes anything."""


class Enough(BaseException):
    """More calls than allowed."""


def calls(work: Callable[[], object], most: int) -> int:
    """How many functions of Python the work calls; it is ended after `most` of them."""
    count = 0

    def seen(_: FrameType, event: str, __: object) -> None:
        nonlocal count
        count += event == "call"
        if count > most:
            raise Enough

    before = sys.getprofile()
    sys.setprofile(seen)
    try:
        work()
    except (SqlError, Enough):
        pass
    finally:
        sys.setprofile(before)
    return count


def allowed(text: str) -> int:
    return CALLS_A_TOKEN * (len(text.split()) + 20)


def is_tangled(text: str, read: Callable[[str], object]) -> bool:
    return calls(lambda: read(text), allowed(text)) > allowed(text)


def asked(text: str) -> object:
    return parse(text, DOMAIN)


def tangled(words: list[str], texts_a_word: int, rng: np.random.Generator) -> list[str]:
    """Which texts of these words are too much work, each word in some places and shapes."""
    ways = [(place, shape) for place in PLACES for shape in SHAPES]
    chosen = (
        place.format(shape.format(word) * TIMES)
        for word in words
        for place, shape in (ways[int(i)] for i in rng.permutation(len(ways))[:texts_a_word])
    )
    return [text for text in chosen if is_tangled(text, asked)]


def pairs(number: int, rng: np.random.Generator) -> list[str]:
    return [f"{first} x {second}" for first, second in rng.choice(WORDS, (number, 2))]


def test_words_repeated():
    assert not tangled(["JOIN", "LEFT JOIN", "NATURAL JOIN"], 25, np.random.default_rng(1))
    assert not tangled(WORDS[::4], 2, np.random.default_rng(2))
    assert not tangled(pairs(40, rng := np.random.default_rng(3)), 1, rng)


@pytest.mark.long
def test_every_word_and_many_pairs_repeated():
    assert not tangled(WORDS, 2, np.random.default_rng(2))
    assert not tangled(pairs(150, rng := np.random.default_rng(3)), 1, rng)
    assert not tangled(WORDS, 25, np.random.default_rng(4))
    assert not tangled(pairs(5_000, rng := np.random.default_rng(5)), 2, rng)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(*) FROM adult " + "JOIN x " * 24 + "JOIN other ON adult.age = other.age",
        "SELECT COUNT(*) FROM adult " + "LEFT JOIN x " * 24 + "JOIN other USING (age)",
    ],
)
def test_what_the_parser_alone_is_lost_in(text):
    """Positive control, too: the parser itself does not come to an end with these."""
    assert is_tangled(text, lambda text: read_without_end(text, dialect=DIALECT))
    with pytest.raises(SqlError, match="too many ways"):
        asked(text)
