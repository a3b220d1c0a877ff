"""`eke check`: what a domain does to a table, in exact numbers, for the curator's terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import eke
from eke.cli.failure import failures
from eke.cli.options import (
    AsJson,
    Columns,
    Delimiter,
    DomainFile,
    IdColumn,
    Null,
    RawTable,
    RowsOfId,
    TableNames,
    ViewFile,
)
from eke.cli.screen import errors, output, working
from eke.cli.table_file import table_and_domain
from eke.codec.printed import json_text
from eke.errors import DomainError

if TYPE_CHECKING:
    from eke.data import TableCheck

EXAMPLES = """\
Examples:
  $ eke check people.csv people.yaml
  $ eke check visits.parquet visits.yaml --unit patient --rows 3
  $ eke check trips.yaml --view trips.sql --table trips=a.csv --table cars=b.csv
"""


def check(
    table: RawTable,
    domain: DomainFile = None,
    unit: IdColumn = None,
    rows: RowsOfId = 1,
    columns: Columns = None,
    null: Null = None,
    delimiter: Delimiter = None,
    tables: TableNames = None,
    view: ViewFile = None,
    as_json: AsJson = False,
) -> None:
    """Count what a domain does to a table, for its curator alone.

    The counts are exact and private: they are for you, who may read the table, and not to be
    passed on. Nothing is stored or spent.
    """
    csv = {"columns": columns, "null": null, "delimiter": delimiter}
    with failures(as_json=as_json):
        given, declared = table_and_domain(table, domain, view=view, tables=tables, **csv)
        with working(f"Checking {given.name}"):
            unit_of_rows = None if unit is None else eke.Unit(unit, rows=rows)
            checked = eke.check(given.data, declared, unit=unit_of_rows)
        if as_json:
            output().raw(json_text(checked.to_dict()))
        else:
            show_check(checked)


def show_check(checked: TableCheck) -> None:
    """Print the whole report, and to stderr what should be looked at."""
    screen = output()
    screen.raw(screen.text(str(checked)))
    notes = errors()
    for problem in [*checked.contradictions(), *checked.problems()]:
        notes.print(f"[bold yellow]Look:[/] {notes.escape(problem)}.")
    notes.print("[dim]Exact counts of the table: private, for its curator alone.[/]")


def say_shortly(checked: TableCheck) -> None:
    """Print the report in a sentence or two, to stderr: answers are elsewhere."""
    screen = errors()
    screen.print(f"{screen.escape(checked.short())} [dim]Private: for you alone.[/]")


def require_little_loss(checked: TableCheck, *, quiet: bool) -> None:
    """Raise unless a domain leaves most of its table as it is, and say how much it leaves.

    Privacy: The message names columns and rules, which are public, and no numbers. Only whoever
    may read the table gets it.
    """
    problems = checked.problems()
    if problems:
        if not quiet:
            say_shortly(checked)
        raise DomainError(
            f"{'; '.join(problems)}. Nothing was created: see all of it with eke check, or say "
            "--allow-loss if it is meant so"
        )
