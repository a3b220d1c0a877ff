"""Counts through every kind of table equal the slow twin, and say nothing else."""

from __future__ import annotations

import copy
import datetime as dt
import gzip
import json
import math
import os
import pickle
import traceback
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import duckdb
import ibis
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from eke.data import CsvFile, DuckDBFile, ParquetFile, open_source
from eke.data.sealed import FAILURE, SealedEngine
from eke.domain import Binned, Boolean, Categorical, Domain, Integer, Replace
from eke.errors import DataError, SecretLeak
from eke.privacy.unit import Unit
from tests.unit.data.slow_twin import (
    CANARY,
    HOSTILE_FLOATS,
    HOSTILE_TEXTS,
    OUTSIDE,
    all_cells,
    as_counter,
    cell_counts,
    fixed_sample,
    marginal,
    value_of_text,
)

COLUMNS = ("whole", "real", "price", "word", "flag", "day")
DOMAINS = {
    "buckets": Domain(
        whole=Integer(-3, 5, null="bucket", outside="bucket"),
        real=Binned([0, 0.1, 0.30000000000000004, 2.5], null="bucket", outside="bucket"),
        price=Binned([0, 0.5, 2.5], null="bucket", outside="clamp"),
        word=Categorical("a", "é", "o'k", null="bucket", outside="bucket"),
        flag=Boolean(null="bucket", outside="bucket"),
        day=Categorical("x", null="bucket", outside="bucket"),
    ),
    "replacements": Domain(
        flag=Boolean(null=Replace(True), outside=Replace(False)),
        word=Categorical("a", "日本", null=Replace("a"), outside=Replace("日本")),
        real=Integer(-3, 5, null=Replace(0), outside="clamp"),
        day=Integer(1, 2, null=Replace(1), outside=Replace(2)),
    ),
    "drops": Domain(
        real=Binned([-10, 0, 1, 10], outside="clamp"),
        whole=Integer(-3, 200, outside="drop"),
        flag=Categorical(0, 1),
    ),
}


def hostile_rows() -> list[dict[str, object]]:
    """Rows that mix all hostile values, in columns of one plain type each."""
    wholes = [None, 0, 1, 2, 5, 6, -3, -4, 2**31 - 1, 2**53 + 1, 2**63 - 1, -(2**63)]
    prices = [None, *map(Decimal, ("0.00", "0.10", "0.49", "0.50", "2.50", "2.51", "-1.00"))]
    days = [None, dt.date(2020, 1, 1)]
    texts = [t for t in HOSTILE_TEXTS if t != ""]  # in a text file these are missing
    length = 3 * len(texts)

    def cycle(values):
        return [values[n % len(values)] for n in range(length)]

    columns = (wholes, HOSTILE_FLOATS, prices, texts, [None, True, False, True], days)
    return [
        dict(zip(COLUMNS, row, strict=True))
        for row in zip(*(cycle(values) for values in columns), strict=True)
    ]


ROWS = hostile_rows()


def arrow_table(rows: list[dict[str, object]] = ROWS) -> pa.Table:
    kinds = (pa.int64(), pa.float64(), pa.decimal128(9, 2), pa.string(), pa.bool_(), pa.date32())
    return pa.table(
        {n: pa.array([r[n] for r in rows], t) for n, t in zip(COLUMNS, kinds, strict=True)}
    )


def write_csv(path: Path, rows: list[dict[str, object]] = ROWS, *, header: bool = True) -> Path:
    def field(value: object) -> str:
        return "" if value is None else '"' + str(value).replace('"', '""') + '"'

    lines = [",".join(field(row[name]) for name in COLUMNS) for row in rows]
    text = "\n".join([*([",".join(COLUMNS)] if header else []), *lines]) + "\n"
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "wt", encoding="utf-8") as file:
        file.write(text)
    return path


IN_MEMORY = {
    "arrow": lambda arrow: arrow,
    "arrow chunks": lambda arrow: pa.concat_tables([arrow.slice(0, 7), arrow.slice(7)]),
    "arrow dictionary": lambda arrow: arrow.set_column(
        COLUMNS.index("word"), "word", arrow["word"].dictionary_encode()
    ),
    "pandas": lambda arrow: arrow.to_pandas(types_mapper=pd.ArrowDtype),
    "pandas objects": lambda _arrow: pd.DataFrame(
        {n: pd.Series([r[n] for r in ROWS], dtype=object) for n in COLUMNS}
    ),
    "polars": pl.from_arrow,
    "ibis": ibis.memtable,
}


def make(kind: str, folder: Path):
    """The hostile rows in one of the forms that open_source takes."""
    arrow = arrow_table()
    if kind in IN_MEMORY:
        return IN_MEMORY[kind](arrow)
    path = folder / f"table.{kind}"
    if kind == "parquet":
        pq.write_table(arrow, path, row_group_size=11)
    else:
        with duckdb.connect(path) as connection:
            connection.register("arrow", arrow)
            connection.execute("CREATE TABLE people AS SELECT * FROM arrow")
    return path


KINDS = [*(kind for kind in IN_MEMORY if kind != "ibis"), "parquet", "duckdb"]


@pytest.mark.parametrize("which", DOMAINS)
@pytest.mark.parametrize("kind", KINDS)
def test_counts_of_typed_tables_equal_the_slow_twin(kind: str, which: str, tmp_path) -> None:
    domain = DOMAINS[which]
    source = open_source(make(kind, tmp_path), domain)
    expected = cell_counts(ROWS, domain)
    assert all_cells(source) == expected
    sets = [(), domain.names[:1], domain.names[::-1][:2]]
    for attributes, counts in zip(sets, source.counts(sets), strict=True):
        assert counts.attributes == attributes
        assert as_counter(counts) == marginal(expected, domain, attributes)
        assert counts.total == expected.total()


# Ibis 12 still calls a method that DuckDB 2 has renamed.
@pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")
@pytest.mark.parametrize("which", DOMAINS)
def test_counts_of_ibis_expressions_equal_the_slow_twin(which: str, tmp_path) -> None:
    table = make("ibis", tmp_path)
    source = open_source(table.filter(table["whole"].notnull()), DOMAINS[which])
    kept = [row for row in ROWS if row["whole"] is not None]
    assert all_cells(source) == cell_counts(kept, DOMAINS[which])
    assert source.reference()["kind"] == "ibis"


@pytest.mark.parametrize("which", DOMAINS)
@pytest.mark.parametrize("name", ["table.csv", "table.csv.gz"])
def test_counts_of_text_files_equal_the_slow_twin(name: str, which: str, tmp_path) -> None:
    domain = DOMAINS[which]
    source = open_source(write_csv(tmp_path / name), domain)
    read = [
        {
            n: value_of_text(None if r[n] is None else str(r[n]).strip(" \t"), domain[n])
            for n in domain.names
        }
        for r in ROWS
    ]
    assert all_cells(source) == cell_counts(read, domain)


def test_an_integer_column_of_text_counts_in_a_file_but_not_in_a_frame(tmp_path) -> None:
    domain = Domain(age=Integer(0, 99, null="bucket"))
    (tmp_path / "ages.csv").write_text("age\n30\n 31 \n2.9e1\n\nx\n")
    assert all_cells(open_source(tmp_path / "ages.csv", domain)) == {
        (30,): 1,
        (31,): 1,
        (29,): 1,
        (100,): 2,  # "x", and the empty line: in a file of one column that is a missing value
    }
    frame = open_source(pd.DataFrame({"age": ["30", "31"]}), domain)
    assert all_cells(frame) == {(100,): 2}
    (note,) = frame.notes
    assert note.startswith("column 'age' has type string, but is declared Integer")


def test_mixed_objects_in_one_column_follow_the_slow_twin() -> None:
    values = [
        *(
            None,
            math.nan,
            pd.NA,
            pd.NaT,
            1,
            1.0,
            True,
            "1",
            "a",
            b"a",
            Decimal(1),
            Decimal("NaN"),
        ),
        *(
            Decimal("1e99999999"),
            Decimal("-Infinity"),
            2**200,
            -(10**400),
            np.int8(1),
            np.float32(2),
        ),
        *([1], {"a": 1}, dt.date(2020, 1, 1), 1j, OUTSIDE, CANARY, "lone \ud800"),
    ]
    plain = [None, None, None, None, *values[4:]]
    plain[plain.index(Decimal("1e99999999"))] = math.inf
    attributes = (
        Integer(0, 3, "bucket", "clamp"),
        Binned([0, 1, 2], "bucket", "bucket"),
        Boolean("bucket", "bucket"),
        Categorical("a", "1", null="bucket", outside=Replace("1")),
        Categorical(1, 2, null=Replace(1), outside="drop"),
    )
    frame = pd.DataFrame({"x": pd.Series(values, dtype=object)})
    polars = pl.DataFrame([pl.Series("x", values, dtype=pl.Object)])
    for attribute in attributes:
        domain = Domain(x=attribute)
        expected = cell_counts([{"x": v} for v in plain], domain)
        assert all_cells(open_source(frame, domain)) == expected
        assert all_cells(open_source(polars, domain)) == expected


def test_rare_arrow_and_polars_types_follow_the_slow_twin() -> None:
    domain = Domain(x=Integer(0, 3, "bucket", "clamp"))
    numbers = [None, 0, 1, 7, -2]
    for kind in (pa.float16(), pa.decimal256(60, 0), pa.decimal64(9, 2), pa.uint8(), pa.int8()):
        some = [n for n in numbers if n is None or n >= 0 or not pa.types.is_unsigned_integer(kind)]
        exact = [n if n is None or not pa.types.is_decimal(kind) else Decimal(n) for n in some]
        source = open_source(pa.table({"x": pa.array(exact, kind)}), domain)
        assert all_cells(source) == cell_counts([{"x": n} for n in some], domain), kind
    wide = pl.DataFrame({"x": pl.Series([*numbers, 2**100], dtype=pl.Int128)})
    expected = cell_counts([{"x": n} for n in (*numbers, 2**100)], domain)
    assert all_cells(open_source(wide, domain)) == expected
    for values in ([None, None], [[1], None], [dt.timedelta(1), None]):
        source = open_source(pa.table({"x": pa.array(values)}), domain)
        assert all_cells(source) == cell_counts([{"x": v} for v in values], domain)
    words = pl.DataFrame({"x": pl.Series(["q", "r", None], dtype=pl.Categorical)})
    text = Domain(x=Categorical("q", null="bucket", outside="drop"))
    assert all_cells(open_source(words, text)) == {(0,): 1, (1,): 1}
    assert all_cells(open_source(words.to_pandas().astype("category"), text)) == {(0,): 1, (1,): 1}


def test_a_row_dropped_by_one_attribute_is_gone_for_all_questions() -> None:
    domain = Domain(a=Integer(0, 1, outside="drop"), b=Integer(0, 1))
    source = open_source(pd.DataFrame({"a": [0, 9, 1], "b": [1, 1, 0]}), domain)
    assert as_counter(source.counts([("b",)])[0]) == {(0,): 1, (1,): 1}
    assert source.counts([()])[0].total == 2


def test_row_order_and_threads_do_not_matter(tmp_path) -> None:
    rng = np.random.default_rng(5)
    domain, unit = DOMAINS["buckets"], Unit("word", rows=2)
    with fixed_sample():
        first = open_source(arrow_table(), domain, unit)
    for _ in range(3):
        mixed = arrow_table([ROWS[n] for n in rng.permutation(len(ROWS))])
        with fixed_sample():
            again = open_source(mixed, domain, unit)
        for one, other in zip(
            first.counts([(), ("real", "flag"), domain.names]),
            again.counts([(), ("real", "flag"), domain.names]),
            strict=True,
        ):
            assert np.array_equal(one.codes, other.codes)
            assert np.array_equal(one.counts, other.counts)


# -- units ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [1, 2, 5])
@pytest.mark.parametrize("ids", [int, str, float, object, dt.date])
def test_units_keep_some_rows_of_each_id(ids: type, rows: int) -> None:
    rng = np.random.default_rng(rows)
    makers: dict[type, Callable[[int], object]] = {
        int: int,
        str: lambda n: f"person {n}",
        float: lambda n: n / 4,
        object: lambda n: n if n % 2 else str(n),
        dt.date: lambda n: dt.date(2020, 1, 1 + n),
    }
    table = [
        {
            "who": None if n % 13 == 0 else makers[ids](int(rng.integers(0, 9))),
            "a": int(rng.integers(-2, 6)),
            "b": bool(rng.integers(0, 2)),
        }
        for n in range(120)
    ]
    domain = Domain(a=Integer(0, 4, outside="drop"), b=Boolean())
    unit = Unit("who", rows=rows)
    frame = pd.DataFrame(
        {
            "who": pd.Series([r["who"] for r in table], dtype=object if ids is object else None),
            "a": [r["a"] for r in table],
            "b": [r["b"] for r in table],
        }
    )
    expected = cell_counts(table, domain, unit)
    with fixed_sample():
        assert all_cells(open_source(frame, domain, unit)) == expected
    assert expected.total() < len(table)


def test_one_id_changes_at_most_as_many_rows_as_the_unit_allows() -> None:
    """Removing any id, however many rows it has, changes the counts by at most `rows` in all."""
    rng = np.random.default_rng(11)
    domain, unit = Domain(a=Integer(0, 3, outside="drop")), Unit("who", rows=2)
    frame = pd.DataFrame({"who": rng.integers(0, 6, 60), "a": rng.integers(-1, 5, 60)})
    with fixed_sample():
        full = all_cells(open_source(frame, domain, unit))
    without_unit = all_cells(open_source(frame, domain))
    worst = 0
    for who in range(6):
        rest = frame[frame["who"] != who]
        with fixed_sample():
            fewer = all_cells(open_source(rest, domain, unit))
        assert sum(abs(full[c] - fewer[c]) for c in {*full, *fewer}) <= unit.rows
        unguarded = without_unit - all_cells(open_source(rest, domain))
        worst = max(worst, unguarded.total())
    assert worst > unit.rows  # without truncation the same ids do move more rows


def test_a_unit_of_a_text_file_uses_the_column_as_stored(tmp_path) -> None:
    (tmp_path / "t.csv").write_text("who,a\n1,0\n1.0,0\n1,1\n,1\n,1\n")
    source = open_source(tmp_path / "t.csv", Domain(a=Boolean()), Unit("who"))
    cells = all_cells(source)  # "1" keeps either row, "1.0" its own, NULL one of two equal ones
    assert cells in ({(0,): 2, (1,): 1}, {(0,): 1, (1,): 2})


# -- schema --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["arrow", "pandas", "polars", "parquet", "duckdb"])
def test_a_missing_column_is_named_with_those_that_exist(kind: str, tmp_path) -> None:
    data = make(kind, tmp_path)
    with pytest.raises(DataError, match=r"no column 'agee'; its columns are: whole, real, price"):
        open_source(data, Domain(agee=Integer(0, 9)))
    with pytest.raises(DataError, match="no column 'person'"):
        open_source(data, Domain(whole=Integer(0, 9)), Unit("person"))


def test_column_names_are_exact_and_never_reach_the_engine(tmp_path) -> None:
    names = ['a"; DROP TABLE raw; --', "A", "a", "sélect", "id", "a0"]
    domain = Domain({name: Integer(0, 9) for name in names})
    row = {name: n for n, name in enumerate(names)}
    assert all_cells(open_source(pd.DataFrame([row]), domain)) == {(0, 1, 2, 3, 4, 5): 1}
    quoted = ",".join('"' + name.replace('"', '""') + '"' for name in names)
    (tmp_path / "n.csv").write_text(f"{quoted}\n0,1,2,3,4,5\n", "utf-8")
    unit = Unit("id")
    assert all_cells(open_source(tmp_path / "n.csv", domain, unit)) == {(0, 1, 2, 3, 4, 5): 1}


def test_tables_of_a_database_are_found_by_name(tmp_path) -> None:
    path, domain = tmp_path / "two tables.db", Domain(a=Integer(0, 9))
    with duckdb.connect(path) as connection:
        connection.execute("CREATE SCHEMA s")
        connection.execute("CREATE TABLE one AS SELECT 1 AS a")
        connection.execute('CREATE TABLE s."Odd ""name" AS SELECT 2 AS a')
    assert all_cells(open_source(path, domain, table="one")) == {(1,): 1}
    assert all_cells(open_source(path, domain, table='s.Odd "name')) == {(2,): 1}
    for table in (None, "three"):
        with pytest.raises(DataError, match=r'it has: main\.one, s\.Odd "name'):
            open_source(path, domain, table=table)
    (tmp_path / "two tables.db.wal").write_bytes(b"")
    with pytest.raises(DataError, match="CHECKPOINT"):
        open_source(path, domain, table="one")


@pytest.mark.parametrize("data", [None, 5, [1, 2], object(), pl.LazyFrame({"a": [1]})])
def test_other_objects_are_refused(data: object) -> None:
    with pytest.raises(DataError):
        open_source(data, Domain(a=Integer(0, 9)))


def test_duplicate_or_nameless_columns_of_a_frame_are_refused() -> None:
    domain = Domain(a=Integer(0, 9))
    for columns in (["a", "a"], ["a", 3]):
        with pytest.raises(DataError, match="different texts as names"):
            open_source(pd.DataFrame([[1, 2]], columns=columns), domain)


# -- hostile files -------------------------------------------------------------------------------


def test_odd_lines_of_a_text_file_are_rows_or_nothing_but_never_an_error(tmp_path) -> None:
    lines = [
        *(b"1,a", b"2", b"3,a,9,9", b"4,\xff\xfe", b"", b"5,\x00", b'6,"a', b'x"', b'7,"a"z'),
        *(b"8," + b"y" * 20_000_000, b"\xef\xbb\xbf9,a", CANARY.encode(), b"10,a"),
    ]
    domain = Domain(n=Integer(1, 10, "bucket", "bucket"), w=Categorical("a", null="bucket"))
    for end in (b"\n", b"\r\n"):
        (tmp_path / "odd.csv").write_bytes(b"n,w\n" + end.join(lines) + end)
        counts = all_cells(open_source(tmp_path / "odd.csv", domain))
        assert counts[0, 0] == 1  # 1,a
        assert counts[1, 1] == 1  # 2: filled up with NULL
        assert counts[2, 0] == 1  # 3,a,9,9: surplus fields ignored
        assert counts[9, 0] == 1  # 10,a: reading went on to the end
        assert counts[10, 1] == 1  # the canary


def test_an_engine_failure_says_one_fixed_sentence(tmp_path) -> None:
    path = tmp_path / "broken.parquet"
    good = tmp_path / "good.parquet"
    pq.write_table(pa.table({"a": [CANARY] * 1000}), good)
    whole = good.read_bytes()
    path.write_bytes(whole[:40] + CANARY.encode() * 3 + whole[80:])
    domain = Domain(a=Categorical("x", null="bucket", outside="bucket"))
    for make_bad in (
        lambda: open_source(path, domain),
        lambda: open_source(_write(tmp_path / "no.parquet", CANARY), domain),
        lambda: open_source(_write(tmp_path / "no.duckdb", CANARY), domain),
        lambda: open_source(_write(tmp_path / "no.csv.gz", CANARY), domain),
        lambda: SealedEngine().run(f"SELECT CAST('{CANARY}' AS INTEGER)"),
    ):
        with pytest.raises(DataError) as caught:
            make_bad()
        assert str(caught.value) == FAILURE
        assert caught.value.__cause__ is None
        assert caught.value.__context__ is None
        assert CANARY not in "".join(traceback.format_exception_only(caught.value))


def _write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_nothing_of_a_row_shows_in_what_a_source_says_of_itself() -> None:
    frame = pd.DataFrame({"a": [CANARY, "x"], "b": [7777, 1]})
    domain = Domain(a=Categorical("x", null="bucket", outside="bucket"), b=Integer(0, 9))
    source = open_source(frame, domain)
    said = f"{source!r} {source} {source.notes} {json.dumps(source.reference())}"
    assert CANARY not in said
    assert "7777" not in said
    for leak in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(SecretLeak):
            leak(source)


def test_the_engine_reads_the_allowed_file_and_nothing_else(tmp_path) -> None:
    allowed, other = (_write(tmp_path / f"{n}.csv", f"a\n{CANARY}\n") for n in ("it's", "other"))
    database = tmp_path / "other.duckdb"
    duckdb.connect(database).close()
    with SealedEngine([str(allowed)]) as engine:
        quoted = str(allowed).replace("'", "''")
        assert engine.run(f"SELECT count(*) FROM read_csv('{quoted}', header = true)") == [(1,)]
        for forbidden in (
            f"SELECT * FROM read_csv('{other}')",
            f"SELECT * FROM '{other}'",
            f"SELECT * FROM read_csv('{tmp_path}/sub/../other.csv')",
            f"SELECT * FROM read_csv('{quoted}/../other.csv')",
            f"SELECT * FROM read_csv(['{quoted}', '{other}'])",
            f"SELECT * FROM read_text('{other}')",
            f"SELECT * FROM glob('{tmp_path}/*')",
            f"COPY (SELECT 1) TO '{tmp_path}/out.csv'",
            f"EXPORT DATABASE '{tmp_path}/out'",
            f"ATTACH '{database}' AS d",
            "SELECT * FROM 'http://localhost/x.csv'",
            "INSTALL httpfs",
            "LOAD httpfs",
            "SET enable_external_access = true",
            "SET allowed_paths = ['/']",
            "SET threads = 9",
            "SET temp_directory = '/tmp'",
            "RESET lock_configuration",
            "SELECT * FROM ROWS",  # a Python variable of this module
        ):
            with pytest.raises(DataError, match="nothing was released"):
                engine.run(forbidden)
        assert engine.run("SELECT current_setting('temp_directory')") == [("",)]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["it's.csv", "other.csv", "other.duckdb"]


def test_a_view_in_the_database_cannot_reach_another_file(tmp_path) -> None:
    other, path = _write(tmp_path / "other.csv", "a\n1\n"), tmp_path / "views.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute(f"CREATE VIEW v AS SELECT a FROM read_csv('{other}')")
        connection.execute("CREATE TABLE t AS SELECT 1 AS a")
        connection.execute("CREATE VIEW w AS SELECT a FROM t")
    domain = Domain(a=Integer(0, 9))
    with pytest.raises(DataError) as caught:
        open_source(path, domain, table="v")
    assert str(caught.value) == FAILURE
    assert all_cells(open_source(path, domain, table="w")) == {(1,): 1}


def test_no_file_is_written_beside_the_data_or_in_the_working_folder(tmp_path, monkeypatch) -> None:
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    data = make("duckdb", tmp_path)
    before = data.stat().st_mtime_ns
    open_source(data, DOMAINS["buckets"]).counts([()])
    assert list(folder.iterdir()) == []
    assert [p.name for p in tmp_path.iterdir() if p.is_file()] == ["table.duckdb"]
    assert data.stat().st_mtime_ns == before


# -- references ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["csv", "parquet", "duckdb"])
def test_files_reopen_from_their_reference(kind: str, tmp_path) -> None:
    domain = DOMAINS["buckets"]
    data = write_csv(tmp_path / "table.csv") if kind == "csv" else make(kind, tmp_path)
    source = open_source(data, domain)
    reference = json.loads(json.dumps(source.reference()))
    again = open_source(reference, domain)
    assert all_cells(again) == all_cells(source)
    assert again.reference() == reference
    assert reference["kind"] == kind
    assert {"path", "size", "mtime_ns", "sha256"} <= set(reference)


def test_options_of_a_text_file_are_part_of_its_reference(tmp_path) -> None:
    path, domain = tmp_path / "odd.txt", Domain(a=Integer(0, 9, null="bucket"))
    path.write_bytes("# é comment\n1;'x'\n?;'y'\n NA ;'z'\n".encode("latin-1"))
    file = CsvFile(
        path,
        columns=["a", "b"],
        delimiter=";",
        null=["?", "NA"],
        skip=1,
        quote="'",
        encoding="latin-1",
    )
    source = open_source(file, domain)
    assert all_cells(source) == {(1,): 1, (10,): 2}
    again = open_source(json.loads(json.dumps(source.reference())), domain)
    assert all_cells(again) == all_cells(source)


def test_a_changed_file_is_refused_and_a_touched_one_is_not(tmp_path) -> None:
    path, domain = _write(tmp_path / "t.csv", "a\n1\n2\n"), Domain(a=Integer(0, 9))
    source = open_source(path, domain)
    reference = source.reference()
    os.utime(path, ns=(1, 1))
    touched = open_source(reference, domain)
    assert touched.counts([()])[0].total == 2
    assert touched.reference()["mtime_ns"] == 1
    path.write_text("a\n1\n3\n")
    with pytest.raises(DataError, match="history must not mix two tables"):
        open_source(reference, domain)
    assert all_cells(source) == {(1,): 1, (2,): 1}  # an open source keeps what it has read


def test_a_file_that_changes_between_opening_and_reading_is_refused(tmp_path) -> None:
    path, domain = _write(tmp_path / "t.csv", "a\n1\n"), Domain(a=Integer(0, 9))
    reopened = open_source(open_source(path, domain).reference(), domain)
    path.write_text("a\n1\n2\n")
    with pytest.raises(DataError, match="history must not mix two tables"):
        reopened.counts([()])


def test_reopening_a_file_reads_no_rows_until_they_are_counted(tmp_path) -> None:
    path, domain = make("parquet", tmp_path), DOMAINS["buckets"]
    reference = open_source(path, domain).reference()
    reopened = open_source(reference, domain)
    path.unlink()
    with pytest.raises(DataError, match="there is no file"):
        reopened.counts([()])
    with pytest.raises(DataError, match="if it was moved, say where with data=path"):
        open_source(reference, domain)


def test_a_moved_file_is_found_again_by_its_digest(tmp_path) -> None:
    path, domain = _write(tmp_path / "old.csv", "a|b\n1|2\n"), Domain(a=Integer(0, 9))
    reference = open_source(CsvFile(path, delimiter="|"), domain).reference()
    moved = path.rename(tmp_path / "new.csv")
    again = open_source(reference, domain, data=moved)
    assert all_cells(again) == {(1,): 1}
    assert all_cells(open_source(again.reference(), domain)) == {(1,): 1}
    other = _write(tmp_path / "other.csv", "a|b\n9|2\n")
    with pytest.raises(DataError, match="history must not mix two tables"):
        open_source(reference, domain, data=other)
    with pytest.raises(DataError, match="path of that file"):
        open_source(reference, domain, data=pd.DataFrame({"a": [1]}))


def test_tables_in_memory_must_be_given_again_and_be_the_same() -> None:
    domain = Domain(a=Integer(0, 9))
    frame = pd.DataFrame({"a": [1, 2, 2]})
    reference = json.loads(json.dumps(open_source(frame, domain).reference()))
    assert reference["kind"] == "memory"
    assert reference["columns"] == ["a"]
    with pytest.raises(DataError, match="give the same table again with data="):
        open_source(reference, domain)
    same = pl.DataFrame({"a": [2, 1, 2]})  # another library and order, the same table
    assert all_cells(open_source(reference, domain, data=same)) == {(1,): 1, (2,): 2}
    with pytest.raises(DataError, match="history must not mix two tables"):
        open_source(reference, domain, data=pd.DataFrame({"a": [1, 2]}))


def test_a_frame_changed_after_opening_does_not_change_the_source() -> None:
    frame = pd.DataFrame({"a": [1, 2]})
    source = open_source(frame, Domain(a=Integer(0, 9)))
    frame["a"] = 0
    assert all_cells(source) == {(1,): 1, (2,): 1}


def test_malformed_references_are_refused(tmp_path) -> None:
    domain = Domain(a=Integer(0, 9))
    reference = open_source(_write(tmp_path / "t.csv", "a\n1\n"), domain).reference()
    for bad in ({}, {"kind": "csv"}, {**reference, "kind": "oracle"}, {**reference, "more": 1}):
        with pytest.raises(DataError):
            open_source(bad, domain)
    with pytest.raises(DataError, match="data= goes with the reference"):
        open_source(tmp_path / "t.csv", domain, data=tmp_path / "t.csv")


def test_many_attributes_in_one_table() -> None:
    """Seventy attributes: more than the 64 bits of a grouping mask, 2**70 cells."""
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({f"x{n}": rng.integers(0, 2, 40) for n in range(70)})
    domain = Domain({name: Boolean() for name in frame.columns})
    rows = Counter(tuple(row) for row in frame.to_numpy().tolist())
    assert all_cells(open_source(frame, domain)) == rows


def test_parquet_and_database_files_can_be_named_explicitly(tmp_path) -> None:
    odd = tmp_path / "table.dat"
    make("parquet", tmp_path).rename(odd)
    assert open_source(ParquetFile(str(odd)), DOMAINS["buckets"]).counts([()])[0].total == len(ROWS)
    make("duckdb", tmp_path).rename(odd)
    source = open_source(DuckDBFile(str(odd), "people"), DOMAINS["buckets"])
    assert source.counts([()])[0].total == len(ROWS)
