"""Views of files, tables in memory and PostgreSQL: counted as plain DuckDB counts them."""

from __future__ import annotations

import json
import random
import secrets
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import psycopg
import pytest
from psycopg.sql import SQL, Identifier

import eke
from eke.data import open_source
from eke.data.sealed import FAILURE
from eke.errors import DataError, EkeError, PrivacyError
from eke.privacy.view import ViewPlan
from eke.sql.view import read_view
from tests.postgresql_server import Server

FLIGHTS = """
SELECT f.tailnum, f.month, CAST(f.delay AS INTEGER) > 15 AS late,
       2013 - CAST(p.year AS INTEGER) AS age, p.engine
FROM flights AS f JOIN planes AS p ON f.tailnum = p.tailnum
WHERE f.origin IN ('JFK', 'EWR')
"""
DOMAIN = eke.Domain(
    month=eke.Integer(1, 12),
    late=eke.Boolean(null="bucket"),
    age=eke.Integer(0, 60, null="bucket", outside="clamp"),
    engine=eke.Categorical("fan", "jet", null="bucket"),
)


def flights() -> dict[str, pd.DataFrame]:
    """Flights of aircraft, some of which nobody knows, with texts where numbers should be."""
    dice = random.Random(3)
    tails = [f"N{n}" for n in range(30)]
    table = [
        (
            dice.choice(tails),
            dice.randint(1, 12),
            dice.choice(["5", "20", "x"]),
            dice.choice(["JFK", "EWR", "LGA"]),
        )
        for _ in range(400)
    ]
    planes = [
        (tail, dice.choice(["1999", "2010", "?"]), dice.choice(["fan", "jet"]))
        for tail in tails[5:]
    ]
    return {
        "flights": pd.DataFrame(table, columns=["tailnum", "month", "delay", "origin"]),
        "planes": pd.DataFrame(planes, columns=["tailnum", "year", "engine"]),
    }


def places(kind: str, folder: Path, frames: dict[str, pd.DataFrame]) -> Any:
    if kind == "memory":
        return frames
    if kind == "duckdb":
        with duckdb.connect(str(folder / "all.duckdb")) as connection:
            for name, frame in frames.items():
                connection.register("frame", frame)
                connection.execute(f"CREATE TABLE {name} AS SELECT * FROM frame")
        return folder / "all.duckdb"
    frames["planes"].to_parquet(folder / "planes.parquet")
    if kind == "parquet":
        frames["flights"].to_parquet(folder / "flights.parquet")
        return {name: folder / f"{name}.parquet" for name in frames}
    frames["flights"].to_csv(folder / "flights.csv", index=False)
    return {"flights": folder / "flights.csv", "planes": folder / "planes.parquet"}


def exact(
    frames: dict[str, pd.DataFrame], sql: str = FLIGHTS, domain: eke.Domain = DOMAIN
) -> Counter[tuple[object, ...]]:
    """The slow twin: the view by plain DuckDB, its values told by the domain."""
    with duckdb.connect() as connection:
        for name, frame in frames.items():
            connection.register(name, frame)
        rows = connection.execute(sql.replace("CAST", "TRY_CAST")).fetchall()
    return Counter(
        tuple(domain[name].code(value) for name, value in zip(domain.names, row[1:], strict=True))
        for row in rows
    )


def counts(source: Any, domain: eke.Domain = DOMAIN) -> Counter[tuple[object, ...]]:
    (table,) = source.counts([domain.names])
    return Counter(dict(zip(map(tuple, table.codes.tolist()), table.counts.tolist(), strict=True)))


@pytest.mark.parametrize("kind", ["memory", "duckdb", "parquet", "csv"])
@pytest.mark.parametrize("unit", [None, eke.Unit("tailnum", rows=1000)])
def test_a_view_is_counted_as_duckdb_counts_it(
    kind: str, unit: eke.Unit | None, tmp_path: Path
) -> None:
    frames = flights()
    view = eke.View(FLIGHTS, places(kind, tmp_path, frames))
    source = open_source(view, DOMAIN, unit)
    assert counts(source) == exact(frames)
    data = view if kind == "memory" else None
    assert counts(open_source(source.reference(), DOMAIN, unit, data=data)) == exact(frames)
    checked = eke.check(view, DOMAIN, unit=unit)
    assert checked.rows == exact(frames).total()
    assert (checked.unit is None) == (unit is None)
    drafted = eke.data.draft_domain(view)
    assert {"month", "late", "age", "engine"} <= set(drafted.domain.names)


def test_a_dataset_of_a_view_is_opened_again_and_moved(tmp_path: Path) -> None:
    frames = flights()
    tables = places("csv", tmp_path, frames)
    unit = eke.Unit("tailnum", rows=50)
    eke.create(tmp_path / "a.eke", eke.View(FLIGHTS, tables), DOMAIN, epsilon=1e6, unit=unit)
    total = exact(frames).total()
    again = eke.open(tmp_path / "a.eke")
    assert again.ask(eke.count(), within=0.1).value == pytest.approx(total, abs=1)
    assert eke.session.check_dataset(tmp_path / "a.eke").rows == total
    assert "planes" not in str(again.settings)
    other = tmp_path / "other"
    other.mkdir()
    moved = {name: place.rename(other / place.name) for name, place in tables.items()}
    with pytest.raises(DataError, match="there is no file"):
        eke.open(tmp_path / "a.eke")
    for data in (other, moved):
        assert eke.open(tmp_path / "a.eke", data=data).ask(eke.count(month=3), within=1)
    with pytest.raises(DataError, match="created from a view"):
        eke.open(tmp_path / "a.eke", data=moved["planes"])
    moved["flights"].write_text(moved["flights"].read_text("utf-8") + "N7,1,5,JFK\n", "utf-8")
    with pytest.raises(DataError, match="has changed"):
        eke.open(tmp_path / "a.eke", data=other)


def test_no_value_makes_a_view_fail(tmp_path: Path) -> None:
    rows = pd.DataFrame({"a": ["1", "x", "", "9" * 30, None], "b": [0, 1, 2, 2**31 - 1, 5]})
    rows.to_parquet(tmp_path / "rows.parquet")
    sql = """SELECT CAST(a AS INTEGER) AS a, 10 / b AS q, b % b AS m, sqrt(b - 3) AS r, ln(b) AS l,
        make_date(2013, b, 1) AS d, CAST(b AS TINYINT) * b AS t FROM rows
        WHERE CAST(a AS INTEGER) > 0 OR b >= 0"""
    number = eke.Integer(0, 10, null="bucket", outside="bucket")
    domain = eke.Domain(dict.fromkeys("aqmrlt", number))
    source = open_source(eke.View(sql, {"rows": tmp_path / "rows.parquet"}), domain)
    assert source.counts([()])[0].total == 5


@pytest.mark.parametrize(
    ("sql", "problem"),
    [
        (
            "SELECT f.month FROM flights f JOIN planes p ON f.month = p.year",
            "CAST one of them",
        ),
        ("SELECT f.wing FROM flights f JOIN planes p ON f.tailnum = p.tailnum", "no column 'wing'"),
        (
            "SELECT f.month FROM flights f JOIN planes p USING (tailnum) WHERE f.delay > 3",
            "cannot carry out",
        ),
    ],
)
def test_what_does_not_fit_the_columns_is_said(sql: str, problem: str, tmp_path: Path) -> None:
    view = eke.View(sql, places("parquet", tmp_path, flights()))
    with pytest.raises(DataError, match=problem):
        open_source(view, eke.Domain(month=eke.Integer(1, 12)))


def test_tables_that_no_view_can_have(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": [1], "b": [["x"]]})
    both = {"flights": frame, "planes": frame}
    bad: list[tuple[str, Any]] = [
        ("SELECT a FROM t", {}),
        ("SELECT a FROM t", {"t": 5}),
        ("SELECT a FROM t", 5),
        ("SELECT b FROM t", {"t": frame}),
        ("SELECT a FROM t", {"t": eke.SparkTable("t")}),
        ("SELECT a FROM t", {"t": "postgresql://localhost/base"}),
        ("SELECT p.a FROM flights f JOIN planes p USING (a)", both),
        (
            "SELECT p.a FROM f JOIN p USING (a)",
            {"f": frame, "p": eke.PostgreSQLTable("postgresql://x/y", "p")},
        ),
    ]
    for sql, tables in bad:
        with pytest.raises(EkeError):
            open_source(eke.View(sql, tables), eke.Domain(a=eke.Integer(0, 1)))


def test_ids_that_the_engine_rounds_are_refused() -> None:
    moments = pd.DataFrame({"at": pd.to_datetime(["2013-01-01T00:00:00.5"]), "a": [1]})
    view = eke.View("SELECT t.at AS i, t.a FROM t", {"t": moments})
    with pytest.raises(DataError, match="cannot be the id"):
        open_source(view, eke.Domain(a=eke.Integer(0, 1)), eke.Unit("i"))


def test_a_collation_of_a_file_does_not_join_other_texts(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "a.duckdb")) as connection:
        connection.execute("CREATE TABLE t (k VARCHAR COLLATE NOCASE); INSERT INTO t VALUES ('a')")
        connection.execute(
            "CREATE TABLE s (k VARCHAR, x INT); INSERT INTO s VALUES ('a', 1), ('A', 2)"
        )
    view = eke.View("SELECT s.x FROM t JOIN s USING (k)", tmp_path / "a.duckdb")
    assert open_source(view, eke.Domain(x=eke.Integer(0, 5))).counts([()])[0].total == 1


@pytest.fixture
def database(postgresql: Server) -> Iterator[str]:
    name = f"views_{secrets.token_hex(6)}"
    with psycopg.connect(postgresql.address(), autocommit=True) as connection:
        connection.execute(SQL("CREATE DATABASE {}").format(Identifier(name)))
    yield postgresql.address().replace("/postgres?", f"/{name}?")
    with psycopg.connect(postgresql.address(), autocommit=True) as connection:
        connection.execute(SQL("DROP DATABASE {} WITH (FORCE)").format(Identifier(name)))


def store(address: str, frames: dict[str, pd.DataFrame]) -> None:
    with psycopg.connect(address) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TABLE flights (tailnum text, month int, delay text, origin text)")
        cursor.execute("CREATE TABLE planes (tailnum text, year text, engine text)")
        for name, frame in frames.items():
            holes = ", ".join(["%s"] * len(frame.columns))
            rows = frame.astype(object).where(frame.notna(), None).to_numpy().tolist()
            cursor.executemany(f"INSERT INTO {name} VALUES ({holes})".encode(), rows)


def test_postgresql_counts_a_view_alike(database: str, tmp_path: Path) -> None:
    frames = flights()
    frames["flights"]["delay"] = frames["flights"]["delay"].replace("x", None)
    frames["planes"]["year"] = frames["planes"]["year"].replace("?", None)
    store(database, frames)
    for tables in (database, {name: eke.PostgreSQLTable(database, name) for name in frames}):
        view = eke.View(FLIGHTS, tables)
        for unit in (None, eke.Unit("tailnum", rows=1000)):
            assert counts(open_source(view, DOMAIN, unit)) == exact(frames)
            assert eke.check(view, DOMAIN, unit=unit).rows == exact(frames).total()
    path, view, unit = tmp_path / "pg.eke", eke.View(FLIGHTS, database), eke.Unit("tailnum", 1000)
    eke.create(path, view, DOMAIN, epsilon=1e6, unit=unit)
    assert eke.open(path).ask(eke.count(), within=1)
    with psycopg.connect(database) as connection:
        connection.execute("UPDATE planes SET engine = 'jet'")
    with pytest.raises(DataError, match="has changed"):
        eke.open(path).ask(eke.count(month=2), within=1)
    with psycopg.connect(database) as connection:
        connection.execute("INSERT INTO planes VALUES ('N9', '1999', 'jet')")
    with pytest.raises(DataError, match="more than once in 'planes'"):
        open_source(view, DOMAIN)
    other = FLIGHTS.replace("f.tailnum = p.tailnum", "f.month = p.tailnum")
    with pytest.raises(DataError, match=r"cannot carry out|CAST one of them"):
        open_source(eke.View(other, database), DOMAIN)


ALTERED = {
    "the id of a part": (
        "SELECT a.i, a.x FROM a UNION ALL SELECT b.i, b.x FROM b",
        "CAST all of them to one type",
    ),
    "a key": ("SELECT a.i, b.x FROM a JOIN b ON a.i = b.i", "CAST one of them"),
    "the id of groups": (
        "SELECT b.i, MAX(a.x) AS x FROM b LEFT JOIN a ON a.x = b.x GROUP BY b.i",
        "GROUP BY, MIN and MAX compare",
    ),
}


@pytest.mark.parametrize(("sql", "problem"), ALTERED.values(), ids=ALTERED)
def test_types_on_a_server_are_checked_again(
    database: str, tmp_path: Path, sql: str, problem: str
) -> None:
    """Numbers become doubles, by which large ids may merge; no counted cell differs by it."""
    with psycopg.connect(database) as connection:
        for table in "ab":
            connection.execute(SQL("CREATE TABLE {} (i bigint, x int)").format(Identifier(table)))
            connection.execute(SQL("INSERT INTO {} VALUES (1, 1)").format(Identifier(table)))
    path, view = tmp_path / "pg.eke", eke.View(sql, database)
    domain = eke.Domain(x=eke.Integer(0, 1))
    eke.create(path, view, domain, epsilon=1e6, unit=eke.Unit("i", rows=2))
    assert eke.open(path).ask(eke.count(), within=1)
    with psycopg.connect(database) as connection:
        connection.execute("ALTER TABLE b ALTER COLUMN i TYPE double precision")
    with pytest.raises(DataError, match=problem):
        eke.open(path).ask(eke.count(x=1), within=0.1)


@pytest.mark.parametrize("sql", [FLIGHTS, *(sql for sql, _ in ALTERED.values())])
def test_what_is_checked_is_stored(sql: str) -> None:
    tables = ["flights", "planes"] if sql == FLIGHTS else ["a", "b"]
    plan = read_view(sql, tables, "duckdb")
    stored = ViewPlan.from_document(json.loads(json.dumps(plan.to_document())), plan.tables)
    for name in (
        *("statement", "select", "dialect", "tables", "uses", "joins", "keys", "parts"),
        *("compared", "added"),
    ):
        assert getattr(stored, name) == getattr(plan, name)
    assert plan.uses
    assert plan.keys or plan.parts or plan.compared
    for read, known in zip(stored.columns, plan.columns, strict=True):
        assert (read.name, read.sources, read.ties) == (known.name, known.sources, known.ties)
    for missing in plan.to_document().keys() - {"groups"}:  # which views had not at first
        rest = {name: one for name, one in plan.to_document().items() if name != missing}
        with pytest.raises(DataError, match="create the dataset again"):
            ViewPlan.from_document(rest, plan.tables)


def test_a_row_that_postgresql_cannot_cast_is_one_fixed_sentence(
    database: str, tmp_path: Path
) -> None:
    store(database, flights())
    with pytest.raises(DataError) as problem:
        eke.create(tmp_path / "pg.eke", eke.View(FLIGHTS, database), DOMAIN, epsilon=1)
    assert str(problem.value) == FAILURE
    assert problem.value.__context__ is None
    assert not (tmp_path / "pg.eke").exists()


def test_what_a_promise_would_not_cover_is_not_created(tmp_path: Path) -> None:
    view = eke.View(FLIGHTS, flights())
    for options in ({"neighbours": "replace_one"}, {"unit": eke.Unit("wing")}):
        with pytest.raises(PrivacyError):
            eke.create(tmp_path / "a.eke", view, DOMAIN, epsilon=1, **options)
    twice = eke.View(
        "SELECT x.month FROM f AS x JOIN f AS y ON x.a = y.a",
        {"f": pd.DataFrame({"a": [1], "month": [1]})},
    )
    with pytest.raises(PrivacyError, match="is joined as well"):
        eke.check(twice, eke.Domain(month=eke.Integer(1, 12)))


def test_ids_of_a_union_are_not_converted(tmp_path: Path) -> None:
    """As DOUBLE, 2^53 and 2^53 + 1 would be one id, and one person would displace another."""
    union = "SELECT id, x FROM a UNION ALL SELECT id, x FROM b"
    domain, unit = eke.Domain(x=eke.Integer(0, 1)), eke.Unit("id", rows=1)
    a = pd.DataFrame({"id": [2**53, 2**53 + 1], "x": [1, 1]})
    tables = {"a": a}
    for kind in ("float64", "str"):
        tables["b"] = pd.DataFrame({"id": pd.Series([5]).astype(kind), "x": [0]})
        with pytest.raises(DataError, match="could become equal"):
            eke.create(tmp_path / "a.eke", eke.View(union, tables), domain, epsilon=1e6, unit=unit)
    places = {}
    for name, frame in tables.items():
        places[name] = tmp_path / f"{name}.parquet"
        frame.to_parquet(places[name])
    with pytest.raises(DataError, match="could become equal"):
        eke.create(tmp_path / "b.eke", eke.View(union, places), domain, epsilon=1e6, unit=unit)
    tables["b"] = pd.DataFrame({"id": pd.Series([5], dtype="int32"), "x": [0]})
    made = eke.create(tmp_path / "c.eke", eke.View(union, tables), domain, epsilon=1e6, unit=unit)
    assert made.ask(eke.count(x=1), within=0.1).value == pytest.approx(2, abs=0.9)


def test_postgresql_does_not_convert_ids_of_a_union(database: str) -> None:
    with psycopg.connect(database) as connection:
        for name, kind in (("a", "int8"), ("b", "float8"), ("c", "int4")):
            connection.execute(
                SQL("CREATE TABLE {} (id {}, x int)").format(*map(SQL, (name, kind)))
            )
        connection.execute("INSERT INTO a VALUES (9007199254740992, 1), (9007199254740993, 1)")
    domain, unit = eke.Domain(x=eke.Integer(0, 1)), eke.Unit("id", rows=1)
    union = "SELECT id, x FROM a UNION ALL SELECT id, x FROM {}"
    with pytest.raises(DataError, match=r"int8, float8 .* could become equal"):
        open_source(eke.View(union.format("b"), database), domain, unit)
    alike = open_source(eke.View(union.format("c"), database), domain, unit)
    assert alike.counts([("x",)])[0].total == 2
