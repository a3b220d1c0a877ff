"""Asking with a price instead of an accuracy, and for groups of some size.

The slow twin of a price is a fine grid of half-widths, each of them priced by `preview`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import eke
from eke.engine import vault
from eke.errors import AccuracyError, BudgetExceeded, KeyConflict, Refused
from eke.planning.online import price_search, spend
from eke.privacy.record_loss import NANO
from eke.session.ask.work import plans_for
from tests.parts import in_long

PEOPLE = 20_000
SHARES = {"A": 0.6, "B": 0.3, "C": 0.0975, "D": 0.0025}
DOMAIN = eke.Domain(
    age=eke.Integer(18, 67), sex=eke.Categorical("F", "M"), carrier=eke.Categorical(*SHARES)
)
BY_CARRIER = "SELECT carrier, AVG(age) AS a FROM people GROUP BY carrier"
Maker = Callable[..., eke.Session]


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    return pd.DataFrame(
        {
            "age": rng.integers(18, 68, PEOPLE),
            "sex": rng.choice(["F", "M"], PEOPLE),
            "carrier": rng.choice(list(SHARES), PEOPLE, p=list(SHARES.values())),
        }
    )


@pytest.fixture
def new(people: pd.DataFrame, folder: Path) -> Maker:
    def create(**limit: Any) -> eke.Session:
        limit = limit or {"epsilon": 1.0}
        return eke.create(folder / "people.eke", people, DOMAIN, analyst="ann", **limit)

    return create


def price_at(session: eke.Session, query: Any, within: Any, **more: Any) -> float:
    """What an accuracy would cost, all that is left of the budget or not."""
    return session.preview(query, within=within, **more).cost


def refusal_of(told: pytest.ExceptionInfo[Refused]) -> eke.Preview:
    refusal = told.value.refusal
    assert isinstance(refusal, eke.Preview)
    return refusal


def check_best(
    session: eke.Session,
    query: Any,
    price: float,
    shape: Any = None,
    policy: str | None = None,
    points: int = 29,
) -> float:
    """That a price buys what the slow twin finds: at most the price, and 2 % tighter costs more.

    `shape` is the half-width of each column for one of 1 of the first; None for one column. The
    grid of half-widths that it looks at has so many points.
    """

    def widths(first: float) -> Any:
        return first if shape is None else {name: first * unit for name, unit in shape.items()}

    offer = session.preview(query, spend=price, policy=policy)
    assert offer.within is not None
    assert offer.cost <= price
    tighter = price_at(session, query, widths(0.98 * offer.within), policy=policy)
    assert tighter > price, "a narrower interval is affordable"
    # The half-width found is affordable itself; no coarser grid point is narrower.
    assert price_at(session, query, widths(offer.within * (1 + 1e-9)), policy=policy) <= price
    grid = [offer.within * factor for factor in np.geomspace(0.5, 2.0, points)]
    best = min(w for w in grid if price_at(session, query, widths(w), policy=policy) <= price)
    assert offer.within <= best
    return float(offer.within)


QUESTIONS: list[tuple[Any, Any]] = [
    (eke.count(sex="F"), None),
    (eke.total("age", sex="F"), None),
    (eke.marginal("carrier"), None),
    ("SELECT 3 * COUNT(*) - 5 AS n FROM people WHERE age < 30", None),
    ("SELECT CASE WHEN age < 40 THEN 1 ELSE 2 END AS k, COUNT(*) FROM people GROUP BY k", None),
    ("SELECT COUNT(*) AS n, SUM(age) AS s FROM people", {"n": 1.0, "s": 67.0}),
]


@pytest.mark.parametrize(("limit", "price"), [({"epsilon": 1.0}, 0.05), ({"rho": 0.1}, 0.004)])
def test_a_price_buys_the_best_accuracy(new, limit, price):
    session = new(**limit)
    for query, shape in QUESTIONS:
        check_best(session, query, price, shape)


@pytest.mark.parametrize("policy", ["top_up", "direct"])
def test_history_is_taken_into_account(new, policy):
    session = new()
    session.ask(eke.marginal("sex"), within=60)
    first = check_best(session, eke.count(sex="F"), 0.05, policy=policy)
    assert (first < 45) == (policy == "top_up"), "with what is known already"
    session.ask(eke.count(carrier="A"), spend=0.1)
    # The records of others have lost less: there is room below the largest loss.
    other = session.preview(eke.count(carrier="B"), spend=0.02)
    assert other.within is not None
    assert price_at(session, eke.count(carrier="B"), 0.98 * other.within) > 0.02
    assert other.within < 0.4 * 3.0 / 0.02


def test_a_search_that_stops_early_is_caught(new, monkeypatch):
    """Positive control of the checks above."""
    session = new()
    session.ask(eke.marginal("sex"), within=60)
    least = price_search.least_stretch_for

    def hasty(*known: Any, most_plans: int) -> float | None:
        return least(*known, most_plans=min(1, most_plans))

    monkeypatch.setattr(spend, "least_stretch_for", hasty)
    with pytest.raises(AssertionError, match="narrower interval is affordable"):
        check_best(session, eke.count(sex="F"), 0.05)


def test_the_number_of_plans_is_bounded(new, monkeypatch):
    session = new()
    plans: list[float] = []
    least = price_search.least_stretch_for

    def counted(cost_at: Any, *rest: Any, **more: Any) -> float | None:
        def noted(stretch: float) -> int:
            plans.append(stretch)
            return int(cost_at(stretch))

        return least(noted, *rest, **more)

    monkeypatch.setattr(spend, "least_stretch_for", counted)
    session.preview(eke.count(sex="F"), spend=0.05)
    assert len(plans) <= 3, "a power law is met at once"
    session.ask(eke.count(sex="F"), within=40)
    session.ask(eke.count(age=(18, 30)), within=40)
    for query, _ in QUESTIONS:
        plans.clear()
        session.preview(query, spend=0.05)
        assert len(plans) <= price_search.MOST_PLANS


def test_what_is_begun_is_carried_on(new, monkeypatch):
    """The look makes history longer, and the rest more work than a new request might be."""
    session = new()
    allowed = 0

    def once(self: Any) -> None:
        nonlocal allowed
        allowed += 1
        if allowed > 1:
            raise AssertionError("checked again, after something was paid")

    monkeypatch.setattr("eke.session.ask.work.Work.check", once)
    assert session.ask(eke.mean("age"), spend=0.05).receipt.steps == 2


def test_large_tables_are_searched_with_fewer_plans(new):
    """As many as the work of one request allows, so that a price is no reason to refuse one."""
    session = new()
    small, large = (
        session._request(text, eke.session.Aim(spend=0.1), policy=None)
        for text in (
            "SELECT COUNT(*), SUM(age) FROM people",
            "SELECT age, carrier, COUNT(*), SUM(age), SUM(age * age) FROM people GROUP BY 1, 2",
        )
    )
    assert plans_for(small.demand, 0) == price_search.MOST_PLANS
    assert price_search.LEAST_PLANS <= plans_for(large.demand, 0) < price_search.MOST_PLANS
    nothing = session._vault.snapshot().facts.inference
    small.work(nothing).check()
    large.work(nothing).check()
    assert plans_for(large.demand, 10**6) == price_search.LEAST_PLANS


@pytest.mark.parametrize(("limit", "price"), [({"epsilon": 1.0}, 0.05), ({"rho": 0.1}, 0.004)])
def test_answers_cost_at_most_the_price_and_say_what_it_bought(new, limit, price):
    session = new(**limit)
    queries = [*(query for query, _ in QUESTIONS), eke.mean("age"), BY_CARRIER]
    for query in queries:
        before = session.budget.spent_nano
        offer = session.preview(query, spend=price)
        answer = session.ask(query, spend=price)
        receipt = answer.receipt
        charged = session.budget.spent_nano - before
        assert charged == receipt.cost_nano <= receipt.spend_nano == int(price * NANO)
        assert receipt.spend == pytest.approx(price)
        cells: list[Any] = [row[answer.is_key.index(False)] for row in answer.rows]
        assert receipt.within == max((c.high - c.low) / 2 for c in cells)
        if offer.within is not None:
            assert receipt.within <= offer.within * 1.001
        assert f"of at most {price:g}, which bought ±" in answer.explain()


@pytest.mark.parametrize("points", [7, in_long(29)])
def test_an_average_is_looked_at_first_and_then_bought(new, people, points):
    session = new()
    look = session.preview(eke.mean("age"), spend=0.05)
    assert look.first_step
    assert look.within is None
    assert look.cost <= 0.01
    assert "A first step would cost" in look.explain()
    answer = session.ask(eke.mean("age"), spend=0.05)
    assert answer.receipt.steps == 2
    assert 0.049 < answer.cost <= 0.05
    assert answer.within < 0.3
    assert abs(answer.value - people["age"].mean()) < 5 * answer.within
    check_best(session, eke.mean("age"), 0.05, points=points)
    # Much better than the sum and the count by themselves, which would be about ±0.7.
    again = session.ask(eke.mean("age"), spend=0.05)
    assert again.receipt.steps == 1
    assert again.within < answer.within


def test_small_groups_do_not_spoil_the_large_ones(new):
    """No record at all may be in D: the others are measured around their averages all the same."""
    session = new()
    answer = session.ask(BY_CARRIER, spend=0.05)
    (a, _), *_, (low, high) = answer.intervals
    assert answer.values[0] - a < 0.5
    assert high - low > 10
    preview = session.preview(BY_CARRIER, spend=0.05)
    assert preview.within is not None
    assert "cannot be told from 0" in preview.explain()


def test_several_columns_share_the_price(new):
    """As far as one record can move each; so by themselves they would cost the same."""
    session = new()
    text = "SELECT COUNT(*) AS n, SUM(age) AS s, AVG(age) AS a FROM people"
    session.ask("SELECT COUNT(*), SUM(age) FROM people", within={"COUNT(*)": 90, "SUM(age)": 6000})
    unit = session.preview(text, spend=0.2).within
    assert unit is not None
    (row,) = session.ask(text, spend=0.2).rows
    count, total, mean = ((cell.high - cell.low) / 2 for cell in row)
    assert count <= unit * 1.001
    assert total <= 67 * unit * 1.001
    assert mean <= 25 / PEOPLE * unit * 1.1, "so far can a record move the average"
    assert unit < 3.5 * 3.0 / 0.2, "no column costs much more than a third"


@pytest.mark.parametrize("query", [eke.count(sex="F"), eke.mean("age")])
def test_a_key_is_bound_to_the_price_and_answers_again(new, query):
    session = new()
    first = session.ask(query, spend=0.05, key="one")
    spent = session.budget.spent_nano
    again = session.ask(query, spend=0.05, key="one")
    assert again == first
    assert again.receipt == first.receipt
    assert session.budget.spent_nano == spent
    for other in ({"spend": 0.06}, {"within": 1.0}, {"spend": 0.05, "confidence": 0.9}):
        with pytest.raises(KeyConflict):
            session.ask(query, key="one", **other)
    stored = session._vault.ledger.find("ann", "one")
    assert json.loads(stored.answer)["receipt"]["spend_nano"] == 50_000_000
    assert session.ask(query, spend=0.05).cost > 0, "without a key it buys again"


@pytest.mark.parametrize("query", [eke.count(sex="F"), eke.mean("age")])
@pytest.mark.parametrize("charge", [1, 2])
def test_a_crash_after_a_charge_is_finished_by_the_same_key(new, monkeypatch, query, charge):
    session, charges = new(), []

    class Crash(Exception):
        pass

    def crash(name: str) -> None:
        if name == "engine.reserved":
            charges.append(name)
            if len(charges) == charge:
                raise Crash

    with monkeypatch.context() as patched:
        patched.setattr(vault, "failpoint", crash)
        if charge == 1 or isinstance(query, eke.question.FormulaExpression):
            with pytest.raises(Crash):
                session.ask(query, spend=0.05, key="one")
        else:
            session.ask(query, spend=0.05, key="one")
    answer = session.ask(query, spend=0.05, key="one")
    assert session.budget.spent_nano == answer.receipt.cost_nano <= 50_000_000
    assert answer.cost > 0.049


def test_more_than_what_is_left_is_refused_with_what_is_left(new):
    session = new()
    session.ask(eke.count(), spend=0.75)
    entries = session.ledger_entries()
    for query in (eke.count(), eke.mean("age")):
        with pytest.raises(Refused, match=r"epsilon 0\.3 was offered, and 0\.25 is left") as told:
            session.ask(query, spend=0.3, key="k")
        assert f"offer spend={session.remaining:.9g} or less" in str(told.value)
        assert refusal_of(told).remaining == session.remaining
        assert session.preview(query, spend=0.3).action == "refuse"
    assert session.ledger_entries() == entries
    assert session.ask(eke.count(), spend=0.25, key="k").cost <= 0.25
    session.ask(eke.count(sex="F"), spend=session.remaining)
    session.change_limit(session.budget.spent)
    with pytest.raises(Refused, match="and 0 is left"):
        session.ask(eke.count(), spend=0.01)


def test_a_cap_counts_as_what_is_left(new):
    session = new()
    session.change_cap("ann", 0.1)
    with pytest.raises(Refused, match=r"offer spend=0\.1 or less"):
        session.ask(eke.count(), spend=0.2)
    assert session.ask(eke.count(), spend=0.1).cost <= 0.1


def test_the_charge_is_checked_where_it_is_made(new, monkeypatch):
    """A decision that is too dear, whatever the reason, is not carried out."""
    session = new()
    dear = session._request(
        eke.count(), eke.session.Aim(spend=0.2), policy=None, analyst=None
    ).decide(session._vault.snapshot().facts)
    monkeypatch.setattr("eke.session.ask.request.spend_on", lambda *_, **__: dear)
    with pytest.raises(BudgetExceeded):
        session.ask(eke.count(), spend=0.1)
    assert session.budget.spent == 0


def test_what_is_hardly_narrower_is_not_bought(new):
    session = new()
    session.ask(eke.count(), spend=0.5)
    answer = session.ask(eke.count(), spend=1e-5)
    assert answer.free
    assert "buys nothing noticeably narrower" in answer.explain()
    assert session.preview(eke.count(), spend=1e-5).within == pytest.approx(answer.receipt.within)
    with pytest.raises(Refused, match=r"so little buys nothing here.* offer more"):
        session.ask(eke.mean("age"), spend=3e-9)


@pytest.mark.parametrize(
    ("accuracy", "message"),
    [
        ({}, "how accurate must the answer be"),
        ({"within": 5, "spend": 0.1}, "not both"),
        ({"spend": 0}, "spend must be a number"),
        ({"spend": -1.0}, "spend must be a number"),
        ({"spend": float("nan")}, "spend must be a number"),
        ({"spend": "much"}, "spend must be a number"),
        ({"spend": True}, "spend must be a number"),
        ({"within": 5, "groups_of": 100}, "leave it out"),
        ({"spend": 0.1, "confidence": 1.0}, "confidence"),
    ],
)
def test_what_makes_no_sense_is_said_at_once(new, accuracy, message):
    session = new()
    for ask in (session.ask, session.preview):
        with pytest.raises(AccuracyError, match=message):
            ask(eke.count(), **accuracy)
    assert session.budget.spent == 0


def test_sql_says_it_itself(new):
    session = new()
    count = "SELECT COUNT(*) FROM people"
    answer = session.ask(f"{count} SPEND 0.05 AT CONFIDENCE 0.9")
    assert (answer.receipt.spend, answer.confidence) == (0.05, 0.9)
    with pytest.raises(AccuracyError, match="twice"):
        session.ask(f"{count} SPEND 0.05", within=5)
    with pytest.raises(AccuracyError, match="twice"):
        session.ask(f"{count} ERROR WITHIN 5", spend=0.1)
    with pytest.raises(AccuracyError, match="twice"):
        session.ask(f"{BY_CARRIER} ERROR WITHIN 5 FOR GROUPS OF 10", groups_of=10)
    document = session.explain(count, spend=0.05)
    assert document["price"]["spend"] == 0.05
    assert "Would buy" in document["price"]["sentence"]


def test_an_offer_says_something(new):
    """±60 of a percentage, or ±40 of an age between 18 and 67, is none."""
    session = new()
    share = "SELECT carrier, 100 * AVG(CASE WHEN sex = 'F' THEN 1 ELSE 0 END) AS p FROM people"
    with pytest.raises(Refused) as told:
        session.ask(f"{share} GROUP BY carrier", within=0.01)
    for width in (refusal_of(told).known, refusal_of(told).narrowest):
        assert width is None or width < 50
    with pytest.raises(Refused) as told:
        session.ask(BY_CARRIER, within=0.001)
    assert "±24.5" not in str(told.value)
    for width in (refusal_of(told).known, refusal_of(told).narrowest):
        assert width is None or width < 24.5
