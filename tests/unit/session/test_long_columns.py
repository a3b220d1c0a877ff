"""A long column, whose values are still listed, is asked like any other, in as little room."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import eke
from eke.session.records import described

ROWS, TOP = 2_000, 3_000.0
DOMAIN = eke.Domain(
    x=eke.Numeric(0, TOP, step=0.01, null="bucket", outside="never"), g=eke.Integer(0, 1)
)


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    rng = np.random.Generator(np.random.PCG64(4))
    cents = rng.integers(0, 300_001, ROWS)
    return pd.DataFrame({"x": (cents / 100).round(2), "g": rng.integers(0, 2, ROWS)})


def test_answers_room_and_reading(table: pd.DataFrame, tmp_path: Path) -> None:
    path = tmp_path / "wide.eke"
    session = eke.create(path, table, DOMAIN, epsilon=1e6)
    inside = table[table.x.between(10, 50.01)]
    asked = {
        "SELECT AVG(x) FROM t": (table.x.mean(), 1.0),
        "SELECT STDDEV_POP(x) FROM t": (table.x.std(ddof=0), 5.0),
        "SELECT COUNT(*) FROM t WHERE x BETWEEN 10 AND 50.01": (len(inside), 0.2),
        "SELECT SUM(x) FROM t WHERE x > 2999.99 OR x = 17.5": (
            table.x[(table.x > 2999.99) | (table.x == 17.5)].sum(),
            5.0,
        ),
    }
    for sql, (truth, within) in asked.items():
        answer = session.ask(sql, within=within, confidence=0.999)
        assert abs(answer.value - truth) <= 4 * within, sql
    rows = session.ask("SELECT g, AVG(x) FROM t GROUP BY g", within=2).to_pandas()
    assert rows["AVG(x)"].to_numpy() == pytest.approx(table.groupby("g").x.mean(), abs=20)
    assert path.stat().st_size < 150_000
    again = eke.open(path, data=table)
    for sql, (_, within) in asked.items():
        free = again.ask(sql, within=within, confidence=0.999)
        assert free.cost == 0, sql
        assert free.value == pytest.approx(session.ask(sql, within=within, confidence=0.999).value)


def test_a_step_of_a_hundredth_has_no_price_of_its_own(table: pd.DataFrame, tmp_path: Path) -> None:
    """What a loose sum costs follows from its accuracy: a column of whole cents costs the same."""
    whole = eke.Domain(x=eke.Integer(0, 300_000, null="bucket"), g=eke.Integer(0, 1))
    coins = eke.create(tmp_path / "coins.eke", table.assign(x=table.x * 100), whole, epsilon=10)
    session = eke.create(tmp_path / "wide.eke", table, DOMAIN, epsilon=10)
    for within in (3e4, 3e6, 3e8):
        for sql in ("SELECT SUM(x) FROM t", "SELECT g, SUM(x) FROM t GROUP BY g"):
            price = session.preview(sql, within=within).cost
            assert price == pytest.approx(coins.preview(sql, within=100 * within).cost, rel=1e-3)
    third = session.preview("SELECT SUM(x) / 3 FROM t", within=1e4).cost
    assert third == session.preview("SELECT SUM(x) FROM t", within=3e4).cost


def test_a_third_of_a_count_is_free_with_the_count(table: pd.DataFrame, tmp_path: Path) -> None:
    session = eke.create(tmp_path / "wide.eke", table, DOMAIN, epsilon=10)
    count = session.ask("SELECT COUNT(*) FROM t", within=30)
    third = session.ask("SELECT COUNT(*) / 3 FROM t", within=10)
    assert third.cost == 0
    assert third.value == pytest.approx(count.value / 3)


def test_a_history_reads_the_same_from_its_documents() -> None:
    domain = eke.Domain(x=eke.Integer(-5, 70_000), g=eke.Integer(0, 1))
    total = eke.total("x", x=(3, 60_000)).on(domain)
    for query in (eke.count(x=(10, 5_001), g=1).on(domain), total):
        assert described(domain, query.to_document()) == query.description
    assert total.description == "sum(x) where x 3–60000"
    assert len(str(total.to_document())) < 200


def test_bands_of_a_wide_column_cost_as_much_as_one(table: pd.DataFrame, tmp_path: Path) -> None:
    """They added up: a column of so many values was charged as a whole for each of them."""
    session = eke.create(tmp_path / "wide.eke", table, DOMAIN, epsilon=10)
    one = session.preview("SELECT COUNT(*) FROM t WHERE x < 10", within=30).cost
    bands = (
        "SELECT CASE WHEN x < 10 THEN 'low' WHEN x < 500 THEN 'middle' WHEN x < 2000 THEN 'high' "
        "ELSE 'top' END AS band, COUNT(*) AS n FROM t GROUP BY band"
    )
    answer = session.ask(bands, within=30)
    assert answer.cost == pytest.approx(one, rel=1e-6)
    exact = pd.cut(table.x, [-1, 9.995, 499.995, 1999.995, 9999]).value_counts(sort=False)
    assert answer.to_pandas()["n"].to_numpy() == pytest.approx(exact.to_numpy(), abs=120)
    later = session.ask("SELECT COUNT(*) FROM t WHERE x BETWEEN 2100 AND 2200", within=30)
    assert later.cost < 1.01 * one


def test_a_loose_total_in_python_costs_what_it_costs_in_sql(
    table: pd.DataFrame, tmp_path: Path
) -> None:
    """With the unit rounded instead of the values, noise could not be as wide as this allows."""
    session = eke.create(tmp_path / "wide.eke", table, DOMAIN, epsilon=10)
    within = 100_000
    price = session.preview("SELECT SUM(x) FROM t", within=within).cost
    assert session.preview(eke.total("x"), within=within).cost == pytest.approx(price, rel=1e-3)


def test_the_median_of_a_wide_column(table: pd.DataFrame, tmp_path: Path) -> None:
    session = eke.create(tmp_path / "wide.eke", table, DOMAIN, epsilon=100)
    low, high = session.ask("SELECT MEDIAN(x) FROM t", within=100, confidence=0.999).interval
    assert low <= table.x.median() <= high


def test_medians_of_a_million_values(tmp_path: Path) -> None:
    """Several in one statement, falling and filtered ones; N = 1,999 rows, next to no noise."""
    rng = np.random.Generator(np.random.PCG64(5))
    cents = np.minimum(rng.lognormal(11, 1.2, ROWS - 1), 999_999).astype(int)
    rows = pd.DataFrame({"x": (cents / 100).round(2), "g": rng.integers(0, 2, ROWS - 1)})
    domain = eke.Domain(x=eke.Numeric(0, 9999.99, step=0.01, outside="never"), g=eke.Integer(0, 1))
    session = eke.create(tmp_path / "million.eke", rows, domain, epsilon=1e7)
    sql = (
        "SELECT QUANTILE_DISC(x, 0.25) AS a, QUANTILE_DISC(x, 0.9) FILTER (WHERE g = 1) AS b, "
        "QUANTILE_DISC(100 - x, 0.5) AS c, MEDIAN(x) AS d, COUNT(*) AS n FROM t"
    )
    widths = {"a": 5, "b": 50, "c": 5, "d": 5, "n": 0.5}
    (found,) = session.ask(sql, within=widths, confidence=0.999999).rows
    true = [
        np.quantile(rows.x, 0.25, method="inverted_cdf"),
        np.quantile(rows.x[rows.g == 1], 0.9, method="inverted_cdf"),
        100 - rows.x.quantile(0.5, "higher"),
        rows.x.median(),
        ROWS - 1,
    ]
    for cell, number in zip(found, true, strict=True):
        assert cell.low - 1e-6 <= number <= cell.high + 1e-6
