"""Accuracy as a share of the value: what is looked at first, and what the intervals are worth."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from eke.errors import AccuracyError
from eke.planning import QuestionDemand, checked, decide_relative, top_up
from eke.planning.online import relative
from eke.planning.online.relative import _Aim, _next
from eke.privacy.concentrated import CONCENTRATED
from eke.privacy.measure import Measure
from eke.privacy.pure import PURE
from eke.privacy.record_loss import NANO
from tests.formula_lab import carried_out, demanded, exact, interval
from tests.parts import in_long

COUNT = "SELECT COUNT(*) FROM t WHERE x >= 12"
MEANS = 'SELECT "group", AVG(x) FROM t GROUP BY "group"'


def share_of(text: str, share: float, groups_of: int | None = None) -> QuestionDemand:
    demand = demanded(text, share)
    values = tuple(place for place, one in enumerate(demand.within) if one is not None)
    return checked(replace(demand, relative=values, groups_of=groups_of))


def carried(demand, rng, **settings):
    return carried_out(demand, rng, deciding=decide_relative, **settings)


def found_count(demand, facts) -> tuple[float, float]:
    """The estimate of a count and its half-width."""
    ((value, width),) = known_columns(demand, facts)[0]
    return value, width


def known_columns(demand, facts) -> list[list[relative.Known]]:
    columns = relative._known_columns(demand, facts.inference)
    assert columns is not None
    return columns


@pytest.mark.parametrize("measure", [PURE, CONCENTRATED])
@pytest.mark.parametrize("share", [0.2, 0.02])
def test_the_interval_is_at_most_its_share_of_the_value(measure: Measure, share: float) -> None:
    rng = np.random.default_rng(1)
    demand = share_of(COUNT, share)
    facts, decisions = carried(demand, rng, measure=measure)
    assert decisions[-1].action == "history"
    assert len(decisions) <= 6
    value, width = found_count(demand, facts)
    assert width <= share * value
    # The slow twin is somebody who knows the true value, and asks once.
    absolute = demanded(COUNT, share * exact(demand.question.query(0, 0)))
    known, _ = carried_out(absolute, rng, measure=measure)
    looks = 0.005 * NANO
    assert facts.accountant.spent <= 1.6 * known.accountant.spent + looks


@pytest.mark.parametrize("number", [80, in_long(200)])
def test_the_intervals_hold_although_the_value_decides_when_to_stop(number: int) -> None:
    """Of N = 200 requests 10 should miss, and with twice the noise some 65.

    The noise is Gaussian, whose intervals take no search.
    """

    def misses(stretch: float) -> int:
        rng = np.random.default_rng(2)
        demand = share_of(COUNT, 0.002)
        true, missed = exact(demand.question.query(0, 0)), 0
        for _ in range(number):
            facts, steps = carried(demand, rng, stretch=stretch, measure=CONCENTRATED)
            assert len(steps) > 2, "a look, a purchase and the answer"
            value, width = found_count(demand, facts)
            missed += abs(value - true) > width
        return missed

    most = 0.05 * number + 3.3 * math.sqrt(0.05 * 0.95 * number)
    assert misses(1.0) <= most
    assert misses(2.0) > 1.5 * most, "positive control"


def test_averages_and_several_columns() -> None:
    rng = np.random.default_rng(3)
    demand = share_of(MEANS, 0.02)
    facts, decisions = carried(demand, rng)
    assert decisions[-1].action == "history"
    for row in (0, 1):
        value, low, high = interval(demand, facts, 1, row)
        assert (high - low) / 2 <= 0.02 * abs(value)
    both = share_of("SELECT COUNT(*) AS n, SUM(x) AS s, AVG(x) AS a FROM t", 0.03)
    facts, decisions = carried(both, rng)
    assert decisions[-1].action == "history"
    columns = known_columns(both, facts)
    assert all(width <= 0.03 * abs(value) for rows in columns for value, width in rows)


def test_what_may_be_nothing_is_looked_at_cheaply_and_refused() -> None:
    """Nobody is there: no share of that can be had, and no look takes more than a tenth."""
    rng = np.random.default_rng(4)
    nobody = share_of("SELECT COUNT(*) FROM t WHERE \"group\" = 'a' AND x = 20", 0.02)
    facts, decisions = carried(nobody, rng)
    assert decisions[-1].action == "refuse"
    assert "only to see how large" in decisions[-1].hint
    spent = 0
    for one in decisions[:-1]:
        assert one.cost <= 0.1 * (NANO - spent)
        spent += one.cost
    assert len(decisions) < 12
    # Large groups wait for the look at the small ones: it may show that the rest is in vain.
    table = share_of('SELECT "group", x, COUNT(*) FROM t GROUP BY "group", x', 0.01)
    facts, decisions = carried(table, rng)
    assert decisions[-1].action == "refuse"
    assert facts.accountant.spent < 0.35 * NANO


def test_groups_of_some_size_need_no_more() -> None:
    rng = np.random.default_rng(5)
    table = 'SELECT "group", x, COUNT(*) FROM t GROUP BY "group", x'
    demand = share_of(table, 0.05, groups_of=1000)
    facts, decisions = carried(demand, rng)
    assert decisions[-1].action == "history"
    (rows,) = known_columns(replace(demand, groups_of=None), facts)
    assert all(width <= 0.05 * max(value, 1000) for value, width in rows)
    with pytest.raises(AccuracyError, match="nothing about how large a sum is"):
        share_of("SELECT SUM(x) FROM t", 0.05, groups_of=1000)


def test_decisions_depend_on_the_facts_alone() -> None:
    rng = np.random.default_rng(6)
    demand = share_of(MEANS, 0.05)
    facts, _ = carried(demand, rng, limit=0.01)
    assert decide_relative(demand, facts, top_up) == decide_relative(demand, facts, top_up)


@pytest.mark.parametrize(
    ("value", "width", "expected"),
    [
        (1000.0, 100.0, (19.4, False)),  # clear: what is asked for
        (100.0, 90.0, (30.0, True)),  # hardly to be told from 0: a third as wide
        (1000.0, 50.0, (19.4, False)),
        (0.0, 60.0, (20.0, True)),
        (float("nan"), float("inf"), (0.0, False)),  # left to what is known of formulas
        (30.0, float("inf"), (0.582, False)),
    ],
)
def test_what_is_next_for_one_value(value, width, expected) -> None:
    within, is_look = _next(0.02, value, width)
    assert within == pytest.approx(expected[0])
    assert is_look == expected[1]


def test_looks_come_before_purchases() -> None:
    demand = share_of(COUNT, 0.02)
    aim = _Aim.of(demand, 0, [(1000.0, 40.0), (5.0, 60.0)])
    assert (aim.within, aim.is_look, aim.is_met) == (20.0, True, False)
    assert _Aim.of(demand, 0, [(1000.0, 20.0 * (1 - 1e-6)), (0.0, 0.0)]).is_met
    assert not _Aim.of(demand, 0, [(1000.0, 20.1)]).is_met
