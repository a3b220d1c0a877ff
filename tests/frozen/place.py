"""Where frozen datasets lie, and how they come to life again."""

from __future__ import annotations

import gzip
import json
import math
import sqlite3
import subprocess
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from eke.ledger import Entry
from tests.postgresql_server import Server, programs

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures/datasets"
OLDER = (2, 3)
VERSION = 4  # how often what is written came to be another thing; the files of OLDER ones stay


def dumped(name: str, version: int = VERSION) -> Path:
    """The file of a frozen dataset."""
    return FIXTURES / f"{name}-{version}.sql.gz"


def text_of(name: str, version: int = VERSION) -> str:
    """The SQL that makes a dataset."""
    return gzip.decompress(dumped(name, version).read_bytes()).decode()


def revived(name: str, path: Path, version: int = VERSION) -> Path:
    """A dataset in SQLite as it was frozen."""
    with closing(sqlite3.connect(path)) as ledger:
        ledger.executescript(text_of(name, version))
    return path


def revived_in(server: Server, version: int = VERSION) -> str:
    """The address of the dataset that was frozen in PostgreSQL."""
    text = text_of("postgresql", version)
    # What a newer pg_dump writes for itself, an older psql does not know.
    lines = [line for line in text.splitlines() if not line.startswith("\\")]
    lines.insert(0, "DROP SCHEMA IF EXISTS frozen CASCADE;")
    subprocess.run(
        [programs() / "psql", "-q", "-v", "ON_ERROR_STOP=1", server.address()],
        input="\n".join(lines),
        text=True,
        capture_output=True,
        check=True,
    )
    return server.address("frozen")


def stored(entries: Sequence[Entry]) -> list[Any]:
    """What entries hold, without what follows from it by hashing.

    Floating-point numbers differ in their last digits from one processor to the next, and so do the
    counts that a publication expects, in steps of a fine grid, when it chooses what to measure: of
    these a draw holds a hash.
    """
    return [[e.kind, e.at, _rounded(e.about), _rounded(e.payload)] for e in entries]


_HASHES = ("answer_sha256", "what")


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(one) for key, one in value.items() if key not in _HASHES}
    if isinstance(value, list):
        return [_rounded(one) for one in value]
    if isinstance(value, float) and math.isfinite(value):
        return float(f"{value:.9g}")
    if isinstance(value, str) and value[:1] in "{[":  # documents in documents
        return _rounded(json.loads(value))
    return value
