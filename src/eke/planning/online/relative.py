"""Relative: accuracy as a share of the value itself, such as 2 %, which history must tell first.

What is known is looked at row by row. Where a value can hardly be told from 0, its interval is made
a third as wide: that is a look, and no more than a tenth of what is left goes to one. Where it can,
its share is an ordinary half-width (`decide.py`). The steps end when every value is as accurate as
its share, or the budget does not allow the next one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from eke.inference import Inference, halfwidth
from eke.planning.online.decide import decide
from eke.planning.online.decision import Decision, decide_demands
from eke.planning.online.facts import Facts, noise_kind
from eke.planning.online.known_formulas import KnownFormulas
from eke.planning.online.look import FAINT, coarse, looked
from eke.planning.online.policy import Policy
from eke.planning.online.question_demand import QuestionDemand
from eke.question import Formula

_CLEAR = 0.25  # a value is clear when its half-width is at most this share of it
_NARROWER = 3.0  # by what a look makes an interval narrower
_SAFETY = 0.97  # the estimates that a plan is made for move when it is carried out
_ROUNDING = 1.0 - 1e-9
_LEAST, _MOST = 1e-90, 1e90  # half-widths that can be asked for

Known = tuple[float, float]
"""A value and the half-width of its interval."""


def decide_relative(demand: QuestionDemand, facts: Facts, policy: Policy) -> Decision:
    """What to do next so that every value is as accurate as its share of it; often one of several.

    Privacy: a function of public facts; like formulas, it looks at noisy values that were released
    before.
    """
    known = _known_columns(demand, facts.inference)
    if known is None:
        blocks = range(len(demand.question.blocks))
        faint = () if demand.curved else (FAINT,)
        first = decide_demands(coarse(demand, facts, blocks, *faint), facts, policy)
        return replace(looked(first, facts), known=None, known_share=None, narrowest=None)
    aims = [_Aim.of(demand, place, rows) for place, rows in enumerate(known)]
    widest = max((width for _, width in known[0]), default=0.0)
    reached = widest if math.isfinite(widest) else None
    if all(aim.is_met for aim in aims):
        return Decision("history", 0, reached)
    looks = any(aim.is_look for aim in aims)  # first: they may show that the rest is in vain
    widths = [aim.idle if looks and not aim.is_look else aim.within for aim in aims]
    decision = decide(demand.asking(widths), facts, policy)
    if decision.action == "history":  # nothing more is known to do, and the share is not reached
        decision = replace(decision, action="refuse", hint="no measurement was found that helps")
    return replace(
        looked(decision, facts) if looks else decision, known=reached, within=aims[0].within
    )


@dataclass(frozen=True, slots=True)
class _Aim:
    """The half-width to ask for in one column now; `idle` is one that asks for nothing new."""

    within: float
    idle: float
    is_met: bool
    is_look: bool = False

    @staticmethod
    def of(demand: QuestionDemand, place: int, rows: Sequence[Known]) -> _Aim:
        """For the column of values at a place: the row that needs the narrowest interval counts."""
        share = demand.columns[place][1]
        widest = max((width for _, width in rows), default=0.0)
        idle = min(max(widest, _LEAST) * (1.0 + 1e-9), _MOST)
        if place not in demand.relative_places:
            return _Aim(share, max(idle, share), widest <= share)
        lacking = [(v, w) for v, w in rows if not w <= share * abs(v) * _ROUNDING]
        if not lacking:
            return _Aim(idle, idle, is_met=True)
        steps = [_next(share, *row) for row in lacking]
        looks = [within for within, is_look in steps if is_look]
        within = min(looks or (within for within, _ in steps))
        return _Aim(within or 1.0, idle, is_met=False, is_look=bool(looks))


def _next(share: float, value: float, width: float) -> tuple[float, bool]:
    """The half-width to ask for where a value is not accurate enough; whether that is a look."""
    aim = _SAFETY * share * abs(value) if math.isfinite(value) else 0.0
    if not math.isfinite(width) or width <= _CLEAR * abs(value) or aim >= width / _NARROWER:
        return aim, False
    return width / _NARROWER, True


def _known_columns(demand: QuestionDemand, inference: Inference) -> list[list[Known]] | None:
    """What history says about each column of values, row by row; None if it leaves one open."""
    known: list[list[Known]] = [[] for _ in demand.columns]
    curved = [place for place, (f, _) in enumerate(demand.columns) if f.scale() is None]
    if curved:
        formulas = KnownFormulas.of(demand, inference)
        if formulas is None:
            return None
        for which, value, width in formulas.values():
            known[curved[which]].append((value, width))
    for place, (formula, _) in enumerate(demand.columns):
        if place in curved:
            continue
        rows = _known_rows(demand, formula, inference)
        if rows is None:
            return None
        known[place] = rows
    return known


def _known_rows(
    demand: QuestionDemand, formula: Formula, inference: Inference
) -> list[Known] | None:
    """The same for a linear column; with `groups_of`, a count as if it were at least so large."""
    scaled = formula.scale()
    if scaled is None:
        return None
    index, scale = scaled
    least = 0.0
    if demand.groups_of is not None and demand.question.counts_records(index):
        least = demand.groups_of * abs(scale)
    widths: dict[object, float] = {}
    rows: list[Known] = []
    for row in demand.question.places:
        linear = inference.linear(demand.question.query(index, row))
        if linear is None:
            return None
        estimate, noise = linear
        kind = noise_kind(noise)
        if kind not in widths:
            widths[kind] = halfwidth(noise, demand.confidence) * abs(scale)
        value = float(formula.value([Fraction(0)] * index + [estimate]))
        rows.append((max(abs(value), least), widths[kind]))
    return rows
