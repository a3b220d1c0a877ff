"""Looking at a ledger file: verified, and read without SQLAlchemy or anything else that is slow.

For commands that only show what a ledger says. Whoever charges opens a `Ledger`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from eke.errors import LedgerError
from eke.ledger.chain import Link
from eke.ledger.entry import Balance, Entry, StoredRequest
from eke.ledger.replay import ChainState, read_about, read_entry, the_account
from eke.ledger.sqlite_file import connect_sqlite
from eke.ledger.verify import verify

VERSION = 1
"""The version of the tables that is read here: the newest of `migrate.py`."""


@dataclass(frozen=True, slots=True)
class Look:
    """What a ledger said at one moment."""

    balance: Balance
    entries: tuple[Entry, ...]  # without their payloads
    _links: tuple[Link, ...]

    def hash_of(self, sequence: int) -> str | None:
        """The hash of one entry; None when there is none."""
        return self._links[sequence - 1].hash if 0 < sequence <= len(self._links) else None

    def text(self, sequence: int) -> str:
        """One entry's document as it is stored."""
        return self._links[sequence - 1].document

    def whole(self, sequence: int) -> Entry:
        """One entry with its payload."""
        return read_entry(self._links[sequence - 1])


def look(path: Path) -> Look:
    """What a ledger file says; `LedgerError` when it cannot be read here, or is not intact.

    Privacy: every row is checked as by `Ledger.open`, but for payloads: they must have the hash
    that their entry has, and are not read before somebody asks for one. Nothing is charged or
    released on the strength of this.
    """
    try:
        with closing(connect_sqlite(path)) as connection:
            connection.execute("BEGIN")
            (version,) = connection.execute("SELECT version FROM ledger_version").fetchone()
            if version != VERSION:
                raise LedgerError(f"{path} has ledger version {version}, not {VERSION}; open it")
            stored = _File(connection)
            report, state = verify(stored, (), stored.kept)
            report.require()
    except (sqlite3.Error, TypeError) as error:
        raise LedgerError(f"{path} cannot be looked at; open it to be told why") from error
    return Look(state.balance(), tuple(stored.entries), tuple(stored.read))


class _File:
    """The tables of a ledger file as they stand, and what was read of them."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self.read: list[Link] = []
        self.entries: list[Entry] = []

    def kept(self, link: Link) -> Entry:
        """The entry of a row without its payload; both are kept."""
        entry = read_about(link)
        self.read.append(link)
        self.entries.append(entry)
        return entry

    def links(self) -> Generator[Link, None, None]:
        yield from (Link(*row) for row in self._connection.execute(_LINKS))

    def account(self) -> ChainState:
        return the_account(self._connection.execute(_ACCOUNT).fetchall())

    def private(self) -> list[object]:
        return [text for (text,) in self._connection.execute("SELECT document FROM private")]

    def requests(self) -> Iterator[StoredRequest]:
        return (StoredRequest(*row) for row in self._connection.execute(_REQUESTS))


_LINKS = "SELECT sequence, kind, at, document, closes, hash FROM entry ORDER BY sequence"
_ACCOUNT = "SELECT head_sequence, head_hash, spent, spending_limit FROM account"
_REQUESTS = "SELECT analyst, request_key, digest, state, sequence, closed_by, answer FROM request"
