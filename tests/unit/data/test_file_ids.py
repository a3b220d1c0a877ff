"""Ids of files and of tables behind Ibis are compared by their engine, in the raw column."""

from __future__ import annotations

import csv
import secrets
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import ibis
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from eke.data import CsvFile, DuckDBFile, ParquetFile, open_source
from eke.data.scan import Scan
from eke.data.source import Collect
from eke.domain import Boolean, Domain
from eke.errors import DataError
from eke.privacy.unit import Unit
from tests.parts import every
from tests.unit.data.id_check import (
    DOMAIN,
    LENGTH,
    ONE,
    Classes,
    Ids,
    caught,
    check_ids,
    classes_of,
    kept_rows,
    named,
)
from tests.unit.data.id_kinds import (
    ARROW,
    arrow_column,
)
from tests.unit.data.slow_twin import all_cells
from tests.unit.data.test_ids import arrow_classes

# Ibis 12 still calls a method that DuckDB 2 has renamed, and reads an option that pandas gives up.
pytestmark = [
    pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:The 'future.infer_string' option:DeprecationWarning"),
]

ROWS = range(LENGTH)


# -- files ---------------------------------------------------------------------------------------

PARQUET = [kind for kind in ARROW if kind not in ("interval", "hundreds", "decimal256")]


@pytest.fixture(scope="module")
def parquet(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("parquet")
    columns = {kind: arrow_column(kind) for kind in PARQUET}
    for kind in ("words", "days"):
        columns[kind] = columns[kind].dictionary_decode().dictionary_encode()
    table = pa.table({"row": ROWS, **columns})
    pq.write_table(table, folder / "all.parquet", row_group_size=7)
    pq.write_table(table.slice(len(ONE)), folder / "others.parquet")
    return folder / "all.parquet", folder / "others.parquet"


@pytest.mark.parametrize("kind", every(3, PARQUET))
def test_ids_of_parquet_files(kind: str, parquet: tuple[Path, Path]) -> None:
    """Arrow reads the file for the comparison, so a column that DuckDB rounds would show."""
    own = arrow_classes(pq.read_table(parquet[0], columns=[kind])[kind])
    collect: Collect = "marginals" if PARQUET.index(kind) % 4 == 0 else "cells"
    everybody, others = (ParquetFile(str(path), collect) for path in parquet)
    check_ids(everybody, others, kind, own, len(own))


def test_parquet_columns_that_the_engine_rounds_are_refused_as_ids(tmp_path) -> None:
    path = tmp_path / "t.parquet"
    wide = arrow_column("decimal256")
    columns = {
        "row": pa.array(ROWS),
        "wide": wide,
        "times": arrow_column("nanoseconds"),
        "pair": pa.StructArray.from_arrays([pa.array(ROWS), wide], ["n", "wide"]),
        "list": pa.array([[n] for n in ROWS]),
    }
    pq.write_table(pa.table(columns), path, use_deprecated_int96_timestamps=True)
    for name in ("wide", "times", "pair"):
        with pytest.raises(DataError, match=f"column '{name}' cannot be the id of a unit"):
            open_source(path, DOMAIN, Unit(name))
    assert kept_rows(path, "list", 1) == set(ROWS)


TEXTS = {
    "padded": Ids(["a", " a", "a\t", "\t a "], ["A", "b"]),
    "quoted": Ids(["a,b", " a,b "], ["a", 'a"b']),
    "spelled": Ids(["1"], ["1.0", "01", "+1", "1e0"]),
    "null words": Ids(["x"], ["NA.", "na", "?"]),
    "accents": Ids(["é"], ["e\u0301", "e", "\u212b", "å"]),
    "blanks": Ids(["a b"], ["a  b", "a\u00a0b", "\u00a0a b"]),
    "nothing": Ids(["0"], ["false", "nan", "NULL", "None"]),
    "ends": Ids(["a\nb"], ["a\r\nb", "ab"]),
    **{
        kind: Ids(list(map(str, ids.same[:1])), list(map(str, ids.others)))
        for kind, (_, ids) in ARROW.items()
        if kind not in ("zeros", "string", "nan32", "nan64")
    },
}


WRITTEN = ("padded", "quoted", "spelled", "null words", "accents", "blanks", "nothing", "ends")


@pytest.mark.parametrize(
    ("strip", "names"),
    [
        pytest.param(True, (*WRITTEN, *list(ARROW)[::4]), id="stripped"),
        pytest.param(True, tuple(TEXTS), id="all kinds", marks=pytest.mark.long),
        # As they stand, padded spellings are different ids; the other columns would only repeat.
        pytest.param(False, ("spelled", "blanks", "ends"), id="as they stand"),
    ],
)
def test_ids_of_text_files(strip: bool, names: tuple[str, ...], tmp_path) -> None:
    kinds = {kind: TEXTS[kind] for kind in names if kind in TEXTS}
    columns = {kind: ids.column("NA" if strip else "") for kind, ids in kinds.items()}
    for name, first in (("all.csv", 0), ("others.csv", len(ONE))):
        with (tmp_path / name).open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["row", *columns])
            writer.writerows(
                [n, *row] for n, row in enumerate(zip(*columns.values(), strict=True)) if n >= first
            )
    everybody, others = (
        CsvFile(tmp_path / name, strip=strip, null=["NA", "?"])
        for name in ("all.csv", "others.csv")
    )
    with Path(everybody.path).open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for kind in kinds:
        fields = [row[kind].strip(" \t") if strip else row[kind] for row in rows]
        own = classes_of(None if field in ("", "NA", "?") else field for field in fields)
        check_ids(everybody, others, kind, own, len(own))


def test_there_are_at_least_forty_kinds_for_each_file() -> None:
    assert min(len(TEXTS), len(PARQUET), len(DUCKDB), len(DUCKDB) - len(IBIS_LACKS)) >= 40


DUCKDB: dict[str, Ids] = {
    "BOOLEAN": Ids(["true", "t"], ["false"]),
    "TINYINT": Ids(["1"], ["-1"]),
    "SMALLINT": Ids(["1"], ["-1"]),
    "INTEGER": Ids(["1"], ["-1"]),
    "BIGINT": Ids([str(2**53)], [str(2**53 + 1)]),
    "UTINYINT": Ids(["255"], ["0"]),
    "USMALLINT": Ids(["1"], ["0"]),
    "UINTEGER": Ids(["1"], ["0"]),
    "UBIGINT": Ids([str(2**64 - 1)], [str(2**64 - 2)]),
    "HUGEINT": Ids([str(2**127 - 1)], [str(10**38), str(2**127 - 2), str(1 - 2**127), "0"]),
    "UHUGEINT": Ids([str(2**128 - 1)], [str(2**128 - 2), str(10**38), "0"]),
    "BIGNUM": Ids([str(10**60), "0" + str(10**60)], [str(10**60 + 1)]),
    "DECIMAL(38, 0)": Ids([str(10**38 - 1)], [str(10**38 - 2)]),
    "DECIMAL(38, 10)": Ids(["1", "1.0", "1.00"], ["1.0000000001"]),
    "DECIMAL(4, 1)": Ids(["1", "1.0"], ["1.1"]),
    "FLOAT": Ids(["0", "-0.0"], ["nan", "inf", "1e-45"]),
    "DOUBLE": Ids(["nan", "-nan"], ["0", "inf", "5e-324"]),
    "DOUBLE[]": Ids(["[0.0]", "[-0.0]"], ["[nan]", "[]", "[NULL]"]),
    "DOUBLE[1]": Ids(["[0.0]", "[-0.0]"], ["[1.0]"]),
    "VARCHAR": Ids(["a"], ["A", "a ", "é", "e\u0301", ""]),
    "VARCHAR COLLATE NOCASE": Ids(["a", "A"], ["b", "a "]),
    "VARCHAR COLLATE NOACCENT": Ids(["e", "é", "e\u0301"], ["E"]),
    "VARCHAR COLLATE NFC": Ids(["é", "e\u0301"], ["e"]),
    "VARCHAR COLLATE NOCASE.NOACCENT": Ids(["E", "é", "É", "e"], ["f"]),
    "VARCHAR[]": Ids(["[a]"], ["[A]", "[a, NULL]"]),
    "JSON": Ids(['{"a":1}'], ['{"a": 1}']),
    "BLOB": Ids(["a", "\\x61"], ["a\\x00", ""]),
    "BIT": Ids(["1"], ["01", "001"]),
    "UUID": Ids(
        ["00000000-0000-0000-0000-00000000000a", "0000000000000000000000000000000A"],
        ["00000000-0000-0000-0000-00000000000b"],
    ),
    "ENUM('b', 'a', 'A')": Ids(["a"], ["A", "b"]),
    "DATE": Ids(["2020-01-01"], ["2020-01-02", "infinity"]),
    "TIME": Ids(["00:00:00"], ["00:00:00.000001", "24:00:00"]),
    "TIME_NS": Ids(["00:00:00"], ["00:00:00.000000001"]),
    "TIMETZ": Ids(["00:00:00+00"], ["01:00:00+01", "00:00:00+01"]),
    "TIMESTAMP": Ids(["2020-01-01", "2020-01-01 00:00:00"], ["2020-01-01 00:00:00.000001"]),
    "TIMESTAMP_S": Ids(["2020-01-01"], ["2020-01-01 00:00:01"]),
    "TIMESTAMP_MS": Ids(["2020-01-01"], ["2020-01-01 00:00:00.001"]),
    "TIMESTAMP_NS": Ids(["2020-01-01"], ["2020-01-01 00:00:00.000000001"]),
    "TIMESTAMPTZ": Ids(["2020-01-01 00:00:00+00", "2020-01-01 01:00:00+01"], ["infinity"]),
    "INTERVAL": Ids(["1 month", "30 days", "720 hours"], ["31 days", "1 year"]),
    "INTERVAL[]": Ids(["[1 month]", "[30 days]"], ["[31 days]"]),
    "STRUCT(a DOUBLE, b VARCHAR)": Ids(["{a: 0.0, b: x}", "{a: -0.0, b: x}"], ["{a: 0, b: X}"]),
    "STRUCT(n HUGEINT)": Ids([f"{{n: {2**127 - 1}}}"], [f"{{n: {2**127 - 2}}}"]),
    "MAP(VARCHAR, INTEGER)": Ids(["{a=1, b=2}"], ["{b=2, a=1}", "{}"]),
    "UNION(n INTEGER, s VARCHAR)": Ids(["1"], ["x"]),
}
IBIS_LACKS = ("UHUGEINT", "BIGNUM", "BIT", "TIME_NS", "UNION(n INTEGER, s VARCHAR)")
COLUMNS = named(DUCKDB)


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Everybody and, in a view, all but one id."""
    path = tmp_path_factory.mktemp("duckdb") / "ids.duckdb"
    listed = ", ".join(f"{name} {kind}" for name, (kind, _) in COLUMNS.items())
    casts = ", ".join(f"CAST(? AS {kind.split(' COLLATE')[0]})" for kind in DUCKDB)
    values = zip(*(ids.column() for ids in DUCKDB.values()), strict=True)
    with duckdb.connect(path) as connection:
        connection.execute(f'CREATE TABLE people ("row" INTEGER, {listed})')
        rows = [[n, *row] for n, row in enumerate(values)]
        connection.executemany(f"INSERT INTO people VALUES (?, {casts})", rows)
        connection.execute(f'CREATE VIEW fewer AS FROM people WHERE "row" >= {len(ONE)}')
    return path


def own_groups(path: Path, column: str) -> tuple[Classes, int]:
    """The groups that DuckDB makes, and its count of distinct ids with one more for NULL."""
    with duckdb.connect(path, read_only=True) as connection:
        groups = connection.execute(f'SELECT list("row") FROM people GROUP BY {column}').fetchall()
        count = f"SELECT count(DISTINCT {column}) + 1 FROM people"
        (distinct,) = connection.execute(count).fetchall()[0]
    return [frozenset(group) for (group,) in groups], distinct


def check_duckdb(path: Path, column: str, collect: Collect = "cells", rows: int = 1) -> None:
    own, distinct = own_groups(path, column)
    people, fewer = (DuckDBFile(str(path), table, collect) for table in ("people", "fewer"))
    check_ids(people, fewer, column, own, distinct, rows)


@pytest.mark.parametrize("column", every(3, COLUMNS, first=1), ids=list(DUCKDB))
def test_ids_of_duckdb_files(column: str, database: Path) -> None:
    check_duckdb(database, column)


def test_ids_of_duckdb_files_that_are_counted_by_marginals(database: Path) -> None:
    for column, (kind, _) in COLUMNS.items():
        if kind in ("HUGEINT", "VARCHAR COLLATE NOCASE", "INTERVAL", "DOUBLE", "BIT"):
            check_duckdb(database, column, "marginals", rows=2)


@pytest.mark.parametrize(
    "column", every(3, (c for c, (kind, _) in COLUMNS.items() if kind not in IBIS_LACKS))
)
def test_ids_of_ibis_tables(column: str, database: Path) -> None:
    own, distinct = own_groups(database, column)
    backend = ibis.duckdb.connect(database, read_only=True)
    try:
        people, fewer = (backend.table(name).select("row", column) for name in ("people", "fewer"))
        check_ids(people, fewer, column, own, distinct)
    finally:
        backend.disconnect()


SQLITE: dict[str, Ids] = {
    "TEXT COLLATE NOCASE": Ids(["'a'", "'A'"], ["'b'", "'a '"]),
    "TEXT COLLATE RTRIM": Ids(["'a'", "'a '"], ["'A'"]),
    "NUMERIC": Ids(["1", "1.0", "'1'"], ["2", "'a'"]),
    "REAL": Ids(["0.0", "-0.0", "0"], ["0.5"]),
    "BLOB": Ids(["x'61'"], ["x'41'"]),
}


def test_ids_of_ibis_tables_elsewhere(tmp_path) -> None:
    columns = named(SQLITE)
    backend = ibis.sqlite.connect(tmp_path / "ids.db")
    listed = ", ".join(f"{name} {kind}" for name, (kind, _) in columns.items())
    values = zip(*(ids.column("NULL") for ids in SQLITE.values()), strict=True)
    rows = ", ".join(f"({n}, {', '.join(row)})" for n, row in enumerate(values))
    connection = backend.con
    connection.execute(f'CREATE TABLE people ("row" INTEGER, {listed})')
    connection.execute(f"INSERT INTO people VALUES {rows}")
    try:
        for column in columns:
            groups = connection.execute(
                f'SELECT group_concat("row") FROM people GROUP BY {column}'
            ).fetchall()
            own = [frozenset(map(int, group.split(","))) for (group,) in groups]
            people = backend.table("people").select("row", column)
            check_ids(people, people.filter(people["row"] >= len(ONE)), column, own, len(own))
    finally:
        backend.disconnect()


def test_ids_that_a_backend_cannot_group_are_refused() -> None:
    table = ibis.polars.connect().create_table("t", pl.DataFrame({"who": [1, 2], "row": [0, 1]}))
    with pytest.raises(DataError, match="cannot group rows by values of type int64"):
        open_source(table, DOMAIN, Unit("who"))


# -- positive controls: what ids once were, and the findings ----------------------------------


def caught_kinds(kinds: Sequence[str], database: Path) -> set[str]:
    columns = [column for column, (kind, _) in COLUMNS.items() if kind in kinds]
    found = caught(columns, lambda column: check_duckdb(database, column))
    return {COLUMNS[column][0] for column in found}


def test_the_check_catches_ids_cut_as_attributes_are(database: Path, monkeypatch) -> None:
    original = Scan.table

    def cut(self: Scan, wanted: Any, *others: Any, **named: Any) -> Any:
        return original(replace(self, ids=self.columns), wanted, *others, **named)

    monkeypatch.setattr(Scan, "table", cut)
    kinds = ("BIGINT", "HUGEINT", "UHUGEINT", "DOUBLE", "STRUCT(n HUGEINT)")
    assert caught_kinds(kinds, database) == {"HUGEINT", "UHUGEINT"}


def test_the_check_catches_ids_compared_as_texts(database: Path, monkeypatch) -> None:
    original = Scan.table

    def as_text(self: Scan, wanted: Any, *others: Any, **named: Any) -> Any:
        texts = {name: f"CAST({form} AS VARCHAR)" for name, form in self.ids.items()}
        return original(replace(self, ids=texts), wanted, *others, **named)

    monkeypatch.setattr(Scan, "table", as_text)
    kinds = ("BIGINT", "FLOAT", "INTERVAL", "DOUBLE[]", "VARCHAR", "VARCHAR COLLATE NOCASE")
    assert caught_kinds(kinds, database) >= {"FLOAT", "INTERVAL", "DOUBLE[]"}


def test_one_more_huge_id_displaces_nobody(tmp_path) -> None:
    """Three rows of each id, of which one more moves a difference by three, not by six."""

    def difference(people: list[int]) -> int:
        path = tmp_path / f"{secrets.token_hex(4)}.duckdb"
        with duckdb.connect(path) as connection:
            connection.execute("CREATE TABLE t (who HUGEINT, m BOOLEAN)")
            rows = [[str(10**38 + who), who % 2 == 1] for who in people for _ in range(3)]
            connection.executemany("INSERT INTO t VALUES (CAST(? AS HUGEINT), ?)", rows)
        cells = all_cells(open_source(path, Domain(m=Boolean()), Unit("who", rows=3)))
        return int(cells[1,] - cells[0,])

    assert difference([1]) == 3
    assert difference([1, 2]) == 0
    assert difference([1, 2, 3]) == 3


def test_a_column_may_be_id_and_attribute_at_once(database: Path) -> None:
    domain = Domain(row=DOMAIN["row"], c9=Boolean(null="bucket", outside="bucket"))
    source = open_source(database, domain, Unit("c9"), table="people")
    kept = {row for row, _ in all_cells(source)}
    own = classes_of(COLUMNS["c9"][1].column())
    assert sorted(len(kept & one) for one in own) == [1] * len(own)
