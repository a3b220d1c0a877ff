"""The table that a command is given: its path, and for text files how to read it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

import eke
from eke.errors import DataError

if TYPE_CHECKING:
    from eke.data import CsvFile, DuckDBFile, PostgreSQLTable


@dataclass(frozen=True, slots=True)
class GivenTable:
    """The table that a command is given, as `eke.create` takes it, with a name to show."""

    name: str
    data: Path | CsvFile | DuckDBFile | PostgreSQLTable | eke.View


def table_and_domain(
    place: str, domain: Path | None, *, view: Path | None, tables: list[str] | None, **csv: Any
) -> tuple[GivenTable, Path]:
    """The table and the domain of a command; with a view and all its tables, DOMAIN stands first.

    Privacy: a view reads what --table and TABLE name, and nothing that stands in its text.
    """
    if domain is None and view is not None:
        return given_table(None, view=view, tables=tables, **csv), Path(place)
    if domain is None:
        raise typer.BadParameter(
            "name a file that declares the domain, after the table; `eke draft` writes one from "
            "the table, to be checked",
            param_hint="DOMAIN",
        )
    return given_table(place, view=view, tables=tables, **csv), domain


def given_table(
    place: str | None,
    *,
    view: Path | None,
    tables: list[str] | None,
    columns: str | None,
    null: list[str] | None,
    delimiter: str | None,
) -> GivenTable:
    """The table at a place, or the view over tables of a database or of files."""
    if view is None:
        if place is None:
            raise typer.BadParameter("name a table, or a --view", param_hint="TABLE")
        if len(tables or ()) > 1:
            raise typer.BadParameter("several tables need a --view", param_hint="--table")
        table = tables[0] if tables else None
        name = (table or "table") if "://" in place else Path(place).name
        data = table_file(place, columns=columns, null=null, delimiter=delimiter, table=table)
        return GivenTable(name, data)
    statement = view.read_text("utf-8", "replace")
    if place is not None:
        if tables:
            raise typer.BadParameter(
                "the view's tables are in TABLE, or each is given with --table", param_hint="TABLE"
            )
        return GivenTable(view.name, eke.View(statement, place))
    if columns is not None:
        raise typer.BadParameter("a view has several tables", param_hint="--columns")
    places = {}
    for text in tables or ():
        name, equals, file = text.partition("=")
        if not equals or name in places:
            raise typer.BadParameter("give each table once: NAME=FILE", param_hint="--table")
        if not _is_text(file):
            places[name] = table_file(file, columns=None, null=None, delimiter=None, table=None)
            continue
        places[name] = table_file(file, columns=None, null=null, delimiter=delimiter, table=None)
    return GivenTable(view.name, eke.View(statement, places))


def _is_text(file: str) -> bool:
    try:
        return isinstance(eke.data.files.file_from_path(file), eke.CsvFile)
    except DataError:
        return True  # options that say how to read a text make it one


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
