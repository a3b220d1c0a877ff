"""Accounts and jobs in one SQLite file, or in memory: for a single server.

Reading takes some 10 µs, which every request pays; a connection stays open for it. WAL lets the
command line write while the server reads.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from eke.errors import ServiceError
from eke.service.storage.protocol import Row, Run, StorageUnavailable
from eke.service.storage.schema import VERSION, missing_steps


class SqliteStorage:
    """A file with accounts and jobs; without a path it lasts as long as the object."""

    shared = False

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self.place = "memory" if path is None else str(path)
        self._lock = threading.Lock()
        if path is not None and not path.exists():
            path.touch(mode=0o600)  # SQLite gives its journals the same mode
        try:
            self._connection = sqlite3.connect(
                ":memory:" if path is None else path, check_same_thread=False, isolation_level=None
            )
        except sqlite3.Error as error:
            raise self._explain(error) from error
        try:
            self._prepare()
        except ServiceError:
            self._connection.close()
            raise
        except sqlite3.Error as error:
            self._connection.close()
            if error.sqlite_errorname != "SQLITE_NOTADB":
                raise self._explain(error) from error
            raise ServiceError(f"{path} holds no accounts of eke; choose another file") from error

    def _prepare(self) -> None:
        run = self._connection.execute
        run("PRAGMA busy_timeout = 5000")
        run("PRAGMA journal_mode = WAL")
        run("PRAGMA synchronous = FULL")  # a revocation must not be lost
        run("PRAGMA foreign_keys = ON")
        if self._missing():
            with self.writing():
                for statement in self._missing():  # another process may have been faster
                    run(statement)
                run(f"PRAGMA user_version = {VERSION}")

    def _missing(self) -> tuple[str, ...]:
        (version,) = self._connection.execute("PRAGMA user_version").fetchone()
        return missing_steps(version, self.place)

    def read(self, statement: str, *values: object) -> list[Row]:
        try:
            with self._lock:
                return self._connection.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise self._explain(error) from error

    @contextmanager
    def writing(self) -> Iterator[Run]:
        with self._lock:
            try:
                self._connection.execute("BEGIN IMMEDIATE")
                try:
                    yield self._run
                except BaseException:
                    self._connection.execute("ROLLBACK")
                    raise
                self._connection.execute("COMMIT")
            except sqlite3.Error as error:
                raise self._explain(error) from error

    def _explain(self, error: sqlite3.Error) -> StorageUnavailable:
        name = getattr(error, "sqlite_errorname", "it was closed")
        return StorageUnavailable(
            f"{self.place} cannot be used ({name}); see that its disk has room, that this user may "
            "write it and its folder, and that no other program holds it, then try again"
        )

    def _run(self, statement: str, *values: object) -> int:
        return self._connection.execute(statement, values).rowcount

    def time(self) -> float:
        return time.time()

    def beside(self) -> SqliteStorage:
        return SqliteStorage(self._path)

    def close(self) -> None:
        with self._lock:
            self._connection.close()
