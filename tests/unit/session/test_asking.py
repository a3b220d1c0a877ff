"""Asking: paid once, free from then on, refused without spending."""

from __future__ import annotations

import math

import numpy as np
import pytest

import eke
from eke.query import Query
from tests.parts import in_long
from tests.unit.session.conftest import CLOSED, make_people

NEARLY_SURE = 1 - 1e-9
"""Intervals at this confidence miss once in a billion runs, so a test may rely on them."""


def test_a_paid_answer(session, people):
    answer = session.ask(eke.count(sex="Female"), within=60)
    assert not answer.free
    assert answer.source == "paid"
    assert answer.within <= 60
    assert answer.confidence == 0.95
    assert answer.value == pytest.approx(sum(answer.interval) / 2)
    assert answer.cost == pytest.approx(math.log(20) / 60, rel=1e-4)
    assert session.budget.spent == answer.cost
    truth = int((people["sex"] == "Female").sum())
    low, high = answer.posterior.interval(NEARLY_SURE)
    assert low < truth < high
    assert answer.variance == pytest.approx(answer.posterior.variance)
    assert answer.probability(above=-1e6, below=1e6) == pytest.approx(1)


def test_asked_again_it_is_the_same_answer_for_free(session):
    first = session.ask(eke.count(sex="Female"), within=60)
    second = session.ask(eke.count(sex="Female"), within=60, analyst="bob")
    assert second.free
    assert second.cost == 0
    assert (second.value, second.interval) == (first.value, first.interval)
    assert session.budget.spent == first.cost
    assert session.ask(eke.count(sex="Female"), within=1e6, confidence=0.5).free


@pytest.mark.parametrize("analyst", ["a\0b", "x" * 300, 7, ["ann"]])
def test_a_name_that_is_none_is_refused_for_a_free_answer_too(session, analyst):
    """A free answer without a key is not written down, so that the ledger does not see the name."""
    session.ask(eke.count(sex="Female"), within=60)
    before = session.ledger_entries()
    with pytest.raises(eke.errors.LedgerError, match="analyst"):
        session.ask(eke.count(sex="Female"), within=60, analyst=analyst)
    assert session.ledger_entries() == before


def test_other_spellings_of_a_question_are_the_same_question(session):
    first = session.ask(eke.count(age=(17, 20)), within=60)
    spellings = [
        eke.count(age=[20, 19, 18, 17]),
        eke.count(age=(None, 20)),
        eke.count(age=17) + eke.count(age=(18, 20)),
        eke.count() - eke.count(age=(21, 26)),
        3 * eke.count(age=(17, 20)) / 3,
        eke.table("age", [1, 1, 1, 1, 0, 0, 0, 0, 0, 0]),
        eke.count(age=(17, 20)).on(session.domain),
    ]
    for asked in spellings:
        again = session.ask(asked, within=60)
        assert again.free
        assert again.value == pytest.approx(first.value)


def test_history_sharpens_later_answers(session):
    session.ask(eke.count(age=(17, 20)), within=100)
    session.ask(eke.count(age=(21, 26)), within=100)
    preview = session.preview(eke.count(), within=80)
    alone = math.log(20) / 80
    assert preview.action == "measure"
    assert 0 < preview.cost < alone, "what is known lowers the price"
    answer = session.ask(eke.count(), within=80)
    assert answer.cost == pytest.approx(preview.cost)
    assert answer.within <= 80
    assert "history offered only ±" in answer.explain()


def test_a_preview_spends_nothing(session):
    before = session.ledger_entries()
    paid = session.preview(eke.count(), within=60)
    refused = session.preview(eke.count(), within=0.1)
    assert paid.affordable
    assert not paid.free
    assert not refused.affordable
    assert session.ledger_entries() == before
    assert session.budget.spent == 0
    session.ask(eke.count(), within=60)
    assert session.preview(eke.count(), within=60).free
    for shown in (paid, refused, session.preview(eke.count(), within=60)):
        assert shown.question in shown.explain()
        assert shown._repr_html_().startswith("<div>")


def test_a_refusal_spends_nothing_and_gives_advice_that_holds(session):
    session.ask(eke.count(age=(17, 20)), within=30)
    before = session.ledger_entries()
    with pytest.raises(eke.Refused) as caught:
        session.ask(eke.count(age=(17, 20)), within=0.5)
    assert session.ledger_entries() == before
    refusal = caught.value.refusal
    assert isinstance(refusal, eke.Preview)
    text = str(caught.value)
    assert text == refusal.explain().split("\n", 1)[1]
    assert "Nothing was spent" in text
    free = float(text.split("ask with within=")[1].partition(")")[0])
    assert session.preview(eke.count(age=(17, 20)), within=free).free
    bought = float(text.rsplit("±", 1)[1].rstrip("."))
    assert session.preview(eke.count(age=(17, 20)), within=bought).affordable
    assert not session.preview(eke.count(age=(17, 20)), within=0.9 * bought).affordable
    answer = session.ask(eke.count(age=(17, 20)), within=bought)
    assert answer.within <= bought
    assert session.budget.remaining < 0.05


def test_an_exhausted_budget_still_answers_from_history(session):
    session.ask(eke.marginal("sex"), within=3.05)
    with pytest.raises(eke.Refused):
        session.ask(eke.count(age=17), within=1)
    assert session.ask(eke.count(sex="Female"), within=4).free
    assert session.ask(eke.count(), within=10).free


def test_constants_and_weights(session, people):
    asked = 2000 * eke.count(sex="Female") - 10_000
    answer = session.ask(asked, within=120_000)
    assert answer.cost == pytest.approx(math.log(20) / 60, rel=1e-4)
    assert "10000" in answer.receipt.question
    same = session.ask(eke.count(sex="Female"), within=60)
    assert same.free
    assert answer.value == pytest.approx(2000 * same.value - 10_000)
    assert session.ask(-1 * eke.count(sex="Female") + 5, within=60).value == pytest.approx(
        5 - same.value
    )
    assert session.history[0].query.constant == 0


def test_questions_that_no_record_can_change_are_free_and_exact(session):
    for asked, value in ((eke.constant(7.5), 7.5), (eke.count() - eke.count(), 0.0)):
        answer = session.ask(asked, within=1e-6, confidence=0.999)
        assert answer.free
        assert answer.value == value
        assert answer.interval == (value, value)
        assert answer._repr_html_()
        assert "Free" in answer.explain()
    block = session.ask(eke.marginal("sex", of=eke.count() - eke.count()), within=1e-6)
    assert block.values == (0.0, 0.0)
    assert len(session.history) == 0


def test_a_table_of_answers(session, people):
    answer = session.ask(eke.marginal("sex", "age"), within=60)
    assert len(answer) == 20
    assert answer.attributes == ("sex", "age")
    assert answer.keys[0] == ("Female", 17)
    assert answer.keys[-1] == ("Male", 26)
    assert answer.cost == pytest.approx(math.log(20) / 60, rel=1e-4), "disjoint cells cost once"
    assert all((high - low) / 2 <= 60 for low, high in answer.intervals)
    again = session.ask(eke.marginal("age", "sex"), within=60)
    assert again.free
    assert again.values == answer.values
    women = session.ask(eke.count(sex="Female"), within=300)
    assert women.free
    assert women.value == pytest.approx(sum(answer.values[:10]))
    assert "20 rows" in answer.explain()


def test_a_block_of_sums(session, people):
    answer = session.ask(eke.marginal("sex", of=eke.total("age")), within=1000)
    assert answer.cost == pytest.approx(26 * math.log(20) / 1000, rel=1e-3)
    truth = people.groupby("sex")["age"].sum()
    for row, (sex,) in enumerate(answer.keys):
        low, high = answer.belief(row, 1).interval(NEARLY_SURE)
        assert low < truth[sex] < high


def test_cells_are_those_of_the_domain_whatever_the_data(new):
    """A GROUP BY returns exactly the declared values, zeros included."""
    nobody = new(data=make_people(0))
    everybody = new()
    asked = eke.marginal("city", "age")
    assert nobody.ask(asked, within=60).keys == everybody.ask(asked, within=60).keys


def test_zcdp(new, people):
    session = new(rho=0.01)
    answer = session.ask(eke.count(sex="Female"), within=60)
    assert answer.receipt.measure == "rho"
    assert answer.cost == pytest.approx(1.959964**2 / (2 * 60**2), rel=1e-4)
    low, high = answer.posterior.interval(NEARLY_SURE)
    assert low < (people["sex"] == "Female").sum() < high
    assert session.budget.measure == "rho"
    assert session.budget.epsilon(1e-9) > session.budget.epsilon(1e-6) > 0
    with pytest.raises(eke.EkeError, match="1e-9"):
        session.budget.epsilon()


def test_policies(new):
    by_policy = {}
    for policy in ("direct", "top_up"):
        session = new(policy=policy)
        session.ask(eke.count(age=(17, 20)), within=100)
        by_policy[policy] = session.ask(eke.count(age=(17, 20)), within=60).cost
    assert by_policy["top_up"] < by_policy["direct"]
    session = new()
    assert session.preview(eke.count(), 60, policy="direct").cost > 0
    with pytest.raises(eke.EkeError, match="direct, top_up"):
        session.preview(eke.count(), 60, policy="best")


def test_the_number_of_rows_is_public_when_records_are_replaced(new, people):
    session = new(domain=CLOSED, neighbours="replace_one")
    everyone = session.ask(eke.count(), within=0.01, confidence=0.99)
    assert everyone.free
    assert everyone.value == pytest.approx(len(people), abs=1e-3)
    women = session.ask(eke.count(sex="Female"), within=60)
    assert women.cost == pytest.approx(math.log(20) / 60, rel=1e-4)
    men = session.ask(eke.count(sex="Male"), within=60)
    assert men.free, "the complement follows"
    assert women.value + men.value == pytest.approx(len(people), abs=1e-3)
    block = session.preview(eke.marginal("age"), within=60)
    assert 0 < block.cost < 2.001 * math.log(20) / 60, "a record moves two cells"


def test_the_number_of_rows_is_private_when_rows_can_be_dropped(new):
    session = new(neighbours="replace_one")
    assert session.settings["public_rows"] is None
    assert not session.preview(eke.count(), within=60).free


def test_a_unit_of_several_rows_costs_as_many_times(new):
    row = new().ask(eke.count(), within=60).cost
    person = new(unit=eke.Unit("person", rows=2)).ask(eke.count(), within=60)
    assert person.cost == pytest.approx(2 * row, rel=1e-6)
    concentrated = new(rho=1.0).ask(eke.count(), within=60).cost
    squared = new(rho=1.0, unit=eke.Unit("person", rows=2)).ask(eke.count(), within=60).cost
    assert squared == pytest.approx(4 * concentrated, rel=1e-6)


def test_at_most_so_many_rows_of_a_person_are_counted(new, people):
    session = new(unit=eke.Unit("person", rows=1), epsilon=1000.0)
    answer = session.ask(eke.count(), within=1, confidence=NEARLY_SURE)
    assert abs(answer.value - len(people) / 2) <= 1


def test_questions_of_another_domain_are_refused(session):
    other = eke.Domain(sex=eke.Categorical("Female", "Male"))
    with pytest.raises(eke.EkeError, match="another domain"):
        session.ask(eke.count().on(other), within=60)
    same = eke.Domain(dict(session.domain.attributes))
    assert session.ask(eke.count().on(same), within=60).cost > 0


def test_answers_are_whole_numbers_on_a_grid(session):
    """A released value is a multiple of the step of its noise, nothing finer."""
    session.ask(eke.total("age") / 3, within=5000)
    (measurement,) = session.history
    (value,) = measurement.values
    assert value / measurement.law.step == round(value / measurement.law.step)
    assert isinstance(measurement.query, Query)
    assert measurement.law.exponent <= measurement.query.exponent


def test_noise_is_fresh_every_time(new):
    """Two datasets over one table: the chance of equal noise is about 1e-7."""
    values = [new().ask(eke.count(), within=60).value for _ in range(2)]
    assert values[0] != values[1]


def test_old_answers_keep_their_posterior(session):
    first = session.ask(eke.count(), within=200)
    before = first.posterior.interval(0.95)
    session.ask(eke.count(), within=20)
    np.testing.assert_allclose(first.posterior.interval(0.95), before, rtol=1e-9)
    np.testing.assert_allclose(first.posterior.interval(0.95), first.interval, rtol=1e-9)
    assert session.ask(eke.count(), within=20).within <= 20


def test_the_curator_can_change_the_limit_but_not_below_the_loss(new):
    session = new(epsilon=0.5)
    session.ask(eke.count(), within=20)
    assert session.change_limit(1.5).limit == 1.5
    with pytest.raises(eke.EkeError):
        session.change_limit(0.01)
    with pytest.raises(eke.EkeError):
        session.change_limit(float("nan"))
    assert session.budget.limit == 1.5
    assert session.ask(eke.count(age=(17, 20)), within=4).cost > 0
    assert session.verify().problems == ()


@pytest.mark.parametrize("left", [1e-6, *map(in_long, (0.05, 0.001))])
def test_a_formula_is_refused_with_advice_however_little_is_left(
    session: eke.Session, left: float
) -> None:
    """What the rest of the budget buys may be coarser than what history says already."""
    mean = "SELECT AVG(age) FROM people WHERE sex = 'Male'"
    session.change_limit(100)  # some noise would need more than is there at first
    low, high = session.ask(mean, within=1).interval
    session.change_limit(session.budget.spent + left)
    for times in (10, 1000):
        with pytest.raises(eke.Refused, match=r"is free now .*; the") as refused:
            session.ask(mean, within=(high - low) / 2 / times)
        refusal = refused.value.refusal
        assert isinstance(refusal, eke.Preview)
        assert refusal.known is not None
        assert refusal.known <= 1
