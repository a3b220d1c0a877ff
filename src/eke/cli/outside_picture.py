"""What `eke outside list` prints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from eke.cli.screen import output
from eke.codec.printed import json_text


def present_outside(records: Sequence[dict[str, Any]], *, as_json: bool) -> None:
    """Facts and tables of others, each with its source."""
    screen = output()
    if as_json:
        screen.raw(json_text(list(records)))
        return
    if not records:
        screen.print("Nothing from outside is used.")
        return
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column("no.", justify="right", style="dim")
    table.add_column("by", overflow="fold")
    table.add_column("says that", overflow="fold")
    table.add_column("is", justify="right", no_wrap=True)
    table.add_column(screen.text("± noise"), justify="right", no_wrap=True)
    table.add_column("source", overflow="fold")
    for record in records:
        value, noise = record["value"], record["noise_deviation"]
        cells = (
            str(record["sequence"]),
            str(record["by"]),
            str(record["question"]),
            f"{record['cells']:,} cells" if value is None else f"{value:,.6g}",
            "exact" if record["kind"] == "fact" else f"{noise:,.3g}",
            str(record["source"]),
        )
        table.add_row(*(Text(screen.text(cell)) for cell in cells))
    screen.show(table)
