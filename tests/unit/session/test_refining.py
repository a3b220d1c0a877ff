"""Asking again more accurately costs the difference, on every path of a session."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count as numbers
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import eke
from eke.errors import Refused
from eke.privacy.record_loss import NANO
from eke.session.ask.estimate import Estimate
from eke.session.ask.preview import Preview

DOMAIN = eke.Domain(age=eke.Integer(0, 39), sex=eke.Categorical("F", "M"))
DRAW = np.random.default_rng(5)
PEOPLE = pd.DataFrame({"age": DRAW.integers(0, 40, 3_000), "sex": DRAW.choice(["F", "M"], 3_000)})
WOMEN = "SELECT COUNT(*) FROM people WHERE sex = 'F'"
BY_SEX = "SELECT sex, COUNT(*) FROM people GROUP BY sex"
Make = Callable[..., eke.Session]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    number = numbers()

    def made(**options: object) -> eke.Session:
        place = tmp_path / f"{next(number)}.eke"
        budget = {} if "rho" in options else {"epsilon": 1.0}
        return eke.create(place, PEOPLE, DOMAIN, **{**budget, **options})  # type: ignore[arg-type]

    return made


@pytest.mark.parametrize(
    ("sql", "policy"),
    [
        (WOMEN, "top_up"),
        ("SELECT SUM(age) FROM people WHERE age < 3", "top_up"),
        (BY_SEX, "top_up"),
        (BY_SEX, "look_ahead"),
        (WOMEN, "look_ahead"),
    ],
)
def test_steps_cost_what_the_last_costs_at_once(make: Make, sql: str, policy: str) -> None:
    steps, once = make(policy=policy), make(policy=policy)
    answers = [steps.ask(sql, within=within) for within in (60, 40, 30, 20)]
    assert [answer.receipt.source for answer in answers] == ["measured"] * 4
    direct = once.ask(sql, within=20)
    assert 1 - steps.remaining == pytest.approx(direct.cost, rel=1e-4)
    assert sum(answer.cost for answer in answers) == pytest.approx(1 - steps.remaining)
    assert steps.ask(sql, within=20).cost == 0.0
    assert len(steps.history) == 4


def test_averaging_would_cost_more(make: Make) -> None:
    """The positive control: `direct` measures anew each time."""
    steps = make(policy="direct")
    for within in (60, 40, 30, 20):
        steps.ask(WOMEN, within=within)
    assert 1 - steps.remaining > 1.5 * make().ask(WOMEN, within=20).cost


def test_each_analyst_pays_the_increase(make: Make) -> None:
    session = make()
    first = session.ask(WOMEN, within=60, analyst="ann")
    second = session.ask(WOMEN, within=40, analyst="ben")
    assert first.cost + second.cost == pytest.approx(make().ask(WOMEN, within=40).cost, rel=1e-5)
    spent = {who: amount / NANO for who, amount in session.shares.spent.items()}
    assert spent == pytest.approx({"ann": first.cost, "ben": second.cost})


def test_previews_and_prices_know_of_it(make: Make) -> None:
    session = make()
    session.ask(WOMEN, within=60)
    shown = session.preview(WOMEN, within=40)
    assert shown.cost == session.ask(WOMEN, within=40).cost


def test_a_price_buys_what_it_would_have_bought_at_once(make: Make) -> None:
    session, once = make(), make()
    session.ask(WOMEN, spend=0.05)
    both = session.ask(WOMEN, spend=0.05)
    one = once.ask(WOMEN, spend=0.1)
    assert both.receipt.within == pytest.approx(one.receipt.within, rel=5e-3)


def test_a_refusal_advises_what_refining_buys(make: Make) -> None:
    session = make(epsilon=0.1)
    session.ask(WOMEN, within=60)
    with pytest.raises(Refused) as refused:
        session.ask(WOMEN, within=10)
    assert isinstance(refused.value.refusal, Preview)
    narrowest = refused.value.refusal.narrowest
    least = make(epsilon=0.1).ask(WOMEN, spend=0.1).receipt.within
    assert narrowest is not None
    assert least is not None
    assert narrowest <= 1.02 * least
    session.ask(WOMEN, within=narrowest)


def test_together_with_other_answers_it_is_still_enough(make: Make) -> None:
    session = make()
    session.ask(BY_SEX, within=50)
    session.ask("SELECT COUNT(*) FROM people", within=30)
    session.ask(WOMEN, within=45)
    for within in (25, 15):
        answer = session.ask(WOMEN, within=within)
        low, high = answer.interval
        assert (high - low) / 2 <= within


def test_questions_that_are_asked_together_are_refined_together(make: Make) -> None:
    session = make(policy="top_up")
    two = "SELECT COUNT(*) AS n, SUM(age) AS ages FROM people WHERE sex = 'F'"
    session.ask(two, within={"n": 60, "ages": 2000})
    answer = session.ask(two, within={"n": 30, "ages": 1000})
    once = make(policy="top_up").ask(two, within={"n": 30, "ages": 1000})
    assert 1 - session.remaining <= 1.001 * once.cost
    assert answer.cost < once.cost
    refined = [one.refines for one in session.history if one.refines is not None]
    assert len(refined) == len(set(refined)) == 2


def test_histories_are_read_again_and_estimated_from(make: Make, tmp_path: Path) -> None:
    session = make(policy="top_up")
    session.ask(BY_SEX, within=60)
    session.ask(BY_SEX, within=40)
    last = session.ask(BY_SEX, within=20)
    again = eke.open(tmp_path / "0.eke", data=PEOPLE)
    told = again.ask(BY_SEX, within=20)
    assert told.cost == 0.0
    assert list(told.rows) == list(last.rows)
    assert len(again.history) == 3
    for method in ("blue", "shrinkage", "max_entropy"):
        estimate = again.estimate(WOMEN, method)
        assert isinstance(estimate, Estimate)
        exact = (PEOPLE.sex == "F").sum()
        assert abs(estimate.value - exact) < 100
    ((source, weight),) = again.history.sources(eke.count(sex="F"))
    assert weight == pytest.approx(1.0, abs=1e-6)
    assert source.refines is not None
    again.publish("max_entropy", from_history=True)
    assert again.verify().intact


def test_gaussian_noise_is_averaged_as_before(make: Make) -> None:
    session = make(rho=0.5)
    for within in (60, 40, 20):
        session.ask(WOMEN, within=within)
    assert all(one.refines is None for one in session.history)
    assert 0.5 - session.remaining == pytest.approx(
        make(rho=0.5).ask(WOMEN, within=20).cost, rel=1e-3
    )


@pytest.mark.parametrize(
    ("confidence", "chains"),
    [(0.8, 60), *(pytest.param(sure, 150, marks=pytest.mark.long) for sure in (0.8, 0.95))],
)
def test_intervals_hold_as_often_as_they_promise(
    folder: Path, confidence: float, chains: int
) -> None:
    """N = 60 or 150 chains of three questions about cells of their own; 4.5 standard errors."""
    table = pd.DataFrame({"x": np.random.default_rng(3).integers(0, chains, 20 * chains)})
    domain = eke.Domain(x=eke.Integer(0, chains - 1))
    session = eke.create(folder / "x.eke", table, domain, epsilon=1e6, policy="top_up")
    held = near = 0
    for cell in range(chains):
        for within in (9, 5):
            session.ask(eke.count(x=cell), within=within, confidence=confidence)
        low, high = session.ask(eke.count(x=cell), within=2, confidence=confidence).interval
        exact = int((table.x == cell).sum())
        held += low <= exact <= high
        near += abs(exact - (low + high) / 2) <= (high - low) / 8
    assert sum(one.refines is not None for one in session.history) == 2 * chains
    error = (confidence * (1 - confidence) / chains) ** 0.5
    assert abs(held / chains - confidence) < 4.5 * error
    assert near / chains < confidence - 4.5 * error  # intervals a quarter as wide are noticed
