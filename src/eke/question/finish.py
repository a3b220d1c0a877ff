"""Finishes: what is done to a noisy value at last, before it is shown: ROUND, ABS, COALESCE.

They are post-processing. What is planned, measured and stored is the value before; here it is
mapped, and its interval with it. Most finishes never fall when the value rises, so that the ends of
an interval go where the value would go, and what it holds is held afterwards.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from eke.arrays import FloatArray
from eke.errors import QueryError
from eke.question.formula import Formula

Ends: TypeAlias = tuple[float, float]


def _rounded(value: Fraction, digits: Fraction) -> Fraction:
    scale = Fraction(10) ** int(digits)
    nearest = Fraction(math.floor(abs(value) * scale + Fraction(1, 2))) / scale
    return nearest if value >= 0 else -nearest


def _truncated(value: Fraction, digits: Fraction) -> Fraction:
    scale = Fraction(10) ** int(digits)
    return Fraction(math.trunc(value * scale)) / scale


_RISING: dict[str, Callable[[Fraction, Fraction], Fraction]] = {
    "round": _rounded,
    "trunc": _truncated,
    "floor": lambda value, _: Fraction(math.floor(value)),
    "ceil": lambda value, _: Fraction(math.ceil(value)),
    "sign": lambda value, _: Fraction((value > 0) - (value < 0)),
    "least": min,
    "greatest": max,
    "text": lambda value, _: value,  # where types are told it is one; here it stays a number
}
_FILLING = ("coalesce", "least", "greatest")  # what these have besides it stands for NULL
_BEYOND = {"sign": (-1.0, 1.0)}


@dataclass(frozen=True, slots=True)
class Finish:
    """A function of a value that has an interval.

    `word` is round, trunc, floor, ceil, sign, least, greatest, abs, coalesce or text; `number` is
    the digits, the other number, or what stands for NULL.
    """

    word: str
    number: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        if self.word not in (*_RISING, "abs", "coalesce"):
            raise QueryError(f"{self.word} is nothing that can be done to an answer")

    def value(self, value: Any) -> Any:
        """The value that is shown; None is NULL."""
        if value is None:
            return self.number if self.word in _FILLING else None
        if self.word == "coalesce":
            return value
        if isinstance(value, float) and not math.isfinite(value):
            return self._beyond(value)
        exact = Fraction(value)
        finished = abs(exact) if self.word == "abs" else _RISING[self.word](exact, self.number)
        return float(finished) if isinstance(value, float) else finished

    def ends(self, ends: Ends, bounds: Ends) -> Ends:
        """The interval of what is shown, from that of the value and what bounds it in any case."""
        low, high = ends
        if self.word == "abs":
            least = 0.0 if low <= 0.0 <= high else min(abs(low), abs(high))
            return least, max(abs(low), abs(high))
        first, last = self.value(low), self.value(high)
        # An interval as wide as all that is possible says that there may be no value.
        if self.word in _FILLING and low <= bounds[0] and high >= bounds[1]:
            return min(first, float(self.number)), max(last, float(self.number))
        return first, last

    def _beyond(self, value: float) -> float:
        if self.word == "abs" or math.isnan(value):
            return abs(value)
        if self.word in ("least", "greatest"):
            return float(_RISING[self.word](value, float(self.number)))  # type: ignore[arg-type]
        low, high = _BEYOND.get(self.word, (-math.inf, math.inf))
        return high if value > 0 else low


AS_TEXT = Finish("text")


@dataclass(frozen=True, slots=True)
class Finished(Formula):
    """A formula with a finish, as HAVING and ORDER BY look at it; it is never planned for."""

    of: Formula
    finish: Finish

    @property
    def parts(self) -> tuple[Formula, ...]:
        return (self.of,)

    def with_parts(self, *parts: Formula) -> Formula:
        (of,) = parts
        return Finished(of, self.finish)

    def value(self, answers: Sequence[Any], keys: Sequence[Any] = ()) -> Any:
        return self.finish.value(self.of.value(answers, keys))

    def values(self, answers: FloatArray) -> FloatArray:
        return np.array([self.finish.value(float(one)) for one in self.of.values(answers)])

    @property
    def text(self) -> str:
        more = (
            ""
            if self.finish.word in ("abs", "sign", "floor", "ceil", "text")
            else self.finish.number
        )
        return f"{self.finish.word}({self.of.text}{f', {more}' if more != '' else ''})"

    def to_document(self) -> dict[str, Any]:
        finish = {"word": self.finish.word, "number": str(self.finish.number)}
        return {"finish": finish, "of": self.of.to_document()}


def finished(formula: Formula, finishes: Sequence[Finish]) -> Formula:
    """The formula with its finishes, the innermost first."""
    for finish in finishes:
        formula = Finished(formula, finish)
    return formula


def finished_interval(
    finishes: Sequence[Finish],
    value: float | None,
    interval: tuple[float | None, float | None],
    bounds: Ends,
) -> tuple[float | None, float | None, float | None]:
    """(value, low, high) as they are shown; None stands for NULL and for ends that are not known.

    Privacy: post-processing of an answer; the bounds follow from the public domain.
    """
    first, last = interval
    low, high = -math.inf if first is None else first, math.inf if last is None else last
    was_null = value is None
    for finish in finishes:
        value = finish.value(value)
        low, high = finish.ends((low, high), bounds)
        bounds = finish.ends(bounds, bounds)
    if value is None:
        return None, None, None
    shown = float(value)
    if was_null:  # the truth may be what stands for NULL, or any value
        low, high = min(low, shown), max(high, shown)
    return shown, low if math.isfinite(low) else None, high if math.isfinite(high) else None
