"""One suite for all engines: DuckDB, PostgreSQL and Spark count the same hostile rows alike."""

from __future__ import annotations

import datetime as dt
import json
import math
import secrets
import traceback
from collections.abc import Callable, Iterator
from decimal import Decimal
from itertools import combinations
from pathlib import Path
from typing import Any

import ibis
import numpy as np
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from psycopg.sql import SQL, Identifier

import eke
from eke.data import (
    CellSource,
    MarginalSource,
    ParquetFile,
    PostgreSQLTable,
    SparkTable,
    check_table,
    open_source,
)
from eke.data.coding import code_expression, spelled_number
from eke.data.postgresql_engine import PostgreSQLEngine
from eke.data.sealed import FAILURE
from eke.data.source import Collect
from eke.data.spark_engine import SparkEngine
from eke.domain import Attribute, Date, Domain, Integer
from eke.domain.temporal import Temporal
from eke.errors import DataError
from eke.privacy.unit import Unit
from tests.postgresql_server import Server
from tests.spark_session import running_spark
from tests.unit.data.hostile_days import (
    CLOCK_TEXTS,
    CLOCKS,
    DAY_TEXTS,
    DAYS,
    IN_UTC,
    KEEPING,
    NO_DAYS,
    TIMES,
    TIMES_OF_DAY,
    ZONED,
    bare_parts,
)
from tests.unit.data.slow_twin import (
    CANARY,
    HOSTILE_FLOATS,
    HOSTILE_INTS,
    HOSTILE_TEXTS,
    OUTSIDE,
    all_cells,
    as_counter,
    attributes_with_every_rule,
    cell_counts,
    fixed_sample,
    marginal,
)
from tests.unit.data.test_checking import document, slow_check
from tests.unit.data.test_coding import DECIMALS, assert_equal_codes, singles, within
from tests.unit.data.test_sources import COLUMNS, DOMAINS, ROWS, arrow_table

# The driver of Spark leaves its sockets to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

Store = Callable[[pa.Table], Any]
KINDS = ("duckdb", "postgresql", "spark")
WAYS: tuple[Collect, ...] = ("cells", "marginals")


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with running_spark(tmp_path_factory.mktemp("spark")) as session:
        yield session


@pytest.fixture
def database(postgresql: Server) -> Iterator[str]:
    """The address of a new, empty database."""
    name = f"data_{secrets.token_hex(6)}"
    with psycopg.connect(postgresql.address(), autocommit=True) as connection:
        connection.execute(SQL("CREATE DATABASE {}").format(Identifier(name)))
    yield postgresql.address().replace("/postgres?", f"/{name}?")
    with psycopg.connect(postgresql.address(), autocommit=True) as connection:
        connection.execute(SQL("DROP DATABASE {} WITH (FORCE)").format(Identifier(name)))


def run(address: str, *statements: str) -> None:
    with psycopg.connect(address) as connection:
        for statement in statements:
            connection.execute(statement.encode())


POSTGRESQL_TYPES = ("bigint", "double precision", "numeric(9, 2)", "text", "boolean", "date")


@pytest.fixture(params=WAYS)
def collect(request: pytest.FixtureRequest) -> Collect:
    way: Collect = request.param
    return way


@pytest.fixture(params=KINDS)
def store(request: pytest.FixtureRequest, tmp_path: Path, collect: Collect) -> Store:
    """A function that puts the rows of an Arrow table where an engine finds them."""

    def in_parquet(table: pa.Table) -> ParquetFile:
        path = tmp_path / "people.parquet"
        pq.write_table(table, path, row_group_size=11)
        return ParquetFile(str(path), collect)

    def in_postgresql(table: pa.Table) -> PostgreSQLTable:
        address: str = request.getfixturevalue("database")
        columns = ", ".join(
            f'"{name}" {kind}' for name, kind in zip(COLUMNS, POSTGRESQL_TYPES, strict=True)
        )
        run(address, f"CREATE TABLE people ({columns})")
        with psycopg.connect(address) as connection, connection.cursor() as cursor:
            holes = ", ".join(["%s"] * len(COLUMNS))
            rows = [[row[name] for name in COLUMNS] for row in table.to_pylist()]
            cursor.executemany(f"INSERT INTO people VALUES ({holes})".encode(), rows)
        return PostgreSQLTable(address, "people", collect)

    def in_spark(table: pa.Table) -> SparkTable:
        request.getfixturevalue("spark")
        return SparkTable(parquet=in_parquet(table).path, collect=collect)

    stores: dict[str, Store] = {
        "duckdb": in_parquet,
        "postgresql": in_postgresql,
        "spark": in_spark,
    }
    return stores[request.param]


def test_every_engine_counts_hostile_rows_as_the_slow_twin_does(store: Store) -> None:
    data = store(arrow_table())
    for which, domain in DOMAINS.items():
        source = open_source(data, domain)
        expected = cell_counts(ROWS, domain)
        sets = [domain.names, (), domain.names[:1], domain.names[::-1][:2]]
        for attributes, counts in zip(sets, source.counts(sets), strict=True):
            assert as_counter(counts) == marginal(expected, domain, attributes), which
        # The digest of the cells is the same as that of the rows in memory.
        cells = source.load()
        memory = open_source(arrow_table(), domain).load()
        assert cells is None or (memory and cells.sha256() == memory.sha256())


def test_every_engine_keeps_the_same_rows_of_each_id(store: Store) -> None:
    data = store(arrow_table())
    for column, rows in (("word", 2), ("day", 3)):
        unit = Unit(column, rows=rows)
        with fixed_sample():
            source = open_source(data, DOMAINS["drops"], unit)
        assert all_cells(source) == cell_counts(ROWS, DOMAINS["drops"], unit)


def test_every_engine_checks_hostile_rows_as_the_slow_twin_does(store: Store) -> None:
    data = store(arrow_table())
    for domain in DOMAINS.values():
        assert document(check_table(data, domain)) == slow_check(ROWS, domain)
    for unit in (Unit("word", rows=2), Unit("day", rows=3)):
        found = check_table(data, DOMAINS["drops"], unit)
        assert document(found) == slow_check(ROWS, DOMAINS["drops"], unit)
    reference = open_source(data, DOMAINS["drops"]).reference()
    assert check_table(reference, DOMAINS["drops"]) == check_table(data, DOMAINS["drops"])


def test_every_engine_counts_many_small_tables_in_one_scan(store: Store) -> None:
    """Sets that no single table covers, in any order of attributes, each of them twice."""
    domain = DOMAINS["buckets"]
    source = open_source(store(arrow_table()), domain)
    expected = cell_counts(ROWS, domain)
    sets = [*combinations(domain.names[::-1], 2), *combinations(domain.names, 1), ()] * 2
    for attributes, counts in zip(sets, source.counts(sets), strict=True):
        assert counts.attributes == attributes
        assert as_counter(counts) == marginal(expected, domain, attributes)


def test_every_engine_counts_a_table_without_rows(store: Store) -> None:
    domain = DOMAINS["buckets"]
    source = open_source(store(arrow_table([])), domain)
    total, pairs = source.counts([(), domain.names[:2]])
    assert total.total == 0
    assert len(pairs.counts) == 0
    again = open_source(source.reference(), domain)
    assert again.counts([()])[0].total == 0


def test_every_engine_says_which_columns_there_are(store: Store) -> None:
    data = store(arrow_table(ROWS[:3]))
    with pytest.raises(DataError, match=r"no column 'agee'; its columns are: whole, real, price"):
        open_source(data, Domain(agee=Integer(0, 9)))
    source = open_source(data, Domain(day=Integer(0, 9, outside="bucket")))
    (note,) = source.notes
    assert "column 'day' has type date" in note
    assert CANARY not in f"{source!r} {json.dumps(source.reference())}"


def test_every_engine_finds_its_table_again_unless_it_has_changed(store: Store) -> None:
    domain = DOMAINS["buckets"]  # which drops no row
    data = store(arrow_table())
    source = open_source(data, domain)
    reference = json.loads(json.dumps(source.reference()))
    again = open_source(reference, domain)
    if isinstance(again, CellSource):
        assert again._cells is None, "nothing is read before it is needed"
    else:
        assert not again._checked
    assert again.reference() == reference
    assert all_cells(again) == all_cells(source)
    used = open_source(reference, domain)
    used.load()
    if isinstance(data, PostgreSQLTable):
        one = "(SELECT min(ctid) FROM people WHERE flag)"
        run(data.address, f"DELETE FROM people WHERE ctid = {one}")
    else:
        path = Path(str(data.parquet) if isinstance(data, SparkTable) else data.path)
        kept = [row for n, row in enumerate(ROWS) if n != 1]
        pq.write_table(arrow_table(kept), path)
    with pytest.raises(DataError, match="history must not mix two tables"):
        open_source(reference, domain).counts([()])
    if isinstance(used, MarginalSource):
        # What is counted later must be of the table that was there before, too.
        with pytest.raises(DataError, match="history must not mix two tables"):
            used.counts([()])
    else:
        assert all_cells(used) == all_cells(source), "it holds the table as it was"


# -- column types --------------------------------------------------------------------------------

WIDE = [*within(-(10**38 - 1), 10**38 - 1)]
FRACTIONS = [None, *map(Decimal, ("0", "0.10", "2.50", "2.49", "5.99", "-3.01", "30.5"))]
HUGE_NUMERICS = [
    *DECIMALS,
    *map(Decimal, ("1e400", "-1e400", "1e-400", "-1e-400", "1e308", "1.8e308", "NaN", "2.5")),
    *(Decimal("Infinity"), Decimal("-Infinity"), Decimal(2**1024 - 2**970 - 1)),
]
POSTGRESQL_COLUMNS: dict[str, list[Any]] = {
    "boolean": [None, True, False],
    "smallint": within(-(2**15), 2**15 - 1),
    "integer": within(-(2**31), 2**31 - 1),
    "bigint": within(-(2**63), 2**63 - 1),
    "numeric(38, 0)": WIDE,
    "numeric(60, 0)": [*HOSTILE_INTS, 10**50, -(10**50), math.nan],
    "numeric(9, 2)": DECIMALS,
    "numeric(5, -2)": [None, 0, 100, -300, 9_999_900, math.nan],
    "numeric": HUGE_NUMERICS,
    "real": [v for v in singles(HOSTILE_FLOATS) if v != 5e-324],
    "double precision": HOSTILE_FLOATS,
    "text": HOSTILE_TEXTS,
    "varchar": HOSTILE_TEXTS,
    'text COLLATE "loose"': HOSTILE_TEXTS,
    "mood": [None, "a", "é", "30", "z"],
    "word": HOSTILE_TEXTS,
}
POSTGRESQL_OTHERS = {
    "date": "2020-01-01",
    "timestamptz": "2020-01-01",
    "interval": "1 day",
    "bytea": "a",
    "json": "1",
    "jsonb": "1",
    "uuid": "00000000-0000-0000-0000-000000000001",
    "integer[]": "{1}",
    "pair": "(,)",
    "inet": "127.0.0.1",
}


def expected_value(kind: str, value: Any) -> Any:
    """The raw value as `Attribute.code` is given it."""
    if kind == "real" and value is not None:
        return pa.scalar(value, pa.float32()).as_py()
    if isinstance(value, Decimal) and value.is_finite() and kind == "numeric":
        return math.copysign(math.inf, value) if abs(value) >= 2**1024 - 2**970 else float(value)
    if isinstance(value, Decimal) and not value.is_finite():
        return float(value)
    return value


def coded(
    engine: Any, columns: dict[str, str], attributes: list[Attribute], *, spelled: bool = False
) -> Any:
    """Codes of all columns for all attributes, in the order of `n`; -1 where a row is dropped."""
    table = engine.table({"n": "n", **columns}, identity="")
    raw = {(name, at): name for name in columns for at in range(len(attributes))}
    if spelled:
        told = {f"{n}_{at}": spelled_number(table[n], attributes[at]) for n, at in raw}
        table = engine.hold(table.select("n", **told))
        raw = {(name, at): f"{name}_{at}" for name, at in raw}
    codes = {}
    for (name, at), column in raw.items():
        code = code_expression(table[column], attributes[at], spelled=spelled)
        codes[f"{name}_{at}"] = ibis.coalesce(code, -1).cast("int64")
    result = engine.fetch(table.select(n=table["n"].cast("int64"), **codes))
    order = result["n"].to_numpy().argsort()
    return {name: result[name].to_numpy()[order].tolist() for name in codes}


def check_codes(
    engine: Any, columns: dict[str, tuple[str, list[Any]]], attributes: list[Attribute]
) -> None:
    # Days and times are no values outside of these.
    attributes = [a for a in attributes if not isinstance(a, Temporal)]
    found = coded(engine, {name: name for name in columns}, attributes)
    for name, (kind, values) in columns.items():
        given = [expected_value(kind, value) for value in values]
        for at, attribute in enumerate(attributes):
            wanted = [-1 if (code := attribute.code(v)) is None else code for v in given]
            got = found[f"{name}_{at}"][: len(given)]
            assert_equal_codes([got], [wanted], [(kind, attribute)], values)


def test_codes_of_every_type_of_postgresql_equal_the_slow_twin(database: str) -> None:
    run(
        database,
        "CREATE TYPE mood AS ENUM ('a', 'é', '30', 'z')",
        "CREATE TYPE pair AS (x integer, y integer)",
        "CREATE DOMAIN word AS varchar",
        "CREATE COLLATION loose "
        "(provider = icu, locale = 'und-u-ks-level1', deterministic = false)",
    )
    kinds: dict[str, list[Any]] = {
        **POSTGRESQL_COLUMNS,
        **{kind: [OUTSIDE, None] for kind in POSTGRESQL_OTHERS},
    }
    columns = {f"c{place}": (kind, values) for place, (kind, values) in enumerate(kinds.items())}
    length = max(len(values) for values in kinds.values())
    listed = ", ".join(f"{name} {kind}" for name, (kind, _) in columns.items())
    run(database, f"CREATE TABLE hostile (n integer, {listed})")
    rows: list[list[Any]] = [[n] for n in range(length)]
    for kind, values in columns.values():
        for n, row in enumerate(rows):
            value = values[n] if n < len(values) else None
            stored = POSTGRESQL_OTHERS[kind] if value is OUTSIDE else value
            shown = repr(stored) if isinstance(stored, float) else str(stored)
            row.append(None if stored is None else shown)
    holes = ", ".join(["%s", *(f"%s::text::{kind.split(' COLL')[0]}" for kind in kinds)])
    with psycopg.connect(database) as connection, connection.cursor() as cursor:
        cursor.executemany(f"INSERT INTO hostile VALUES ({holes})".encode(), rows)
    every = attributes_with_every_rule()
    with PostgreSQLEngine(PostgreSQLTable(database, "hostile")) as engine:
        for start in range(2):
            check_codes(engine, columns, every[start::2])


SPARK_COLUMNS: dict[Any, list[Any]] = {
    pa.bool_(): [None, True, False],
    pa.int8(): within(-128, 127),
    pa.int32(): within(-(2**31), 2**31 - 1),
    pa.int64(): within(-(2**63), 2**63 - 1),
    pa.decimal128(38, 0): WIDE,
    pa.decimal128(9, 2): FRACTIONS,
    pa.decimal128(38, 30): FRACTIONS,
    pa.float32(): singles(HOSTILE_FLOATS),
    pa.float64(): HOSTILE_FLOATS,
    pa.string(): HOSTILE_TEXTS,
}
SPARK_OTHERS = {
    pa.date32(): dt.date(2020, 1, 1),
    pa.timestamp("us"): dt.datetime(2020, 1, 1),  # noqa: DTZ001 -- the type has no zone
    pa.binary(): b"a",
    pa.list_(pa.int32()): [1],
    pa.struct([("a", pa.int32())]): {"a": None},
}


def test_codes_of_every_type_of_spark_equal_the_slow_twin(spark: Any, tmp_path: Path) -> None:
    """Every seventh combination of attribute and rules: Spark takes its time to plan them."""
    kinds: dict[Any, list[Any]] = {
        **SPARK_COLUMNS,
        **{kind: [OUTSIDE, None] for kind in SPARK_OTHERS},
    }
    length = max(len(values) for values in kinds.values())
    arrays: dict[str, Any] = {"n": pa.array(range(length))}
    columns = {}
    for place, (kind, values) in enumerate(kinds.items()):
        stored = [SPARK_OTHERS[kind] if v is OUTSIDE else v for v in values]
        arrays[f"c{place}"] = pa.array([*stored, *[None] * (length - len(stored))], kind)
        columns[f"c{place}"] = ("real" if kind == pa.float32() else str(kind), values)
    pq.write_table(pa.table(arrays), tmp_path / "hostile.parquet")
    with SparkEngine(SparkTable(parquet=str(tmp_path / "hostile.parquet"))) as engine:
        check_codes(engine, columns, attributes_with_every_rule()[::7])


# -- days ----------------------------------------------------------------------------------------

FAR_DAYS = {  # of which Python's calendar knows nothing
    "infinity": np.datetime64("30000-01-01", "s"),
    "-infinity": np.datetime64("-4000-01-01", "s"),
    "0044-03-15 BC": np.datetime64("-0043-03-15", "s"),
    "200000-06-30": np.datetime64("200000-06-30", "s"),
}


def check_days(engine: Any, kinds: dict[str, list[Any]]) -> None:
    found = coded(engine, {"day": "day", "time": "time"}, KEEPING)
    found |= coded(engine, {"text": "text"}, KEEPING, spelled=True)
    with_zone = [a for a in KEEPING if a in ZONED]
    zoned = coded(engine, {"zoned": "zoned"}, with_zone)
    for name, values in kinds.items():
        attributes, codes = (with_zone, zoned) if name == "zoned" else (KEEPING, found)
        for at, attribute in enumerate(attributes):
            wanted = [-1 if (code := attribute.code(v)) is None else code for v in values]
            got = codes[f"{name}_{at}"][: len(values)]
            assert_equal_codes([got], [wanted], [(name, attribute)], values)
    table = engine.table({"x": "zoned"}, identity="")
    with pytest.raises(DataError, match="it is not known where its days begin"):
        code_expression(table["x"], Date("2013-01-01", "2013-12-31"))


def test_days_of_postgresql_equal_the_slow_twin(database: str) -> None:
    far = [*FAR_DAYS.values()]
    kinds: dict[str, list[Any]] = {
        "day": [*DAYS, *far],
        "time": [*TIMES, *far],
        "zoned": [*IN_UTC, *far],
    }
    stored = [
        [*(None if v is None else str(v) for v in values[: -len(far)]), *FAR_DAYS]
        for values in kinds.values()
    ]
    texts = [None, *DAY_TEXTS]
    length = max(len(texts), *map(len, stored))
    run(
        database,
        "CREATE TABLE days (n integer, day date, time timestamp, zoned timestamptz, text text)",
    )
    with psycopg.connect(database) as connection, connection.cursor() as cursor:
        cursor.execute("SET TimeZone = 'UTC'")
        for n in range(length):
            row = [c[n] if n < len(c) else None for c in (*stored, texts)]
            cursor.execute("INSERT INTO days VALUES (%s, %s, %s, %s, %s)", [n, *row])
    # Neither the zone nor the spelling of dates that a user of the server has chosen matters.
    run(
        database,
        "ALTER ROLE CURRENT_USER SET TimeZone = 'Asia/Tokyo'",
        "ALTER ROLE CURRENT_USER SET DateStyle = 'German, DMY'",
    )
    try:
        with PostgreSQLEngine(PostgreSQLTable(database, "days")) as engine:
            check_days(engine, {**kinds, "text": texts})
    finally:
        run(database, "ALTER ROLE CURRENT_USER RESET ALL")


def test_days_of_spark_equal_the_slow_twin(spark: Any, tmp_path: Path) -> None:
    kinds: dict[str, list[Any]] = {
        "day": DAYS,
        "time": TIMES,
        "zoned": IN_UTC,
        "text": [None, *DAY_TEXTS],
    }
    types = (pa.date32(), pa.timestamp("us"), pa.timestamp("us", "UTC"), pa.string())
    length = max(map(len, kinds.values()))
    arrays: dict[str, Any] = {"n": pa.array(range(length))}
    for (name, values), kind in zip(kinds.items(), types, strict=True):
        arrays[name] = pa.array([*values, *[None] * (length - len(values))], kind)
    pq.write_table(pa.table(arrays), tmp_path / "days.parquet")
    spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    try:
        with SparkEngine(SparkTable(parquet=str(tmp_path / "days.parquet"))) as engine:
            check_days(engine, kinds)
    finally:
        spark.conf.unset("spark.sql.session.timeZone")


def test_times_of_day_of_postgresql_equal_the_slow_twin(database: str) -> None:
    length = max(len(CLOCKS), len(CLOCK_TEXTS))
    run(database, "CREATE TABLE clocks (n integer, clock time, zoned timetz, text text)")
    with psycopg.connect(database) as connection, connection.cursor() as cursor:
        for n in range(length):
            clock, text = ((c[n] if n < len(c) else None) for c in (CLOCKS, CLOCK_TEXTS))
            cursor.execute("INSERT INTO clocks VALUES (%s, %s, %s, %s)", [n, clock, clock, text])
        cursor.execute("INSERT INTO clocks VALUES (%s, '24:00', NULL, NULL)", [length])
    with PostgreSQLEngine(PostgreSQLTable(database, "clocks")) as engine:
        found = coded(engine, {"clock": "clock", "zoned": "zoned"}, TIMES_OF_DAY)
        found |= coded(engine, {"text": "text"}, TIMES_OF_DAY, spelled=True)
    for at, attribute in enumerate(TIMES_OF_DAY):
        assert found[f"clock_{at}"][: len(CLOCKS)] == [attribute.code(v) for v in CLOCKS]
        assert found[f"clock_{at}"][length] == attribute.beyond[1]
        assert found[f"text_{at}"][: len(CLOCK_TEXTS)] == [attribute.code(v) for v in CLOCK_TEXTS]
        outside = [attribute.code(None if v is None else object()) for v in CLOCKS]
        assert found[f"zoned_{at}"][: len(CLOCKS)] == outside


def test_texts_of_times_of_day_in_spark_equal_the_slow_twin(spark: Any, tmp_path: Path) -> None:
    rows = pa.table({"n": pa.array(range(len(CLOCK_TEXTS))), "text": CLOCK_TEXTS})
    pq.write_table(rows, tmp_path / "clocks.parquet")
    with SparkEngine(SparkTable(parquet=str(tmp_path / "clocks.parquet"))) as engine:
        found = coded(engine, {"text": "text"}, TIMES_OF_DAY, spelled=True)
    for at, attribute in enumerate(TIMES_OF_DAY):
        assert found[f"text_{at}"] == [attribute.code(v) for v in CLOCK_TEXTS]


def check_bare_days(engine: Any) -> None:
    table = engine.table({"n": "n", "text": "text"}, identity="")
    parts = {name: ibis.coalesce(part, -1) for name, part in bare_parts(table["text"]).items()}
    result = engine.fetch(table.select(n=table["n"].cast("int64"), **parts))
    order = result["n"].to_numpy().argsort()
    found = result["day"].to_numpy()[order].tolist()
    assert found[NO_DAYS.index("2013-01-31")] == (dt.date(2013, 1, 31) - dt.date(1970, 1, 1)).days
    assert len(found) == len(NO_DAYS)


def test_no_text_makes_postgresql_fail_at_days(database: str) -> None:
    run(database, "CREATE TABLE texts (n integer, text text)")
    with psycopg.connect(database) as connection, connection.cursor() as cursor:
        cursor.executemany("INSERT INTO texts VALUES (%s, %s)", list(enumerate(NO_DAYS)))
    with PostgreSQLEngine(PostgreSQLTable(database, "texts")) as engine:
        check_bare_days(engine)


def test_no_text_makes_spark_fail_at_days(spark: Any, tmp_path: Path) -> None:
    rows = pa.table({"n": pa.array(range(len(NO_DAYS))), "text": NO_DAYS})
    pq.write_table(rows, tmp_path / "texts.parquet")
    with SparkEngine(SparkTable(parquet=str(tmp_path / "texts.parquet"))) as engine:
        check_bare_days(engine)


# -- PostgreSQL ----------------------------------------------------------------------------------

A = Domain(a=Integer(0, 9))


def test_tables_of_a_server_are_found_by_name(database: str) -> None:
    run(
        database,
        "CREATE SCHEMA s",
        "CREATE TABLE one AS SELECT 1 AS a",
        'CREATE VIEW s."Odd ""name" AS SELECT 2 AS a',
        "CREATE MATERIALIZED VIEW three AS SELECT 3 AS a",
    )
    assert all_cells(open_source(database, A, table="one")) == {(1,): 1}
    assert all_cells(open_source(PostgreSQLTable(database, 's.Odd "name'), A)) == {(2,): 1}
    assert all_cells(open_source(database, A, table="public.three")) == {(3,): 1}
    for table in (None, "four"):
        with pytest.raises(DataError, match=r'it has: public\.one, public\.three, s\.Odd "name'):
            open_source(database, A, table=table)


def test_names_of_columns_are_exact_and_quoted(database: str) -> None:
    names = ['a"; DROP TABLE t; --', "A", "a", "sélect", "id", "raw", "100%", "%s"]
    listed = ", ".join(f'{n} AS "' + name.replace('"', '""') + '"' for n, name in enumerate(names))
    run(database, f"CREATE TABLE t AS SELECT {listed}")
    domain = Domain({name: Integer(0, 9) for name in names})
    assert all_cells(open_source(database, domain, Unit("id"))) == {tuple(range(8)): 1}


def test_passwords_are_used_but_not_stored(database: str) -> None:
    run(database, "CREATE TABLE t AS SELECT 1 AS a")
    source = open_source(database, A)
    for secret in (database.replace("eke@", "eke:hidden@"), f"{database}&password=hidden"):
        source = open_source(secret, A)
        assert "hidden" not in json.dumps(source.reference())
        assert "hidden" not in repr(PostgreSQLTable(secret))
        again = open_source(source.reference(), A)
        assert all_cells(again) == {(1,): 1}
        assert all_cells(open_source(source.reference(), A, data=secret)) == {(1,): 1}
    with pytest.raises(DataError, match="name it again"):
        open_source(source.reference(), A, data=5)


@pytest.mark.parametrize("address", ["people.csv", "mysql://h/b", 7, None])
def test_other_addresses_are_refused(address: Any) -> None:
    with pytest.raises(DataError, match="postgresql://user@host/database"):
        PostgreSQLTable(address)


def test_a_server_that_is_away_says_so_without_its_own_words(database: str) -> None:
    run(database, "CREATE TABLE t AS SELECT 1 AS a")
    reference = open_source(database, A).reference()
    away = database.replace("host=/", "host=/nowhere/")
    with pytest.raises(DataError, match="cannot be reached") as caught:
        open_source(away, A)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    reopened = open_source(reference, A, data=away)  # history can still be asked
    with pytest.raises(DataError, match="cannot be reached"):
        reopened.load()


def test_a_failing_query_says_one_fixed_sentence(database: str) -> None:
    """A view of the curator's may fail on a row; what the server says of it stays inside."""
    run(
        database,
        f"CREATE TABLE t AS SELECT '{CANARY}'::text AS word",
        "CREATE VIEW v AS SELECT word::integer AS a FROM t",
    )
    with pytest.raises(DataError) as caught:
        open_source(database, A, table="v")
    assert str(caught.value) == FAILURE
    assert caught.value.__context__ is None
    assert CANARY not in "".join(traceback.format_exception_only(caught.value))


def test_nothing_can_be_changed_on_the_server(database: str) -> None:
    """A view that writes, by a function of its own, is stopped by the transaction."""
    run(
        database,
        "CREATE TABLE t AS SELECT 1 AS a",
        "CREATE FUNCTION grow() RETURNS integer LANGUAGE sql AS "
        "'INSERT INTO t VALUES (2) RETURNING a'",
        "CREATE VIEW v AS SELECT grow() AS a",
    )
    with pytest.raises(DataError, match="nothing was released"):
        open_source(database, A, table="v")
    assert all_cells(open_source(database, A, table="t")) == {(1,): 1}


def test_a_table_without_rows_and_one_with_many_cells(database: str) -> None:
    run(
        database,
        "CREATE TABLE nobody (a integer)",
        "CREATE TABLE many AS SELECT n % 1000 AS a, n / 1000 AS b "
        "FROM generate_series(0, 99999) AS n",
    )
    assert open_source(database, A, table="nobody").counts([()])[0].total == 0
    domain = Domain(a=Integer(0, 999), b=Integer(0, 99))
    source = open_source(database, domain, table="many")
    assert source.counts([()])[0].total == 100_000
    assert set(all_cells(source).values()) == {1}


def test_a_dataset_on_a_server_is_asked_like_any_other(database: str, postgresql: Server) -> None:
    """Data and ledger both on PostgreSQL, opened by two sessions."""
    run(database, "CREATE TABLE t AS SELECT n % 10 AS a FROM generate_series(1, 1000) AS n")
    address = postgresql.address(f"whole_{secrets.token_hex(6)}")
    eke.create(address, database, A, epsilon=1.0)
    first, second = eke.open(address, analyst="ann"), eke.open(address, analyst="bob")
    answer = first.ask(eke.count(a=(0, 4)), within=40)
    assert answer.receipt.cost_nano > 0
    assert second.budget.spent == first.budget.spent
    assert second.ask(eke.count(a=(0, 4)), within=40).free
    with pytest.raises(eke.Refused):
        second.ask(eke.count(a=3), within=0.5)
    run(database, "INSERT INTO t VALUES (1)")
    before = second.budget.spent
    with pytest.raises(DataError, match="history must not mix two tables"):
        eke.open(address).ask(eke.count(a=3), within=20)
    assert eke.open(address).budget.spent == before, "nothing was charged"


# -- Spark ---------------------------------------------------------------------------------------


def test_tables_of_the_catalogue_are_found_by_name(spark: Any) -> None:
    spark.sql("CREATE TABLE odd_name USING parquet AS SELECT 1 AS `a b`, 'x' AS id")
    domain = Domain({"a b": Integer(0, 9)})
    source = open_source(SparkTable("odd_name"), domain, Unit("id"))
    assert all_cells(source) == {(1,): 1}
    shown = [row.tableName for row in spark.sql("SHOW TABLES").collect()]
    assert shown == ["odd_name"], "the view of the raw columns is gone again"
    with pytest.raises(DataError, match="Spark cannot open nowhere") as caught:
        open_source(SparkTable("nowhere"), domain)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize(
    "fields", [{}, {"table": "a", "parquet": "b"}, {"table": ""}, {"table": "a", "collect": "all"}]
)
def test_a_spark_table_has_a_name_or_a_folder(fields: dict[str, Any]) -> None:
    with pytest.raises(DataError):
        SparkTable(**fields)


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("postgresql", {"address": "postgresql://h/b", "table": "t", "collect": "cells"}),
        ("spark", {"table": None, "parquet": "/lake/people", "collect": "cells"}),
        ("spark", {"table": "a.b", "parquet": None, "collect": "marginals", "salt": "ab"}),
    ],
)
def test_references_are_read_back_as_they_were_written(kind: str, fields: dict[str, Any]) -> None:
    reference = {"kind": kind, **fields, "sha256": "0" * 64}
    assert open_source(reference, A).reference() == reference
    older = {name: value for name, value in reference.items() if name != "collect"}
    if fields["collect"] == "cells":
        assert open_source(older, A).reference() == reference, "there was one way only"
    with pytest.raises(DataError, match="unknown fields"):
        open_source({**reference, "more": 1}, A)
