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
from collections.abc import Callable, Mapping

from eke.errors import ServiceError
from eke.service.account import Account, Caller, Role, TokenRecord
from eke.service.scram import Verifier
from eke.service.storage import Change, Row, coalesce, given, open_storage
from eke.service.token import Token, hashed, new_token, read_token, same


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
        tables = self.storage.tables
        self._account, self._token, self._browser = tables.account, tables.token, tables.browser
        self._verifier, self._setting = tables.verifier, tables.setting
        # Every request runs one of these: they are made once, and the value is put in.
        token, browser, held = self._token.c, self._browser.c, self._token.join(self._account)
        who = (*self._account.c, token.identity, token.made_at, token.expires_at, token.revoked_at)
        self._by_token = (
            held.select()
            .with_only_columns(*who, token.hash)
            .where(token.identity == given("identity"))
        )
        self._by_cookie = (
            held.join(self._browser)
            .select()
            .with_only_columns(*who, browser.csrf, browser.expires_at)
            .where(browser.hash == given("hash"))
        )

    # -- managing ------------------------------------------------------------------------------

    def add(self, account: Account) -> None:
        """A new account; a name is given once."""
        with self._writing() as run:
            added = run(self._adding(account))
        if not added:
            raise ServiceError(f"there is an account {account.name!r} already")

    def accounts(self) -> list[Account]:
        rows = self._read(self._account.select().order_by(self._account.c.name))
        return [_account(*row) for row in rows]

    def find(self, name: str) -> Account | None:
        rows = self._read(self._account.select().where(self._account.c.name == name))
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
            row = {"identity": token.identity, "account": name, "hash": token.hash, "made_at": now}
            run(self._token.insert().values(**row, expires_at=expires))
            scram = Verifier.of(name, token.text).to_text()
            run(self._verifier.insert().values(token=token.identity, scram=scram))
        return token

    def tokens(self) -> list[TokenRecord]:
        token = self._token.c
        columns = (token.identity, token.account, token.made_at, token.expires_at, token.revoked_at)
        statement = self._token.select().with_only_columns(*columns)
        rows = self._read(statement.order_by(token.account, token.made_at))
        return [TokenRecord(*row) for row in rows]

    def holder(self, identity: str) -> Account | None:
        """Whose token this id belongs to, valid or not."""
        rows = self._read(self._by_token, identity=identity)
        return _account(*rows[0][:3]) if rows else None

    def revoke(self, identity: str) -> None:
        """End a token and the browser sessions that began with it; at once, for good."""
        token, browser = self._token, self._browser
        with self._writing() as run:
            changed = run(
                token.update()
                .where(token.c.identity == identity)
                .values(revoked_at=coalesce(token.c.revoked_at, self._clock()))
            )
            run(browser.delete().where(browser.c.token == identity))
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
        tables = other.storage.tables
        theirs = other.storage.read(tables.token.select())
        more = {
            mine: other.storage.read(their.select())
            for mine, their in ((self._verifier, tables.verifier), (self._setting, tables.setting))
        }
        known = {token.identity for token in self.tokens()}
        token = self._token
        with self._writing() as run:
            for account in there:
                run(self._adding(account))
            for row in theirs:
                new = self.storage.insert(token).values(row)
                ends = {"revoked_at": coalesce(token.c.revoked_at, new.excluded.revoked_at)}
                run(new.on_conflict_do_update(index_elements=["identity"], set_=ends))
            for table, rows in more.items():
                for row in rows:
                    run(self.storage.insert(table).values(row).on_conflict_do_nothing())
        people = sum(account.name not in here for account in there)
        return people, sum(row[0] not in known for row in theirs)

    def settings(self, name: str) -> dict[str, str]:
        """What an account's connections of PostgreSQL's protocol begin with."""
        return self.all_settings().get(name, {})

    def all_settings(self) -> dict[str, dict[str, str]]:
        """The same of every account that has any."""
        settings: dict[str, dict[str, str]] = {}
        statement = self._setting.select().order_by(self._setting.c.name)
        for account, name, value in self._read(statement):
            settings.setdefault(account, {})[name] = value
        return settings

    def change_settings(self, name: str, settings: Mapping[str, str]) -> None:
        """Replace them, all at once; what makes no sense is refused, and changes nothing."""
        from eke.service.answer_setting import checked_setting  # noqa: PLC0415 - slow to load

        if self.find(name) is None:
            raise ServiceError(f"there is no account {name!r}; add it first")
        checked = {key: checked_setting(key, value) for key, value in settings.items()}
        with self._writing() as run:
            run(self._setting.delete().where(self._setting.c.account == name))
            for key, value in checked.items():
                run(self._setting.insert().values(account=name, name=key, value=value))

    # -- recognising ---------------------------------------------------------------------------

    def by_token(self, text: str) -> Caller | None:
        """Who holds this token; None when it is malformed, unknown, expired or revoked."""
        token = read_token(text)
        if token is None:
            return None
        rows = self._read(self._by_token, identity=token.identity)
        if not rows:
            return None
        *_, stored_hash = rows[0]
        return self._alive(rows[0]) if same(stored_hash, token.hash) else None

    def by_identity(self, identity: str) -> Caller | None:
        """Who holds the token of this id, proved before; None when it has ended since."""
        rows = self._read(self._by_token, identity=identity)
        return self._alive(rows[0]) if rows else None

    def _alive(self, row: Row) -> Caller | None:
        name, role, datasets, identity, made, expires, revoked, _ = row
        record = TokenRecord(identity, name, made, expires, revoked)
        alive = record.alive(self._clock())
        return Caller(_account(name, role, datasets), identity) if alive else None

    def verifiers(self, name: str) -> dict[str, Verifier | None]:
        """Of the valid tokens of an account, by id; None for one made before there were any."""
        token = self._token.c
        columns = (token.identity, token.made_at, token.expires_at, token.revoked_at)
        statement = (
            self._token.outerjoin(self._verifier)
            .select()
            .with_only_columns(*columns, self._verifier.c.scram)
            .where(token.account == name)
        )
        now = self._clock()
        return {
            identity: None if scram is None else Verifier.from_text(scram)
            for identity, made, expires, revoked, scram in self._read(statement)
            if TokenRecord(identity, name, made, expires, revoked).alive(now)
        }

    def sign_in(self, caller: Caller, hours: float) -> tuple[str, str]:
        """(cookie, CSRF token) of a new browser session of this caller."""
        cookie, csrf, now = secrets.token_urlsafe(32), secrets.token_urlsafe(32), self._clock()
        browser = self._browser
        with self._writing() as run:
            run(browser.delete().where(browser.c.expires_at <= now))
            ends = now + hours * 3600.0
            signed_in = {
                "hash": hashed(cookie),
                "token": caller.token,
                "csrf": csrf,
                "expires_at": ends,
            }
            run(browser.insert().values(signed_in))
        return cookie, csrf

    def by_cookie(self, cookie: str) -> Caller | None:
        """Whose browser this is; None when the session or its token has ended."""
        rows = self._read(self._by_cookie, hash=hashed(cookie))
        if not rows:
            return None
        name, role, datasets, identity, made, expires, revoked, csrf, ends = rows[0]
        now = self._clock()
        if now >= ends or not TokenRecord(identity, name, made, expires, revoked).alive(now):
            return None
        return Caller(_account(name, role, datasets), identity, csrf=csrf)

    def sign_out(self, cookie: str) -> None:
        browser = self._browser
        with self._writing() as run:
            run(browser.delete().where(browser.c.hash == hashed(cookie)))

    def close(self) -> None:
        self.storage.close()

    def _adding(self, account: Account) -> Change:
        listed = None if account.datasets is None else json.dumps(account.datasets)
        row = {"name": account.name, "role": account.role, "datasets": listed}
        new = self.storage.insert(self._account).values(row)
        return new.on_conflict_do_nothing(index_elements=["name"])


def _account(name: str, role: Role, datasets: str | None) -> Account:
    return Account(name, role, None if datasets is None else tuple(json.loads(datasets)))
