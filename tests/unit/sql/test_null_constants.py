"""Constants that are NULL, wherever a constant may stand: as DuckDB has it, or a clear error."""

from __future__ import annotations

import itertools

import duckdb
import numpy as np
import pytest

import eke
from eke.errors import SqlError
from eke.sql import parse

DOMAIN = eke.Domain(
    code=eke.Categorical("a", "b", null="bucket"),
    n=eke.Integer(0, 9),
    day=eke.Date("2020-01-01", "2020-01-05"),
)
TEXT, NUMBER, DAY = "NULLIF('a', 'a')", "NULLIF(5, 5)", "NULLIF(day, day)"
CONDITIONS = (
    *(f"code {sign} {TEXT}" for sign in ("=", "<>", "<", ">=", "LIKE", "NOT LIKE", "ILIKE")),
    *(f"{TEXT} {sign} code" for sign in ("=", "<>", "<", ">=", "LIKE")),
    f"code IN ({TEXT})",
    f"code IN ({TEXT}, 'b')",
    f"code NOT IN ({TEXT}, 'b')",
    f"'a' IN ({TEXT}, 'a')",
    f"code = 'a' OR code = {TEXT}",
    f"{TEXT} LIKE 'a%'",
    f"COALESCE({TEXT}, code) = 'a'",
    f"COALESCE({TEXT}, 'a') = 'a'",
    f"CASE WHEN n > 3 THEN {TEXT} ELSE code END = 'a'",
    f"CASE {TEXT} WHEN 'a' THEN 1 ELSE 2 END = 2",
    f"{TEXT} IS NULL",
    f"code || {TEXT} = 'a'",
    *(f"{name}({TEXT}) = 'A'" for name in ("UPPER", "LOWER", "TRIM")),
    f"LENGTH({TEXT}) = 1",
    f"SUBSTRING({TEXT}, 1, 1) = 'a'",
    f"SUBSTRING(code, {NUMBER}, 1) = 'a'",
    f"REPLACE(code, {TEXT}, 'b') = 'b'",
    f"STARTS_WITH(code, {TEXT})",
    f"CONTAINS(code, {TEXT})",
    f"REGEXP_MATCHES(code, {TEXT})",
    f"CAST({TEXT} AS INTEGER) = 3",
    f"TRY_CAST({TEXT} AS INTEGER) = 3",
    *(f"n {sign} {NUMBER}" for sign in ("=", "<>", "<", ">=")),
    f"n IN ({NUMBER})",
    f"n IN ({NUMBER}, 3)",
    f"n NOT IN ({NUMBER}, 3)",
    f"n BETWEEN {NUMBER} AND 5",
    f"n = 3 OR n = {NUMBER}",
    f"n + {NUMBER} > 2",
    f"n * {NUMBER} > 2",
    f"GREATEST(n, {NUMBER}) > 2",
    f"LEAST(n, {NUMBER}) > 2",
    *(f"{name}(n, {NUMBER}) = 1" for name in ("MOD", "POWER", "ROUND")),
    f"WIDTH_BUCKET(n, {NUMBER}, 5, 2) = 1",
    f"day = {TEXT}",
    f"day > {TEXT}",
    f"{DAY} > DATE '2020-01-03'",
    f"day IN ({DAY}, DATE '2020-01-03')",
    f"EXTRACT(day FROM {DAY}) = 3",
    f"DATE_TRUNC('month', {DAY}) = DATE '2020-01-01'",
)
CELLS = [
    (code, n, day) for code, n, day in itertools.product(("a", "b", None), range(10), range(1, 6))
]


@pytest.fixture(scope="module")
def one_of_each() -> duckdb.DuckDBPyConnection:
    """A table with one record in every cell."""
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t (code VARCHAR, n INTEGER, day DATE)")
    rows = [(code, n, f"2020-01-0{day}") for code, n, day in CELLS]
    connection.executemany("INSERT INTO t VALUES (?, ?, ?)", rows)
    return connection


@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_constant_that_is_null(condition: str, one_of_each: duckdb.DuckDBPyConnection) -> None:
    text = f"SELECT COUNT(*) FROM t WHERE {condition}"
    try:
        block = parse(text, DOMAIN).blocks[0]
    except SqlError:
        return
    places = {"a": 0, "b": 1, None: 2}
    codes = np.array([(places[code], n, day - 1) for code, n, day in CELLS], np.int64)
    numerators = block.inside.numerators(("code", "n", "day"), codes)
    exact = one_of_each.execute(text).fetchone()
    assert exact is not None
    assert sum(map(int, numerators)) * 2.0**block.inside.exponent == exact[0]


def test_many_of_them_are_answered() -> None:
    """Not everything is refused."""
    accepted = 0
    for condition in CONDITIONS:
        try:
            parse(f"SELECT COUNT(*) FROM t WHERE {condition}", DOMAIN)
        except SqlError:
            continue
        accepted += 1
    assert accepted >= 12


@pytest.mark.parametrize(
    "text",
    [
        f"SELECT {TEXT}, COUNT(*) FROM t GROUP BY 1",
        f"SELECT {NUMBER}, COUNT(*) FROM t GROUP BY 1",
        f"SELECT SUM({NUMBER}) FROM t",
        "SELECT AVG(NULLIF(n, n)) FROM t",
        "SELECT MEDIAN(NULLIF(n, n)) FROM t",
        f"SELECT COUNT({TEXT}) FROM t",
        f"SELECT code, COUNT(*) FROM t GROUP BY code HAVING COUNT(*) > {NUMBER}",
        f"SELECT COUNT(*) FILTER (WHERE code = {TEXT}) FROM t",
        f"SELECT COUNT(*) + {NUMBER} FROM t",
        f"SELECT code, COUNT(*) FROM t GROUP BY code ORDER BY {TEXT}",
    ],
)
def test_elsewhere_it_is_refused_with_a_reason(text: str) -> None:
    with pytest.raises(SqlError):
        parse(text, DOMAIN)
