"""The tables of accounts and jobs, and the steps that bring older ones up to date.

Times are seconds since 1970. Of tokens and cookies there are only hashes and verifiers, so that
whoever reads a backup cannot act for anybody.
"""

from __future__ import annotations

from sqlalchemy import (
    REAL,
    BigInteger,
    CheckConstraint,
    Column,
    Connection,
    Double,
    ForeignKey,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    bindparam,
    func,
    inspect,
    text,
)
from sqlalchemy.schema import SchemaItem

from eke.errors import ServiceError

VERSION = 3
# Sixty-four bits everywhere, by the names that a strict table of SQLite knows.
_NUMBER: Double[float] = Double().with_variant(REAL(), "sqlite")
_WHOLE = BigInteger().with_variant(Integer(), "sqlite")
# Version 2 had no verifiers and no settings. Version 1 was a file; it had a table of jobs only if a
# server was ever started on it, without:
_SECOND = (
    "ALTER TABLE job ADD COLUMN owner TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE job ADD COLUMN alive_at REAL NOT NULL DEFAULT 0",
    "ALTER TABLE job ADD COLUMN unwanted INTEGER NOT NULL DEFAULT 0",
)

#: What a statement may say that tables and columns have no method for.
coalesce = func.coalesce
given = bindparam


class StorageTables:
    """The tables in one place, with names that begin with a prefix where there may be others."""

    def __init__(self, schema: str | None = None, prefix: str = "") -> None:
        self.metadata = MetaData(schema=schema)

        def table(name: str, *parts: SchemaItem) -> Table:
            return Table(prefix + name, self.metadata, *parts, sqlite_strict=True)

        self.account = table(
            "account",
            Column("name", Text, primary_key=True),
            Column("role", Text, nullable=False),
            Column("datasets", Text),
            CheckConstraint("role IN ('curator', 'analyst', 'auditor')"),
        )
        self.token = table(
            "token",
            Column("identity", Text, primary_key=True),
            Column("account", Text, ForeignKey(self.account.c.name), nullable=False),
            Column("hash", Text, nullable=False),
            Column("made_at", _NUMBER, nullable=False),
            Column("expires_at", _NUMBER),
            Column("revoked_at", _NUMBER),
        )
        self.verifier = table(
            "verifier",
            Column("token", Text, ForeignKey(self.token.c.identity), primary_key=True),
            Column("scram", Text, nullable=False),
        )
        self.setting = table(
            "setting",
            Column("account", Text, ForeignKey(self.account.c.name), primary_key=True),
            Column("name", Text, primary_key=True),
            Column("value", Text, nullable=False),
        )
        self.browser = table(
            "browser",
            Column("hash", Text, primary_key=True),
            Column("token", Text, ForeignKey(self.token.c.identity), nullable=False),
            Column("csrf", Text, nullable=False),
            Column("expires_at", _NUMBER, nullable=False),
        )
        self.job = table(
            "job",
            Column("id", Text, primary_key=True),
            *(Column(name, Text, nullable=False) for name in ("dataset", "account", "request_key")),
            *(Column(name, Text, nullable=False) for name in ("request", "state", "step")),
            Column("progress", _NUMBER, nullable=False),
            Column("made_at", _NUMBER, nullable=False),
            Column("ended_at", _NUMBER),
            Column("error", Text),
            Column("result", _WHOLE),
            # Which server works on it, when that was last seen to live, whether it is taken back.
            Column("owner", Text, nullable=False, server_default=""),
            Column("alive_at", _NUMBER, nullable=False, server_default=text("0")),
            Column("unwanted", _WHOLE, nullable=False, server_default=text("0")),
            UniqueConstraint("dataset", "account", "request_key"),
        )

    def bring_up_to_date(self, connection: Connection, version: int, place: str) -> None:
        """Make what is not there, in the caller's transaction; another may have been faster."""
        if is_current(version, place):
            return
        if version == 1 and inspect(connection).has_table(self.job.name):
            for statement in _SECOND:
                connection.execute(text(statement))
        # Where nothing of ours is, tables of these names are somebody else's: an error.
        self.metadata.create_all(connection, checkfirst=version > 0)


def is_current(version: int, place: str) -> bool:
    """Whether tables of this version need no change; an error for one that is not known."""
    if not 0 <= version <= VERSION:
        raise ServiceError(
            f"the accounts in {place} were made by another version of eke; upgrade this one, or "
            "choose another place"
        )
    return version == VERSION
