"""Asking for a share of the value: one request in steps, in every way of writing it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import eke
from eke.engine import vault
from eke.errors import AccuracyError, KeyConflict, Refused
from eke.session import Preview

SIZES = {"A": 9000, "B": 5000, "C": 1200, "D": 60, "E": 0}
DOMAIN = eke.Domain(age=eke.Integer(18, 67), carrier=eke.Categorical(*SIZES))


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    rng = np.random.default_rng(5)
    carriers = [name for name, size in SIZES.items() for _ in range(size)]
    return pd.DataFrame({"age": rng.integers(18, 68, len(carriers)), "carrier": carriers})


@pytest.fixture
def session(people: pd.DataFrame, folder: Path) -> eke.Session:
    return eke.create(folder / "people.eke", people, DOMAIN, analyst="ann", epsilon=1.0)


def shares(answer: eke.Answer) -> list[float]:
    return [
        (high - low) / 2 / abs(value)
        for value, (low, high) in zip(answer.values, answer.intervals, strict=True)
    ]


@pytest.mark.parametrize(
    "query",
    [
        eke.count(carrier="A"),
        eke.total("age", carrier="B"),
        eke.mean("age"),
        "SELECT COUNT(*) - 100 AS n FROM people",
    ],
)
def test_values_come_within_their_share(session, query):
    preview = session.preview(query, within="2 %")
    assert preview.first_step
    assert preview.share == 0.02
    assert 0 < preview.cost <= 0.02, "what the first step costs is said beforehand"
    answer = session.ask(query, within="2 %")
    assert shares(answer)[0] <= 0.02
    assert session.budget.spent_nano == answer.receipt.cost_nano
    assert answer.receipt.share == 0.02
    assert answer.receipt.within == pytest.approx((answer.interval[1] - answer.interval[0]) / 2)
    assert "to come within 2 % of the value" in answer.explain()
    again = session.ask(query, within="2%")
    assert again.free
    assert "2 % of the value was asked for" in again.explain()
    assert session.preview(query, within="2 %").free


def test_a_mapping_may_mix_both(session):
    text = "SELECT COUNT(*) AS n, AVG(age) AS a FROM people"
    (row,) = session.ask(text, within={"n": 60, "a": "3 %"}).rows
    assert (row[0].high - row[0].low) / 2 <= 60
    assert (row[1].high - row[1].low) / 2 <= 0.03 * row[1].value
    (row,) = session.ask(text, within={"n": "1 %", "a": 1}).rows
    assert (row[0].high - row[0].low) / 2 <= 0.01 * row[0].value
    assert session.ask(f"{text} ERROR WITHIN 5 PERCENT").free


def test_small_groups_are_refused_or_left_aside(session):
    table = "SELECT carrier, COUNT(*) AS n FROM people GROUP BY carrier"
    with pytest.raises(Refused, match="The next step to 2 % of the value") as told:
        session.ask(table, within="2 %")
    assert "with groups_of" in str(told.value)
    assert " at the numbers behind it" in str(told.value)
    assert session.budget.spent < 0.3
    answer = session.ask(f"{table} ERROR WITHIN 5 PERCENT FOR GROUPS OF 1000")
    assert max(shares(answer)[:3]) <= 0.05
    assert "fewer than 1,000 records" in answer.caveats[0]
    means = session.ask(eke.mean("age").by("carrier"), within="4 %", groups_of=1000)
    assert max(shares(means)[:3]) <= 0.04


@pytest.mark.parametrize("query", [eke.count(carrier="A"), eke.mean("age")])
def test_one_key_for_all_steps(session, monkeypatch, query):
    class Crash(Exception):
        pass

    charges: list[str] = []

    def crash(name: str) -> None:
        if name == "engine.reserved":
            charges.append(name)
            if len(charges) == 2:
                raise Crash

    with monkeypatch.context() as patched:
        patched.setattr(vault, "failpoint", crash)
        with pytest.raises(Crash):
            session.ask(query, within="1 %", key="k")
    answer = session.ask(query, within="1 %", key="k")
    assert answer.receipt.steps >= 2
    assert session.budget.spent_nano == answer.receipt.cost_nano
    assert session.ask(query, within="1 %", key="k") == answer
    for other in ("2 %", 0.01):
        with pytest.raises(KeyConflict):
            session.ask(query, within=other, key="k")


@pytest.mark.parametrize("share", ["0 %", "100 %", "-1 %", "two %", "2", "%", "1e400 %", "9" * 50])
def test_shares_lie_between_0_and_100(session, share):
    with pytest.raises(AccuracyError, match="share of the value between 0 and 100"):
        session.ask(eke.count(), within=share)
    assert session.budget.spent == 0


@pytest.mark.parametrize("cap", [None, 0.05])
@pytest.mark.parametrize(
    ("query", "aim"),
    [
        (eke.count(), {"within": "2 %"}),
        pytest.param(eke.count(carrier="D"), {"within": "1 %"}, marks=pytest.mark.long),
        (eke.count(carrier="E"), {"within": "5 %"}),  # of nothing: refused after some looks
        (eke.mean("age"), {"within": "1 %"}),
        (eke.mean("age"), {"within": 0.5}),
        pytest.param(
            *(eke.mean("age").by("carrier"), {"within": "4 %", "groups_of": 1000}),
            marks=pytest.mark.long,
        ),
        (eke.mean("age"), {"spend": 0.04}),
        (eke.count(carrier="B"), {"spend": 0.04}),
        (eke.count(carrier="B"), {"within": 60}),
    ],
)
def test_a_charge_never_exceeds_what_was_said_before(session, query, aim, cap):
    """Whatever the steps find: all of them together, answered or refused."""
    if cap is not None:
        session.change_cap("ann", cap)
    for _ in range(3):  # the second time from what the first one left in history
        said, before = session.preview(query, **aim), session.budget.spent_nano
        try:
            charged = session.ask(query, **aim).receipt.cost_nano
        except Refused:
            charged = session.budget.spent_nano - before
        assert charged == session.budget.spent_nano - before
        assert charged <= round(said.most * 1e9) <= round(said.remaining * 1e9)
        assert (said.most > 0) == (said.action == "measure")
        if said.first_step and "spend" not in aim:
            assert said.most == said.remaining
            whose = "your cap leaves you" if said.capped else "is left"
            assert said.explain().endswith(f"at most epsilon {said.most:.6g}, all that {whose}.")
            assert "depends on " in said.explain()
        elif "spend" not in aim and said.action == "measure":
            assert said.most == said.cost


def test_the_bound_is_needed():
    """Positive control: the price of the next step alone does not bound the whole."""
    step = Preview("q", None, 0.95, "measure", 0.001, None, None, "rho", 0.4, first_step=True)
    assert step.cost < step.most == 0.4
    assert replace(step, action="refuse").most == replace(step, action="history").most == 0.0
    assert replace(step, spend=0.2).most == 0.2
    assert replace(step, first_step=False).most == step.cost
