"""Moments: literals, parts, truncation and shifts of dates, timestamps and times of day.

In every cell a date is the number of its day since 1970, a timestamp the second since 1970 at which
its step begins, a time of day the same since midnight. Whatever is made of it here is a function of
the codes of its column, so conditions on months and on hours are conditions on the same cells, and
history knows how they are related.

Of a timestamp only its step is known. What would depend on more, such as the minutes of a column
of hours, or a comparison with a moment within an hour, is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
from sqlglot import exp

from eke.domain.moment_text import written_day, written_moment
from eke.domain.step import UNITS, step_text
from eke.domain.zone import DAY
from eke.question.calendar import label_text, written_number
from eke.question.groups import MomentKind
from eke.sql import arithmetic
from eke.sql.day_parts import FIRSTS, PARTS, Days, checked, months_later
from eke.sql.diagram import Leaf
from eke.sql.place import echo
from eke.sql.polynomial import column, constant
from eke.sql.value import (
    Grid,
    Missing,
    Moment,
    Number,
    Reading,
    Text,
    Value,
    is_literal,
    literal_number,
    written,
)

_NAMES = {"day": "dates", "moment": "timestamps", "clock": "times of day"}
_ONE = {"day": "a date", "moment": "a timestamp", "clock": "a time of day"}
_DECLARED = {"day": "Date", "moment": "Timestamp", "clock": "Time"}
_WRITE = {
    "day": "write a date as DATE '2013-01-31'",
    "moment": "write a timestamp as TIMESTAMP '2013-01-31 05:00'",
    "clock": "write a time of day as TIME '05:00'",
}
_LONGEST = 100_000  # of an interval, in days, or so many months
_MONTHS = {"month": 1, "quarter": 3, "year": 12}
_DAYS = {"day": 1, "week": 7}
_SECONDS = {"hour": 3600, "minute": 60, "second": 1}
_SHIFTS = {
    "day": "to a date one adds a whole number of days, as in d + 7, or an interval, as in "
    "d + INTERVAL 1 MONTH; a date minus a date is a number of days",
    "moment": "to a timestamp one adds an interval, as in t + INTERVAL 6 HOUR; for a number of "
    "days between two write CAST(t AS DATE) - DATE '2013-01-31'",
    "clock": "to a time of day one adds an interval, as in t + INTERVAL 30 MINUTE",
}
_ALSO = {
    "dayofweek": "dow",
    "weekday": "dow",
    "dayofyear": "doy",
    "dayofmonth": "day",
    "weekofyear": "week",
}


# -- what is written -----------------------------------------------------------------------------


def literal_moment(reading: Reading, node: exp.Expr, text: str, kind: MomentKind) -> Moment:
    """The same date, timestamp or time of day in every cell."""
    number = written_number(text, kind)
    if number is None:
        raise reading.error(node, f"{echo(text)!r} is not {_ONE[kind]}; {_WRITE[kind]}")
    if number.denominator != 1:
        after = label_text(Fraction(int(number) + 1), kind)
        raise reading.error(
            node,
            f"{echo(text)!r} lies within a second, and nothing finer is known; write whole "
            f"seconds, as in < {after!r}",
        )
    return Moment(literal_number(reading, number, whole=True), kind)


# -- kinds ---------------------------------------------------------------------------------------


def as_moment(reading: Reading, node: exp.Expr, value: Value, kind: MomentKind) -> Moment:
    """The value as one of a kind: a text is read, and a date is a timestamp at midnight."""
    if isinstance(value, Moment):
        if value.kind == kind:
            return value
        if value.kind == "day" and kind == "moment":
            seconds = literal_number(reading, Fraction(DAY), whole=True)
            return Moment(arithmetic.multiply(reading, seconds, value.number), "moment")
        raise reading.error(
            node,
            f"{_ONE[value.kind]} is not {_ONE[kind]}; write CAST(t AS DATE) or CAST(t AS TIME) of "
            "a timestamp",
        )
    text = written(value)
    if isinstance(text, str):
        return literal_moment(reading, node, text, kind)
    name = None if isinstance(value, Missing) else value.attribute
    if name is not None:
        raise reading.error(
            node,
            f"{name!r} holds no {_NAMES[kind]}; compare it with its own values, or declare it as "
            f"a {_DECLARED[kind]}",
        )
    raise reading.error(node, f"this is not {_ONE[kind]}; {_WRITE[kind]}")


def of_one_kind(reading: Reading, node: exp.Expr, values: Sequence[Value]) -> list[Moment]:
    """The values as moments of one kind, of which at least one is a moment already."""
    kinds = {value.kind for value in values if isinstance(value, Moment)}
    kind: MomentKind = "moment" if "moment" in kinds else "day" if "day" in kinds else "clock"
    return [as_moment(reading, node, value, kind) for value in values]


def compared(reading: Reading, node: exp.Expr, values: Sequence[Value]) -> list[Moment]:
    """The same of values that are compared with each other: no literal lies within a step."""
    moments = of_one_kind(reading, node, values)
    for literal in (one for one in moments if is_literal(one)):
        (number,) = reading.diagrams.labels(literal.number.steps or reading.diagrams.unknown)
        for grid in joined_grids(moments):
            inside = grid.first <= number < grid.last + grid.step
            if inside and (number - grid.first) % grid.step:
                before = number - (number - grid.first) % grid.step
                nearest = [label_text(one, literal.kind) for one in (before, before + grid.step)]
                raise reading.error(
                    node,
                    f"{label_text(number, literal.kind)!r} lies within a step of "
                    f"{step_text(grid.step)}, and nothing finer is known; the nearest steps begin "
                    f"at {nearest[0]!r} and {nearest[1]!r}: write < or >= one of them",
                )
    return moments


def joined_grids(moments: Sequence[Moment]) -> frozenset[Grid]:
    """The steps that some moments are known by."""
    return frozenset(grid for moment in moments for grid in moment.grids)


def _some_moment(reading: Reading, node: exp.Expr, value: Value) -> Moment:
    """The value as whatever it is, and a text as the date or the timestamp that it spells."""
    if isinstance(value, Moment):
        return value
    text = written(value)
    is_longer = (
        isinstance(text, str) and written_day(text) is None and written_moment(text) is not None
    )
    return as_moment(reading, node, value, "moment" if is_longer else "day")


# -- parts and shifts ----------------------------------------------------------------------------


def part_of(reading: Reading, node: exp.Expr, part: str, value: Value) -> Number:
    """A part of a date or a time, such as its month, as a whole number."""
    moment, name = _some_moment(reading, node, value), _ALSO.get(part.lower(), part.lower())
    days, clocks = (PARTS, _SECONDS) if moment.kind != "clock" else ({}, _SECONDS)
    known = [*days, *(clocks if moment.kind != "day" else ()), *(["epoch"] if days else [])]
    if name not in known:
        raise reading.error(
            node,
            f"{_NAMES[moment.kind]} have no part {echo(part)!r} here; there is {', '.join(known)}",
        )
    if name == "epoch":
        return _epoch(reading, node, moment)
    _check_steps(reading, node, moment, _SECONDS.get(name, DAY), f"the {name}")
    return _mapped(reading, node, moment, name)


def _epoch(reading: Reading, node: exp.Expr, moment: Moment) -> Number:
    """The seconds since 1970; where they are rounded down to whole units, steps may be as long."""
    if moment.kind == "day":
        seconds = literal_number(reading, Fraction(DAY), whole=True)
        return arithmetic.multiply(reading, moment.number, seconds)
    share = node.parent
    size = str(share.expression.this) if isinstance(share, exp.Div) and share.this is node else ""
    is_rounded = share is not None and isinstance(share.parent, exp.Floor)
    unit = int(size) if is_rounded and size.isdecimal() and int(size[:9]) else 1
    _check_steps(reading, node, moment, unit, "the number of seconds since 1970")
    return moment.number


def truncated(reading: Reading, node: exp.Expr, part: str, value: Value) -> Moment:
    """The beginning of the month, or the like, that a date or a timestamp is in."""
    moment, name = _some_moment(reading, node, value), part.lower()
    known = [*FIRSTS, *(_SECONDS if moment.kind == "moment" else ())]
    if moment.kind == "clock":
        raise reading.error(
            node, "times of day are not cut; take a part, as in EXTRACT(hour FROM t)"
        )
    if name not in known:
        raise reading.error(
            node,
            f"{_NAMES[moment.kind]} are not cut to {echo(part)!r} here; there is "
            f"{', '.join(known)}",
        )
    unit = UNITS.get(name, DAY)
    _check_steps(reading, node, moment, unit, f"the beginning of the {name}")
    lengths = {DAY} if moment.kind == "day" else {grid.step for grid in moment.grids}
    if name in UNITS and lengths == {unit}:
        return Moment(moment.number, moment.kind)  # as it is
    return Moment(_mapped(reading, node, moment, f"first of {name}"), moment.kind)


def day_of(reading: Reading, node: exp.Expr, moment: Moment) -> Moment:
    """The date of a timestamp."""
    _check_steps(reading, node, moment, DAY, "the day")
    return Moment(_mapped(reading, node, moment, "day of"), "day")


def clock_of(reading: Reading, node: exp.Expr, moment: Moment) -> Moment:
    """The time of day of a timestamp."""
    _check_steps(reading, node, moment, DAY, "the time of day")
    return Moment(_mapped(reading, node, moment, "clock of"), "clock", _of_a_day(moment))


def _of_a_day(moment: Moment) -> frozenset[Grid]:
    return frozenset(Grid(grid.step, 0, DAY - grid.step) for grid in moment.grids)


def _check_steps(reading: Reading, node: exp.Expr, moment: Moment, unit: int, what: str) -> None:
    """Raise unless every step lies within one unit."""
    for grid in moment.grids:
        if unit % grid.step or grid.first % grid.step:
            raise reading.error(
                node,
                f"{what} does not follow from steps of {step_text(grid.step)}, and nothing finer "
                "is known; take a part that is made of whole steps, or group by the column itself",
            )


def shifted(
    reading: Reading, node: exp.Expr, value: Value, interval: exp.Expr, sign: int
) -> Moment:
    """A date or a time some hours, days or months later (or earlier, for a sign of -1)."""
    if not isinstance(value, Moment):
        raise reading.error(interval, "an interval is added to a date, as in d + INTERVAL 7 DAY")
    written, unit = interval.this, interval.args.get("unit")
    while isinstance(written, exp.Paren):
        written = written.this
    spelled = str(written.this) if isinstance(written, exp.Literal) else ""
    size = spelled.removeprefix("-")
    name = str(unit.this).lower().removesuffix("s") if unit is not None else ""
    lengths = _SECONDS if value.kind == "clock" else _SECONDS | _DAYS | _MONTHS
    if not size.isascii() or not size.isdigit() or name not in lengths:
        units = "hours, minutes or seconds; write INTERVAL 30 MINUTE"
        if value.kind != "clock":
            units = f"days, weeks, months, quarters or years, or of {units.partition(';')[0]}"
            units += "; write INTERVAL 7 DAY"
        raise reading.error(node, f"an interval is a whole number of {units}")
    count = sign * (-1 if spelled.startswith("-") else 1) * min(int(size[:9]), 10**9)
    steps, most = count * lengths[name], _LONGEST * (DAY if name in _SECONDS else 1)
    if abs(steps) > most or len(size) > 9:
        raise reading.error(
            node, f"intervals have at most {_LONGEST:,} days or months; {_WRITE[value.kind]}"
        )
    if name in _MONTHS:
        return _by_months(reading, node, value, steps)
    if name in _SECONDS and value.kind == "day":
        value = as_moment(reading, node, value, "moment")
    if value.kind == "clock":
        for grid in value.grids:
            if steps % grid.step:
                raise reading.error(node, f"add whole steps of {step_text(grid.step)}")
        return Moment(_mapped(reading, node, value, f"{steps} later"), "clock", _of_a_day(value))
    is_longer = name in _DAYS and value.kind == "moment"
    return later(reading, value, Fraction(steps * (DAY if is_longer else 1)))


def later(reading: Reading, value: Moment, by: Fraction) -> Moment:
    """A date some days later, or a timestamp some seconds."""
    number = arithmetic.add(reading, value.number, literal_number(reading, by, whole=True))
    grids = (Grid(grid.step, grid.first + int(by), grid.last + int(by)) for grid in value.grids)
    return Moment(number, value.kind, frozenset(grids))


def _by_months(reading: Reading, node: exp.Expr, value: Moment, months: int) -> Moment:
    name = f"{months} months"
    number, function = _mapped(reading, node, value, name), _function(f"{value.kind} {name}")
    moved = [(g.step, function(np.array([g.first, g.last]))) for g in value.grids]
    grids = frozenset(Grid(step, int(ends[0]), int(ends[1])) for step, ends in moved)
    return Moment(number, value.kind, grids)


def combined(reading: Reading, node: exp.Expr, first: Value, second: Value, sign: int) -> Value:
    """A sum or difference in which a date takes part: d + 7, d - 7, d - DATE '2013-01-31'."""
    kinds = {value.kind for value in (first, second) if isinstance(value, Moment)}
    is_difference = isinstance(second, (Moment, Text)) and sign < 0
    if kinds == {"day"} and isinstance(first, Moment) and is_difference:
        minus = literal_number(reading, Fraction(-1), whole=True)
        other = as_moment(reading, node, second, "day").number
        return arithmetic.add(reading, first.number, arithmetic.multiply(reading, minus, other))
    day, number = (first, second) if isinstance(first, Moment) else (second, first)
    literal = isinstance(number, Number) and number.line is not None and is_literal(number)
    if kinds == {"day"} and isinstance(day, Moment) and literal and (sign > 0 or day is first):
        days = number.line.intercept  # type: ignore[union-attr]
        if days.denominator == 1 and abs(days) <= _LONGEST:
            return later(reading, day, sign * days)
    worst = next(kind for kind in ("moment", "clock", "day") if kind in kinds)
    raise reading.error(node, _SHIFTS[worst])


# -- functions of cells --------------------------------------------------------------------------


def _mapped(reading: Reading, node: exp.Expr, moment: Moment, what: str) -> Number:
    """A function of a date or a time: of the codes of its column, or of each of few."""
    number, name = moment.number, f"{moment.kind} {what}"
    try:
        if number.steps is not None:
            steps = reading.diagrams.mapped(_of_label, number.steps, name)
            if isinstance(steps, Leaf) and steps.label is not None:
                return literal_number(reading, steps.label, whole=True)
            return Number(None, number.known, steps, whole=True)
        polynomial = number.polynomial(reading.diagrams)
        names = tuple(polynomial.attributes)
        if len(names) > 1:
            raise reading.error(node, "parts are taken of one column at a time")
        unit, table = polynomial.table(reading.domain, names)
        whole = table.reshape(-1)
        reading.effort.spend(len(whole) // 10 + 10)
        mapped = _function(name)(whole * unit.numerator // unit.denominator)
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
    """The function of a name: its kind, and what is made of one."""
    kind, _, what = name.partition(" ")
    if kind == "day":
        return _of_days(what)
    size, _, unit = what.rpartition(" ")
    if what in _SECONDS:
        around = {"hour": DAY, "minute": 3600, "second": 60}[what]
        return lambda seconds: seconds % around // _SECONDS[what]
    if size == "first of" and unit in _SECONDS:
        return lambda seconds: seconds // _SECONDS[unit] * _SECONDS[unit]
    if unit == "later" or what == "clock of":
        return lambda seconds: (seconds + int(size if unit == "later" else 0)) % DAY
    days = _of_days(what)
    if what in PARTS or what == "day of":
        return lambda seconds: days(seconds // DAY)
    rest = 1 if unit == "months" else 0
    return lambda seconds: days(seconds // DAY) * DAY + rest * (seconds % DAY)


def _of_days(what: str) -> Callable[[Days], Days]:
    if what.endswith(" months"):
        return lambda days: months_later(checked(days), int(what.removesuffix(" months")))
    if what == "day of":
        return checked
    chosen = PARTS.get(what) or FIRSTS[what.removeprefix("first of ")]
    return lambda days: chosen(checked(days))
