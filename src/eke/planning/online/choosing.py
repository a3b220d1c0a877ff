"""Choosing: which private choice makes a quantile as near as asked for, or as a price allows.

The choice is one charge. How near it comes is known in records beforehand; where a share of the
records is asked for, their number is looked at first, unless history tells it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

from eke.errors import AccuracyError, QueryError
from eke.history import ChosenStep, RankChoice
from eke.inference import halfwidth
from eke.planning.online.decision import Decision, decide_demands
from eke.planning.online.facts import Facts
from eke.planning.online.look import coarse, looked
from eke.planning.online.plan import Plan
from eke.planning.online.policy import FallsShort, Policy, only_history
from eke.planning.online.question_demand import QuestionDemand, demands_of
from eke.planning.online.requirement import Demand, Requirement
from eke.privacy.accountant import Accountant
from eke.privacy.law import DiscreteLaplace
from eke.privacy.noise_grid import MOST_STEPS, choose_grid
from eke.query import Query
from eke.question.ladder import Ladder

_FINER = 0.25  # of the half-width before, for another look at how many records there are
_NARROW = Fraction(2**20 - 2, 2**20)  # the grid makes a scale wider by at most 2^-20
_DEARER = 1.0 + 1e-9
_TRIES = 40
_LEAST_SCALE = Fraction(1, 2**40)
_ONE_NUMBER = (
    "the question leaves a single number of {!r}, which is the quantile of whatever records there "
    "are; there is nothing to choose"
)
_TOO_NARROW = (
    "within is too small for a choice to be drawn: ask for a larger share of the records, or say "
    "what it may cost with spend=…"
)


@dataclass(frozen=True, slots=True)
class Sought:
    """The quantile that a question has chosen."""

    demand: QuestionDemand
    ladder: Ladder
    place: int  # the block that counts its records
    within: float  # the share of the records that it may be off by

    @staticmethod
    def of(demand: QuestionDemand) -> Sought:
        ((_, place, ladder, within),) = demand.quantiles
        sought = Sought(demand, ladder, place, within)
        first, last = sought.choice(Fraction(1)).steps
        if first == last:
            raise QueryError(_ONE_NUMBER.format(ladder.attribute))
        return sought

    @property
    def counted(self) -> Query:
        """The number of its records."""
        return self.demand.question.query(self.place, 0)

    def choice(self, scale: Fraction) -> RankChoice:
        """Its choice with (at least) this scale, in units of the score."""
        law = choose_grid(DiscreteLaplace, scale, 0)
        return RankChoice(self.counted, self.ladder.attribute, self.ladder.share, law)

    def known(self, facts: Facts) -> ChosenStep | None:
        """What was chosen for it with the least noise, the first of several."""
        like = self.choice(Fraction(1))
        same = [one for one in facts.choices if one.choice.is_like(like)]
        return min(same, key=lambda one: (one.choice.scale, one.sequence), default=None)


def best_choice(demand: QuestionDemand, facts: Facts) -> ChosenStep | None:
    """What was chosen before for the question's quantile, with the least noise."""
    return Sought.of(demand).known(facts)


def decide_chosen(demand: QuestionDemand, facts: Facts, policy: Policy) -> Decision:
    """What to do next so that a chosen quantile is within a share of the records of its place.

    Privacy: a function of public facts. How many records there are is an estimate that was
    released before; widths of the decision are numbers of records.
    """
    sought = Sought.of(demand)
    known = sought.known(facts)
    error = None if known is None else float(known.choice.rank_error(demand.confidence))
    records = _records(sought, facts)
    if records is not None and error is not None and error <= sought.within * records[0]:
        return Decision("history", 0, error)
    if policy is only_history:
        raise FallsShort
    if records is None:
        return _look(coarse(demand, facts, [sought.place]), facts, policy, error)
    least, most = records
    if least < 0.5 * most:
        wanted = Requirement(_FINER * 0.5 * (most - least), demand.confidence)
        block = demand.question.blocks[sought.place]
        return _look(demands_of(block, wanted), facts, policy, error)
    choice = _near_enough(sought, sought.within * least)
    decision = _bought(choice, facts, demand.confidence, error)
    if decision.cost <= facts.limit - facts.spent:
        return decision
    return replace(decision, action="refuse", plan=None)


def spend_on_chosen(demand: QuestionDemand, facts: Facts, most: int, *, is_paid: bool) -> Decision:
    """The choice that at most `most` nano-units buy, unless one as near was made before."""
    sought = Sought.of(demand)
    known = sought.known(facts)
    error = None if known is None else float(known.choice.rank_error(demand.confidence))
    if is_paid and known is not None:
        return Decision("history", 0, error)
    choice = _affordable(sought, facts.accountant, most)
    if choice is None:
        return Decision("refuse", most, error, hint="so little buys nothing here")
    if known is not None and known.choice.scale <= choice.scale:
        return Decision("history", 0, error)
    decision = _bought(choice, facts, demand.confidence, error)
    if decision.cost <= most <= facts.limit - facts.spent:
        return decision
    return replace(decision, action="refuse", cost=most, plan=None)


def _look(demands: list[Demand], facts: Facts, policy: Policy, error: float | None) -> Decision:
    """A look at how many records there are."""
    decision = looked(decide_demands(demands, facts, policy), facts)
    return replace(decision, known=error, narrowest=None)


def _records(sought: Sought, facts: Facts) -> tuple[float, float] | None:
    """How many records there are at least and at most, if history tells."""
    known = facts.inference.linear(sought.counted)
    if known is None:
        return None
    value, noise = known
    half = halfwidth(noise, sought.demand.confidence)
    return value - half, value + half


def _near_enough(sought: Sought, records: float) -> RankChoice:
    """The choice with the most noise that is surely so near, at the confidence asked for."""
    confidence = sought.demand.confidence
    first, last = sought.choice(Fraction(1)).steps
    odds = (last - first) * confidence / (1.0 - confidence)
    share = sought.ladder.share
    wanted = Fraction(records) * share.denominator / Fraction(max(1.0, math.log(max(odds, 1.0))))
    wanted *= _NARROW
    if wanted < _LEAST_SCALE:
        raise AccuracyError(_TOO_NARROW)
    return sought.choice(min(wanted, Fraction(MOST_STEPS)))


def _affordable(sought: Sought, accountant: Accountant, most: int) -> RankChoice | None:
    """The choice with the least noise that costs at most so much."""
    if most < 1:
        return None
    scale = _LEAST_SCALE
    for _ in range(_TRIES):
        choice = sought.choice(min(scale, Fraction(MOST_STEPS)))
        price = choice.price(accountant)
        if price <= most:
            return choice
        excess = accountant.measure.root(price / most) * _DEARER
        scale = choice.scale * Fraction(excess)
        if choice.scale >= MOST_STEPS:
            break
    return None


def _bought(choice: RankChoice, facts: Facts, confidence: float, error: float | None) -> Decision:
    """The decision to make a choice."""
    price = choice.price(facts.accountant)
    after = facts.accountant.after_all([], facts.limit, price)
    plan = Plan((), later_loss=price, choices=(choice,))
    near = float(choice.rank_error(confidence))
    return Decision("measure", after - facts.spent, error, plan, price, within=near)
