"""The command line: thin commands over the session."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from eke.cli.demo import run_demo
from eke.data.draft import draft_file
from eke.errors import EkeError

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,  # it prints local variables
    help="eke: differential privacy that makes a privacy budget last.",
)
_console = Console()
_errors = Console(stderr=True)


@app.callback()
def _callback() -> None:
    """eke: differential privacy that makes a privacy budget last."""


@app.command()
def demo(
    folder: Annotated[
        Path | None, typer.Option(help="Where to put the dataset and the report.")
    ] = None,
) -> None:
    """Protect the Adult table and ask an afternoon of questions.

    Example: [bold]eke demo --folder demo-output[/]
    """
    run_demo(folder, _console)


@app.command()
def draft(
    table: Annotated[Path, typer.Argument(help="A CSV, Parquet or DuckDB file.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The YAML file to write.")] = Path(
        "domain.yaml"
    ),
) -> None:
    """Read a table and write a draft of its domain, for the curator to check and confirm.

    The drafted values come from the data: the file is as private as the table until somebody who
    knows the table has replaced them by public knowledge.

    Example: [bold]eke draft adult.parquet -o adult.yaml[/]
    """
    notes = draft_file(table, output)
    for note in notes.notes:
        _errors.print(f"  {note}", highlight=False)
    _errors.print(
        f"[bold yellow]Private until confirmed:[/] {output} was drafted from the data itself. "
        "Check every value against public knowledge before using it in eke.create."
    )


def main() -> None:
    """Run the command line; eke's own errors become one line and exit code 1."""
    try:
        app()
    except EkeError as problem:
        _errors.print(f"[red]error:[/] {problem}", highlight=False)
        raise SystemExit(1) from None
