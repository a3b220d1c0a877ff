"""Parts of days: year, month, weekday and the like, of many days at once by their numbers.

1970-01-01 is day 0. What lies beyond the years 1 to 9999 is an OverflowError.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any

import numpy as np
from numpy.typing import NDArray

Days = NDArray[np.int64]

_EPOCH = date(1970, 1, 1)
_FIRST, _LAST = (date.min - _EPOCH).days, (date.max - _EPOCH).days


def checked(days: Days) -> Days:
    """The days, if all of them are in the calendar."""
    if len(days) and (days.min() < _FIRST or days.max() > _LAST):
        raise OverflowError
    return days


def _cut(days: Days, unit: str) -> Any:
    return days.astype("datetime64[D]").astype(f"datetime64[{unit}]")


def _number(moments: Any) -> Days:
    days: Days = moments.astype("datetime64[D]").astype(np.int64)
    return days


def _year(days: Days) -> Days:
    years: Days = _cut(days, "Y").astype(np.int64) + 1970
    return years


def _month(days: Days) -> Days:
    months: Days = _cut(days, "M").astype(np.int64) % 12 + 1
    return months


def _day_of_year(days: Days) -> Days:
    return days - _number(_cut(days, "Y")) + 1


def _thursday(days: Days) -> Days:
    """The Thursday of the same week, whose year is the year of the week (ISO 8601)."""
    return days - (days + 3) % 7 + 3


def months_later(days: Days, months: int) -> Days:
    """The same day of a later month, or its last day if that is shorter."""
    first = _cut(days, "M")
    day = days - _number(first)
    begin, end = _number(first + months), _number(first + months + 1)
    return checked(np.minimum(begin + day, end - 1))


PARTS: dict[str, Callable[[Days], Days]] = {
    "year": _year,
    "quarter": lambda days: (_month(days) - 1) // 3 + 1,
    "month": _month,
    "week": lambda days: (_day_of_year(_thursday(days)) - 1) // 7 + 1,
    "day": lambda days: days - _number(_cut(days, "M")) + 1,
    "dow": lambda days: (days + 4) % 7,
    "isodow": lambda days: (days + 3) % 7 + 1,
    "doy": _day_of_year,
    "isoyear": lambda days: _year(_thursday(days)),
}
FIRSTS: dict[str, Callable[[Days], Days]] = {
    "year": lambda days: _number(_cut(days, "Y")),
    "quarter": lambda days: _number(_cut(days, "M") - (_month(days) - 1) % 3),
    "month": lambda days: _number(_cut(days, "M")),
    "week": lambda days: days - (days + 3) % 7,
    "day": lambda days: days,
}
