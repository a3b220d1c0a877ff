"""Access: accounts, hashes of their tokens and browser sessions, in a file or in PostgreSQL.

They belong to a server, or to several that share them, not to a dataset: one account asks several
datasets, and tokens come and go while a dataset's ledger only grows. What limits spending is not
here: caps are entries of the ledger, so that every server obeys them. Nothing is remembered between
requests: what `eke token` or another server changes is seen at the next one.
"""

from __future__ import annotations

import json
import os
import secrets
import time
from collections.abc import Callable

from eke.errors import ServiceError
from eke.service.account import Account, Caller, Role, TokenRecord
from eke.service.storage import Run, open_storage
from eke.service.token import Token, hashed, new_token, read_token, same

_HOLDER = "a.name, a.role, a.datasets, t.identity, t.expires_at, t.revoked_at, t.made_at"
_BY_TOKEN = (
    f"SELECT {_HOLDER}, t.hash FROM token t JOIN account a ON a.name = t.account "  # noqa: S608
    "WHERE t.identity = ?"
)
_BY_COOKIE = (
    f"SELECT {_HOLDER}, b.csrf, b.expires_at FROM browser b "  # noqa: S608
    "JOIN token t ON t.identity = b.token JOIN account a ON a.name = t.account WHERE b.hash = ?"
)


class Access:
    """The accounts of a server, or of several. Threads may share it."""

    def __init__(
        self, where: str | os.PathLike[str] | None, clock: Callable[[], float] = time.time
    ) -> None:
        """A file or a PostgreSQL URL; without one they last as long as the object."""
        self.storage = open_storage(where)
        self._read = self.storage.read
        self._writing = self.storage.writing
        self._clock = clock

    # -- managing ------------------------------------------------------------------------------

    def add(self, account: Account) -> None:
        """A new account; a name is given once."""
        with self._writing() as run:
            added = _insert(run, account)
        if not added:
            raise ServiceError(f"there is an account {account.name!r} already")

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
                *(token.identity, name, token.hash, now, expires),
            )
        return token

    def tokens(self) -> list[TokenRecord]:
        rows = self._read(
            "SELECT identity, account, made_at, expires_at, revoked_at FROM token "
            "ORDER BY account, made_at"
        )
        return [TokenRecord(*row) for row in rows]

    def holder(self, identity: str) -> Account | None:
        """Whose token this id belongs to, valid or not."""
        rows = self._read(
            "SELECT a.name, a.role, a.datasets FROM token t JOIN account a ON a.name = t.account "
            "WHERE t.identity = ?",
            identity,
        )
        return _account(*rows[0]) if rows else None

    def revoke(self, identity: str) -> None:
        """End a token and the browser sessions that began with it; at once, for good."""
        with self._writing() as run:
            changed = run(
                "UPDATE token SET revoked_at = coalesce(revoked_at, ?) WHERE identity = ?",
                *(self._clock(), identity),
            )
            run("DELETE FROM browser WHERE token = ?", identity)
            if changed != 1:
                raise ServiceError("there is no such token; `eke token list` shows their ids")

    def copy_from(self, other: Access) -> tuple[int, int]:
        """How many accounts and tokens of another place are here now that were not before.

        Tokens stay valid, and revoked ones revoked; browsers have to sign in again. Two accounts
        of one name and different rights are refused, and then nothing is copied.
        """
        here = {account.name: account for account in self.accounts()}
        there = other.accounts()
        for account in there:
            if here.get(account.name, account) != account:
                raise ServiceError(
                    f"{account.name} has another role or other datasets here; nothing was copied"
                )
        kept = other.storage.read(
            "SELECT identity, account, hash, made_at, expires_at, revoked_at FROM token"
        )
        known = {token.identity for token in self.tokens()}
        with self._writing() as run:
            for account in there:
                _insert(run, account)
            for row in kept:
                run(
                    "INSERT INTO token AS t VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (identity) "
                    "DO UPDATE SET revoked_at = coalesce(t.revoked_at, excluded.revoked_at)",
                    *row,
                )
        people = sum(account.name not in here for account in there)
        return people, sum(row[0] not in known for row in kept)

    # -- recognising ---------------------------------------------------------------------------

    def by_token(self, text: str) -> Caller | None:
        """Who holds this token; None when it is malformed, unknown, expired or revoked."""
        token = read_token(text)
        if token is None:
            return None
        rows = self._read(_BY_TOKEN, token.identity)
        if not rows:
            return None
        name, role, datasets, identity, expires, revoked, made, kept = rows[0]
        record = TokenRecord(identity, name, made, expires, revoked)
        if not same(kept, token.hash) or not record.alive(self._clock()):
            return None
        return Caller(_account(name, role, datasets), identity)

    def sign_in(self, caller: Caller, hours: float) -> tuple[str, str]:
        """(cookie, CSRF token) of a new browser session of this caller."""
        cookie, csrf, now = secrets.token_urlsafe(32), secrets.token_urlsafe(32), self._clock()
        with self._writing() as run:
            run("DELETE FROM browser WHERE expires_at <= ?", now)
            run(
                "INSERT INTO browser VALUES (?, ?, ?, ?)",
                *(hashed(cookie), caller.token, csrf, now + hours * 3600.0),
            )
        return cookie, csrf

    def by_cookie(self, cookie: str) -> Caller | None:
        """Whose browser this is; None when the session or its token has ended."""
        rows = self._read(_BY_COOKIE, hashed(cookie))
        if not rows:
            return None
        name, role, datasets, identity, expires, revoked, made, csrf, ends = rows[0]
        now = self._clock()
        if now >= ends or not TokenRecord(identity, name, made, expires, revoked).alive(now):
            return None
        return Caller(_account(name, role, datasets), identity, csrf=csrf)

    def sign_out(self, cookie: str) -> None:
        with self._writing() as run:
            run("DELETE FROM browser WHERE hash = ?", hashed(cookie))

    def close(self) -> None:
        self.storage.close()


def _insert(run: Run, account: Account) -> int:
    listed = None if account.datasets is None else json.dumps(account.datasets)
    return run(
        "INSERT INTO account VALUES (?, ?, ?) ON CONFLICT (name) DO NOTHING",
        *(account.name, account.role, listed),
    )


def _account(name: str, role: Role, datasets: str | None) -> Account:
    return Account(name, role, None if datasets is None else tuple(json.loads(datasets)))
