"""Wall clock: the second that the clocks of a place showed, from whatever a table holds.

It is counted from 1970-01-01 00:00:00 of that clock, as if clocks never changed.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from typing import Any, SupportsInt, cast
from zoneinfo import ZoneInfo

from eke.domain.moment_text import MomentForm, day_form, iso_moment
from eke.domain.zone import DAY, FIRST, check_zone
from eke.errors import DomainError

_YEARS = (2, 9998)  # so that engines can tell days before and after all bounds apart


def day_second(day: date) -> int:
    """The second at which a day begins; of a moment, its own, rounded down."""
    clock = day.hour * 3600 + day.minute * 60 + day.second if isinstance(day, datetime) else 0
    return (day.toordinal() - FIRST) * DAY + clock


def wall_second(raw: object, form: str | None, zone: str | None) -> int | None:
    """The second of a date, of a moment or of a text that spells one; None for anything else."""
    told = raw
    if isinstance(raw, str):
        told = iso_moment(raw) if form is None else day_form(form).read(raw)
    if isinstance(told, datetime) and told.utcoffset() is not None:
        return None if zone is None else day_second(_there(told, zone))
    if isinstance(told, date):
        return day_second(told)
    if type(told).__name__ == "datetime64":  # a year that Python does not know
        seconds = cast("Any", told).astype("datetime64[s]").astype("int64")
        return int(cast("SupportsInt", seconds))
    return None


def _there(moment: datetime, zone: str) -> datetime:
    try:
        return moment.astimezone(ZoneInfo(zone))
    except OverflowError:  # the first and the last day of the calendar
        return moment


def check_reading(
    form: object, zone: object, read: Callable[[str], MomentForm], example: str = "%d.%m.%Y"
) -> None:
    """Raise unless texts of such a form can be read and there is such a zone."""
    if form is not None:
        if not isinstance(form, str):
            raise DomainError(f"the format of a column is a text such as {example!r}")
        read(form)
    if zone is not None:
        check_zone(zone)


def check_year(day: date, name: str) -> None:
    """Raise for a bound that lies too near to the ends of the calendar."""
    if not _YEARS[0] <= day.year <= _YEARS[1]:
        raise DomainError(f"the bounds of a {name} lie in the years {_YEARS[0]} to {_YEARS[1]}")
