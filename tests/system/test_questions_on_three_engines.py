"""Questions about flights, as an analyst writes them, on DuckDB, PostgreSQL and Spark.

Each is compared with what the engine itself says of its own rows.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import psycopg
import pyarrow as pa
import pytest
import sqlglot
from psycopg.sql import SQL, Identifier

import eke
from eke.session import Session
from tests.flights import CARRIERS, ORIGINS, flights
from tests.parts import in_long
from tests.postgresql_server import Server
from tests.spark_session import running_spark

# The driver of Spark leaves its sockets to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

ROWS = 4_000
CONFIDENCE = 1 - 1e-9
CLOSE = 1e-6
NAMES = {"carrier": CARRIERS, "name": [f"{code} Airlines" for code in CARRIERS]}
AIRLINES = pd.DataFrame(NAMES)
DOMAIN = eke.Domain(
    day=eke.Date("2013-01-01", "2013-12-31"),
    left_at=eke.Timestamp("2013-01-01", "2013-12-31 23:00", step="hour"),
    carrier=eke.Categorical(*CARRIERS),
    origin=eke.Categorical(*ORIGINS),
    dep_delay=eke.Integer(-60, 1400, null="bucket"),
    arr_delay=eke.Integer(-120, 1400, null="bucket"),
    distance=eke.Integer(0, 5000),
    hour=eke.Integer(0, 23),
).with_lookups(eke.Lookup("airlines", ["carrier"], NAMES))

QUESTIONS: dict[str, float] = {
    "SELECT COUNT(*) FROM flights": 1,
    "SELECT carrier, COUNT(*) AS n FROM flights GROUP BY carrier": 1,
    "SELECT a.name, COUNT(*) AS n FROM flights f JOIN airlines a ON f.carrier = a.carrier "
    "GROUP BY a.name": 1,
    "SELECT EXTRACT(MONTH FROM day) AS m, COUNT(*) AS n FROM flights GROUP BY 1": 1,
    "SELECT EXTRACT(QUARTER FROM day) AS q, AVG(dep_delay) AS late FROM flights GROUP BY 1": 1,
    "SELECT EXTRACT(HOUR FROM left_at) AS h, COUNT(*) AS n FROM flights "
    "WHERE day < DATE '2013-07-01' GROUP BY 1": 1,
    "SELECT CAST(DATE_TRUNC('month', day) AS DATE) AS m, COUNT(*) AS n FROM flights GROUP BY 1": 1,
    "SELECT COUNT(*) FROM flights WHERE day BETWEEN DATE '2013-06-01' AND DATE '2013-08-31'": 1,
    "SELECT COUNT(*) FROM flights WHERE left_at >= TIMESTAMP '2013-12-24 18:00:00'": 1,
    "SELECT COUNT(*) FROM flights WHERE day >= DATE '2013-01-31' + INTERVAL '1' MONTH": 1,
    "SELECT origin, AVG(arr_delay) AS late, COUNT(*) AS n FROM flights GROUP BY origin": 1,
    "SELECT carrier, SUM(distance) AS miles FROM flights GROUP BY carrier": 1000,
    "SELECT SUM(CASE WHEN dep_delay > 15 THEN 1 ELSE 0 END) * 1.0 / COUNT(*) AS s "
    "FROM flights": 0.01,
    "SELECT COUNT(*) FILTER (WHERE arr_delay > 30) AS late, COUNT(*) AS n FROM flights": 1,
    "SELECT COUNT(*) FROM flights WHERE dep_delay IS NULL": 1,
    "SELECT COUNT(dep_delay) AS flown, COUNT(*) AS planned FROM flights": 1,
    "SELECT origin, COUNT(*) AS n FROM flights WHERE carrier LIKE 'U%' OR carrier IN ('AA', 'B6') "
    "GROUP BY origin": 1,
    "SELECT CASE WHEN dep_delay IS NULL THEN 'none' WHEN dep_delay < 60 THEN 'some' "
    "ELSE 'long' END AS band, COUNT(*) AS n FROM flights GROUP BY 1": 1,
    "SELECT FLOOR(distance / 1000.0) AS band, COUNT(*) AS n FROM flights GROUP BY 1": 1,
    "SELECT LOWER(SUBSTRING(origin, 1, 1)) AS o, COUNT(*) AS n FROM flights GROUP BY 1": 1,
    "SELECT SUM(COALESCE(dep_delay, 0)) AS m FROM flights": 1000,
    "SELECT SUM(LEAST(GREATEST(dep_delay, 0), 60)) AS m FROM flights WHERE origin = 'JFK'": 1000,
    "SELECT STDDEV_POP(distance) AS spread FROM flights": 20,
    "SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY distance) AS m FROM flights": 50,
    "SELECT origin, PERCENTILE_DISC(0.9) WITHIN GROUP (ORDER BY hour) AS m FROM flights "
    "GROUP BY origin": 2,
    "SELECT origin, carrier, COUNT(*) AS n FROM flights WHERE hour < 12 "
    "GROUP BY origin, carrier": 1,
    "SELECT hour, COUNT(*) AS n, SUM(COUNT(*)) OVER (ORDER BY hour) AS so_far FROM flights "
    "GROUP BY hour": 20,
    "SELECT origin, COUNT(*) AS n FROM flights GROUP BY ROLLUP (origin)": 1,
    "SELECT COUNT(*) * 100.0 / (SELECT COUNT(*) FROM flights) AS x FROM flights "
    "WHERE hour = 8": 0.1,
}
"""Questions, each with a half-width."""


@dataclass(frozen=True)
class Engine:
    """The same flights in one engine: protected by eke, and to be asked directly."""

    dialect: str
    session: Session
    run: Callable[[str], Sequence[Sequence[Any]]]


def table() -> pd.DataFrame:
    made = flights(ROWS)
    days = pd.to_datetime(made[["year", "month", "day"]])
    return pd.DataFrame(
        {
            "day": days.dt.date,
            "left_at": days + pd.to_timedelta(made["hour"], unit="h"),
            **{name: made[name] for name in ("carrier", "origin", "dep_delay", "arr_delay")},
            **{name: made[name].astype("int32") for name in ("distance", "hour")},
        }
    )


@pytest.fixture(scope="module")
def rows() -> pa.Table:
    return pa.Table.from_pandas(table(), preserve_index=False)


def on_duckdb(folder: Path, rows: pa.Table) -> Engine:
    path = folder / "flights.duckdb"
    with duckdb.connect(str(path)) as connection:
        for name, one in (("flights", rows), ("airlines", AIRLINES)):
            connection.register("given", one)
            connection.execute(f"CREATE TABLE {name} AS SELECT * FROM given")
            connection.unregister("given")

    def run(sql: str) -> Sequence[Sequence[Any]]:
        with duckdb.connect(str(path), read_only=True) as connection:
            return connection.execute(sql).fetchall()

    source = eke.DuckDBFile(str(path), "flights")
    return Engine("duckdb", eke.create(folder / "a.eke", source, DOMAIN, epsilon=1e7), run)


def on_postgresql(folder: Path, rows: pa.Table, address: str) -> Engine:
    with psycopg.connect(address) as connection, connection.cursor() as cursor:
        cursor.execute(
            "CREATE TABLE flights (day date, left_at timestamp, carrier text, origin text, "
            "dep_delay int, arr_delay int, distance int, hour int)"
        )
        cursor.execute("CREATE TABLE airlines (carrier text, name text)")
        for name, one in (("flights", rows), ("airlines", pa.Table.from_pandas(AIRLINES))):
            with cursor.copy(SQL("COPY {} FROM STDIN").format(Identifier(name))) as copy:
                for row in zip(*(column.to_pylist() for column in one.columns), strict=True):
                    copy.write_row(row)

    def run(sql: str) -> Sequence[Sequence[Any]]:
        with psycopg.connect(address) as connection:
            return connection.execute(sql.encode()).fetchall()

    source = eke.PostgreSQLTable(address, "flights")
    return Engine("postgres", eke.create(folder / "b.eke", source, DOMAIN, epsilon=1e7), run)


def on_spark(folder: Path, rows: pa.Table, spark: Any) -> Engine:
    names = rows.column_names
    listed = [tuple(row[name] for name in names) for row in rows.to_pylist()]
    kinds = "day date, left_at timestamp_ntz, carrier string, origin string, dep_delay int, "
    kinds += "arr_delay int, distance int, hour int"
    spark.createDataFrame(listed, kinds).write.saveAsTable("flights")
    airlines = AIRLINES.to_numpy().tolist()
    spark.createDataFrame(airlines, "carrier string, name string").write.saveAsTable("airlines")

    def run(sql: str) -> Sequence[Sequence[Any]]:
        return [tuple(row) for row in spark.sql(sql).collect()]

    source = eke.SparkTable("flights")
    return Engine("spark", eke.create(folder / "c.eke", source, DOMAIN, epsilon=1e7), run)


@pytest.fixture(scope="module", params=["duckdb", "postgresql", "spark"])
def engine(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, rows: pa.Table
) -> Iterator[Engine]:
    folder = tmp_path_factory.mktemp("engine")
    if request.param == "duckdb":
        yield on_duckdb(folder, rows)
    elif request.param == "postgresql":
        server: Server = request.getfixturevalue("postgresql")
        name = f"flights_{secrets.token_hex(6)}"
        with psycopg.connect(server.address(), autocommit=True) as connection:
            connection.execute(SQL("CREATE DATABASE {}").format(Identifier(name)))
        yield on_postgresql(folder, rows, server.address().replace("/postgres?", f"/{name}?"))
        with psycopg.connect(server.address(), autocommit=True) as connection:
            connection.execute(SQL("DROP DATABASE {} WITH (FORCE)").format(Identifier(name)))
    else:
        with running_spark(tmp_path_factory.mktemp("spark")) as spark:
            yield on_spark(folder, rows, spark)


def told(key: Any) -> str:
    """A key as every engine and eke would tell it."""
    if isinstance(key, datetime):
        return key.date().isoformat()
    if isinstance(key, date):
        return key.isoformat()
    return str(int(key)) if isinstance(key, (float, Decimal)) else str(key)


def wrong(engine: Engine, sql: str, within: float, off: float = 0.0) -> list[str]:
    """The values whose interval does not hold what the engine says, moved by `off`."""
    answer = engine.session.ask(sql, within=within, confidence=CONFIDENCE)
    (own,) = sqlglot.transpile(sql, read="duckdb", write=engine.dialect)
    is_key = answer.is_key
    truths = {
        tuple(told(one) for one, key in zip(row, is_key, strict=True) if key): row
        for row in engine.run(own)
    }
    found = []
    for row in answer.rows:
        key = tuple(told(one) for one, named in zip(row, is_key, strict=True) if named)
        true = truths.pop(key, None)
        for place, cell in enumerate(row):
            if is_key[place]:
                continue
            truth = 0.0 if true is None else float(true[place]) + off
            slack = CLOSE * max(1.0, abs(truth))
            if not cell.low - slack <= truth <= cell.high + slack:
                found.append(f"{sql} {key}: {truth} is not in {cell.low} to {cell.high}")
    return found + [f"{sql}: no group {key}" for key in truths]


ASKED = {"duckdb": (2, 3), "postgres": (0, 3), "spark": (1, 6)}
"""The first question that is asked in the short part, and the step to the next."""


@pytest.mark.parametrize("all_of_them", [in_long(True), False])
def test_every_question_is_answered_as_the_engine_itself_would(
    engine: Engine, *, all_of_them: bool
) -> None:
    """Each engine is asked other questions, Spark the fewest; in the long part all of them."""
    assert len(QUESTIONS) >= 25
    first, step = (0, 1) if all_of_them else ASKED[engine.dialect]
    for sql, within in list(QUESTIONS.items())[first::step]:
        assert wrong(engine, sql, within) == []
        spent = engine.session.budget.spent
        engine.session.ask(sql, within=within, confidence=CONFIDENCE)
        assert engine.session.budget.spent == spent, sql


def test_what_is_off_is_noticed(engine: Engine) -> None:
    """Positive control: truths that are off by three half-widths."""
    asked = list(QUESTIONS.items())[:4]
    assert all(wrong(engine, sql, within, off=3 * within) for sql, within in asked)
