"""Known quantiles: what history says about the quantiles of a question, and which are too vague."""

from __future__ import annotations

import math
from dataclasses import dataclass

from eke.inference import Inference, QuantilePosterior, Survey
from eke.planning.online.question_demand import QuestionDemand
from eke.query import Query
from eke.question import AskedBlock

_SURE = 1.64  # deviations below the size of a group that must be accurate, to be excused


@dataclass(frozen=True, slots=True, eq=False)
class Doubt:
    """What is known about one quantile of one row, and how accurate it must be."""

    row: int
    block: AskedBlock  # counts the records of every row
    counted: Query  # those of this one
    known: QuantilePosterior
    within: float
    is_of_rank: bool  # `within` is a share of the records, and not in the column's unit
    confidence: float
    is_excused: bool  # the group has fewer records than those that must be so accurate

    @property
    def width(self) -> float:
        """The half-width of its interval."""
        return self.known.halfwidth(self.confidence)

    @property
    def share(self) -> float:
        """Its half-width as a share of what is asked for."""
        if not self.is_of_rank:
            return self.width / self.within
        first, last = self.known.steps(self.confidence)
        if first == last:
            return 0.0
        records, _ = self.known.records_between(first, last)
        everyone = self.known.records
        if everyone is None or everyone <= 0.0:
            return math.inf
        return 0.5 * max(records, 0.0) / everyone / self.within


@dataclass(frozen=True, slots=True, eq=False)
class KnownQuantiles:
    """What history says about all quantiles of a question."""

    demand: QuestionDemand
    doubts: tuple[Doubt, ...]

    @staticmethod
    def of(demand: QuestionDemand, inference: Inference) -> KnownQuantiles:
        doubts = []
        for column, place, ladder, within in demand.quantiles:
            survey = Survey(inference, ladder)
            for row in demand.question.places:
                counted = demand.question.query(place, row)
                if counted.is_zero:  # nobody, whatever the data: there is no quantile
                    continue
                known = survey.posterior(counted)
                records = math.inf if known.records is None else known.records
                most = records + _SURE * known.records_deviation
                small = demand.groups_of is not None and most < demand.groups_of
                is_of_rank = column in demand.relative
                block, sure = demand.question.blocks[place], demand.confidence
                doubts.append(Doubt(row, block, counted, known, within, is_of_rank, sure, small))
        return KnownQuantiles(demand, tuple(doubts))

    @property
    def is_vague(self) -> bool:
        """True when history says nothing about one of them."""
        return any(not len(doubt.known.cuts) for doubt in self.doubts)

    def lacking(self) -> list[Doubt]:
        """Those that are not accurate enough; empty where only excused ones are not."""
        lacking = [doubt for doubt in self.doubts if doubt.share > 1.0]
        return lacking if not all(doubt.is_excused for doubt in lacking) else []

    def hint(self, doubt: Doubt) -> str:
        """Which group decides the price."""
        question = self.demand.question
        if not question.group_by:
            return ""
        group = question.group(doubt.row)
        if self.demand.groups_of is not None:
            return f"the group {group} decides the price; a larger groups_of costs less"
        return (
            f"the group {group} decides the price; groups_of=1000, or FOR GROUPS OF 1000 in SQL, "
            "asks for this accuracy only where a group has so many records"
        )
