"""Date: a column of days between two bounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, time
from fractions import Fraction
from typing import Any, ClassVar

from eke.domain.attribute import SqlKind
from eke.domain.moment_text import day_form, written_day
from eke.domain.placing import Placing, TimeSteps
from eke.domain.rule import Rule, check_rules, plain
from eke.domain.temporal import Temporal, checked_bounds
from eke.domain.wall_clock import check_reading, check_year, day_second, wall_second
from eke.domain.zone import DAY
from eke.errors import DomainError

MOST_DAYS = 100_000


@dataclass(frozen=True, slots=True, init=False)
class Date(Temporal):
    """Days between two public bounds, both included; a time counts for its day.

    A column holds dates, times, or texts such as 2013-01-31 and 2013-01-31 05:00:00. Its labels
    are texts of the form 2013-01-31. Year, month, weekday and the like are functions of the day, so
    SQL has them without further columns.

    Args:
        low: the first day, a `datetime.date` or a text.
        high: the last; there may be at most 100,000 days.
        null: the rule for NULL; under "clamp" for what is no day, too, which has no nearest bound.
        outside: the rule for other days and for what is none; "clamp" moves days to the nearest
            bound.
        format: how texts spell a day, if not as 2013-01-31: numbers only, such as "%d.%m.%Y".
        zone: where days begin, for times that are told with their distance from UTC, such as
            "America/New_York". Other times count for the day that they name.

    Raises:
        DomainError: when a bound is no day, there are too many days, or there is no such zone.

    Example:
        >>> when = eke.Date("2013-01-01", "2013-12-31")
        >>> when.size, when.code("2013-02-01"), when.labels[31]
        (365, 31, '2013-02-01')
    """

    kind: ClassVar[str] = "date"
    low: date
    high: date
    null: Rule
    outside: Rule
    format: str | None
    zone: str | None

    def __init__(
        self,
        low: date | str,
        high: date | str,
        null: Rule = "drop",
        outside: Rule = "clamp",
        *,
        format: str | None = None,  # noqa: A002 - what strptime and others call it
        zone: str | None = None,
    ) -> None:
        first, last = _bound(low), _bound(high)
        checked_bounds(first.toordinal(), last.toordinal(), MOST_DAYS, "Date", "days")
        check_reading(format, zone, day_form)
        check_rules(null, outside, clamps=True)
        self._store(first, last, null, outside, format, zone)

    @property
    def ends(self) -> tuple[int, int]:
        return day_second(self.low) // DAY, day_second(self.high) // DAY

    @property
    def step_seconds(self) -> int:
        return DAY

    @property
    def words(self) -> tuple[str, str]:
        return "days", "2013-01-31"

    @staticmethod
    def _meant(value: object) -> Fraction | None:
        day = _written(value)
        return None if day is None else Fraction(day_second(day))

    def _second(self, raw: object) -> int | None:
        return wall_second(raw, self.format, self.zone)

    @staticmethod
    def _cell(second: int) -> date:
        return date.fromordinal(second // DAY + date(1970, 1, 1).toordinal())

    @property
    def placing(self) -> Placing:
        return TimeSteps(*self.ends, DAY, self.format, self.zone)

    def fields(self) -> dict[str, Any]:
        bounds = {"low": self.low.isoformat(), "high": self.high.isoformat()}
        reading = {"format": self.format, "zone": self.zone}
        return bounds | {name: value for name, value in reading.items() if value is not None}

    @classmethod
    def of_fields(cls, fields: Mapping[str, Any]) -> Date:
        rest = {name: value for name, value in fields.items() if name not in ("low", "high")}
        return cls(fields["low"], fields["high"], **rest)

    @property
    def sql_kind(self) -> SqlKind:
        return "day"


def _written(value: object) -> date | None:
    """The day that a person means: a date, a text, or midnight of a day."""
    python_value = plain(value)
    if isinstance(python_value, str):
        return written_day(python_value)
    if isinstance(python_value, datetime):
        midnight = python_value.utcoffset() is None and python_value == datetime.combine(
            python_value.date(), time.min
        )
        return python_value.date() if midnight else None
    return python_value if isinstance(python_value, date) else None


def _bound(given: object) -> date:
    day = _written(given)
    if day is None:
        raise DomainError("the bounds of a Date are days, as dates or as texts such as 2013-01-31")
    check_year(day, "Date")
    return day
