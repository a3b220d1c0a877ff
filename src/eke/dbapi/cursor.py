"""Cursor: one question at a time, its rows with the interval next to each value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Any, NoReturn, Protocol, Self

from eke.dbapi.binding import bound
from eke.dbapi.failure import (
    InterfaceError,
    NotSupportedError,
    ProgrammingError,
    Warning,  # noqa: A004 - the name that PEP 249 gives it
    translated,
)
from eke.dbapi.kind import NUMBER, STRING, TypeObject
from eke.domain import Domain, described_columns
from eke.question import Accuracy, Question
from eke.session import Aim, Answer, Dataset
from eke.sql import asks_for_columns, parse

Row = tuple[Any, ...]
Description = tuple[str, TypeObject, None, None, None, None, bool]


class Connected(Protocol):
    """What a cursor needs of its connection."""

    session: Dataset
    aim: Aim
    confidence: float
    analyst: str | None
    policy: str | None
    closed: bool


class Cursor:
    """Made by `Connection.cursor`. `answer` is the whole answer behind the rows, with its cost.

    `messages` holds what the domain leaves open of it, besides the noise: see `Answer.caveats`.
    """

    arraysize = 1

    def __init__(self, connection: Connected) -> None:
        self.connection = connection
        self.description: tuple[Description, ...] | None = None
        self.rowcount = -1
        self.answer: Answer | None = None
        self.messages: list[tuple[type[Warning], str]] = []
        self._rows: list[Row] | None = None
        self._next = 0
        self._closed = False

    @property
    def rownumber(self) -> int | None:
        """The place of the next row, from 0."""
        return None if self._rows is None else self._next

    def execute(self, operation: str, parameters: Sequence[Any] | None = None) -> Cursor:
        """Ask a question; values for its question marks are given as a list.

        The accuracy is that of the text (ERROR WITHIN 60 AT CONFIDENCE 0.95, or SPEND 0.05), else
        that of the connection. DESCRIBE and SHOW COLUMNS list the columns. Raises
        `OperationalError`, with advice, when it was refused.
        """
        self._require_open()
        self.description, self.rowcount, self.answer, self._rows = None, -1, None, None
        self.messages = []
        with translated():
            text = bound(operation, parameters)
            connection = self.connection
            session = connection.session
            if asks_for_columns(text):
                self._describe(session.domain)
                return self
            question = parse(text, session.domain, unit=session.unit)
            inline = question.requirement or Accuracy()
            aims = inline.within is not None or inline.spend is not None
            aim = Aim() if aims else connection.aim
            sized = inline.groups_of is not None or _is_linear(question)
            answer = session.ask(
                text,
                aim.within,
                None if inline.confidence else connection.confidence,
                spend=aim.spend,
                groups_of=None if sized else aim.groups_of,
                analyst=connection.analyst,
                policy=connection.policy,
            )
        names = [column.name for column in question.columns]
        self._take(answer, names[0])
        return self

    def executemany(self, operation: str, seq_of_parameters: Sequence[Sequence[Any]]) -> NoReturn:
        """Not supported: only the last answer could be fetched, and all would be paid for."""
        self._require_open()
        raise NotSupportedError("ask the questions one by one, with execute")

    def fetchone(self) -> Row | None:
        """The next row; None after the last one."""
        rows = self._result()
        if self._next >= len(rows):
            return None
        self._next += 1
        return rows[self._next - 1]

    def fetchmany(self, size: int | None = None) -> list[Row]:
        """The next rows, `arraysize` of them if nothing else is said."""
        rows = self._result()
        page = rows[self._next : self._next + (self.arraysize if size is None else size)]
        self._next += len(page)
        return page

    def fetchall(self) -> list[Row]:
        """The rows that are left."""
        return self.fetchmany(len(self._result()))

    def setinputsizes(self, sizes: Sequence[Any]) -> None:
        """Part of the interface; nothing depends on it."""

    def setoutputsize(self, size: int, column: int | None = None) -> None:
        """Part of the interface; nothing depends on it."""

    def close(self) -> None:
        """Let go of the rows; the cursor cannot be used afterwards."""
        self._closed = True
        self._rows = None

    def __iter__(self) -> Iterator[Row]:
        return iter(self.fetchone, None)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _take(self, answer: Answer, name: str) -> None:
        self.answer, self._next = answer, 0
        self.messages = [(Warning, caveat) for caveat in answer.caveats]
        if answer.is_number:
            self._rows = [(answer.value, *answer.interval)]
            names = (name, f"{name}_low", f"{name}_high")
            self.description = tuple(_value_column(one, [answer.value]) for one in names)
        else:
            self._rows = answer.flat_rows()
            flat, described = iter(answer.flat_columns), list[Description]()
            for place, is_key in enumerate(answer.is_key):
                if is_key:
                    described.append(_key_column(next(flat), [row[place] for row in answer.rows]))
                else:
                    values = [row[place].value for row in answer.rows]
                    described += [_value_column(next(flat), values) for _ in range(3)]
            self.description = tuple(described)
        self.rowcount = len(self._rows)

    def _describe(self, domain: Domain) -> None:
        """What DESCRIBE and SHOW COLUMNS give: a row for each declared column."""
        columns = described_columns(domain)
        self.description = tuple(
            (name, STRING, None, None, None, None, False) for name in columns[0]
        )
        self._rows, self._next = [tuple(column.values()) for column in columns], 0
        self.rowcount = len(self._rows)

    def _result(self) -> list[Row]:
        self._require_open()
        if self._rows is None:
            raise ProgrammingError("there are no rows to fetch; execute a question first")
        return self._rows

    def _require_open(self) -> None:
        if self._closed or self.connection.closed:
            raise InterfaceError("it was closed; open a new one with connect(...).cursor()")


def _is_linear(question: Question) -> bool:
    """True for counts and sums, which are as accurate in small groups as in large ones."""
    return all(column.is_key or column.is_linear for column in question.columns)


def _value_column(name: str, values: list[object]) -> Description:
    """Dates and times are texts, as they are where they are keys."""
    kind = STRING if any(isinstance(one, str) for one in values) else NUMBER
    return (name, kind, None, None, None, None, True)


def _key_column(name: str, labels: list[object]) -> Description:
    numbers = [isinstance(one, (int, float)) for one in labels if one is not None]
    kind = NUMBER if numbers and all(numbers) else STRING
    return (name, kind, None, None, None, None, None in labels)
