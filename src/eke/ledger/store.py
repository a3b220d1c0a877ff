"""The durable, append-only, hash-chained ledger; `book.py` adds to it, `verify.py` checks it."""

from __future__ import annotations

import os
import secrets
import weakref
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import Connection, Engine, insert
from sqlalchemy.exc import SQLAlchemyError

from eke.errors import LedgerError, LedgerTampered
from eke.ledger import dialect, migrate, schema, sqlite_file
from eke.ledger.book import Book
from eke.ledger.chain import Link, answer_digest, canonical_text, entry_hash
from eke.ledger.entry import GENESIS, Balance, Entry, HighWaterMark, StoredRequest, Verification
from eke.ledger.failpoint import failpoint
from eke.ledger.fork import dismiss, enlist, require_owner
from eke.ledger.postgresql import Server, claim_schema, require_durable
from eke.ledger.private import seal, unseal
from eke.ledger.queue import turn
from eke.ledger.reading import (
    StoredTables,
    account_state,
    extend,
    find_request,
    hash_at,
    private_texts,
    read_entries,
    read_one,
)
from eke.ledger.replay import ChainState, advance, read_about
from eke.ledger.required import require_amount
from eke.ledger.verify import verify


class Ledger:
    """One dataset's record of everything charged and released, shared by all its processes.

    Made by `Ledger.create` or `Ledger.open`. Threads and forked children may use the same object:
    between calls it holds the last head it has seen, and connections only to a server.
    """

    def __init__(self, place: dialect.File | Server, engine: Engine) -> None:
        self._place = place
        self._engine = engine
        self._process = os.getpid()
        self._seen = ChainState()
        self._quiet: tuple[tuple[int, ...], int] | None = None  # a stamp, and the head under it
        self._genesis: Entry | None = None
        weakref.finalize(self, _hang_up, engine, self._process)

    @classmethod
    def create(
        cls,
        where: str | os.PathLike[str],
        document: Mapping[str, object],
        limit: int,
        private: Mapping[str, object] | None = None,
    ) -> Ledger:
        """A new ledger whose first entry holds the document and the limit (nano-units).

        Privacy: `private` is kept beside the chain, which holds only its salted hash: an exported
        chain can be verified without it, and cannot be used to guess it.
        """
        require_amount(limit, "limit")
        canonical_text(dict(document))  # refused before anything is created
        sealed = seal({} if private is None else private)
        place = dialect.locate(where)
        ledger = cls(place, dialect.connect_engine(place))
        if isinstance(place, dialect.File):
            dialect.claim_file(place)
            failpoint("ledger.create.claimed")
        try:
            with ledger._transaction(write=True) as connection:
                ledger._claim(connection)
                _require_empty(migrate.stored_version(connection), place)
                migrate.bring_up_to_date(connection, migrate.MIGRATIONS)
                state, genesis = _write_genesis(connection, document, limit, sealed)
                failpoint("ledger.create.written")
        except LedgerError:
            if isinstance(place, dialect.File):
                dialect.discard_file(place)  # ours: claimed above
            raise
        if isinstance(place, dialect.File):
            dialect.sync_folder(place)
        ledger._seen, ledger._genesis = state, genesis
        return ledger

    @classmethod
    def open(cls, where: str | os.PathLike[str], mark: HighWaterMark | None = None) -> Ledger:
        """An existing ledger, brought up to date and verified from its first entry to its last.

        Privacy: `LedgerTampered` when any row was edited, or when the mark is not on the chain.
        Payloads must have the hash that their entry has, and are read when somebody asks for them.
        """
        place = dialect.locate(where)
        if isinstance(place, dialect.File) and not place.path.is_file():
            raise LedgerError(f"there is no ledger at {place}; check the path, or create one")
        ledger = cls(place, dialect.connect_engine(place))
        with ledger._transaction(write=False) as connection:
            version = migrate.stored_version(connection)
            if isinstance(place, Server):
                require_durable(connection, place)
        if version == 0:
            raise LedgerError(
                f"{place} holds no ledger; check the address, or create it (after a creation that "
                "was interrupted, delete the file first)"
            )
        if version < migrate.MIGRATIONS[-1].version:
            with ledger._transaction(write=True) as connection:
                ledger._claim(connection)
                migrate.bring_up_to_date(connection, migrate.MIGRATIONS)
        else:
            migrate.require_current(version, migrate.MIGRATIONS)
        with ledger._transaction(write=False) as connection:
            marks = () if mark is None else (mark,)
            report, state = verify(StoredTables(connection), marks, read_about)
            report.require()
            ledger._genesis = read_one(connection, 1)
        ledger._seen = state
        return ledger

    @property
    def place(self) -> str:
        """The path or address of the ledger, without a password."""
        return str(self._place)

    @property
    def document(self) -> dict[str, object]:
        """The document given at creation."""
        return dict(self._first().payload)

    @property
    def private(self) -> dict[str, object]:
        """The private document given at creation; it is not part of the chain."""
        with self._reading() as connection:
            return unseal(private_texts(connection), self._first())

    @property
    def identity(self) -> str:
        """A random name given at creation, the same in every copy of this ledger."""
        return str(self._first().about["identity"])

    @property
    def limit(self) -> int:
        """Nano-units that may be spent in all."""
        return self.balance().limit

    def balance(self) -> Balance:
        """Limit, loss and head as they are now."""
        with self._reading():
            return self._seen.balance()

    def mark(self) -> HighWaterMark:
        """The head as a high-water mark, to be kept where the ledger is not."""
        with self._reading():
            return _mark(self._seen)

    def entries(self, after: int = 0) -> list[Entry]:
        """The entries after a sequence number, in order.

        A file that has the same stamp as before it was read last holds no more than it did then;
        charges never rely on this, for they are made in `exclusive`, which always reads.
        """
        stamp = dialect.stamp_of(self._place)
        if stamp is not None and self._quiet == (stamp, after):
            return []
        with self._reading() as connection:
            entries = [] if after >= self._seen.sequence else read_entries(connection, after)
        head = entries[-1].sequence if entries else after
        self._quiet = None if stamp is None else (stamp, head)
        return entries

    def hash_of(self, sequence: int) -> str | None:
        """The hash of one entry; None when there is none."""
        with self._reading() as connection:
            return hash_at(connection, sequence)

    def beside(self, ending: str) -> Path | None:
        """The path of a file beside the ledger's that is called like it; None on a server."""
        if isinstance(self._place, Server):
            return None
        return self._place.path.with_name(self._place.path.name + ending)

    def find(self, analyst: str, key: str, digest: str | None = None) -> StoredRequest | None:
        """What is stored under an analyst's key, without taking the write lock; see `Book.find`."""
        with self._reading() as connection:
            return find_request(connection, analyst, key, digest)

    def verify(self, mark: HighWaterMark | None = None) -> Verification:
        """What is wrong with the ledger, if anything; the last head seen here is a mark, too."""
        marks = [_mark(self._seen), *([] if mark is None else [mark])]
        try:
            with self._transaction(write=False) as connection:
                migrate.require_current(migrate.read_version(connection), migrate.MIGRATIONS)
                return verify(StoredTables(connection), marks)[0]
        except LedgerTampered as error:  # so damaged that it cannot even be read
            return Verification((str(error),), 0, 0, 0, ChainState().hash, ())

    @contextmanager
    def exclusive(self) -> Iterator[Book]:
        """The book of one write transaction: kept when the block ends, undone when it raises.

        Privacy: nothing may be released, and no data touched, on the strength of what was written
        here before the block has ended without an error.
        """
        known = self._seen
        with self._transaction(write=True) as connection:
            book = Book(connection, self._catch_up(connection, known, lock=True))
            failpoint("ledger.begun")
            yield book
            book.finish()
            failpoint("ledger.before_commit")
        failpoint("ledger.after_commit")
        self._remember_head(book.state)

    def _claim(self, connection: Connection) -> None:
        """Before tables are built: nobody else builds them, and the server is a durable one."""
        if isinstance(self._place, Server):
            require_durable(connection, self._place)
            claim_schema(connection, self._place)

    def _first(self) -> Entry:
        if self._genesis is None:
            raise LedgerError("use Ledger.create or Ledger.open to get a ledger")
        return self._genesis

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        # Taken before the snapshot: another thread may see more while this one reads.
        known = self._seen
        with self._transaction(write=False) as connection:
            self._remember_head(self._catch_up(connection, known, lock=False))
            yield connection

    def _catch_up(self, connection: Connection, known: ChainState, *, lock: bool) -> ChainState:
        claimed = account_state(connection, lock=lock)
        migrate.require_current(migrate.read_version(connection), migrate.MIGRATIONS)
        return extend(connection, known, claimed)

    def _remember_head(self, state: ChainState) -> None:
        if state.sequence > self._seen.sequence:
            self._seen = state

    @contextmanager
    def _transaction(self, *, write: bool) -> Iterator[Connection]:
        owner = os.getpid()
        if owner != self._process:
            self._engine.dispose(close=False)  # the parent's connections stay the parent's
            self._process = owner
        with self._turn() if write else nullcontext():
            try:
                connection = self._engine.connect()
                enlist(connection)
                try:
                    dialect.prepare(connection, write=write)
                    connection.begin()
                    yield connection
                    require_owner(owner)
                    connection.commit()
                finally:
                    if os.getpid() == owner:
                        connection.close()  # rolls back whatever was not committed
                        dismiss(connection)
            except SQLAlchemyError as error:
                # PostgreSQL's own texts quote the row at hand; its code is part of our message.
                cause = None if isinstance(self._place, Server) else error
                raise dialect.explain(error, self._place) from cause

    def _turn(self) -> AbstractContextManager[None]:
        if isinstance(self._place, Server):
            return nullcontext()  # PostgreSQL keeps its own queue for the account row
        return turn(dialect.journal_of(self._place), sqlite_file.BUSY_SECONDS)


def _hang_up(engine: Engine, owner: int) -> None:
    if os.getpid() == owner:  # a forked child must not end the connections of its parent
        engine.dispose()


def _require_empty(version: int, place: dialect.File | Server) -> None:
    if version:
        raise LedgerError(f"{place} holds a ledger already; open it")


def _write_genesis(
    connection: Connection, document: Mapping[str, object], limit: int, sealed: str
) -> tuple[ChainState, Entry]:
    about = {
        "identity": secrets.token_hex(16),
        "limit": limit,
        "private_sha256": answer_digest(sealed),
    }
    text = canonical_text({"about": about, "payload": dict(document)})
    now = datetime.now(UTC).isoformat(timespec="microseconds")
    draft = Link(1, GENESIS, now, text, None, "")
    link = draft._replace(hash=entry_hash(ChainState().hash, draft))
    state, genesis = advance(ChainState(), link)
    connection.execute(insert(schema.entry).values(link._asdict()))
    connection.execute(insert(schema.private).values(only_row=1, document=sealed))
    connection.execute(
        insert(schema.account).values(
            only_row=1,
            spending_limit=limit,
            spent=0,
            head_sequence=state.sequence,
            head_hash=state.hash,
        )
    )
    return state, genesis


def _mark(state: ChainState) -> HighWaterMark:
    return HighWaterMark(sequence=state.sequence, hash=state.hash, spent=state.spent)
