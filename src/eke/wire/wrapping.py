"""Wrapping: what tools put around a question, taken off again.

SELECT * FROM (a question) AS q LIMIT 100     → the question, and its first 100 rows
… WHERE 1 = 0, … LIMIT 0                      → only which columns it has: a probe

Places in the text stay what they were, so that errors point to where they are.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from eke.wire.report import Trouble
from eke.wire.spelling import respelled
from eke.wire.words import Statement, Word, statements

MOST_DEPTH = 10
_AMOUNT = re.compile(r"[0-9]{1,9}")
_COMBINED = frozenset({"union", "intersect", "except"})
_NEVER = (("1", "=", "0"), ("0", "=", "1"), ("false",), ("1", "<>", "1"), ("1", "!=", "1"))


@dataclass(frozen=True, slots=True)
class Unwrapped:
    """A question as it is asked, how many of its rows are wanted, and from which on.

    `columns` are those of a probe that names columns of the table, or all of them with "*"; None
    where what is left is a question.
    """

    text: str
    is_probe: bool = False
    limit: int | None = None
    offset: int = 0
    columns: tuple[str, ...] | None = None


def unwrapped(
    statement: Statement,
    database: str,
    relations: Collection[str],
    *,
    is_probe: bool = False,
    depth: int = 0,
) -> Unwrapped:
    """A statement without what was put around it; `is_probe` if no row of it is wanted."""
    if depth > MOST_DEPTH:
        raise Trouble("54001", f"a question is wrapped at most {MOST_DEPTH} times")
    text = respelled(statement, database, relations)
    words, limit, offset = _without_limit(list(statement.words))
    words, never = _without_never(words)
    is_probe = is_probe or never is not None or limit == 0
    inner = _inside(words)
    if inner is not None:
        start, stop = inner[0].start, inner[-1].start + len(inner[-1].text)
        (within,) = statements(text[start:stop])
        below = unwrapped(within, database, relations, is_probe=is_probe, depth=depth + 1)
        moved = " " * start + below.text  # as far from the beginning as it was
        rest = None if below.limit is None else max(0, below.limit - offset)
        fewest = min((most for most in (limit, rest) if most is not None), default=None)
        return Unwrapped(moved, below.is_probe, fewest, offset + below.offset, below.columns)
    if not is_probe:
        return Unwrapped(text)
    columns = _plain_columns(words, relations)
    is_grouped = "group" in [word.lower for word in words]
    if never is not None and columns is None and not is_grouped:
        return Unwrapped(text)  # one row of zeros in SQL; whoever reads it says so
    if never is not None:
        text = text[: never[0]] + " " * (never[1] - never[0]) + text[never[1] :]
    end = words[-1].start + len(words[-1].text) if words else 0
    return Unwrapped(text[:end], is_probe=True, columns=columns)


def _without_limit(words: list[Word]) -> tuple[list[Word], int | None, int]:
    """LIMIT and OFFSET at the end, in either order."""
    amounts: dict[str, int] = {}
    while len(words) >= 2 and words[-2].lower in ("limit", "offset"):
        if not _AMOUNT.fullmatch(words[-1].text):
            break
        amounts[words[-2].lower] = int(words[-1].text)
        words = words[:-2]
    return words, amounts.get("limit"), amounts.get("offset", 0)


def _without_never(words: list[Word]) -> tuple[list[Word], tuple[int, int] | None]:
    """WHERE with a condition that no row meets, and where in the text it stands.

    Only of the statement itself: not within parentheses, nor of one SELECT among several.
    """
    lower = [word.lower if word.kind != "string" else "" for word in words]
    outer = _outermost(words)
    if not _COMBINED.isdisjoint(lower[place] for place in outer):
        return words, None
    for place in outer:
        for never in _NEVER if lower[place] == "where" else ():
            stop = place + 1 + len(never)
            ends = lower[stop : stop + 1]
            if lower[place + 1 : stop] == list(never) and ends in ([], ["group"], ["order"]):
                last = words[stop - 1]
                span = words[place].start, last.start + len(last.text)
                return words[:place] + words[stop:], span
    return words, None


def _outermost(words: Sequence[Word]) -> list[int]:
    """The places of the words that stand in no parentheses."""
    places: list[int] = []
    depth = 0
    for place, word in enumerate(words):
        depth += (word.text == "(") - (word.text == ")")
        if depth == 0:
            places.append(place)
    return places


def _inside(words: Sequence[Word]) -> Sequence[Word] | None:
    """The words of q in SELECT * FROM (q) AS name; None for anything else."""
    lower = [word.lower for word in words]
    if lower[:4] != ["select", "*", "from", "("]:
        return None
    depth = 0
    for place, word in enumerate(words[3:], start=3):
        depth += (word.text == "(") - (word.text == ")")
        if depth == 0:
            named = [one for one in words[place + 1 :] if one.lower != "as"]
            is_all = len(named) <= 1 and all(one.kind in ("name", "quoted") for one in named)
            return words[4:place] if is_all and place > 4 else None
    return None


def _plain_columns(words: Sequence[Word], relations: Collection[str]) -> tuple[str, ...] | None:
    """The columns of SELECT a, t.b FROM t, or "*"; None for anything else."""
    lower = [word.lower for word in words]
    if lower[:1] != ["select"] or "from" not in lower:
        return None
    start = lower.index("from")
    names = [word for word in words[1:start] if word.text != ","]
    last = [  # without the table in front of a column
        word
        for word, after in zip(names, [*names[1:], None], strict=True)
        if word.text != "." and not (after is not None and after.text == ".")
    ]
    table = [word for word in words[start + 1 :] if word.text != "."]
    is_one_table = 1 <= len(table) <= 5 and any(w.lower.lower() in relations for w in table)
    is_plain = all(word.kind in ("name", "quoted") or word.text == "*" for word in last)
    if not last or not is_plain or not is_one_table or "group" in lower:
        return None
    return tuple(word.lower for word in last)
