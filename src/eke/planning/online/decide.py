"""Decide: what to do about a question, so that every column of its result is accurate enough.

A linear column is a demand on its question. A formula (AVG, a ratio, a variance) has an interval
whose width depends on the answers themselves, so it is approached in steps, each of them planned
from what is known by then and paid for by itself:

1. as long as nothing is known about a denominator, the aggregates are measured coarsely, or as
   far as averages need (`average_looks.py`);
2. then the formula is nearly linear in its small errors, and what is measured is that linear
   question, and what the formula bends in, as far as that is cheaper;
3. until the interval is narrow enough, or the budget does not allow the next step.
"""

from __future__ import annotations

import math
from dataclasses import replace

from eke.planning.online.average_looks import decide_averages
from eke.planning.online.averages import averages_of, centred
from eke.planning.online.bending import bend_of, steadying
from eke.planning.online.decision import Decision, decide_demands
from eke.planning.online.facts import Facts
from eke.planning.online.known_formulas import KnownFormulas
from eke.planning.online.look import coarse, looked
from eke.planning.online.policy import Policy
from eke.planning.online.question_demand import QuestionDemand, linear_demands
from eke.planning.online.requirement import Demand

_MORE = range(1, 25)
_STRAIGHT = 0.05  # of the half-width asked for: formulas that bend less are taken as straight
_SHARES = (1.0, 0.5, 0.25)
_SAFETY = 1.1
# Of the half-width asked for. An average is measured around itself where its number of records
# moves it by less, else what was measured around the middle is refined.
_VAGUE = 1.0
_NEARLY = 1.1  # times the half-width asked for, of averages; then a little more is asked for,
_BEYOND = 0.95  # so that the last step is not followed by ever smaller ones
_LEAST_ROOM = 0.25  # of the half-width asked for, that must be left to the derivative


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
            worst = max(known.worst(), 0.0 if free is None else free.known_share or 0.0)
            return _whole(Decision("history", 0, None, known_share=worst), demand)
        return _whole(free, demand)
    step = _look(demand, linear, known, facts, policy)
    if step is None and known is not None:
        step = replace(_accurate(linear, known, facts, policy), hint=known.hint())
    step = step or Decision("history", 0, None)
    share = None if known is None else known.worst()
    return _whole(replace(step, known_share=share), demand)


def _look(
    demand: QuestionDemand,
    linear: list[Demand],
    known: KnownFormulas | None,
    facts: Facts,
    policy: Policy,
) -> Decision | None:
    """What to do while denominators may be 0, so far as is known; None when they are clear."""
    if known is not None and known.clear():
        return None
    averages = averages_of(demand)
    if averages:
        decision = decide_averages(demand, averages, known, facts, policy)
        if decision.action != "history":
            return decision
    if known is None:
        return _first(demand, linear, facts, policy)
    hoped = known.linearised(known.hopeful())
    decision = decide_demands([*linear, *(hoped or known.clarifying())], facts, policy)
    if decision.action != "refuse":
        decision = looked(decide_demands(known.clarifying(), facts, policy), facts)
    if decision.action == "history":
        return None
    return replace(decision, hint=decision.hint or known.hint())


def _first(demand: QuestionDemand, linear: list[Demand], facts: Facts, policy: Policy) -> Decision:
    """A look at the numbers behind formulas, unless these only add them up."""
    sums = KnownFormulas.of_nothing(demand)
    if sums is not None and not demand.relative:
        return decide_demands([*linear, *sums.linearised()], facts, policy)
    looks = coarse(demand, facts, demand.curved_blocks())
    return looked(decide_demands(looks, facts, policy), facts)


def _accurate(linear: list[Demand], known: KnownFormulas, facts: Facts, policy: Policy) -> Decision:
    """The cheapest step after which formulas should be accurate enough.

    An average is measured around itself, or what was measured around the middle of its values is
    refined. A formula bends, which its derivative does not tell. Either the derivative is measured
    so much better, or what it bends in, so that it bends less; the first is the case of a share
    of 1.
    """
    bend, straight = bend_of(known), known.linearised()
    if bend <= _STRAIGHT:
        bend = 0.0
    tried: list[Decision] = []
    averages = averages_of(known.demand)
    middle = centred(known, averages, facts) if averages else []
    if middle:
        if known.worst() < _NEARLY:
            straight = [one.relaxed(_BEYOND) for one in straight]
            middle = [one.relaxed(_BEYOND) for one in middle]
        tried.append(decide_demands([*linear, *middle], facts, policy))
        if known.vague() * known.worst() > _VAGUE and tried[0].action == "measure":
            return tried[0]
    for share in _SHARES if bend else _SHARES[:1]:
        room = 1.0 - _SAFETY * bend * share**2
        if room < _LEAST_ROOM:
            continue
        demands = [*linear, *(one.relaxed(room) for one in straight)]
        if share < 1.0:
            demands += steadying(known, share)
        tried.append(decide_demands(demands, facts, policy))
    paid = [decision for decision in tried if decision.action == "measure"]
    if paid:
        return min(paid, key=lambda decision: decision.cost)
    refused = [decision for decision in tried if decision.action == "refuse"]
    if refused:
        return min(refused, key=lambda decision: decision.cost)
    # It is accurate enough, as far as that can be told, and yet it is not: ask for more.
    tighter = ([one.relaxed(0.8**more) for one in [*linear, *straight]] for more in _MORE)
    decisions = (decide_demands(demands, facts, policy) for demands in tighter)
    return next((one for one in decisions if one.action != "history"), Decision("history", 0, None))


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
