"""File specifications are checked when they are made and survive JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eke.data.files import (
    CsvFile,
    DuckDBFile,
    ParquetFile,
    file_from_document,
    file_from_path,
    file_to_document,
)
from eke.data.fingerprint import Fingerprint, check_fingerprint, take_fingerprint
from eke.data.scan import scan_file
from eke.errors import DataError


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *(("a.csv", CsvFile), ("a.CSV", CsvFile), ("a.tsv.gz", CsvFile), ("a.txt", CsvFile)),
        *(("a.parquet", ParquetFile), ("a.pq", ParquetFile)),
        *(("a.duckdb", DuckDBFile), ("a.db", DuckDBFile)),
    ],
)
def test_the_kind_of_a_file_follows_from_its_name(name: str, kind: type) -> None:
    assert isinstance(file_from_path(name), kind)
    assert Path(file_from_path(Path(name)).path).is_absolute()


def test_unknown_endings_are_refused_with_the_known_ones() -> None:
    with pytest.raises(DataError, match=r"Known endings: \.csv"):
        file_from_path("a.xlsx")
    with pytest.raises(DataError, match="leave it out"):
        file_from_path("a.csv", table="t")


def test_the_delimiter_of_a_tsv_file_is_a_tab() -> None:
    assert CsvFile("a.tsv.gz").delimiter == "\t"
    assert CsvFile("a.csv").delimiter == ","
    assert CsvFile("a.tsv", delimiter=";").delimiter == ";"


@pytest.mark.parametrize(
    "file",
    [
        CsvFile("a.csv"),
        CsvFile("a.txt", columns=["a", "b"], null="?", strip=False, skip=2, quote=None),
        CsvFile("a.txt", columns=["a"], header=True, delimiter="|", encoding="utf-16"),
        ParquetFile("a.parquet"),
        DuckDBFile("a.duckdb", "main.people"),
    ],
)
def test_files_survive_json(file) -> None:
    assert file_from_document(json.loads(json.dumps(file_to_document(file)))) == file


@pytest.mark.parametrize(
    "options",
    [
        *({"columns": "ab"}, {"columns": []}, {"columns": ["a", "a"]}, {"columns": ["a", ""]}),
        *({"columns": [1]}, {"header": False}, {"delimiter": ", "}, {"delimiter": "\n"}),
        *({"quote": ","}, {"quote": ""}, {"null": [1]}, {"skip": -1}, {"skip": True}),
        {"encoding": "ebcdic"},
    ],
)
def test_bad_options_of_text_files_are_refused(options: dict) -> None:
    with pytest.raises(DataError):
        CsvFile("a.csv", **options)


@pytest.mark.parametrize("path", ["many/*.csv", "a?.csv", "[ab].csv", "{a,b}.csv"])
def test_paths_that_an_engine_would_expand_are_refused(path: str) -> None:
    with pytest.raises(DataError, match="rename"):
        CsvFile(path)


def test_other_bad_files_are_refused(tmp_path) -> None:
    with pytest.raises(DataError, match="path"):
        ParquetFile(7)  # type: ignore[arg-type]
    with pytest.raises(DataError, match="table"):
        DuckDBFile("a.db", "")
    with pytest.raises(DataError, match="there is no file"), scan_file(CsvFile(tmp_path / "a.csv")):
        pass


@pytest.mark.parametrize(
    "header", ["", "a,,c", "a,a", "a,"], ids=["empty", "gap", "twice", "trailing"]
)
def test_a_header_that_names_nothing_is_refused(header: str, tmp_path) -> None:
    (tmp_path / "a.csv").write_text(header + "\n1,2,3\n")
    with (
        pytest.raises(DataError, match=r"columns=\[\.\.\.\], header=True"),
        scan_file(CsvFile(tmp_path / "a.csv")),
    ):
        pass


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "utf-16"])
def test_headers_are_read_in_every_encoding(encoding: str, tmp_path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes('é,"b,c", d \r\n1,2,3\r\n'.encode(encoding))
    file = CsvFile(path, encoding=encoding.removesuffix("-sig"))
    with scan_file(file) as scan:
        assert list(scan.columns) == ["é", "b,c", "d"]
        table = scan.table({"x": "é", "y": "d"})
        assert scan.engine.fetch(table).to_pylist() == [{"x": "1", "y": "3"}]


def test_columns_given_with_a_header_replace_its_names(tmp_path) -> None:
    (tmp_path / "a.csv").write_text("a,a\n1,2\n")
    with scan_file(CsvFile(tmp_path / "a.csv", columns=["x", "y"], header=True)) as scan:
        table = scan.table({"x": "x", "y": "y"})
        assert scan.engine.fetch(table).to_pylist() == [{"x": "1", "y": "2"}]


def test_a_fingerprint_is_only_taken_again_when_size_or_time_differ(tmp_path) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(b"one")
    known = take_fingerprint(str(path))
    assert Fingerprint.from_document(json.loads(json.dumps(known.to_document()))) == known
    assert check_fingerprint(str(path), known) is known
    other = Fingerprint(known.size, known.mtime_ns, "0" * 64)
    assert check_fingerprint(str(path), other) is other  # same size and time: not read again
    with pytest.raises(DataError, match="put the old table back"):
        check_fingerprint(str(path), Fingerprint(known.size, 5, "0" * 64))
    for bad in ({}, {"size": None, "mtime_ns": 1, "sha256": ""}):
        with pytest.raises(DataError, match="fingerprint"):
            Fingerprint.from_document(bad)
    with pytest.raises(DataError, match="there is no file"):
        take_fingerprint(str(tmp_path / "b.bin"))
    with pytest.raises(DataError, match="readable"):
        take_fingerprint(str(tmp_path))
