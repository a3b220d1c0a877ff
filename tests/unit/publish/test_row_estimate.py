"""Estimates from rows: intervals hold the real number, and where they could not there are none."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import eke
from benchmarks.row_estimates import judged, made, questions, some
from eke.codec.estimate import read_row_estimate, row_estimate_document
from eke.errors import QueryError
from eke.publish.published import Published
from eke.publish.row_accuracy import GroupNoise, Lesson, RowAccuracy, spread_of
from eke.publish.row_estimate import RowEstimate

DOMAIN = eke.Domain(
    age=eke.Integer(0, 9),
    town=eke.Categorical("A", "B", null="bucket"),
    rich=eke.Boolean(null="never", outside="never"),
    flat=eke.Categorical("x", "y"),
)
RECEIPT = {
    "total": 1000.0,
    "accuracy": RowAccuracy(1000.0, 9.0, 4.0, 3, dict.fromkeys(DOMAIN.names, 2.0)).to_document(),
}


def interval_of(estimate: RowEstimate) -> tuple[float, float]:
    assert estimate.interval is not None
    return estimate.interval


def rows(number: int = 500, **receipt: Any) -> Published:
    draw = np.random.default_rng(2)
    codes = np.stack([draw.integers(0, size, number) for size in DOMAIN.shape], axis=1)
    return Published(DOMAIN, DOMAIN.names, codes, {**RECEIPT, **receipt})


@pytest.mark.parametrize("epsilon", [0.3, 2.0])
def test_intervals_hold_the_real_number_on_questions_that_were_not_measured(epsilon: float) -> None:
    """N = 2 tables of 3,000 records, 40 questions of up to 5 kinds: 320 at each budget.

    At 95 %, at least 93 % hold. Positive control: intervals that count sampling alone do not.
    """
    outcomes = []
    for seed, name in enumerate(("adult", "binary")):
        domain, real = some(name, 3000, 6)
        published = made(domain, real, epsilon, seed)
        for judgements in judged(published, questions(domain, real, 40, seed + 7)).values():
            outcomes += judgements
    assert len(outcomes) > 280
    held, sampled, *_ = np.mean(outcomes, axis=0)
    assert held >= 0.93
    if epsilon < 1.0:
        assert sampled < 0.85


@pytest.mark.parametrize(
    ("asked", "plain"),
    [
        (eke.count(age=(2, 5)), lambda f: 2.0 * f["age"].between(2, 5).sum()),
        ("SELECT COUNT(*) FROM t WHERE town IS NULL", lambda f: 2.0 * f["town"].isna().sum()),
        (eke.total("age", town="A"), lambda f: 2.0 * f.loc[f["town"] == "A", "age"].sum()),
        (eke.mean("age", rich=True), lambda f: f.loc[f["rich"] == True, "age"].mean()),  # noqa: E712
        (eke.ratio(eke.count(town="A"), eke.count()), lambda f: (f["town"] == "A").sum() / len(f)),
        (2 * eke.count(rich=True) + 5, lambda f: 4.0 * (f["rich"] == True).sum() + 5),  # noqa: E712
    ],
)
def test_the_value_is_what_the_rows_say(asked: Any, plain: Callable[[Any], float]) -> None:
    published = rows()
    estimate = published.estimate(asked)
    assert estimate.value == pytest.approx(plain(published.to_pandas()))
    assert estimate.value is not None
    low, high = interval_of(estimate)
    assert low < estimate.value < high
    assert "deviations: noise" in str(estimate)
    wider = interval_of(published.estimate(asked, confidence=0.99))
    assert wider[0] < low < high < wider[1]


def test_the_parts_of_the_error_follow_from_the_receipt() -> None:
    """The obvious twin for a count of two columns, 1,000 records and 500 rows."""
    published = rows()
    errors = published.estimate(eke.count(age=3, town="B")).errors
    assert errors is not None
    frame = published.codes
    meets = ((frame[:, 0] == 3) & (frame[:, 1] == 1)).astype(float)
    variance = 1000.0 * meets.var()
    assert errors.sampling == pytest.approx(math.sqrt(2.0 * variance))
    assert errors.misfit == pytest.approx(math.sqrt(3.0 * variance))
    noise = meets.mean() ** 2 * 9.0
    for column, size in ((0, 10), (1, 3)):
        for value in range(size):
            mine = meets[frame[:, column] == value]
            noise += 2.0 * (mine.mean() - meets.mean()) ** 2
    assert errors.noise == pytest.approx(math.sqrt(noise))
    together = errors.noise**2 + errors.misfit**2 + errors.sampling**2
    assert errors.together == pytest.approx(math.sqrt(together))


def test_of_what_no_row_has_there_may_be_records() -> None:
    """Nobody in the rows is 9 years old or lives in B: noise may hide a few such records.

    Obvious twin: the noise of a count that was measured, and one record in as many as there are
    rows. Without them these intervals would be single numbers.
    """
    published = rows()
    codes = published.codes
    codes[:, 0] %= 9
    codes[:, 1] = 0
    codes[:, 3] = 0
    nine = published.estimate(eke.count(age=9))
    assert nine.value == 0.0
    assert nine.errors is not None
    assert nine.errors.noise == pytest.approx(math.sqrt(2.0))
    assert nine.errors.sampling == pytest.approx(math.sqrt(2.0 * 1000.0 / 500.0))
    assert interval_of(nine)[1] > 1.959 * nine.errors.together
    tail = published.estimate(eke.total("age", age=(9, 9))).errors
    assert tail is not None
    assert tail.noise == pytest.approx(9.0 * nine.errors.noise)
    everybody = published.estimate(eke.count(flat="x"))
    assert everybody.errors is not None
    assert everybody.errors.noise == pytest.approx(math.sqrt(9.0 + 2.0))
    both = published.estimate(eke.count(age=9, town="B")).errors
    assert both is not None
    assert min(both.misfit, both.sampling) > 0.0


@pytest.mark.parametrize(
    ("asked", "most"), [(eke.count(age=3), 1000.0), (eke.mean("age"), 9.0), (eke.count(), 0.0)]
)
def test_one_row_says_next_to_nothing(asked: Any, most: float) -> None:
    """All rows are alike where there is one: the interval is as wide as the numbers there are."""
    low, high = interval_of(rows(1).estimate(asked))
    assert high - low > most


def test_wide_columns_together_are_bounded_and_not_listed() -> None:
    """40,000 values by 40: nobody in the rows meets the condition, and somebody may."""
    domain = eke.Domain(wide=eke.Integer(0, 39_999), kind=eke.Integer(0, 39))
    codes = np.stack([np.full(200, 7), np.arange(200) % 39], axis=1)
    accuracy = RowAccuracy(200.0, 9.0, 2.0, 2, {"wide": 2.0, "kind": 2.0}).to_document()
    published = Published(domain, domain.names, codes, {"total": 200.0, "accuracy": accuracy})
    nobody = published.estimate(eke.count(wide=(100, 300), kind=39))
    assert nobody.value == 0.0
    assert nobody.errors is not None
    assert nobody.errors.sampling == pytest.approx(1.0)
    low, high = interval_of(published.estimate(eke.mean("wide", kind=3)))
    assert low < 7.0 < high


def test_what_was_measured_in_groups_is_known_by_groups() -> None:
    """Twin: the error of a sum as noise of groups, and of records moved within them."""
    groups = GroupNoise((0, 2, 6), 3.0)
    added, held = np.arange(8.0), np.array([50.0, 50.0, 0.0, 0.0, 0.0, 0.0, 30.0, 0.0])
    expected = 0.0
    for values in (range(2), range(2, 6), range(6, 8)):
        mine = [added[value] for value in values]
        both = 1.0 / (1.0 / (len(mine) * 2.0) + 1.0 / 3.0)
        middle = sum(mine) / len(mine)
        records = sum(held[value] for value in values) + math.sqrt(both)
        moved = ((max(mine) - min(mine)) * records / 2.0) ** 2
        expected += middle**2 * both
        expected += min(2.0 * sum((one - middle) ** 2 for one in mine), moved)
    assert groups.of_sum(added, held, 2.0) == pytest.approx(expected)
    assert expected < 2.0 * (added**2).sum()
    known = RowAccuracy(130.0, 9.0, 4.0, 3, {"age": 2.0}, {"age": groups}).to_document()
    again = RowAccuracy.from_document(json.loads(json.dumps(known)))
    assert again.groups["age"].starts == groups.starts
    older = RowAccuracy.from_document({k: v for k, v in known.items() if k != "groups"})
    assert not older.groups


def test_where_nothing_honest_can_be_said_there_is_no_interval() -> None:
    nowhere = rows()
    nowhere.codes[:, 1] = 1
    many = {"age": 3, "town": "A", "rich": True, "flat": "x"}
    nothing = RowAccuracy(1000.0, 9.0, None, 3, dict.fromkeys(DOMAIN.names, 2.0)).to_document()
    for published, asked, reason in (
        (rows(), eke.count(many), "at most 3 columns together, and this is about 4"),
        (rows(accuracy=None), eke.count(age=3), "does not say how far"),
        (rows(accuracy=nothing), eke.count(age=3, town="A"), "no table of two columns"),
        (rows(0), eke.count(age=3), "nobody to compute it from"),
        (nowhere, eke.mean("age", town="A"), "nobody"),
    ):
        estimate = published.estimate(asked)
        assert estimate.interval is None
        assert reason in estimate.reason
        assert "without an interval" in str(estimate)
    assert rows(accuracy=nothing).estimate(eke.count(age=3)).interval is not None


def test_bins_widen_intervals_and_are_told() -> None:
    """An average of bins of width 10 may be off by 5, and a sum by nobody knows how much."""
    domain = eke.Domain(hours=eke.Binned([0, 10, 20, 30]), town=eke.Categorical("A", "B"))
    codes = np.stack([np.arange(600) % 3, np.arange(600) % 2], axis=1)
    accuracy = RowAccuracy(600.0, 1.0, 1.0, 2, {"hours": 1.0, "town": 1.0}).to_document()
    published = Published(domain, domain.names, codes, {"total": 600.0, "accuracy": accuracy})
    average = published.estimate(eke.mean("hours", town="A"))
    assert average.errors is not None
    assert average.value == pytest.approx(15.0)
    low, high = interval_of(average)
    assert (high - low) / 2.0 == pytest.approx(5.0 + 1.959964 * average.errors.together, rel=1e-6)
    assert any("hours" in caveat for caveat in average.caveats)
    assert average.caveats[0] in average.explain()
    total = published.estimate(eke.total("hours"))
    assert total.errors is not None
    low, high = interval_of(total)
    assert (high - low) / 2.0 == pytest.approx(1.959964 * total.errors.together, rel=1e-6)
    assert any("hours" in caveat for caveat in total.caveats)


def test_what_sql_does_at_last_is_done_to_both_ends() -> None:
    plain = rows().estimate("SELECT AVG(age) FROM t")
    low, high = interval_of(plain)
    rounded = rows().estimate("SELECT ROUND(AVG(age)) FROM t")
    assert plain.value is not None
    assert rounded.value == round(plain.value)
    assert interval_of(rounded) == (round(low), round(high))


def test_estimates_go_over_wires_and_back() -> None:
    known = rows().estimate(eke.count(age=3, town="A"))
    unknown = rows(accuracy=None).estimate(eke.count(age=3))
    for estimate in (known, unknown, rows(0).estimate(eke.mean("age"))):
        document = json.loads(json.dumps(row_estimate_document(estimate), allow_nan=False))
        assert read_row_estimate(document) == estimate
    older = {"value": 1.0, "low": None, "high": None, "confidence": 0.9, "later": True}
    assert read_row_estimate(older).interval is None


def test_what_rows_cannot_answer_is_said() -> None:
    published = rows()
    some_columns = Published(DOMAIN, ("age",), published.codes[:, :1], RECEIPT)
    for asked in (
        eke.marginal("town"),
        "SELECT town, COUNT(*) FROM t GROUP BY town",
        "SELECT COUNT(*), SUM(age) FROM t",
        "SELECT MEDIAN(age) FROM t",
        "SELECT 2 * MEDIAN(age) FROM t",
        3,
    ):
        with pytest.raises(QueryError):
            published.estimate(asked)
    with pytest.raises(QueryError, match="do not have town"):
        some_columns.estimate(eke.count(town="A"))
    wrong: list[Any] = [0, 1.0, "x"]
    for confidence in wrong:
        with pytest.raises(QueryError, match="confidence"):
            published.estimate(eke.count(), confidence=confidence)


def test_the_spread_is_that_of_the_errors() -> None:
    """N = 12 tables of 50 counts with 5 times the variance of a sample, and noise."""
    draw = np.random.default_rng(4)
    lessons = []
    for _ in range(12):
        expected = draw.gamma(1.0, 200.0, 50)
        apart = draw.normal(0.0, np.sqrt(5.0 * expected * (1.0 - expected / expected.sum())))
        values = expected + apart + draw.normal(0.0, 8.0, 50)
        lessons.append(Lesson(expected, values, 8.0))
    assert spread_of(lessons) == pytest.approx(5.0, rel=0.25)
    assert spread_of([]) is None
    quiet = [Lesson(each.expected, each.expected, 8.0) for each in lessons]
    assert spread_of(quiet) == pytest.approx(1e-6)


def test_rows_of_a_session_say_how_far_they_are(tmp_path) -> None:
    """Through the ledger; rows from history, and other mechanisms, say that they do not know."""
    draw = np.random.default_rng(1)
    frame = Published(DOMAIN, DOMAIN.names, rows(400).codes, {}).to_pandas()
    frame["age"] = draw.integers(0, 10, 400)
    session = eke.create(tmp_path / "t.eke", frame, DOMAIN, epsilon=9.0)
    published = session.publish("max_entropy", epsilon=4.0, key="k")
    truth = int(frame["age"].between(2, 5).sum())
    low, high = interval_of(published.estimate(eke.count(age=(2, 5))))
    assert low <= truth <= high
    spent = session.budget.spent
    again = Published.from_text(DOMAIN, published.to_text())
    assert again.estimate(eke.count(age=(2, 5))).interval == (low, high)
    free = session.publish("max_entropy", from_history=True)
    assert free.estimate(eke.count(age=3)).interval is None
    assert session.budget.spent == spent
