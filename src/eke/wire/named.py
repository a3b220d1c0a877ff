"""Named tables: which relations a statement reads, from its words alone."""

from __future__ import annotations

from collections.abc import Sequence

from eke.wire.spelling import SCHEMA
from eke.wire.words import Word

_HOW_KEPT = ("not", "materialized")
_QUERIES = frozenset({"select", "with", "values", "table", "("})


def tables_of(words: Sequence[Word]) -> list[tuple[str, ...]]:
    """The names after FROM, JOIN and TABLE, each with what qualifies it.

    FROM in EXTRACT(month FROM d) names no table: it stands in parentheses that hold no query.
    """
    tables: list[tuple[str, ...]] = []
    holds_query = [True]
    lower = [word.lower.lower() for word in words]
    for place, word in enumerate(words):
        if word.text == "(":
            holds_query.append(lower[place + 1 : place + 2] != [] and lower[place + 1] in _QUERIES)
        elif word.text == ")" and len(holds_query) > 1:
            holds_query.pop()
        elif (
            word.kind == "name"
            and holds_query[-1]
            and (_is_before_table(words, place) or _is_short(words, place))
        ):
            table = _table(words, place + 1)
            tables += [table] if table else []
    return tables


def _is_before_table(words: Sequence[Word], place: int) -> bool:
    """Whether this is JOIN, or FROM, but not that of IS DISTINCT FROM."""
    is_compared = place > 0 and words[place - 1].lower == "distinct"
    is_compared = is_compared and words[place - 2].lower in ("is", "not")
    return words[place].lower in ("from", "join") and not is_compared


def _is_short(words: Sequence[Word], place: int) -> bool:
    """Whether TABLE t begins here, which is short for SELECT * FROM t."""
    return words[place].lower == "table" and (place == 0 or words[place - 1].text == "(")


def _table(words: Sequence[Word], place: int) -> tuple[str, ...]:
    """The parts of the name that begins at a place; none where something else does."""
    if place < len(words) and words[place].lower in ("only", "lateral"):
        place += 1
    parts: list[str] = []
    while place < len(words) and words[place].kind in ("name", "quoted"):
        parts.append(words[place].lower.lower())
        if place + 2 >= len(words) or words[place + 1].text != ".":
            break
        place += 2
    return tuple(parts)


def common_names(words: Sequence[Word]) -> frozenset[str]:
    """The names that WITH gives to queries, with columns and without."""
    lower = [word.lower.lower() for word in words]
    names: set[str] = set()
    opened: list[int] = []
    before = 0  # the place of the parenthesis that the one closed last belongs to
    for place, word in enumerate(lower):
        if word == "(":
            opened.append(place)
        elif word == ")" and opened:
            before = opened.pop()
        elif word == "as" and place:
            after = [one for one in lower[place + 1 : place + 4] if one not in _HOW_KEPT]
            named = place - 1 if lower[place - 1] != ")" else before - 1
            if after[:1] == ["("] and named >= 0 and words[named].kind != "mark":
                names.add(lower[named])
    return frozenset(names)


def is_here(table: Sequence[str], database: str | None = None) -> bool:
    """Whether what qualifies a name is the schema of a dataset, and the database its own."""
    qualified = list(table[:-1])
    if qualified[-1:] not in ([], [SCHEMA]):
        return False
    return len(qualified) < 2 or database is None or qualified[0] == database.lower()
