"""session.publish("max_entropy"): paid for once, or free from history; bad input costs nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import eke
from eke.engine import Vault
from eke.errors import BudgetExceeded, EkeError, KeyConflict
from eke.publish import patience
from eke.publish.patience import duration, max_entropy_seconds
from eke.publish.utility import compare
from eke.session.publish.published import PublishRequest

DOMAIN = eke.Domain(
    age=eke.Integer(0, 9, null=eke.Replace(0)),
    member=eke.Categorical("no", "yes", null=eke.Replace("no"), outside=eke.Replace("no")),
    coin=eke.Categorical("heads", "tails", null=eke.Replace("heads"), outside=eke.Replace("heads")),
)


def people(rows: int = 3000) -> pd.DataFrame:
    draw = np.random.default_rng(7)
    age = draw.integers(0, 10, rows)
    return pd.DataFrame(
        {
            "age": age,
            "member": np.where(age + draw.normal(0, 0.5, rows) > 5, "yes", "no"),
            "coin": np.where(draw.random(rows) < 0.5, "heads", "tails"),
            "id": np.arange(rows) // 2,
        }
    )


@pytest.fixture
def made(new: Callable[..., eke.Session]) -> Callable[..., eke.Session]:
    def create(**settings: Any) -> eke.Session:
        options = {"data": people(), "domain": DOMAIN, **settings}
        if "rho" not in options:
            options.setdefault("epsilon", 10.0)
        return new(**options)

    return create


def independent_error(real: pd.DataFrame) -> float:
    """Σ |p - p̃| of age × member when both are drawn by themselves."""
    joint = pd.crosstab(real["age"], real["member"], normalize=True).to_numpy()
    return float(np.abs(joint - np.outer(joint.sum(axis=1), joint.sum(axis=0))).sum())


@pytest.mark.parametrize("budget", [{"epsilon": 2.0}, {"rho": 0.3}], ids=["epsilon", "rho"])
@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
def test_rows_have_the_schema_and_keep_what_belongs_together(made, budget, neighbours):
    session = made(neighbours=neighbours, **{name: 2 * v for name, v in budget.items()})
    rows = session.publish("max_entropy", key="a", **budget)
    (amount,) = budget.values()
    assert session.budget.spent == pytest.approx(rows.cost)
    assert 0.999 * amount < rows.cost <= amount
    assert list(rows.to_pandas().columns) == list(DOMAIN.names)
    assert abs(len(rows) - 3000) < (1 if neighbours == "replace_one" else 100)
    utility = compare(rows, people())
    (pair,) = (a for a in utility.agreements if a.attributes == ("age", "member"))
    assert pair.error < 0.25
    assert independent_error(people()) > 0.5  # which is what rows without pairs would have
    chosen = [*rows.receipt["pairs"], *rows.receipt["triples"]]
    assert any({"age", "member"} <= set(names) for names in chosen)
    # All that was measured is history, kept when the dataset is opened again.
    assert len(session.history) == rows.receipt["measurements"] >= 3 + len(chosen)
    again = session.publish("max_entropy", key="a", **budget)
    assert (again.codes == rows.codes).all()
    assert session.budget.spent == pytest.approx(rows.cost)
    assert session.verify().intact


def test_rows_from_history_are_free_and_the_same_for_the_same_key(made):
    session = made()
    session.ask(eke.marginal("age", "member"), within=20)
    spent = session.budget.spent
    rows = session.publish("max_entropy", from_history=True, rows=2000, key="free")
    assert len(rows) == 2000
    assert rows.cost == 0.0
    assert session.budget.spent == spent
    (pair,) = (a for a in compare(rows, people()).agreements if a.attributes == ("age", "member"))
    assert pair.error < 0.25
    session.ask(eke.marginal("coin"), within=20)  # history grows; the rows stay
    again = session.publish("max_entropy", from_history=True, rows=2000, key="free")
    assert (again.codes == rows.codes).all()
    some = session.publish("max_entropy", from_history=True, attributes=["coin"])
    assert some.attributes == ("coin",)
    assert abs(len(some) - 3000) < 150  # as many as history says


def test_history_that_leaves_the_number_of_records_open_will_do(made):
    session = made()
    session.ask("SELECT COUNT(*) FROM t WHERE age < 5", within=50)
    rows = session.publish("max_entropy", from_history=True)
    assert 0 < len(rows) < 10_000


def test_a_unit_of_several_rows_pays_no_more_than_was_said(made):
    """Losses are multiplied by the rows of a unit; the noise makes up for it, lda's as well."""
    session = made(data=people(600), unit=eke.Unit("id", rows=2), epsilon=9.0)
    rows = session.publish("max_entropy", epsilon=4.0)
    assert 3.99 < rows.cost <= 4.0
    lda = session.publish("lda", target="member", attributes=["age", "coin"], epsilon=4.0)
    assert 3.99 < lda.cost <= 4.0


def test_some_attributes_and_a_number_of_rows(made):
    rows = made().publish("max_entropy", epsilon=1.0, attributes=["coin", "age"], rows=77)
    assert rows.to_pandas().shape == (77, 2)
    assert rows.attributes == ("age", "coin")


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"epsilon": 1.0, "rho": 1.0},
        {"rho": 1.0},
        {"epsilon": 0.0},
        {"epsilon": 1e-9},
        {"epsilon": 1.0, "from_history": True},
        {"from_history": False},
        {"epsilon": 1.0, "from_history": 1},
        {"epsilon": 1.0, "rows": 0},
        {"epsilon": 1.0, "rows": 2.5},
        {"epsilon": 1.0, "attributes": ["age"]},
        {"epsilon": 1.0, "attributes": ["height", "age"]},
        {"epsilon": 1.0, "target": "height"},
        {"epsilon": 1.0, "workload": [["age", "height"]]},
        {"from_history": True},  # of which there is none
    ],
)
def test_bad_requests_cost_nothing(made, wrong):
    session = made()
    with pytest.raises(EkeError):
        session.publish("max_entropy", **wrong)
    assert session.budget.spent == 0
    assert len(session.ledger_entries()) == 1


def test_wide_pairs_are_refused_before_anything_is_paid(new):
    domain = eke.Domain(a=eke.Integer(0, 4095), b=eke.Integer(0, 4095))
    session = new(data=pd.DataFrame({"a": [1], "b": [2]}), domain=domain, epsilon=1.0)
    with pytest.raises(EkeError, match="wider bins"):
        session.publish("max_entropy", epsilon=1.0)
    assert session.budget.spent == 0


def test_limits_and_keys_hold(made):
    session = made(epsilon=1.0)
    with pytest.raises(BudgetExceeded):
        session.publish("max_entropy", epsilon=1.5)
    assert session.budget.spent == 0
    session.publish("max_entropy", epsilon=0.5, key="a")
    with pytest.raises(KeyConflict):
        session.publish("max_entropy", epsilon=0.4, key="a")


def test_an_estimate_by_maximum_entropy_claims_no_interval(made):
    session = made()
    session.ask(eke.marginal("age", "member"), within=20)
    found = session.estimate("SELECT COUNT(*) FROM t WHERE age < 5", method="max_entropy")
    assert found.interval is None
    assert found.within is None
    assert "No interval is known" in found.explain()
    with pytest.raises(EkeError, match="no error bars"):
        found.probability(above=0)


def test_what_takes_hours_is_refused_before_it_is_charged(
    new: Callable[..., eke.Session], monkeypatch: pytest.MonkeyPatch
) -> None:
    """40 columns of two values, and nobody who would wait for them."""
    monkeypatch.setattr(patience, "MOST_SECONDS", 100.0)
    columns = {f"c{place}": [0, 1] * 5 for place in range(40)}
    domain = eke.Domain({name: eke.Integer(0, 1) for name in columns})
    session = new(data=pd.DataFrame(columns), domain=domain, epsilon=1.0)
    before = session.ledger_entries()
    about = f"takes about {duration(max_entropy_seconds(40))}"
    with pytest.raises(EkeError, match=f"{about} of a processor") as refusal:
        session.publish("max_entropy", epsilon=1.0)
    assert "patient=True" in str(refusal.value)
    wanted = PublishRequest("max_entropy", 1.0, None, {}, "ann", None)
    with pytest.raises(EkeError, match=about):
        session.price(wanted)
    assert session.ledger_entries() == before
    with pytest.raises(EkeError, match="patient is True or False"):
        session.publish("max_entropy", epsilon=1.0, patient="very")

    def begun(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr(Vault, "release", begun)  # the control: somebody waits
    with pytest.raises(MemoryError):
        session.publish("max_entropy", epsilon=1.0, patient=True)


@pytest.mark.parametrize(
    ("seconds", "text"), [(70, "70 seconds"), (600, "10 minutes"), (9e4, "25 hours")]
)
def test_times_are_said_as_people_do(seconds: float, text: str) -> None:
    assert duration(seconds) == text
    assert max_entropy_seconds(2, 5000) < max_entropy_seconds(18, 5000) < 60
    assert 60 < max_entropy_seconds(30) < max_entropy_seconds(100) < 3600
