"""What stays of a full run in the folder of its paper: pictures, tables, and the README's table.

`figures.json` holds the sentence and the tables of every figure as they were printed. `tables.md`
and the table in the README are made of it, so that no figure is typed by hand; a test compares.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

START = "<!-- printed by the run: do not edit -->"
END = "<!-- end -->"


@dataclass(frozen=True, slots=True)
class Figure:
    """What one figure shows, with the tables printed for it."""

    paper: str  # what the paper's text states
    here: str  # what was seen
    run: str  # the options of the run that it comes from
    tables: Mapping[str, str] = field(default_factory=dict)  # title -> Markdown


def read(folder: Path) -> dict[str, Figure]:
    """The figures that were kept of a paper, in their order."""
    path = folder / "figures.json"
    if not path.exists():
        return {}
    return {name: Figure(**entry) for name, entry in json.loads(path.read_text("utf-8")).items()}


def keep(folder: Path, figures: Mapping[str, Figure]) -> None:
    """Add or replace some figures of a paper, and write what is made of them."""
    merged = read(folder) | dict(figures)
    merged = {name: merged[name] for name in sorted(merged, key=_place)}
    entries: dict[str, Any] = {
        name: {
            "paper": figure.paper,
            "here": figure.here,
            "run": figure.run,
            "tables": dict(figure.tables),
        }
        for name, figure in merged.items()
    }
    text = json.dumps(entries, indent=1, ensure_ascii=False)
    (folder / "figures.json").write_text(text + "\n", "utf-8")
    (folder / "tables.md").write_text(tables_page(merged), "utf-8")
    readme = folder / "README.md"
    readme.write_text(with_summary(readme.read_text("utf-8"), merged), "utf-8")


def summary(figures: Mapping[str, Figure]) -> str:
    """The table of a README: every figure of the paper beside ours."""
    rows = [[name, figure.paper, figure.here] for name, figure in figures.items()]
    return markdown(["figure", "the paper", "here"], rows)


def with_summary(readme: str, figures: Mapping[str, Figure]) -> str:
    """A README with its table replaced."""
    before, rest = readme.split(START)
    _, after = rest.split(END)
    return f"{before}{START}\n\n{summary(figures)}\n\n{END}{after}"


def tables_page(figures: Mapping[str, Figure]) -> str:
    """Every table that was printed, figure by figure."""
    parts = ["# Tables", "Printed by `run.py` of this folder, and written here by its `--keep`."]
    for name, figure in figures.items():
        parts += [f"## {name}", f"Options: `{figure.run}`."]
        for title, table in figure.tables.items():
            parts += [f"{title}:", table]
    return "\n\n".join(parts) + "\n"


def markdown(header: list[str], rows: list[list[str]]) -> str:
    """A table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(_cell(cell) for cell in line) + " |" for line in lines)


def _cell(text: str) -> str:
    return text.replace("*", "\\*").replace("|", "\\|")


def _place(name: str) -> tuple[bool, int]:
    """Figures by number, then everything else; in the order of the run besides."""
    number = re.search(r"\d+", name)
    return not name[:1].isdigit(), int(number.group()) if number else 0
