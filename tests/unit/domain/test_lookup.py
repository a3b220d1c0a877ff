"""Lookups: public tables with unique keys, from rows, files and frames, and what is refused."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from eke.domain import (
    Categorical,
    Domain,
    Integer,
    Lookup,
    described_columns,
    domain_from_document,
    domain_to_document,
    read_domain,
    read_lookup,
    write_domain,
)
from eke.errors import DomainError

PLAIN = Domain(carrier=Categorical("AA", "UA"), hour=Integer(0, 23))
AIRLINES = Lookup(
    "airlines",
    ["carrier"],
    {"carrier": ["AA", "UA"], "name": ["American", None], "size": [1.5, 2], "old": [True, False]},
)
DOMAIN = PLAIN.with_lookups(AIRLINES).with_derived(late="hour > 20", airline="airlines.name")


def test_keys_come_first_and_columns_have_one_kind() -> None:
    swapped = Lookup("a", ["k"], {"v": ["x"], "k": [1]})
    assert (swapped.columns, swapped.values, swapped.rows) == (("k", "v"), ("v",), ((1, "x"),))
    assert [AIRLINES.kind(name) for name in AIRLINES.values] == ["text", "number", "truth"]
    assert AIRLINES.column("size") == (1.5, 2)


def test_numpy_pandas_dates_and_missing_values_are_plain_afterwards() -> None:
    found = Lookup(
        "a",
        ["day"],
        {
            "day": [date(2013, 1, 31), pd.Timestamp("2013-02-01"), pd.NaT],
            "n": [np.int64(3), np.float64("nan"), 4],
            "text": [pd.NA, np.str_("x"), "y"],
        },
    )
    assert found.rows == (("2013-01-31", 3, None), ("2013-02-01", None, "x"))


@pytest.mark.parametrize(
    ("keys", "columns", "message"),
    [
        (["k"], {"k": ["a", "a"]}, "two rows with k = 'a'; keep one, or add a column to the keys"),
        (["k"], {"k": [1, 1.0]}, "two rows with k = 1.0"),
        (["k", "l"], {"k": [1, 1], "l": ["x", "x"]}, "two rows with k and l = 1, 'x'"),
        (["k"], {"k": [None]}, "has no rows with a key"),
        (["k"], {"k": []}, "has no rows with a key"),
        (["k"], {"l": ["a"]}, "has no column 'k' to be its key; the columns are l"),
        (["k"], {"k": ["a", "b"], "v": [1]}, "different numbers of values"),
        (["k"], {"k": ["a", "b"], "v": [1, "x"]}, "column 'v' holds values of several kinds"),
        (["k"], {"k": ["a", "b"], "v": [1, True]}, "column 'v' holds values of several kinds"),
        (["k"], {"k": ["a"], "v": [2**53]}, "no number below 2"),
        (["k"], {"k": ["a"], "v": [float("inf")]}, "no number below 2"),
        (["k"], {"k": ["a"], "v": [b"x"]}, "no text, no number"),
        (["k"], {"k": ["a"], "v": ["\ud800"]}, "no text, no number"),
        (["k"], {"k": ["a"], "v": "x"}, "needs a list of values"),
        (["k"], {"k": ["a"], "K": ["x"]}, "a column is named twice"),
        (["k", "k"], {"k": ["a"]}, "a column is named twice"),
        ("k", {"k": ["a"]}, "keys is a list of columns"),
        ([], {"k": ["a"]}, "keys is a list of columns"),
        (["k"], {"k": range(600_000), "v": range(600_000)}, "more than 1,000,000 values"),
    ],
)
def test_what_is_no_lookup_is_refused(keys, columns, message) -> None:
    with pytest.raises(DomainError, match="lookup 'a'") as refused:
        Lookup("a", keys, columns)
    assert message in str(refused.value)


def test_a_hundred_thousand_rows_are_taken() -> None:
    assert len(Lookup("a", ["k"], {"k": range(100_000)}).rows) == 100_000


def test_names_are_distinct_in_any_case() -> None:
    with pytest.raises(DomainError, match="two lookups are called 'Airlines'"):
        DOMAIN.with_lookups(Lookup("Airlines", ["k"], {"k": [1]}))
    with pytest.raises(DomainError, match="two columns are called 'HOUR'"):
        PLAIN.with_derived(HOUR="hour + 1")
    with pytest.raises(DomainError, match="two columns are called 'late'"):
        DOMAIN.with_derived(late="hour > 21")
    with pytest.raises(DomainError, match="needs an SQL expression"):
        PLAIN.with_derived(x="")
    with pytest.raises(DomainError, match="with_lookups takes"):
        PLAIN.with_lookups({"a": 1})  # type: ignore[arg-type]


def test_an_attribute_may_have_columns_that_differ_in_case() -> None:
    """That was allowed before there were derived columns, and still is."""
    both = Domain({"a": Integer(0, 1), "A": Integer(0, 1)})
    assert both.with_derived(b='"a" + 1').names == ("a", "A")


def test_functions_are_part_of_the_domain_but_no_attributes() -> None:
    assert (DOMAIN.names, DOMAIN.size, len(DOMAIN)) == (PLAIN.names, PLAIN.size, 2)
    assert DOMAIN != PLAIN
    assert DOMAIN.derived == (("airline", "airlines.name"), ("late", "hour > 20"))
    assert DOMAIN.reordered(["hour", "carrier"]).lookups == (AIRLINES,)
    assert DOMAIN.reordered(["hour", "carrier"]).derived == DOMAIN.derived
    with pytest.raises(DomainError, match="'late' is derived from other columns; ask about it in"):
        _ = DOMAIN["late"]


def test_documents_round_trip_and_hold_nothing_new_without_functions(tmp_path: Path) -> None:
    assert set(domain_to_document(PLAIN)) == {"format", "attributes"}
    document = domain_to_document(DOMAIN)
    sorted_keys = json.loads(json.dumps(document, sort_keys=True))
    assert domain_from_document(sorted_keys).reordered(DOMAIN.names) == DOMAIN
    for name in ("domain.yaml", "domain.json"):
        write_domain(DOMAIN, tmp_path / name)
        assert read_domain(tmp_path / name) == DOMAIN


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"lookups": []}, "'lookups' and 'derived' are mappings"),
        ({"derived": {"x": 3}}, "derived column 'x' needs an SQL expression"),
        ({"lookups": {"a": {"file": "a.csv", "keys": ["k"]}}}, "a mapping with 'keys', 'columns'"),
        ({"lookups": {"a": {"keys": "k", "columns": [], "rows": []}}}, "are lists"),
        (
            {"lookups": {"a": {"keys": ["k"], "columns": ["v"], "rows": [[1]]}}},
            "each row is a list of 2 values",
        ),
        (
            {"lookups": {"a": {"keys": ["k"], "columns": ["k"], "rows": [[1, 1]]}}},
            "a column is named twice",
        ),
        ({"derive": {}}, "unknown keys in the domain file, remove them: derive"),
    ],
)
def test_a_document_that_describes_none_is_refused(more, message) -> None:
    """A file is named in the files of domains only: over HTTP nothing is read from the server."""
    with pytest.raises(DomainError) as refused:
        domain_from_document({**domain_to_document(PLAIN), **more})
    assert message in str(refused.value)


CSV = """\
\ufeffcarrier,name, zip ,seats,share,old
AA,American,01234,100,0.5,true
UA,,56789,NA,2,FALSE

"""


def test_a_text_file_is_read_with_its_kinds(tmp_path: Path) -> None:
    path = tmp_path / "airlines.csv"
    path.write_text(CSV, "utf-8")
    found = read_lookup("airlines", path, ["carrier"], null="NA")
    assert found.columns == ("carrier", "name", "zip", "seats", "share", "old")
    assert found.rows == (
        ("AA", "American", "01234", 100, 0.5, True),
        ("UA", None, "56789", None, 2, False),
    )
    assert read_lookup("a", path, ["zip"], ["name"]).columns == ("zip", "name")


def test_frames_and_parquet_files_are_read(tmp_path: Path) -> None:
    columns = {"k": [1, 2], "v": ["x", None]}
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    for table in (
        pd.DataFrame(columns),
        pl.DataFrame(columns),
        pa.table(columns),
        tmp_path / "a.parquet",
        str(tmp_path / "a.parquet"),
    ):
        assert read_lookup("a", table, ["k"]).rows == ((1, "x"), (2, None))


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "", "a.csv is empty"),
        ("a.csv", "k,v\n", "has no rows with a key"),
        ("a.csv", "l,v\n1,2\n", "has no column 'k' to be its key; the columns are l, v"),
        ("a.csv", "k,v\na,1\na,2\n", "two rows with k = 'a'"),
        ("a.csv", "k,v\na\n", "line 2 of a.csv has not as many fields as the first"),
        ("a.csv", "k,k\na,b\n", "names a column twice"),
        ("a.csv", 'k,v\n"a,1\n', "cannot read a.csv"),
        ("a.parquet", "k,v\na,1\n", "cannot read a.parquet as Parquet"),
        ("a.xlsx", "k,v\na,1\n", "write a CSV or Parquet file"),
    ],
)
def test_hostile_files_are_refused(tmp_path: Path, name: str, text: str, message: str) -> None:
    path = tmp_path / name
    path.write_text(text, "utf-8")
    with pytest.raises(DomainError) as refused:
        read_lookup("a", path, ["k"])
    assert message in str(refused.value)


def test_what_is_no_table_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"k,v\n\xff\xfe,1\n")
    for table, message in (
        (tmp_path / "a.csv", "cannot read a.csv"),
        (tmp_path / "none.csv", "cannot read none.csv"),
        (3, "made of a CSV or Parquet file"),
    ):
        with pytest.raises(DomainError, match=message):
            read_lookup("a", table, ["k"])
    with pytest.raises(DomainError, match="has no column 'w'; the columns are k, v"):
        read_lookup("a", pd.DataFrame({"k": [1], "v": [2]}), ["k"], ["w"])


YAML = """\
attributes:
  carrier: {type: categorical, values: [AA, UA]}
lookups:
  airlines: {file: airlines.csv, keys: [carrier], columns: [seats, old], null: [NA]}
  words:
    keys: [carrier]
    columns: [word]
    rows:
      - [AA, double]
derived:
  airline: airlines.old
"""


def test_a_file_of_a_domain_names_files_beside_it(tmp_path: Path) -> None:
    (tmp_path / "airlines.csv").write_text(CSV, "utf-8")
    (tmp_path / "domain.yaml").write_text(YAML, "utf-8")
    domain = read_domain(tmp_path / "domain.yaml")
    assert [one.name for one in domain.lookups] == ["airlines", "words"]
    assert domain.lookups[0].rows == (("AA", 100, True), ("UA", None, False))
    assert domain.derived == (("airline", "airlines.old"),)
    (tmp_path / "airlines.csv").unlink()
    with pytest.raises(DomainError, match="lookup 'airlines': cannot read airlines"):
        read_domain(tmp_path / "domain.yaml")


@pytest.mark.parametrize("wrong", ["keys: carrier", "keys: [carrier], what: 1", "columns: [x]"])
def test_a_wrong_entry_says_what_it_may_hold(tmp_path: Path, wrong: str) -> None:
    text = YAML.replace("keys: [carrier], columns: [seats, old], null: [NA]", wrong)
    (tmp_path / "domain.yaml").write_text(text, "utf-8")
    with pytest.raises(DomainError, match="a mapping with 'file' and a list of 'keys'"):
        read_domain(tmp_path / "domain.yaml")


def test_columns_are_described() -> None:
    rows = {row["column"]: row for row in described_columns(DOMAIN)}
    assert list(rows) == [
        *("carrier", "hour", "airline", "late"),
        *("airlines.name", "airlines.size", "airlines.old"),
    ]
    assert rows["late"] == {
        "column": "late",
        "type": "derived",
        "values": "hour > 20",
        "missing": None,
    }
    assert rows["airlines.name"]["values"] == "texts by carrier, 2 rows"
    assert rows["airlines.name"]["missing"]
    assert not rows["airlines.size"]["missing"]
