"""Temporal: what columns of days, of moments and of times of day share.

Each is made of steps of one length between two bounds. A step has a number: how many of them have
passed since 1970, or since midnight.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from datetime import date, time
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar, cast

from eke.domain.attribute import BUCKET_TEXT, Attribute, End, Label
from eke.domain.rule import plain
from eke.errors import DomainError, QueryError

Cell = date | time  # a datetime is a date


class Temporal(Attribute):
    """Steps between two bounds, both included; a value counts for the step that it is in."""

    __slots__ = ()
    is_ordered: ClassVar[bool] = True
    format: str | None
    zone: str | None

    @property
    @abstractmethod
    def ends(self) -> tuple[int, int]:
        """The numbers of the first and the last step."""

    @property
    @abstractmethod
    def step_seconds(self) -> int:
        """How long a step is."""

    @property
    @abstractmethod
    def words(self) -> tuple[str, str]:
        """What people call its values, and one of them as they write it."""

    @staticmethod
    @abstractmethod
    def _meant(value: object) -> Fraction | None:
        """The second, since 1970 or midnight, that a person means, exactly."""

    @abstractmethod
    def _second(self, raw: object) -> int | None:
        """The second, since 1970 or midnight, that a raw value is or spells; rounded down."""

    @staticmethod
    @abstractmethod
    def _cell(second: int) -> Cell:
        """What a table holds for a step that begins at a second."""

    def _store(self, *values: object) -> None:
        """Set all fields, in order, and check the rules that are about them."""
        names: Sequence[str] = self.__slots__
        for name, value in zip(names, values, strict=True):
            object.__setattr__(self, name, value)
        self._check_replacements()

    # -- values and codes ----------------------------------------------------------------------

    @property
    def declared(self) -> tuple[Label, ...]:
        return _texts(self._cell, self.step_seconds, *self.ends)

    @property
    def size(self) -> int:
        first, last = self.ends
        return last - first + 1 + self.has_bucket

    def declared_code(self, value: object) -> int | None:
        second, (first, last) = self._meant(plain(value)), self.ends
        step = None if second is None else second / self.step_seconds
        inside = step is not None and step.denominator == 1 and first <= step <= last
        return int(step) - first if step is not None and inside else None

    def _step(self, raw: object) -> int | None:
        second = self._second(raw)
        return None if second is None else second // self.step_seconds

    def _find(self, raw: object) -> int | None:
        step, (first, last) = self._step(raw), self.ends
        return None if step is None or not first <= step <= last else step - first

    def _has_side(self, raw: object) -> bool:
        return self._second(raw) is not None

    def _clamp(self, raw: object) -> int | None:
        step, (first, last) = self._step(raw), self.ends
        return 0 if step is not None and step < first else last - first

    @property
    def beyond(self) -> tuple[int | None, int | None]:
        if self.outside == "clamp":
            first, last = self.ends
            return 0, last - first
        other = self._by_rule(self.outside, None)
        return other, other

    # -- questions -----------------------------------------------------------------------------

    @property
    def has_numbers(self) -> bool:
        return False

    def numbers(self) -> tuple[Fraction, ...]:
        name, _ = self.words
        raise DomainError(
            f"{name} cannot be summed; ask for counts of ranges or by month or hour, or in SQL for "
            "the average of EXTRACT(month FROM …)"
        )

    def step_numbers(self) -> tuple[list[int], int]:
        first, last = self.ends  # the bucket has the number 0
        return [*range(first, last + 1), *([0] if self.has_bucket else [])], self.step_seconds

    def chosen_code(self, value: object) -> int:
        self._on_grid(self._meant(plain(value)))
        return super().chosen_code(value)

    def range_end(self, end: object) -> End:
        if end is None or (isinstance(end, float) and end in (float("inf"), -float("inf"))):
            return cast("End", end)
        second = self._meant(plain(end))
        if second is None:
            name, example = self.words
            raise QueryError(
                f"the ends of a range of {name} are {name}, texts such as {example!r}, or None"
            )
        self._on_grid(second)
        return int(second // self.step_seconds)

    def _on_grid(self, second: Fraction | None) -> None:
        """Raise for what lies within a declared step, of which nothing finer is known."""
        inside = second is not None and 0 <= second // self.step_seconds - self.ends[0] < self.size
        if second is not None and inside and second % self.step_seconds:
            raise QueryError(f"nothing finer than steps is known; {self.nearest_text(second)}")

    def codes_between(self, low: End, high: End) -> slice:
        first, last = self.ends
        start = first if low is None else max(low, first)
        stop = last if high is None else min(high, last)
        if start > stop:
            name, _ = self.words
            raise QueryError(
                f"no declared {name} lie between {self.end_text(low)} and {self.end_text(high)}; "
                + self._declared_text()
            )
        return slice(int(start) - first, int(stop) - first + 1)

    def end_text(self, end: End) -> str:
        return self.step_text(end) if isinstance(end, int) else "an open end"

    def step_text(self, number: int) -> str:
        """The step of a number as its label."""
        return str(self._cell(number * self.step_seconds))

    def nearest_text(self, second: Fraction) -> str:
        """Which steps are nearest to a second between two of them."""
        step = int(second // self.step_seconds)
        before, after = self.step_text(step), self.step_text(step + 1)
        return f"the nearest begin at {before!r} and {after!r}"

    def _declared_text(self) -> str:
        return f"the declared {self.words[0]} are {self.values_text}"

    # -- reading -------------------------------------------------------------------------------

    def label_text(self, code: int) -> str:
        first, last = self.ends
        return self.step_text(first + code) if first + code <= last else BUCKET_TEXT

    @property
    def values_text(self) -> str:
        return " to ".join(map(self.step_text, self.ends))

    def range_text(self, first: int, last: int) -> str | None:
        within = last < self.size - self.has_bucket
        return f"from {self.label_text(first)} to {self.label_text(last)}" if within else None

    @property
    def cell_values(self) -> tuple[object, ...]:
        """What the table itself may hold: dates, moments or times; None for the bucket."""
        first, last = self.ends
        cells = (self._cell(step * self.step_seconds) for step in range(first, last + 1))
        return (*cells, *((None,) if self.has_bucket else ()))


@lru_cache(maxsize=16)
def _texts(cell: Any, seconds: int, first: int, last: int) -> tuple[str, ...]:
    return tuple(str(cell(step * seconds)) for step in range(first, last + 1))


def checked_bounds(first: int, last: int, most: int, name: str, steps: str) -> tuple[int, int]:
    """The numbers of the first and the last step, if there are some and not too many."""
    if first > last:
        raise DomainError(f"the first bound of a {name} is the later one; swap them")
    if last - first >= most:
        raise DomainError(f"a {name} may have at most {most:,} {steps}; take closer bounds")
    return first, last
