"""Rules: what happens to values that an attribute does not list, and plain values of Python."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, time
from decimal import Decimal
from typing import Any, Literal, TypeAlias

from eke.errors import DomainError

EXACT = 2**53  # whole numbers below are doubles too, whatever the data engine computes with


@dataclass(frozen=True, slots=True)
class Replace:
    """A rule: count the row as if it held this declared value.

    Args:
        value: a value that the attribute declares.

    Example:
        >>> eke.Integer(0, 10, null=eke.Replace(0), outside=eke.Replace(0)).code(None)
        0
    """

    value: str | int | float | bool | date | time

    def __post_init__(self) -> None:
        # A day, a moment or a time of day is its text, as in the labels of its column.
        is_told = isinstance(self.value, (date, time))
        python_value = str(self.value) if is_told else plain(self.value)
        if not isinstance(python_value, (str, int, float)):
            raise DomainError(
                "Replace needs a declared value, a text or a number, not "
                f"{type(python_value).__name__}"
            )
        object.__setattr__(self, "value", python_value)


Rule: TypeAlias = Literal["drop", "bucket", "clamp", "never"] | Replace
"""What becomes of a value; `never` says in public that there is none, and is checked."""


def number_text(number: float) -> str:
    """The shortest text that tells a number from all others: 10, 0.5, 1e+300."""
    whole = isinstance(number, int) or (number.is_integer() and abs(number) < EXACT)
    return str(int(number)) if whole else repr(float(number))


def is_storable(text: str) -> bool:
    """True for text that UTF-8 files and data engines can hold: no lone surrogates."""
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


def plain(value: object) -> object:
    """The value as one of Python's own types, so that NumPy scalars and decimals code alike."""
    # Who only reads a domain should not wait for NumPy, and before it is loaded there are no such.
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.generic):
        value = _moment(value) if isinstance(value, numpy.datetime64) else value.item()
    if isinstance(value, Decimal):
        if not value.is_finite():
            return math.nan if value.is_nan() else float(value)
        return int(value) if value == value.to_integral_value() else float(value)
    for kind in (bool, int, float, str):  # bool first: it is an int
        if isinstance(value, kind):
            return kind(value)
    return value


def _moment(value: Any) -> object:
    """A moment of NumPy's as one of Python's, by seconds; that of a year beyond stays as it is."""
    seconds = value.astype("datetime64[s]")
    moment = seconds.item()
    return seconds if isinstance(moment, int) else moment


def check_rules(null: Rule, outside: Rule, *, clamps: bool) -> None:
    """Raise unless both are rules; only numbers, days and times can be clamped."""
    if not isinstance(null, Replace) and null not in ("drop", "bucket", "never"):
        raise DomainError(
            f"null must be 'drop', 'bucket', 'never' or eke.Replace(value), not {null!r}"
        )
    allowed = ("drop", "bucket", "clamp", "never") if clamps else ("drop", "bucket", "never")
    if not isinstance(outside, Replace) and outside not in allowed:
        raise DomainError(
            f"outside must be one of {', '.join(allowed)} or eke.Replace(value), not {outside!r}"
        )


def plain_list(fields: Mapping[str, Any], name: str) -> list[Any]:
    """A field that is a list of single values; a text would be taken apart letter by letter."""
    listed = fields[name]
    if not isinstance(listed, list) or any(isinstance(value, list) for value in listed):
        raise DomainError(f"'{name}' must be a list of plain values")
    return listed
