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
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from eke.catalogue import CatalogueColumn, Relation
from eke.sql import AGGREGATE_NAMES
from eke.wire.kind import BOOL, DATE, FLOAT8, TEXT, TIMESTAMP
from eke.wire.named import common_names, is_here, tables_of
from eke.wire.released import table_of
from eke.wire.report import Trouble
from eke.wire.table import HIGH, LOW
from eke.wire.words import Statement, Word, statements
from eke.wire.wrapping import MOST_DEPTH, gives_no_rows

ACCURACY = (
    "calculated from the rows of the question inside: the accuracy that was asked for is theirs, "
    "not that of the result"
)
ANSWERED = "the question inside was answered all the same, and is free from now on"
_BEFORE = frozenset({"from", "join", "as", "materialized"})
_QUERIES = frozenset({"select", "with"})
_CLAUSES = frozenset({("group", "by"), ("select", "distinct")})


@dataclass(frozen=True, slots=True)
class Calculation:
    """A question, and the statement that is calculated from its rows, which may need none."""

    question: Statement
    text: str
    name: str  # of the rows, in the statement
    needs_rows: bool = True

    def over(
        self, columns: Sequence[CatalogueColumn], rows: Sequence[Sequence[Any]] = ()
    ) -> Relation:
        """The rows of the question's answer as the relation that the statement reads.

        The ends of intervals come last, so that a list of names is about the same columns with and
        without them.
        """
        names = [column.name for column in columns]
        if len({name.casefold() for name in names}) < len(names):
            raise Trouble(
                "42701",
                "two columns of the question inside have one name, or differ in capitals alone",
                "name them with AS",
            )
        ends = {name + end for name in names for end in (LOW, HIGH)}
        places = sorted(range(len(columns)), key=lambda place: names[place] in ends)
        given = tuple(columns[place] for place in places)
        values = [[row[place] for row in rows] for place in places]
        return Relation(self.name, given, rows=lambda: table_of(given, values))

    def example(self, columns: Sequence[CatalogueColumn]) -> Relation:
        """One row that is made up, to see what the statement does to any."""
        return self.over(columns, [[_EXAMPLES.get(column.oid, 1) for column in columns]])


_EXAMPLES: dict[int, Any] = {
    TEXT: "a",
    BOOL: True,
    FLOAT8: 1.5,
    DATE: date(2000, 1, 1),
    TIMESTAMP: datetime(2000, 1, 1),  # noqa: DTZ001 - timestamps are told without a zone
}


def calculation_in(statement: Statement, tables: Collection[str]) -> Calculation | None:
    """What a statement calculates from a question inside; None where it is a question itself.

    `tables` are the names of the protected table and of the lookups.
    """
    nested = _Nested.of(statement.words, tables)
    if not nested.results:
        return None
    if len(nested.results) > 1:
        raise Trouble(
            "0A000",
            "a statement is calculated from one question, and this one has several inside",
            "ask for all aggregates in one SELECT, with FILTER, UNION ALL or windows",
        )
    ((start, stop),) = nested.results
    words = statement.words[start:stop]
    begin, end = words[0].start, words[-1].start + len(words[-1].text)
    (question,) = statements(statement.text[begin:end])
    around = [*statement.words[:start], *statement.words[stop:]]
    if reads(around, tables):
        raise Trouble(
            "0A000",
            "beside the result of a question the table itself cannot be read",
            "ask for everything in one question, without a query after FROM",
        )
    shadowed = common_names(around) & frozenset(tables)
    if shadowed:
        raise Trouble("42712", f'WITH names a query "{min(shadowed)[:63]}" like a table; rename it')
    name = "result of a question"  # no relation has such a name
    while name in statement.text:
        name += "."
    text = f'{statement.text[:begin]}SELECT * FROM "{name}"{statement.text[end:]}'  # noqa: S608
    around_it = nested.around(start, stop)
    if len(around_it) > MOST_DEPTH:
        raise Trouble("54001", f"a question stands in at most {MOST_DEPTH} queries")
    levels = [statement.words, *(statement.words[i:j] for i, j in around_it)]
    needs_rows = not any(gives_no_rows(level) for level in levels)
    return Calculation(question, text, name, needs_rows)


def reads(words: Sequence[Word], tables: Collection[str]) -> bool:
    """Whether some of the tables are read, from words alone."""
    return any(table[-1] in tables and is_here(table) for table in tables_of(words))


@dataclass(frozen=True, slots=True)
class _Nested:
    """The parentheses of a statement by the places of the words in them, the innermost first.

    `results` are the innermost queries after FROM, JOIN or AS that have one row for many.
    """

    every: list[tuple[int, int]]
    results: list[tuple[int, int]]

    @staticmethod
    def of(words: Sequence[Word], tables: Collection[str]) -> _Nested:
        """In one pass: each word counts for the innermost query that it is in."""
        nested = _Nested([], [])
        opened: list[_Opened] = [_Opened(0, is_query=True)]
        for place, word in enumerate(words):
            following = words[place + 1] if place + 1 < len(words) else None
            if word.text == "(" and word.kind == "mark":
                is_query = following is not None and _is_named(following, _QUERIES)
                opened.append(_Opened(place + 1, is_query=is_query))
            elif word.text == ")" and word.kind == "mark" and len(opened) > 1:
                closed = opened.pop()
                nested.every.append((closed.start, place))
                is_result = closed.is_query and closed.aggregates and not closed.has_result
                if is_result and _stands_for_table(words, closed.start):
                    inside = words[closed.start : place]
                    if reads(inside, tables):
                        nested.results.append((closed.start, place))
                        closed.has_result = True
                opened[-1].has_result |= closed.has_result
                opened[-1].aggregates |= closed.aggregates and not closed.is_query
            elif word.kind == "name" and following is not None:
                is_call = word.lower in AGGREGATE_NAMES and following.text == "("
                is_clause = (word.lower, following.lower) in _CLAUSES
                opened[-1].aggregates |= is_call or is_clause
        return nested

    def around(self, start: int, stop: int) -> list[tuple[int, int]]:
        """The parentheses that others stand in."""
        return [(first, last) for first, last in self.every if first < start and last > stop]


@dataclass(slots=True)
class _Opened:
    """Parentheses that are still open: where, and what was met in them so far."""

    start: int
    is_query: bool
    aggregates: bool = False
    has_result: bool = False


def _stands_for_table(words: Sequence[Word], start: int) -> bool:
    """Whether a table could stand in place of these parentheses."""
    return start >= 2 and _is_named(words[start - 2], _BEFORE)


def _is_named(word: Word, names: Collection[str]) -> bool:
    return word.kind == "name" and word.lower in names
