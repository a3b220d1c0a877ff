"""Looks at how many records averages have: how close they are, and what they are made for."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import eke
from eke.history import Measurement
from eke.inference import Inference
from eke.planning import AccountsAtHand, Decision, Facts, QuestionDemand, checked, decide, top_up
from eke.planning.online.average_looks import foreseen
from eke.planning.online.averages import accurate, averages_of
from eke.privacy.accountant import Accountant
from eke.privacy.concentrated import CONCENTRATED
from eke.privacy.law import DiscreteLaplace
from eke.privacy.measure import Measure
from eke.privacy.pure import PURE
from eke.privacy.record_loss import NANO
from eke.sql import parse
from tests.formula_lab import carried_out
from tests.formula_lab import demanded as lab_demand
from tests.parts import in_long

DOMAIN = eke.Domain(g=eke.Integer(0, 9), x=eke.Integer(100, 200))


def demanded(text: str, within: float = 1.0) -> QuestionDemand:
    asked = parse(text, DOMAIN)
    each = tuple(None if column.is_key else within for column in asked.columns)
    return checked(QuestionDemand(asked, each, 0.95))


def at_first(limit: float = 1.0, measure: Measure = PURE) -> Facts:
    accounts = AccountsAtHand(Accountant(DOMAIN, measure, "add_remove"))
    return Facts(Inference(DOMAIN), accounts, round(limit * NANO))


def first(text: str, within: float, limit: float) -> Decision:
    return decide(demanded(text, within), at_first(limit), top_up)


@pytest.mark.parametrize("condition", ["", " WHERE g = 3", " WHERE x > 150"])
def test_averages_lie_between_the_values_of_the_records_that_count(condition: str) -> None:
    """All others add 0 to the sum, which is far outside."""
    (one,) = averages_of(demanded(f"SELECT AVG(x) FROM t{condition}"))
    low = 151 if "x" in condition else 100
    assert one.middle == Fraction(low + 200, 2)
    assert one.reach == (200 - low) / 2


def test_what_is_a_number_times_an_average_is_one() -> None:
    averages = averages_of(demanded("SELECT 50 - 2 * AVG(x), SUM(x) / COUNT(*) FROM t"))
    assert [one.within for one in averages] == [0.5, 1.0]


@pytest.mark.parametrize(
    "text",
    [
        "SELECT SUM(x * x) / SUM(x) FROM t",
        "SELECT STDDEV(x) FROM t",
        "SELECT AVG(x) / (AVG(g) + COUNT(*)) FROM t",
        "SELECT AVG(x) AS a, STDDEV(x) AS b FROM t",
        "SELECT g, COUNT(*) * 1.0 / SUM(COUNT(*)) OVER () FROM t GROUP BY g",
        "SELECT g, AVG(x) FROM t GROUP BY ROLLUP(g)",
        "SELECT g, AVG(x) - LAG(AVG(x)) OVER (ORDER BY g) AS d FROM t GROUP BY g",
        "SELECT AVG(x * 0 + 5) FROM t",
    ],
)
def test_what_is_no_average_has_a_coarse_look_at_everything(text: str) -> None:
    demand, facts = demanded(text), at_first()
    assert averages_of(demand) == []
    assert foreseen(demand, facts, top_up) is None
    assert decide(demand, facts, top_up).cost >= 0.004 * NANO


@pytest.mark.parametrize("limit", [1.0, 10.0, 1000.0])
def test_the_first_look_follows_the_question_and_not_the_limit(limit: float) -> None:
    decision = first("SELECT AVG(x) FROM t", 1.0, limit)
    assert decision.action == "measure"
    assert decision.cost < 2e-4 * NANO
    assert decision.plan is not None
    assert len(decision.plan.parts) == 2, "the number of records and the centred sum"


def test_the_first_look_is_never_closer_than_a_coarse_one() -> None:
    assert first("SELECT AVG(x) FROM t", 1e-6, 1.0).cost <= 0.0101 * NANO


@pytest.mark.parametrize("measure", [PURE, CONCENTRATED])
@pytest.mark.parametrize("off", [0.0, 5.0, 30.0, 50.0])
def test_the_accuracies_of_sum_and_number_cost_about_the_least(
    measure: Measure, off: float
) -> None:
    """The slow twin tries a thousand ways to share the error out; see docs/proofs/formulas.md."""
    demand, facts = demanded("SELECT AVG(x) FROM t", 1.0), at_first(1.0, measure)
    averages = averages_of(demand)
    size = np.array([1e4])
    total, number = accurate(
        demand,
        averages,
        {averages[0].records: size},
        facts,
        off={averages[0].total: np.array([off])},
    )
    a, b = total.requirement.within, number.requirement.within
    room = 0.97 * 1e4 * (1.0 - (b / 1e4) ** 2)
    assert math.hypot(a, off * b) == pytest.approx(room, rel=1e-9)
    loss = measure.loss(50.0, a) + measure.loss(1.0, b)
    shares = np.linspace(0.001, 0.999, 1000)
    fewest = min(
        measure.loss(50.0, 0.97e4 * math.sqrt(1.0 - share**2))
        + measure.loss(1.0, min(0.2e4, 0.97e4 * share / max(off, 1e-9)))
        for share in shares
    )
    assert loss <= 1.1 * fewest


def known(value: float, width: float) -> Facts:
    """The facts when the number of records was looked at."""
    facts = at_first(1.0)
    steps = round(width / math.log(20.0) * 2**20)
    law = DiscreteLaplace(steps, -20)
    facts.inference.extend(Measurement(eke.count().on(DOMAIN), law, (value,)))
    return facts


def test_what_costs_too_much_however_many_records_there_are_is_refused_before_a_look() -> None:
    decision = decide(demanded("SELECT AVG(x) FROM t", 0.001), known(500.0, 1000.0), top_up)
    assert decision.action == "refuse"
    assert decision.narrowest is not None
    wider = demanded("SELECT AVG(x) FROM t", 1.01 * decision.narrowest)
    assert decide(wider, known(500.0, 1000.0), top_up).action == "measure"


def test_a_look_that_is_too_dear_is_made_fainter_or_refused() -> None:
    """Nobody may be there: then looks come to an end, and no error does."""
    for value, width in [(0.0, 1000.0), (50.0, 200.0), (2.0, 30.0), (-20.0, 30.0), (1.0, 4.0)]:
        decision = decide(demanded("SELECT AVG(x) FROM t", 20.0), known(value, width), top_up)
        assert decision.action in {"measure", "refuse"}
        if decision.action == "measure":
            assert decision.cost <= 0.1 * NANO or value > 2.5 * width


@pytest.mark.parametrize("runs", [8, in_long(40)])
def test_averages_take_few_steps_whatever_the_noise(runs: int) -> None:
    """A group is ten times as large as the other."""
    demand = lab_demand('SELECT "group", AVG(x) FROM t GROUP BY "group"', 0.5)
    steps, costs = [], []
    for seed in range(runs):
        facts, decisions = carried_out(demand, np.random.default_rng(seed), limit=100.0)
        assert decisions[-1].action == "history"
        steps.append(len(decisions) - 1)
        costs.append(facts.accountant.spent / NANO)
    assert np.mean(steps) <= 4.0
    assert max(steps) <= 8
    # Somebody who knows everything pays about ln 20 · 13 / (0.5 · 9,000) = 0.0087.
    assert np.median(costs) <= 0.0175


def test_averages_that_some_groups_cannot_have_are_found_beside_others() -> None:
    text = (
        'SELECT "group", AVG(x) AS every, AVG(x) FILTER (WHERE "group" = \'a\') AS some '
        'FROM t GROUP BY "group"'
    )
    demand = lab_demand(text, 0.5)
    assert len(averages_of(demand)) == 2
    _, decisions = carried_out(demand, np.random.default_rng(1), limit=10.0)
    assert decisions[-1].action == "history"
