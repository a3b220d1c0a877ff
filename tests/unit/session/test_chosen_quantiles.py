"""Chosen quantiles as questions: what they answer, what they cost, and what is refused for free."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

import eke
from eke.engine.standing import Standing
from eke.errors import AccuracyError, EkeError, PrivacyError, QueryError, Refused, SqlError
from eke.planning import Plan
from eke.query.runs import Runs, codes_used
from eke.session.ask.aim import Aim
from eke.session.beginning import beginning_of
from tests.parts import in_long

ROWS = 4000
DOMAIN = eke.Domain(
    pay=eke.Integer(0, 4095, null="bucket"),
    day=eke.Date("2013-01-01", "2013-12-31"),
    sex=eke.Categorical("F", "M"),
)
LIMITS = ({"epsilon": 2.0}, {"rho": 0.5})


def table(rows: int = ROWS) -> pd.DataFrame:
    coins = np.random.default_rng(7)
    pay = pd.array(np.clip(coins.lognormal(6.5, 0.7, rows), 0, 4095).astype(int), dtype="Int64")
    pay[coins.random(rows) < 0.05] = pd.NA
    days = pd.to_datetime("2013-01-01") + pd.to_timedelta(coins.integers(0, 365, rows), "D")
    return pd.DataFrame({"pay": pay, "day": days, "sex": coins.choice(["F", "M"], rows)})


PEOPLE = table()


def opened(folder, people=PEOPLE, **options):
    return eke.create(
        folder / "people.eke", people, DOMAIN, **({"epsilon": 2.0} | options), analyst="ann"
    )


def off(values, share, chosen):
    """How many records lie between a number and the quantile's place."""
    known = values.dropna()
    place = share * len(known)
    return max((known < chosen).sum() - place, place - (known <= chosen).sum(), 0)


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("share", [0.5, 0.9, 0.25])
def test_the_number_is_as_near_as_is_said(tmp_path, share, limit):
    """At confidence 0.999999, so that a miss is no chance."""
    people = opened(tmp_path, **{"epsilon": None, **limit})
    question = eke.quantile("pay", share, sex="F").chosen()
    preview = people.preview(question, confidence=0.999999, spend=0.1)
    answer = people.ask(question, confidence=0.999999, spend=0.1)
    assert answer.rank_error == math.ceil(preview.within)
    assert off(PEOPLE.pay[PEOPLE.sex == "F"], share, answer.value) <= answer.rank_error < 1000
    assert 0.0999 < answer.cost <= 0.1
    assert people.budget.spent == answer.cost
    assert answer.interval == (0, 4095)
    assert people.verify().intact


def test_a_share_of_the_records_is_met_after_a_look_at_their_number(tmp_path):
    """At confidence 0.999999, so that a miss of their number is no chance."""
    people = opened(tmp_path)
    question = "SELECT CHOSEN_QUANTILE(pay, 0.9) AS q FROM people WHERE sex = 'F' ERROR WITHIN 2 %"
    assert people.preview(question).first_step
    answer = people.ask(question, confidence=0.999999)
    records = PEOPLE.pay[PEOPLE.sex == "F"].count()
    assert answer.receipt.steps in (2, 3)  # at so high a confidence one look may be too vague
    assert len(people.history) == answer.receipt.steps - 1
    assert 0.01 * records < answer.rank_error <= math.ceil(0.02 * records)
    assert off(PEOPLE.pay[PEOPLE.sex == "F"], 0.9, answer.value) <= answer.rank_error


@pytest.mark.parametrize(
    "other",
    [
        "SELECT CHOSEN_MEDIAN(pay) FROM people SPEND 0.1",
        "SELECT chosen_quantile(pay, 0.5) AS m FROM people LIMIT 1000 SPEND 0.02",
        "SELECT CHOSEN_MEDIAN(m) FROM (SELECT pay AS m FROM people) SPEND 0.1",
        "SELECT CHOSEN_MEDIAN(pay) FILTER (WHERE sex IN ('F', 'M')) FROM people SPEND 0.1",
    ],
)
def test_the_same_again_is_free_in_other_words_and_with_less_to_spend(tmp_path, other):
    people = opened(tmp_path)
    first = people.ask(eke.median("pay").chosen(), spend=0.1)
    again = people.ask(other)
    assert again.free
    assert (again.value, again.rank_error) == (first.value, first.rank_error)
    assert "Free" in again.explain()
    assert people.preview(other).free


@pytest.mark.parametrize(
    "other",
    [
        (eke.quantile("pay", 0.51).chosen(), 0.1),
        (eke.median("pay", sex="F").chosen(), 0.1),
        (eke.median("day").chosen(), 0.1),
        (eke.median("pay").chosen(), 0.2),
    ],
)
def test_another_question_or_more_accuracy_is_paid_for(tmp_path, other):
    people = opened(tmp_path)
    people.ask(eke.median("pay").chosen(), spend=0.1)
    question, spend = other
    answer = people.ask(question, spend=spend)
    assert not answer.free
    assert answer.cost == pytest.approx(spend, rel=1e-5)


def test_the_best_choice_is_the_answer_from_then_on(tmp_path):
    people = opened(tmp_path)
    coarse = people.ask(eke.median("pay").chosen(), spend=0.02)
    fine = people.ask(eke.median("pay").chosen(), spend=0.5)
    assert fine.rank_error < coarse.rank_error
    again = people.ask(eke.median("pay").chosen(), spend=0.02)
    assert (again.value, again.rank_error, again.free) == (fine.value, fine.rank_error, True)


def test_it_is_found_again_after_opening_and_by_everybody(tmp_path):
    first = opened(tmp_path).ask(eke.median("pay").chosen(), spend=0.1)
    for _ in range(2):  # the second time from a checkpoint
        people = eke.open(tmp_path / "people.eke", data=PEOPLE, analyst="bob")
        again = people.ask(eke.median("pay").chosen(), spend=0.1)
        assert (again.value, again.free) == (first.value, True)
        (chosen,) = people.history.choices
        assert (chosen.value, chosen.analyst) == (first.value, "ann")
        people.ask(eke.count(), within=60)


def test_a_key_is_answered_once(tmp_path):
    people = opened(tmp_path)
    first = people.ask(eke.median("pay").chosen(), spend=0.1, key="monday")
    spent = people.budget.spent
    people.ask(eke.median("pay").chosen(), spend=0.4)
    again = people.ask(eke.median("pay").chosen(), spend=0.1, key="monday")
    assert again.to_json() == first.to_json()
    assert people.budget.spent - spent < 0.4


def test_dates_are_chosen_as_dates(tmp_path):
    answer = opened(tmp_path).ask("SELECT CHOSEN_MEDIAN(day) FROM people SPEND 1")
    assert "2013-06" < answer.value < "2013-08"
    assert answer.interval == ("2013-01-01", "2013-12-31")


def test_counts_that_were_released_before_give_the_interval_and_the_choice_changes_none(tmp_path):
    people = opened(tmp_path)
    people.ask(eke.quantile("pay", 0.5), within=200)
    before = people.ask(eke.count(sex="F"), within=60).value
    answer = people.ask(eke.median("pay").chosen(), spend=0.2)
    low, high = answer.interval
    assert high - low <= 400 + abs(answer.value - 700)
    assert low <= answer.value <= high
    with pytest.raises(QueryError, match="make the claim about MEDIAN"):
        answer.probability(above=500)
    assert 0 < people.claim(eke.quantile("pay", 0.5), "> 500").probability <= 1
    assert people.ask(eke.count(sex="F"), within=60).value == before


REFUSED: dict[str, tuple[Any, dict[str, Any], type[Exception]]] = {
    "in the column's unit": (eke.median("pay").chosen(), {"within": 5}, AccuracyError),
    "by groups": (eke.median("pay").chosen().by("sex"), {"spend": 0.1}, QueryError),
    "of an expression": ("SELECT CHOSEN_MEDIAN(pay / 2) FROM t", {"spend": 0.1}, SqlError),
    "two": ("SELECT CHOSEN_MEDIAN(pay), CHOSEN_MEDIAN(day) FROM t", {"spend": 0.1}, QueryError),
    "beside a count": ("SELECT CHOSEN_MEDIAN(pay), COUNT(*) FROM t", {"spend": 0.1}, QueryError),
    "calculated with": ("SELECT CHOSEN_MEDIAN(pay) + 1 FROM t", {"spend": 0.1}, SqlError),
    "rounded": ("SELECT ROUND(CHOSEN_MEDIAN(pay)) FROM t", {"spend": 0.1}, QueryError),
    "HAVING": (
        "SELECT CHOSEN_MEDIAN(pay) FROM t HAVING CHOSEN_MEDIAN(pay) > 1",
        {"spend": 0.1},
        QueryError,
    ),
    "OVER": ("SELECT CHOSEN_MEDIAN(pay) OVER () FROM t", {"spend": 0.1}, SqlError),
    "grouped in SQL": (
        "SELECT sex, CHOSEN_MEDIAN(pay) FROM t GROUP BY sex",
        {"spend": 0.1},
        QueryError,
    ),
    "no share": ("SELECT CHOSEN_QUANTILE(pay) FROM t", {"spend": 0.1}, SqlError),
    "share": ("SELECT CHOSEN_QUANTILE(pay, 1.5) FROM t", {"spend": 0.1}, EkeError),
    "texts": ("SELECT CHOSEN_MEDIAN(sex) FROM t", {"spend": 0.1}, SqlError),
    "nobody": ("SELECT CHOSEN_MEDIAN(pay) FROM t WHERE pay > 9999", {"spend": 0.1}, SqlError),
    "too dear": (eke.median("pay").chosen(), {"spend": 3}, Refused),
    "too little": (eke.median("pay").chosen(), {"spend": 1e-10}, AccuracyError),
    "groups_of": (eke.median("pay").chosen(), {"spend": 0.1, "groups_of": 100}, AccuracyError),
    "nothing said": (eke.median("pay").chosen(), {}, AccuracyError),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_costs_nothing_and_leaves_no_trace(tmp_path, name):
    people = opened(tmp_path)
    question, accuracy, error = REFUSED[name]
    for act in (people.ask, people.preview) if error is not Refused else (people.ask,):
        with pytest.raises(error) as problem:
            act(question, **accuracy)
        assert len(str(problem.value)) > 30
    assert people.budget.spent == 0
    assert len(people.ledger_entries()) == 1


def test_others_that_cannot_choose_refuse(tmp_path):
    people = opened(tmp_path)
    with pytest.raises(EkeError):
        people.estimate("SELECT CHOSEN_MEDIAN(pay) FROM t")
    with pytest.raises(EkeError):
        people.curve(eke.median("pay").chosen(), [1.0, 2.0])
    people.ask(eke.median("pay").chosen(), spend=0.1)
    with pytest.raises(QueryError, match="claim about MEDIAN"):
        people.claim(eke.median("pay").chosen(), "> 500")
    with pytest.raises(QueryError, match="only a quantile is chosen"):
        eke.mean("pay").chosen()
    assert people.budget.spent <= 0.1


def test_the_limit_can_be_spent_to_the_last_and_not_beyond(tmp_path):
    people = opened(tmp_path, epsilon=0.1)
    people.ask(eke.median("pay").chosen(), spend=0.06)
    with pytest.raises(Refused) as refusal:
        people.ask(eke.quantile("pay", 0.9).chosen(), spend=0.06)
    assert "offer spend=" in str(refusal.value)
    left = people.remaining
    answer = people.ask(eke.quantile("pay", 0.9).chosen(), spend=left)
    assert answer.cost <= left
    assert people.budget.spent <= 0.1


def test_a_refused_share_says_what_is_free(tmp_path):
    people = opened(tmp_path)
    people.ask(eke.median("pay").chosen(), spend=0.5)
    with pytest.raises(Refused) as refusal:
        people.ask(eke.median("pay").chosen(), within="0.001 %")
    assert "records off is free now" in str(refusal.value)


@pytest.mark.parametrize("rows", [0, 1])
@pytest.mark.parametrize("turns", [18, in_long(60)])
def test_of_nobody_any_number_is_as_good(folder, rows, turns):
    """Of 18 choices of 4,096 numbers at least 12 differ, but in 1 run of more than 10^15.

    In the long part at least 40 of 60 do.
    """
    people = opened(folder, PEOPLE[:rows], epsilon=1e4)
    values = {
        people.ask(eke.median("pay", sex="M").chosen(), spend=0.0001 * 1.01**turn).value
        for turn in range(turns)
    }
    assert len(values) >= 2 * turns / 3


def test_a_condition_on_the_column_itself_leaves_fewer_numbers_and_less_to_be_off(tmp_path):
    people = opened(tmp_path, epsilon=1e4)
    few = "SELECT CHOSEN_MEDIAN(pay) FROM people WHERE pay BETWEEN 100 AND 109 SPEND 0.01"
    answer = people.ask(few)
    assert 100 <= answer.value <= 109
    assert answer.rank_error < people.ask("SELECT CHOSEN_MEDIAN(pay) FROM t SPEND 0.01").rank_error
    before = len(people.ledger_entries())
    for accuracy in ("SPEND 0.01", "ERROR WITHIN 1 PERCENT"):
        with pytest.raises(QueryError, match="a single number of 'pay'"):
            people.ask(f"SELECT CHOSEN_MEDIAN(pay) FROM t WHERE pay = 7 {accuracy}")
    assert len(people.ledger_entries()) == before


def test_all_records_on_one_value_are_found(tmp_path):
    same = PEOPLE.assign(pay=1234)
    for share in (0.001, 0.5, 0.999):
        folder = tmp_path / str(share)
        folder.mkdir()
        answer = opened(folder, same).ask(eke.quantile("pay", share).chosen(), spend=2)
        assert share != 0.5 or answer.value == 1234


def test_a_unit_of_several_rows_pays_for_all_of_them(tmp_path):
    people = PEOPLE.assign(id=np.arange(ROWS) // 2)
    alone, pairs = tmp_path / "alone", tmp_path / "pairs"
    for folder in (alone, pairs):
        folder.mkdir()
    one = opened(alone).ask(eke.median("pay").chosen(), spend=0.1)
    two = opened(pairs, people, unit=eke.Unit("id", rows=2)).ask(
        eke.median("pay").chosen(), spend=0.1
    )
    assert two.rank_error == pytest.approx(2 * one.rank_error, abs=2)
    assert two.cost <= 0.1


def test_a_plan_with_choices_is_charged_what_they_cost(tmp_path):
    """The junction prices a choice from its own numbers, and draws none that is not paid for."""
    people = opened(tmp_path)
    plan = people._answering._vault
    good = people._request(eke.median("pay").chosen(), Aim(spend=0.1), policy=None).decide(
        plan.facts()
    )
    cheap = Plan((), later_loss=good.plan.later_loss - 1, choices=good.plan.choices)
    with pytest.raises(PrivacyError):
        plan.release(cheap, analyst="ann", key="cheap", digest="d", answer=lambda *_: "drawn")
    assert not people.history.choices
    free = Plan((), choices=good.plan.choices)
    with pytest.raises(PrivacyError):
        plan.release(free, analyst="ann", key="free", digest="d", answer=lambda *_: "drawn")
    assert len(people.ledger_entries()) == 1


def test_of_nobody_a_share_is_refused_before_much_is_spent(tmp_path):
    """Looks at a number that may be 0 end where a tenth of what is left would go to the next."""
    people = opened(tmp_path, PEOPLE[:0], epsilon=1.0)
    with pytest.raises(Refused, match="no more than a tenth"):
        people.ask(eke.median("pay").chosen(), within="1 %")
    assert people.budget.spent < 0.25
    assert not people.history.choices


@pytest.mark.parametrize("policy", ["look_ahead", "top_up", "direct"])
def test_plans_that_follow_a_choice_are_those_without_it(tmp_path, policy):
    """What a count costs by itself is what it costs after a choice: losses add up."""
    costs = []
    for turn in range(2):
        folder = tmp_path / str(turn)
        folder.mkdir()
        people = opened(folder)
        if turn:
            people.ask(eke.median("pay").chosen(), spend=0.1, policy=policy)
        costs.append(people.ask(eke.count(sex="F"), within=80, policy=policy).cost)
    assert costs[0] == costs[1]


def test_a_public_number_of_records_needs_no_look(tmp_path):
    whole = eke.Domain(
        pay=eke.Integer(0, 4095, null=eke.Replace(0)),
        sex=eke.Categorical("F", "M", null="bucket", outside="bucket"),
    )
    assert whole.total
    rows = PEOPLE[["pay", "sex"]].dropna()
    people = eke.create(
        tmp_path / "whole.eke", rows, whole, epsilon=2.0, neighbours="replace_one", analyst="ann"
    )
    answer = people.ask(eke.median("pay").chosen(), within="3 %", confidence=0.999999)
    assert answer.receipt.steps == 1
    assert off(rows.pay, 0.5, answer.value) <= (answer.rank_error or 0)
    assert answer.rank_error == math.ceil(0.03 * len(rows))


def test_an_entry_of_a_choice_is_explained_and_reported(tmp_path):
    people = opened(tmp_path)
    answer = people.ask("SELECT CHOSEN_MEDIAN(day) AS m FROM t", spend=0.3)
    (record,) = people.history.to_records()
    assert record["chosen"] == answer.value
    assert record["noise_deviation"] is None
    document = people.measurement(record["sequence"])
    assert document["cost"] == answer.cost
    (choice,) = document["choices"]
    assert (choice["chosen"], choice["share"]) == (answer.value, "1/2")
    page = eke.write_report(people, tmp_path / "report.html", [answer]).read_text("utf-8")
    assert page.count(str(answer.value)) >= 2
    assert "chosen median of day" in page
    assert people.history.to_pandas().chosen.tolist() == [answer.value]


def test_the_ledger_alone_says_what_was_chosen_charged_and_is_free(tmp_path):
    """Without the table: the same loss, the same choices, and the same decisions."""
    people = opened(tmp_path, rho=0.5, epsilon=None)
    people.ask(eke.median("pay").chosen(), spend=0.1)
    people.ask(eke.quantile("pay", 0.9, sex="F").chosen(), within="5 %")
    standing = Standing(beginning_of(people.settings))
    standing.take_in(people.ledger_entries())
    facts = standing.snapshot().facts
    assert facts.accountant.spent == people.budget.spent_nano
    assert tuple(facts.choices) == people.history.choices
    for question, aim in (
        (eke.median("pay").chosen(), Aim(spend=0.1)),
        (eke.median("pay").chosen(), Aim(spend=0.2)),
        (eke.quantile("pay", 0.9, sex="F").chosen(), Aim("5 %")),
        (eke.quantile("pay", 0.9, sex="F").chosen(), Aim("0.01 %")),
    ):
        request = people._request(question, aim, policy=None)
        here = people._vault.facts()
        assert request.decide(facts) == request.decide(here)


@pytest.mark.parametrize("seed", range(20))
def test_ends_of_stretches_are_those_of_what_is_listed(seed, monkeypatch):
    """The slow twin lists every entry, with and without the last one, a bucket's."""
    rng = np.random.default_rng(seed)
    entries = np.repeat(rng.integers(0, 2, 30), rng.integers(1, 9, 30))
    size, changes = len(entries), np.flatnonzero(np.diff(entries, prepend=-1))
    stretches = Runs(size, tuple((int(at), int(entries[at]), 0, 0) for at in changes))
    monkeypatch.setattr("eke.query.runs.is_wide", lambda _: True)
    found = codes_used(stretches)
    assert len(found) < np.count_nonzero(entries)
    for stop in (size, size - 1):
        listed = np.flatnonzero(entries[:stop])
        ends = found[found < stop]
        assert [ends.min(), ends.max()] == [listed.min(), listed.max()]
        assert set(ends) <= set(listed)


def test_a_condition_on_a_column_of_very_many_values_leaves_those_between(tmp_path):
    amounts = np.arange(2000) * 5003.07
    domain = eke.Domain(pay=eke.Decimal(0, 10_000_000, 2, null="bucket"))
    people = eke.create(tmp_path / "wide.eke", pd.DataFrame({"pay": amounts}), domain, epsilon=1e4)
    answer = people.ask("SELECT CHOSEN_MEDIAN(pay) FROM t WHERE pay > 9000000.5 SPEND 50")
    inside = amounts[amounts > 9000000.5]
    assert abs(answer.value - np.median(inside)) < 10_007
    low = people.ask("SELECT CHOSEN_MEDIAN(pay) FROM t WHERE pay BETWEEN 10 AND 19.99 SPEND 1e-3")
    assert 10 <= low.value <= 19.99
    with pytest.raises(QueryError, match="not how far"):
        low.probability(above=3)
