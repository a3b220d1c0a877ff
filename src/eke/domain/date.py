"""Date: a column of days between two bounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, time
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar, SupportsInt, cast
from zoneinfo import ZoneInfo

from eke.domain.attribute import BUCKET_TEXT, Attribute, End, Label, SqlKind
from eke.domain.day_text import day_form, iso_day, written_day
from eke.domain.placing import Days, Placing
from eke.domain.rule import Rule, check_rules, plain
from eke.domain.zone import FIRST, check_zone
from eke.errors import DomainError, QueryError

MOST_DAYS = 100_000
_YEARS = (2, 9998)  # so that engines can tell days before and after all bounds apart


@dataclass(frozen=True, slots=True, init=False)
class Date(Attribute):
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
    is_ordered: ClassVar[bool] = True
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
        if first > last:
            raise DomainError(f"Date({first}, {last}): the first day is the later one; swap them")
        if (last - first).days >= MOST_DAYS:
            raise DomainError(f"a Date may have at most {MOST_DAYS:,} days; take closer bounds")
        if format is not None:
            if not isinstance(format, str):
                raise DomainError("the format of a Date is a text such as '%d.%m.%Y'")
            day_form(format)
        if zone is not None:
            check_zone(zone)
        check_rules(null, outside, clamps=True)
        given = (first, last, null, outside, format, zone)
        for name, value in zip(self.__slots__, given, strict=True):
            object.__setattr__(self, name, value)
        self._check_replacements()

    # -- values and codes ----------------------------------------------------------------------

    @property
    def declared(self) -> tuple[Label, ...]:
        return _texts(self._first, self._last)

    @property
    def size(self) -> int:
        return self._last - self._first + 1 + self.has_bucket

    @property
    def _first(self) -> int:
        return self.low.toordinal()

    @property
    def _last(self) -> int:
        return self.high.toordinal()

    def declared_code(self, value: object) -> int | None:
        day = _written(value)
        inside = day is not None and self.low <= day <= self.high
        return day.toordinal() - self._first if day and inside else None

    def _find(self, raw: object) -> int | None:
        day = self._number(raw)
        return None if day is None or not self._first <= day <= self._last else day - self._first

    def _has_side(self, raw: object) -> bool:
        return self._number(raw) is not None

    def _clamp(self, raw: object) -> int | None:
        day = self._number(raw)
        return 0 if day is not None and day < self._first else self._last - self._first

    @property
    def beyond(self) -> tuple[int | None, int | None]:
        if self.outside == "clamp":
            return 0, self._last - self._first
        other = self._by_rule(self.outside, None)
        return other, other

    def _number(self, raw: object) -> int | None:
        """The number of the day that a value is or spells, 0001-01-01 being 1."""
        day = raw
        if isinstance(raw, str):
            day = iso_day(raw) if self.format is None else day_form(self.format).day(raw)
        if isinstance(day, datetime) and day.utcoffset() is not None:
            return self._day_in_zone(day)
        if isinstance(day, date):
            return day.toordinal()
        if type(day).__name__ == "datetime64":  # a year that Python does not know
            days = cast("Any", day).astype("datetime64[D]").astype("int64")
            return int(cast("SupportsInt", days)) + FIRST
        return None

    def _day_in_zone(self, moment: datetime) -> int | None:
        if self.zone is None:
            return None
        try:
            return moment.astimezone(ZoneInfo(self.zone)).toordinal()
        except OverflowError:  # the first and the last day of the calendar
            return moment.toordinal()

    @property
    def placing(self) -> Placing:
        return Days(self._first, self._last, self.format, self.zone)

    # -- files ---------------------------------------------------------------------------------

    def fields(self) -> dict[str, Any]:
        bounds = {"low": self.low.isoformat(), "high": self.high.isoformat()}
        reading = {"format": self.format, "zone": self.zone}
        return bounds | {name: value for name, value in reading.items() if value is not None}

    @classmethod
    def of_fields(cls, fields: Mapping[str, Any]) -> Date:
        rest = {name: value for name, value in fields.items() if name not in ("low", "high")}
        return cls(fields["low"], fields["high"], **rest)

    # -- questions -----------------------------------------------------------------------------

    @property
    def sql_kind(self) -> SqlKind:
        return "day"

    @property
    def has_numbers(self) -> bool:
        return False

    def numbers(self) -> tuple[Fraction, ...]:
        raise DomainError(
            "days cannot be summed; ask for counts of ranges or by month, or in SQL for the "
            "average of EXTRACT(month FROM …)"
        )

    def day_numbers(self) -> list[int]:
        """The number of each day, 1970-01-01 being 0; that of the bucket is 0."""
        days = list(range(self._first - FIRST, self._last - FIRST + 1))
        return [*days, 0] if self.has_bucket else days

    def range_end(self, end: object) -> End:
        if end is None or (isinstance(end, float) and end in (float("inf"), -float("inf"))):
            return cast("End", end)
        day = _written(end)
        if day is None:
            raise QueryError(
                "the ends of a range of days are dates, texts such as '2013-01-31', or None"
            )
        return day.toordinal()

    def codes_between(self, low: End, high: End) -> slice:
        first = self._first if low is None else max(low, self._first)
        last = self._last if high is None else min(high, self._last)
        if first > last:
            raise QueryError(
                f"no declared day lies between {self.end_text(low)} and {self.end_text(high)}; "
                + self._declared_text()
            )
        return slice(int(first) - self._first, int(last) - self._first + 1)

    def end_text(self, end: End) -> str:
        return date.fromordinal(end).isoformat() if isinstance(end, int) else "an open end"

    def _declared_text(self) -> str:
        return f"the declared days are {self.values_text}"

    # -- reading -------------------------------------------------------------------------------

    def label_text(self, code: int) -> str:
        day = self._first + code
        return date.fromordinal(day).isoformat() if day <= self._last else BUCKET_TEXT

    @property
    def values_text(self) -> str:
        return f"{self.low} to {self.high}"

    def range_text(self, first: int, last: int) -> str | None:
        within = self._first + last <= self._last
        return f"from {self.label_text(first)} to {self.label_text(last)}" if within else None

    @property
    def cell_values(self) -> tuple[object, ...]:
        """Dates, as the table itself may hold them; None for the bucket."""
        days = range(self._first, self._last + 1)
        return (*map(date.fromordinal, days), *((None,) if self.has_bucket else ()))


@lru_cache(maxsize=64)
def _texts(first: int, last: int) -> tuple[str, ...]:
    return tuple(date.fromordinal(day).isoformat() for day in range(first, last + 1))


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
    if not _YEARS[0] <= day.year <= _YEARS[1]:
        raise DomainError(f"the bounds of a Date lie in the years {_YEARS[0]} to {_YEARS[1]}")
    return day
