"""Tables of many cells and parts of releases: more accuracy costs the difference."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from itertools import count as numbers
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import eke
from eke.engine import Vault, measuring
from eke.engine.draws import Draws
from eke.errors import LedgerError, Refused
from eke.history import lasting
from eke.planning import Facts
from eke.privacy.record_loss import NANO
from eke.session.ask.preview import Preview

DOMAIN = eke.Domain(age=eke.Integer(0, 49), town=eke.Integer(0, 7), sex=eke.Categorical("F", "M"))
DRAW = np.random.default_rng(5)
PEOPLE = pd.DataFrame(
    {
        "age": DRAW.integers(0, 50, 3_000),
        "town": DRAW.integers(0, 8, 3_000),
        "sex": DRAW.choice(["F", "M"], 3_000),
    }
)
TABLE = "SELECT age, town, COUNT(*) FROM people GROUP BY age, town"  # 400 cells
Make = Callable[..., eke.Session]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    number = numbers()

    def made(**options: object) -> eke.Session:
        budget = {} if "rho" in options else {"epsilon": 2.0}
        place = tmp_path / f"{next(number)}.eke"
        return eke.create(place, PEOPLE, DOMAIN, **{**budget, **options})  # type: ignore[arg-type]

    return made


def half_width(answer: eke.Answer) -> float:
    return float(max(high - low for low, high in answer.intervals)) / 2


@pytest.mark.parametrize("policy", ["top_up", "look_ahead"])
def test_steps_cost_what_the_last_costs_at_once(make: Make, policy: str) -> None:
    steps, once = make(policy=policy), make(policy=policy)
    answers = [steps.ask(TABLE, within=within) for within in (60, 40, 20)]
    direct = once.ask(TABLE, within=20)
    assert [answer.receipt.source for answer in answers] == ["measured"] * 3
    assert 2 - steps.remaining == pytest.approx(direct.cost, rel=1e-4)
    assert half_width(answers[-1]) <= 20
    assert half_width(answers[-1]) == pytest.approx(half_width(direct), rel=1e-4)
    assert steps.ask(TABLE, within=20).cost == 0.0
    assert [one.refines is None for one in steps.history] == [True, False, False]
    assert all(kept.rows == range(0) for kept in steps.history._inference.kept)  # as tables


def test_averaging_would_cost_more(make: Make) -> None:
    """The positive control: `direct` measures anew each time."""
    steps = make(policy="direct")
    for within in (60, 40, 20):
        steps.ask(TABLE, within=within)
    assert 2 - steps.remaining > 1.5 * make().ask(TABLE, within=20).cost


def test_each_analyst_pays_the_increase(make: Make) -> None:
    session = make()
    first = session.ask(TABLE, within=60, analyst="ann")
    second = session.ask(TABLE, within=40, analyst="ben")
    third = session.release(session.plan([["age", "town"]], within=30), analyst="cy")
    spent = {who: amount / NANO for who, amount in session.shares.spent.items()}
    assert spent == pytest.approx({"ann": first.cost, "ben": second.cost, "cy": third.cost})
    assert sum(spent.values()) == pytest.approx(2 - session.remaining)
    assert [one.refines is None for one in session.history] == [True, False, False]


def test_a_released_marginal_is_asked_for_again(make: Make) -> None:
    """For the loss of the answer alone, with the price known before."""
    session, once = make(), make()
    session.release(session.plan([["age", "town"]], budget=0.1))
    shown = session.preview(TABLE, within=20)
    answer = session.ask(TABLE, within=20)
    assert answer.cost == shown.cost
    assert 2 - session.remaining == pytest.approx(once.ask(TABLE, within=20).cost, rel=1e-4)


def test_parts_of_a_release_are_released_again_with_less_noise(make: Make) -> None:
    """Some parts refined, some new; what remains to be paid is told before."""
    session, once = make(), make()
    session.release(session.plan([["age", "town"], ["sex"]], budget=0.2, strategy="Q"))
    plan = session.plan(eke.all_marginals(DOMAIN, 2), budget=0.9, strategy="Q")
    price = session.price(plan)
    release = session.release(plan)
    whole = once.release(once.plan(eke.all_marginals(DOMAIN, 2), budget=0.9, strategy="Q"))
    assert release.cost == price.cost < whole.cost
    assert sum(one.refines is not None for one in session.history) == 1
    left = lasting(list(session.history))  # each record is in one cell of each
    together = sum(1 / one.law.laplace_scale for one in left)
    assert 2 - session.remaining == pytest.approx(together, rel=1e-6)
    assert len(left) == len(session.history) - 1
    for mine, theirs in zip(release.tables, whole.tables, strict=True):
        np.testing.assert_array_equal(mine.standard_error, theirs.standard_error)
    wide = [half_width(one.ask(TABLE, within=1000)) for one in (session, once)]
    assert wide[0] == pytest.approx(wide[1], rel=1e-4)


def test_a_release_in_steps_of_components_loses_nothing(make: Make) -> None:
    """What a strategy measures instead of the marginals is refined as well."""
    session, once = make(), make()
    workload = eke.all_marginals(DOMAIN, 2)
    plans = [session.plan(workload, budget=budget, strategy="residuals") for budget in (0.25, 0.5)]
    costs = [session.release(plan).cost for plan in plans]
    once.release(plans[1])
    assert costs == pytest.approx([0.25, 0.25], rel=1e-5)
    cell = eke.count(age=3, town=2)
    wide = [half_width(one.ask(cell, within=1000)) for one in (session, once)]
    assert wide[0] == pytest.approx(wide[1], rel=1e-5)


def test_what_is_no_more_accurate_is_measured_anew(make: Make) -> None:
    session = make()
    plan = session.plan([["age", "town"]], budget=0.25)
    costs = [session.release(plan, key=str(turn)).cost for turn in range(2)]
    assert costs[0] == costs[1]
    assert all(one.refines is None for one in session.history)
    gaussian = make(rho=0.5)
    for budget in (0.1, 0.2):
        gaussian.release(gaussian.plan([["age", "town"]], budget=budget))
    assert all(one.refines is None for one in gaussian.history)


def test_a_price_buys_and_a_refusal_advises_what_refining_buys(make: Make) -> None:
    session, once = make(epsilon=0.3), make(epsilon=0.3)
    session.ask(TABLE, spend=0.1)
    with pytest.raises(Refused) as refused:
        session.ask(TABLE, within=1)
    assert isinstance(refused.value.refusal, Preview)
    narrowest = refused.value.refusal.narrowest
    least = once.ask(TABLE, spend=0.3).receipt.within
    assert narrowest is not None
    assert least is not None
    assert narrowest <= 1.02 * least
    both = session.ask(TABLE, spend=0.15).receipt.within
    assert both == pytest.approx(make().ask(TABLE, spend=0.25).receipt.within, rel=5e-3)


def test_with_other_tables_and_questions_it_is_still_enough(make: Make) -> None:
    session = make(policy="top_up")
    session.release(session.plan([["age", "sex"], ["town"]], budget=0.3))
    session.ask(TABLE, within=60)
    session.ask(eke.count(age=(3, 30), town=2), within=30)
    spent = 2 - session.remaining
    answer = session.ask(TABLE, within=30)
    assert half_width(answer) <= 30
    assert answer.cost < 2 - spent
    assert session.history[-1].refines is not None
    exact = PEOPLE.groupby(["age", "town"]).size()
    told = answer.to_pandas().set_index(["age", "town"]).iloc[:, 0]
    assert (told - exact.reindex(told.index, fill_value=0)).abs().mean() < 30


def test_histories_are_read_again_and_verified(make: Make, tmp_path: Path) -> None:
    session = make(policy="top_up")
    session.release(session.plan([["age", "town"]], budget=0.1))
    last = session.ask(TABLE, within=20)
    again = eke.open(tmp_path / "0.eke", data=PEOPLE)
    told = again.ask(TABLE, within=20)
    assert told.cost == 0.0
    assert list(told.rows) == list(last.rows)
    for method in ("shrinkage", "max_entropy"):
        estimate = again.estimate(eke.count(age=(0, 24)), method)
        assert abs(estimate.value - (PEOPLE.age < 25).sum()) < 600  # type: ignore[union-attr]
    ((source, weight),) = again.history.sources(eke.count(age=3, town=2))
    assert weight == pytest.approx(1.0, abs=1e-9)
    assert source.refines is not None
    assert again.verify().intact


# --- once, whatever fails ------------------------------------------------------------------------


def test_a_key_draws_once(make: Make, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What was drawn is stored; a failure after it, another process, the same key: the same."""
    session = make()
    plans = [session.plan([["age", "town"]], budget=budget) for budget in (0.1, 0.3)]
    session.release(plans[0])

    def broken(*_: object) -> str:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Vault, "_commit", broken)
        with pytest.raises(KeyboardInterrupt):
            session.release(plans[1], key="two")
    spent = session.budget.spent
    monkeypatch.setattr(measuring, "refine_with_noise", lambda *_: pytest.fail("drawn again"))
    other = eke.open(tmp_path / "0.eke", data=PEOPLE)
    release = other.release(plans[1], key="two")
    assert release.tables[0].values.tolist() == (
        session.release(plans[1], key="two").tables[0].values.tolist()
    )
    assert other.budget.spent == spent
    assert other.history[-1].refines is not None
    assert release.cost == pytest.approx(0.2, rel=1e-5)


def test_a_failure_before_the_draw_is_completed_by_its_key(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Charged and not drawn: nobody else refines the same, and the key goes on."""
    session = make()
    plans = [session.plan([["age", "town"]], budget=budget) for budget in (0.1, 0.3)]
    session.release(plans[0])
    with monkeypatch.context() as patch:
        patch.setattr(Draws, "take", lambda *_: (_ for _ in ()).throw(LedgerError("gone")))
        with pytest.raises(LedgerError):
            session.release(plans[1], key="two")
    other = session.release(plans[1], key="three")
    assert other.cost == pytest.approx(0.3, rel=1e-5)  # measured anew
    first = session.release(plans[1], key="two")
    assert first.cost == pytest.approx(0.2, rel=1e-5)
    assert [one.refines is None for one in session.history] == [True, True, False]
    assert session.verify().intact


def test_who_is_overtaken_decides_again(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody refines the same between decision and charge."""
    session = make()
    plans = [session.plan([["age", "town"]], budget=budget) for budget in (0.1, 0.2, 0.4)]
    session.release(plans[0])
    before = session._vault.snapshot().facts
    session.release(plans[1])
    plain, old = Facts.refinable, [before]

    def late(facts: Facts, query: object) -> object:
        return plain(old.pop() if old else facts, query)  # type: ignore[arg-type]

    monkeypatch.setattr(Facts, "refinable", late)
    assert session.release(plans[2]).cost == pytest.approx(0.2, rel=1e-5)
    assert [one.refines and one.refines.place for one in session.history] == [None, 0, 1]


def test_many_at_once_refine_a_table_once(make: Make) -> None:
    """N = 6 threads release with less noise; no measurement is refined twice."""
    session = make(epsilon=5.0)
    session.release(session.plan([["age", "town"]], budget=0.1))
    plans = [session.plan([["age", "town"]], budget=0.2 + 0.1 * turn) for turn in range(6)]
    threads = [threading.Thread(target=session.release, args=(plan,)) for plan in plans]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    refined = [one.refines.place for one in session.history if one.refines is not None]
    assert len(session.history) == 7
    assert len(refined) == len(set(refined)) >= 1
    assert session.verify().intact


def test_a_replay_of_the_ledger_comes_to_the_same(make: Make) -> None:
    """A plan is a function of the ledger: planned on the same entries, it is the same plan."""
    session = make()
    plan = session.plan([["age", "town"]], budget=0.3)
    session.release(session.plan([["age", "town"]], budget=0.1))
    session.release(plan)
    (stored,) = (
        json.loads(json.dumps(entry.payload["plan"]))
        for entry in session.ledger_entries()[-3:]
        if entry.kind == "reserve"
    )
    (part,) = stored["parts"]
    assert part["refines"]["place"] == 0
    laws = [one.law for one in session.history]
    assert part["law"] == laws[1].to_json()
    assert part["refines"]["steps"] == laws[0].steps  # type: ignore[union-attr]
