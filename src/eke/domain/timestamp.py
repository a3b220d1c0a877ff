"""Timestamp: a column of moments between two bounds, by steps such as hours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from fractions import Fraction
from typing import Any, ClassVar

from eke.domain.attribute import End, SqlKind
from eke.domain.moment_text import day_form, written_day, written_moment
from eke.domain.placing import Placing, TimeSteps
from eke.domain.rule import Rule, check_rules, plain
from eke.domain.step import checked_step, step_seconds, step_text
from eke.domain.temporal import Temporal, checked_bounds
from eke.domain.wall_clock import check_reading, check_year, day_second, wall_second
from eke.domain.zone import DAY
from eke.errors import DomainError

MOST_STEPS = 1_000_000


@dataclass(frozen=True, slots=True, init=False)
class Timestamp(Temporal):
    """Moments between two public bounds, by steps; a moment counts for the step that it is in.

    A column holds times, dates (which are midnight), or texts such as 2013-01-31 05:00:00. Its
    labels are texts of the form 2013-01-31 05:00:00, at which a step begins. Year, weekday, hour
    and the like are functions of the step, so SQL has them without further columns; nothing finer
    than a step is known.

    Args:
        low: the beginning of the first step, a `datetime.datetime`, a day or a text.
        high: that of the last; of a day, its last step. There may be at most 1,000,000 steps.
        step: "day", "hour", "minute" or "second", or several of them that a day is made of, such
            as "15 minutes".
        null: the rule for NULL; under "clamp" for what is no moment, too, which has no nearest
            bound.
        outside: the rule for other moments and for what is none; "clamp" moves moments to the
            nearest bound.
        format: how texts spell a moment, if not as 2013-01-31 05:00: numbers only, such as
            "%d.%m.%Y %H:%M".
        zone: the place whose clocks count, for times that are told with their distance from UTC,
            such as "America/New_York". Other times count as they are told. An hour that clocks go
            through twice is one step.

    Raises:
        DomainError: when a bound is no moment or within a step, there are too many steps, or there
            is no such zone.

    Example:
        >>> when = eke.Timestamp("2013-01-01", "2013-12-31", "hour")
        >>> when.size, when.code("2013-01-02 05:59:59"), when.labels[29]
        (8760, 29, '2013-01-02 05:00:00')
    """

    kind: ClassVar[str] = "timestamp"
    low: datetime
    high: datetime
    step: str
    null: Rule
    outside: Rule
    format: str | None
    zone: str | None

    def __init__(
        self,
        low: date | str,
        high: date | str,
        step: str = "hour",
        null: Rule = "drop",
        outside: Rule = "clamp",
        *,
        format: str | None = None,  # noqa: A002 - what strptime and others call it
        zone: str | None = None,
    ) -> None:
        seconds = checked_step(step)
        first, last = _bound(low), _bound(high)
        if _is_day(high):
            last += timedelta(seconds=DAY - seconds)
        for bound in (first, last):
            if day_second(bound) % seconds or bound.microsecond:
                raise DomainError(
                    f"the bound {bound} is within a step of {step_text(seconds)}; take the "
                    "beginning of one"
                )
        steps = day_second(first) // seconds, day_second(last) // seconds
        checked_bounds(*steps, MOST_STEPS, "Timestamp", "steps")
        check_reading(format, zone, day_form, "%d.%m.%Y %H:%M")
        check_rules(null, outside, clamps=True)
        self._store(first, last, step_text(seconds), null, outside, format, zone)

    @property
    def ends(self) -> tuple[int, int]:
        seconds = self.step_seconds
        return day_second(self.low) // seconds, day_second(self.high) // seconds

    @property
    def step_seconds(self) -> int:
        return step_seconds(self.step)

    @property
    def words(self) -> tuple[str, str]:
        return "moments", "2013-01-31 05:00"

    @staticmethod
    def _meant(value: object) -> Fraction | None:
        moment = _written(value)
        if moment is None:
            return None
        return day_second(moment) + Fraction(moment.microsecond, 10**6)

    def _second(self, raw: object) -> int | None:
        return wall_second(raw, self.format, self.zone)

    @staticmethod
    def _cell(second: int) -> datetime:
        return datetime(1970, 1, 1) + timedelta(seconds=second)  # noqa: DTZ001 - the wall's clock

    @property
    def placing(self) -> Placing:
        return TimeSteps(*self.ends, self.step_seconds, self.format, self.zone)

    def last_end(self, end: object) -> End:
        step = self.range_end(end)
        is_whole = isinstance(step, int) and _is_day(plain(end))
        return step + DAY // self.step_seconds - 1 if step is not None and is_whole else step

    def fields(self) -> dict[str, Any]:
        bounds = {"low": str(self.low), "high": str(self.high), "step": self.step}
        reading = {"format": self.format, "zone": self.zone}
        return bounds | {name: value for name, value in reading.items() if value is not None}

    @classmethod
    def of_fields(cls, fields: Mapping[str, Any]) -> Timestamp:
        rest = {name: value for name, value in fields.items() if name not in ("low", "high")}
        return cls(fields["low"], fields["high"], **rest)

    @property
    def sql_kind(self) -> SqlKind:
        return "moment"

    @property
    def values_text(self) -> str:
        return f"{self.low} to {self.high}, by {self.step}"


def _written(value: object) -> datetime | None:
    """The moment that a person means: a moment, a text, or a day, which is its midnight."""
    python_value = plain(value)
    if isinstance(python_value, str):
        return written_moment(python_value)
    if isinstance(python_value, datetime):
        return python_value if python_value.tzinfo is None else None
    is_day = isinstance(python_value, date)
    return datetime.combine(python_value, datetime.min.time()) if is_day else None  # type: ignore[arg-type]


def _is_day(value: object) -> bool:
    """True for a day that is given without a time of day."""
    if isinstance(value, str):
        return written_day(value) is not None
    return isinstance(value, date) and not isinstance(value, datetime)


def _bound(given: object) -> datetime:
    moment = _written(given)
    if moment is None or moment != moment:  # noqa: PLR0124 - as pandas' NaT does
        raise DomainError(
            "the bounds of a Timestamp are moments without a zone, as datetimes or as texts such "
            "as 2013-01-31 05:00"
        )
    check_year(moment, "Timestamp")
    return moment.replace(fold=0)
