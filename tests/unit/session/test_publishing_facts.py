"""Published rows keep to public facts; what no rows can hold is refused, and costs nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import eke
from eke.errors import FactError

DOMAIN = eke.Domain(
    month=eke.Integer(1, 4, null=eke.Replace(1)),
    half=eke.Integer(1, 2, null=eke.Replace(1)),
    member=eke.Categorical("no", "yes", null="bucket", outside=eke.Replace("no")),
)
LAW = eke.Fact.dependency("month", "half", {1: 1, 2: 1, (3, 4): 2}, source="The calendar")
NOBODY = eke.Fact(eke.count(month=4, member=None), 0, source="By law")


def table(rows: int = 300) -> pd.DataFrame:
    draw = np.random.default_rng(3)
    month = draw.integers(1, 5, rows)
    member = np.where(draw.random(rows) < 0.3, "yes", "no").astype(object)
    member[(draw.random(rows) < 0.1) & (month != 4)] = None
    return pd.DataFrame({"month": month, "half": (month + 1) // 2, "member": member})


@pytest.fixture
def made(new: Callable[..., eke.Session]) -> Callable[..., eke.Session]:
    def create(**settings: Any) -> eke.Session:
        return new(**{"data": table(), "domain": DOMAIN, "epsilon": 20.0, **settings})

    return create


def check(rows: eke.publish.Published) -> None:
    frame = rows.to_pandas()
    assert (frame["half"] == (frame["month"] + 1) // 2).all()
    assert not ((frame["month"] == 4) & frame["member"].isna()).any()


@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
def test_all_rows_keep_to_facts_whatever_publishes_them(made, neighbours):
    """With ε = 0.6 noise alone would break them; the control is without facts."""
    session = made(neighbours=neighbours)
    without = session.publish("max_entropy", epsilon=0.6).to_pandas()
    assert (without["half"] != (without["month"] + 1) // 2).any()
    yes = int((table()["member"] == "yes").sum())
    session.add_fact(LAW)
    session.add_fact(NOBODY)
    session.add_fact(eke.Fact(eke.count(member="yes"), yes, source="Yearbook"))
    session.add_fact(eke.Fact(eke.total("month"), int(table()["month"].sum()), source="Yearbook"))
    rows = session.publish("max_entropy", epsilon=0.6)
    check(rows)
    assert (rows.to_pandas()["member"] == "yes").sum() == yes
    assert rows.to_pandas()["month"].sum() == table()["month"].sum()
    free = session.publish("max_entropy", from_history=True)
    check(free)
    assert free.to_pandas()["month"].sum() == table()["month"].sum()
    lda = session.publish("lda", target="half", attributes=["month", "member"], epsilon=3.0)
    check(lda)
    assert (lda.to_pandas()["member"] == "yes").sum() == yes
    if neighbours == "replace_one":
        check(session.publish("pca", epsilon=3.0))
        assert len(rows) == len(lda) == 300


def test_a_public_number_of_records_is_the_number_of_rows(made):
    session = made()
    session.add_fact(eke.Fact(eke.marginal("half"), [140, 160], source="Yearbook"))
    rows = session.publish("max_entropy", epsilon=0.1)
    assert np.bincount(rows.codes[:, 1]).tolist() == [140, 160]
    some = session.publish("max_entropy", epsilon=0.1, rows=30, attributes=["month", "half"])
    assert np.bincount(some.codes[:, 1]).tolist() == [14, 16]


@pytest.mark.parametrize(
    ("facts", "options", "said"),
    [
        (
            [eke.Fact(eke.count(half=1), 10, "A"), eke.Fact(eke.count(half=1, month=2), 20, "B")],
            {},
            "count where half = 1; count where month = 2 and half = 1. Nothing was charged",
        ),
        ([LAW, eke.Fact(eke.count(month=1, half=2), 3, "C")], {}, "Nothing was charged"),
        (
            [eke.Fact(eke.marginal("half"), [140, 161], "D")],
            {"rows": 30},
            "whole rows cannot have. Nothing was charged",
        ),
        ([eke.Fact(eke.count(half=1), 10, "A")], {"rows": 30}, "register the number of records"),
    ],
)
def test_what_no_rows_can_hold_costs_nothing(made, facts, options, said):
    session = made()
    for fact in facts:
        try:
            session.add_fact(fact)
        except FactError:  # equations are told from each other when they are registered
            assert session.budget.spent == 0
            return
    with pytest.raises(FactError) as refused:
        session.publish("max_entropy", epsilon=1.0, **options)
    assert said in str(refused.value)
    assert session.budget.spent == 0
    assert not session.history


def test_a_key_gives_the_same_rows_whatever_is_registered_afterwards(made):
    session = made()
    session.add_fact(LAW)
    rows = session.publish("max_entropy", epsilon=1.0, key="k")
    session.add_fact(eke.Fact(eke.count(half=1), 10, source="A"))
    session.add_fact(eke.Fact(eke.count(half=1, member="yes"), 20, source="B"))
    with pytest.raises(FactError):
        session.publish("max_entropy", epsilon=1.0, key="other")
    again = session.publish("max_entropy", epsilon=1.0, key="k")
    assert (again.codes == rows.codes).all()


def test_facts_that_come_before_the_charge_are_kept_to(made):
    """Registered while the table is being opened; the control comes after the charge."""
    for step, half in (("paying", 100), ("making rows", None)):
        session, waiting = made(), [eke.Fact(eke.count(half=1), 100, source="A")]

        def tell(at: str, share: float) -> None:
            del share
            if at == step and waiting:  # noqa: B023 - used at once
                session.add_fact(waiting.pop())  # noqa: B023

        rows = session.publish("max_entropy", epsilon=1.0, key="k", progress=tell)
        assert not waiting
        assert ((rows.codes[:, 1] == 0).sum() == 100) == (half == 100)
        again = session.publish("max_entropy", epsilon=1.0, key="k")
        assert (again.codes == rows.codes).all()
        assert session.budget.spent == pytest.approx(1.0)


def test_facts_that_no_rows_can_hold_come_before_the_charge_and_cost_nothing(made):
    session = made()
    waiting = [eke.Fact(eke.count(half=1), 10, "A"), eke.Fact(eke.count(half=1, month=2), 20, "B")]

    def tell(at: str, share: float) -> None:
        del share
        while at == "paying" and waiting:
            session.add_fact(waiting.pop())

    with pytest.raises(FactError, match="Nothing was charged"):
        session.publish("max_entropy", epsilon=1.0, key="k", progress=tell)
    assert session.budget.spent == 0


def test_a_dependency_says_what_it_means(made):
    session = made()
    session.add_fact(LAW)
    for month, half in ((1, 2), (2, 2), (3, 1), (4, 1)):
        assert session.ask(eke.count(month=month, half=half), within=1).interval == (0.0, 0.0)
    assert session.budget.spent == 0
    for wrong in ({}, {1: 1, (1, 2): 1}, {9: 1}, {1: 9}):
        with pytest.raises(eke.EkeError):
            session.add_fact(eke.Fact.dependency("month", "half", wrong, source="A"))
    with pytest.raises(eke.EkeError):
        session.add_fact(eke.Fact.dependency("month", "month", {1: 1}, source="A"))
