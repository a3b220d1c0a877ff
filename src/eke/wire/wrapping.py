"""Wrapping: what tools put around a question, taken off again.

SELECT * FROM (a question) AS q LIMIT 100     → the question, and its first 100 rows
SELECT q.n AS x FROM (a question) AS q        → the question, and one column of it
… WHERE 1 = 0, … LIMIT 0                      → only which columns it has: a probe
SELECT * FROM people LIMIT 100                → columns and how many rows: a preview

Places in the text stay what they were, so that errors point to where they are.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from eke.wire.chosen import Chosen, chosen_in, composed, is_name, without_qualifiers
from eke.wire.report import Trouble
from eke.wire.spelling import respelled
from eke.wire.words import Statement, Word, statements

MOST_DEPTH = 10
_AMOUNT = re.compile(r"[0-9]{1,9}")
_COMBINED = frozenset({"union", "intersect", "except"})
_NEVER = (("1", "=", "0"), ("0", "=", "1"), ("false",), ("1", "<>", "1"), ("1", "!=", "1"))
_NEVERS = (*_NEVER, *(("(", *never, ")") for never in _NEVER))
_AFTER_WHERE: tuple[list[str], ...] = ([], ["group"], ["order"], ["limit"], ["offset"], ["fetch"])


@dataclass(frozen=True, slots=True)
class Unwrapped:
    """A question as it is asked, how many of its rows are wanted, and from which on.

    `columns` are those of a probe or a preview, which name columns of the table, or all of them
    with "*"; None where what is left is a question. `chosen` are columns of the result of either;
    None for all of them, as they are.
    """

    text: str
    is_probe: bool = False
    limit: int | None = None
    offset: int = 0
    columns: tuple[Chosen, ...] | None = None
    chosen: tuple[Chosen, ...] | None = None

    @property
    def is_preview(self) -> bool:
        """Whether rows of the table are wanted, and no more than some."""
        return self.columns is not None and not self.is_probe and self.limit is not None


def unwrapped(
    statement: Statement,
    database: str,
    relations: Collection[str],
    days: Collection[str] = (),
    *,
    is_probe: bool = False,
    depth: int = 0,
) -> Unwrapped:
    """A statement without what was put around it; `is_probe` if no row of it is wanted.

    `days` are the columns of days, which are compared with moments as PostgreSQL does.
    """
    if depth > MOST_DEPTH:
        raise Trouble("54001", f"a question is wrapped at most {MOST_DEPTH} times")
    text = respelled(statement, database, relations, days)
    words, limit, offset = _without_limit(list(statement.words))
    words, never = _without_never(words)
    is_probe = is_probe or never is not None or limit == 0
    wrapping = _inside(words)
    if wrapping is not None:
        inner, chosen = wrapping
        start, stop = inner[0].start, inner[-1].start + len(inner[-1].text)
        (within,) = statements(text[start:stop])
        below = unwrapped(within, database, relations, days, is_probe=is_probe, depth=depth + 1)
        moved = " " * start + below.text  # as far from the beginning as it was
        rest = None if below.limit is None else max(0, below.limit - offset)
        fewest = min((most for most in (limit, rest) if most is not None), default=None)
        skipped = offset + below.offset
        both = composed(chosen, below.chosen)
        return Unwrapped(moved, below.is_probe, fewest, skipped, below.columns, both)
    columns = _of_table(words, relations)
    if not is_probe:
        is_preview = columns is not None and _is_bare(words)
        return Unwrapped(text, False, limit, offset, columns) if is_preview else Unwrapped(text)
    is_grouped = "group" in [words[place].lower for place in _outermost(words)]
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
        for never in _NEVERS if lower[place] == "where" else ():
            stop = place + 1 + len(never)
            is_end = lower[stop : stop + 1] in _AFTER_WHERE
            if lower[place + 1 : stop] == list(never) and is_end:
                last = words[stop - 1]
                span = words[place].start, last.start + len(last.text)
                return words[:place] + words[stop:], span
    return words, None


def gives_no_rows(words: Sequence[Word]) -> bool:
    """Whether a query says itself, after LIMIT or WHERE, that nothing it reads is needed."""
    outer = {words[place].lower for place in _outermost(words)}
    left, limit, _ = _without_limit(list(words))
    return _COMBINED.isdisjoint(outer) and (limit == 0 or _without_never(left)[1] is not None)


def _outermost(words: Sequence[Word]) -> list[int]:
    """The places of the words that stand in no parentheses."""
    places: list[int] = []
    depth = 0
    for place, word in enumerate(words):
        depth += (word.text == "(") - (word.text == ")")
        if depth == 0:
            places.append(place)
    return places


def _inside(
    words: Sequence[Word],
) -> tuple[Sequence[Word], tuple[Chosen, ...] | None] | None:
    """The words of q, and what is chosen, in SELECT a, q.b AS c FROM (q) AS q; None for others."""
    lower = [word.lower if word.kind == "name" else word.text for word in words]
    if lower[:1] != ["select"] or "from" not in lower:
        return None
    start = lower.index("from")
    chosen = chosen_in(words[1:start])
    if chosen is None or lower[start + 1 : start + 2] != ["("]:
        return None
    depth = 0
    for place, word in enumerate(words[start + 1 :], start=start + 1):
        depth += (word.text == "(") - (word.text == ")")
        if depth == 0:
            named = [word for word in words[place + 1 :] if word.lower != "as"]
            is_all = len(named) <= 1 and all(map(is_name, named))
            everything = [item.column == "*" for item in chosen]
            inner = words[start + 2 : place]
            if not is_all or not inner or (any(everything) and len(chosen) > 1):
                return None
            return inner, None if all(everything) else chosen
    return None


def _of_table(words: Sequence[Word], relations: Collection[str]) -> tuple[Chosen, ...] | None:
    """The columns of SELECT a, t.b AS c FROM t, or "*"; None for anything else."""
    lower = [word.lower for word in words]
    if lower[:1] != ["select"] or "from" not in lower or "group" in lower:
        return None
    start = lower.index("from")
    table = [word for word in words[start + 1 :] if word.text != "."]
    is_one_table = 1 <= len(table) <= 5 and any(w.lower.lower() in relations for w in table)
    return chosen_in(words[1:start]) if is_one_table else None


def _is_bare(words: Sequence[Word]) -> bool:
    """Whether nothing follows the table but a name for it: no condition, no order."""
    start = [word.lower for word in words].index("from") + 1
    rest = without_qualifiers(words[start:])
    named = [word for word in rest[1:] if word.lower != "as"]
    return len(named) <= 1 and all(map(is_name, rest)) and named == rest[len(rest) - len(named) :]
