"""What a refusal advises: it holds, it is nearly the least, and few plans are made for it."""

from __future__ import annotations

import math

import pytest

from eke.domain import Domain, Integer
from eke.inference import Inference
from eke.planning import (
    AccountsAtHand,
    Decision,
    Demand,
    Facts,
    Requirement,
    decide_demands,
    top_up,
)
from eke.planning.online.facts import known_errors
from eke.planning.online.rent import Rent, loss_after, released_as_zeros
from eke.privacy.accountant import Accountant
from eke.privacy.concentrated import CONCENTRATED
from eke.privacy.measure import Measure
from eke.privacy.pure import PURE
from eke.privacy.record_loss import NANO
from eke.query import count, marginal, total
from tests.parts import in_long

DOMAIN = Domain(a=Integer(0, 5), b=Integer(0, 3), hours=Integer(0, 20))
MOST_PLANS = 4  # the plan, its advice, and two to narrow it down


def facts_of(measure: Measure, *, known: bool, limit: float = 1.0) -> Facts:
    inference, accountant = Inference(DOMAIN), Accountant(DOMAIN, measure, "add_remove")
    if known:
        for demand in demands(400.0)[:2]:
            part = top_up.plan(
                [(demand, [None])], Facts(inference, AccountsAtHand(accountant), NANO)
            ).parts[0]
            inference.extend(released_as_zeros(part))
            accountant.add(part.query, part.law, accountant.after(part.query, part.law, NANO))
    return Facts(inference, AccountsAtHand(accountant), accountant.spent + int(limit * NANO))


def demands(within: float) -> list[Demand]:
    asked = (
        marginal("a", "b").on(DOMAIN),
        marginal("a", "b", of=total("hours")).on(DOMAIN),
        marginal("a").on(DOMAIN),
        count(a=(0, 3), hours=(5, 9)).on(DOMAIN),
    )
    return [Demand(one, Requirement(within, 0.95)) for one in asked]


def affordable(stretch: float, wanted: list[Demand], facts: Facts) -> bool:
    missing = [(one, known_errors(one.query, facts.inference)) for one in wanted]
    relaxed = [(demand.relaxed(stretch), errors) for demand, errors in missing]
    return loss_after(top_up.plan(relaxed, facts), facts) <= facts.limit


def least_by_bisection(wanted: list[Demand], facts: Facts, precision: float = 1.001) -> float:
    """The slow obvious twin: plan anew at every step."""
    low, high = 1.0, 2.0
    while not affordable(high, wanted, facts):
        low, high = high, 2.0 * high
    while high / low > precision:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if affordable(middle, wanted, facts) else (middle, high)
    return high


@pytest.mark.parametrize("measure", [PURE, CONCENTRATED])
@pytest.mark.parametrize("known", [False, True], ids=["nothing known", "something known"])
@pytest.mark.parametrize("within", [1.0, in_long(12.0)])
@pytest.mark.parametrize("bisects", [False, in_long(True)], ids=["two plans", "bisection"])
def test_advice_holds_and_is_nearly_the_least(
    measure: Measure, known: bool, within: float, bisects: bool
) -> None:
    """The least lies between what 1 % more and 2 % less can buy; bisection finds it itself."""
    facts, wanted = facts_of(measure, known=known), demands(within)
    decision = decide_demands(wanted, facts, top_up)
    assert decision.action == "refuse"
    assert decision.stretch is not None
    assert affordable(1.01 * decision.stretch, wanted, facts)
    assert not affordable(decision.stretch / 1.02, wanted, facts)
    if bisects:
        least = least_by_bisection(wanted, facts)
        assert least / 1.01 <= decision.stretch <= 1.02 * least
    advised = [one.relaxed(decision.stretch) for one in wanted]
    assert decide_demands(advised, facts, top_up).action != "refuse"


def test_a_refusal_plans_a_few_times_only(monkeypatch: pytest.MonkeyPatch) -> None:
    facts, made = facts_of(PURE, known=True), list[int]()
    plain = Rent.plan

    def counted(self: Rent, *words: object) -> object:
        made.append(1)
        return plain(self, *words)  # type: ignore[arg-type]

    monkeypatch.setattr(Rent, "plan", counted)
    decision: Decision = decide_demands(demands(1.0), facts, top_up)
    assert decision.action == "refuse"
    assert len(made) <= MOST_PLANS
    made.clear()
    least_by_bisection(demands(1.0), facts, precision=1.5)
    assert len(made) > MOST_PLANS, "the control: bisection plans over and over"


def test_nothing_is_advised_when_nothing_is_left() -> None:
    facts = facts_of(PURE, known=False, limit=0.0)
    assert decide_demands(demands(5.0), facts, top_up).stretch is None
