"""Every source finds the day of hostile dates, times and texts that `Attribute.code` finds."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import duckdb
import ibis
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from eke.data import check_table, open_source
from eke.data.coding import fate_expression
from eke.data.files import DuckDBFile
from eke.data.moments import told_moment
from eke.data.scan import scan_file
from eke.domain import Attribute, Categorical, Date, Domain, Integer, Time
from eke.domain.fate import Fate
from eke.domain.zone import DAY, FIRST, distances
from eke.errors import DataError
from tests.unit.data.hostile_days import (
    CLOCK_TEXTS,
    CLOCKS,
    DATES,
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
from tests.unit.data.slow_twin import all_cells, cell_counts
from tests.unit.data.test_coding import assert_equal_codes, codes_in_engine


def in_duckdb(path: Path, dtype: str, values: list[str | None]) -> DuckDBFile:
    with duckdb.connect(path) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute(f"CREATE TABLE hostile (n INTEGER, x {dtype})")
        for n, value in enumerate(values):
            connection.execute("INSERT INTO hostile VALUES (?, ?)", [n, value])
    return DuckDBFile(str(path))


def far(text: str) -> Any:
    """A day of a year that Python does not know."""
    return np.datetime64(text, "s")


FAR = {
    "infinity": far("30000-01-01"),
    "-infinity": far("-4000-01-01"),
    "0044-03-15 (BC)": far("-0043-03-15"),
    "0001-12-31 (BC)": far("0000-12-31"),
    "10000-01-01": far("10000-01-01"),
    "200000-06-30": far("200000-06-30"),
}


SECONDS = [None if value is None else value.replace(microsecond=0) for value in TIMES]
NANOSECONDS = [v for v in TIMES if v is None or 1700 < v.year < 2200]


@pytest.mark.parametrize(
    ("dtype", "values", "attributes"),
    [
        ("DATE", DAYS, DATES),
        ("TIMESTAMP", TIMES, DATES),
        ("TIMESTAMP_S", SECONDS, DATES),
        ("TIMESTAMP_MS", SECONDS, DATES),
        ("TIMESTAMP_NS", NANOSECONDS, DATES),
        ("TIMESTAMPTZ", IN_UTC, ZONED),
    ],
)
def test_days_of_a_typed_column_equal_the_slow_twin(
    dtype: str, values: list[Any], attributes: list[Attribute], tmp_path: Path
) -> None:
    beyond = [*FAR.items()][: 2 if dtype == "TIMESTAMP_NS" else None]
    raw = [*values, *(day for _, day in beyond)]
    stored = [*(None if v is None else str(v) for v in values), *(text for text, _ in beyond)]
    file = in_duckdb(tmp_path / "days.duckdb", dtype, stored)
    with scan_file(file) as scan:
        found = codes_in_engine(scan, attributes)
        fates = codes_in_engine(scan, attributes, read=fate_expression)
    assert_equal_codes(found, [[a.code(v) for v in raw] for a in attributes], attributes, raw)
    assert_equal_codes(fates, [[a.fate(v) for v in raw] for a in attributes], attributes, raw)


def test_nanoseconds_before_1970_do_not_reach_the_next_day(tmp_path: Path) -> None:
    """The engine itself would round them up."""
    file = in_duckdb(tmp_path / "n.duckdb", "TIMESTAMP_NS", ["1969-12-31 23:59:59.999999999"])
    source = open_source(file, Domain(x=Date("1969-12-30", "1970-01-02")))
    assert all_cells(source) == {(1,): 1}


def test_days_of_texts_equal_the_slow_twin(tmp_path: Path) -> None:
    file = in_duckdb(tmp_path / "texts.duckdb", "VARCHAR", [None, *DAY_TEXTS])
    raw = [None, *DAY_TEXTS]
    with scan_file(file) as scan:
        found = codes_in_engine(scan, KEEPING, text=True)
        fates = codes_in_engine(scan, KEEPING, text=True, read=fate_expression)
    assert_equal_codes(found, [[a.code(v) for v in raw] for a in KEEPING], KEEPING, raw)
    assert_equal_codes(fates, [[a.fate(v) for v in raw] for a in KEEPING], KEEPING, raw)
    assert sum(a.fate(v) is Fate.DECLARED for a in KEEPING for v in raw) > 30


def test_days_of_a_text_file_equal_the_slow_twin(tmp_path: Path) -> None:
    texts = [t for t in DAY_TEXTS if t.strip() == t]
    path = tmp_path / "texts.csv"
    path.write_text("x,one\n" + "".join(f'"{t}",1\n' for t in ["", *texts]), "utf-8")
    for attribute in KEEPING:
        domain = Domain(x=attribute, one=Integer(0, 1))
        rows: list[dict[str, object]] = [{"x": t or None, "one": 1} for t in ["", *texts]]
        assert all_cells(open_source(path, domain)) == cell_counts(rows, domain), attribute


def test_no_text_makes_the_engine_fail(tmp_path: Path) -> None:
    """Even without the conditions that say which texts are days."""
    file = in_duckdb(tmp_path / "texts.duckdb", "VARCHAR", [None, *NO_DAYS])
    with scan_file(file) as scan:
        table = scan.table({"n": "n", "x": "x"})
        found = scan.engine.fetch(table.select("n", **bare_parts(table["x"])).order_by("n"))
    place = 1 + NO_DAYS.index("2013-01-31")
    assert found["day"].to_pylist()[place] == (date(2013, 1, 31) - date(1970, 1, 1)).days
    assert len(found) == len(NO_DAYS) + 1


@pytest.mark.parametrize("dialect", ["duckdb", "postgres", "pyspark"])
def test_texts_are_never_cast(dialect: str) -> None:
    table = ibis.table({"x": "string"}, name="t")
    days = [a.placing for a in KEEPING]
    told = {f"c{at}": told_moment(table.x, one) for at, one in enumerate(days)}  # type: ignore[arg-type]
    text = str(ibis.to_sql(table.select(**told), dialect=dialect))
    kinds = set(re.findall(r"\bAS (?!`|\")([A-Z ]+)", text))
    assert kinds <= {"BIGINT", "DOUBLE PRECISION"}
    assert not re.search(r"DATE|TIMESTAMP|MAKE_|TO_", text)
    for cast in re.findall(r"CAST\((\S+)", text):
        assert cast == "FLOOR(" or cast.startswith("("), cast


def test_seconds_beyond_all_times_are_on_their_side(tmp_path: Path) -> None:
    """The engine itself fails to find their day, which would tell of a row."""
    for kind, dtype in (("s", "TIMESTAMP_S"), ("ms", "TIMESTAMP_MS")):
        path = tmp_path / f"{kind}.duckdb"
        column = pa.array([-(2**62), 2**62, 0], pa.int64()).cast(pa.timestamp(kind))
        with duckdb.connect(path) as connection:
            connection.register("given", pa.table({"x": column}))
            connection.execute(f"CREATE TABLE t AS SELECT x::{dtype} AS x FROM given")
        source = open_source(DuckDBFile(str(path)), Domain(x=Date("1969-12-31", "1970-01-02")))
        assert all_cells(source) == {(0,): 1, (1,): 1, (2,): 1}


# -- tables in memory ----------------------------------------------------------------------------

Made = Callable[[list[Any]], Any]


MEMORY: dict[str, tuple[list[Any], Made]] = {
    "date objects": (DAYS, lambda v: pd.DataFrame({"x": pd.Series(v, dtype=object)})),
    "time objects": (TIMES, lambda v: pd.DataFrame({"x": pd.Series(v, dtype=object)})),
    "zoned objects": (IN_UTC, lambda v: pd.DataFrame({"x": pd.Series(v, dtype=object)})),
    "text objects": (DAY_TEXTS, lambda v: pd.DataFrame({"x": pd.Series(v, dtype=object)})),
    "mixed": (
        [*DAYS, *TIMES, *DAY_TEXTS, *IN_UTC, *FAR.values(), 20130131, 1.5, pd.NaT, b"x"],
        lambda v: pd.DataFrame({"x": pd.Series(v, dtype=object)}),
    ),
    "datetime64[s]": (SECONDS, lambda v: pd.DataFrame({"x": pd.array(v, dtype="M8[s]")})),
    "datetime64[us]": (TIMES, lambda v: pd.DataFrame({"x": pd.array(v, dtype="M8[us]")})),
    "datetime64[ns]": (NANOSECONDS, lambda v: pd.DataFrame({"x": pd.array(v, dtype="M8[ns]")})),
    "datetime64[us, UTC]": (
        IN_UTC,
        lambda v: pd.DataFrame({"x": pd.array(v, dtype="datetime64[us, UTC]")}),
    ),
    "datetime64[us, zone]": (
        IN_UTC[-15:],
        lambda v: pd.DataFrame(
            {"x": pd.DatetimeIndex(v, dtype="datetime64[us, UTC]").tz_convert("Asia/Tokyo")}
        ),
    ),
    "polars dates": (DAYS, lambda v: pl.DataFrame({"x": pl.Series(v, dtype=pl.Date)})),
    "polars times": (TIMES, lambda v: pl.DataFrame({"x": pl.Series(v, dtype=pl.Datetime("us"))})),
    "polars zoned": (
        IN_UTC,
        lambda v: pl.DataFrame({"x": pl.Series(v, dtype=pl.Datetime("us", "UTC"))}),
    ),
    "arrow date32": (DAYS, lambda v: pa.table({"x": pa.array(v, pa.date32())})),
    "arrow date64": (DAYS, lambda v: pa.table({"x": pa.array(v, pa.date64())})),
    "arrow seconds": (SECONDS, lambda v: pa.table({"x": pa.array(v, pa.timestamp("s"))})),
    "arrow chunks": (
        TIMES,
        lambda v: pa.table(
            {"x": pa.chunked_array([pa.array(p, pa.timestamp("us")) for p in (v[:3], v[3:])])}
        ),
    ),
    "arrow dictionary": (
        TIMES,
        lambda v: pa.table({"x": pa.array(v, pa.timestamp("us")).dictionary_encode()}),
    ),
    "ibis": (DAYS, lambda v: ibis.memtable(pa.table({"x": pa.array(v, pa.date32())}))),
    "ibis times": (
        TIMES,
        lambda v: ibis.memtable(pa.table({"x": pa.array(v, pa.timestamp("us"))})),
    ),
}


@pytest.mark.parametrize("kind", MEMORY)
def test_days_of_a_table_in_memory_equal_the_slow_twin(kind: str) -> None:
    values, made = MEMORY[kind]
    has_zone = any(isinstance(v, datetime) and v.tzinfo for v in values) and "object" not in kind
    for attribute in KEEPING:
        if has_zone and kind != "mixed" and attribute not in ZONED:
            continue
        domain = Domain(x=attribute)
        rows: list[dict[str, object]] = [{"x": None if v is pd.NaT else v} for v in values]
        assert all_cells(open_source(made(values), domain)) == cell_counts(rows, domain), attribute


def test_days_beyond_all_years_in_arrow_are_on_their_side() -> None:
    for kind, ends in ((pa.timestamp("s"), 2**62), (pa.timestamp("ns"), 2**63 - 1)):
        column = pa.array([-ends, ends], pa.int64()).cast(kind)
        domain = Domain(x=Date("2012-02-28", "2013-12-31"))
        assert all_cells(open_source(pa.table({"x": column}), domain)) == {(0,): 1, (672,): 1}


def test_parquet_files_hold_days(tmp_path: Path) -> None:
    for dtype, values, attributes in (
        (pa.date32(), DAYS, KEEPING),
        (pa.timestamp("us"), TIMES, KEEPING),
        (pa.timestamp("us", "UTC"), IN_UTC, [a for a in KEEPING if a in ZONED]),
    ):
        path = tmp_path / "days.parquet"
        pq.write_table(pa.table({"x": pa.array(values, dtype)}), path)
        for attribute in attributes:
            domain = Domain(x=attribute)
            expected = cell_counts([{"x": v} for v in values], domain)
            assert all_cells(open_source(path, domain)) == expected, attribute


@pytest.mark.parametrize("zone", [None, "UTC"])
def test_far_moments_keep_no_parquet_file_from_being_read(zone: str | None, tmp_path: Path) -> None:
    """The engine's own reader fails on one such row, beside whatever other columns there are."""
    far_away = [0, 10**15, -(10**15), 10**17, None]
    table = pa.table(
        {
            "x": pa.array(far_away, pa.int64()).cast(pa.timestamp("ms", zone)),
            "half": pa.array([0, 1, 2, 3, None], pa.float16()),
            "text": pa.array(["a", "b", "a", "b", None]).dictionary_encode(),
        }
    )
    path = tmp_path / "far.parquet"
    pq.write_table(table, path)
    with pytest.raises(duckdb.Error), duckdb.connect() as engine:  # positive control
        engine.execute(f"SELECT x FROM read_parquet('{path}')").fetchall()
    day = Date("1969-12-31", "1970-01-02", "bucket", "clamp", zone="UTC")
    domain = Domain(x=day, half=Integer(0, 3, "bucket"), text=Categorical("a", "b", null="bucket"))
    expected = {(1, 0, 0): 1, (2, 1, 1): 1, (0, 2, 0): 1, (2, 3, 1): 1, (3, 4, 2): 1}
    assert all_cells(open_source(path, domain)) == expected
    assert all_cells(open_source(table, domain)) == expected


# -- times of day --------------------------------------------------------------------------------

CLOCK_TABLES: dict[str, Made] = {
    "objects": lambda v: pd.DataFrame({"x": pd.Series(v, dtype=object)}),
    "polars": lambda v: pl.DataFrame({"x": pl.Series(v, dtype=pl.Time)}),
    "arrow us": lambda v: pa.table({"x": pa.array(v, pa.time64("us"))}),
    "arrow ns": lambda v: pa.table({"x": pa.array(v, pa.time64("us")).cast(pa.time64("ns"))}),
    "ibis": lambda v: ibis.memtable(pa.table({"x": pa.array(v, pa.time64("us"))})),
}


@pytest.mark.parametrize("kind", CLOCK_TABLES)
def test_times_of_day_in_memory_equal_the_slow_twin(kind: str) -> None:
    for attribute in TIMES_OF_DAY:
        domain = Domain(x=attribute)
        expected = cell_counts([{"x": v} for v in CLOCKS], domain)
        assert all_cells(open_source(CLOCK_TABLES[kind](CLOCKS), domain)) == expected, attribute


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_times_of_day_of_parquet_files_equal_the_slow_twin(unit: str, tmp_path: Path) -> None:
    whole = [v if v is None or unit[0] != "s" else v.replace(microsecond=0) for v in CLOCKS]
    kind = pa.time32(unit) if unit in ("s", "ms") else pa.time64(unit)
    clocks = pa.array(whole, pa.time64("us")).cast(kind, safe=False)
    pq.write_table(pa.table({"x": clocks}), tmp_path / "clocks.parquet")
    for attribute in TIMES_OF_DAY:
        domain = Domain(x=attribute)
        expected = cell_counts([{"x": v} for v in whole], domain)
        found = all_cells(open_source(tmp_path / "clocks.parquet", domain))
        assert found == expected, attribute


@pytest.mark.parametrize("dtype", ["TIME", "TIME_NS", "TIMETZ"])
def test_times_of_day_of_a_typed_column_equal_the_slow_twin(dtype: str, tmp_path: Path) -> None:
    values = [None if v is None else str(v) for v in CLOCKS]
    file = in_duckdb(tmp_path / "clocks.duckdb", dtype, [*values, "24:00:00"])
    for attribute in TIMES_OF_DAY:
        domain = Domain(x=attribute)
        last = attribute.beyond[1] if dtype != "TIMETZ" else attribute.code(object())
        zoned = [v if v is None or dtype != "TIMETZ" else object() for v in CLOCKS]
        expected = Counter((code,) for code in (*map(attribute.code, zoned), last))
        assert all_cells(open_source(file, domain)) == expected, attribute


def test_texts_of_times_of_day_equal_the_slow_twin(tmp_path: Path) -> None:
    file = in_duckdb(tmp_path / "texts.duckdb", "VARCHAR", [None, *CLOCK_TEXTS])
    raw = [None, *CLOCK_TEXTS]
    with scan_file(file) as scan:
        found = codes_in_engine(scan, TIMES_OF_DAY, text=True)
    wanted = [[a.code(v) for v in raw] for a in TIMES_OF_DAY]
    assert_equal_codes(found, wanted, TIMES_OF_DAY, raw)
    plain = [t for t in CLOCK_TEXTS if t.strip() == t and t]
    (tmp_path / "t.csv").write_text("x,one\n" + "".join(f'"{t}",1\n' for t in plain), "utf-8")
    for attribute in TIMES_OF_DAY:
        domain = Domain(x=attribute, one=Integer(0, 1))
        expected = cell_counts([{"x": t, "one": 1} for t in plain], domain)
        assert all_cells(open_source(tmp_path / "t.csv", domain)) == expected, attribute


def test_a_column_of_moments_is_no_time_of_day() -> None:
    table = pa.table({"x": pa.array(TIMES, pa.timestamp("us"))})
    (note,) = open_source(table, Domain(x=Time(null="bucket", outside="bucket"))).notes
    assert "is declared Time" in note


# -- zones ---------------------------------------------------------------------------------------


def test_times_with_a_zone_need_one_in_the_domain() -> None:
    table = pa.table({"x": pa.array(IN_UTC, pa.timestamp("us", "UTC"))})
    domain = Domain(x=Date("2013-01-01", "2013-12-31"))
    for attempt in (open_source, check_table):
        with pytest.raises(DataError, match=r'declare it, as in Date\(…, zone="Europe/Berlin"\)'):
            attempt(table, domain)
    with pytest.raises(DataError, match="column 'x' holds times with a zone"):
        open_source(ibis.memtable(table), Domain(x=Date("2013-01-01", "2013-12-31", zone="UTC")))


@pytest.mark.parametrize(
    "zone", ["America/New_York", "Australia/Lord_Howe", "Africa/Casablanca", "Pacific/Apia", "UTC"]
)
def test_the_list_of_distances_is_the_zone(zone: str) -> None:
    first, last = date(1880, 1, 1).toordinal(), date(2036, 12, 31).toordinal()
    listed = distances(zone, first, last)
    chance = random.Random(5)
    start, stop = (first - FIRST) * DAY, (last - FIRST) * DAY
    near = [since + step for since, _ in listed[1:] for step in (-1, 0, 1)]
    for second in [*near, *(chance.randrange(start, stop) for _ in range(2000))]:
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=second)
        ahead = moment.astimezone(ZoneInfo(zone)).utcoffset()
        found = next(seconds for since, seconds in reversed(listed) if second >= since)
        assert ahead == timedelta(seconds=found)


def test_every_day_has_its_number() -> None:
    """Each day of four centuries, leap years and all, from a date and from a text."""
    days = [date(1850, 1, 1) + timedelta(days=n) for n in range(99_999)]
    attribute = Date(days[0], days[-1])
    table = pa.table({"x": pa.array(days, pa.date32()), "t": [d.isoformat() for d in days]})
    domain = Domain(x=attribute)
    cells = all_cells(open_source(table, domain))
    assert cells == {(n,): 1 for n in range(99_999)}
    texts = all_cells(open_source(table.select(["t"]), Domain(t=attribute)))
    assert texts == cells


def test_a_column_of_another_type_is_noted() -> None:
    domain = Domain(x=Date("2013-01-01", "2013-12-31", outside="bucket"))
    (note,) = open_source(pa.table({"x": [20130131]}), domain).notes
    assert "is declared Date" in note
    assert open_source(pa.table({"x": ["2013-01-31"]}), domain).notes == ()


def test_the_check_says_what_became_of_days() -> None:
    table = pa.table({"x": ["2013-01-31", "2014-01-01", "2013-02-30", None]})
    (column,) = check_table(table, Domain(x=Date("2013-01-01", "2013-12-31"))).columns
    assert (column.missing, column.beyond, column.undeclared, column.rounded) == (1, 1, 1, 0)
    assert column.effects == {"dropped": 2, "clamped": 1, "replaced": 0, "bucket": 0}
