"""Looks at many groups: all together first, so that history does not fill up with glimpses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import eke
from eke.history import Measurement
from eke.inference import Inference
from eke.planning import AccountsAtHand, Facts, decide, top_up
from eke.planning.online.look import Looks, clearer, first_looks
from eke.planning.online.question_demand import QuestionDemand, checked
from eke.privacy.accountant import Accountant
from eke.privacy.law import DiscreteLaplace
from eke.privacy.pure import PURE
from eke.privacy.record_loss import NANO
from eke.sql import parse
from tests.formula_lab import carried_out
from tests.formula_lab import demanded as lab_demand

DOMAIN = eke.Domain(g=eke.Integer(0, 99), x=eke.Integer(0, 100))


def demanded(text: str, within: float = 1.0) -> QuestionDemand:
    asked = parse(text, DOMAIN)
    each = tuple(None if column.is_key else within for column in asked.columns)
    return checked(QuestionDemand(asked, each, 0.95))


def at_first(limit: float) -> Facts:
    accounts = AccountsAtHand(Accountant(DOMAIN, PURE, "add_remove"))
    return Facts(Inference(DOMAIN), accounts, round(limit * NANO))


def first(text: str, limit: float) -> Looks:
    demand = demanded(text)
    return first_looks(demand, at_first(limit), demand.curved_blocks())


@pytest.mark.parametrize("limit", [0.01, 1.0, 1000.0])
def test_many_groups_are_counted_together_first(limit: float) -> None:
    looks = first("SELECT g, AVG(x) FROM t GROUP BY g", limit)
    (look,) = looks.next
    assert look.query.attributes == ()
    assert look.requirement.within == pytest.approx(
        20**3 * np.log(20.0) / (0.005 * limit), rel=1e-5
    )
    assert looks.least == []


def test_few_groups_are_looked_at_themselves_and_counts_before_sums() -> None:
    (look,) = first("SELECT g, AVG(x) FROM t WHERE g < 5 GROUP BY g", 1.0).next
    assert look.query.attributes == ("g",)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT g, SUM(x - 50) / SUM(x) FROM t GROUP BY g",  # a total may be 0 though no group is
        "SELECT STDDEV(x) FROM t",
        "SELECT CORR(g, x) FROM t",
        "SELECT AVG(x) / (AVG(g) + COUNT(*)) FROM t",
    ],
)
def test_what_needs_more_than_a_glimpse_has_a_coarse_look_at_everything(text: str) -> None:
    looks = first(text, 1.0).next
    assert len(looks) >= 2
    assert min(look.requirement.within for look in looks) < 1e5


def test_faint_looks_end_with_a_coarse_one() -> None:
    width, widths = 8000.0, []
    while width > 0.1:
        widths.append(width)
        width = clearer(0.0, width, 1.0)
    assert widths == pytest.approx([8000.0, 400.0, 20.0, 1.0, 10.0**-0.5])


def test_the_least_that_is_needed_ends_looks_in_vain() -> None:
    """What only a look would show to be in vain is refused as soon as it can be."""
    demand, facts = demanded("SELECT AVG(x) FROM t", 0.001), at_first(1.0)
    facts.inference.extend(
        Measurement(eke.count().on(DOMAIN), DiscreteLaplace(2**20, -20), (1000.0,))
    )
    decision = decide(demand, facts, top_up)
    assert decision.action == "refuse"
    needed = np.log(20.0) * 50 / (0.001 * 1000)
    assert decision.cost / NANO == pytest.approx(needed, rel=0.05)


def test_history_holds_few_answers_a_group(folder) -> None:
    """Before, every fainter look was an answer in each group: ten of them."""
    groups, rows = 20, 1000
    draw = np.random.default_rng(1)
    size = groups * rows
    data = pd.DataFrame({"g": draw.integers(0, groups, size), "x": draw.integers(0, 101, size)})
    domain = eke.Domain(g=eke.Integer(0, groups - 1), x=eke.Integer(0, 100))
    session = eke.create(folder / "t.eke", data, domain, epsilon=10.0)
    answer = session.ask("SELECT g, AVG(x) AS mean FROM t GROUP BY g", within=2)
    assert max((cell.high - cell.low) / 2 for _, cell in answer.rows) <= 2
    assert answer.cost < 3 * 3.0 * 60 / (2 * rows)
    assert sum(len(one.values) for one in session.history) <= 6 * groups + 12


@pytest.mark.parametrize(("groups_of", "most"), [(None, 0.02), (5000, 0.016)])
def test_averages_by_group_take_few_looks_whatever_the_noise(groups_of, most) -> None:
    """Groups of hardly anybody: noise once turned what was measured, step by step, twenty times."""
    demand = lab_demand('SELECT "group", AVG(x) FROM t GROUP BY "group"', 0.5)
    demand = checked(replace(demand, groups_of=groups_of))
    steps, costs = [], []
    for seed in range(6):
        facts, decisions = carried_out(demand, np.random.default_rng(seed))
        assert decisions[-1].action == "history"
        steps.append(len(decisions))
        costs.append(facts.accountant.spent / NANO)
    assert max(steps) <= 10
    assert np.mean(costs) < most
