"""Failures: what a command prints and returns when it cannot do what it was asked.

0 done · 1 error · 2 the command itself is wrong · 3 refused · 4 not intact
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer

from eke.cli.screen import errors
from eke.errors import BudgetExceeded, DataError, EkeError, LedgerTampered, SqlError

ERROR = 1
USAGE = 2
REFUSED = 3
NOT_INTACT = 4


def exit_code(problem: EkeError) -> int:
    """The exit code that stands for an error."""
    if isinstance(problem, BudgetExceeded):
        return REFUSED
    return NOT_INTACT if isinstance(problem, LedgerTampered) else ERROR


def error_document(problem: EkeError) -> dict[str, Any]:
    """The error as --json shows it."""
    document: dict[str, Any] = {
        "error": type(problem).__name__,
        "message": str(problem.args[0]) if isinstance(problem, SqlError) else str(problem),
        "exit_code": exit_code(problem),
    }
    if isinstance(problem, SqlError):
        document |= {"line": problem.line, "column": problem.column}
    refusal = getattr(problem, "refusal", None)
    if refusal is not None:
        document["refusal"] = {
            name: getattr(refusal, name) for name in ("cost", "remaining", "known", "narrowest")
        } | ({"guarded": refusal.guarded} if refusal.guarded else {})
    return document


@contextmanager
def failures(*, as_json: bool) -> Iterator[None]:
    """Within it eke's own errors become one sentence, or one JSON line, and an exit code.

    So do errors of the file system, which a mistyped path makes.
    """
    try:
        yield
    except EkeError as problem:
        report(problem, as_json=as_json)
        raise typer.Exit(exit_code(problem)) from None
    except OSError as problem:
        if problem.filename is None:  # a closed pipe, for one: not about a path
            raise
        known = DataError(f"{problem.filename}: {problem.strerror}; check the path")
        report(known, as_json=as_json)
        raise typer.Exit(ERROR) from None


def report(problem: EkeError, *, as_json: bool) -> None:
    """Print an error where errors go."""
    screen = errors()
    if as_json:
        screen.raw(json.dumps(error_document(problem)))
        return
    word = "refused" if isinstance(problem, BudgetExceeded) else "error"
    if screen.console.is_terminal:
        screen.print(f"[bold red]{word}:[/] {screen.escape(str(problem))}")
    else:  # one line, for logs
        screen.raw(screen.text(f"{word}: {problem}"))
