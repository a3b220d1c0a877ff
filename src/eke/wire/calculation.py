"""Calculations: statements over the result of a question, which is asked first.

    SELECT COUNT(*) FROM (a question) AS q
    SELECT q.sex, MAX(q.n) FROM (a question) AS q GROUP BY q.sex
    WITH q AS (a question) SELECT * FROM q WHERE n > 100

The question is answered like any other; what is around it is calculated from its rows, by the
engine that answers for the catalogue.

Privacy: the rows of an answer were released; whatever is calculated from them tells nothing new.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from eke.catalogue import CatalogueColumn, Relation
from eke.sql import AGGREGATE_NAMES
from eke.wire.named import is_here, tables_of
from eke.wire.released import different, table_of
from eke.wire.report import Trouble
from eke.wire.words import Statement, Word, statements

ACCURACY = (
    "calculated from the rows of the question inside: the accuracy that was asked for is theirs, "
    "not that of the result"
)
ANSWERED = "the question inside was answered all the same, and is free from now on"
_RESULT = "result of a question"  # no relation has such a name
_BEFORE = frozenset({"from", "join", "as", "materialized"})
_QUERIES = frozenset({"select", "with"})
_CLAUSES = frozenset({("group", "by"), ("select", "distinct")})


@dataclass(frozen=True, slots=True)
class Calculation:
    """A question, and the statement that is calculated from its rows."""

    question: Statement
    text: str

    @staticmethod
    def over(columns: Sequence[CatalogueColumn], rows: Sequence[Sequence[Any]] = ()) -> Relation:
        """The rows of the question's answer as the relation that the statement reads."""
        names = different([column.name for column in columns])
        distinct = tuple(
            replace(column, name=name) for column, name in zip(columns, names, strict=True)
        )
        values = [[row[place] for row in rows] for place in range(len(columns))]
        return Relation(_RESULT, distinct, rows=lambda: table_of(distinct, values))


def calculation_in(statement: Statement, tables: Collection[str]) -> Calculation | None:
    """What a statement calculates from a question inside; None where it is a question itself.

    `tables` are the names of the protected table and of the lookups.
    """
    spans = _results(statement.words, tables)
    if not spans:
        return None
    if len(spans) > 1:
        raise Trouble(
            "0A000",
            "a statement is calculated from one question, and this one has several inside",
            "ask for all aggregates in one SELECT, with FILTER, UNION ALL or windows",
        )
    ((start, stop),) = spans
    words = statement.words[start:stop]
    begin, end = words[0].start, words[-1].start + len(words[-1].text)
    (question,) = statements(statement.text[begin:end])
    around = [*statement.words[:start], *statement.words[stop:]]
    if _reads(around, tables):
        raise Trouble(
            "0A000",
            "beside the result of a question the table itself cannot be read",
            "ask for everything in one question, without a query after FROM",
        )
    text = f'{statement.text[:begin]}SELECT * FROM "{_RESULT}"{statement.text[end:]}'  # noqa: S608
    return Calculation(question, text)


def _reads(words: Sequence[Word], tables: Collection[str]) -> bool:
    return any(table[-1] in tables and is_here(table) for table in tables_of(words))


def _results(words: Sequence[Word], tables: Collection[str]) -> list[tuple[int, int]]:
    """The innermost queries after FROM, JOIN or AS that have one row for many: their places."""
    opened: list[int] = []
    spans: list[tuple[int, int]] = []
    for place, word in enumerate(words):
        if word.text == "(" and word.kind == "mark":
            opened.append(place + 1)
        elif word.text == ")" and word.kind == "mark" and opened:
            start = opened.pop()
            inside = words[start:place]
            is_first = not any(start <= inner for inner, _ in spans)
            is_query = _stands_for_table(words, start) and _aggregates(inside)
            if is_first and is_query and _reads(inside, tables):
                spans.append((start, place))
    return spans


def _stands_for_table(words: Sequence[Word], start: int) -> bool:
    """Whether a query begins in these parentheses, and a table could stand in their place."""
    before = words[start - 2] if start >= 2 else None
    is_table = before is not None and before.kind == "name" and before.lower in _BEFORE
    return is_table and words[start].kind == "name" and words[start].lower in _QUERIES


def _aggregates(words: Sequence[Word]) -> bool:
    """Whether a query groups or aggregates itself, not only one that is inside it."""
    depths: list[bool] = []  # of parentheses, whether a query is in them
    for place, word in enumerate(words):
        following = words[place + 1] if place + 1 < len(words) else None
        if word.text == "(" and word.kind == "mark":
            depths.append(following is not None and following.lower in _QUERIES)
        elif word.text == ")" and word.kind == "mark" and depths:
            depths.pop()
        elif word.kind == "name" and following is not None and not any(depths):
            is_call = word.lower in AGGREGATE_NAMES and following.text == "("
            is_clause = (word.lower, following.lower) in _CLAUSES
            if is_call or is_clause:
                return True
    return False
