"""`eke export`: ledger, history, report or high-water mark, for those who may not have the file."""

from __future__ import annotations

import csv
import io
import json
import tempfile
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import eke
from eke.cli.opening import dataset
from eke.cli.options import Data, Dataset
from eke.cli.screen import errors, output, working
from eke.codec.printed import json_text

if TYPE_CHECKING:
    from eke.session import Session

EXAMPLES = """\
Examples:
  $ eke export adult.eke report --format html -o report.html
  $ eke export adult.eke history --format csv -o history.csv
  $ eke export adult.eke ledger > ledger.json
  $ eke export adult.eke mark -o adult.mark
"""


class What(StrEnum):
    """What can be exported."""

    LEDGER = "ledger"
    HISTORY = "history"
    REPORT = "report"
    MARK = "mark"


class Format(StrEnum):
    """How it can be written."""

    JSON = "json"
    CSV = "csv"
    HTML = "html"


_ALLOWED = {
    What.LEDGER: (Format.JSON, Format.CSV),
    What.HISTORY: (Format.JSON, Format.CSV),
    What.REPORT: (Format.HTML, Format.JSON),
    What.MARK: (Format.JSON,),
}


def export(
    path: Dataset,
    what: Annotated[What, typer.Argument(help="What to export.", show_default=False)],
    form: Annotated[
        Format | None,
        typer.Option("--format", "-f", help="html for reports, csv for tables; else json."),
    ] = None,
    target: Annotated[
        Path | None, typer.Option("--output", "-o", help="The file to write; else stdout.")
    ] = None,
    data: Data = None,
    as_json: Annotated[
        bool, typer.Option("--json", metavar="", help="Short for --format json.")
    ] = False,
) -> None:
    """Write down the ledger, the history, a report or a mark.

    All of it may leave: questions, costs and noisy values, but neither the table nor its path. The
    mark is one line to be kept elsewhere; `eke verify --mark` then notices an older copy.
    """
    chosen = Format.JSON if as_json else form or _ALLOWED[what][0]
    if chosen not in _ALLOWED[what] or (as_json and form not in (None, Format.JSON)):
        possible = " or ".join(_ALLOWED[what])
        raise typer.BadParameter(f"the {what} can be written as {possible}", param_hint="--format")
    with dataset(path, as_json=as_json, data=data) as session:
        with working("Writing"):
            text = _text(session, what, chosen)
        if target is None:
            output().raw(text.rstrip("\n"))
            return
        target.write_text(text.rstrip("\n") + "\n", "utf-8")
        screen = errors()
        screen.line(f"Wrote {screen.escape(str(target))}.")


def _text(session: Session, what: What, form: Format) -> str:
    if what is What.MARK:
        return session.mark()
    if what is What.REPORT:
        return _html(session) if form is Format.HTML else json_text(_report(session))
    rows = session.history.to_records() if what is What.HISTORY else _entries(session)
    return json_text(rows) if form is Format.JSON else _csv(rows)


def _report(session: Session) -> dict[str, Any]:
    report = session.verify()
    return {
        "settings": session.settings,
        "budget": session.budget.to_dict(),
        "history": session.history.to_records(),
        "intact": report.intact,
        "mark": json.loads(session.mark()),
    }


def _entries(session: Session) -> list[dict[str, Any]]:
    return [
        {
            "sequence": entry.sequence,
            "kind": entry.kind,
            "at": entry.at,
            "about": dict(entry.about),
            "payload": dict(entry.payload),
            "hash": entry.hash,
        }
        for entry in session.ledger_entries()
    ]


def _html(session: Session) -> str:
    with tempfile.TemporaryDirectory() as folder:
        return eke.write_report(session, Path(folder) / "report.html").read_text("utf-8")


def _csv(rows: Sequence[dict[str, Any]]) -> str:
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    names = list(dict.fromkeys(name for row in rows for name in row))
    writer.writerow(names)
    for row in rows:
        cells = [row.get(name) for name in names]
        writer.writerow(
            json.dumps(cell, sort_keys=True) if isinstance(cell, dict) else cell for cell in cells
        )
    return written.getvalue()
