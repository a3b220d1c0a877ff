"""Portals: statements that were prepared, and results that are fetched bit by bit."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from eke.wire.kind import literal
from eke.wire.message import Bind
from eke.wire.outcome import Outcome
from eke.wire.parameter import Typical
from eke.wire.report import Trouble
from eke.wire.words import Statement, filled, statements

_CURSOR = re.compile(
    r"declare\s+(?P<name>\"(?:[^\"]|\"\")+\"|\w+)\s+"
    r"(?:(?:binary|insensitive|asensitive|(?:no\s+)?scroll)\s+)*cursor\s+"
    r"(?P<hold>(?:with|without)\s+hold\s+)?for\s+",
    re.IGNORECASE,
)
_FETCH = re.compile(
    r"(?P<verb>fetch|move)\s+(?:(?:forward\s+)?(?P<many>all|next|\d{1,9})\s+|forward\s+)?"
    r"(?:(?:from|in)\s+)?(?P<name>\"(?:[^\"]|\"\")+\"|\w+)\s*",
    re.IGNORECASE,
)
_ABSENT = Statement("", ())


@dataclass(frozen=True, slots=True)
class Prepared:
    """The text of a statement with the types of its parameters; its words would take far more."""

    text: str
    parameters: tuple[Typical, ...]

    @property
    def kinds(self) -> tuple[int, ...]:
        return tuple(parameter.kind for parameter in self.parameters)

    def bound(self, bind: Bind) -> str:
        """The text with values for its parameters."""
        values, formats = bind.values, bind.formats
        if len(values) != len(self.kinds) or len(formats) not in (0, 1, len(values)):
            raise Trouble("08P01", f"the statement has {len(self.kinds)} parameters")
        if not {*formats, *bind.results} <= {0, 1}:
            raise Trouble("08P01", "values are sent as text (0) or in binary (1)")
        forms = list(formats) * len(values) if len(formats) == 1 else list(formats)
        forms = forms or [0] * len(values)
        texts = [literal(*parameter) for parameter in zip(values, self.kinds, forms, strict=True)]
        return filled(one_statement(self.text), texts) if texts else self.text

    def sample(self) -> Statement:
        """The statement with a value for each parameter, to find out which columns it has."""
        statement = one_statement(self.text)
        if not self.parameters:
            return statement
        examples = [parameter.example for parameter in self.parameters]
        return one_statement(filled(statement, examples))


@dataclass(slots=True)
class Portal:
    """A statement with its values, the form of its results, and how far they were fetched."""

    text: str
    forms: tuple[int, ...] = ()
    holds: bool = True  # beyond the transaction
    outcome: Outcome | None = None
    sent: int = field(default=0)


@dataclass(frozen=True, slots=True)
class DeclaredCursor:
    """DECLARE name CURSOR FOR a statement."""

    name: str
    text: str
    holds: bool

    @staticmethod
    def of(statement: Statement) -> DeclaredCursor:
        text = statement.text.lstrip()
        head = _CURSOR.match(text)
        if head is None:
            raise Trouble("42601", "write DECLARE name CURSOR FOR SELECT …")
        holds = (head["hold"] or "").lower().startswith("with ")
        asked = text[head.end() :]
        if not one_statement(asked).reads:
            raise Trouble("42601", "a cursor is for a SELECT")
        return DeclaredCursor(plain_name(head["name"]), asked, holds)


@dataclass(frozen=True, slots=True)
class Fetch:
    """FETCH so many FROM a cursor; MOVE passes them over."""

    name: str
    most: int | None
    moves: bool

    @staticmethod
    def of(statement: Statement) -> Fetch:
        given = _FETCH.fullmatch(statement.text.strip())
        if given is None:
            raise Trouble("0A000", "cursors go forward only: FETCH 100 FROM name, or FETCH ALL")
        many = (given["many"] or "next").lower()
        most = None if many == "all" else 1 if many == "next" else int(many)
        return Fetch(plain_name(given["name"]), most, given["verb"].lower() == "move")


def plain_name(text: str) -> str:
    """A name as it is compared: without quotes, or in small letters."""
    return text[1:-1].replace('""', '"') if text.startswith('"') else text.lower()


def one_statement(sql: str) -> Statement:
    """The only statement of a text; nothing for a text without any."""
    every: Sequence[Statement] = statements(sql)
    if len(every) > 1:
        raise Trouble("42601", "a prepared statement is one statement")
    return every[0] if every else _ABSENT
