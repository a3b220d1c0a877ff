"""`eke draft`: a first proposal of a domain, read off the table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import eke
from eke.cli.failure import failures
from eke.cli.options import AsJson, Columns, Delimiter, Null, TableNames, ViewFile
from eke.cli.screen import errors, output, working
from eke.cli.table_file import given_table
from eke.codec.printed import json_text
from eke.errors import DataError

EXAMPLES = """\
Examples:
  $ eke draft people.csv -o people.yaml
  $ eke draft --view trips.sql --table trips=a.csv --table cars=b.csv
  $ eke draft adult.data.gz --columns age,workclass,sex --null "?" -o adult.yaml
"""


def draft(
    table: Annotated[
        Path | None,
        typer.Argument(metavar="TABLE", help="A CSV, Parquet or DuckDB file.", show_default=False),
    ] = None,
    target: Annotated[Path, typer.Option("--output", "-o", help="The YAML file to write.")] = Path(
        "domain.yaml"
    ),
    force: Annotated[
        bool, typer.Option("--force", metavar="", help="Replace a file that exists.")
    ] = False,
    columns: Columns = None,
    null: Null = None,
    delimiter: Delimiter = None,
    tables: TableNames = None,
    view: ViewFile = None,
    as_json: AsJson = False,
) -> None:
    """Read a table and write a draft of its domain, to be checked.

    The drafted values come from the data: the file is as private as the table until somebody who
    knows the table has replaced them by public knowledge.
    """
    with failures(as_json=as_json):
        if target.exists() and not force:
            raise DataError(f"{target} exists; choose another --output, or replace it with --force")
        given = given_table(
            None if table is None else str(table),
            view=view,
            tables=tables,
            columns=columns,
            null=null,
            delimiter=delimiter,
        )
        with working(f"Reading {given.name}"):
            drafted = eke.data.draft_file(given.data, target)
        if as_json:
            output().raw(
                json_text(
                    {
                        "domain": str(target),
                        "attributes": list(drafted.domain.names),
                        "notes": drafted.notes,
                        "missing": list(drafted.missing),
                    }
                )
            )
            return
        screen = errors()
        if drafted.missing:
            options = " ".join(f'--null "{text}"' for text in drafted.missing)
            screen.print(
                f"[bold]Taken for missing:[/] {screen.escape(', '.join(drafted.missing))}. "
                f"Say so to `eke init` as well: {screen.escape(options)}"
            )
        for note in drafted.notes:
            screen.print(screen.escape(note), indent=2)
        screen.print(
            f"[bold yellow]Private until confirmed:[/] {screen.escape(str(target))} was drafted "
            "from the data itself. Check every value against public knowledge, then delete the "
            "comment at its top: `eke init` refuses the file before."
        )
