"""Views with GROUP BY: one row a person, in whichever order the rows of the tables come."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pandas as pd
import psycopg
import pytest

import eke
from eke.data import open_source, view
from eke.errors import DataError
from tests.unit.data.test_view import counts, database, exact, flights, places, store

__all__ = ["database"]  # a fixture

PLANES = """
SELECT f.tailnum, COUNT(*) AS flights, MAX(p.engine) AS engine,
       SUM(CAST(f.delay AS DECIMAL(9, 2))) / 2 AS delay, AVG(CAST(f.delay AS INTEGER)) AS mean,
       BOOL_OR(f.origin = 'JFK') AS jfk, COUNT(DISTINCT f.month) AS months,
       COUNT(*) FILTER (WHERE f.origin = 'EWR') AS ewr
FROM flights AS f LEFT JOIN planes AS p ON f.tailnum = p.tailnum
WHERE CAST(f.month AS INTEGER) < 12 GROUP BY f.tailnum HAVING COUNT(*) > 10
"""
DOMAIN = eke.Domain(
    flights=eke.Integer(0, 50),
    engine=eke.Categorical("fan", "jet", null="bucket"),
    delay=eke.Numeric(0, 250, step=0.5, null="bucket"),
    mean=eke.Numeric(0, 20, step=0.25, null="bucket"),
    jfk=eke.Boolean(),
    months=eke.Integer(0, 12),
    ewr=eke.Integer(0, 50),
)
UNIT = eke.Unit("tailnum", rows=1)


def truth(frames: dict[str, pd.DataFrame]) -> Counter[tuple[object, ...]]:
    return exact(frames, PLANES, DOMAIN)


@pytest.mark.parametrize("kind", ["memory", "duckdb", "parquet", "csv"])
def test_groups_are_counted_as_duckdb_counts_them(kind: str, tmp_path: Path) -> None:
    frames = flights()
    made = eke.View(PLANES, places(kind, tmp_path, frames))
    source = open_source(made, DOMAIN, UNIT)
    assert counts(source, DOMAIN) == truth(frames)
    assert counts(source, DOMAIN).total() > 10
    data = made if kind == "memory" else None
    assert counts(open_source(source.reference(), DOMAIN, UNIT, data=data), DOMAIN) == truth(frames)
    assert eke.check(made, DOMAIN, unit=UNIT).rows == truth(frames).total()


def test_postgresql_counts_groups_alike(database: str) -> None:
    frames = flights()
    frames["flights"]["delay"] = frames["flights"]["delay"].replace("x", None)
    store(database, frames)
    made = eke.View(PLANES, database)
    assert counts(open_source(made, DOMAIN, UNIT), DOMAIN) == truth(frames)
    assert eke.check(made, DOMAIN, unit=UNIT).rows == truth(frames).total()


def test_a_question_about_people_is_free_of_how_many_rows_they_have(tmp_path: Path) -> None:
    """A count of people costs what a count of rows with one row a person costs."""
    frames = flights()
    people = eke.create(
        tmp_path / "people.eke", eke.View(PLANES, frames), DOMAIN, epsilon=1e3, unit=UNIT
    )
    rows = "SELECT f.tailnum, f.month AS months FROM flights AS f"
    by_row = eke.create(
        tmp_path / "rows.eke",
        eke.View(rows, {"flights": frames["flights"]}),
        eke.Domain(months=eke.Integer(1, 12)),
        epsilon=1e3,
        unit=eke.Unit("tailnum", rows=20),
    )
    asked = "SELECT COUNT(*), AVG(flights) FROM people WHERE engine = 'jet'"
    answer = people.ask(asked, within=0.2)
    jets = [row for row in truth(frames).elements() if row[1] == DOMAIN["engine"].code("jet")]
    count, mean = (float(cell.value) for cell in answer.rows[0][:2])
    assert abs(count - len(jets)) <= 2  # ten times what was asked for
    assert abs(mean - sum(int(str(row[0])) for row in jets) / len(jets)) <= 2
    costs = [
        session.preview("SELECT COUNT(*) FROM t", within=0.5).cost for session in (people, by_row)
    ]
    assert costs[1] == pytest.approx(20 * costs[0], rel=0.1)


SHUFFLED = {
    "whole numbers": ("CAST(x AS BIGINT)", True),
    "decimals": ("CAST(x AS DECIMAL(18, 4))", True),
    "doubles": ("CAST(x AS DOUBLE)", False),
}


@pytest.mark.parametrize(("form", "admitted"), SHUFFLED.values(), ids=SHUFFLED)
def test_no_aggregate_depends_on_the_order_of_rows(
    form: str, admitted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """N = 20 shuffles of 5,000 rows of one id; doubles, admitted on purpose, are the control."""
    domain = eke.Domain(odd=eke.Integer(0, 1), mean=eke.Integer(0, 1))
    last = "CASE WHEN RIGHT(CAST({} AS VARCHAR), 1) IN ('1', '3', '5', '7', '9') THEN 1 ELSE 0 END"
    sums = last.format(f"SUM({form})"), last.format(f"AVG({form})")
    sql = f"SELECT i, {sums[0]} AS odd, {sums[1]} AS mean FROM t GROUP BY i"
    dice = random.Random(5)
    values = [str(dice.uniform(-1, 1) * 10 ** dice.randint(0, 9)) for _ in range(5000)]

    def seen() -> tuple[tuple[int, ...], ...]:
        made = eke.View(sql, {"t": pd.DataFrame({"i": 1, "x": values})})
        (table,) = open_source(made, domain, eke.Unit("i")).counts([domain.names])
        return tuple(map(tuple, table.codes.tolist()))

    if not admitted:
        with pytest.raises(DataError, match="SUM and AVG add up a column of type DOUBLE"):
            seen()
        monkeypatch.setattr(view, "check_group_types", lambda *_: None)
    found = set()
    for _ in range(20):
        dice.shuffle(values)
        found.add(seen())
    assert (len(found) == 1) == admitted


@pytest.mark.parametrize(
    ("item", "kind"),
    [
        ("MAX(CAST(x AS DOUBLE))", "DOUBLE"),  # 0.0 and -0.0
        ("MIN(CAST(x AS FLOAT))", "FLOAT"),
        ("SUM(CAST(x AS FLOAT))", "FLOAT"),
        ("AVG(CAST(x AS DOUBLE)) FILTER (WHERE x > '1')", "DOUBLE"),
        ("SUM(CAST(x AS DECIMAL(38, 2)))", "DECIMAL"),  # may be too large
        ("SUM(CAST(x AS HUGEINT))", "HUGEINT"),
        ("AVG(CAST(x AS DATE))", "DATE"),
        ("MAX(CAST(i AS DATE) - CAST(x AS TIMESTAMP))", "INTERVAL"),
    ],
)
def test_what_could_depend_on_the_order_is_refused(item: str, kind: str) -> None:
    table = pd.DataFrame({"i": ["1"], "x": ["1"]})
    made = eke.View(f"SELECT i, {item} AS x FROM t GROUP BY i", {"t": table})
    for look in (open_source, lambda *parts: eke.check(*parts[:2], unit=parts[2])):
        with pytest.raises(DataError, match=f"type {kind}.*CAST it in the view"):
            look(made, eke.Domain(x=eke.Integer(0, 1)), eke.Unit("i"))


def test_what_could_depend_on_the_order_is_refused_on_a_server(database: str) -> None:
    with psycopg.connect(database) as connection:
        connection.execute(
            "CREATE COLLATION free (provider = icu, locale = 'und-u-ks-level2', "
            "deterministic = false)"
        )
        connection.execute("CREATE TYPE mood AS ENUM ('sad', 'happy')")
        connection.execute(
            "CREATE TABLE t (i int, f float8, r real, n numeric, m numeric(9, 2), s text, "
            "c text COLLATE free, e mood, d timestamptz, v interval, b bool, u varchar(3), "
            "p bpchar)"
        )
        connection.execute(
            "INSERT INTO t VALUES (1, 1, 1, 1, 1, 'a', 'a', 'sad', now(), '1 h', true, 'a', 'a')"
        )
    domain, unit = eke.Domain(x=eke.Integer(0, 1)), eke.Unit("i")
    for item in (
        *("SUM(n)", "SUM(m)", "AVG(i)", "MAX(m)", "MAX(i)", "MIN(s)", "MIN(u)", "MAX(e)", "MAX(d)"),
        *("COUNT(f)", "COUNT(DISTINCT c)", "BOOL_OR(b)"),
    ):
        sql = f"SELECT i, CASE WHEN {item} IS NULL THEN 0 ELSE 1 END AS x FROM t GROUP BY i"
        (found,) = open_source(eke.View(sql, database), domain, unit).counts([("x",)])
        assert found.total == 1
    for item in ("SUM(f)", "AVG(r)", "MAX(f)", "MIN(n)", "MIN(c)", "MAX(v)", "SUM(v)", "MAX(p)"):
        sql = f"SELECT i, CASE WHEN {item} IS NULL THEN 0 ELSE 1 END AS x FROM t GROUP BY i"
        with pytest.raises(DataError, match="depend on the order of the rows"):
            open_source(eke.View(sql, database), domain, unit)
    for key in "fnvcp":
        sql = f"SELECT i, 1 AS x FROM t GROUP BY i, {key}"
        with pytest.raises(DataError, match="GROUP BY, MIN and MAX compare"):
            open_source(eke.View(sql, database), domain, unit)


def test_distinct_rows_of_an_id_are_counted_once() -> None:
    visits = pd.DataFrame({"i": [1, 1, 1, 2], "ward": ["a", "a", "b", "a"]})
    made = eke.View("SELECT DISTINCT i, ward FROM t", {"t": visits})
    domain = eke.Domain(ward=eke.Categorical("a", "b"))
    (found,) = open_source(made, domain, eke.Unit("i", rows=2)).counts([("ward",)])
    assert found.counts.tolist() == [2, 1]
