"""Advice: which tables and strategies would make the questions seen free, with what they cost.

advice = session.advise()
session.release(advice[0].plan())
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, Literal

from eke.domain import Domain
from eke.errors import AccuracyError
from eke.planning import (
    Facts,
    ReleasePlan,
    Suggestion,
    Workload,
    plan_of_block,
    plan_release,
    suggestions,
)
from eke.privacy.measure import Measure
from eke.query import Neighbours

if TYPE_CHECKING:
    import pandas as pd

_NOTHING = "No table is worth buying: nothing was paid for yet, or tables answer it already."
_WIDTH, _HEIGHT, _MARGIN = 460, 170, 44


@dataclass(frozen=True, slots=True, eq=False)
class Advised:
    """One suggestion, ready to be accepted: `session.release(advised.plan())`."""

    suggestion: Suggestion
    domain: Domain
    measure: Measure
    neighbours: Neighbours
    factor: int  # by which a unit of several rows multiplies every loss

    @property
    def kind(self) -> Literal["cells", "ranges"]:
        """Whether the whole table is measured, or what ranges are made of."""
        return "cells" if self.suggestion.block.matrices is None else "ranges"

    @property
    def counts(self) -> int:
        """How many noisy counts it has."""
        block = self.suggestion.block
        return self.suggestion.cells if block.matrices is None else block.cells

    def plan(self, share: float = 1.0) -> ReleasePlan:
        """The plan of the cheapest block that serves this share of the questions seen."""
        if not 0.0 < share <= 1.0:
            raise AccuracyError("share is above 0 and at most 1: of the questions seen so far")
        point = next(p for p in self.suggestion.frontier if p.share >= share - 1e-12)
        block, budget = self.suggestion.block, point.cost / self.factor
        if block.matrices is not None:
            return plan_of_block(
                block, measure=self.measure, budget=budget, neighbours=self.neighbours
            )
        return plan_release(
            Workload.of(self.domain, [self.suggestion.attributes]),
            measure=self.measure,
            budget=budget,
            strategy="I",
            neighbours=self.neighbours,
        )

    def __str__(self) -> str:
        advice = self.suggestion
        names = ", ".join(advice.attributes)
        what = "cells" if self.kind == "cells" else "counts of ranges"
        return (
            f"{advice.questions} questions about {names} cost {self.measure} {advice.paid:.4g}; "
            f"for {advice.cost:.4g} questions like all of them become free ({self.counts:,} {what})"
        )

    def _repr_html_(self) -> str:
        return f"<div>{escape(str(self))}{self._drawing()}</div>"

    def _drawing(self) -> str:
        """The frontier: the share of questions that become free against the cost of the table."""
        advice = self.suggestion
        most = max(advice.cost, advice.paid) or 1.0

        def place(cost: float, share: float) -> str:
            across = _MARGIN + cost / most * (_WIDTH - 2 * _MARGIN)
            return f"{across:.1f},{_HEIGHT - _MARGIN - share * (_HEIGHT - _MARGIN - 10):.1f}"

        corners = [place(0.0, advice.frontier[0].share - 1.0 / advice.questions)]
        before = advice.frontier[0].share - 1.0 / advice.questions
        for point in advice.frontier:
            corners += [place(point.cost, before), place(point.cost, point.share)]
            before = point.share
        paid = place(advice.paid, 0.0).partition(",")[0]
        bottom, end = _HEIGHT - _MARGIN, _WIDTH - _MARGIN
        text = "font-size='11' fill='currentColor'"
        below, beside = f"{text} y='{bottom + 14}'", f"{text} x='{_MARGIN - 4}' text-anchor='end'"
        return (
            f"<br><svg viewBox='0 0 {_WIDTH} {_HEIGHT}' width='{_WIDTH}' height='{_HEIGHT}' "
            "style='max-width:100%' role='img' aria-label='share of free questions against cost'>"
            f"<path d='M{_MARGIN},10V{bottom}H{end}' fill='none' stroke='currentColor' "
            "opacity='0.3'/>"
            f"<polyline points='{' '.join(corners)}' fill='none' stroke='currentColor' "
            "stroke-width='1.5'/>"
            f"<line x1='{paid}' x2='{paid}' y1='10' y2='{bottom}' "
            "stroke='currentColor' stroke-dasharray='3'/>"
            f"<text {beside} y='14'>100 %</text><text {beside} y='{bottom}'>0 %</text>"
            f"<text x='{_MARGIN}' {below}>0</text>"
            f"<text x='{paid}' text-anchor='middle' {below}>paid {advice.paid:.3g}</text>"
            f"<text x='{end}' text-anchor='middle' {below}>{most:.3g}</text>"
            f"<text x='{(_MARGIN + end) / 2:.0f}' y='{bottom + 28}' text-anchor='middle' {text}>"
            f"{self.measure} for it, and the share of such questions that becomes free"
            "</text></svg>"
        )


@dataclass(frozen=True, slots=True, eq=False)
class Advice:
    """Suggestions, those that save most first; empty when nothing was paid for yet."""

    suggestions: tuple[Advised, ...]

    def __len__(self) -> int:
        return len(self.suggestions)

    def __iter__(self) -> Iterator[Advised]:
        return iter(self.suggestions)

    def __getitem__(self, place: int) -> Advised:
        return self.suggestions[place]

    def to_pandas(self) -> pd.DataFrame:
        """The frontiers: one row for each suggestion and point."""
        import pandas as pd  # noqa: PLC0415 - slow to load

        rows = [
            {
                "attributes": ", ".join(one.suggestion.attributes),
                "questions": one.suggestion.questions,
                "paid": one.suggestion.paid,
                "cost": point.cost,
                "share": point.share,
                "noise": point.noise,
            }
            for one in self.suggestions
            for point in one.suggestion.frontier
        ]
        columns = ["attributes", "questions", "paid", "cost", "share", "noise"]
        return pd.DataFrame(rows, columns=columns)

    def __str__(self) -> str:
        return "\n".join(str(one) for one in self.suggestions) or _NOTHING

    def _repr_html_(self) -> str:
        drawn = "".join(one._repr_html_() for one in self.suggestions)
        return drawn or f"<div>{self}</div>"


def advice_from(facts: Facts, settings: Mapping[str, Any]) -> Advice:
    """The suggestions that follow from the ledger of a dataset with these settings."""
    measure = facts.measure
    unit = settings["unit"]
    rows = 1 if unit is None else int(unit["rows"])
    factor = measure.group_factor(rows)
    relation, domain = facts.accountant.neighbours, facts.inference.domain
    return Advice(
        tuple(Advised(one, domain, measure, relation, factor) for one in suggestions(facts))
    )
