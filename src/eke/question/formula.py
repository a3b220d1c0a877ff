"""Formulas: what a column of a result is, as arithmetic on noisy answers.

A linear question is one `Aggregate`. Averages, ratios, variances, products and roots are trees over
several. What others need of a formula are methods, so that a new kind is one class like `Root`: its
value on answers and its text. If it can be a ratio of linear forms, or has no value somewhere, it
says so as well.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, TypeAlias

import numpy as np

from eke.arrays import FloatArray
from eke.domain import Domain
from eke.errors import AccuracyError, QueryError
from eke.question.calendar import Calendar
from eke.question.ladder import Ladder
from eke.question.ratio import Ratio, joined, scaled_average, unit

NOT_CHOSEN = (
    "only a quantile is chosen, once: eke.median('age').chosen(), or "
    "eke.quantile('age', 0.9).chosen(); nothing is calculated with it"
)
Sign: TypeAlias = Literal["+", "-", "*", "/"]
Average: TypeAlias = Callable[[int, int], bool]
"""Whether the answer at one place is a total over the records that the one at another counts."""
Extremes: TypeAlias = Callable[[int], tuple[float, float]]
"""The least and the most that one record can add to the answer at a place."""


class Formula(ABC):
    """A function of the answers to some questions, and of the keys of a row."""

    __slots__ = ()

    @property
    def parts(self) -> tuple[Formula, ...]:
        """The formulas it is made of; those without any are leaves."""
        return ()

    @property
    def answer(self) -> int | None:
        """The place of the answer that it is; None for everything but an answer."""
        return None

    @property
    def key(self) -> int | None:
        """The place of the key that it is; None for everything but a key."""
        return None

    @abstractmethod
    def with_parts(self, *parts: Formula) -> Formula:
        """The same kind of formula, made of others."""

    @abstractmethod
    def value(self, answers: Sequence[Any], keys: Sequence[Any] = ()) -> Any:
        """The value in a row, exact where the answers are Fractions (but for roots).

        None is NULL: where the formula has no value, which noise can bring about.
        """

    @abstractmethod
    def values(self, answers: FloatArray) -> FloatArray:
        """The values for many draws of the answers, (answers, draws); NaN where there is none.

        Call it by way of `evaluated`, which keeps NumPy from warning.
        """

    @property
    @abstractmethod
    def text(self) -> str:
        """As people write it, with a0, a1, … for aggregates and k0, k1, … for keys."""

    @abstractmethod
    def to_document(self) -> dict[str, Any]:
        """As requests and their digests hold it; `document.py` reads it."""

    def ratio(self, answers: int) -> Ratio | None:
        """The formula as a ratio of two linear forms of so many answers; None if it is none."""
        del answers
        return None

    @property
    def radicand(self) -> Formula | None:
        """What the formula is the square root of; None if it is none."""
        return None

    def fragile(self) -> Iterator[Formula]:
        """The parts that must not be 0, or the formula has no value or no derivative there."""
        for part in self.parts:
            yield from part.fragile()

    def leaves(self) -> Iterator[Formula]:
        """The constants, aggregates and keys, from left to right."""
        waiting: list[Formula] = [self]
        while waiting:
            formula = waiting.pop()
            if not formula.parts:
                yield formula
            waiting += reversed(formula.parts)

    def aggregates(self) -> list[int]:
        """The places of the answers that the formula depends on, each once, in order."""
        return sorted({leaf.answer for leaf in self.leaves() if leaf.answer is not None})

    def over(self, places: Sequence[int]) -> Formula:
        """The same formula over the answers at some places only."""
        return self.on_answers({place: Aggregate(new) for new, place in enumerate(places)})

    def on_answers(self, by: Mapping[int, Formula] | Sequence[Formula]) -> Formula:
        """The formula with others in place of its answers."""
        return self.with_parts(*(part.on_answers(by) for part in self.parts))

    def shifted(self, shift: Fraction) -> Formula:
        """The formula plus a public number."""
        return Operation("+", self, Constant(shift)) if shift else self

    def example(self, labels: Sequence[Sequence[Any]]) -> Any:
        """Something of the kind that its values are of, each key having some labels."""
        del labels
        return Fraction(0)

    def off_by(self, blurs: Sequence[float], average: Average) -> float | None:
        """By how much the value may be off if a record may add so much too much to each answer.

        None: by any amount, as the number of records is not known. An average is off by no more
        than each of its records.
        """
        return None if any(blurs[place] for place in self.aggregates()) else 0.0

    def bounds(self, average: Average, extremes: Extremes) -> tuple[float, float]:
        """What the value lies between whatever the data; infinite where nothing is known."""
        return -math.inf, math.inf

    def chosen(self) -> Formula:
        """The same quantile, to be chosen; an error for everything else."""
        raise QueryError(NOT_CHOSEN)

    def on_domain(self, domain: Domain) -> Formula:
        """The formula with what it has to know of a domain, as the steps of quantiles."""
        return self.with_parts(*(part.on_domain(domain) for part in self.parts))

    @property
    def ladder(self) -> Ladder | None:
        """The steps of a quantile; None for everything else."""
        return None

    @property
    def calendar(self) -> Calendar | None:
        """What tells the value as a date or a time, if it is one."""
        return None if self.ladder is None else self.ladder.calendar

    def scale(self) -> tuple[int, float] | None:
        """(aggregate, factor) of a formula that is one answer, scaled and shifted."""
        places = self.aggregates()
        if len(places) != 1:
            return None
        ratio = self.over(places).ratio(1)
        if ratio is None or ratio[1][0] != 0.0 or ratio[1][1] == 0.0 or ratio[0][0] == 0.0:
            return None
        return places[0], float(ratio[0][0] / ratio[1][1])


@dataclass(frozen=True, slots=True)
class Constant(Formula):
    """A public number; in HAVING and ORDER BY also a text or a truth value."""

    number: Fraction | str | bool

    def with_parts(self, *parts: Formula) -> Formula:
        return self

    def value(self, answers: Sequence[Any], keys: Sequence[Any] = ()) -> Any:
        return self.number

    def values(self, answers: FloatArray) -> FloatArray:
        return np.full(answers.shape[1], float(self.number))

    def shifted(self, shift: Fraction) -> Formula:
        return Constant(Fraction(self.number) + shift)

    def example(self, labels: Sequence[Sequence[Any]]) -> Any:
        return self.number

    def bounds(self, average: Average, extremes: Extremes) -> tuple[float, float]:
        return float(self.number), float(self.number)

    def ratio(self, answers: int) -> Ratio | None:
        always = unit(answers)
        return None if isinstance(self.number, str) else (float(self.number) * always, always)

    @property
    def text(self) -> str:
        return repr(self.number) if isinstance(self.number, str) else str(self.number)

    def to_document(self) -> dict[str, Any]:
        return {"constant": str(self.number)}


@dataclass(frozen=True, slots=True)
class Aggregate(Formula):
    """The answer to `question.blocks[index]` (in this row's cell)."""

    index: int

    @property
    def answer(self) -> int:
        return self.index

    def with_parts(self, *parts: Formula) -> Formula:
        return self

    def on_answers(self, by: Mapping[int, Formula] | Sequence[Formula]) -> Formula:
        return by[self.index]

    def scale(self) -> tuple[int, float] | None:
        return self.index, 1.0

    def value(self, answers: Sequence[Any], keys: Sequence[Any] = ()) -> Any:
        return answers[self.index]

    def values(self, answers: FloatArray) -> FloatArray:
        return np.asarray(answers[self.index])

    def ratio(self, answers: int) -> Ratio | None:
        return np.eye(answers + 1)[self.index], unit(answers)

    @property
    def text(self) -> str:
        return f"a{self.index}"

    def to_document(self) -> dict[str, Any]:
        return {"answer": self.index}


@dataclass(frozen=True, slots=True)
class Key(Formula):
    """The label of this row in `question.group_by[index]`; a bin stands for its midpoint."""

    index: int

    @property
    def key(self) -> int:
        return self.index

    def with_parts(self, *parts: Formula) -> Formula:
        return self

    def example(self, labels: Sequence[Sequence[Any]]) -> Any:
        return next((one for one in labels[self.index] if one is not None), Fraction(0))

    def value(self, answers: Sequence[Any], keys: Sequence[Any] = ()) -> Any:
        label = keys[self.index]
        return (label[0] + label[1]) / 2 if isinstance(label, tuple) else label

    def values(self, answers: FloatArray) -> FloatArray:
        raise AccuracyError("a key of GROUP BY has no distribution")

    @property
    def text(self) -> str:
        return f"k{self.index}"

    def to_document(self) -> dict[str, Any]:
        return {"key": self.index}


@dataclass(frozen=True, slots=True)
class Operation(Formula):
    """Two formulas joined by + - * or /."""

    sign: Sign
    left: Formula
    right: Formula

    @property
    def parts(self) -> tuple[Formula, ...]:
        return self.left, self.right

    def with_parts(self, *parts: Formula) -> Formula:
        return Operation(self.sign, *parts)

    def value(self, answers: Sequence[Any], keys: Sequence[Any] = ()) -> Any:
        left, right = self.left.value(answers, keys), self.right.value(answers, keys)
        if left is None or right is None or (self.sign == "/" and right == 0):
            return None
        return _operated(self.sign, left, right)

    def values(self, answers: FloatArray) -> FloatArray:
        left, right = self.left.values(answers), self.right.values(answers)
        divisor = np.where(right == 0.0, np.nan, right) if self.sign == "/" else right
        return np.asarray(_operated(self.sign, left, divisor))

    def ratio(self, answers: int) -> Ratio | None:
        left, right = self.left.ratio(answers), self.right.ratio(answers)
        return None if left is None or right is None else joined(self.sign, left, right)

    def off_by(self, blurs: Sequence[float], average: Average) -> float | None:
        places = self._average(average)
        if places is not None:
            return None if blurs[places[1]] else blurs[places[0]]
        left, right = self.left.off_by(blurs, average), self.right.off_by(blurs, average)
        if left is None or right is None:
            return None
        factor = 1.0 if self.sign in ("+", "-") else self._factor()
        if factor is None:  # two answers are multiplied or divided
            return None if left or right else 0.0
        return (left + right) * factor

    def bounds(self, average: Average, extremes: Extremes) -> tuple[float, float]:
        places = self._average(average)
        if places is not None:
            return extremes(places[0])
        scaled = self._scaled_average(average, extremes)
        if scaled is not None:
            return scaled
        low, high = self.left.bounds(average, extremes)
        first, last = self.right.bounds(average, extremes)
        if self.sign == "+":
            return low + first, high + last
        if self.sign == "-":
            return low - last, high - first
        if not self._factor() or not all(map(math.isfinite, (low, high, first, last))):
            return -math.inf, math.inf
        ends = [_operated(self.sign, one, other) for one in (low, high) for other in (first, last)]
        return min(ends), max(ends)

    def _average(self, average: Average) -> tuple[int, int] | None:
        """The places of a total over some records and of their number, if it divides these."""
        top, bottom = self.left.answer, self.right.answer
        if self.sign != "/" or top is None or bottom is None or not average(top, bottom):
            return None
        return top, bottom

    def _scaled_average(self, average: Average, extremes: Extremes) -> tuple[float, float] | None:
        """The bounds if it is c·a / b + d with a / b an average, however that is written."""
        places = self.aggregates()
        ratio = self.over(places).ratio(len(places))
        scaled = None if ratio is None else scaled_average(ratio)
        if ratio is None or scaled is None or not average(*(places[one] for one in scaled)):
            return None
        (top, bottom), (total, rows) = ratio, scaled
        ends = [
            float((top[total] * end + top[rows]) / bottom[rows]) for end in extremes(places[total])
        ]
        return min(ends), max(ends)

    def _factor(self) -> float | None:
        """By what one side is multiplied, if the other is a public number."""
        number = self.left if self.right.aggregates() else self.right
        if number.aggregates() or (number is self.left and self.sign == "/"):
            return None
        constant = abs(float(number.value(())))
        return constant if self.sign == "*" else (1.0 / constant if constant else None)

    def fragile(self) -> Iterator[Formula]:
        if self.sign == "/" and self.right.aggregates():
            yield self.right
        yield from self.left.fragile()
        yield from self.right.fragile()

    @property
    def text(self) -> str:
        return f"({self.left.text} {self.sign} {self.right.text})"

    def to_document(self) -> dict[str, Any]:
        return {"sign": self.sign, "of": [self.left.to_document(), self.right.to_document()]}


def evaluated(formula: Formula, answers: FloatArray) -> FloatArray:
    """The formula for many draws of its answers at once, (answers, draws); NaN where undefined."""
    with np.errstate(all="ignore"):
        return formula.values(answers)


def _operated(sign: Sign, left: Any, right: Any) -> Any:
    if sign == "+":
        return left + right
    if sign == "-":
        return left - right
    return left * right if sign == "*" else left / right
