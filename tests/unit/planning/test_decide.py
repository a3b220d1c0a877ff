"""Decisions: free, paid or refused, and advice that can be relied on."""

from __future__ import annotations

import gc
import inspect
import math
from fractions import Fraction
from types import FunctionType, ModuleType

import numpy as np
import pytest

from eke import planning
from eke.domain import Domain, Integer
from eke.history import Measurement, Row
from eke.inference import Inference, halfwidth
from eke.mechanism import Secret
from eke.planning import (
    AccountsAtHand,
    Decision,
    Facts,
    Requirement,
    direct,
    known_errors,
    part_for,
    top_up,
)
from eke.privacy.accountant import Accountant
from eke.privacy.concentrated import CONCENTRATED
from eke.privacy.law import DiscreteLaplace
from eke.privacy.measure import Measure
from eke.privacy.pure import PURE
from eke.privacy.record_loss import NANO
from eke.query import Marginal, Query, count, marginal
from tests.deciding import decide
from tests.parts import in_long
from tests.random_questions import random_question

DOMAIN = Domain(a=Integer(0, 4), b=Integer(0, 2))
MEASURES: tuple[Measure, ...] = (PURE, CONCENTRATED)


def empty(measure: Measure = PURE, limit: float = 1.0, neighbours="add_remove") -> Facts:
    return Facts(
        Inference(DOMAIN),
        AccountsAtHand(Accountant(DOMAIN, measure, neighbours)),
        math.floor(limit * NANO),
    )


def learn(facts: Facts, decision: Decision, value: float = 0.0) -> None:
    """What the engine does with a decision to measure, with a made-up noisy value."""
    plan = decision.plan
    assert plan is not None
    after = facts.accountant.after_all([(p.query, p.law) for p in plan.parts], facts.limit)
    assert after - facts.accountant.spent == decision.cost
    for part in plan.parts:
        facts.accountant.add(part.query, part.law, after)
        cells = part.query.cells if isinstance(part.query, Marginal) else 1
        facts.inference.extend(Measurement(part.query, part.law, (value,) * cells))


def widest(asked: Query | Marginal, facts: Facts, confidence: float) -> float:
    """The widest interval among the cells of a question."""
    singles = asked.queries() if isinstance(asked, Marginal) else [asked]
    found = [facts.inference.linear(single) for single in singles]
    return max(halfwidth(one[1], confidence) for one in found if one is not None)


def random_facts(rng: np.random.Generator, measure: Measure, limit: float = 1.0) -> Facts:
    """Facts after some random questions that were measured."""
    facts = empty(measure, limit)
    for _ in range(int(rng.integers(0, 6))):
        asked = random_question(rng, DOMAIN, blocks=0.3).on(DOMAIN)
        decision = decide(asked, Requirement(float(rng.uniform(20, 200)), 0.95), facts, top_up)
        if decision.action == "measure":
            learn(facts, decision)
    return facts


def test_measure_then_free():
    facts, asked = empty(), count(a=(0, 2)).on(DOMAIN)
    decision = decide(asked, Requirement(30, 0.95), facts, top_up)
    assert decision.action == "measure"
    assert decision.known is None
    assert decision.cost == decision.price == pytest.approx(NANO * math.log(20) / 30, rel=1e-5)
    assert decision.plan is not None
    assert decision.plan.parts[0].query == asked
    learn(facts, decision)
    again = decide(asked, Requirement(30, 0.95), facts, top_up)
    assert again == Decision("history", 0, again.known)
    assert again.known is not None
    assert again.known <= 30
    laxer = decide((asked * -2), Requirement(60, 0.95), facts, top_up)
    assert laxer.action == "history"


def test_refusal_spends_nothing_and_has_no_plan():
    facts, asked = empty(limit=0.1), count(a=1).on(DOMAIN)
    decision = decide(asked, Requirement(1, 0.95), facts, top_up)
    assert decision.action == "refuse"
    assert decision.plan is None
    assert decision.cost > facts.limit
    assert facts.accountant.spent == 0
    assert decision.narrowest == pytest.approx(math.log(20) / 0.1, rel=0.02)


def test_an_always_zero_question_and_a_constant_are_free():
    facts = empty()
    for asked in (count() - count(), count() * 0 + 5):
        decision = decide(asked.on(DOMAIN), Requirement(1e-9, 0.999), facts, top_up)
        assert decision == Decision("history", 0, 0.0)
    block = marginal("a", of=count() - count()).on(DOMAIN)
    assert decide(block, Requirement(1e-9, 0.999), facts, direct).action == "history"


def test_a_constant_is_never_measured():
    decision = decide((count() + 5).on(DOMAIN), Requirement(30, 0.95), empty(), top_up)
    assert decision.plan is not None
    assert decision.plan.parts[0].query == count().on(DOMAIN)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("policy", [direct, top_up])
@pytest.mark.parametrize("confidence", [0.4, 0.76, 0.95])
@pytest.mark.parametrize("number", [5, in_long(15)])
def test_what_is_bought_meets_the_requirement(measure, policy, confidence, number):
    """Random histories, blocks included: the interval is as narrow as asked."""
    rng = np.random.default_rng(11)
    paid = 0
    for _ in range(number):
        facts = random_facts(rng, measure, limit=50.0)
        asked = random_question(rng, DOMAIN, blocks=0.5).on(DOMAIN)
        within = float(rng.uniform(2, 40))
        decision = decide(asked, Requirement(within, confidence), facts, policy)
        if decision.action == "measure":
            learn(facts, decision)
            paid += 1
        if decision.action != "refuse":
            assert widest(asked, facts, confidence) <= within * (1 + 1e-9)
            again = decide(asked, Requirement(within * (1 + 1e-9), confidence), facts, policy)
            assert again.action == "history"
    assert paid > number * 7 / 15


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("number", [10, in_long(25)])
def test_top_up_is_never_dearer_than_direct(measure, number):
    """Of random histories and questions."""
    rng = np.random.default_rng(12)
    cheaper = 0
    for _ in range(number):
        facts = random_facts(rng, measure, limit=50.0)
        asked = random_question(rng, DOMAIN).on(DOMAIN)
        requirement = Requirement(float(rng.uniform(5, 40)), 0.95)
        prices = [decide(asked, requirement, facts, policy).price for policy in (top_up, direct)]
        assert prices[0] <= prices[1]
        cheaper += prices[0] < prices[1]
    assert cheaper > number * 3 / 25


def test_a_block_is_judged_by_its_widest_cell_not_by_its_largest_variance():
    """A sum of noises may have more variance than one Laplace noise and a narrower interval."""
    facts = empty(limit=100.0)
    one = count(a=0).on(DOMAIN)
    facts.inference.append(Row(one, 0.0, DiscreteLaplace(100 * 2**20, -20)))
    for b in range(3):  # the other cells of the block: sums of three noises
        for a in range(1, 5):
            law = DiscreteLaplace(60 * 2**20, -20)
            facts.inference.append(Row(count(a=a, b=b).on(DOMAIN), 0.0, law))
    block = marginal("a").on(DOMAIN)
    laplace, composed = (
        next(noise for noise in known_errors(query, facts.inference) if noise is not None)
        for query in (one, count(a=1).on(DOMAIN))
    )
    assert composed.variance > laplace.variance
    assert halfwidth(composed, 0.95) < halfwidth(laplace, 0.95)
    between = (halfwidth(composed, 0.95) + halfwidth(laplace, 0.95)) / 2
    offered = halfwidth(laplace, 0.95)
    for within in (between, 0.5 * between):
        decision = decide(block, Requirement(within, 0.95), facts, top_up)
        assert decision.action == "measure"
        assert decision.known == offered
        learn(facts, decision)
        offered = widest(block, facts, 0.95)
        assert widest(block, facts, 0.95) <= within


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("policy", [direct, top_up])
@pytest.mark.parametrize("number", [5, in_long(15)])
def test_advice_after_a_refusal_is_honest(measure, policy, number):
    """The advised width is really available, 5 % narrower is not."""
    rng = np.random.default_rng(13)
    refusals = honest = 0
    while refusals < number:
        facts = random_facts(rng, measure, limit=float(10 ** rng.uniform(-1.5, 0.5)))
        asked = random_question(rng, DOMAIN, blocks=0.3).on(DOMAIN)
        decision = decide(asked, Requirement(1e-3, 0.95), facts, policy)
        if decision.action != "refuse":
            continue
        refusals += 1
        if decision.narrowest is None:  # history is better than what could still be bought
            assert policy is direct
            assert decision.known is not None
            continue
        advised = decide(asked, Requirement(decision.narrowest, 0.95), facts, policy)
        assert advised.action in ("measure", "history")
        narrower = decide(asked, Requirement(0.95 * decision.narrowest, 0.95), facts, policy)
        assert narrower.action == "refuse"
        honest += 1
        if decision.known is not None:
            free = decide(asked, Requirement(decision.known, 0.95), facts, policy)
            assert free.action == "history"
            paid = decide(asked, Requirement(0.95 * decision.known, 0.95), facts, policy)
            assert paid.action != "history"
    assert honest > number * 8 / 15


@pytest.mark.parametrize("asked", [count(a=1), (count(a=1) + count(b=0)) / 3, marginal("a", "b")])
@pytest.mark.parametrize("measure", MEASURES)
def test_an_exhausted_budget_buys_nothing(asked, measure):
    facts = empty(measure)
    for query in (count(), (count() + count(a=2)) / 7):
        plan = part_for(query.on(DOMAIN), 2.0, measure)
        facts.accountant.add(plan.query, plan.law, facts.limit)
    decision = decide(asked.on(DOMAIN), Requirement(10, 0.95), facts, top_up)
    assert facts.accountant.spent == facts.limit
    assert decision.action in ("refuse", "measure")
    over = Facts(facts.inference, facts.accounts, facts.limit - 1)
    refused = decide(asked.on(DOMAIN), Requirement(10, 0.95), over, top_up)
    assert refused.action == "refuse"
    assert refused.narrowest is None


@pytest.mark.parametrize("within", [1e-12, 1e-60, 1e-99])
@pytest.mark.parametrize("measure", MEASURES)
def test_absurd_accuracy_is_refused_with_advice(within, measure):
    for asked in (count(a=1), count(a=1) / 3 + count(b=0), marginal("a")):
        decision = decide(asked.on(DOMAIN), Requirement(within, 0.95), empty(measure), top_up)
        assert decision.action == "refuse"
        assert decision.narrowest is not None


@pytest.mark.parametrize("within", [1e12, 1e60, 1e99])
@pytest.mark.parametrize("measure", MEASURES)
def test_absurd_carelessness_is_nearly_free(within, measure):
    for asked in (count(a=1), count(a=1) / 3 + count(b=0), marginal("a")):
        decision = decide(asked.on(DOMAIN), Requirement(within, 0.95), empty(measure), top_up)
        assert decision.action == "measure"
        assert decision.cost < NANO // 100_000


@pytest.mark.parametrize("number", [3, in_long(6)])
def test_decisions_do_not_depend_on_noisy_values(number):
    """The same questions with other values lead to the same decisions."""
    for seed in range(number):
        decisions = []
        for value in (0.0, 1e6):
            rng = np.random.default_rng(seed)
            facts = empty(limit=0.7)
            for _ in range(8):
                asked = random_question(rng, DOMAIN, blocks=0.3).on(DOMAIN)
                within = float(rng.uniform(5, 200))
                decision = decide(asked, Requirement(within, 0.95), facts, top_up)
                decisions.append((value, decision))
                if decision.action == "measure":
                    learn(facts, decision, value * float(rng.normal()))
        first = [d for value, d in decisions if value == 0.0]
        second = [d for value, d in decisions if value != 0.0]
        assert first == second


# --- no handle on the data -----------------------------------------------------------------------


def reachable(root: object) -> list[object]:
    """Everything that can be reached from an object without going through code or modules."""
    seen: dict[int, object] = {}
    waiting = [root]
    while waiting:
        item = waiting.pop()
        if id(item) in seen or isinstance(item, (type, ModuleType, FunctionType)):
            continue
        seen[id(item)] = item
        waiting.extend(gc.get_referents(item))
    return list(seen.values())


def private(root: object) -> list[object]:
    """The objects among them that come from a package with a handle on data, noise or ledger."""
    forbidden = ("eke.data", "eke.ledger", "eke.mechanism", "eke.engine")
    return [x for x in reachable(root) if type(x).__module__.startswith(forbidden)]


def test_decide_has_no_handle_on_the_data():
    facts = random_facts(np.random.default_rng(1), PURE)
    assert private(facts) == []
    assert list(inspect.signature(planning.decide).parameters) == ["demand", "facts", "policy"]
    # Positive control: a handle hidden deep inside would be found.
    facts.inference.rows.append(Row(Secret([3], 0), 0.0, DiscreteLaplace(1, 0)))  # type: ignore[arg-type]
    assert len(private(facts)) == 1


def test_a_cost_is_the_growth_of_the_largest_loss():
    facts = empty()
    learn(facts, decide(count(a=0).on(DOMAIN), Requirement(30, 0.95), facts, top_up))
    decision = decide(count(a=1).on(DOMAIN), Requirement(30, 0.95), facts, top_up)
    assert decision.cost == 0, "disjoint from what was asked before"
    assert Fraction(decision.price, NANO) > 0
