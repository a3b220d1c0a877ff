"""Spelling: what tools of PostgreSQL write, as eke's SQL writes it.

"public"."people"                           → "people"
TO_TIMESTAMP('2013-01-31 05:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')
                                            → TIMESTAMP '2013-01-31 05:00:00'
'2013-01-31T05:00:00Z'                      → '2013-01-31 05:00:00'

PostgreSQL, too, passes over the zone of a text that it compares with a timestamp. Every text stays
as long as it was, so that errors point to where they are.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from eke.wire.words import Statement, Word

SCHEMA = "public"
_MOMENT = re.compile(r"'(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d)?)(?:\.0+)?(?:Z|[+-]00(?::?00)?)?'")
_DAY = re.compile(r"'(\d{4}-\d\d-\d\d)'")
_FORMS = {
    "to_timestamp": ("TIMESTAMP", {"'YYYY-MM-DD HH24:MI:SS.US'", "'YYYY-MM-DD HH24:MI:SS'"}),
    "to_date": ("DATE", {"'YYYY-MM-DD'"}),
}


def respelled(statement: Statement, database: str, relations: Collection[str]) -> str:
    """The text of a statement as eke's SQL spells it."""
    text = statement.text
    for start, stop, instead in _changes(statement.words, database, relations):
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


def _moment(text: str) -> str | None:
    """A text that spells a moment or a day, as eke reads it; None for any other."""
    moment = _MOMENT.fullmatch(text)
    if moment is not None:
        return f"'{moment[1]} {moment[2]}'"
    return text if _DAY.fullmatch(text) else None
