"""The table that a command is given: its path, and for text files how to read it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import eke
from eke.errors import DataError

if TYPE_CHECKING:
    from eke.data import CsvFile, DuckDBFile, PostgreSQLTable


def table_file(
    place: str | Path,
    *,
    columns: str | None,
    null: list[str] | None,
    delimiter: str | None,
    table: str | None,
) -> Path | CsvFile | DuckDBFile | PostgreSQLTable:
    """The table as `eke.create` takes it; CSV options make the file a CSV, whatever its name."""
    if "://" in str(place):
        return eke.PostgreSQLTable(str(place), table)
    path = Path(place)
    if table is not None:
        return eke.DuckDBFile(str(path), table)
    if columns is None and not null and delimiter is None:
        _require_known_ending(path)
        return path
    return eke.CsvFile(
        path,
        columns=None if columns is None else [name.strip() for name in columns.split(",")],
        null=tuple(null or ()),
        # A tab is hard to type in a shell.
        delimiter="\t" if delimiter == "\\t" else delimiter,
    )


def _require_known_ending(path: Path) -> None:
    try:
        eke.data.files.file_from_path(path)
    except DataError as problem:
        if "cannot tell" not in str(problem):
            raise
        raise DataError(
            f"cannot tell from its name what kind of file {path} is; rename it to .csv, .tsv, .txt "
            "(also with .gz), .parquet or .duckdb, or say with --columns, --null or --delimiter "
            "how to read it as CSV"
        ) from None
