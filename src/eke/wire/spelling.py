"""Spelling: what tools of PostgreSQL write, as eke's SQL writes it.

"public"."people"                           → "people"
TO_TIMESTAMP('2013-01-31 05:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')
                                            → TIMESTAMP '2013-01-31 05:00:00'
'2013-01-31T05:00:00Z'                      → '2013-01-31 05:00:00'
day < '2013-01-31T05:00:00Z'                → day < '2013-01-31', of a column of days

PostgreSQL, too, passes over the zone of a text that it compares with a timestamp, and over the time
of one that it compares with a date. Every text stays as long as it was, so that errors point to
where they are.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from eke.wire.words import Statement, Word

SCHEMA = "public"
_MOMENT = re.compile(r"'(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d)?)(?:\.0+)?(?:Z|[+-]00(?::?00)?)?'")
_TIME_OF_DAY = re.compile(
    r"'(\d{4}-\d\d-\d\d)[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?:Z|[+-]00(?::?00)?)?'"
)
_COMPARED = frozenset({"=", "<>", "!=", "<", "<=", ">", ">=", "between"})
_DAY = re.compile(r"'(\d{4}-\d\d-\d\d)'")
_FORMS = {
    "to_timestamp": ("TIMESTAMP", {"'YYYY-MM-DD HH24:MI:SS.US'", "'YYYY-MM-DD HH24:MI:SS'"}),
    "to_date": ("DATE", {"'YYYY-MM-DD'"}),
}


def respelled(
    statement: Statement,
    database: str,
    relations: Collection[str],
    days: Collection[str] = (),
) -> str:
    """The text of a statement as eke's SQL spells it; `days` are the columns of days."""
    text = statement.text
    for start, stop, instead in (
        *_changes(statement.words, database, relations),
        *_cut(statement.words, days),
    ):
        text = text[:start] + instead.ljust(stop - start) + text[stop:]
    return text


def _changes(
    words: Sequence[Word], database: str, relations: Collection[str]
) -> Iterator[tuple[int, int, str]]:
    for place, word in enumerate(words):
        end = word.start + len(word.text)
        after = [one.text for one in words[place + 1 : place + 6]]
        if word.lower == SCHEMA and after[:1] == ["."] and len(after) > 1:
            name = words[place + 2]
            if name.lower.lower() in relations:
                is_whole = place >= 2 and words[place - 1].text == "."  # database.public.people
                if not is_whole or words[place - 2].lower.lower() == database.lower():
                    yield words[place - 2 if is_whole else place].start, name.start, ""
        elif word.lower in _FORMS and len(after) == 5:
            kind, forms = _FORMS[word.lower]
            moment = _moment(after[1])
            if (
                after[0] == "("
                and after[2] == ","
                and after[3] in forms
                and after[4] == ")"
                and moment
            ):
                yield word.start, words[place + 5].start + 1, f"{kind} {moment}"
        elif word.kind == "string" and "T" in word.text and (moment := _moment(word.text)):
            yield word.start, end, moment


def _cut(words: Sequence[Word], days: Collection[str]) -> Iterator[tuple[int, int, str]]:
    """Moments that are compared with columns of days, without their time."""
    for place, word in enumerate(words):
        moment = _TIME_OF_DAY.fullmatch(word.text) if word.kind == "string" else None
        if moment is None:
            continue
        before = [one.lower for one in words[max(place - 4, 0) : place]]
        if before[1:2] == ["between"] and before[3:] == ["and"]:
            column = words[place - 4]
        elif place >= 2 and before[-1] in _COMPARED:
            column = words[place - 2]
        else:
            continue
        if column.kind in ("name", "quoted") and column.lower.lower() in days:
            yield word.start, word.start + len(word.text), f"'{moment[1]}'"


def _moment(text: str) -> str | None:
    """A text that spells a moment or a day, as eke reads it; None for any other."""
    moment = _MOMENT.fullmatch(text)
    if moment is not None:
        return f"'{moment[1]} {moment[2]}'"
    return text if _DAY.fullmatch(text) else None
