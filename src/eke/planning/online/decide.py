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
from eke.planning.online.look import coarse, looked
from eke.planning.online.policy import Policy
from eke.planning.online.question_demand import QuestionDemand, linear_demands

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
        first = looked(
            decide_demands(coarse(demand, facts, demand.curved_blocks()), facts, policy), facts
        )
        return _whole(replace(first, known_share=None), demand)
    worst = known.worst()
    if not known.clear():
        hoped = known.linearised(known.hopeful())
        decision = decide_demands([*linear, *(hoped or known.clarifying())], facts, policy)
        if decision.action != "refuse":
            decision = looked(decide_demands(known.clarifying(), facts, policy), facts)
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
