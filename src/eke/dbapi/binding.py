"""Binding: values put where the question marks of a text are, as SQL literals.

There is no engine to send parameters to: eke reads the text itself. So the text is taken apart into
quoted texts, quoted names, comments and the rest, question marks of the rest are replaced, and
every literal is written so that it is one token whatever its value and whatever stands beside it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import date, time
from decimal import Decimal
from typing import Any

from eke.dbapi.failure import NotSupportedError, ProgrammingError

# Possessive quantifiers: an unclosed quotation mark must not be closed by giving a pair back.
_PIECES = re.compile(
    r"""'[^']*+(?:''[^']*+)*+' | "[^"]*+(?:""[^"]*+)*+" | --[^\n]*+ | /\*(?:[^*]|\*(?!/))*+\*/
      | (?P<place>\?) | (?P<open>['"]|/\*) | [^'"?/-]++ | [/-]""",
    re.VERBOSE,
)


def bound(operation: str, parameters: Sequence[Any] | None) -> str:
    """The text with its question marks replaced by the values, in order."""
    if not isinstance(operation, str):
        raise ProgrammingError(f"a question is a text, not {type(operation).__name__}")
    values = () if parameters is None else parameters
    if isinstance(values, (str, bytes)) or not isinstance(values, Sequence):
        raise ProgrammingError("parameters are a list or tuple with one value for each ?")
    parts: list[str] = []
    used = 0
    for piece in _PIECES.finditer(operation):
        if piece["open"]:
            if not values:
                return operation  # the reader of SQL says what is not closed, and where
            raise ProgrammingError(f"{piece['open']} is not closed, so the ? cannot be told apart")
        if not piece["place"]:
            parts.append(piece[0])
            continue
        if used == len(values):
            raise ProgrammingError(f"the text has more ? than the {len(values)} values given")
        # Blanks, so that it cannot grow together with its neighbours: 5? or -?.
        parts.append(f" {literal(values[used])} ")
        used += 1
    if used < len(values):
        raise ProgrammingError(f"the text has {used} ? and {len(values)} values were given")
    return "".join(parts)


def literal(value: Any) -> str:
    """The value as one SQL literal."""
    # NumPy's truth values and whole numbers are not Python's.
    is_numpy_scalar = type(value).__module__ == "numpy" and getattr(value, "ndim", None) == 0
    plain = value.item() if is_numpy_scalar else value
    if plain is None:
        return "NULL"
    if isinstance(plain, bool):
        return "TRUE" if plain else "FALSE"
    if isinstance(plain, str):
        return _text(plain)
    if isinstance(plain, (date, time)):
        return _text(str(plain))  # one token, and what a date or a time may be compared with
    if isinstance(plain, (int, float, Decimal)):
        return _number(plain)
    raise NotSupportedError(
        f"a {type(value).__name__} cannot be a parameter; give None, a truth value, a number, "
        "a text, a date or a time"
    )


def _text(value: str) -> str:
    if "\0" in value:
        raise ProgrammingError("a text parameter must not hold a NUL character")
    return "'" + value.replace("'", "''") + "'"


def _number(value: float | Decimal) -> str:
    if not math.isfinite(value):
        raise ProgrammingError("a number parameter must be finite; write NULL for a missing one")
    text = format(value, "f") if isinstance(value, Decimal) else repr(value)
    # A sign in front would make two tokens, and -- begins a comment.
    return f"({text})" if text.startswith("-") else text
