"""What `eke guard list` prints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from eke.cli.screen import output
from eke.codec.printed import json_text
from eke.session.ask.claim import shown_probability

if TYPE_CHECKING:
    from eke.session import GuardState


def present_guards(guards: Sequence[GuardState], *, as_json: bool) -> None:
    """Guarded claims, and how probable each is by now."""
    screen = output()
    if as_json:
        screen.raw(json_text([one.to_dict() for one in guards]))
        return
    if not guards:
        screen.print("No claim is guarded.")
        return
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column("no.", justify="right", style="dim")
    table.add_column("by", overflow="fold")
    table.add_column("question", overflow="fold")
    table.add_column("claim", no_wrap=True)
    table.add_column("threshold", justify="right", no_wrap=True)
    table.add_column("probability", justify="right", no_wrap=True)
    table.add_column("now", no_wrap=True)
    table.add_column("note", overflow="fold")
    for state in guards:
        cells = (
            str(state.sequence),
            state.by,
            state.question,
            state.claim,
            f"{state.threshold:g}",
            shown_probability(state.probability),
            "closed" if state.closed else "open",
            state.note,
        )
        table.add_row(*(Text(screen.text(cell)) for cell in cells))
    screen.show(table)
