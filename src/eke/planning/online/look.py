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

_COARSE = 0.005  # the share of the limit that a first, coarse look at one aggregate costs
FAINT = 0.0005  # the same where a value is all that is asked for, and each look tells what is next
_LITTLE = 0.05  # of what is left: looks at averages are made to cost no more
_MOST_ON_A_LOOK = 0.1  # of what is left, for one look at numbers that only help to plan


def coarse(
    demand: QuestionDemand, facts: Facts, blocks: Iterable[int], share: float = _COARSE
) -> list[Demand]:
    """A first look at some blocks of a question of which history says nothing."""
    measure = facts.measure
    budget = share * max(1, facts.limit) / NANO
    demands: list[Demand] = []
    for index in blocks:
        block = demand.question.blocks[index]
        sizes = float(sensitivity(block.inside, "add_remove"))
        times = max(map(facts.times_a_record, block.measurable()), default=1)
        noise_scale = measure.noise_scale(sizes, budget / times)
        within = noise_scale / direct(Requirement(1.0, demand.confidence), None, measure)
        demands += demands_of(block, Requirement(within, demand.confidence))
    return demands


def cheaper(looks: list[Demand], facts: Facts) -> list[Demand]:
    """Looks made so much wider that together they cost little of what is left."""
    measure, left = facts.measure, max(1, facts.limit - facts.spent) / NANO
    loss = 0.0
    for look in looks:
        noise_scale = direct(look.requirement, None, measure)
        inside = look.query.inside
        moved = 0.0 if inside is None else float(sensitivity(inside, "add_remove"))
        loss += facts.times_a_record(look.query) * measure.loss(moved, noise_scale)
    wider = max(1.0, float(measure.root(loss / (_LITTLE * left))))
    return [one.relaxed(wider) for one in looks]


def looked(decision: Decision, facts: Facts) -> Decision:
    """A decision to look first, refused when it would use up much of what is left."""
    left = facts.limit - facts.spent
    if decision.action == "measure" and decision.cost > _MOST_ON_A_LOOK * left:
        hint = "only to see how large the numbers behind it are; no more than a tenth goes to that"
        return replace(decision, action="refuse", plan=None, stretch=None, hint=hint)
    return decision


def small_groups(demand: QuestionDemand, which: str = "") -> str:
    """What makes a question expensive, and how to leave small groups aside."""
    size = demand.groups_of
    if size is not None:
        return f"planned for groups of {size:,} records; a larger groups_of costs less"
    if not which:
        return ""
    if not demand.records():
        return f"{which} the price"
    return (
        f"{which} the price; groups_of=1000, or FOR GROUPS OF 1000 in SQL, asks for this accuracy "
        "only where a group has so many records"
    )
