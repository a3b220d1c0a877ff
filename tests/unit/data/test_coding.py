"""Every coding expression equals `Attribute.code` on hostile values of every column type."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import ibis
import pytest

from eke.data import CsvFile, coding, open_source
from eke.data.coding import code_expression, fate_expression, is_spelled, spelled_number
from eke.data.files import DuckDBFile
from eke.data.reduction import _finder
from eke.data.scan import Scan, scan_file
from eke.domain import Attribute, Categorical, Domain, Integer
from eke.domain.temporal import Temporal
from eke.errors import DataError
from tests.parts import every
from tests.unit.data.slow_twin import (
    HOSTILE_FLOATS,
    HOSTILE_INTS,
    HOSTILE_TEXTS,
    OUTSIDE,
    attributes_with_every_rule,
    reads_texts,
    value_of_text,
)


@pytest.fixture(autouse=True, params=["few values", "many values"])
def _lists(request: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Declared values are compared one by one, or looked up as long lists are."""
    monkeypatch.setattr(coding, "_MANY", {"few values": 10**9, "many values": 1}[request.param])


def within(least: int, most: int) -> list[int | None]:
    return [v for v in HOSTILE_INTS if v is None or least <= v <= most]


def singles(values: list[float | None]) -> list[float | None]:
    return [v for v in values if v is None or not 3.5e38 < abs(v) < float("inf")]


DECIMALS = [None, *(Decimal(t) for t in ("0", "0.10", "2.50", "2.49", "5.99", "6", "-3.01", "30"))]
TYPES: dict[str, list[object]] = {
    "BOOLEAN": [None, True, False],
    "TINYINT": [*within(-128, 127)],
    "UTINYINT": [*within(0, 255)],
    "INTEGER": [*within(-(2**31), 2**31 - 1)],
    "BIGINT": [*within(-(2**63), 2**63 - 1)],
    "UBIGINT": [*within(0, 2**64 - 1)],
    "HUGEINT": [*within(-(2**127), 2**127 - 1)],
    "UHUGEINT": [*within(0, 2**128 - 1)],
    "DECIMAL(38, 0)": [*within(-(10**38 - 1), 10**38 - 1)],
    "DECIMAL(9, 2)": [*DECIMALS],
    "DECIMAL(38, 30)": [*(d for d in DECIMALS if d is None or abs(d) < 10**8)],
    "DOUBLE": [*HOSTILE_FLOATS],
    "VARCHAR": [*HOSTILE_TEXTS],
    "ENUM('a', 'é', '30', 'z')": [None, "a", "é", "30", "z"],
}
# Values of these types are outside every domain; the second row is NULL.
OTHERS = {
    "DATE": "DATE '2020-01-01'",
    "TIMESTAMP": "TIMESTAMP '2020-01-01 00:00:00'",
    "TIMESTAMPTZ": "TIMESTAMPTZ '2020-01-01 00:00:00+00'",
    "TIME": "TIME '10:00'",
    "INTERVAL": "INTERVAL 1 DAY",
    "BLOB": "'a'::BLOB",
    "BIT": "'101'::BIT",
    "UUID": "'00000000-0000-0000-0000-000000000001'::UUID",
    "JSON": "'1'::JSON",
    "INTEGER[]": "[1]",
    "STRUCT(a INTEGER)": "{'a': 1}",
}


def codes_in_engine(
    scan: Scan, attributes: list[Attribute], *, text: bool = False, read: Any = code_expression
):
    """One list of codes an attribute, in row order, computed by the engine."""
    table = scan.table({"n": "n", "x": "x"})
    dtype = table["x"].type()
    spelled = {at for at, a in enumerate(attributes) if is_spelled(dtype, a, from_text=text)}
    numbers = {f"t{at}": spelled_number(table["x"], attributes[at]) for at in spelled}
    if numbers:  # as sources do, which let the engine read a text once
        table = scan.engine.hold(table.select("n", "x", **numbers))
    expressions = {}
    for at, attribute in enumerate(attributes):
        raw = table[f"t{at}" if at in spelled else "x"]
        find = _finder(scan.engine, attribute)
        expressions[f"c{at}"] = read(raw, attribute, spelled=at in spelled, find=find)
    number = table["n"].cast("int64")
    result = scan.engine.fetch(table.select(n=number, **expressions).order_by("n"))
    return [result[f"c{at}"].to_pylist() for at in range(len(attributes))]


def assert_equal_codes(found, expected, attributes, values) -> None:
    for attribute, got, want in zip(attributes, found, expected, strict=True):
        wrong = [(v, g, w) for v, g, w in zip(values, got, want, strict=True) if g != w]
        assert not wrong, (attribute, wrong)


@pytest.mark.parametrize("dtype", every(2, TYPES))
def test_codes_of_a_typed_column_equal_the_slow_twin(dtype: str, tmp_path) -> None:
    values, attributes = TYPES[dtype], attributes_with_every_rule()
    path = tmp_path / "hostile.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute(f"CREATE TABLE hostile (n INTEGER, x {dtype})")
        for n, value in enumerate(values):
            # Through text: parameters of 128 bits are not supported by the driver.
            shown = repr(value) if isinstance(value, float) else value
            stored = None if value is None else str(shown)
            connection.execute("INSERT INTO hostile VALUES (?, ?)", [n, stored])
    with scan_file(DuckDBFile(str(path))) as scan:
        found = codes_in_engine(scan, attributes)
        fates = codes_in_engine(scan, attributes[::6], read=fate_expression)
    expected = [[a.code(v) for v in values] for a in attributes]
    assert_equal_codes(found, expected, attributes, values)
    expected_fates = [[a.fate(v) for v in values] for a in attributes[::6]]
    assert_equal_codes(fates, expected_fates, attributes[::6], values)


def test_codes_of_float32_equal_the_slow_twin_of_the_widened_number(tmp_path) -> None:
    path = tmp_path / "hostile.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute("CREATE TABLE hostile (n INTEGER, x FLOAT)")
        for n, value in enumerate(singles(HOSTILE_FLOATS)):
            connection.execute("INSERT INTO hostile VALUES (?, ?)", [n, value])
        stored = [v for (v,) in connection.execute("SELECT x FROM hostile ORDER BY n").fetchall()]
    attributes = attributes_with_every_rule()
    with scan_file(DuckDBFile(str(path))) as scan:
        found = codes_in_engine(scan, attributes)
    assert_equal_codes(found, [[a.code(v) for v in stored] for a in attributes], attributes, stored)


@pytest.mark.parametrize("dtype", OTHERS)
def test_values_of_other_types_are_outside_and_their_nulls_missing(dtype: str, tmp_path) -> None:
    path = tmp_path / "other.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute(f"CREATE TABLE other (n INTEGER, x {dtype})")
        connection.execute(f"INSERT INTO other VALUES (0, {OTHERS[dtype]}), (1, NULL)")
    # Only two codes of each matter here, and days are not outside a Date or a Timestamp
    # (`test_days.py`).
    attributes = [a for a in attributes_with_every_rule()[::3] if not isinstance(a, Temporal)]
    with scan_file(DuckDBFile(str(path))) as scan:
        found = codes_in_engine(scan, attributes)
    values = [OUTSIDE, None]
    assert_equal_codes(found, [[a.code(v) for v in values] for a in attributes], attributes, values)


def test_codes_of_text_files_equal_the_slow_twin(tmp_path) -> None:
    path = tmp_path / "hostile.csv"
    fields = ["" if t is None else '"' + t.replace('"', '""') + '"' for t in HOSTILE_TEXTS]
    path.write_text("n,x\n" + "".join(f"{n},{f}\n" for n, f in enumerate(fields)), "utf-8")
    every = [a for a in attributes_with_every_rule() if reads_texts(a)]
    for strip, attributes in ((True, every), (False, every[::7])):
        with scan_file(CsvFile(path, strip=strip, null=("NULL",))) as scan:
            found = codes_in_engine(scan, attributes, text=True)
            fates = codes_in_engine(scan, attributes[::6], text=True, read=fate_expression)
        texts = [t.strip(" \t") if t is not None and strip else t for t in HOSTILE_TEXTS]
        values = [None if t in ("", "NULL") else t for t in texts]
        expected = [[a.code(value_of_text(v, a)) for v in values] for a in attributes]
        assert_equal_codes(found, expected, attributes, values)
        few = attributes[::6]
        expected_fates = [[a.fate(value_of_text(v, a)) for v in values] for a in few]
        assert_equal_codes(fates, expected_fates, few, values)


def test_categories_too_large_for_text_numbers_are_refused_by_schema_alone() -> None:
    column = ibis.table({"x": "string"}, name="t")["x"]
    with pytest.raises(DataError, match="declare them as text"):
        spelled_number(column, Categorical(2**53, 5))


def test_only_lists_that_can_be_looked_up_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coding, "_MANY", 3)
    assert coding.long_list(Categorical("b", "a", "")) == ("b", "a", "")
    assert coding.long_list(Categorical(7, -7, 0)) == ("7", "-7", "0")
    assert coding.long_list(Categorical("b", "a")) == ()
    assert coding.long_list(Categorical(1, 2, 2**63)) == ()
    assert coding.long_list(Integer(0, 99)) == ()


def test_a_long_list_is_looked_up_and_a_row_counts_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """2,000 declared values, some of which only bytes tell apart, in a column that ignores case."""
    monkeypatch.undo()
    values = [*(f"K{n:04d}" for n in range(1996)), "k0000", "", "K0001 ", "é"]
    path = tmp_path / "long.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute("CREATE TABLE long (x VARCHAR COLLATE NOCASE)")
        stored = [*values, "k0000", "k0002", "nobody", None]
        connection.executemany("INSERT INTO long VALUES (?)", [[value] for value in stored])
    domain = Domain(x=Categorical(*values, null="bucket", outside="bucket"))
    counts = open_source(DuckDBFile(str(path)), domain).counts([("x",)])[0]
    codes = [domain["x"].labels[code] for (code,) in counts.codes]
    told = dict(zip(codes, counts.counts.tolist(), strict=True))
    expected: dict[object, int] = {**dict.fromkeys(values, 1), "k0000": 2, None: 3}
    assert told == expected
