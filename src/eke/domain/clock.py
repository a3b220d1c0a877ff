"""Time: a column of times of day, by steps such as hours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import time
from fractions import Fraction
from typing import Any, ClassVar

from eke.domain.attribute import SqlKind
from eke.domain.moment_text import clock_form, iso_clock, written_clock
from eke.domain.placing import Placing, TimeSteps
from eke.domain.rule import Rule, check_rules, plain
from eke.domain.step import checked_step, step_seconds, step_text
from eke.domain.temporal import Temporal, checked_bounds
from eke.domain.wall_clock import check_reading
from eke.domain.zone import DAY
from eke.errors import DomainError


@dataclass(frozen=True, slots=True, init=False)
class Time(Temporal):
    """Times of day between two public bounds, by steps; a time counts for the step that it is in.

    A column holds times of day or texts such as 05:00 and 05:00:30. Its labels are texts of the
    form 05:00:00, at which a step begins. Of a column of moments, declare a `Timestamp`: SQL has
    its time of day.

    Args:
        low: the beginning of the first step, a `datetime.time` or a text.
        high: that of the last; the last of the day, if it is not given.
        step: "hour", "minute" or "second", or several of them that a day is made of, such as
            "15 minutes".
        null: the rule for NULL; under "clamp" for what is no time, too, which has no nearest bound.
        outside: the rule for other times and for what is none; "clamp" moves times to the nearest
            bound.
        format: how texts spell a time, if not as 05:00: numbers only, such as "%H.%M".

    Raises:
        DomainError: when a bound is no time of day or within a step.

    Example:
        >>> opening = eke.Time("08:00", "19:45", "15 minutes")
        >>> opening.size, opening.code("08:59"), opening.labels[3]
        (48, 3, '08:45:00')
    """

    kind: ClassVar[str] = "time"
    low: time
    high: time
    step: str
    null: Rule
    outside: Rule
    format: str | None

    def __init__(
        self,
        low: time | str | None = None,
        high: time | str | None = None,
        step: str = "hour",
        null: Rule = "drop",
        outside: Rule = "clamp",
        *,
        format: str | None = None,  # noqa: A002 - what strptime and others call it
    ) -> None:
        seconds = checked_step(step)
        first, last = _bound(low, 0), _bound(high, DAY - seconds)
        if any(bound % seconds for bound in (first, last)):
            raise DomainError(
                f"a bound is within a step of {step_text(seconds)}; take the beginning of one"
            )
        checked_bounds(int(first), int(last), DAY, "Time", "seconds")
        check_reading(format, None, clock_form, "%H.%M")
        check_rules(null, outside, clamps=True)
        bounds = self._cell(int(first)), self._cell(int(last))
        self._store(*bounds, step_text(seconds), null, outside, format)

    @property
    def ends(self) -> tuple[int, int]:
        seconds = self.step_seconds
        return _second_of(self.low) // seconds, _second_of(self.high) // seconds

    @property
    def step_seconds(self) -> int:
        return step_seconds(self.step)

    @property
    def words(self) -> tuple[str, str]:
        return "times of day", "05:00"

    @staticmethod
    def _meant(value: object) -> Fraction | None:
        clock = _written(value)
        if clock is None:
            return None
        return _second_of(clock) + Fraction(clock.microsecond, 10**6)

    def _second(self, raw: object) -> int | None:
        told = raw
        if isinstance(raw, str):
            told = iso_clock(raw) if self.format is None else clock_form(self.format).read(raw)
        return _second_of(told) if isinstance(told, time) and told.tzinfo is None else None

    @staticmethod
    def _cell(second: int) -> time:
        minutes, seconds = divmod(second % DAY, 60)
        return time(minutes // 60, minutes % 60, seconds)

    @property
    def placing(self) -> Placing:
        return TimeSteps(*self.ends, self.step_seconds, self.format, None, is_clock=True)

    def fields(self) -> dict[str, Any]:
        told = {"low": str(self.low), "high": str(self.high), "step": self.step}
        return told if self.format is None else {**told, "format": self.format}

    @classmethod
    def of_fields(cls, fields: Mapping[str, Any]) -> Time:
        return cls(**fields)

    @property
    def sql_kind(self) -> SqlKind:
        return "clock"

    @property
    def values_text(self) -> str:
        return f"{self.low} to {self.high}, by {self.step}"


def _second_of(clock: time) -> int:
    return clock.hour * 3600 + clock.minute * 60 + clock.second


def _written(value: object) -> time | None:
    """The time of day that a person means: a time or a text."""
    python_value = plain(value)
    if isinstance(python_value, str):
        return written_clock(python_value)
    is_plain = isinstance(python_value, time) and python_value.tzinfo is None
    return python_value if isinstance(python_value, time) and is_plain else None


def _bound(given: object, default: int) -> Fraction:
    if given is None:
        return Fraction(default)
    second = Time._meant(given)  # noqa: SLF001
    if second is None:
        raise DomainError(
            "the bounds of a Time are times of day, as times or as texts in quotation marks such "
            "as '05:00'"
        )
    return second
