"""Connections to a ledger file; `dialect.py` says why they are configured as they are."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from urllib.parse import quote

BUSY_SECONDS = 30.0


def connect_sqlite(path: Path) -> sqlite3.Connection:
    """A connection to an existing file whose commits are durable."""
    # mode=rw: a ledger that vanished is an error, never a fresh empty file.
    connection = sqlite3.connect(
        f"file:{quote(str(path))}?mode=rw", uri=True, timeout=BUSY_SECONDS, isolation_level=None
    )
    try:
        _configure_sqlite(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _configure_sqlite(connection: sqlite3.Connection) -> None:
    (mode,) = connection.execute("PRAGMA journal_mode = TRUNCATE").fetchone()
    if mode != "truncate":
        raise sqlite3.OperationalError("the rollback journal is not available")
    for setting in (
        "synchronous = FULL",
        "fullfsync = ON",  # macOS: reach the platter, not only the drive's cache
        "foreign_keys = ON",
        "trusted_schema = OFF",
    ):
        connection.execute(f"PRAGMA {setting}")
