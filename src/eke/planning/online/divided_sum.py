"""Divided sums: what ratios are made of, a sum and the number that it is divided by."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from eke.planning.online.question_demand import QuestionDemand
from eke.question import AskedBlock, Formula


@dataclass(frozen=True, slots=True)
class DividedSum:
    """A sum that is divided by another answer of the same row, most often a number of records."""

    total: int  # the places of both blocks
    below: int
    low: Fraction  # what one record adds to the sum, at least and at most
    high: Fraction
    is_average: bool  # of the records that `below` counts
    share: float  # of all that is possible, that the half-width asked for is; infinite if unknown

    @property
    def middle(self) -> Fraction:
        """What is taken off each record, so that it moves the sum least."""
        return (self.low + self.high) / 2 if self.is_average else Fraction(0)

    @property
    def span(self) -> float:
        """How far sums may lie apart, for each record."""
        widest = self.high - self.low if self.is_average else max(abs(self.low), abs(self.high))
        return float(widest)

    def centred(self, demand: QuestionDemand) -> AskedBlock:
        """The sum of what records have more than the middle: cheaper to know than the sum."""
        weights = [Fraction(1), -self.middle]
        if not self.middle:
            return demand.question.blocks[self.total]
        return demand.question.mixed([self.total, self.below], weights)


def divisors(demand: QuestionDemand) -> list[int]:
    """The answers that formulas divide by; none where one divides by what is made of several."""
    below = [_divided_by(formula) for formula, _ in demand.curved]
    return sorted({k for places in below for k in places}) if all(below) else []


def divided_sums(demand: QuestionDemand) -> Sequence[DividedSum]:
    """All sums behind formulas that are ratios."""
    question = demand.question
    sums: dict[tuple[int, int], DividedSum] = {}
    for place, (formula, within) in enumerate(demand.columns):
        if formula.scale() is not None or formula.ladder is not None:
            continue
        below = _divided_by(formula)
        low, high = question.bounds(formula)
        possible = high - low if 0.0 < high - low < math.inf else math.inf
        asked = within * possible / 2.0 if place in demand.relative_places else within
        share = asked / possible if math.isfinite(possible) else math.inf
        for total in sorted(set(formula.aggregates()) - set(below)) if below else ():
            by = next((k for k in below if question.is_average(total, k)), below[0])
            before = sums.get((total, by))
            ends = question.blocks[total].inside.extremes()
            sums[total, by] = DividedSum(
                total,
                by,
                *ends,
                is_average=not question.blocks[total].inside.people  # which have no middle to share
                and question.counts_records(by)
                and question.is_average(total, by),
                share=share if before is None else min(share, before.share),
            )
    return list(sums.values())


def _divided_by(formula: Formula) -> list[int]:
    parts = [part.aggregates() for part in formula.fragile()]
    alone = all(len(places) == 1 for places in parts)
    return sorted({places[0] for places in parts}) if alone else []
