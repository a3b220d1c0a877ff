"""Quantiles as questions: DuckDB on the rows is the slow twin; noise is small enough to tell."""

from __future__ import annotations

import duckdb
import numpy as np
import pandas as pd
import pytest

import eke
from eke.errors import AccuracyError, QueryError

ROWS = 3000
DOMAIN = eke.Domain(
    sex=eke.Categorical("F", "M"),
    age=eke.Integer(0, 99, null="bucket"),
    pay=eke.Binned([0, 10, 20, 50, 100]),
)


def table(seed=7):
    rng = np.random.default_rng(seed)
    age = pd.array(np.clip(rng.gamma(5, 8, ROWS), 0, 99).astype(int), dtype="Int64")
    age[rng.random(ROWS) < 0.05] = pd.NA
    sex = rng.choice(["F", "M"], ROWS, p=[0.3, 0.7])
    return pd.DataFrame({"sex": sex, "age": age, "pay": rng.uniform(0, 100, ROWS)})


PEOPLE = table()


def session(tmp_path, epsilon=1e6):
    return eke.create(tmp_path / "people.eke", data=PEOPLE, domain=DOMAIN, epsilon=epsilon)


def truth(sql):
    connection = duckdb.connect()
    connection.register("people", PEOPLE)
    return connection.execute(sql).fetchall()


@pytest.mark.parametrize(
    "value",
    [
        "MEDIAN(age)",
        "QUANTILE_DISC(age, 0.9)",
        "QUANTILE_CONT(age, 0.05)",
        "PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY age)",
        "PERCENTILE_DISC(0.75) WITHIN GROUP (ORDER BY age DESC)",
        "quantile(age, 0.3)",
        "QUANTILE_DISC(age, 0.999)",
        "MEDIAN(age) FILTER (WHERE sex = 'F')",
        "MEDIAN(age / 10)",
        "MEDIAN(100 - age)",
        "QUANTILE_DISC(FLOOR(age / 10), 0.6)",
    ],
)
def test_intervals_hold_what_duckdb_finds_in_the_rows(tmp_path, value):
    """At confidence 0.999999, so that a miss is no chance."""
    sql = f"SELECT {value} FROM people"
    answer = session(tmp_path).ask(sql, within=1, confidence=0.999999)
    ((true,),) = truth(sql)
    low, high = answer.interval
    assert low <= float(true) <= high
    assert answer.within <= 1
    assert low <= answer.value <= high


def test_with_next_to_no_noise_the_value_is_that_of_the_rows(tmp_path):
    sql = "SELECT sex, QUANTILE_DISC(age, 0.5) AS m FROM people GROUP BY sex ORDER BY sex"
    answer = session(tmp_path).ask(sql, within=0.1, confidence=0.999999)
    assert [
        (key, value) for (key,), value in zip(answer.keys, answer.values, strict=True)
    ] == truth(sql)
    assert all(low == high for low, high in answer.intervals)


def test_rows_are_ordered_and_kept_by_their_quantiles(tmp_path):
    people = session(tmp_path)
    grouped = "SELECT sex, QUANTILE_DISC(age, 0.9) AS q FROM people GROUP BY sex"
    by_value = people.ask(f"{grouped} ORDER BY q DESC", within=1)
    assert list(by_value.values) == sorted(by_value.values, reverse=True)
    kept = people.ask(f"{grouped} HAVING QUANTILE_DISC(age, 0.9) > 99", within=1)
    assert len(kept) == 0


def test_after_a_histogram_quantiles_are_free(tmp_path):
    people = session(tmp_path, epsilon=10.0)
    people.ask(eke.marginal("age"), within=3)
    for question in (eke.median("age"), "SELECT QUANTILE_DISC(age, 0.9) FROM people"):
        answer = people.ask(question, within=2)
        assert answer.free
        low, high = answer.interval
        assert low <= answer.value <= high


def test_asking_again_is_free_and_so_is_a_wider_interval(tmp_path):
    people = session(tmp_path, epsilon=10.0)
    first = people.ask(eke.median("age"), within=2)
    assert not first.free
    assert first.within <= 2
    again = people.ask("SELECT MEDIAN(age) FROM people", within=3)
    assert again.free
    assert again.interval == first.interval


def test_the_same_key_gives_the_same_answer_and_costs_once(tmp_path):
    people = session(tmp_path, epsilon=10.0)
    first = people.ask(eke.median("age", sex="F"), within=3, key="monday")
    spent = people.budget.spent
    again = people.ask(eke.median("age", sex="F"), within=3, key="monday")
    assert (again.value, again.interval, again.cost) == (first.value, first.interval, first.cost)
    assert people.budget.spent == spent


def test_groups_cost_hardly_more_than_the_smallest_of_them(tmp_path):
    small = session(tmp_path, epsilon=100.0).ask(eke.median("age", sex="F"), within=2)
    (tmp_path / "other").mkdir()
    both = session(tmp_path / "other", epsilon=100.0).ask(eke.median("age").by("sex"), within=2)
    assert both.cost < 4 * small.cost  # noise decides how many steps each takes
    assert all((high - low) / 2 <= 2 for low, high in both.intervals)


def test_a_price_buys_what_it_buys_and_no_more_is_spent(tmp_path):
    people = session(tmp_path, epsilon=10.0)
    preview = people.preview(eke.median("age"), spend=0.5)
    assert preview.affordable
    answer = people.ask(eke.median("age"), spend=0.5)
    assert 0 < answer.cost <= 0.5 + 1e-9
    assert answer.within <= 5
    (true,) = truth("SELECT MEDIAN(age) FROM people")
    assert abs(answer.value - true[0]) <= 5


def test_a_price_is_not_shared_out_between_quantiles_and_others(tmp_path):
    with pytest.raises(AccuracyError, match="one by one"):
        session(tmp_path).ask("SELECT MEDIAN(age), COUNT(*) FROM people", spend=0.1)


def test_other_columns_are_answered_beside_quantiles(tmp_path):
    sql = "SELECT COUNT(*) AS n, AVG(age) AS a, MEDIAN(age) AS m FROM people"
    answer = session(tmp_path).ask(sql, within={"n": 30, "a": 0.5, "m": 1})
    ((rows, mean, median),) = truth(sql)
    count, average, middle = answer.rows[0]
    assert abs(count.value - rows) < 100
    assert abs(average.value - mean) < 2
    assert abs(middle.value - median) < 5
    assert middle.high - middle.low <= 2


def test_bins_widen_the_interval_to_their_edges(tmp_path):
    answer = session(tmp_path).ask("SELECT MEDIAN(pay) FROM people", within=1, confidence=0.999999)
    assert answer.interval[0] in (0, 10, 20, 50)
    assert answer.interval[1] in (10, 20, 50, 100)
    ((true,),) = truth("SELECT MEDIAN(pay) FROM people")
    assert answer.interval[0] <= true <= answer.interval[1]


def test_within_a_share_of_the_records(tmp_path):
    answer = session(tmp_path).ask("SELECT QUANTILE_DISC(age, 0.5) FROM people", within="2 %")
    assert "to come within 2 % of the records" in answer.explain()
    low, high = answer.interval
    ((rows, inside),) = truth(
        f"SELECT COUNT(age), COUNT(*) FILTER (WHERE age > {low} AND age < {high}) FROM people"
    )
    assert inside <= 0.06 * rows  # the estimate of how many there are has noise itself


def test_small_groups_may_be_left_vague(tmp_path):
    people = session(tmp_path, epsilon=2.0)
    answer = people.ask(eke.median("age").by("sex"), within=3, groups_of=1500)
    low, high = answer.intervals[1]
    assert high - low <= 6
    assert answer.cost < 2.0


def test_what_is_left_does_not_buy_is_refused_with_a_reason(tmp_path):
    people = session(tmp_path, epsilon=0.01)
    with pytest.raises(eke.Refused, match="Instead"):
        people.ask(eke.median("age"), within=0.1)


def test_too_much_work_is_refused_before_it_begins(tmp_path):
    wide = eke.Domain(
        group=eke.Integer(0, 99), x=eke.Integer(0, 999_999), sex=eke.Categorical("F", "M")
    )
    rows = pd.DataFrame({"group": [1], "x": [5], "sex": ["F"]})
    people = eke.create(tmp_path / "wide.eke", data=rows, domain=wide, epsilon=1.0)
    with pytest.raises(QueryError, match="nothing was spent"):
        people.preview(eke.median("x").by("group"), within=10)
    assert people.preview(eke.median("x"), within=10).affordable


def test_the_belief_behind_an_answer(tmp_path):
    answer = session(tmp_path, epsilon=100.0).ask(eke.median("age"), within=2)
    low, high = answer.interval
    assert answer.probability(above=low - 1, below=high + 1) >= 0.9
    assert answer.probability(above=high + 20) < 0.05
    assert answer.variance > 0
    points = np.linspace(-1, 100, 4000)
    assert float(np.trapezoid(answer.posterior.density(points), points)) == pytest.approx(
        1, abs=0.02
    )
    assert answer.posterior.support()[0] <= low


def few_numbers(rows: int) -> pd.DataFrame:
    """Distances of a hundred places, of which a few have most of the records."""
    rng = np.random.default_rng(2013)
    shares = 1 / np.arange(1, 101)
    places = rng.choice(np.arange(80, 5000, 10), 100, replace=False)
    return pd.DataFrame({"miles": rng.choice(places, rows, p=shares / shares.sum())})


@pytest.mark.parametrize(
    ("rows", "first", "within"),
    [
        (4_000, "SUM(miles * miles)", 1e8),
        (300_000, "COUNT(*)", 40),
        pytest.param(4_000, "STDDEV_POP(miles)", 20, marks=pytest.mark.long),
        pytest.param(4_000, "COUNT(*)", 40, marks=pytest.mark.long),
        pytest.param(300_000, "STDDEV_POP(miles)", 20, marks=pytest.mark.long),
        pytest.param(300_000, "SUM(miles * miles)", 1e8, marks=pytest.mark.long),
    ],
)
def test_few_steps_find_a_quantile_whatever_was_asked_before(tmp_path, rows, first, within):
    """Sums change at every number, and must not hide the counts; records need not lie evenly."""
    trips = few_numbers(rows)
    miles = eke.Domain(miles=eke.Integer(0, 5000))
    made = eke.create(tmp_path / "trips.eke", data=trips, domain=miles, epsilon=10)
    made.ask(f"SELECT {first} FROM trips", within=within)
    before = made.budget.spent
    answer = made.ask("SELECT MEDIAN(miles) FROM trips", within=50, confidence=0.999)
    low, high = answer.interval
    assert low <= float(trips["miles"].median()) <= high
    assert answer.within <= 50
    steps = {entry.sequence for entry in made.history} - {0}
    assert len(steps) <= 14  # those of the first question among them
    assert made.budget.spent - before < 6  # of 10; noise decides how fine the last step must be


def test_missing_values_that_are_given_a_number_count_by_it(tmp_path):
    """They were left out of the ranks, though not of the number of records."""
    for number in (0, 9, 42, 99):
        sql = f"SELECT QUANTILE_DISC(COALESCE(age, {number}), 0.5) FROM people"
        made = tmp_path / f"{number}"
        made.mkdir()
        answer = session(made).ask(sql, within=0.1, confidence=0.999999)
        assert [(answer.value,)] == truth(sql)
