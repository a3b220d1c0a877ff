"""Quantiles: what to measure to find them, coarse first and finer where they are.

A step cuts the steps of the ladder that are still in doubt into some twenty parts, and counts the
records in each, below and above them: a record is in one of these cells, so that all of them cost
as much as one count. Groups are measured side by side. What all steps and everything else in the
history say together (`eke.inference.quantile`) is looked at again, until the intervals are as
narrow as asked for, or the budget does not allow the next step.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from eke.errors import AccuracyError
from eke.planning.online.decision import Decision
from eke.planning.online.facts import Facts
from eke.planning.online.known_quantiles import KnownQuantiles
from eke.planning.online.look import looked
from eke.planning.online.policy import FallsShort, Policy, only_history
from eke.planning.online.quantile_step import (
    bought_step,
    deviation_of,
    next_step,
    plan_of_steps,
)
from eke.planning.online.question_demand import QuestionDemand
from eke.planning.online.rent import loss_after
from eke.planning.online.stretch import least_with_noise
from eke.privacy.record_loss import NANO

LOOK = 4
"""With a price, at most one part in so many of what is left goes to a look."""
_LEAST_LOOK = 64  # and at least one in so many
_LOOKS_FOR_A_PRICE = 6
MOST_STEPS = _LOOKS_FOR_A_PRICE + 2
_SPENT = 0.98  # of a price: the rest buys nothing noticeable
_TRIES = 4
_DEARER = "it would not be the last step, and a later one costs more"


def decide_quantiles(demand: QuestionDemand, facts: Facts, policy: Policy) -> Decision:
    """What to do next so that every quantile is accurate enough; often one step of several.

    Privacy: a function of public facts; like formulas, it looks at noisy values that were released
    before.
    """
    quantiles = KnownQuantiles.of(demand, facts.inference)
    lacking = quantiles.lacking()
    worst = max((doubt.share for doubt in quantiles.doubts), default=0.0)
    if not lacking:
        return _known(Decision("history", 0, None), quantiles, worst)
    if policy is only_history:
        raise FallsShort
    steps = [next_step(doubt, demand.confidence, facts) for doubt in lacking]
    # The others are measured beside these, for nothing: their records are not the same.
    due = [at for at, doubt in enumerate(lacking) if not doubt.is_excused]
    plan = plan_of_steps(lacking, steps, min(steps[at].deviation for at in due), facts.measure)
    after = loss_after(plan, facts)
    price = sum(facts.accountant.price(part.query, part.charged) for part in plan.parts)
    hint = quantiles.hint(lacking[min(due, key=lambda at: steps[at].deviation)])
    decision = Decision("measure", after - facts.spent, None, plan, price, hint=hint)
    if any(steps[at].is_look for at in due):
        decision = looked(decision, facts)
    elif not all(steps[at].is_last for at in due) and 4 * decision.cost > facts.limit - facts.spent:
        also = f"; {hint}" if hint else ""
        decision = replace(decision, action="refuse", plan=None, hint=f"{_DEARER}{also}")
    if decision.action == "measure" and after > facts.limit:
        stretch = least_with_noise(plan.parts, facts)
        decision = replace(decision, action="refuse", plan=None, stretch=stretch)
    return _known(decision, quantiles, worst)


def spend_on_quantiles(
    demand: QuestionDemand, facts: Facts, most: int, before: Sequence[int]
) -> Decision:
    """What to measure next for at most `most` nano-units in all, as `spend_on`.

    Each step narrows what is in doubt, and the last one gets what is left.
    """
    left = facts.limit - facts.spent
    quantiles = KnownQuantiles.of(demand, facts.inference)
    widest = max(doubt.width for doubt in quantiles.doubts)
    known = None if quantiles.is_vague else widest
    if not before and most > left:
        return Decision("refuse", most, known)
    rest = min(most - sum(before), left)
    if len(before) >= MOST_STEPS or rest <= (1.0 - _SPENT) * most or widest == 0.0:
        return Decision("history", 0, known)
    open_ones = [doubt for doubt in quantiles.doubts if doubt.width > 0.0]
    last = len(before) >= _LOOKS_FOR_A_PRICE
    steps = [bought_step(one, facts.measure, rest, is_last=last) for one in open_ones]
    if not any(step.is_useful for step in steps):
        return Decision("history", 0, known)
    price = rest
    if not all(step.is_last for step in steps):
        wanted = min((step.deviation for step in steps if not step.is_last), default=math.inf)
        needed = math.ceil(NANO * facts.measure.loss(1.0, facts.measure.scale_of(wanted**2)))
        price = min(max(needed, rest // _LEAST_LOOK), rest // LOOK)
    deviation = deviation_of(facts.measure, facts.measure.noise_scale(1.0, max(price, 1) / NANO))
    for _ in range(_TRIES):  # a unit of several rows, or one that is replaced, costs more
        plan = plan_of_steps(open_ones, steps, deviation, facts.measure)
        cost = loss_after(plan, facts) - facts.spent
        if cost <= price:
            break
        deviation *= 1.001 * facts.measure.root(cost / max(price, 1))
    else:
        if before:
            return Decision("history", 0, known)
        return Decision("refuse", most, known, hint="so little buys nothing here")
    alone = sum(facts.accountant.price(part.query, part.charged) for part in plan.parts)
    return Decision("measure", cost, known, plan, alone)


def _known(decision: Decision, quantiles: KnownQuantiles, worst: float) -> Decision:
    """The decision with widths as those of the first quantile: all are stretched alike."""
    within = quantiles.demand.quantiles[0][3]
    is_known = not quantiles.is_vague and math.isfinite(worst)
    of_rank = quantiles.doubts[0].is_of_rank
    width = max(doubt.width for doubt in quantiles.doubts) if of_rank else worst * within
    stretch = decision.stretch
    return replace(
        decision,
        known=width if is_known else None,
        known_share=worst if is_known else None,
        narrowest=None if stretch is None or of_rank else stretch * within,
    )


def check_price(demand: QuestionDemand) -> None:
    """Raise where a price would have to be shared out between quantiles and other values."""
    if demand.quantiles and len(demand.quantiles) < len(demand.columns):
        raise AccuracyError(
            "a price is not shared out between quantiles and other values; ask for them one by "
            "one, or give the accuracy of each with within"
        )
