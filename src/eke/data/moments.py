"""Moments: the number of the step that a raw value is in, as an expression of the engine's.

Steps are counted from 1970, or from midnight for times of day. What is a moment at all is said by a
pattern, and zones by a list of public numbers, so that neither an engine's reading of texts nor its
time zones have their say.

Privacy: The expressions are total: nothing in them can fail, whatever a row holds and whichever
branches of a CASE an engine works out. Texts are never cast: their digits are looked up in a list
of all pairs, and days are counted by arithmetic on these small numbers; what comes of texts that
spell no moment is never looked at. Dates are brought into the years 1 to 9999 before they are
counted (some engines know infinite ones, which have no hours), and moments with a zone come from
the engines' tables so restricted.
"""

from __future__ import annotations

from datetime import date
from typing import Any

import ibis

from eke.domain.moment_text import (
    CLOCK,
    CLOCK_PARTS,
    DAY_PATTERN,
    DISTANCE,
    NAIVE,
    ZONED,
    MomentForm,
    clock_form,
    day_form,
)
from eke.domain.placing import TimeSteps
from eke.domain.zone import DAY, FIRST, distances
from eke.errors import DataError

FIRST_SECOND, LAST_SECOND = -62_135_596_800, 253_402_300_799
"""The years 1 to 9999, in seconds since 1970."""
ZONED_TYPE = ibis.expr.datatypes.Timestamp(timezone="UTC", scale=6)
"""The type of a column of moments: what it holds are their dates and times in UTC."""

_END = ";"  # at the end of a text, where an engine may take $ for the end of a line
_MISSING = -(2**62)
_PAIRS = "".join(f"{number:02}," for number in range(100))


def step_number(column: Any, moments: TimeSteps) -> Any:
    """The number of the step of each value, NULL where it is in none; None if none can be.

    Not of texts, which are read first (`told_moment`, `step_of_told`).
    """
    dtype, step = column.type(), moments.step
    if moments.is_clock:
        return _clock(column) // step if dtype.is_time() else None
    if dtype.is_timestamp() and dtype.timezone is not None:
        if moments.zone is None:
            raise DataError(_ZONE_ADVICE)
        return _there(_since_1970(column.date()) * DAY + _clock(column), moments) // step
    if not dtype.is_timestamp() and not dtype.is_date():
        return None
    day = column.date() if dtype.is_timestamp() else column
    between = ibis.least(ibis.greatest(day, ibis.literal(date.min)), ibis.literal(date.max))
    number = _since_1970(between) * (DAY // step)
    if dtype.is_timestamp() and step < DAY:
        number += ibis.coalesce(_clock(column), _whole(0)) // step
    # Engines have different opinions about the least of NULL and a date.
    return ibis.cases((column.notnull(), number))


def holds_moments(dtype: Any, moments: TimeSteps) -> bool:
    """True for the types of columns that may hold such moments, texts included."""
    if moments.is_clock:
        return bool(dtype.is_string() or dtype.is_time())
    return bool(dtype.is_string() or dtype.is_date() or dtype.is_timestamp())


def told_moment(column: Any, moments: TimeSteps) -> Any:
    """What texts tell, as one whole number, so that an engine can hold it.

    Twice the second since 1970 (or midnight) that is told, of whole days that at which they begin;
    of texts with their distance from UTC, twice the second in UTC, plus 1. NULL where a text is no
    moment; see `is_missing` for NULL itself.
    """
    told = column + _END
    if moments.form is not None:
        form = (clock_form if moments.is_clock else day_form)(moments.form)
        reading = [(told.re_search(f"^{form.pattern}{_END}$"), 2 * _formed(told, form, moments))]
    elif moments.is_clock:
        reading = [(told.re_search(f"^{CLOCK}{_END}$"), 2 * _told_clock(column, 0))]
    else:
        begins = DAY * _counted(column.left(4), column.substr(5, 2), column.substr(8, 2))
        clock = _told_clock(column, 11)
        # A text of a day alone ends before its clock.
        within = ibis.cases((column.substr(10, 1) == "", _whole(0)), else_=clock)
        naive = begins if moments.step == DAY else begins + within
        reading = [(told.re_search(f"^{NAIVE}{_END}$"), 2 * naive)]
        if moments.zone is not None:
            moment = 2 * (begins + clock - _told_distance(column)) + 1
            reading.append((told.re_search(f"^{ZONED}{_END}$"), moment))
    return ibis.cases((column.isnull(), _whole(_MISSING)), *reading)


def is_missing(told: Any) -> Any:
    """True where `told_moment` was told nothing."""
    return told == _MISSING


def step_of_told(told: Any, moments: TimeSteps) -> Any:
    """The number of the step of each moment that `told_moment` has read."""
    naive = told // (2 * moments.step)
    if moments.zone is None:
        return naive
    there = _there(told // 2, moments) // moments.step
    return ibis.cases((told % 2 == 0, naive), else_=there)


def _since_1970(day: Any) -> Any:
    return day.delta(ibis.literal(date(1970, 1, 1)), unit="day").cast("int64")


def _clock(column: Any) -> Any:
    """The second of the day of each moment or time of day."""
    hour, minute, second = (
        part.cast("int64") for part in (column.hour(), column.minute(), column.second())
    )
    return hour * 3600 + minute * 60 + second


def _formed(told: Any, form: MomentForm, moments: TimeSteps) -> Any:
    def number(name: str, digits: int) -> Any:
        if name not in form.groups:
            return ibis.literal("0" * digits)
        spelled = told.re_extract(f"^{form.pattern}{_END}$", form.groups[name])
        return ("0" * digits + spelled).right(digits)

    hour, minute, second = (_digits(number(name, 2), 0) for name in CLOCK_PARTS)
    clock = hour * 3600 + minute * 60 + second
    if moments.is_clock:
        return clock
    year, month, day = number("year", 4), number("month", 2), number("day", 2)
    is_day = (year + "-" + month + "-" + day + _END).re_search(f"^{DAY_PATTERN}{_END}$")
    begins = DAY * _counted(year, month, day)
    return ibis.cases((is_day, begins if moments.step == DAY else begins + clock))


def _counted(year: Any, month: Any, day: Any) -> Any:
    """The days since 1970 of a day in the calendar, of which four, two and two digits are told.

    Years are counted from March to February here, so that a leap day is the last of its year.
    """
    number = _digits(month, 0)
    early = ibis.cases((number <= 2, _whole(1)), else_=_whole(0))
    years = 100 * _digits(year, 0) + _digits(year, 2) - early
    months = number + 12 * early - 3
    leaps = 1461 * years // 4 - (3 * (years // 100) + 3) // 4  # and 365 days a year
    return leaps + (153 * months + 2) // 5 + _digits(day, 0) - 306 - FIRST


def _told_clock(text: Any, start: int) -> Any:
    """The second of the day of the clock that a text tells from some place on."""
    hour, minute = (_digits(text, start + place) for place in (0, 3))
    has_seconds = text.substr(start + 5, 1) == ":"
    second = ibis.cases((has_seconds, _digits(text, start + 6)), else_=_whole(0))
    return hour * 3600 + minute * 60 + second


def _told_distance(text: Any) -> Any:
    """The seconds that the clock of a text is ahead of UTC."""
    written = (text + _END).re_extract(f":[0-9]{{2}}[0-9.]* ?{DISTANCE}{_END}$", 1)
    signed = ibis.cases((written == "Z", "+0000"), else_=written.replace(":", "") + "00")
    size = _digits(signed, 1) * 3600 + _digits(signed, 3) * 60
    return ibis.cases((signed.left(1) == "-", -size), else_=size)


def _digits(text: Any, start: int) -> Any:
    """The number that two digits spell; some number from -1 to 99 where there are none."""
    return ibis.literal(_PAIRS).find(text.substr(start, 2)) // 3


def _there(moment: Any, moments: TimeSteps) -> Any:
    """The second that clocks of the zone show at a moment in seconds since 1970."""
    days = (end * moments.step // DAY + FIRST for end in (moments.low, moments.high))
    first, *later = distances(str(moments.zone), *days)
    ahead = ibis.cases(
        *((moment >= since, _whole(seconds)) for since, seconds in reversed(later)),
        (moment.notnull(), _whole(first[1])),
    )
    return moment + ahead


def _whole(number: int) -> Any:
    return ibis.literal(number, "int64")


_ZONE_ADVICE = (
    "a column of times with a zone, such as TIMESTAMP WITH TIME ZONE, is declared without one, so "
    "it is not known where its days begin; declare it, as in "
    'Date(…, zone="Europe/Berlin"), or zone: UTC in a file'
)
