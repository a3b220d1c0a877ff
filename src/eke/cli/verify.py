"""`eke verify`: whether the ledger is intact, and not older than a mark."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import eke
from eke.cli.check import show_check
from eke.cli.failure import NOT_INTACT, failures
from eke.cli.opening import short_name
from eke.cli.options import AsJson, Dataset
from eke.cli.screen import Screen, output, working
from eke.codec.printed import json_text
from eke.errors import LedgerTampered

if TYPE_CHECKING:
    from eke.ledger import Verification

EXAMPLES = """\
Examples:
  $ eke verify adult.eke
  $ eke export adult.eke mark -o adult.mark
  $ eke verify adult.eke --mark adult.mark
  $ eke verify adult.eke --data
"""


def verify(
    path: Dataset,
    mark: Annotated[
        Path | None,
        typer.Option(
            "--mark", exists=True, dir_okay=False, help="A file with a mark exported before."
        ),
    ] = None,
    data: Annotated[
        bool,
        typer.Option(
            "--data", metavar="", help="Also read the table, and repeat what `eke check` says."
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Check that the ledger is intact.

    Every entry is checked, from the first to the last; the table itself is not needed. With
    --mark, a ledger older than the mark is noticed, too: an old copy would have forgotten what was
    spent since. The exit code is 4 when something is wrong. With --data the table is read as well:
    the counts that follow are exact and private, for the curator alone.
    """
    with failures(as_json=as_json), working(f"Verifying {short_name(path)}"):
        known = None
        if mark is not None:
            known = eke.ledger.HighWaterMark.from_json(mark.read_text("utf-8", "replace"))
        try:
            document = _document(eke.ledger.Ledger.open(path, known).verify(known))
        except LedgerTampered as problem:
            document = {"intact": False, "problems": [str(problem)]}
        checked = None
        if data and document["intact"]:
            checked = eke.session.check_dataset(path)
            document["check"] = checked.to_dict()
    screen = output()
    if as_json:
        screen.raw(json_text(document))
    elif document["intact"]:
        _show(screen, document, marked=mark is not None)
        if checked is not None:
            show_check(checked)
    else:
        for sentence in document["problems"]:
            screen.print(f"[bold red]Not intact:[/] {screen.escape(sentence)}")
    if not document["intact"]:
        raise typer.Exit(NOT_INTACT)


def _document(report: Verification) -> dict[str, Any]:
    return {
        "intact": report.intact,
        "problems": list(report.problems),
        "entries": report.entries,
        "head": report.head_hash,
        "open_reservations": list(report.open_reservations),
    }


def _show(screen: Screen, document: dict[str, Any], *, marked: bool) -> None:
    screen.print(
        f"[green]Intact:[/] {document['entries']:,} entries, head {document['head'][:16]}"
        + (", the mark lies on its chain." if marked else ".")
    )
    if document["open_reservations"]:
        numbers = ", ".join(map(str, document["open_reservations"]))
        screen.print(
            f"Charged but not answered (a crash, or still at work): entry {numbers}. It counts as "
            "spent; the same request with the same key completes it.",
            indent=2,
        )
