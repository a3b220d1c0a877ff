"""Access: accounts, hashes of their tokens and browser sessions, in one small SQLite file.

The file belongs to a server, not to a dataset: one account asks several datasets, and tokens come
and go while a dataset's ledger only grows. What limits spending is not here: caps are entries of
the ledger, so that every server obeys them. Changes by `eke token` are seen at the next request.
"""

from __future__ import annotations

import json
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from eke.errors import ServiceError
from eke.service.account import Account, Caller, Role, TokenRecord
from eke.service.token import Token, hashed, new_token, read_token, same

_TABLES = """
CREATE TABLE IF NOT EXISTS account (
    name TEXT PRIMARY KEY, role TEXT NOT NULL, datasets TEXT,
    CHECK (role IN ('curator', 'analyst', 'auditor'))
) STRICT;
CREATE TABLE IF NOT EXISTS token (
    identity TEXT PRIMARY KEY, account TEXT NOT NULL REFERENCES account(name),
    hash TEXT NOT NULL, made_at REAL NOT NULL, expires_at REAL, revoked_at REAL
) STRICT;
CREATE TABLE IF NOT EXISTS browser (
    hash TEXT PRIMARY KEY, token TEXT NOT NULL REFERENCES token(identity),
    csrf TEXT NOT NULL, expires_at REAL NOT NULL
) STRICT;
"""
_VERSION = 1
_CALLER = """
SELECT a.name, a.role, a.datasets, t.identity, t.hash, t.expires_at, t.revoked_at, t.made_at
FROM token t JOIN account a ON a.name = t.account WHERE t.identity = ?
"""


class Access:
    """The accounts of a server. Threads may share it."""

    def __init__(self, path: Path | None, clock: Callable[[], float] = time.time) -> None:
        """Without a path the accounts last as long as the object."""
        self.path = path
        self._lock = threading.Lock()
        self._clock = clock
        if path is not None and not path.exists():
            path.touch(mode=0o600)  # SQLite gives its journals the same mode
        self._connection = sqlite3.connect(
            ":memory:" if path is None else path, check_same_thread=False, isolation_level=None
        )
        try:
            self._prepare()
        except sqlite3.DatabaseError as error:
            self._connection.close()
            raise ServiceError(f"{path} holds no accounts of eke; choose another file") from error

    def _prepare(self) -> None:
        run = self._connection.execute
        run("PRAGMA busy_timeout = 5000")
        run("PRAGMA journal_mode = WAL")
        run("PRAGMA synchronous = FULL")  # a revocation must not be lost
        run("PRAGMA foreign_keys = ON")
        (found,) = run("PRAGMA user_version").fetchone()
        if found not in (0, _VERSION):
            raise ServiceError("the file of accounts was made by another version of eke")
        if found == 0:
            self._connection.executescript(f"BEGIN; {_TABLES} PRAGMA user_version = 1; COMMIT;")

    # -- managing ------------------------------------------------------------------------------

    def add(self, account: Account) -> None:
        """A new account; a name is given once."""
        listed = None if account.datasets is None else json.dumps(account.datasets)
        try:
            with self._writing() as run:
                run(
                    "INSERT INTO account VALUES (?, ?, ?)",
                    (account.name, account.role, listed),
                )
        except sqlite3.IntegrityError:
            raise ServiceError(f"there is an account {account.name!r} already") from None

    def accounts(self) -> list[Account]:
        rows = self._read("SELECT name, role, datasets FROM account ORDER BY name")
        return [_account(*row) for row in rows]

    def find(self, name: str) -> Account | None:
        rows = self._read("SELECT name, role, datasets FROM account WHERE name = ?", name)
        return _account(*rows[0]) if rows else None

    def new_token(self, name: str, days: float | None = None) -> Token:
        """A token for an account; show its text now, for only the hash is kept."""
        if self.find(name) is None:
            raise ServiceError(f"there is no account {name!r}; add it first")
        if days is not None and not 0.0 < days <= 36_500.0:
            raise ServiceError("a token is valid for a positive number of days")
        token, now = new_token(), self._clock()
        expires = None if days is None else now + days * 86_400.0
        with self._writing() as run:
            run(
                "INSERT INTO token VALUES (?, ?, ?, ?, ?, NULL)",
                (token.identity, name, token.hash, now, expires),
            )
        return token

    def tokens(self) -> list[TokenRecord]:
        rows = self._read(
            "SELECT identity, account, made_at, expires_at, revoked_at FROM token "
            "ORDER BY account, made_at"
        )
        return [TokenRecord(*row) for row in rows]

    def revoke(self, identity: str) -> None:
        """End a token and the browser sessions that began with it; at once, for good."""
        with self._writing() as run:
            changed = run(
                "UPDATE token SET revoked_at = coalesce(revoked_at, ?) WHERE identity = ?",
                (self._clock(), identity),
            )
            run("DELETE FROM browser WHERE token = ?", (identity,))
            if changed.rowcount != 1:
                raise ServiceError("there is no such token; `eke token list` shows their ids")

    # -- recognising ---------------------------------------------------------------------------

    def by_token(self, text: str) -> Caller | None:
        """Who holds this token; None when it is malformed, unknown, expired or revoked."""
        token = read_token(text)
        if token is None:
            return None
        rows = self._read(_CALLER, token.identity)
        if not rows:
            return None
        name, role, datasets, identity, kept, expires, revoked, made = rows[0]
        record = TokenRecord(identity, name, made, expires, revoked)
        if not same(kept, token.hash) or not record.alive(self._clock()):
            return None
        return Caller(_account(name, role, datasets), identity)

    def sign_in(self, caller: Caller, hours: float) -> tuple[str, str]:
        """(cookie, CSRF token) of a new browser session of this caller."""
        cookie, csrf, now = secrets.token_urlsafe(32), secrets.token_urlsafe(32), self._clock()
        with self._writing() as run:
            run("DELETE FROM browser WHERE expires_at <= ?", (now,))
            run(
                "INSERT INTO browser VALUES (?, ?, ?, ?)",
                (hashed(cookie), caller.token, csrf, now + hours * 3600.0),
            )
        return cookie, csrf

    def by_cookie(self, cookie: str) -> Caller | None:
        """Whose browser this is; None when the session or its token has ended."""
        rows = self._read(
            "SELECT token, csrf, expires_at FROM browser WHERE hash = ?", hashed(cookie)
        )
        if not rows or self._clock() >= rows[0][2]:
            return None
        found = self._read(_CALLER, rows[0][0])
        name, role, datasets, identity, _, expires, revoked, made = found[0]
        if not TokenRecord(identity, name, made, expires, revoked).alive(self._clock()):
            return None
        return Caller(_account(name, role, datasets), identity, csrf=rows[0][1])

    def sign_out(self, cookie: str) -> None:
        with self._writing() as run:
            run("DELETE FROM browser WHERE hash = ?", (hashed(cookie),))

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    # -- inside --------------------------------------------------------------------------------

    def _read(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        with self._lock:
            return self._connection.execute(statement, values).fetchall()

    @contextmanager
    def _writing(self) -> Iterator[Callable[..., sqlite3.Cursor]]:
        with self._lock:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection.execute
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")


def _account(name: str, role: Role, datasets: str | None) -> Account:
    return Account(name, role, None if datasets is None else tuple(json.loads(datasets)))
