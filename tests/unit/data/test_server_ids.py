"""Ids of PostgreSQL and Spark tables are compared by these, in the raw column and as they do it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle
from typing import Any

import ibis
import psycopg
import pytest

from eke.data import PostgreSQLTable, SparkTable, open_source
from eke.data.postgresql_engine import PostgreSQLEngine
from eke.data.source import Collect
from eke.data.spark_engine import SparkEngine
from eke.errors import DataError
from eke.privacy.unit import Unit
from eke.session.view import View
from tests.parts import every
from tests.postgresql_server import Server
from tests.spark_session import running_spark
from tests.unit.data.id_check import (
    DOMAIN,
    LENGTH,
    ONE,
    Classes,
    Ids,
    caught,
    check_ids,
    chosen,
    kept_rows,
    named,
)
from tests.unit.data.test_view_ids import FORMS

# The driver of Spark leaves its sockets to the garbage collector.
pytestmark = [
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore:The 'future.infer_string' option:DeprecationWarning"),
]

# -- PostgreSQL ----------------------------------------------------------------------------------

POSTGRESQL: dict[str, Ids] = {
    "boolean": Ids(["t", "true"], ["f"]),
    "smallint": Ids(["1"], ["-1"]),
    "integer": Ids(["1", "01"], ["-1"]),
    "bigint": Ids([str(2**53)], [str(2**53 + 1)]),
    "numeric": Ids(["1", "1.0", "1.00", "1.000"], ["NaN", "Infinity", "1." + "0" * 40 + "1"]),
    "numeric(60, 0)": Ids([str(10**50)], [str(10**50 + 1), "NaN"]),
    "numeric(9, 2)": Ids(["1", "1.00"], ["1.01"]),
    "real": Ids(["0", "-0"], ["NaN", "Infinity"]),
    "double precision": Ids(["0", "-0"], ["NaN", "-Infinity", "5e-324"]),
    "money": Ids(["1", "1.00"], ["1.01"]),
    "text": Ids(["a"], ["A", "a ", "é", "e\u0301", ""]),
    'text COLLATE "caseless"': Ids(["a", "A"], ["b", "ä"]),
    'varchar COLLATE "loose"': Ids(["e", "E", "é", "e\u0301"], ["f"]),
    "varchar(5)": Ids(["a"], ["a ", "A"]),
    "char(5)": Ids(["a", "a ", "a    "], ["A", " a"]),
    "citext": Ids(["a", "A"], ["b", "a "]),
    "citext[]": Ids(["{a}", "{A}"], ["{b}"]),
    "name": Ids(["a"], ["A"]),
    '"char"': Ids(["a"], ["A"]),
    "bytea": Ids(["a", "\\x61"], ["\\x6100", ""]),
    "uuid": Ids(
        ["00000000-0000-0000-0000-00000000000a", "0000000000000000000000000000000A"],
        ["00000000-0000-0000-0000-00000000000b"],
    ),
    "date": Ids(["2020-01-01", "20200101"], ["infinity", "-infinity"]),
    "time": Ids(["12:00", "12:00:00.000"], ["24:00"]),
    "timetz": Ids(["00:00+00"], ["01:00+01"]),
    "timestamp": Ids(
        ["2020-01-01", "2020-01-01 00:00"], ["infinity", "2020-01-01 00:00:00.000001"]
    ),
    "timestamptz": Ids(["2020-01-01 00:00+00", "2020-01-01 01:00+01"], ["2020-01-01 00:00+01"]),
    "interval": Ids(["1 month", "30 days", "720 hours"], ["31 days"]),
    "bit(3)": Ids(["101"], ["100"]),
    "varbit": Ids(["1"], ["01", "001"]),
    "inet": Ids(["10.0.0.1", "10.0.0.1/32"], ["10.0.0.1/8"]),
    "cidr": Ids(["10.0.0.0/8", "10/8"], ["10.0.0.0/16"]),
    "macaddr": Ids(["08:00:2b:01:02:03", "08-00-2B-01-02-03"], ["08:00:2b:01:02:04"]),
    "jsonb": Ids(['{"a": 1, "b": 2}', '{"b":2.0,"a":1.00}'], ['{"a": "1"}', "null"]),
    "hstore": Ids(["a=>1,b=>2", "b=>2, a=>1"], ["a=>1"]),
    "numeric[]": Ids(["{1}", "{1.0}"], ["{NULL}", "{}"]),
    "int4range": Ids(["[1,2]", "[1,3)"], ["empty"]),
    "numrange": Ids(["[1,2)", "[1.0,2.00)"], ["[1,2]"]),
    "nummultirange": Ids(["{[1,2)}", "{[1.0,2)}"], ["{}"]),
    "tsvector": Ids(["a b", "b a"], ["a"]),
    "oid": Ids(["1"], ["2"]),
    "pg_lsn": Ids(["0/1", "0/01"], ["1/1"]),
    "mood": Ids(["a"], ["A", "b"]),
    "pair": Ids(["(1,a)", "(1.0,A)"], ["(1,)", "(,)"]),
    "exact": Ids(["1", "1.00"], ["2"]),
    "word": Ids(["a", "A"], ["b"]),
}
PREPARE = (
    "CREATE EXTENSION citext",
    "CREATE EXTENSION hstore",
    "CREATE COLLATION caseless (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
    "CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level1', deterministic = false)",
    "CREATE TYPE mood AS ENUM ('b', 'a', 'A')",
    "CREATE TYPE pair AS (x numeric, y citext)",
    "CREATE TYPE secret_pair AS (x json, y integer)",
    "CREATE DOMAIN exact AS numeric",
    "CREATE DOMAIN word AS citext CHECK (VALUE <> '')",
)
INCOMPARABLE = {
    "json": "{}",
    "xml": "<a/>",
    "point": "(0,0)",
    "box": "(0,0),(1,1)",
    "json[]": "{}",
    "xid": "1",
    "path": "[(0,0)]",
    "jsonpath": "$",
    "secret_pair": "(1,1)",
}
COLUMNS = named(POSTGRESQL)


@pytest.fixture(scope="module")
def database(postgresql: Server) -> Iterator[str]:
    """The address of a database with everybody and, in a view, all but one id."""
    with psycopg.connect(postgresql.address(), autocommit=True) as connection:
        connection.execute("CREATE DATABASE ids")
    address = postgresql.address().replace("/postgres?", "/ids?")
    listed = ", ".join(f"{name} {kind}" for name, (kind, _) in COLUMNS.items())
    holes = ", ".join(f"%s::text::{kind.split(' COLL')[0]}" for kind in POSTGRESQL)
    values = zip(*(ids.column() for ids in POSTGRESQL.values()), strict=True)
    with psycopg.connect(address) as connection, connection.cursor() as cursor:
        for statement in PREPARE:
            cursor.execute(statement)
        cursor.execute(f'CREATE TABLE people ("row" integer, {listed})'.encode())
        rows = [[n, *row] for n, row in enumerate(values)]
        cursor.executemany(f"INSERT INTO people VALUES (%s, {holes})".encode(), rows)
        cursor.execute(
            f'CREATE VIEW fewer AS SELECT * FROM people WHERE "row" >= {len(ONE)}'.encode()
        )
        cursor.execute('CREATE TABLE numbers AS SELECT "row"::bigint AS n FROM people')
        others = [f"%s::text::{kind} AS o{n}" for n, kind in enumerate(INCOMPARABLE)]
        chosen = ", ".join(["0 AS row", *others])
        plain = psycopg.ClientCursor(connection).mogrify(chosen, list(INCOMPARABLE.values()))
        cursor.execute(f"CREATE TABLE others AS SELECT {plain}".encode())
    yield address
    with psycopg.connect(postgresql.address(), autocommit=True) as connection:
        connection.execute("DROP DATABASE ids WITH (FORCE)")


def own_groups(address: str, column: str) -> tuple[Classes, int]:
    """The groups that PostgreSQL makes, and its count of distinct ids with one more for NULL."""
    with psycopg.connect(address) as connection:
        groups = f'SELECT array_agg("row") FROM people GROUP BY {column}'
        own = [frozenset(group) for (group,) in connection.execute(groups.encode())]
        count = f"SELECT count(DISTINCT {column}) + 1 FROM people"
        (distinct,) = connection.execute(count.encode()).fetchall()[0]
    return own, distinct


def check_postgresql(address: str, column: str, collect: Collect = "cells", rows: int = 1) -> None:
    own, distinct = own_groups(address, column)
    people, fewer = (PostgreSQLTable(address, table, collect) for table in ("people", "fewer"))
    check_ids(people, fewer, column, own, distinct, rows)


@pytest.mark.parametrize("column", every(3, COLUMNS, first=2), ids=list(POSTGRESQL))
def test_ids_of_postgresql_tables(column: str, database: str) -> None:
    check_postgresql(database, column)


def test_ids_of_postgresql_tables_that_are_counted_by_marginals(database: str) -> None:
    for column, (kind, _) in COLUMNS.items():
        if kind in ("numeric", "citext", "interval", "jsonb", "char(5)"):
            check_postgresql(database, column, "marginals", rows=2)


def test_ids_of_views_of_postgresql_tables(database: str) -> None:
    """They are what they are in the table, or refused."""
    outcomes = Counter[str]()
    for column, form in zip(COLUMNS, cycle(FORMS), strict=False):
        own, distinct = own_groups(database, column)
        tables = [{"t": PostgreSQLTable(database, table)} for table in ("people", "fewer")]
        if " JOIN " in form:
            tables = [{**one, "s": PostgreSQLTable(database, "numbers")} for one in tables]
        try:
            people, fewer = (View(form.format(who=column, row='"row"'), one) for one in tables)
            check_ids(people, fewer, column, own, distinct)
        except DataError:
            outcomes["refused"] += 1
        else:
            outcomes["right"] += 1
    assert outcomes["right"] > 30, outcomes


def test_postgresql_types_without_an_equality_are_refused(database: str) -> None:
    for place, kind in enumerate(INCOMPARABLE):
        shown = f"_{kind[:-2]}" if kind.endswith("[]") else kind
        for collect in ("cells", "marginals"):
            table = PostgreSQLTable(database, "others", collect)
            with pytest.raises(
                DataError, match=f"'o{place}' cannot be the id.*type {shown}"
            ) as error:
                open_source(table, DOMAIN, Unit(f"o{place}"))
            assert error.value.__context__ is None
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("CREATE VIEW broken AS SELECT 0 AS row, 1 / (random() * 0)::int AS id")
        with pytest.raises(DataError, match="withheld"):
            open_source(PostgreSQLTable(database, "broken"), DOMAIN, Unit("id"))
        connection.execute("DROP VIEW broken")


def test_ids_of_postgresql_behind_ibis(database: str) -> None:
    backend = ibis.connect(database)
    try:
        table = backend.table("others").select("row", "o0")
        with pytest.raises(DataError, match="cannot group rows by values of type json"):
            open_source(table, DOMAIN, Unit("o0"))
        for column, (kind, _) in COLUMNS.items():
            if kind in ("numeric", "char(5)", 'text COLLATE "caseless"'):
                people = backend.table("people").select("row", column)
                assert kept_rows(people, column, 1) == kept_rows(
                    PostgreSQLTable(database, "people"), column, 1
                )
    finally:
        backend.disconnect()


def test_the_check_catches_ids_of_postgresql_compared_as_texts(database: str, monkeypatch) -> None:
    original = PostgreSQLEngine.table

    def as_text(self: PostgreSQLEngine, wanted: Any, identity: str) -> Any:
        table = original(self, wanted, identity)
        self._raw = self._raw.replace(' AS "id"', '::text COLLATE "C" AS "id"')
        return table

    monkeypatch.setattr(PostgreSQLEngine, "table", as_text)
    wrong = {"numeric", "citext", 'text COLLATE "caseless"', "double precision", "interval", "pair"}
    right = {"bigint", "text", "mood"}
    columns = [column for column, (kind, _) in COLUMNS.items() if kind in wrong | right]
    found = caught(columns, lambda column: check_postgresql(database, column))
    assert {COLUMNS[column][0] for column in found} == wrong


# -- Spark ---------------------------------------------------------------------------------------

SPARK: dict[str, Ids] = {
    "boolean": Ids(["true"], ["false"]),
    "tinyint": Ids(["1"], ["-1"]),
    "smallint": Ids(["1"], ["-1"]),
    "int": Ids(["1"], ["-1"]),
    "bigint": Ids([str(2**53)], [str(2**53 + 1)]),
    "float": Ids(["float('0')", "float('-0.0')"], ["float('nan')", "float('inf')"]),
    "double": Ids(["double('0')", "double('-0.0')"], ["double('nan')", "double('5e-324')"]),
    "decimal(9,2)": Ids(["1", "1.00"], ["1.01"]),
    "decimal(38,0)": Ids([str(10**38 - 1)], [str(10**38 - 2)]),
    "decimal(38,10)": Ids(["1.0", "1.00"], ["1.0000000001"]),
    "string": Ids(["'a'"], ["'A'", "'a '", "''", "'é'", "'e\u0301'"]),
    "string collate UTF8_LCASE": Ids(["'a'", "'A'"], ["'b'", "'a '"]),
    "string collate UNICODE": Ids(["'a'"], ["'A'"]),
    "string collate UNICODE_CI": Ids(["'a'", "'A'"], ["'b'"]),
    "string collate UNICODE_CI_AI": Ids(["'e'", "'É'", "'é'"], ["'f'"]),
    "string collate de_CI": Ids(["'a'", "'A'"], ["'ä'"]),
    "array<string collate UTF8_LCASE>": Ids(["array('a')", "array('A')"], ["array('b')"]),
    "struct<s:string collate UTF8_LCASE>": Ids(
        ["named_struct('s','a')", "named_struct('s','A')"], ["named_struct('s','b')"]
    ),
    "binary": Ids(["X'61'", "cast('a' as binary)"], ["X'6100'", "X''"]),
    "date": Ids(["date'2020-01-01'"], ["date'2020-01-02'"]),
    "timestamp": Ids(
        ["timestamp'2020-01-01 00:00:00+00:00'", "timestamp'2020-01-01 01:00:00+01:00'"],
        ["timestamp'2020-01-01 00:00:00.000001+00:00'"],
    ),
    "timestamp_ntz": Ids(["timestamp_ntz'2020-01-01'"], ["timestamp_ntz'2020-01-02'"]),
    "interval year to month": Ids(
        ["interval '12' month", "interval '1' year"], ["interval '1' month"]
    ),
    "interval day to second": Ids(
        ["interval '1' day", "interval '24' hour"], ["interval '1' hour"]
    ),
    "interval month": Ids(["interval '1' month"], ["interval '2' month"]),
    "interval hour": Ids(["interval '1' hour"], ["interval '2' hour"]),
    "array<int>": Ids(["array(1)"], ["array(1, 1)", "array()"]),
    "array<double>": Ids(["array(0D)", "array(-0D)"], ["array(double('nan'))"]),
    "array<float>": Ids(["array(float('0'))", "array(float('-0.0'))"], ["array(float('1'))"]),
    "array<array<double>>": Ids(["array(array(0D))", "array(array(-0D))"], ["array(array(1D))"]),
    "array<string>": Ids(["array('a')"], ["array('A')", "array(null)"]),
    "array<timestamp>": Ids(["array(timestamp'2020-01-01')"], ["array(timestamp'2020-01-02')"]),
    "array<struct<d:double>>": Ids(
        ["array(named_struct('d', 0D))", "array(named_struct('d', -0D))"], ["array()"]
    ),
    "struct<a:double>": Ids(["named_struct('a', 0D)", "named_struct('a', -0D)"], ["struct(1D)"]),
    "struct<a:int,b:string>": Ids(["struct(1, 'x')"], ["struct(1, 'X')", "struct(1, null)"]),
    "struct<a:array<double>>": Ids(
        ["struct(array(0D))", "struct(array(-0D))"], ["struct(array(1D))"]
    ),
    "struct<a:decimal(9,2)>": Ids(["struct(1)", "struct(1.00)"], ["struct(1.01)"]),
    "struct<a:date>": Ids(["struct(date'2020-01-01')"], ["struct(date'2020-01-02')"]),
    "struct<a:binary>": Ids(["struct(X'61')"], ["struct(X'62')"]),
    "void": Ids(["null"]),
}
NOT_IN_SPARK = {
    "map<string,int>": "map('a', 1)",
    "variant": "parse_json('1')",
    "interval": "make_interval(0, 1)",
    "struct<m:map<string,int>>": "struct(map('a', 1))",
}
SPARK_COLUMNS = named({kind: ids for kind, ids in SPARK.items() if kind != "void"})


@dataclass(frozen=True, slots=True)
class Seen:
    """What Spark itself says about each column of its table, in one query."""

    session: Any
    own: dict[str, Classes]
    distinct: dict[str, int]


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seen]:
    with running_spark(tmp_path_factory.mktemp("spark")) as session:
        values = zip(
            *(
                [f"cast({value} AS {kind})" for value in ids.column("null")]
                for kind, ids in SPARK_COLUMNS.values()
            ),
            strict=True,
        )
        rows = ", ".join(f"({n}, {', '.join(row)})" for n, row in enumerate(values))
        names = ", ".join(["row", *SPARK_COLUMNS])
        people = session.sql(f"SELECT * FROM VALUES {rows} AS t({names})").coalesce(1)
        people.cache().createOrReplaceTempView("people")
        session.sql(f"SELECT * FROM people WHERE row >= {len(ONE)}").createOrReplaceTempView(
            "fewer"
        )
        grouped = " UNION ALL ".join(
            f"SELECT '{c}' AS c, collect_list(row) AS rows FROM people GROUP BY {c}"
            for c in SPARK_COLUMNS
        )
        own: dict[str, Classes] = {}
        for column, group in session.sql(grouped).collect():
            own.setdefault(column, []).append(frozenset(group))
        counted = ", ".join(f"count(DISTINCT {c}) + 1 AS {c}" for c in SPARK_COLUMNS)
        distinct = session.sql(f"SELECT {counted} FROM people").collect()[0].asDict()
        odd = ", ".join(
            f"cast({value} AS {kind}) AS o{n}"
            for n, (kind, value) in enumerate(NOT_IN_SPARK.items())
        )
        session.sql(f"SELECT 0 AS row, {odd}").createOrReplaceTempView("odd")
        yield Seen(session, own, distinct)


def check_spark(spark: Seen, column: str, collect: Collect = "cells", rows: int = 1) -> None:
    people, fewer = (SparkTable(table, collect=collect) for table in ("people", "fewer"))
    check_ids(people, fewer, column, spark.own[column], spark.distinct[column], rows)


@pytest.mark.parametrize(
    "column", every(3, SPARK_COLUMNS), ids=[kind for kind, _ in SPARK_COLUMNS.values()]
)
def test_ids_of_spark_tables(column: str, spark: Seen) -> None:
    check_spark(spark, column)


def test_ids_of_spark_tables_that_are_counted_by_marginals(spark: Seen) -> None:
    for column, (kind, _) in SPARK_COLUMNS.items():
        if kind in ("double", "string collate UTF8_LCASE", "decimal(38,0)"):
            check_spark(spark, column, "marginals", rows=2)


def test_padded_texts_and_columns_of_nothing_are_ids_of_spark(spark: Seen) -> None:
    spark.session.sql("CREATE TABLE padded (row INT, who CHAR(3), nobody VOID) USING json")
    try:
        spark.session.sql(
            "INSERT INTO padded VALUES (0, 'a', null), (1, 'a ', null), (2, 'b', null)"
        )
        assert kept_rows(SparkTable("padded"), "who", 1) == chosen([0, 1], 1) | {2}
        assert kept_rows(SparkTable("padded"), "nobody", 1) == chosen(range(3), 1)
    finally:
        spark.session.sql("DROP TABLE padded")


def test_spark_types_without_an_equality_are_refused(spark: Seen) -> None:
    for place, kind in enumerate(NOT_IN_SPARK):
        with pytest.raises(DataError, match=f"'o{place}' cannot be the id.*type {kind}") as error:
            open_source(SparkTable("odd"), DOMAIN, Unit(f"o{place}"))
        assert error.value.__context__ is None


def test_the_check_catches_ids_of_spark_compared_as_texts(spark: Seen, monkeypatch) -> None:
    original = SparkEngine.table

    def as_text(self: SparkEngine, wanted: Any, identity: str) -> Any:
        table = original(self, wanted, identity)
        text = "CAST(id AS STRING) COLLATE UTF8_BINARY AS id"
        frame = self._session.table(self._view)
        frame = frame.selectExpr(text, *(name for name in frame.columns if name != "id"))
        frame.createOrReplaceTempView(self._view)
        return table

    monkeypatch.setattr(SparkEngine, "table", as_text)
    wrong = {"double", "string collate UTF8_LCASE", "struct<a:double>"}
    columns = [c for c, (kind, _) in SPARK_COLUMNS.items() if kind in {*wrong, "bigint", "string"}]
    found = caught(columns, lambda column: check_spark(spark, column))
    assert {SPARK_COLUMNS[column][0] for column in found} == wrong


def test_there_are_at_least_forty_kinds_for_each_server() -> None:
    assert len(POSTGRESQL) >= 40
    assert len(SPARK) >= 40
    assert all(len(ids.column()) == LENGTH for ids in (*POSTGRESQL.values(), *SPARK.values()))
