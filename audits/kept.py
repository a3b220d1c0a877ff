"""Kept: rows that were measured before on the same commit, so that a long audit can go on."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from audits.board import commit
from audits.row import Check, Row, Scale


@dataclass(frozen=True, slots=True)
class Kept:
    """A folder of results, each with the commit that it belongs to; without a folder, nothing."""

    folder: Path | None

    def find(self, check: Check, scale: Scale) -> tuple[Row, ...] | None:
        """The rows of this commit, if all of them passed; None when there are none."""
        place = self._place(check, scale)
        if place is None or not place.exists():
            return None
        document = json.loads(place.read_text("utf-8"))
        rows = tuple(Row(**one) for one in document["rows"])
        passed = all(row.verdict == "passed" for row in rows)
        return rows if passed and document["commit"] == commit() and _is_whole(commit()) else None

    def put(self, check: Check, scale: Scale, rows: tuple[Row, ...]) -> None:
        """Keep the rows of a check."""
        place = self._place(check, scale)
        if place is not None:
            place.parent.mkdir(parents=True, exist_ok=True)
            documents = [row.to_document() for row in rows]
            place.write_text(json.dumps({"commit": commit(), "rows": documents}), "utf-8")

    def _place(self, check: Check, scale: Scale) -> Path | None:
        return None if self.folder is None else self.folder / f"{check.name}-{scale.name}.json"


def _is_whole(text: str) -> bool:
    """True when the files are those of the commit and nothing else."""
    return text.endswith("`")
