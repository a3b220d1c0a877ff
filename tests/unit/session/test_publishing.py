"""session.publish: rows in the schema, the same for the same key, and bad input costs nothing."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import eke
from eke.errors import BudgetExceeded, EkeError, KeyConflict
from eke.publish import greedy

KEPT = {"null": eke.Replace("no"), "outside": eke.Replace("no")}
DOMAIN = eke.Domain(
    age=eke.Integer(20, 80, null=eke.Replace(20)),
    hours=eke.Binned(range(0, 81, 10), null=eke.Replace(0)),
    member=eke.Categorical("no", "yes", **KEPT),
    tier=eke.Categorical("no", "low", "high", **KEPT),
    flat=eke.Categorical("no", **KEPT),
)
USED = ["age", "hours", "member", "tier"]


def people(rows: int = 3000) -> pd.DataFrame:
    draw = np.random.default_rng(7)
    age = draw.integers(20, 81, rows)
    member = age + draw.normal(0, 8, rows) > 50
    return pd.DataFrame(
        {
            "age": age,
            "hours": np.clip(75 - age * 0.6 + draw.normal(0, 8, rows), 0, 80),
            "member": np.where(member, "yes", "no"),
            "tier": np.array(["no", "low", "high"])[np.clip(age // 30, 0, 2)],
            "flat": "no",
        }
    )


@pytest.fixture
def made(new: Callable[..., eke.Session]) -> Callable[..., eke.Session]:
    def create(**settings: Any) -> eke.Session:
        options = {"data": people(), "domain": DOMAIN, "neighbours": "replace_one", **settings}
        if "rho" not in options:
            options.setdefault("epsilon", 10.0)
        return new(**options)

    return create


@pytest.mark.parametrize("budget", [{"epsilon": 4.0}, {"rho": 1.0}], ids=["epsilon", "rho"])
@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
def test_lda_rows_have_the_schema_and_follow_the_table(made, budget, neighbours):
    session = made(neighbours=neighbours, **{name: 2 * v for name, v in budget.items()})
    rows = session.publish("lda", target="member", attributes=USED, **budget)
    (amount,) = budget.values()
    assert session.budget.spent == pytest.approx(rows.cost)
    assert 0.999 * amount < rows.cost <= amount
    frame = rows.to_pandas()
    assert list(frame.columns) == USED
    assert set(frame["member"]) <= {"no", "yes"}
    assert frame["age"].between(20, 80).all()
    if neighbours == "replace_one":
        assert len(frame) == 3000
    else:
        assert abs(len(frame) - 3000) < 150
    real = people()
    for label in ("no", "yes"):
        published = frame.loc[frame["member"] == label, "age"].mean()
        assert published == pytest.approx(real.loc[real["member"] == label, "age"].mean(), abs=4)


@pytest.mark.parametrize("budget", [{"epsilon": 4.0}, {"rho": 1.0}], ids=["epsilon", "rho"])
def test_pca_rows_are_one_for_each_in_order(made, budget):
    session = made(**{name: 100 * v for name, v in budget.items()})
    (amount,) = budget.values()
    much = {name: 50 * v for name, v in budget.items()}
    rows = session.publish("pca", components=2, attributes=USED, **much)
    assert rows.cost <= 50 * amount
    assert len(rows) == 3000
    frame = rows.to_pandas()
    assert np.corrcoef(frame["age"], people()["age"])[0, 1] > 0.7
    assert rows.receipt["components"] == 2
    auto = session.publish("pca", attributes=USED, **budget)
    assert 1 <= auto.receipt["components"] <= 7
    assert session.budget.spent == pytest.approx(rows.cost + auto.cost, rel=1e-6)


def test_what_was_measured_is_in_history_and_answers_for_free(made):
    session = made()
    session.publish("lda", target="member", attributes=USED, epsilon=5.0)
    assert len(session.history) == 1 + 3 + 3 + 2
    before = session.budget.spent
    answer = session.ask(eke.marginal("member", "tier"), within=60)
    assert answer.free
    assert session.budget.spent == before


@pytest.mark.parametrize(
    ("mechanism", "options"),
    [("lda", {"target": "member"}), ("pca", {"components": 1})],
)
def test_the_same_key_gets_the_same_rows(made, mechanism, options):
    session = made()
    call = {"attributes": USED, "epsilon": 1.0, "key": "k", **options}
    first = session.publish(mechanism, **call)
    spent, entries = session.budget.spent, len(session.ledger_entries())
    again = session.publish(mechanism, **call)
    assert (again.codes == first.codes).all()
    assert again.receipt == first.receipt
    assert (session.budget.spent, len(session.ledger_entries())) == (spent, entries)
    with pytest.raises(KeyConflict):
        session.publish(mechanism, **{**call, "epsilon": 0.5})
    other = session.publish(mechanism, **{**call, "key": "other"})
    assert (other.codes != first.codes).any() if len(other) == len(first) else True
    assert session.verify().intact


def test_a_failing_sampler_loses_nothing_that_was_paid(made, monkeypatch):
    """The measurements are stored before rows are made; the same key makes the rows."""
    session = made()
    call = {"target": "member", "attributes": USED, "epsilon": 1.0, "key": "k"}
    monkeypatch.setattr("eke.publish.lda.sample_greedily", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        session.publish("lda", **call)
    spent = session.budget.spent
    assert len(session.history) == 9
    monkeypatch.setattr("eke.publish.lda.sample_greedily", greedy.sample_greedily)
    assert len(session.publish("lda", **call)) == 3000
    assert session.budget.spent == spent


def test_a_later_publication_profits_from_an_earlier_one(made):
    session = made(epsilon=40.0)
    call = {"target": "member", "attributes": USED, "epsilon": 2.0}
    first = session.publish("lda", **call)
    sizes = [session.publish("lda", **call).receipt["class_sizes"] for _ in range(6)]
    true = people()["member"].value_counts()
    error = abs(sizes[-1][1] - true["yes"])
    assert error < 60
    assert first.cost == pytest.approx(session.budget.spent / 7, rel=1e-3)


@pytest.mark.parametrize("split", ["expected_error", "paper"])
@pytest.mark.parametrize("distance", ["squared", "absolute"])
def test_the_papers_choices_are_there(made, split, distance):
    session = made()
    rows = session.publish(
        "lda", target="tier", attributes=USED, epsilon=2.0, split=split, distance=distance
    )
    assert len(rows) == 3000
    plain = session.publish("pca", attributes=USED, epsilon=2.0, split=split, recovery="shrunk")
    assert len(plain) == 3000
    json.dumps([dict(rows.receipt), dict(plain.receipt)], allow_nan=False)


BAD: dict[str, tuple[str, dict[str, Any], str]] = {
    "one class": ("lda", {"target": "flat", "attributes": USED}, "two to"),
    "no target": ("lda", {"attributes": USED}, "target="),
    "target not in domain": ("lda", {"target": "income"}, "not in the domain"),
    "constant column": ("lda", {"target": "member"}, "'flat' has one declared value"),
    "constant column, pca": ("pca", {}, "'flat' has one declared value"),
    "only the target": ("lda", {"target": "member", "attributes": ["member"]}, "no attribute"),
    "k > p": ("pca", {"attributes": USED, "components": 8}, "from 1 to 7"),
    "k = 0": ("pca", {"attributes": USED, "components": 0}, "from 1 to 7"),
    "k not whole": ("pca", {"attributes": USED, "components": 1.5}, "whole number"),
    "k is a truth": ("pca", {"attributes": USED, "components": True}, "whole number"),
    "unknown attribute": ("pca", {"attributes": ["age", "height"]}, "height"),
    "attributes a text": ("pca", {"attributes": "age"}, "list of names"),
    "unknown option": ("pca", {"target": "member"}, "no option 'target'"),
    "unknown split": ("pca", {"attributes": USED, "split": "thirds"}, "split must"),
    "unknown recovery": ("pca", {"attributes": USED, "recovery": "magic"}, "recovery must"),
    "unknown distance": (
        "lda",
        {"target": "member", "attributes": USED, "distance": 3},
        "distance",
    ),
    "unknown mechanism": ("ica", {}, "there are"),
    "option of an odd kind": ("pca", {"attributes": USED, "components": object()}, "whole number"),
}


@pytest.mark.parametrize(("mechanism", "options", "message"), BAD.values(), ids=BAD)
def test_bad_input_is_refused_and_costs_nothing(made, mechanism, options, message):
    session = made()
    entries = session.ledger_entries()
    with pytest.raises(EkeError, match=message):
        session.publish(mechanism, epsilon=1.0, key="k", **options)
    assert session.ledger_entries() == entries


@pytest.mark.parametrize("amount", [math.nan, math.inf, 0, -1, "1", None, True, 1e-12])
@pytest.mark.parametrize("mechanism", ["pca", "lda"])
def test_bad_budgets_cost_nothing(made, mechanism, amount):
    session = made()
    options = {"attributes": USED} | ({"target": "member"} if mechanism == "lda" else {})
    with pytest.raises(EkeError):
        session.publish(mechanism, epsilon=amount, **options)
    with pytest.raises(EkeError, match="epsilon="):
        session.publish(mechanism, rho=1.0, **options)
    assert len(session.ledger_entries()) == 1


def test_more_than_is_left_is_refused(made):
    session = made(epsilon=1.0)
    for mechanism, options in (("pca", {}), ("lda", {"target": "member"})):
        with pytest.raises(BudgetExceeded):
            session.publish(mechanism, attributes=USED, epsilon=1.5, **options)
    assert len(session.ledger_entries()) == 1


@pytest.mark.parametrize("rows", [0, 1, 5])
@pytest.mark.parametrize("mechanism", ["pca", "lda"])
def test_tiny_tables_are_refused_where_their_size_is_public(made, mechanism, rows):
    session = made(data=people(rows))
    options = {"attributes": USED} | ({"target": "member"} if mechanism == "lda" else {})
    with pytest.raises(EkeError, match=f"the table has {rows} rows"):
        session.publish(mechanism, epsilon=1.0, **options)
    assert len(session.ledger_entries()) == 1


@pytest.mark.parametrize("rows", [0, 3])
def test_tiny_tables_whose_size_is_private_give_few_rows(made, rows):
    """Refusing would tell their size; the noise decides how many rows come out."""
    session = made(data=people(rows), neighbours="add_remove")
    published = session.publish("lda", target="member", attributes=USED, epsilon=1.0)
    assert len(published) < 500


def test_values_outside_the_domain_are_rows_like_others(made):
    odd = people(500).astype(object)
    odd.loc[0, "age"] = math.nan
    odd.loc[1, "age"] = math.inf
    odd.loc[2, "tier"] = None
    odd.loc[3, "hours"] = -1e300
    session = made(data=odd)
    assert len(session.publish("pca", attributes=USED, epsilon=1.0)) == 500
    assert len(session.publish("lda", target="member", attributes=USED, epsilon=5.0)) == 500


def test_pca_says_why_it_needs_replace_one(made, new):
    for session in (made(neighbours="add_remove"), new(neighbours="replace_one")):
        with pytest.raises(EkeError, match=r"replace_one.*drops no row"):
            session.publish("pca", epsilon=0.1)
        assert len(session.ledger_entries()) == 1
