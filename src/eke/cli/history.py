"""`eke history`: every measurement that was released."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from eke.cli.opening import opened
from eke.cli.options import AsJson, Data, Dataset, ServerAddress, ServerToken
from eke.cli.screen import Screen, output, working
from eke.cli.shape import json_text

EXAMPLES = """\
Examples:
  $ eke history adult.eke
  $ eke history adult.eke --last 5 --json
  $ eke history adult --server https://eke.org
"""


def history(
    path: Dataset,
    last: Annotated[
        int | None, typer.Option("--last", "-n", min=1, help="Only the latest ones.")
    ] = None,
    data: Data = None,
    server: ServerAddress = None,
    token: ServerToken = None,
    as_json: AsJson = False,
) -> None:
    """List what was released so far, by anyone.

    Later answers are made of it, for free. The number of an entry is its place in the ledger;
    `eke explain DATASET NUMBER` says more. A server may be set to show you only your own.
    """
    with opened(path, server=server, token=token, as_json=as_json, data=data) as place:
        with working("Reading the history"):
            records = place.history.to_records()
        shown = records[-last:] if last else records
        screen = output()
        if as_json:
            screen.raw(json_text(shown))
        elif not shown:
            screen.print("Nothing was released yet.")
        else:
            _show(screen, shown)
            if len(shown) < len(records):
                screen.print(f"[dim]{len(records) - len(shown)} earlier ones are not shown.[/]")


def _show(screen: Screen, records: list[dict[str, Any]]) -> None:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column("no.", justify="right", style="dim")
    table.add_column("when (UTC)", no_wrap=True, style="dim")
    table.add_column("analyst", overflow="fold")
    table.add_column("measured", overflow="fold")
    table.add_column("noisy value", justify="right", no_wrap=True)
    table.add_column(screen.text("± noise"), justify="right", no_wrap=True)
    for record in records:
        value = record["value"]
        cells = (
            str(record["sequence"]),
            str(record["at"])[:16].replace("T", " "),
            str(record["analyst"]),
            str(record["question"]),
            f"{record['cells']} cells" if value is None else f"{value:,.6g}",
            f"{record['noise_deviation']:,.3g}",
        )
        table.add_row(*(Text(screen.text(cell)) for cell in cells))
    screen.show(Padding(table, (0, 0, 0, 0), expand=False))
