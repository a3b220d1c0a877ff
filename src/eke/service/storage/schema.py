"""The tables of accounts and jobs, as numbered steps from an empty place to today's.

A step is frozen once released. Times are seconds since 1970. Of tokens and cookies there are only
hashes, so that whoever reads a backup cannot act for anybody.
"""

from __future__ import annotations

from eke.errors import ServiceError

STEPS: tuple[tuple[str, ...], ...] = (
    (
        """CREATE TABLE account (
            name TEXT PRIMARY KEY, role TEXT NOT NULL, datasets TEXT,
            CHECK (role IN ('curator', 'analyst', 'auditor'))
        ) STRICT""",
        """CREATE TABLE token (
            identity TEXT PRIMARY KEY, account TEXT NOT NULL REFERENCES account(name),
            hash TEXT NOT NULL, made_at REAL NOT NULL, expires_at REAL, revoked_at REAL
        ) STRICT""",
        """CREATE TABLE browser (
            hash TEXT PRIMARY KEY, token TEXT NOT NULL REFERENCES token(identity),
            csrf TEXT NOT NULL, expires_at REAL NOT NULL
        ) STRICT""",
    ),
    (
        # A file of version 1 has this table if a server was ever started on it.
        """CREATE TABLE IF NOT EXISTS job (
            id TEXT PRIMARY KEY, dataset TEXT NOT NULL, account TEXT NOT NULL,
            request_key TEXT NOT NULL, request TEXT NOT NULL, state TEXT NOT NULL,
            step TEXT NOT NULL, progress REAL NOT NULL, made_at REAL NOT NULL, ended_at REAL,
            error TEXT, result INTEGER, UNIQUE (dataset, account, request_key)
        ) STRICT""",
        # Which server works on it, when that was last seen to live, and whether it is taken back.
        "ALTER TABLE job ADD COLUMN owner TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE job ADD COLUMN alive_at REAL NOT NULL DEFAULT 0",
        "ALTER TABLE job ADD COLUMN unwanted INTEGER NOT NULL DEFAULT 0",
    ),
)
TABLES = ("account", "token", "browser", "job")
VERSION = len(STEPS)


def missing_steps(version: int, place: str) -> tuple[str, ...]:
    """The statements that lead from a version to today's; an error for one that is not known."""
    if not 0 <= version <= VERSION:
        raise ServiceError(
            f"the accounts in {place} were made by another version of eke; upgrade this one, or "
            "choose another place"
        )
    return tuple(statement for step in STEPS[version:] for statement in step)
