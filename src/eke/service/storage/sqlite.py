"""Accounts and jobs in one SQLite file, or in memory: for a single server.

A connection stays open, because every request reads. WAL lets the command line write while the
server reads.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import NullPool, create_engine
from sqlalchemy.dialects.sqlite import insert
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from eke.errors import ServiceError
from eke.service.storage.protocol import Change, Query, Row, Run, StorageUnavailable
from eke.service.storage.schema import VERSION, StorageTables, is_current

_SETTINGS = (
    "journal_mode = WAL",
    "synchronous = FULL",  # a revocation must not be lost
    "foreign_keys = ON",
)


class SqliteStorage:
    """A file with accounts and jobs; without a path it lasts as long as the object."""

    shared = False
    tables = StorageTables()
    insert = staticmethod(insert)

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self.place = "memory" if path is None else str(path)
        self._lock = threading.Lock()
        if path is not None and not path.exists():
            path.touch(mode=0o600)  # SQLite gives its journals the same mode
        engine = create_engine(
            "sqlite://", creator=self._connect, poolclass=NullPool, hide_parameters=True
        )
        with self._explained():
            self._connection = engine.connect().execution_options(preserve_rowcount=True)
        try:
            self._prepare()
        except BaseException:
            self.close()
            raise

    def _connect(self) -> sqlite3.Connection:
        where = ":memory:" if self._path is None else self._path
        # What is not in a block of `writing` is a transaction by itself.
        connection = sqlite3.connect(
            where, timeout=5.0, check_same_thread=False, isolation_level=None
        )
        try:
            for setting in _SETTINGS:
                connection.execute(f"PRAGMA {setting}")
        except sqlite3.Error as error:
            connection.close()
            if error.sqlite_errorname != "SQLITE_NOTADB":
                raise
            raise ServiceError(f"{where} holds no accounts of eke; choose another file") from error
        return connection

    def _prepare(self) -> None:
        with self._explained():
            current = is_current(self._version(), self.place)
        if not current:
            with self.writing():
                self.tables.bring_up_to_date(self._connection, self._version(), self.place)
                self._connection.exec_driver_sql(f"PRAGMA user_version = {VERSION}")

    def _version(self) -> int:
        return int(self._connection.exec_driver_sql("PRAGMA user_version").scalar_one())

    def read(self, statement: Query, **values: object) -> Sequence[Row]:
        with self._lock, self._explained():
            return self._connection.execute(statement, values).fetchall()

    @contextmanager
    def writing(self) -> Iterator[Run]:
        with self._lock, self._explained():
            self._connection.exec_driver_sql("BEGIN IMMEDIATE")
            try:
                yield self._run
                self._connection.exec_driver_sql("COMMIT")
            except BaseException:
                self._connection.connection.rollback()
                raise

    def _run(self, statement: Change) -> int:
        return self._connection.execute(statement).rowcount

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except SQLAlchemyError as error:
            cause = error.orig if isinstance(error, DBAPIError) else None
            name = getattr(cause, "sqlite_errorname", "it was closed")
            raise StorageUnavailable(
                f"{self.place} cannot be used ({name}); see that its disk has room, that this user "
                "may write it and its folder, and that no other program holds it, then try again"
            ) from error

    def time(self) -> float:
        return time.time()

    def beside(self) -> SqliteStorage:
        return SqliteStorage(self._path)

    def close(self) -> None:
        with self._lock:
            self._connection.close()
