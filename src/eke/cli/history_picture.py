"""What `eke history` prints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from eke.cli.screen import Screen, output
from eke.codec.printed import json_text


def present_history(records: Sequence[dict[str, Any]], earlier: int, *, as_json: bool) -> None:
    """The latest measurements, and how many earlier ones there are."""
    screen = output()
    if as_json:
        screen.raw(json_text(records))
    elif not records:
        screen.print("Nothing was released yet.")
    else:
        _show(screen, records)
        if earlier:
            screen.print(f"[dim]{earlier} earlier ones are not shown.[/]")


def _show(screen: Screen, records: Sequence[dict[str, Any]]) -> None:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column("no.", justify="right", style="dim")
    table.add_column("when (UTC)", no_wrap=True, style="dim")
    table.add_column("analyst", overflow="fold")
    table.add_column("measured", overflow="fold")
    table.add_column("noisy value", justify="right", no_wrap=True)
    table.add_column(screen.text("± noise"), justify="right", no_wrap=True)
    for record in records:
        value, noise = record.get("chosen", record["value"]), record["noise_deviation"]
        shown = f"{record['cells']} cells" if value is None else value
        if not isinstance(shown, str):
            shown = f"{value:,.6g}"
        cells = (
            str(record["sequence"]),
            str(record["at"])[:16].replace("T", " "),
            str(record["analyst"]),
            _question(record),
            shown,
            "chosen" if noise is None else f"{noise:,.3g}",
        )
        table.add_row(*(Text(screen.text(cell)) for cell in cells))
    screen.show(table)


def _question(record: dict[str, Any]) -> str:
    """What was measured; what is known from outside was not, and cost nothing here."""
    source = record.get("source")
    question = str(record["question"])
    return question if source is None else f"{question} (from outside: {source})"
