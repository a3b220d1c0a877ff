"""SQL asked through a session: one number, tables, formulas in steps, keys and refusals."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import eke
from eke.engine import Vault
from eke.errors import AccuracyError, KeyConflict, Refused, SqlError

PEOPLE = 20_000


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    sex = rng.choice(["F", "M"], PEOPLE, p=[0.3, 0.7])
    return pd.DataFrame(
        {
            "age": rng.integers(18, 68, PEOPLE),
            "sex": sex,
            "hours": np.clip(np.round(rng.normal(np.where(sex == "F", 34, 40), 8)), 0, 80),
        }
    )


@pytest.fixture
def session(people: pd.DataFrame, tmp_path: Path) -> eke.Session:
    domain = eke.Domain(
        age=eke.Integer(18, 67),
        sex=eke.Categorical("F", "M"),
        hours=eke.Integer(0, 80),
    )
    return eke.create(tmp_path / "people.eke", data=people, domain=domain, epsilon=2.0)


def spent(session: eke.Session) -> float:
    return session.budget.spent


def test_one_number_is_an_answer_and_free_when_asked_again(session):
    text = "SELECT COUNT(*) FROM people WHERE age BETWEEN 30 AND 40 AND sex = 'F'"
    first = session.ask(text, within=60, confidence=0.95)
    assert isinstance(first, eke.Answer)
    assert not first.free
    assert first.within <= 60
    before = spent(session)
    for other in (
        text,
        "select count(*) from people where sex in ('F') and age >= 30 and not age > 40",
        """SELECT SUM(CASE WHEN sex = 'F' THEN 1 ELSE 0 END) AS n FROM people
        WHERE age > 29 AND age < 41 ERROR WITHIN 60 AT CONFIDENCE 0.95""",
    ):
        accuracy = {} if "ERROR" in other else {"within": 60}
        again = session.ask(other, **accuracy)
        assert (again.value, again.interval, again.free) == (first.value, first.interval, True)
    by_python = session.ask(eke.count(age=(30, 40), sex="F"), within=60)
    assert by_python.value == first.value
    assert spent(session) == before


def test_constants_and_weights_are_part_of_the_answer(session, people):
    answer = session.ask("SELECT 2000 * COUNT(*) - 10000 FROM people", within=200_000)
    assert abs(answer.value - (2000 * len(people) - 10_000)) < 10 * 200_000
    assert answer.posterior.value == pytest.approx(answer.value)


def test_groups_are_the_declared_ones_and_add_up(session, people):
    result = session.ask("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex", within=100)
    assert not result.is_number
    assert result.columns == ("sex", "n")
    assert result.is_key == (True, False)
    assert [row[0] for row in result.rows] == ["F", "M"]
    total = session.ask("SELECT COUNT(*) FROM people", within=200)
    assert total.free
    assert total.value == pytest.approx(sum(row[1].value for row in result.rows))
    frame = result.to_pandas()
    assert list(frame.columns) == ["sex", "n", "n_low", "n_high"]
    assert ((frame["n_high"] - frame["n_low"]) / 2 <= 100.001).all()
    assert result.to_arrow().column_names == list(frame.columns)
    assert json.loads(result.to_json())["rows"][0]["sex"] == "F"
    assert "<table>" in result._repr_html_()
    assert "sex" in repr(result)


def test_having_order_and_limit_act_on_the_noisy_rows(session):
    text = (
        "SELECT CASE WHEN age < 30 THEN 'young' WHEN age < 60 THEN 'middle' ELSE 'old' END AS a, "
        "COUNT(*) AS n FROM people GROUP BY a HAVING n > 1000 ORDER BY n DESC LIMIT 2"
    )
    result = session.ask(text, within=100)
    values = [row[1].value for row in result.rows]
    assert len(values) == 2
    assert values == sorted(values, reverse=True)
    assert result.rows[0][0] == "middle"
    assert session.ask(text, within=100).rows == result.rows


def test_averages_have_intervals_and_are_free_the_second_time(session, people):
    text = "SELECT sex, AVG(hours) AS mean, COUNT(*) AS n FROM people GROUP BY sex"
    result = session.ask(text, within={"mean": 0.5, "n": 200})
    assert result.receipt.steps > 1
    true = people.groupby("sex")["hours"].mean()
    for sex, mean, n in result.rows:
        assert (mean.high - mean.low) / 2 <= 0.5
        assert (n.high - n.low) / 2 <= 200.001
        assert abs(mean.value - true[sex]) < 3.0
    again = session.ask(text, within={"mean": 0.5, "n": 200})
    assert again.free
    assert again.rows == result.rows
    whole = session.ask("SELECT AVG(hours) FROM people", within=0.6)
    assert isinstance(whole, eke.Answer)
    low, high = whole.interval
    assert low < whole.value < high
    assert 0.0 < whole.probability(above=whole.value - 0.1) < 1.0


def test_answers_are_as_wide_as_the_decision_said(session):
    """Draws decide the widths of spreads: the answer shows those that the decision looked at."""
    text = (
        "SELECT sex, AVG(age) AS a, STDDEV(age) AS s, VARIANCE(age) AS v FROM people GROUP BY sex"
    )
    asked = {"a": 2.0, "s": 1.0, "v": 30.0}
    answer = session.ask(text, within=asked)
    shares = [
        (cell.high - cell.low) / 2.0 / asked[name]
        for row in answer.rows
        for name, cell in zip(answer.columns[1:], row[1:], strict=True)
    ]
    assert max(shares) <= 1.0
    assert session.preview(text, within=asked).known == pytest.approx(max(shares) * asked["a"])


def test_an_answer_needs_no_look_back_when_history_has_grown(session, monkeypatch):
    """On a busy server others pay between the release and the reading of its text."""

    def look_back(*_: object) -> None:
        raise AssertionError("inferred anew")

    monkeypatch.setattr(Vault, "inference_through", look_back)
    answer = session.ask("SELECT COUNT(*) FROM people WHERE sex = 'F'", within=100)
    assert answer.variance == pytest.approx(2 * (100 / np.log(20)) ** 2, rel=0.05)
    with pytest.raises(AssertionError, match="anew"):
        _ = answer.posterior


def test_a_key_gives_the_same_text_and_charges_once(session):
    text = "SELECT AVG(age) FROM people"
    first = session.ask(text, within=0.5, key="k")
    before = spent(session)
    again = session.ask(text, within=0.5, key="k")
    assert (again.value, again.interval, again.cost) == (first.value, first.interval, first.cost)
    assert spent(session) == before
    with pytest.raises(KeyConflict):
        session.ask(text, within=0.4, key="k")


def test_steps_that_were_paid_are_found_again_after_a_crash(session, monkeypatch):
    """The process dies before the answer is stored: the retry pays for nothing twice."""
    text = "SELECT AVG(age) FROM people"

    def dies(*_: object) -> str:
        raise OSError("gone")

    monkeypatch.setattr(session._vault, "remember", dies)
    with pytest.raises(OSError, match="gone"):
        session.ask(text, within=0.5, key="k")
    before = spent(session)
    assert before > 0
    monkeypatch.undo()
    answer = session.ask(text, within=0.5, key="k")
    assert spent(session) == before
    assert answer.receipt.steps >= 2
    assert answer.cost == pytest.approx(before)


def test_preview_spends_nothing_and_knows_about_steps(session):
    plain = session.preview("SELECT COUNT(*) FROM people", within=60)
    assert (plain.action, plain.first_step) == ("measure", False)
    stepwise = session.preview("SELECT AVG(age) FROM people ERROR WITHIN 1")
    assert stepwise.first_step
    assert "next step" in stepwise.explain()
    assert spent(session) == 0


def test_refusals_say_what_a_first_look_cost(session):
    with pytest.raises(Refused, match="Nothing was spent on it but epsilon") as refused:
        session.ask("SELECT AVG(age) FROM people WHERE hours = 40", within=1e-4)
    assert spent(session) < 0.1
    assert isinstance(refused.value.refusal, eke.Preview)
    assert not refused.value.refusal.affordable
    with pytest.raises(Refused, match="Nothing was spent\\. Instead"):
        session.ask("SELECT COUNT(*) FROM people", within=0.5)


@pytest.mark.parametrize(
    ("text", "accuracy", "error", "message"),
    [
        ("SELECT COUNT(*) FROM people", {}, AccuracyError, "how accurate"),
        ("SELECT COUNT(*) FROM people ERROR WITHIN 5", {"within": 5}, AccuracyError, "twice"),
        ("SELECT COUNT(*) AS n FROM people", {"within": {"m": 5}}, AccuracyError, "they are n"),
        ("SELECT COUNT(*) FROM people", {"within": "wide"}, AccuracyError, "within"),
        ("SELECT name FROM people", {"within": 5}, SqlError, "1:8"),
        ("DROP TABLE people", {"within": 5}, SqlError, "1:1"),
    ],
)
def test_bad_requests_cost_nothing(session, text, accuracy, error, message):
    with pytest.raises(error, match=message):
        session.ask(text, **accuracy)
    assert spent(session) == 0


def test_functions_around_aggregates_are_applied_to_the_answer(new, people):
    session = new(epsilon=1e6)
    plain = session.ask("SELECT AVG(hours) AS h FROM people", within=0.01)
    before = spent(session)
    shown = session.ask("SELECT ROUND(AVG(hours), 1) AS h FROM people", within=0.01)
    assert spent(session) == before
    assert shown.value == pytest.approx(round(plain.value, 1))
    assert shown.interval == tuple(pytest.approx(round(end, 1)) for end in plain.interval)
    assert shown.value == pytest.approx(people["hours"].mean(), abs=0.2)  # 20 times what was asked


def test_functions_around_aggregates_are_sorted_and_filtered_by(session):
    text = """SELECT sex, ROUND(COUNT(*), -3) AS n, COALESCE(AVG(age), 0) AS a FROM people
        GROUP BY sex HAVING ROUND(COUNT(*), -4) >= 10000 ORDER BY n DESC"""
    answer = session.ask(text, within={"n": 50, "a": 2.0})
    assert [(row[0], row[1].value) for row in answer.rows] == [("M", 14_000), ("F", 6_000)]
    assert all(row[1].low % 1000 == row[1].high % 1000 == 0 for row in answer.rows)
    again = session.ask(text, within={"n": 50, "a": 2.0})
    assert again.free
    assert again.rows == answer.rows


def test_finished_columns_have_no_estimates(session):
    session.ask("SELECT COUNT(*) FROM people", within=100)
    with pytest.raises(eke.errors.QueryError):
        session.estimate("SELECT ROUND(COUNT(*), -2) FROM people")


def test_correlations_are_answered(new, people):
    answer = new(epsilon=1e6).ask("SELECT CORR(age, hours) AS r FROM people", within=0.001)
    assert answer.value == pytest.approx(people["age"].corr(people["hours"]), abs=0.02)
