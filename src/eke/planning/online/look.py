"""Looks: small measurements that tell how large numbers are, so that the rest can be planned."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from eke.planning.online.decision import Decision
from eke.planning.online.facts import Facts
from eke.planning.online.question_demand import QuestionDemand, demands_of
from eke.planning.online.rent import direct
from eke.planning.online.requirement import Demand, Requirement
from eke.privacy.record_loss import NANO
from eke.query import sensitivity

_FAINT = 1e5  # times the noise that all of the limit would buy: of a first look at an aggregate
_COARSE = 0.005  # of the limit: what a look costs where formulas bend, and need more than a glimpse
_MOST_ON_A_LOOK = 0.1  # of what is left, for one look at numbers that only help to plan


def first_look(demand: QuestionDemand, facts: Facts, blocks: Iterable[int]) -> list[Demand]:
    """A look at some blocks of a question of which history says nothing.

    It costs next to nothing, and tells what millions of records are. Where there are fewer, it says
    so, and the next look is a little less faint: together they cost hardly more than the last one.
    """
    measure = facts.measure
    limit = max(1, facts.limit) / NANO
    demands: list[Demand] = []
    for index in blocks:
        block = demand.question.blocks[index]
        sizes = float(sensitivity(block.inside, "add_remove"))
        if demand.bends:
            noise_scale = measure.noise_scale(sizes, _COARSE * limit)
        else:
            noise_scale = _FAINT * measure.noise_scale(sizes, limit)
        within = noise_scale / direct(Requirement(1.0, demand.confidence), None, measure)
        demands += demands_of(block, Requirement(within, demand.confidence))
    return demands


def looked(decision: Decision, facts: Facts) -> Decision:
    """A decision to look first, refused when it would use up much of what is left."""
    left = facts.limit - facts.spent
    if decision.action == "measure" and decision.cost > _MOST_ON_A_LOOK * left:
        hint = "only to see how large the numbers behind it are; no more than a tenth goes to that"
        return replace(decision, action="refuse", plan=None, stretch=None, hint=hint)
    return decision
