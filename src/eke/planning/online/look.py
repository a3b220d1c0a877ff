"""Looks: small measurements that tell how large numbers are, so that the rest can be planned."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from eke.inference import halfwidth
from eke.planning.online.decision import Decision
from eke.planning.online.facts import Facts
from eke.planning.online.question_demand import QuestionDemand, demands_of
from eke.planning.online.rent import direct
from eke.planning.online.requirement import Demand, Requirement
from eke.privacy.record_loss import NANO
from eke.query import Query, sensitivity

CLEAR = 0.25
"""A number is clear when its half-width is at most this share of it."""
BELOW = 0.8
"""Of the half-width that makes it clear: what a look aims at, so that it is clear afterwards."""
NARROWER = 5.0
"""By what a look makes an interval narrower where a number can hardly be told from 0."""
_FAINT = 1e5  # times the noise that all of the limit would buy: of a first look at an aggregate
_COARSE = 0.005  # of the limit: what a look costs where formulas bend, and need more than a glimpse
_SMALLER = 0.6  # than the average: groups of this size are clear after a look made for all
_FEW_GROUPS = 8  # which are looked at themselves; of more, all together first
_LITTLE = 0.05  # of what is left, for a first look at many groups
_MOST_ON_A_LOOK = 0.1  # of what is left, for one look at numbers that only help to plan


def first_look(demand: QuestionDemand, facts: Facts, blocks: Sequence[int]) -> list[Demand]:
    """A look at some blocks of a question of which history says nothing.

    It costs next to nothing, and tells what millions of records are. Where there are fewer, it says
    so, and the next look is a little less faint: together they cost hardly more than the last one.
    Every look at many groups is many answers in the history. So all of them are counted together
    first, and then looked at as closely as groups of the average size need.
    """
    question, measure = demand.question, facts.measure
    groups, limit = len(question.places), max(1, facts.limit) / NANO
    # The half-width of what a record moves by 1, for noise of some scale.
    unit = 1.0 / direct(Requirement(1.0, demand.confidence), None, measure)
    faint = unit * _FAINT * measure.noise_scale(1.0, limit)
    counts = [question.blocks[k].common for k in blocks if question.counts_records(k)]
    totals = [count.without_constant() for count in counts if count is not None]
    if demand.bends or (groups > _FEW_GROUPS and not totals):
        within = unit * measure.noise_scale(1.0, _COARSE * limit)
    elif groups > _FEW_GROUPS:
        known = [_known(total, facts, demand.confidence) for total in totals]
        looks = [
            Demand(total, Requirement(faint if width is None else aim, demand.confidence))
            for total, (value, width) in zip(totals, known, strict=True)
            for aim in [max(BELOW * CLEAR * value, (width or 0.0) / NARROWER)]
            if width is None or width > CLEAR * value
        ]
        if looks:
            return looks
        each = max(min(value for value, _ in known), 1.0) / groups
        within = _SMALLER * CLEAR * each
    else:
        within = faint
    widths = []
    for k in blocks:
        size = float(sensitivity(question.blocks[k].inside, "add_remove")) or 1.0
        is_sum = groups > _FEW_GROUPS and not (demand.bends or question.counts_records(k))
        # A sum is looked at so closely at once that it need not be looked at again.
        widths.append(within * size * (sum_share(demand, k) / CLEAR if is_sum else 1.0))
    wider = 1.0 if demand.bends else _wider(demand, facts, blocks, [one / unit for one in widths])
    return [
        one
        for k, width in zip(blocks, widths, strict=True)
        for one in demands_of(question.blocks[k], Requirement(wider * width, demand.confidence))
    ]


def _wider(
    demand: QuestionDemand, facts: Facts, blocks: Sequence[int], scales: Sequence[float]
) -> float:
    """By what noise of these scales must be larger, so that a look costs little of what is left."""
    measure, left = facts.measure, max(1, facts.limit - facts.spent) / NANO
    sizes = [float(sensitivity(demand.question.blocks[k].inside, "add_remove")) for k in blocks]
    loss = sum(measure.loss(size, scale) for size, scale in zip(sizes, scales, strict=True))
    return max(1.0, float(measure.root(loss / (_LITTLE * left))))


def sum_share(demand: QuestionDemand, block: int) -> float:
    """To what share of what it can be a sum is looked at.

    With an average of values up to R that is wrong by d, an answer to ±w costs more by d/R of it,
    and the look that tells it to ±d costs w/d of it: together least at d = √(w·R).
    """
    shares = [CLEAR]
    for formula, within in demand.curved:
        low, high = demand.question.bounds(formula)
        if block in formula.aggregates() and 0.0 < high - low < math.inf:
            shares.append(math.sqrt(within / (high - low)))
    return min(shares)


def _known(query: Query, facts: Facts, confidence: float) -> tuple[float, float | None]:
    """What history says about a query, and its half-width; None if that is nothing."""
    linear = facts.inference.linear(query)
    return (0.0, None) if linear is None else (linear[0], halfwidth(linear[1], confidence))


def looked(decision: Decision, facts: Facts) -> Decision:
    """A decision to look first, refused when it would use up much of what is left."""
    left = facts.limit - facts.spent
    if decision.action == "measure" and decision.cost > _MOST_ON_A_LOOK * left:
        hint = "only to see how large the numbers behind it are; no more than a tenth goes to that"
        return replace(decision, action="refuse", plan=None, stretch=None, hint=hint)
    return decision
