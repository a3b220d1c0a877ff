"""Reports: errors with their SQLSTATE, and notices."""

from __future__ import annotations

from eke.errors import (
    AccessDenied,
    AccuracyError,
    BudgetExceeded,
    DataError,
    EkeError,
    LedgerError,
    PrivacyError,
    QueryError,
    ReleaseFailed,
    SqlError,
)
from eke.service.failure import Problem
from eke.wire import message
from eke.wire.message import Malformed

_CODES: tuple[tuple[type[EkeError], str], ...] = (
    (SqlError, "42601"),
    (QueryError, "42000"),
    (AccuracyError, "22023"),
    (PrivacyError, "22023"),
    (BudgetExceeded, "53400"),
    (AccessDenied, "42501"),
    (ReleaseFailed, "58000"),
    (LedgerError, "58000"),
    (DataError, "58000"),
    (Malformed, "08P01"),
)
_INSIDE = (
    "something went wrong inside the server; it was logged. What was charged can be asked again"
)
_UNUSABLE = "the dataset cannot be used at the moment; nothing was released"


class Trouble(EkeError):
    """An error of this door: its SQLSTATE, what is wrong, and what to do next."""

    def __init__(self, code: str, text: str, hint: str | None = None) -> None:
        super().__init__(text)
        self.code, self.hint = code, hint


def error(problem: Exception, sql: str = "", *, fatal: bool = False) -> bytes:
    """An error as a message; where the statement says where it is, with the position in it.

    Privacy: texts of errors that may come from a data engine are not passed on, as over HTTP.
    """
    fields = {"S": "FATAL" if fatal else "ERROR"}
    fields["V"] = fields["S"]
    position = hint = None
    if isinstance(problem, Trouble):
        code, text, hint = problem.code, str(problem), problem.hint
    elif isinstance(problem, Problem):
        code, text = "53400", str(problem)
    elif isinstance(problem, SqlError):
        code, text = "42601", str(problem.args[0])
        position = _position(sql, problem.line, problem.column)
    elif isinstance(problem, EkeError):
        code = next((code for kind, code in _CODES if isinstance(problem, kind)), "XX000")
        code = getattr(problem, "sqlstate", code)
        text = _UNUSABLE if isinstance(problem, (LedgerError, DataError)) else str(problem)
    else:
        code, text = "XX000", _INSIDE
    fields |= {"C": code, "M": text}
    if hint is not None:
        fields["H"] = hint
    if position is not None:
        fields["P"] = str(position)
    return message.report(fields)


def notice(text: str) -> bytes:
    """Something said beside a result."""
    return message.report({"S": "NOTICE", "V": "NOTICE", "C": "00000", "M": text}, notice=True)


def warning(code: str, text: str) -> bytes:
    """The same about something that was hardly meant so."""
    return message.report({"S": "WARNING", "V": "WARNING", "C": code, "M": text}, notice=True)


def _position(sql: str, line: int, column: int) -> int | None:
    lines = sql.split("\n")
    if not sql or not 1 <= line <= len(lines):
        return None
    return sum(len(one) + 1 for one in lines[: line - 1]) + column
