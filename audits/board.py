"""The scoreboard as a table: for the terminal by Rich, for docs/security.md as Markdown."""

from __future__ import annotations

import platform
import sqlite3
import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from rich.console import Console
from rich.table import Table

from audits.row import ROOT, Row, Scale
from tests.postgresql_server import programs

BEGIN = "<!-- from: make audit -->"
END = "<!-- end of make audit -->"
HEADINGS = ("check", "N", "figure", "positive control", "verdict", "commit")
_SHOWN = 11  # of a hash, with its quote


def cells(row: Row) -> tuple[str, ...]:
    """The texts of a row, in the order of the headings."""
    short = row.commit[:_SHOWN] + "`" if row.commit.startswith("`") else row.commit
    changed = " with changes" if row.commit.endswith("changes") else ""
    return row.title, row.samples, row.figure, row.control, row.verdict, f"{short}{changed}"


def show(rows: Sequence[Row], console: Console) -> None:
    """Print the table."""
    table = Table(*HEADINGS, show_lines=True)
    for row in rows:
        colour = "green" if row.verdict == "passed" else "bold red"
        *texts, verdict, state = cells(row)
        table.add_row(*texts, f"[{colour}]{verdict}[/]", state)
    console.print(table)


def markdown(rows: Sequence[Row], scale: Scale, missing: Sequence[str] = ()) -> str:
    """The table with the versions it was measured with; each row says its commit."""
    failed = sum(row.verdict != "passed" for row in rows)
    outcome = "all passed, every control caught" if not failed else f"{failed} NOT passed"
    unmeasured = [f"Not measured yet: {', '.join(missing)}.", ""] if missing else []
    lines = [
        f"{len(rows)} rows at scale `{scale.name}`: {outcome}.",
        "",
        *unmeasured,
        *(f"- {name}: {value}" for name, value in circumstances().items()),
        "",
        f"| {' | '.join(HEADINGS)} |",
        f"|{'---|' * len(HEADINGS)}",
        *(f"| {' | '.join(cells(row))} |" for row in rows),
    ]
    return "\n".join(lines) + "\n"


def write(page: Path, text: str) -> None:
    """Put the text between the two marks of a page; the rest of the page is written by people."""
    before, begin, rest = page.read_text("utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"{page} needs the lines {BEGIN!r} and {END!r}; the table goes between")
    page.write_text(f"{before}{BEGIN}\n\n{text}\n{END}{after}", "utf-8")


def circumstances() -> dict[str, str]:
    """The date, and the versions of everything whose behaviour the figures depend on."""
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "Python": platform.python_version(),
        "OpenDP": version("opendp"),
        "DuckDB": version("duckdb"),
        "SQLite": sqlite3.sqlite_version,
        "PostgreSQL": postgresql_version(),
        "Spark": version("pyspark"),
    }


def commit() -> str:
    """The commit that is checked out, and whether files differ from it."""
    try:
        head = _said("git", "rev-parse", "HEAD")
        # The page that holds the table is rewritten by the audit itself.
        changed = _said("git", "status", "--porcelain", "--", ".", ":!docs/security.md")
    except (OSError, subprocess.CalledProcessError):
        return "unknown (no git checkout)"
    return f"`{head}`{' with changes' if changed else ''}"


def postgresql_version() -> str:
    """The version of the server that the checks start."""
    return _said(str(programs() / "postgres"), "--version").rsplit(" ", 1)[-1].strip("()")


def _said(*command: str) -> str:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()
