"""Texts: functions of declared texts, which map each of them to another text, a number or a truth.

They are those of DuckDB: letters are code points, UPPER and LOWER go letter by letter, TRIM takes
blanks away and no other space.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from sqlglot import exp

from eke.query.pieces import TooLarge
from eke.sql.comparison import effort_of, fits
from eke.sql.diagram import Diagram
from eke.sql.pattern import BadPattern, Pattern
from eke.sql.place import echo, listing
from eke.sql.value import Moment, Number, Reading, Text, Truth, Value, known_part, written

MOST_LETTERS = 1_000
"""Letters of a text that a function makes."""

_LARGEST = 10**6


def upper(text: str) -> str:
    """The text in upper case, letter by letter."""
    return "".join(large if len(large := letter.upper()) == 1 else _UPPER.get(letter, letter)
                   for letter in text)  # fmt: skip


def lower(text: str) -> str:
    """The text in lower case, letter by letter."""
    return "".join(letter.lower()[0] for letter in text)


_UPPER = {"ß": "ẞ"}


def substring(text: str, start: int, length: int | None) -> str:
    """So many letters from a place that is counted from 1, or from the end if it is negative."""
    first = start - 1 if start >= 0 else len(text) + start
    last = len(text) if length is None else first + length
    begin, end = min(first, last), max(first, last)  # a negative length is of letters before it
    return text[max(begin, 0) : max(end, 0)]


def left(text: str, letters: int) -> str:
    """The first letters, or all but the last so many."""
    return text[:letters] if letters >= 0 else text[: max(len(text) + letters, 0)]


def right(text: str, letters: int) -> str:
    """The last letters, or all but the first so many."""
    return text[max(len(text) - letters, 0) :] if letters >= 0 else text[-letters:]


def trimmed(text: str, letters: str | None, position: str) -> str:
    """The text without blanks, or without some letters, at its ends."""
    first, last = 0, len(text)

    def goes(letter: str) -> bool:
        return unicodedata.category(letter) == "Zs" if letters is None else letter in letters

    while position != "TRAILING" and first < last and goes(text[first]):
        first += 1
    while position != "LEADING" and last > first and goes(text[last - 1]):
        last -= 1
    return text[first:last]


def joined_texts(first: str | None, second: str | None) -> str | None:
    """Two texts one after the other; unknown where either is."""
    return None if first is None or second is None else short(first + second)


def short(text: str) -> str:
    """The text, unless functions have made it too long."""
    if len(text) > MOST_LETTERS:
        raise TooLarge(f"texts of more than {MOST_LETTERS:,} letters are not made here")
    return text


# -- labels: each takes a text and what else it needs, as `Diagrams.joined` wants it ---------------


def _upper(text: str | None, _: object) -> str | None:
    return None if text is None else upper(text)


def _lower(text: str | None, _: object) -> str | None:
    return None if text is None else lower(text)


def _letters(text: str | None, _: object) -> Fraction | None:
    return None if text is None else Fraction(len(text))


def _substring(text: str | None, extra: tuple[int, int | None]) -> str | None:
    return None if text is None else substring(text, *extra)


def _left(text: str | None, letters: int) -> str | None:
    return None if text is None else left(text, letters)


def _right(text: str | None, letters: int) -> str | None:
    return None if text is None else right(text, letters)


def _trimmed(text: str | None, extra: tuple[str | None, str]) -> str | None:
    return None if text is None else trimmed(text, *extra)


def _replaced(text: str | None, extra: tuple[str, str]) -> str | None:
    if text is None or not extra[0]:
        return text
    more = text.count(extra[0]) * (len(extra[1]) - len(extra[0]))
    if len(text) + more > MOST_LETTERS:
        raise TooLarge(f"texts of more than {MOST_LETTERS:,} letters are not made here")
    return text.replace(*extra)


def _ilike(text: str | None, pattern: str) -> bool | None:
    return None if text is None else fits(lower(text), pattern)


def _starts(text: str | None, beginning: str) -> bool | None:
    return None if text is None else text.startswith(beginning)


def _ends(text: str | None, end: str) -> bool | None:
    return None if text is None else text.endswith(end)


def _contains(text: str | None, part: str) -> bool | None:
    return None if text is None else part in text


def _found(text: str | None, pattern: Pattern) -> bool | None:
    return None if text is None else pattern.matches(text)


# -- rules -----------------------------------------------------------------------------------------


def in_case(reading: Reading, node: exp.Expr, value: Value) -> Value:
    """UPPER and LOWER."""
    operation = _upper if isinstance(node, exp.Upper) else _lower
    return Text(_mapped(reading, node, value, operation, None))


def length(reading: Reading, node: exp.Expr, value: Value) -> Value:
    """LENGTH."""
    steps = _mapped(reading, node, value, _letters, None)
    return Number(None, known_part(reading, value), steps, whole=True)


def part(
    reading: Reading, node: exp.Expr, value: Value, start: Value, size: Value | None = None
) -> Value:
    """SUBSTRING."""
    first = whole_literal(reading, node, start)
    letters = None if size is None else whole_literal(reading, node, size)
    return Text(_mapped(reading, node, value, _substring, (first, letters)))


def side(reading: Reading, node: exp.Expr, value: Value, letters: Value) -> Value:
    """LEFT and RIGHT."""
    operation = _left if isinstance(node, exp.Left) else _right
    return Text(_mapped(reading, node, value, operation, whole_literal(reading, node, letters)))


def trim(reading: Reading, node: exp.Expr, value: Value, letters: Value | None = None) -> Value:
    """TRIM, LTRIM and RTRIM."""
    taken = None if letters is None else text_literal(reading, node, letters)
    extra = (taken, str(node.args.get("position") or "BOTH").upper())
    return Text(_mapped(reading, node, value, _trimmed, extra))


def replace(reading: Reading, node: exp.Expr, value: Value, old: Value, new: Value) -> Value:
    """REPLACE."""
    extra = (text_literal(reading, node, old), text_literal(reading, node, new))
    return Text(_mapped(reading, node, value, _replaced, extra))


def match(reading: Reading, node: exp.Expr, value: Value, wanted: Value) -> Value:
    """STARTS_WITH, ENDS_WITH, CONTAINS and ILIKE."""
    pattern = text_literal(reading, node, wanted)
    reading.effort.spend(effort_of(_texts(reading, node, value), pattern))
    operation, word = _MATCHES[type(node)]
    extra = lower(pattern) if isinstance(node, exp.ILike) else pattern
    matches = _chosen(
        reading, node, value, operation, extra=extra, meant=f"{word} {echo(pattern)!r}"
    )
    return Truth(_opposite(reading, matches) if node.args.get("negate") else matches)


def regular(
    reading: Reading, node: exp.Expr, value: Value, wanted: Value, flags: Value | None = None
) -> Value:
    """regexp_matches, and SIMILAR TO, which is about the whole text."""
    written = text_literal(reading, node, wanted)
    options = "" if flags is None else text_literal(reading, node, flags)
    if options not in ("", "c", "i"):
        raise reading.error(node, "a regular expression has the option 'i' here, or none")
    try:
        pattern = Pattern.read(
            written,
            whole=not isinstance(node, exp.RegexpLike),
            any_case=options == "i",
        )
    except BadPattern as problem:
        raise reading.error(node, f"{problem}; write a simpler pattern, or LIKE") from None
    texts = _texts(reading, node, value)
    reading.effort.spend(pattern.size * sum(len(text) + 1 for text in texts) // 4)
    meant = f"matched by {echo(written)!r}"
    return Truth(_chosen(reading, node, value, _found, extra=pattern, meant=meant))


_MATCHES: dict[type[exp.Expr], tuple[Callable[[Any, Any], bool | None], str]] = {
    exp.ILike: (_ilike, "ILIKE"),
    exp.StartsWith: (_starts, "one that starts with"),
    exp.EndsWith: (_ends, "one that ends with"),
    exp.Contains: (_contains, "one that contains"),
}


def text_literal(reading: Reading, node: exp.Expr, value: Value) -> str:
    """The text of a literal; what else a function takes besides its column is written out."""
    text = written(value)
    if isinstance(text, str):
        return text
    raise reading.error(
        node, f"{_word(node)} takes one column, and texts in quotation marks besides it"
    )


def whole_literal(reading: Reading, node: exp.Expr, value: Value) -> int:
    """The whole number of a literal."""
    number = number_literal(reading, node, value)
    if number.denominator != 1 or abs(number) > _LARGEST:
        raise reading.error(node, f"{_word(node)} takes whole numbers besides its column")
    return int(number)


def number_literal(reading: Reading, node: exp.Expr, value: Value) -> Fraction:
    """The number of a literal."""
    number = written(value)
    if isinstance(value, Number) and isinstance(number, Fraction):
        return number
    raise reading.error(node, f"{_word(node)} takes one column, and plain numbers besides it")


def _chosen(
    reading: Reading,
    node: exp.Expr,
    value: Value,
    operation: Callable[[Any, Any], bool | None],
    *,
    extra: object,
    meant: str,
) -> Diagram:
    """Where a text meets a condition; one that no declared value meets is nearly always a slip."""
    mapped = _mapped(reading, node, value, operation, extra)
    if True not in reading.diagrams.labels(mapped):
        texts = _texts(reading, node, value)
        raise reading.error(node, f"no declared value is {meant}; there is {listing(texts)}")
    return mapped


def _mapped(
    reading: Reading,
    node: exp.Expr,
    value: Value,
    operation: Callable[[Any, Any], object],
    extra: object,
) -> Diagram:
    texts = _texts(reading, node, value)
    reading.effort.spend(sum(len(text) for text in texts) // 16 + len(texts) // 4)
    return reading.diagrams.mapped(operation, value.labels, extra)  # type: ignore[union-attr]


def _texts(reading: Reading, node: exp.Expr, value: Value) -> list[str]:
    if isinstance(value, Moment):
        raise reading.error(
            node,
            f"{_word(node)} takes a text; of a date take a part, as in EXTRACT(month FROM d)",
        )
    if not isinstance(value, Text):
        raise reading.error(
            node, f"{_word(node)} takes a text; write CAST(… AS VARCHAR) to make one of a number"
        )
    return [text for text in reading.diagrams.labels(value.labels) if text is not None]


def _opposite(reading: Reading, truth: Diagram) -> Diagram:
    return reading.diagrams.mapped(_not, truth)


def _not(truth: bool | None, _: object) -> bool | None:
    return None if truth is None else not truth


def _word(node: exp.Expr) -> str:
    return node.sql_name() if isinstance(node, exp.Func) else type(node).__name__.upper()
