"""Numbered steps that bring a ledger from any older version to this one.

A step is frozen once released: it is history, not a description of today's tables (that is
`schema.py`, and a test compares the two). All missing steps run in one transaction. No step may
touch the rows of `entry`: their hashes are for ever, and a later version must read old documents.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import Connection, insert, inspect, select, text, update

from eke.errors import LedgerError, LedgerTampered
from eke.ledger.dialect import append_only_statements
from eke.ledger.schema import ledger_version


@dataclass(frozen=True, slots=True)
class Migration:
    """One step: the version it leads to, what it does, and how."""

    version: int
    summary: str
    apply: Callable[[Connection], None]


_VERSION_1 = (
    """CREATE TABLE ledger_version (
        only_row INTEGER NOT NULL,
        version INTEGER NOT NULL,
        PRIMARY KEY (only_row),
        CONSTRAINT version_only_row CHECK (only_row = 1))""",
    """CREATE TABLE entry (
        sequence BIGINT NOT NULL,
        kind TEXT NOT NULL,
        at TEXT NOT NULL,
        document TEXT NOT NULL,
        closes BIGINT,
        hash TEXT NOT NULL,
        PRIMARY KEY (sequence),
        CONSTRAINT entry_sequence_positive CHECK (sequence >= 1),
        CONSTRAINT entry_closes_once UNIQUE (closes),
        CONSTRAINT entry_hash_once UNIQUE (hash),
        FOREIGN KEY (closes) REFERENCES entry (sequence))""",
    """CREATE TABLE account (
        only_row INTEGER NOT NULL,
        spending_limit BIGINT NOT NULL,
        spent BIGINT NOT NULL,
        head_sequence BIGINT NOT NULL,
        head_hash TEXT NOT NULL,
        PRIMARY KEY (only_row),
        CONSTRAINT account_only_row CHECK (only_row = 1),
        CONSTRAINT account_spent_not_negative CHECK (spent >= 0),
        CONSTRAINT account_spent_within_limit CHECK (spent <= spending_limit))""",
    """CREATE TABLE private (
        only_row INTEGER NOT NULL,
        document TEXT NOT NULL,
        PRIMARY KEY (only_row),
        CONSTRAINT private_only_row CHECK (only_row = 1))""",
    """CREATE TABLE request (
        analyst TEXT NOT NULL,
        request_key TEXT NOT NULL,
        digest TEXT NOT NULL,
        state TEXT NOT NULL,
        sequence BIGINT NOT NULL,
        closed_by BIGINT,
        answer TEXT,
        PRIMARY KEY (analyst, request_key),
        CONSTRAINT request_state_known CHECK (state IN ('reserved', 'committed')),
        CONSTRAINT request_answer_when_committed
            CHECK ((state = 'committed') = (answer IS NOT NULL)),
        CONSTRAINT request_closed_when_committed
            CHECK ((state = 'committed') = (closed_by IS NOT NULL)),
        CONSTRAINT request_sequence_once UNIQUE (sequence),
        CONSTRAINT request_closed_by_once UNIQUE (closed_by),
        FOREIGN KEY (sequence) REFERENCES entry (sequence),
        FOREIGN KEY (closed_by) REFERENCES entry (sequence))""",
)


def _create_tables(connection: Connection) -> None:
    for statement in (*_VERSION_1, *append_only_statements(connection.dialect.name)):
        connection.execute(text(statement))


MIGRATIONS: tuple[Migration, ...] = (
    Migration(1, "entries, account, requests, a private document", _create_tables),
)


_VERSION = select(ledger_version.c.version)


def stored_version(connection: Connection) -> int:
    """The version of the tables in this database; 0 when there is no ledger in it."""
    if not inspect(connection).has_table(ledger_version.name):
        return 0
    return read_version(connection)


def read_version(connection: Connection) -> int:
    """The version that the ledger's own row states."""
    versions = connection.execute(_VERSION).scalars().all()
    if len(versions) != 1 or type(versions[0]) is not int or versions[0] < 1:
        raise LedgerTampered(
            "the ledger does not say which version it has; restore the newest intact copy"
        )
    return versions[0]


def require_current(version: int, migrations: tuple[Migration, ...]) -> None:
    """Nothing, or an error unless a version is exactly the one this program works with."""
    newest = migrations[-1].version
    if version > newest:
        raise LedgerError(
            f"this ledger was written by a newer eke (ledger version {version}, this program knows "
            f"{newest}); upgrade eke to use it"
        )
    if version < newest:
        raise LedgerError(
            f"this ledger has version {version} and this program needs {newest}; open it again "
            "to bring it up to date"
        )


def bring_up_to_date(connection: Connection, migrations: tuple[Migration, ...]) -> None:
    """Apply all missing steps, in order, inside the caller's transaction."""
    before = stored_version(connection)
    for step in migrations:
        if step.version > before:
            step.apply(connection)
            if step.version == 1:
                connection.execute(insert(ledger_version).values(only_row=1, version=1))
            else:
                connection.execute(update(ledger_version).values(version=step.version))
    require_current(read_version(connection), migrations)
