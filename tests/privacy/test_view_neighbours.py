"""Views, tried by brute force: all neighbours of small random tables, and what changes in the view.

The views are carried out by plain DuckDB on the SQL that eke wrote. N is stated at each test; views
that are refused, admitted here on purpose, are caught by the same checks.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import product
from unittest.mock import patch

import duckdb
import pandas as pd
import pytest

import eke
from eke.data import open_source
from eke.data.row_sample import RowSample
from eke.errors import DataError
from eke.privacy.view import base_name
from eke.sql.view import read_view

Row = tuple[int | None, ...]
Tables = dict[str, list[Row]]

COLUMNS = {
    "visits": ("id", "doctor", "cost"),
    "people": ("id", "sex"),
    "doctors": ("doctor", "ward"),
}
IDS = (0, 1, 2)
# A view, and the column by which the rows of each protected table belong to an id.
WITH_UNIT = [
    ("SELECT v.id AS unit, v.cost AS x, p.sex AS y FROM visits v JOIN people p USING (id)", "vp"),
    (
        "SELECT v.id AS unit, v.cost AS x, p.sex AS y FROM visits v LEFT JOIN people p USING (id)",
        "vp",
    ),
    (
        (
            "SELECT p.id AS unit, v.cost AS x, d.ward AS y FROM people p JOIN visits v USING (id) "
            "LEFT JOIN doctors d ON v.doctor = d.doctor WHERE v.cost > 0"
        ),
        "vp",
    ),
    (
        (
            "SELECT v.id AS unit, d.ward AS x, p.sex AS y "
            "FROM doctors d JOIN visits v USING (doctor) "
            "LEFT JOIN people p ON v.id = p.id AND p.sex = 1"
        ),
        "vp",
    ),
    ("SELECT a.id AS unit, a.cost AS x, b.cost AS y FROM visits a JOIN visits b USING (id)", "v"),
    (
        (
            "SELECT v.id AS unit, v.cost AS x, 0 AS y FROM visits v UNION ALL "
            "SELECT p.id AS unit, 1 AS x, p.sex AS y FROM people p WHERE p.sex = 1"
        ),
        "vp",
    ),
    ("SELECT id AS unit, COUNT(*) AS x, MAX(cost) - MIN(cost) AS y FROM visits GROUP BY id", "v"),
    ("SELECT DISTINCT id AS unit, doctor AS x, cost AS y FROM visits", "v"),
    (
        (
            "SELECT v.id AS unit, SUM(d.ward) AS x, COUNT(DISTINCT p.sex) AS y FROM visits v "
            "JOIN people p USING (id) LEFT JOIN doctors d ON v.doctor = d.doctor "
            "GROUP BY v.id, v.cost HAVING COUNT(*) FILTER (WHERE v.cost > 0) < 2"
        ),
        "vp",
    ),
    (
        (
            "SELECT id AS unit, AVG(cost) AS x, BOOL_OR(cost > 1) AS y FROM visits GROUP BY 1 "
            "UNION ALL SELECT id AS unit, sex AS x, TRUE AS y FROM people"
        ),
        "vp",
    ),
]
ROW_BY_ROW = [
    "SELECT v.cost AS x, p.sex AS y FROM visits v JOIN people p USING (id)",
    (
        "SELECT v.cost AS x, d.ward AS y FROM visits v LEFT JOIN people p USING (id) "
        "LEFT JOIN doctors d ON v.doctor = d.doctor AND d.ward = 1 WHERE v.cost > 0"
    ),
]
ENGINE = duckdb.connect(config={"threads": 1})
SHORT = {"v": "visits", "p": "people"}


def drawn(dice: random.Random, *, unique: bool = False) -> Tables:
    """Small tables; with unique keys where rows are protected one by one."""
    tables: Tables = {}
    for name, columns in COLUMNS.items():
        rows = [tuple(dice.choice([None, *IDS]) for _ in columns) for _ in range(dice.randrange(6))]
        if unique and name != "visits":
            rows = list({row[0]: row for row in rows}.values())
        tables[name] = rows
    return tables


def result(select: str, names: Sequence[str], tables: Mapping[str, Sequence[Row]]) -> Counter[Row]:
    """The rows of a view, by plain DuckDB."""
    for place, name in enumerate(names):
        columns = ", ".join(f"{column} INTEGER" for column in COLUMNS[name])
        ENGINE.execute(f"CREATE OR REPLACE TABLE {base_name(place)} ({columns})")
        if tables[name]:
            rows = ", ".join(str(row).replace("None", "NULL") for row in tables[name])
            ENGINE.execute(f"INSERT INTO {base_name(place)} VALUES {rows}")
    return Counter(ENGINE.execute(select).fetchall())


def moves_others(select: str, names: Sequence[str], protected: str, tables: Tables) -> bool:
    """Whether rows of other ids change when all rows of some id go from the protected tables."""
    before = result(select, names, tables)
    for unit in (None, *IDS):
        without = {
            name: [row for row in rows if name not in _full(protected) or row[0] != unit]
            for name, rows in tables.items()
        }
        after = result(select, names, without)
        others = [Counter({r: n for r, n in c.items() if r[0] != unit}) for c in (before, after)]
        if others[0] != others[1]:
            return True
    return False


def _full(short: str) -> set[str]:
    return {SHORT.get(letter, letter) for letter in short} if len(short) < 3 else {short}


@pytest.mark.parametrize(("sql", "protected"), WITH_UNIT)
def test_the_rows_of_one_id_change_no_rows_of_others(sql: str, protected: str) -> None:
    """N = 15 sets of tables, with each of four ids removed from all tables that carry it."""
    plan = read_view(sql)
    assert set(plan.promise(eke.Unit("unit")).protected) == _full(protected)
    dice = random.Random(7)
    for _ in range(15):
        assert not moves_others(plan.select, plan.tables, protected, drawn(dice))


@pytest.mark.parametrize(
    ("select", "names", "protected"),
    [
        ("SELECT id, count(*) OVER () FROM eke_base_0", ["visits"], "v"),
        ("SELECT max(id), cost FROM eke_base_0 GROUP BY cost", ["visits"], "v"),
        ("SELECT id + 0, (SELECT sum(cost) FROM eke_base_0) FROM eke_base_0", ["visits"], "v"),
        ("SELECT id, count(*) FROM eke_base_0 GROUP BY ROLLUP (id)", ["visits"], "v"),
        ("SELECT id, cost FROM eke_base_0 ORDER BY cost LIMIT 2", ["visits"], "v"),
        # A table that is taken for public is not protected: its rows make rows of many ids.
        (
            "SELECT a.id, b.ward FROM eke_base_0 a JOIN eke_base_1 b ON a.doctor = b.doctor",
            ["visits", "doctors"],
            "doctors",
        ),
        # An id that COALESCE makes where a LEFT JOIN met nothing.
        (
            (
                "SELECT a.id, c.sex FROM eke_base_0 a LEFT JOIN eke_base_1 b "
                "ON a.id = COALESCE(b.doctor, 1) LEFT JOIN eke_base_2 c "
                "ON COALESCE(b.doctor, 1) = c.id"
            ),
            ["visits", "doctors", "people"],
            "p",
        ),
        # An id from the right side of a LEFT JOIN.
        (
            "SELECT b.id, a.cost FROM eke_base_0 a LEFT JOIN eke_base_1 b ON a.id = b.id",
            ["visits", "people"],
            "p",
        ),
    ],
)
def test_views_that_are_refused_are_caught(select: str, names: list[str], protected: str) -> None:
    dice = random.Random(7)
    assert any(moves_others(select, names, protected, drawn(dice)) for _ in range(40))


@pytest.mark.parametrize("sql", ROW_BY_ROW)
def test_a_row_of_the_first_table_makes_at_most_one_row(sql: str) -> None:
    """N = 3 sets of tables; each row removed, and each of 64 possible rows added."""
    plan = read_view(sql)
    assert plan.promise(None).protected == ("visits",)
    dice = random.Random(7)
    for _ in range(3):
        tables = drawn(dice, unique=True)
        assert largest_change(plan.select, plan.tables, tables) <= 1


def test_a_key_that_occurs_twice_is_caught_and_refused() -> None:
    plan = read_view(ROW_BY_ROW[0])
    dice = random.Random(7)
    assert any(largest_change(plan.select, plan.tables, drawn(dice)) > 1 for _ in range(5))
    frames = {"visits": pd.DataFrame({"id": [1], "cost": [2]})}
    frames["people"] = pd.DataFrame({"id": [5, 5], "sex": [0, 1]})  # nobody meets it yet
    with pytest.raises(DataError, match="occurs more than once in 'people'"):
        open_source(eke.View(ROW_BY_ROW[0], frames), eke.Domain(x=eke.Integer(0, 2)))


def largest_change(select: str, names: Sequence[str], tables: Tables) -> int:
    before = result(select, names, tables)
    visits = tables["visits"]
    others = [visits[:n] + visits[n + 1 :] for n in range(len(visits))]
    others += [[*visits, row] for row in product((None, *IDS), repeat=3)]
    changes = [result(select, names, {**tables, "visits": rows}) for rows in others]
    return max((before - after).total() + (after - before).total() for after in changes)


def test_counts_change_by_as_many_rows_as_the_accountant_assumes() -> None:
    """N = 4 sets of tables: at most 2 of an id's rows go, and none of another's comes."""
    sql, unit = WITH_UNIT[0][0], eke.Unit("unit", rows=2)
    values = eke.Integer(0, 2, null="bucket")
    domain = eke.Domain(x=values, y=values)
    dice = random.Random(7)
    most = 0
    for _ in range(4):
        tables = drawn(dice)
        before = counted(sql, domain, unit, tables)
        for gone in IDS:
            without = {
                name: [row for row in rows if name == "doctors" or row[0] != gone]
                for name, rows in tables.items()
            }
            after = counted(sql, domain, unit, without)
            assert not after - before
            most = max(most, (before - after).total())
    assert most == 2  # the bound is met: joins multiply rows, and some are cut


def counted(
    sql: str, domain: eke.Domain, unit: eke.Unit, tables: Tables
) -> Counter[tuple[int, ...]]:
    frames = {
        name: pd.DataFrame(tables[name], columns=list(COLUMNS[name]), dtype="Int64")
        for name in ("visits", "people")
    }
    with patch.object(RowSample, "draw", lambda: RowSample("2/fixed")):
        (table,) = open_source(eke.View(sql, frames), domain, unit).counts([("x", "y")])
    return Counter(dict(zip(map(tuple, table.codes.tolist()), table.counts.tolist(), strict=True)))
