"""Looks at many groups: all together first, so that history does not fill up with glimpses."""

from __future__ import annotations

import numpy as np
import pytest

import eke
from eke.inference import Inference
from eke.planning import AccountsAtHand, Facts
from eke.planning.online.look import first_look
from eke.planning.online.question_demand import QuestionDemand, checked
from eke.privacy.accountant import Accountant
from eke.privacy.pure import PURE
from eke.privacy.record_loss import NANO
from eke.sql import parse

DOMAIN = eke.Domain(g=eke.Integer(0, 99), x=eke.Integer(0, 100))


def demanded(text: str, within: float = 1.0) -> QuestionDemand:
    asked = parse(text, DOMAIN)
    each = tuple(None if column.is_key else within for column in asked.columns)
    return checked(QuestionDemand(asked, each, 0.95))


def at_first(limit: float) -> Facts:
    accounts = AccountsAtHand(Accountant(DOMAIN, PURE, "add_remove"))
    return Facts(Inference(DOMAIN), accounts, round(limit * NANO))


@pytest.mark.parametrize("limit", [0.01, 1.0, 1000.0])
def test_many_groups_are_counted_together_first(limit: float) -> None:
    demand = demanded("SELECT g, AVG(x) FROM t GROUP BY g")
    (look,) = first_look(demand, at_first(limit), demand.curved_blocks())
    assert look.query.attributes == ()
    assert look.requirement.within == pytest.approx(1e5 * np.log(20.0) / limit, rel=1e-4)


def test_few_groups_are_looked_at_themselves() -> None:
    demand = demanded("SELECT g, AVG(x) FROM t WHERE g < 5 GROUP BY g")
    looks = first_look(demand, at_first(1.0), demand.curved_blocks())
    assert all("g" in look.query.attributes for look in looks)


def test_sums_without_a_number_of_records_have_a_coarse_look() -> None:
    """Where a total may be 0 though no group is, it says nothing about their sizes."""
    demand = demanded("SELECT g, SUM(x - 50) / SUM(x) FROM t GROUP BY g")
    looks = first_look(demand, at_first(1.0), demand.curved_blocks())
    assert all("g" in look.query.attributes for look in looks)
    assert min(look.requirement.within for look in looks) < 1e5


@pytest.mark.parametrize(("groups", "rows", "most"), [(40, 1000, 6), (12, 20_000, 6)])
def test_history_holds_few_answers_a_group(folder, groups: int, rows: int, most: int) -> None:
    """Before, every fainter look was an answer in each group: ten of them."""
    import pandas as pd  # noqa: PLC0415 - for the table alone

    draw = np.random.default_rng(1)
    size = groups * rows
    data = pd.DataFrame({"g": draw.integers(0, groups, size), "x": draw.integers(0, 101, size)})
    domain = eke.Domain(g=eke.Integer(0, groups - 1), x=eke.Integer(0, 100))
    session = eke.create(folder / "t.eke", data, domain, epsilon=10.0)
    answer = session.ask("SELECT g, AVG(x) AS mean FROM t GROUP BY g", within=2)
    assert max((cell.high - cell.low) / 2 for _, cell in answer.rows) <= 2
    assert answer.cost < 4 * 3.0 * 60 / (2 * rows)
    assert sum(len(one.values) for one in session.history) <= most * groups + 12
