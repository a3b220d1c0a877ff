"""Where a ledger is kept, and everything that differs between a SQLite file and a server.

SQLite keeps a rollback journal in TRUNCATE mode with `synchronous=FULL`: journal, database and the
journal's truncation are each synced before COMMIT returns, so a charge survives a power cut, and
between transactions the one file is complete (WAL would leave the newest charges in a second file
that a plain copy forgets; DELETE with FULL does not sync the directory, so the last charge could
be undone by a journal that reappears). Writers take the lock first (`BEGIN IMMEDIATE`); each
transaction opens its own connection, so threads and forked children share none. How PostgreSQL
keeps the same promises is said in `postgresql.py`.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, Engine, NullPool, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError

from eke.errors import LedgerError, LedgerTampered
from eke.ledger.postgresql import Server, connect_server, explain_server, server_at
from eke.ledger.sqlite_file import connect_sqlite

SETTLED_SECONDS = 2.0
_WRITE = "eke_write"


@dataclass(frozen=True, slots=True)
class File:
    """A ledger in one SQLite file, by its absolute path."""

    path: Path

    def __str__(self) -> str:
        return str(self.path)


def locate(where: str | os.PathLike[str]) -> File | Server:
    """The place a path or a database address stands for."""
    text = os.fspath(where)
    if "://" not in text:
        return File(Path(text).resolve())
    try:
        url = make_url(text)
    except (ArgumentError, ValueError) as error:  # ValueError: a port that is no number
        raise LedgerError("this is not a database address; give a file path instead") from error
    backend = url.get_backend_name()
    if backend == "sqlite" and url.database and url.database != ":memory:":
        return File(Path(url.database).resolve())
    if backend == "postgresql":
        return server_at(url)
    raise LedgerError(
        "a ledger must outlive the process: give a file path or a postgresql:// address"
    )


def connect_engine(place: File | Server) -> Engine:
    """An engine whose transactions are durable and whose error texts hold no values."""
    if isinstance(place, Server):
        return connect_server(place)
    engine = create_engine(
        "sqlite://",
        creator=lambda: connect_sqlite(place.path),
        poolclass=NullPool,
        hide_parameters=True,
    )
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def prepare(connection: Connection, *, write: bool) -> None:
    """Tell a fresh connection, before its transaction begins, whether it is going to write."""
    connection.execution_options(**{_WRITE: write})
    if connection.dialect.name == "postgresql":
        # Writers see what is committed once they hold the account row; readers keep one snapshot.
        level = "READ COMMITTED" if write else "REPEATABLE READ"
        connection.execution_options(isolation_level=level)


def claim_file(place: File) -> None:
    """Create the empty file, or fail if anything is there already, in one step."""
    try:
        os.close(os.open(place.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except FileExistsError as error:
        raise LedgerError(
            f"{place} exists already; open it, or create the ledger under another name"
        ) from error
    except OSError as error:
        raise LedgerError(
            f"{place} cannot be created ({error.strerror}); check the folder and its permissions"
        ) from error


def stamp_of(place: File | Server) -> tuple[int, ...] | None:
    """What tells a ledger file from the same file after another COMMIT; None when nothing does.

    Every COMMIT writes into the file and so renews its time. Clocks of file systems tick, some only
    every other second, so the time of a file that was written just now says nothing yet.
    """
    if isinstance(place, Server):
        return None
    try:
        state = place.path.stat()
    except OSError:
        return None
    age = time.time() - max(state.st_mtime, state.st_ctime)
    if age < SETTLED_SECONDS:
        return None
    return state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns


def journal_of(place: File) -> Path:
    """The rollback journal beside a ledger file; empty between transactions."""
    return place.path.with_name(place.path.name + "-journal")


def discard_file(place: File) -> None:
    """Remove a claimed file in which no ledger came to be, and its journal."""
    place.path.unlink(missing_ok=True)
    journal_of(place).unlink(missing_ok=True)


def sync_folder(place: File) -> None:
    """Make the name of a new file durable, not only its content (POSIX)."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    try:
        folder = os.open(place.path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except OSError as error:
        raise LedgerError(
            f"the folder of {place} cannot be synced ({error.strerror}), so the ledger might not "
            "survive a power cut; delete it and create it on another disk"
        ) from error


def append_only_statements(dialect: str) -> tuple[str, ...]:
    """Statements that make the database itself refuse to change or delete an entry."""
    if dialect == "sqlite":
        return tuple(
            f"CREATE TRIGGER entry_no_{action.lower()} BEFORE {action} ON entry "
            "BEGIN SELECT RAISE(ABORT, 'ledger entries only grow'); END"
            for action in ("UPDATE", "DELETE")
        )
    function = (
        "CREATE FUNCTION entry_only_grows() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'ledger entries only grow'; END $$"
    )
    trigger = (
        "CREATE TRIGGER entry_no_change BEFORE UPDATE OR DELETE OR TRUNCATE ON entry "
        "FOR EACH STATEMENT EXECUTE FUNCTION entry_only_grows()"
    )
    return function, trigger


_ADVICE = {
    "SQLITE_BUSY": "another process held the ledger for too long; retry with the same key",
    "SQLITE_LOCKED": "another process held the ledger for too long; retry with the same key",
    "SQLITE_FULL": "the disk is full; free some space and retry with the same key",
    "SQLITE_READONLY": "the ledger or its folder is read-only; allow writing to both",
    "SQLITE_CANTOPEN": "the ledger file is gone or its folder cannot be entered; put it back",
    "SQLITE_IOERR": "the disk failed; check disk and free space, then retry with the same key",
    "SQLITE_PERM": "the ledger may not be accessed; check its permissions",
}
_DAMAGED = ("SQLITE_CORRUPT", "SQLITE_SCHEMA", "SQLITE_MISMATCH")
# SQLite has one code, SQLITE_ERROR, for these.
_DAMAGED_TEXTS = ("Could not decode to UTF-8", "no such table", "no such column")


def explain(error: SQLAlchemyError, place: File | Server) -> LedgerError:
    """The ledger error that says what to do about a failure of the database.

    Privacy: nothing was released, because a release follows only a COMMIT that returned. If the
    COMMIT itself failed, the charge may have been written: that errs on the expensive side.
    """
    if isinstance(place, Server):
        return explain_server(error, place)
    cause = error.orig if isinstance(error, DBAPIError) else None
    # Extended codes such as SQLITE_IOERR_WRITE start with the name of their family.
    name = str(getattr(cause, "sqlite_errorname", "") or "")
    if name.startswith("SQLITE_NOTADB"):
        return LedgerTampered(
            f"{place} is no dataset of eke. If it is the table itself, protect it with `eke init` "
            "and name the file that makes; if it was a dataset, restore the newest intact copy"
        )
    if name.startswith(_DAMAGED) or any(sign in str(cause) for sign in _DAMAGED_TEXTS):
        return LedgerTampered(
            f"{place} is damaged or is no eke ledger; restore the newest intact copy"
        )
    for family, advice in _ADVICE.items():
        if name.startswith(family):
            return LedgerError(f"{place} cannot be used: {advice}; nothing was released")
    return LedgerError(
        f"{place} cannot be used ({type(error).__name__}); check that the database is reachable "
        "and writable, then retry with the same key; nothing was released"
    )


def _begin_sqlite(connection: Connection) -> None:
    write = connection.get_execution_options().get(_WRITE, True)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")
