"""Days: the number of the day that a raw value is or spells, as an expression of the engine's.

0001-01-01 is day 1, as in Python. What is a day at all is said by a pattern, and zones by a list of
public numbers, so that neither an engine's reading of texts nor its time zones have their say.

Privacy: The expressions are total: nothing in them can fail, whatever a row holds and whichever
branches of a CASE an engine works out. Texts are never cast: their digits are looked up in a list
of all pairs, and days are counted by arithmetic on these small numbers; what comes of texts that
spell no day is never looked at. Dates are brought into the years 1 to 9999 before they are counted
(some engines know infinite ones), and moments with a zone come from the engines' tables so
restricted.
"""

from __future__ import annotations

from datetime import date
from typing import Any

import ibis

from eke.domain.day_text import DAY_PATTERN, DISTANCE, NAIVE, ZONED, DayForm, day_form
from eke.domain.placing import Days
from eke.domain.zone import DAY, FIRST, distances
from eke.errors import DataError

FIRST_SECOND, LAST_SECOND = -62_135_596_800, 253_402_300_799
"""The years 1 to 9999, in seconds since 1970."""
ZONED_TYPE = ibis.expr.datatypes.Timestamp(timezone="UTC", scale=6)
"""The type of a column of moments: what it holds are their dates and times in UTC."""

_END = ";"  # at the end of a text, where an engine may take $ for the end of a line
_MISSING = -(2**62)
_PAIRS = "".join(f"{number:02}," for number in range(100))


def day_number(column: Any, days: Days) -> Any:
    """The number of the day of each value, NULL where it is none; None if no value can be one.

    Not of texts, which are read first (`told_moment`, `day_of_told`).
    """
    dtype = column.type()
    if dtype.is_timestamp() and dtype.timezone is not None:
        if days.zone is None:
            raise DataError(_ZONE_ADVICE)
        hour, minute, second = (
            part.cast("int64") for part in (column.hour(), column.minute(), column.second())
        )
        clock = hour * 3600 + minute * 60 + second
        return _local_day(_since_1970(column.date()) * DAY + clock, days)
    if dtype.is_timestamp():
        column = column.date()
    elif not dtype.is_date():
        return None
    between = ibis.least(ibis.greatest(column, ibis.literal(date.min)), ibis.literal(date.max))
    # Engines have different opinions about the least of NULL and a date.
    return ibis.cases((column.notnull(), _since_1970(between) + FIRST))


def holds_days(dtype: Any) -> bool:
    """True for the types of columns that may hold days, texts included."""
    return bool(dtype.is_string() or dtype.is_date() or dtype.is_timestamp())


def told_moment(column: Any, days: Days) -> Any:
    """What texts tell, as one whole number, so that an engine can hold it.

    Twice the second since 1970 of the day's beginning; of texts with their distance from UTC, twice
    the second in UTC, plus 1. NULL where a text is no day; see `is_missing` for NULL itself.
    """
    told = column + _END
    if days.form is not None:
        form = day_form(days.form)
        reading = [(told.re_search(f"^{form.pattern}{_END}$"), _formed(told, form))]
    else:
        begins = 2 * DAY * _counted(column.left(4), column.substr(5, 2), column.substr(8, 2))
        reading = [(told.re_search(f"^{NAIVE}{_END}$"), begins)]
        if days.zone is not None:
            moment = begins + 2 * _clock(column) + 1
            reading.append((told.re_search(f"^{ZONED}{_END}$"), moment))
    return ibis.cases((column.isnull(), _whole(_MISSING)), *reading)


def is_missing(told: Any) -> Any:
    """True where `told_moment` was told nothing."""
    return told == _MISSING


def day_of_told(told: Any, days: Days) -> Any:
    """The number of the day of each moment that `told_moment` has read."""
    naive = told // (2 * DAY) + FIRST
    if days.zone is None:
        return naive
    return ibis.cases((told % 2 == 0, naive), else_=_local_day(told // 2, days))


def _since_1970(day: Any) -> Any:
    return day.delta(ibis.literal(date(1970, 1, 1)), unit="day").cast("int64")


def _formed(told: Any, form: DayForm) -> Any:
    year, month, day = (
        ("0" * digits + told.re_extract(f"^{form.pattern}{_END}$", form.groups[name])).right(digits)
        for name, digits in (("year", 4), ("month", 2), ("day", 2))
    )
    spelled = year + "-" + month + "-" + day
    is_day = (spelled + _END).re_search(f"^{DAY_PATTERN}{_END}$")
    return ibis.cases((is_day, 2 * DAY * _counted(year, month, day)))


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


def _clock(text: Any) -> Any:
    """The second of the day in UTC that a text tells, perhaps of the day before or after."""
    hour, minute = (_digits(text, place) for place in (11, 14))
    second = ibis.cases((text.substr(16, 1) == ":", _digits(text, 17)), else_=_whole(0))
    written = (text + _END).re_extract(f":[0-9]{{2}}[0-9.]* ?{DISTANCE}{_END}$", 1)
    signed = ibis.cases((written == "Z", "+0000"), else_=written.replace(":", "") + "00")
    size = _digits(signed, 1) * 3600 + _digits(signed, 3) * 60
    ahead = ibis.cases((signed.left(1) == "-", -size), else_=size)
    return hour * 3600 + minute * 60 + second - ahead


def _digits(text: Any, start: int) -> Any:
    """The number that two digits spell; some number from -1 to 99 where there are none."""
    return ibis.literal(_PAIRS).find(text.substr(start, 2)) // 3


def _local_day(moment: Any, days: Days) -> Any:
    """The number of the day, in its zone, of a moment in seconds since 1970."""
    first, *later = distances(str(days.zone), days.low, days.high)
    ahead = ibis.cases(
        *((moment >= since, _whole(seconds)) for since, seconds in reversed(later)),
        (moment.notnull(), _whole(first[1])),
    )
    return (moment + ahead) // DAY + FIRST


def _whole(number: int) -> Any:
    return ibis.literal(number, "int64")


_ZONE_ADVICE = (
    "a column of times with a zone, such as TIMESTAMP WITH TIME ZONE, is declared as a Date "
    "without one, so it is not known where its days begin; declare it, as in "
    'Date(…, zone="Europe/Berlin"), or zone: UTC in a file'
)
