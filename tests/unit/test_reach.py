"""What can be done from where: every cell of docs/reference/reach.md is true, or has a reason."""

from __future__ import annotations

import re
from enum import Enum
from pathlib import Path

import pytest
import typer

import eke
from eke.cli.program import app
from eke.publish import Published
from tests.service import serving

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/reference/reach.md").read_text("utf-8")
CONSOLE = "".join(
    path.read_text("utf-8") for path in (ROOT / "src/eke/service/console").glob("*.js")
)
POSTGRESQL = (ROOT / "docs/reference/postgresql.md").read_text("utf-8") + (
    ROOT / "docs/reference/sql.md"
).read_text("utf-8")
COLUMNS = ("Python", "SQL tools", "command", "HTTP", "console")
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.splitlines()
    if line.startswith("| ") and not line.startswith("| what | ")
]
MARKS = "¹²³⁴⁵⁶⁷⁸"


def ways(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def commands() -> dict[str, set[str]]:
    """Every command with its options, those of groups by both words."""
    found: dict[str, set[str]] = {}

    def walk(command: object, words: str) -> None:
        children = getattr(command, "commands", {})
        for name, child in children.items():
            walk(child, f"{words} {name}")
        options = {name for one in getattr(command, "params", []) for name in one.opts}
        found[words] = options
        for argument in getattr(command, "params", []):
            kind = argument.type_descriptor.annotation
            if isinstance(kind, type) and issubclass(kind, Enum):  # one of several words
                found.update({f"{words} {choice.value}": options for choice in kind})

    walk(typer.main.get_command(app), "eke")
    return found


def addresses(folder: Path) -> set[str]:
    with serving(folder) as server:
        paths = server.app.openapi()["paths"]
    return {
        f"{method.upper()} {path.removeprefix('/api/v1/datasets/{name}')}"
        for path, methods in paths.items()
        for method in methods
    }


def reasons(row: list[str]) -> list[str]:
    """The marks of a row's empty cells; a cell without a way and without a mark is an error."""
    marks = []
    for cell in row[1:]:
        if ways(cell):
            continue
        assert re.fullmatch(f"— [{MARKS}]", cell), f"{row[0]}: {cell!r} says nothing"
        marks.append(cell[-1])
    return marks


def test_every_cell_says_how_or_why_not() -> None:
    assert len(ROWS) > 25
    used = {mark for row in ROWS for mark in reasons(row)}
    below = {line[0] for line in PAGE.splitlines() if line[:1] in set(MARKS) and line[1:2] == " "}
    assert used == below
    with pytest.raises(AssertionError, match="says nothing"):  # the control
        reasons(["nothing", "`session.ask`", "", "—", "", ""])


def test_every_method_has_a_row_and_exists() -> None:
    written = {way for row in ROWS for way in ways(row[1])}
    of_rows = {way for way in written if way.startswith("published.")}
    doors = ("estimate", "report", "to_csv", "to_parquet")
    assert of_rows == {f"published.{name}" for name in doors}
    assert all(hasattr(Published, way.removeprefix("published.")) for way in of_rows)
    told = written - of_rows
    public = {f"session.{name}" for name in dir(eke.Session) if not name.startswith("_")}
    assert told == public


def test_commands_and_their_options_exist() -> None:
    known = commands()
    for row in ROWS:
        for way in ways(row[3]):
            words, *options = re.split(r" (?=--)", way)
            assert words in known, row[0]
            assert set(options) <= known[words], row[0]
    assert "eke outside dance" not in known


def test_addresses_are_the_servers_and_the_console_uses_them(tmp_path: Path) -> None:
    known = addresses(tmp_path)
    for row in ROWS:
        for way in ways(row[4]):
            assert way in known, row[0]
        for way in ways(row[5]):
            assert re.search(f'["`}}]{way}', CONSOLE), row[0]


def test_what_tools_write_is_in_their_reference() -> None:
    for row in ROWS:
        for way in ways(row[2]):
            assert way in POSTGRESQL, row[0]
