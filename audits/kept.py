"""Kept: rows that were measured before on the same sources, so that a long audit can go on.

The whole takes hours. What passed is not measured again while `src`, `tests` and the files of the
check are the same to the byte; other commits in between do not matter. Without a clean checkout
nothing is kept.
"""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from audits.board import commit
from audits.row import ROOT, Check, Row, Scale


@dataclass(frozen=True, slots=True)
class Kept:
    """A folder of results, each with the sources that it belongs to; without a folder, nothing."""

    folder: Path | None

    def find(self, check: Check, scale: Scale) -> tuple[Row, ...] | None:
        """The rows of these sources, if all of them passed; None when there are none."""
        before = self._read(check, scale)
        if before is None:
            return None
        rows = _rows(before)
        passed = all(row.verdict == "passed" for row in rows)
        now = sources(check)
        return rows if passed and now is not None and before.get("sources") == now else None

    def last(self, check: Check, scale: Scale) -> tuple[Row, ...]:
        """The rows that were measured last, on whichever sources; none when there are none."""
        before = self._read(check, scale)
        return () if before is None else _rows(before)

    def put(self, check: Check, scale: Scale, rows: tuple[Row, ...]) -> None:
        """Keep the rows of a check."""
        place = self._place(check, scale)
        if place is not None:
            place.parent.mkdir(parents=True, exist_ok=True)
            documents = [row.to_document() for row in rows]
            now = {"sources": sources(check), "commit": commit(), "rows": documents}
            place.write_text(json.dumps(now), "utf-8")

    def _read(self, check: Check, scale: Scale) -> dict[str, Any] | None:
        place = self._place(check, scale)
        if place is None or not place.exists():
            return None
        document: dict[str, Any] = json.loads(place.read_text("utf-8"))
        return document

    def _place(self, check: Check, scale: Scale) -> Path | None:
        return None if self.folder is None else self.folder / f"{check.name}-{scale.name}.json"


def _rows(document: dict[str, Any]) -> tuple[Row, ...]:
    """The rows of a stored result, each with its commit."""
    return tuple(replace(Row(**one), commit=document["commit"]) for one in document["rows"])


def sources(check: Check) -> str | None:
    """What is audited, and by what; None when files differ from the commit's, or one is missing."""
    if not commit().endswith("`"):
        return None
    files = ("src", "tests", f"audits/{check.module}.py", *check.needs)
    done = subprocess.run(
        ["git", "rev-parse", *(f"HEAD:{name}" for name in files)],  # noqa: S607
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.replace("\n", " ").strip() if done.returncode == 0 else None
