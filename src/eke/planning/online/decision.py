"""Decisions: free, paid or refused, from public facts only.

The facts are what is demanded, the history, the accountant and the limit. There is no handle on the
data here, and the import contracts keep it that way, so a decision can be recomputed by anyone
who holds the ledger. Next: `decide` takes whole questions, and `eke.engine` carries out a decision
to measure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from eke.planning.online.facts import Facts, known_errors, offered
from eke.planning.online.plan import Plan
from eke.planning.online.policy import Policy
from eke.planning.online.rent import loss_after
from eke.planning.online.requirement import Demand


@dataclass(frozen=True, slots=True)
class Decision:
    """What to do about a question.

    `known` is the half-width that history alone offers at the confidence asked for (None when it
    says nothing). `narrowest` is, for a refusal, the half-width that the rest of the budget buys
    (None when that is nothing narrower).
    """

    action: Literal["history", "measure", "refuse"]
    cost: int  # nano-units by which the dataset's loss would grow
    known: float | None
    plan: Plan | None = None
    price: int = 0  # nano-units of the measurement by itself
    narrowest: float | None = None
    # The same two as shares of what was asked for: of several questions, the worst one counts.
    known_share: float | None = field(default=None, compare=False)
    stretch: float | None = field(default=None, compare=False)
    hint: str = field(default="", compare=False)  # what makes it expensive, for a refusal
    guarded: str = ""  # which guarded claims it could make more probable, for a refusal
    # What a price buys, as the half-width of the first column; None if only a look is planned.
    within: float | None = field(default=None, compare=False)


def decide_demands(demands: Sequence[Demand], facts: Facts, policy: Policy) -> Decision:
    """Free if history is accurate enough, else the least noise that is, else a refusal.

    What is demanded together is paid for with one charge. Privacy: a function of public facts.
    Widths depend on questions and noise laws, never on noisy values, so that choosing by them does
    not bias the intervals.

    The plan tells which demands it was made for: the ledger keeps them, so that later decisions
    can be made from what was paid for before.
    """
    if not demands:  # nothing that could be measured would tell more
        return Decision("history", 0, None)
    known = [known_errors(one.query, facts.inference) for one in demands]
    offers = [offered(e, d.requirement.confidence) for e, d in zip(known, demands, strict=True)]
    known_width, share = _weakest(offers, demands)
    missing = [
        (demand, errors)
        for demand, errors, offer in zip(demands, known, offers, strict=True)
        if offer is None or offer > demand.requirement.within
    ]
    if not missing:
        return Decision("history", 0, known_width, known_share=share)
    plan = policy.plan(missing, facts)
    plan = replace(plan, demands=tuple(demand for demand, _ in missing))
    after = loss_after(plan, facts)
    price = sum(facts.accountant.price(part.query, part.charged) for part in plan.parts)
    cost = after - facts.spent
    if after <= facts.limit:
        return Decision("measure", cost, known_width, plan, price, known_share=share)
    stretch = policy.least_stretch(missing, facts, plan.instead_of or plan.parts)
    if stretch is not None and share is not None and stretch >= share:
        stretch = None
    narrowest = None if stretch is None else stretch * demands[0].requirement.within
    return Decision("refuse", cost, known_width, None, price, narrowest, share, stretch)


def cost_of(demands: Sequence[Demand], facts: Facts, policy: Policy) -> int:
    """What the plan for some demands costs, affordable or not."""
    known = [known_errors(one.query, facts.inference) for one in demands]
    missing = [
        (demand, errors)
        for demand, errors in zip(demands, known, strict=True)
        if (offer := offered(errors, demand.requirement.confidence)) is None
        or offer > demand.requirement.within
    ]
    return loss_after(policy.plan(missing, facts), facts) - facts.spent if missing else 0


def _weakest(
    offers: Sequence[float | None], demands: Sequence[Demand]
) -> tuple[float | None, float | None]:
    """What history offers for the demand it serves worst, and as a share of what is demanded.

    None if it leaves one undetermined.
    """
    shares = [
        (offer / demand.requirement.within, offer)
        for offer, demand in zip(offers, demands, strict=True)
        if offer is not None
    ]
    if len(shares) < len(demands):
        return None, None
    share, offer = max(shares)
    return offer, share
