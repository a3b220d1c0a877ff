"""Dates: literals, parts, truncation and shifts of days, as public functions of one column.

A day is the number of its day, 1970-01-01 being 0, in every cell. Whatever is made of it here is a
function of the codes of its column, so conditions on months and on weekdays are conditions on the
same cells, and history knows how they are related.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from eke.domain.day_text import written_day
from eke.sql import arithmetic
from eke.sql.diagram import Leaf
from eke.sql.place import echo
from eke.sql.polynomial import column, constant
from eke.sql.value import Day, Missing, Number, Reading, Text, Value, is_literal, literal_number

Days = NDArray[np.int64]

_WRITE = "write a date as DATE '2013-01-31'"
_LONGEST = 100_000  # of an interval, in days, or so many months
_EPOCH = date(1970, 1, 1)
_FIRST, _LAST = (date.min - _EPOCH).days, (date.max - _EPOCH).days
_MONTHS = {"month": 1, "quarter": 3, "year": 12}
_DAYS = {"day": 1, "week": 7}

_ALSO = {
    "dayofweek": "dow",
    "weekday": "dow",
    "dayofyear": "doy",
    "dayofmonth": "day",
    "weekofyear": "week",
}


def literal_day(reading: Reading, node: exp.Expr, text: str) -> Day:
    """The same day in every cell."""
    day = written_day(text)
    if day is None:
        raise reading.error(node, f"{echo(text)!r} is not a date; {_WRITE}")
    return Day(literal_number(reading, day_number(day), whole=True))


def as_day(reading: Reading, node: exp.Expr, value: Value) -> Number:
    """The number of the day that a value is, or that a text spells."""
    if isinstance(value, Day):
        return value.number
    if isinstance(value, Text) and is_literal(value):
        return literal_day(reading, node, str(reading.diagrams.labels(value.labels)[0])).number
    name = None if isinstance(value, Missing) else value.attribute
    if name is not None:
        raise reading.error(
            node,
            f"{name!r} holds no dates; compare it with its own values, or declare it as a Date",
        )
    raise reading.error(node, f"this is not a date; {_WRITE}")


def part_of(reading: Reading, node: exp.Expr, part: str, value: Value) -> Number:
    """A part of a date, such as its month, as a whole number."""
    name = _ALSO.get(part.lower(), part.lower())
    if name not in _PARTS:
        raise reading.error(
            node, f"dates have no part {echo(part)!r} here; there is {', '.join(_PARTS)}"
        )
    return _mapped(reading, node, as_day(reading, node, value), name)


def truncated(reading: Reading, node: exp.Expr, part: str, value: Value) -> Day:
    """The first day of the month, or the like, that a date is in."""
    name = f"first of {part.lower()}"
    if name not in _FIRSTS:
        known = ", ".join(key.removeprefix("first of ") for key in _FIRSTS)
        raise reading.error(node, f"dates are not cut to {echo(part)!r} here; there is {known}")
    day = as_day(reading, node, value)
    return Day(day if part.lower() == "day" else _mapped(reading, node, day, name))


def shifted(reading: Reading, node: exp.Expr, value: Value, interval: exp.Expr, sign: int) -> Day:
    """A date some days, weeks, months or years later (or earlier, for a sign of -1)."""
    if not isinstance(value, Day):
        raise reading.error(interval, "an interval is added to a date, as in d + INTERVAL 7 DAY")
    written, unit = interval.this, interval.args.get("unit")
    while isinstance(written, exp.Paren):
        written = written.this
    spelled = str(written.this) if isinstance(written, exp.Literal) else ""
    size = spelled.removeprefix("-")
    name = str(unit.this).lower().removesuffix("s") if unit is not None else ""
    if not size.isascii() or not size.isdigit() or name not in (_MONTHS | _DAYS):
        raise reading.error(
            node,
            "an interval is a whole number of days, weeks, months, quarters or years; "
            "write INTERVAL 7 DAY",
        )
    count = sign * (-1 if spelled.startswith("-") else 1) * min(int(size[:9]), 10**9)
    steps = count * (_DAYS | _MONTHS)[name]
    if abs(steps) > _LONGEST or len(size) > 9:
        raise reading.error(node, f"intervals have at most {_LONGEST:,} days or months; {_WRITE}")
    if name in _DAYS:
        return later(reading, value, Fraction(steps))
    return Day(_mapped(reading, node, value.number, f"{steps} months"))


def later(reading: Reading, value: Day, days: Fraction) -> Day:
    """A date some days later."""
    return Day(arithmetic.add(reading, value.number, literal_number(reading, days, whole=True)))


def combined(reading: Reading, node: exp.Expr, first: Value, second: Value, sign: int) -> Value:
    """A sum or difference in which a date takes part: d + 7, d - 7, d - DATE '2013-01-31'."""
    if isinstance(first, Day) and isinstance(second, (Day, Text)) and sign < 0:
        minus = literal_number(reading, Fraction(-1), whole=True)
        other = as_day(reading, node, second)
        return arithmetic.add(reading, first.number, arithmetic.multiply(reading, minus, other))
    day, number = (first, second) if isinstance(first, Day) else (second, first)
    literal = isinstance(number, Number) and number.line is not None and is_literal(number)
    if isinstance(day, Day) and literal and (sign > 0 or day is first):
        days = number.line.intercept  # type: ignore[union-attr]
        if days.denominator == 1 and abs(days) <= _LONGEST:
            return later(reading, day, sign * days)
    raise reading.error(
        node,
        "to a date one adds a whole number of days, as in d + 7, or an interval, as in "
        "d + INTERVAL 1 MONTH; a date minus a date is a number of days",
    )


def day_number(day: date) -> Fraction:
    """The number of a day, 1970-01-01 being 0."""
    return Fraction((day - _EPOCH).days)


def day_of(number: Fraction) -> date:
    """The day of this number."""
    return _EPOCH + timedelta(days=int(number))


def day_text(number: Fraction) -> str:
    """The label of a day, as people and JSON write it."""
    return day_of(number).isoformat()


def _mapped(reading: Reading, node: exp.Expr, number: Number, name: str) -> Number:
    """A function of a date: of the codes of its column, or of each of few dates."""
    try:
        if number.steps is not None:
            steps = reading.diagrams.mapped(_of_label, number.steps, name)
            if isinstance(steps, Leaf) and steps.label is not None:
                return literal_number(reading, steps.label, whole=True)
            return Number(None, number.known, steps, whole=True)
        polynomial = number.polynomial(reading.diagrams)
        names = tuple(polynomial.attributes)
        if len(names) > 1:
            raise reading.error(node, "parts are taken of one date at a time")
        unit, table = polynomial.table(reading.domain, names)
        whole = table.reshape(-1)
        reading.effort.spend(len(whole) // 10 + 10)
        days = whole * unit.numerator // unit.denominator
        mapped = _function(name)(days)
        value = column(names[0], mapped) if names else constant(Fraction(int(mapped[0])))
        return Number(value, number.known, whole=True)
    except OverflowError:
        raise reading.error(
            node, "the date is beyond the years 1 to 9999; take a shorter interval"
        ) from None


def _of_label(label: Fraction | None, name: str) -> Fraction | None:
    if label is None:
        return None
    return Fraction(int(_function(name)(np.array([int(label)]))[0]))


def _function(name: str) -> Callable[[Days], Days]:
    if name.endswith(" months"):
        months = int(name.removesuffix(" months"))
        return lambda days: _months_later(_checked(days), months)
    chosen = (_PARTS | _FIRSTS)[name]
    return lambda days: chosen(_checked(days))


def _checked(days: Days) -> Days:
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


def _months_later(days: Days, months: int) -> Days:
    """The same day of a later month, or its last day if that is shorter."""
    first = _cut(days, "M")
    day = days - _number(first)
    begin, end = _number(first + months), _number(first + months + 1)
    return _checked(np.minimum(begin + day, end - 1))


_PARTS: dict[str, Callable[[Days], Days]] = {
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
_FIRSTS: dict[str, Callable[[Days], Days]] = {
    "first of year": lambda days: _number(_cut(days, "Y")),
    "first of quarter": lambda days: _number(_cut(days, "M") - (_month(days) - 1) % 3),
    "first of month": lambda days: _number(_cut(days, "M")),
    "first of week": lambda days: days - (days + 3) % 7,
    "first of day": lambda days: days,
}
