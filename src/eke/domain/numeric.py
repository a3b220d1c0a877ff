"""Numeric: a column of numbers on a public grid, such as hundredths or steps of 500."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from eke.domain.attribute import BUCKET_TEXT, Attribute, End, Label, SqlKind, end_text
from eke.domain.placing import Stepped
from eke.domain.rule import EXACT, Rule, check_rules, number_text, plain
from eke.domain.wide import MOST_VALUES, is_wide
from eke.errors import DomainError, QueryError

_MOST_STEPS_AWAY = 2**49


@dataclass(frozen=True, slots=True)
class Numeric(Attribute):
    """Numbers from low to high in steps, such as cents; others are rounded to the nearest.

    Sums and averages are of these numbers, and may be compared with any of them. Nothing is lost
    when the table's own numbers lie on the grid, and half a step at most for each record when they
    do not. Without `outside="never"` the interval of an average allows for half a step of rounding.

    Args:
        low: the smallest value.
        high: the largest, a whole number of steps away.
        step: the distance between two values.
        null: the rule for NULL and NaN; under "clamp" for texts, too, which have no nearest bound.
        outside: the rule for numbers beyond; "clamp" moves them to the nearest bound.

    Example:
        >>> eke.Numeric(0, 1, step=0.25).declared
        (0.0, 0.25, 0.5, 0.75, 1.0)
    """

    kind: ClassVar[str] = "numeric"
    is_ordered: ClassVar[bool] = True
    low: float
    high: float
    step: float
    null: Rule = "drop"
    outside: Rule = "clamp"

    def __post_init__(self) -> None:
        for name in ("low", "high", "step"):
            object.__setattr__(self, name, _number(name, getattr(self, name)))
        low, high, step = self._grid
        if step <= 0 or low > high:
            raise DomainError("Numeric needs a step above 0 and a lower bound not above the upper")
        steps = (high - low) / step
        if steps >= MOST_VALUES:
            raise DomainError(
                f"a Numeric may have at most {MOST_VALUES:,} values; take a longer step"
            )
        if is_wide(int(steps)) and max(abs(low), abs(high)) >= _MOST_STEPS_AWAY * step:
            raise DomainError(
                "tables of numbers are read as doubles, which do not tell values so far from 0 "
                "apart by so short a step; take a longer step, or shift the column"
            )
        if steps.denominator != 1:
            last = number_text(float(low + math.floor(steps) * step))
            raise DomainError(f"the upper bound must lie on the grid; take {last}, or another step")
        check_rules(self.null, self.outside, clamps=True)
        self._check_replacements()

    @property
    def _grid(self) -> tuple[Fraction, Fraction, Fraction]:
        """Low, high and step as people write them: 0.1 is a tenth."""
        return _as_written(self.low), _as_written(self.high), _as_written(self.step)

    @property
    def declared(self) -> tuple[Label, ...]:
        self.check_listed()
        low, _, step = self._grid
        return tuple(float(low + place * step) for place in range(self._steps + 1))

    @property
    def _steps(self) -> int:
        low, high, step = self._grid
        return int((high - low) / step)

    @property
    def size(self) -> int:
        return self._steps + 1 + self.has_bucket

    def declared_code(self, value: object) -> int | None:
        raw = plain(value)
        if isinstance(raw, bool) or not isinstance(raw, (int, float, Fraction)):
            return None
        if isinstance(raw, float) and not math.isfinite(raw):
            return None
        low, high, step = self._grid
        place = (_as_written(raw) - low) / step
        return int(place) if place.denominator == 1 and 0 <= place <= (high - low) / step else None

    def _find(self, raw: object) -> int | None:
        if not isinstance(raw, (int, float, Fraction)) or not self.low <= raw <= self.high:
            return None
        return math.floor(self._steps_to(raw) + 0.5)

    def _steps_to(self, raw: float | Fraction) -> float:
        # In doubles, operation by operation as every data engine does it.
        return (float(raw) - float(self.low)) / float(self.step)

    def _is_exact(self, raw: object) -> bool:
        steps = self._steps_to(raw) if isinstance(raw, (int, float, Fraction)) else 0.0
        return abs(steps - math.floor(steps + 0.5)) <= self.placing.rounding

    def _clamp(self, raw: object) -> int | None:
        below = isinstance(raw, (int, float, Fraction)) and raw < self.low
        return 0 if below else self._steps

    def numbers(self) -> tuple[Fraction, ...]:
        whole, unit = self.whole_numbers()
        return tuple(Fraction(number, unit) for number in whole)

    def whole_numbers(self) -> tuple[list[int], int]:
        self.check_listed()
        low, _, step = self._grid
        unit = math.lcm(low.denominator, step.denominator)
        first, between = int(low * unit), int(step * unit)
        values = [first + between * place for place in range(self._steps + 1)]
        return ([*values, 0] if self.has_bucket else values), unit

    @property
    def progression(self) -> tuple[Fraction, Fraction]:
        low, _, step = self._grid
        return low, step

    def widest_half(self, codes: Iterable[int] | None = None) -> Fraction:
        exact = self.outside == "never"
        declared = codes is None or any(code <= self._steps for code in codes)
        return self._grid[2] / 2 if declared and not exact else Fraction(0)

    def half_widths(self) -> tuple[Fraction, ...] | None:
        if self.outside == "never":
            return None
        self.check_listed()
        half = self._grid[2] / 2
        return (half,) * (self.size - self.has_bucket) + (Fraction(0),) * self.has_bucket

    @property
    def placing(self) -> Stepped:
        return Stepped(float(self.low), float(self.high), float(self.step))

    def fields(self) -> dict[str, Any]:
        return {"low": self.low, "high": self.high, "step": self.step}

    @classmethod
    def of_fields(cls, fields: Mapping[str, Any]) -> Numeric:
        names = ("low", "high", "step")
        rest = {name: value for name, value in fields.items() if name not in names}
        return cls(*(fields[name] for name in names), **rest)

    @property
    def sql_kind(self) -> SqlKind:
        return "number"

    def codes_between(self, low: End, high: End) -> slice:
        first, last, step = self._grid
        begin = 0 if low is None else math.ceil((_within(low, first, last, step) - first) / step)
        end = (
            self._steps
            if high is None
            else math.floor((_within(high, first, last, step) - first) / step)
        )
        if begin > end or begin > self._steps or end < 0:
            raise QueryError(
                f"no declared value lies between {end_text(low)} and {end_text(high)}; "
                + self._declared_text()
            )
        return slice(max(begin, 0), min(end, self._steps) + 1)

    @property
    def values_text(self) -> str:
        low, high, step = (number_text(n) for n in (self.low, self.high, self.step))
        return f"{low} to {high} in steps of {step}"

    def _declared_text(self) -> str:
        return f"the declared values are {self.values_text}"

    def label_text(self, code: int) -> str:
        if self.has_bucket and code == self.size - 1:
            return BUCKET_TEXT
        low, _, step = self._grid
        return number_text(float(low + code * step))

    def range_text(self, first: int, last: int) -> str | None:
        if last > self._steps:
            return None
        return f"{self.label_text(first)}–{self.label_text(last)}"


def _number(name: str, given: object) -> float:
    number = plain(given)
    if isinstance(number, bool) or not isinstance(number, (int, float)):
        raise DomainError(f"the {name} of a Numeric must be a number, not {given!r}")
    if not math.isfinite(number) or abs(number) >= EXACT:
        raise DomainError(f"the {name} of a Numeric must be finite and below 2**53 in magnitude")
    return number


def _as_written(number: float | Fraction) -> Fraction:
    return Fraction(repr(number)) if isinstance(number, float) else Fraction(number)


def _within(end: float | Fraction, low: Fraction, high: Fraction, step: Fraction) -> Fraction:
    """An end of a range; beyond the grid, as it may be infinite, one step outside."""
    if end < low:
        return low - step
    return high + step if end > high else _as_written(end)
