"""Zones: how far the clocks of a place are from UTC, as a short public list.

Engines have time zones of their own, of other editions and under other names. They are given this
list instead, so that all of them find the day that Python finds.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from eke.errors import DomainError

DAY = 86_400
FIRST = 719_163
"""The number of 1970-01-01, where 0001-01-01 is day 1."""


def check_zone(name: object) -> None:
    """Raise unless there is such a zone."""
    try:
        if isinstance(name, str):
            ZoneInfo(name)
            return
    except (OSError, ValueError, LookupError):
        pass
    raise DomainError(f"there is no time zone {name!r}; write one such as 'Europe/Berlin' or 'UTC'")


@lru_cache
def distances(zone: str, first: int, last: int) -> tuple[tuple[int, int], ...]:
    """(second since 1970 in UTC, seconds ahead of UTC from then on), around some days.

    Clocks are looked at once a day, and where they have changed, second by second.
    """
    start = (first - FIRST - 2) * DAY
    if zone == "UTC":
        return ((start, 0),)
    changes = [(start, _ahead(zone, start))]
    for day in range(first - FIRST - 1, last - FIRST + 3):
        before, after = (day - 1) * DAY, day * DAY
        ahead = _ahead(zone, after)
        if ahead == changes[-1][1]:
            continue
        while after - before > 1:
            middle = (before + after) // 2
            before, after = (before, middle) if _ahead(zone, middle) == ahead else (middle, after)
        changes.append((after, ahead))
    return tuple(changes)


def _ahead(zone: str, second: int) -> int:
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=second)
    ahead = moment.astimezone(ZoneInfo(zone)).utcoffset() or timedelta(0)
    return ahead.days * DAY + ahead.seconds
