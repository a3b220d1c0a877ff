"""Failures of the catalogue: an error with the code that PostgreSQL's clients know it by."""

from __future__ import annotations

import re

import duckdb

from eke.errors import EkeError

SYNTAX = "42601"
NO_TABLE = "42P01"
NO_COLUMN = "42703"
NO_FUNCTION = "42883"
NO_OBJECT = "42704"
UNSUPPORTED = "0A000"
TOO_LONG = "54000"
TIMED_OUT = "57014"

_QUOTED = re.compile(r'"([^"\n]{1,100})"')
# In this order: the first part of the engine's message that is met decides.
_BINDING = (
    ("Ambiguous reference", "42702", "column {name} is in more than one table; say of which"),
    ("Referenced table", NO_TABLE, "no table {name} in FROM; check the statement"),
    ("Referenced column", NO_COLUMN, "the catalogue has no column {name} there; check its name"),
    ("does not have a column", NO_COLUMN, "the catalogue has no column {name}; check its name"),
    ("Could not find key", NO_COLUMN, "the catalogue has no field {name}; check its name"),
    ("GROUP BY", "42803", "column {name} must be in GROUP BY or in an aggregate"),
    ("does not support the supplied", NO_FUNCTION, "no such function of these arguments"),
    ("No function matches", NO_FUNCTION, "no such function or operator for these types"),
    ("Cannot compare", NO_FUNCTION, "no such operator for these types; cast a side"),
    ("Cannot mix values", "42804", "the types differ; cast them to one type"),
)
_ENGINE = (
    (duckdb.InterruptException, TIMED_OUT, "the statement ran too long and was stopped"),
    (duckdb.OutOfMemoryException, "53200", "the statement needs too much memory; ask for less"),
    (duckdb.ConversionException, "22P02", "a value does not have the type it is used as"),
    (duckdb.OutOfRangeException, "22003", "a number is out of range"),
    (duckdb.ParserException, SYNTAX, "the catalogue cannot read this statement"),
    (duckdb.InvalidInputException, "22023", "a function was given what it cannot take"),
    (duckdb.BinderException, UNSUPPORTED, "the catalogue does not support this statement"),
)


class CatalogueError(EkeError):
    """A catalogue statement cannot be answered; `sqlstate` is PostgreSQL's code for why."""

    def __init__(self, message: str, sqlstate: str) -> None:
        super().__init__(message, sqlstate)
        self.sqlstate = sqlstate

    def __str__(self) -> str:
        return str(self.args[0])


def of_engine(problem: BaseException) -> CatalogueError:
    """The error that stands for one of the engine's own, whose text is not shown."""
    message = str(problem)
    if isinstance(problem, duckdb.BinderException):
        name = _QUOTED.search(message)
        for part, code, advice in _BINDING:
            if part in message:
                said = advice.format(name=f'"{name[1]}"' if name else "")
                return CatalogueError(said, code)
    if "ivision by zero" in message or "divide by zero" in message:
        return CatalogueError("a number is divided by zero", "22012")
    if "eke: too long" in message:
        return CatalogueError("a text or an array grew too long; ask for less", TOO_LONG)
    for kind, code, advice in _ENGINE:
        if isinstance(problem, kind):
            return CatalogueError(advice, code)
    return CatalogueError("the catalogue cannot answer this statement; simplify it", UNSUPPORTED)
