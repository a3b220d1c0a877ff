"""Spend: the best accuracy that a price buys, the mirror of the least price for an accuracy.

The half-widths of all columns stand in a fixed proportion: how far one record can move each value,
so that all of them would cost the same by themselves. What is searched for is the one factor by
which they are stretched (`price_search.py`). A formula (AVG, a ratio, a variance) takes two steps
if little is known about the numbers behind it: a look for a share of the price, then all the rest.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from eke.planning.online.decision import Decision
from eke.planning.online.facts import Facts, Missing, known_errors, offered
from eke.planning.online.known_formulas import KnownFormulas
from eke.planning.online.plan import Plan
from eke.planning.online.policy import Policy
from eke.planning.online.price_search import MOST_PLANS, least_stretch_for
from eke.planning.online.question_demand import QuestionDemand, demands_of, linear_demands
from eke.planning.online.rent import direct, loss_after
from eke.planning.online.requirement import Demand, Requirement
from eke.privacy.record_loss import NANO
from eke.query import sensitivity
from eke.question import AskedBlock

LOOK = 5
"""One part in so many of the price goes to a first look at the numbers behind a formula."""
MOST_STEPS = 2
_SMALLER = "groups whose number of records cannot be told from 0 yet are wider"


def spend_on(
    demand: QuestionDemand,
    facts: Facts,
    policy: Policy,
    most: int,
    *,
    before: Sequence[int] = (),
    plans: int = MOST_PLANS,
) -> Decision:
    """What to measure for at most `most` nano-units; half-widths of the demand do not count.

    `before` are the costs of the steps taken so far for the same request, and so many `plans` may
    be tried. History is the answer where nothing noticeably better can be bought, and when all
    steps are taken.

    Privacy: a function of public facts, as `decide`; formulas look at noisy values that were
    released before. What is planned costs at most `most`, with all steps before it.
    """
    left = facts.limit - facts.spent
    known = known_width(demand, facts)
    if not before and most > left:
        return Decision("refuse", most, known)
    rest = min(most - sum(before), left)
    if not demand.curved:
        shaped = demand.asking(_units(demand, []))
        return _Shop.of(linear_demands(shaped), facts, policy, plans).best(rest, shaped, known)
    if before and (len(before) >= MOST_STEPS or sum(before) > most // LOOK or rest <= 0):
        return Decision("history", 0, known)
    # How accurate they get is what the price decides: any half-width will do.
    formulas = KnownFormulas.of(demand.asking([math.inf] * len(demand.columns)), facts.inference)
    if formulas is not None and formulas.are_exact and not linear_demands(demand):
        return Decision("history", 0, known)
    clear = [] if formulas is None else formulas.clear_rows()
    numbers = _Shop.of(_numbers(demand), facts, policy, plans)
    if not before and not any(clear):
        look = numbers.best(most // LOOK, None, known)
        if formulas is None or look.action == "measure":
            return look
    if formulas is None or not any(clear):  # no slope can be trusted: the numbers themselves, then
        decision = numbers.best(rest, None, known)
    else:  # groups too small to tell get what the same noise gives
        large = formulas.among(clear)
        shaped = demand.asking(_units(demand, large.reaches()))
        wanted = [*linear_demands(shaped), *large.for_demand(shaped).linearised()]
        decision = _Shop.of(wanted, facts, policy, plans).best(rest, shaped, known)
        if decision.action == "measure" and not all(clear):
            decision = replace(decision, hint=_SMALLER)
    return Decision("history", 0, known) if before and decision.action == "refuse" else decision


def known_width(demand: QuestionDemand, facts: Facts) -> float | None:
    """The half-width of the first column that history gives in every row; None if it gives none."""
    column = next(i for i, one in enumerate(demand.within) if one is not None)
    scaled = demand.question.columns[column].formula.scale()
    if scaled is not None:
        index, scale = scaled
        asked = demands_of(demand.question.blocks[index], Requirement(1.0, demand.confidence))
        errors = [noise for one in asked for noise in known_errors(one.query, facts.inference)]
        width = offered(errors, demand.confidence) if errors else 0.0
        return None if width is None else width * abs(scale)
    widest = 0.0
    for row in demand.question.places:
        posterior = demand.posterior(column, row, facts.inference)
        if posterior is None:
            return None
        widest = max(widest, posterior.halfwidth(demand.confidence))
    return widest if math.isfinite(widest) else None


@dataclass(frozen=True, slots=True)
class _Shop:
    """Demands in a fixed proportion, what history offers for each, and what is sold for a price."""

    wanted: Sequence[Missing]
    offers: Sequence[float | None]
    facts: Facts
    policy: Policy
    most_plans: int

    @staticmethod
    def of(demands: Sequence[Demand], facts: Facts, policy: Policy, most_plans: int) -> _Shop:
        wanted = [(one, known_errors(one.query, facts.inference)) for one in demands]
        offers = [offered(errors, one.requirement.confidence) for one, errors in wanted]
        return _Shop(wanted, offers, facts, policy, most_plans)

    def best(self, most: int, shaped: QuestionDemand | None, known: float | None) -> Decision:
        """The plan for the least stretch that costs at most `most`.

        `shaped` has the half-widths that are stretched, where these are known in advance.
        """
        accountant = self.facts.accountant
        plans: dict[float, Plan] = {}

        def cost_at(stretch: float) -> int:
            plans[stretch] = self._plan(stretch)
            return loss_after(plans[stretch], self.facts) - accountant.spent

        free_at = self._free_at()
        if free_at == 0.0:
            return Decision("history", 0, known)
        start = self._start(most)
        root = accountant.measure.root
        least = least_stretch_for(cost_at, start, most, root, free_at, most_plans=self.most_plans)
        if least is None:
            if free_at is None:
                return Decision("refuse", most, known, hint="so little buys nothing here")
            return Decision("history", 0, known)
        plan = plans[least]
        price = sum(accountant.price(part.query, part.charged) for part in plan.parts)
        cost = loss_after(plan, self.facts) - accountant.spent
        within = None if shaped is None else least * shaped.columns[0][1]
        return Decision("measure", cost, known, plan, price, within=within)

    def _plan(self, stretch: float) -> Plan:
        missing = [
            (demand.relaxed(stretch), errors)
            for (demand, errors), offer in zip(self.wanted, self.offers, strict=True)
            if offer is None or offer > stretch * demand.requirement.within
        ]
        plan = self.policy.plan(missing, self.facts)
        return replace(plan, demands=tuple(demand for demand, _ in missing))

    def _free_at(self) -> float | None:
        """From which stretch on history suffices."""
        shares = [
            None if offer is None else offer / demand.requirement.within
            for (demand, _), offer in zip(self.wanted, self.offers, strict=True)
        ]
        known = [share for share in shares if share is not None]
        return max(known, default=0.0) if len(known) == len(shares) else None

    def _start(self, most: int) -> float:
        """The stretch at which the demands would cost so much if each were measured by itself."""
        measure = self.facts.measure
        together = 0.0
        for demand, _ in self.wanted:
            reach = demand.query.inside
            size = 1.0 if reach is None else float(sensitivity(reach, "add_remove"))
            together += measure.loss(size, direct(demand.requirement, None, measure))
        stretch = measure.root(max(together, 1e-12) * NANO / max(1, most))
        return min(max(float(stretch), 1e-12), 1e12)


def _units(demand: QuestionDemand, reaches: Sequence[float]) -> list[float]:
    """How far one record can move each column of values; `reaches` are those of the formulas."""
    curved = iter(reaches)
    units = []
    for formula, _ in demand.columns:
        scaled = formula.scale()
        if scaled is None:
            units.append(next(curved, 1.0))
        else:
            units.append(_size(demand.question.blocks[scaled[0]]) * abs(scaled[1]))
    return units


def _numbers(demand: QuestionDemand) -> list[Demand]:
    """The linear columns and the numbers behind formulas, each as far as one record can move it."""
    demands = linear_demands(demand.asking(_units(demand, [])))
    for index in demand.curved_blocks():
        block = demand.question.blocks[index]
        demands += demands_of(block, Requirement(_size(block), demand.confidence))
    return list(dict.fromkeys(demands))


def _size(block: AskedBlock) -> float:
    """How far one record can move an answer of a block; 1 for one that is always 0."""
    return float(sensitivity(block.inside, "add_remove")) or 1.0
