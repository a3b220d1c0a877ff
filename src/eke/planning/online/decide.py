"""Decide: what to do about a question, so that every column of its result is accurate enough.

A linear column is a demand on its question. A formula (AVG, a ratio, a variance) has an interval
whose width depends on the answers themselves, so it is approached in steps, each of them planned
from what is known by then and paid for by itself:

1. as long as nothing is known about a denominator, the aggregates are measured coarsely;
2. then the formula is linear in its small errors, and what is measured is that linear question;
3. until the interval is narrow enough, or the budget does not allow the next step.
"""

from __future__ import annotations

import math
from dataclasses import replace

from eke.planning.online.decision import Decision, decide_demands
from eke.planning.online.facts import Facts
from eke.planning.online.known_formulas import KnownFormulas
from eke.planning.online.policy import Policy
from eke.planning.online.question_demand import QuestionDemand, demands_of, linear_demands
from eke.planning.online.rent import direct
from eke.planning.online.requirement import Demand, Requirement
from eke.privacy.record_loss import NANO
from eke.query import sensitivity

_COARSE = 0.005  # the share of the limit that a first, coarse look at one aggregate costs
_MOST_ON_A_LOOK = 0.1  # of what is left, for one look at numbers that only help to plan
_ATTEMPTS = 24


def decide(demand: QuestionDemand, facts: Facts, policy: Policy) -> Decision:
    """What to do next about a question; a decision to measure may be the first step of several.

    Privacy: a function of public facts; unlike linear questions, formulas look at noisy values
    that were released before.
    """
    linear = linear_demands(demand)
    if not demand.curved:
        return _whole(decide_demands(linear, facts, policy), demand)
    known = KnownFormulas.of(demand, facts.inference)
    if known is not None and known.worst() <= 1.0:
        free = decide_demands(linear, facts, policy) if linear else None
        if free is None or free.action == "history":
            share = max(known.worst(), 0.0 if free is None else free.known_share or 0.0)
            return _whole(Decision("history", 0, None, known_share=share), demand)
        return _whole(free, demand)
    if known is None:
        first = _looked(decide_demands(_coarse(demand, facts), facts, policy), facts)
        return _whole(replace(first, known_share=None), demand)
    worst = known.worst()
    if not known.clear():
        hoped = known.linearised(known.hopeful())
        decision = decide_demands([*linear, *(hoped or known.clarifying())], facts, policy)
        if decision.action != "refuse":
            decision = _looked(decide_demands(known.clarifying(), facts, policy), facts)
        hint = decision.hint or known.hint()
        return _whole(replace(decision, known_share=worst, hint=hint), demand)
    demands = [*linear, *known.linearised()]
    decision = decide_demands(demands, facts, policy)
    for _ in range(_ATTEMPTS):
        if decision.action != "history":
            break
        # Accurate enough in the small, but the formula bends: ask for more.
        demands = [one.relaxed(0.8) for one in demands]
        decision = decide_demands(demands, facts, policy)
    return _whole(replace(decision, known_share=worst, hint=known.hint()), demand)


def _looked(decision: Decision, facts: Facts) -> Decision:
    """A decision to look first, refused when it would use up much of what is left."""
    left = facts.limit - facts.accountant.spent
    if decision.action == "measure" and decision.cost > _MOST_ON_A_LOOK * left:
        hint = "only to see how large the numbers behind it are; no more than a tenth goes to that"
        return replace(decision, action="refuse", plan=None, stretch=None, hint=hint)
    return decision


def _whole(decision: Decision, demand: QuestionDemand) -> Decision:
    """The decision with widths as those of the first column: all are stretched alike."""
    if demand.question.is_block:  # what was demanded is the column itself
        return decision
    within = demand.columns[0][1]
    share, stretch = decision.known_share, decision.stretch
    return replace(
        decision,
        known=None if share is None or math.isinf(share) else share * within,
        narrowest=None if stretch is None else stretch * within,
    )


def _coarse(demand: QuestionDemand, facts: Facts) -> list[Demand]:
    """A first look at the aggregates of which history says nothing."""
    measure = facts.accountant.measure
    budget = _COARSE * max(1, facts.limit) / NANO
    found: list[Demand] = []
    for index in demand.curved_blocks():
        block = demand.question.blocks[index]
        sizes = float(sensitivity(block.inside, "add_remove"))
        noise_scale = measure.noise_scale(sizes, budget)
        within = noise_scale / direct(Requirement(1.0, demand.confidence), None, measure)
        found += demands_of(block, Requirement(within, demand.confidence))
    return found
