"""Cell: one value of a result with its interval; a date or a time is a text."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from eke.question.calendar import Calendar


@dataclass(frozen=True, slots=True)
class Cell:
    """One value of a result with its interval; all None where a formula has no value.

    With a calendar these are the texts of dates or times, and `numbers` are the steps behind them.
    """

    value: Any
    low: Any
    high: Any
    variance: float | None = field(default=None, compare=False)
    calendar: Calendar | None = field(default=None, compare=False, kw_only=True)

    @property
    def numbers(self) -> Cell:
        """The same as numbers, which have distances and can be drawn."""
        if self.calendar is None:
            return self
        ends = (self.value, self.low, self.high)
        value, low, high = (None if one is None else self.calendar.number(one) for one in ends)
        return Cell(value, low, high)

    def told(self, calendar: Calendar | None) -> Cell:
        """Numbers of steps as the dates or times that they are."""
        if calendar is None:
            return self
        ends = (self.value, self.low, self.high)
        value, low, high = (None if one is None else calendar.text(one) for one in ends)
        return Cell(value, low, high, self.variance, calendar=calendar)

    def widened(self, by: float) -> Cell:
        """The same value, when it may be off by so much besides the noise."""
        if not by or self.low is None or self.high is None:
            return self
        return replace(self, low=self.low - by, high=self.high + by)

    def to_dict(self) -> dict[str, Any]:
        return {"value": self.value, "low": self.low, "high": self.high}
