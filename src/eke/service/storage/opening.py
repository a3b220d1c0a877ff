"""Opening the place of accounts and jobs."""

from __future__ import annotations

import os
from pathlib import Path

from eke.service.storage.postgresql import PostgresqlStorage, accounts_at
from eke.service.storage.protocol import Storage
from eke.service.storage.sqlite import SqliteStorage


def open_storage(where: str | os.PathLike[str] | None) -> Storage:
    """The storage at a path or a PostgreSQL URL, made if it is not there; None: memory."""
    if where is None:
        return SqliteStorage(None)
    text = os.fspath(where)
    if "://" not in text:
        return SqliteStorage(Path(text))
    return PostgresqlStorage(accounts_at(text))
