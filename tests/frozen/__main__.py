"""Freeze the datasets that today's code makes: `python -m tests.frozen`.

For a new version of the format only: the files of older versions stay, and must go on to open.
"""

from __future__ import annotations

import gzip
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path

from tests.frozen.history import SETTINGS, played
from tests.frozen.place import FIXTURES, dumped
from tests.postgresql_server import programs, running_server


def main() -> None:
    """Write one dump for each dataset in SQLite, and one in PostgreSQL."""
    FIXTURES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for name in SETTINGS:
            path = Path(folder) / f"{name}.eke"
            with played(name, path), closing(sqlite3.connect(path)) as ledger:
                _write(dumped(name), "\n".join(ledger.iterdump()))
    with running_server() as server:
        with played("epsilon", server.address("frozen")):
            words = [str(programs() / "pg_dump"), "--inserts", "--no-owner", server.address()]
            done = subprocess.run(words, capture_output=True, text=True, check=True)
        _write(dumped("postgresql"), done.stdout)


def _write(path: Path, text: str) -> None:
    if path.exists():
        sys.exit(f"{path.name} is frozen; a new version of the format needs a new name")
    path.write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    main()
