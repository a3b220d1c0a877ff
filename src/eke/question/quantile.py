"""Quantile: a formula that is no arithmetic on answers, but a place among them.

Its part is the number of records that it is a quantile of. Where the quantile lies is told by
counts of those records up to each step of its ladder (`ladder.py`); what history knows of them is
`eke.inference.quantile`, and what is bought to know more `eke.planning.online.quantiles`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from eke.arrays import FloatArray
from eke.domain import Domain
from eke.errors import AccuracyError, QueryError
from eke.query.condition import check_names
from eke.question.formula import NOT_CHOSEN, Average, Extremes, Formula
from eke.question.ladder import Ladder

NOT_CALCULATED_WITH = (
    "quantiles are not calculated with: the interval of the result would not be known; ask for "
    "each by itself, and calculate with the answers"
)


@dataclass(frozen=True, slots=True)
class Quantile(Formula):
    """The number that a share of some records is at most; its steps are those of a domain.

    In a row of a result the answer at its place is the quantile itself (`eke.session.ask.request`),
    so that HAVING and ORDER BY can look at it.
    """

    of: Formula
    attribute: str
    share: Fraction
    is_between: bool
    steps: Ladder | None = None
    is_chosen: bool = False

    @staticmethod
    def among(of: Formula, steps: Ladder) -> Quantile:
        """The quantile that a ladder is about."""
        is_chosen = steps.is_chosen
        return Quantile(of, steps.attribute, steps.share, steps.is_between, steps, is_chosen)

    @property
    def parts(self) -> tuple[Formula, ...]:
        return (self.of,)

    @property
    def ladder(self) -> Ladder | None:
        return self.steps

    def with_parts(self, *parts: Formula) -> Formula:
        (of,) = parts
        return replace(self, of=of)

    def chosen(self) -> Formula:
        if self.is_chosen:
            raise QueryError(NOT_CHOSEN)
        return replace(self, is_between=False, is_chosen=True)

    def on_domain(self, domain: Domain) -> Formula:
        check_names(domain, [self.attribute])
        steps = Ladder.of_column(
            domain,
            self.attribute,
            self.share,
            is_between=self.is_between,
            is_chosen=self.is_chosen,
        )
        return replace(self, steps=steps)

    def value(self, answers: Sequence[Any], keys: Sequence[Any] = ()) -> Any:
        return self.of.value(answers, keys)

    def values(self, answers: FloatArray) -> FloatArray:
        raise AccuracyError("a quantile does not follow from the number of its records")

    def fragile(self) -> Iterator[Formula]:
        yield self.of

    def off_by(self, blurs: Sequence[float], average: Average) -> float | None:
        return 0.0  # `Ladder.outwards` knows it step by step

    def bounds(self, average: Average, extremes: Extremes) -> tuple[float, float]:
        if self.steps is None:
            return -math.inf, math.inf
        return self.steps.value(0), self.steps.value(self.steps.last)

    @property
    def named(self) -> str:
        """What it is, without what of."""
        is_middle = self.share == Fraction(1, 2)
        name = "median" if is_middle else f"{float(self.share):g} quantile"
        return f"chosen {name}" if self.is_chosen else name

    @property
    def text(self) -> str:
        return f"({self.named} of {self.attribute} in {self.of.text})"

    def to_document(self) -> dict[str, Any]:
        place = {"attribute": self.attribute, "share": str(self.share), "between": self.is_between}
        document = {"quantile": self.of.to_document(), **place}
        return {**document, "chosen": True} if self.is_chosen else document


INTERPOLATED = (
    "a chosen quantile is a number that a record may have, and is not interpolated; write it "
    'without "between"'
)


def chosen_or_counted(
    of: Formula, attribute: str, share: Fraction, is_between: bool, *, is_chosen: bool
) -> Quantile:
    """A quantile as a document says it; one that is chosen is not interpolated."""
    if is_chosen and is_between:
        raise QueryError(INTERPOLATED)
    return Quantile(of, attribute, share, is_between, is_chosen=is_chosen)


def check_alone(formula: Formula) -> Formula:
    """The formula, if it does not calculate with quantiles: their intervals cannot be joined."""
    if any(one.ladder is not None for part in formula.parts for one in _within(part)):
        raise QueryError(NOT_CALCULATED_WITH)
    return formula


def _within(formula: Formula) -> Iterator[Formula]:
    yield formula
    for part in formula.parts:
        yield from _within(part)
