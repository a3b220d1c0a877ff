"""Offers: what a block would do for questions, checked against inference itself."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from eke.domain import Domain, Integer
from eke.inference import Inference
from eke.planning import AccountsAtHand, Decision, Demand, Facts, Requirement, part_for, top_up
from eke.planning.look_ahead.look_ahead import RESERVE, look_ahead
from eke.planning.look_ahead.offer import Offer, offers
from eke.planning.look_ahead.prospect import Prospect, prospect_of
from eke.planning.online.rent import released_as_zeros
from eke.privacy.accountant import Accountant
from eke.privacy.concentrated import CONCENTRATED
from eke.privacy.measure import Measure
from eke.privacy.pure import PURE
from eke.privacy.record_loss import NANO
from eke.query import Kronecker, Query, Term
from tests.deciding import decide

LONG = Domain(a=Integer(0, 39), b=Integer(0, 2))
MEASURES: tuple[Measure, ...] = (PURE, CONCENTRATED)


def a_range(low: int, high: int, b: int | None = None) -> Query:
    vector = np.zeros(40, np.int64)
    vector[low : high + 1] = 1
    factors = [("a", vector)]
    if b is not None:
        factors.append(("b", np.array([b == i for i in range(3)], np.int64)))
    return Query.of(LONG, [Term(Fraction(1), tuple(factors))])


def prospects(queries: list[Query], accountant: Accountant) -> list[Prospect]:
    found = []
    for query in queries:
        demand = Demand(query, Requirement(30, 0.95))
        rent = part_for(query, 10.0, accountant.measure)
        one = prospect_of(demand, rent, accountant)
        assert one is not None
        found.append(one)
    return found


def offered(queries: list[Query], measure: Measure) -> dict[str, Offer]:
    accountant = Accountant(LONG, measure, "add_remove")
    inside = prospects(queries, accountant)
    found = offers(("a", "b"), inside, accountant, LONG, now=1, rows=0)
    return {one.kind: one for one in found}


def by_tens(rng: np.random.Generator, number: int) -> list[Query]:
    lows = rng.integers(0, 4, number)
    return [a_range(10 * i, 10 * int(rng.integers(i, 4)) + 9, int(rng.integers(3))) for i in lows]


@pytest.mark.parametrize("measure", MEASURES)
def test_factors_are_the_variances_that_inference_finds(measure):
    """The slow twin: the block is taken in as if measured, and every question is estimated."""
    rng = np.random.default_rng(1)
    asked = [*by_tens(rng, 8), a_range(0, 29), a_range(10, 39)]
    found = offered(asked, measure)
    assert set(found) == {"table", "groups", "strategy"}
    for offer in found.values():
        part = offer.part(50.0)
        inference = Inference(LONG)
        inference.extend(released_as_zeros(part))
        for place, query in enumerate(asked):
            known = inference.linear(query)
            assert known is not None
            expected = offer.factors[place] * part.law.variance
            assert known[1].variance == pytest.approx(expected, rel=1e-6)
        price = Accountant(LONG, measure, "add_remove").price(part.query, part.law)
        assert price == pytest.approx(offer.price(part.law.variance), rel=1e-6)


def test_a_question_that_the_groups_do_not_tell_apart_is_not_determined():
    found = offered(by_tens(np.random.default_rng(1), 10), PURE)
    block = found["groups"].block
    assert isinstance(block, Kronecker)
    assert block.matrices[0].shape[0] <= 4
    inference = Inference(LONG)
    inference.extend(released_as_zeros(found["groups"].part(50.0)))
    assert inference.linear(a_range(5, 12)) is None


def test_groups_are_offered_only_when_questions_have_them_in_common():
    rng = np.random.default_rng(2)
    ends = [sorted(rng.integers(0, 40, 2).tolist()) for _ in range(12)]
    scattered = [a_range(low, high, place % 3) for place, (low, high) in enumerate(ends)]
    assert "groups" not in offered(scattered, PURE)
    assert "groups" not in offered(by_tens(rng, 4), PURE)  # too few to tell
    assert offered(by_tens(rng, 20), PURE)["groups"].chance > 0.8


def test_strategies_are_cheaper_for_long_ranges_and_cells_for_short_ones():
    long = [a_range(i, i + 25) for i in range(10)]
    short = [a_range(i, i) for i in range(10)]
    found = offered(long, CONCENTRATED)
    own = {kind: found[kind].variance_for(0, 0.0) for kind in ("table", "strategy")}
    assert found["strategy"].price(own["strategy"]) < 0.5 * found["table"].price(own["table"])
    assert "strategy" not in offered(short, CONCENTRATED)


@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.999])
def test_the_quick_variance_is_near_the_exact_one(confidence):
    accountant = Accountant(LONG, PURE, "add_remove")
    rng = np.random.default_rng(4)
    for query in [*by_tens(rng, 5), a_range(3, 3), a_range(0, 38)]:
        demand = Demand(query, Requirement(30, confidence))
        one = prospect_of(demand, part_for(query, 10.0, PURE), accountant)
        assert one is not None
        exact = one.needed_variance(120, PURE)
        assert 0.7 * exact < one.likely_variance(120, PURE) < 1.1 * exact
        assert one.safe_variance(PURE) < 1.1 * exact


# -- bought ----------------------------------------------------------------------------------------


def empty(measure: Measure, limit: float = 1e3) -> Facts:
    accountant = Accountant(LONG, measure, "add_remove")
    return Facts(Inference(LONG), AccountsAtHand(accountant), math.floor(limit * NANO))


def take_in(facts: Facts, decision: Decision) -> None:
    plan = decision.plan
    assert plan is not None
    after = facts.accountant.spent + decision.cost
    for part in plan.parts:
        facts.accountant.add(part.query, part.law, after)
        facts.inference.extend(released_as_zeros(part))
    facts.past.learn(plan)


def played(queries: list[Query], measure: Measure, policy=look_ahead) -> Facts:
    facts = empty(measure)
    for query in queries:
        decision = decide(query, Requirement(30, 0.95), facts, policy)
        if decision.plan is not None:
            take_in(facts, decision)
        if policy is look_ahead:
            rents = facts.past.rent_loss(facts.accountant)
            assert facts.accountant.spent <= (1.0 + RESERVE) * rents * (1 + 1e-6)
    return facts


def long_ranges(number: int) -> list[Query]:
    rng = np.random.default_rng(6)
    ends = [sorted(rng.integers(0, 40, 2).tolist()) for _ in range(number)]
    return [a_range(low, high) for low, high in ends]


def test_a_wavelet_is_bought_for_ranges_and_the_bound_holds():
    """N = 80 random ranges under zCDP; the loss is checked after each of them."""
    facts = played(long_ranges(80), CONCENTRATED)
    assert any(isinstance(part.query, Kronecker) for part in facts.past.bought)
    greedy = played(long_ranges(80), CONCENTRATED, top_up)
    assert facts.accountant.spent < greedy.accountant.spent


def test_groups_are_bought_when_analysts_ask_by_tens():
    """N = 60 questions; a table of all cells would be dearer."""
    facts = played(by_tens(np.random.default_rng(3), 60), PURE)
    bought = [part.query for part in facts.past.bought]
    assert any(isinstance(block, Kronecker) and block.cells <= 12 for block in bought)
    greedy = played(by_tens(np.random.default_rng(3), 60), PURE, top_up)
    assert facts.accountant.spent <= greedy.accountant.spent
