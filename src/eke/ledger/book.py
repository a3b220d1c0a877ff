"""One open write transaction on the ledger: the only way to add entries.

A `Book` comes from `Ledger.exclusive()`, which holds the write lock; everything done with it
becomes durable together when that block ends, or not at all.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime

from sqlalchemy import Connection, Update, bindparam, insert, update

from eke.errors import BudgetExceeded, LedgerError
from eke.ledger import schema
from eke.ledger.chain import Link, canonical_text, entry_hash
from eke.ledger.entry import (
    COMMIT,
    LIMIT,
    OWN_KINDS,
    REMEMBER,
    RESERVE,
    Closing,
    Entry,
    Reservation,
    StoredRequest,
)
from eke.ledger.failpoint import failpoint
from eke.ledger.fork import require_owner
from eke.ledger.reading import find_request, read_entries, read_one, request_of
from eke.ledger.replay import ChainState, read_entry
from eke.ledger.required import require_amount, require_answer, require_name

_ACCOUNT, _REQUEST = schema.account.c, schema.request.c
_INSERT_ENTRY = insert(schema.entry)
_INSERT_REQUEST = insert(schema.request)
_MOVE = (
    update(schema.account)
    .where(
        _ACCOUNT.head_sequence == bindparam("sequence_before"),
        _ACCOUNT.head_hash == bindparam("hash_before"),
    )
    .values(head_sequence=bindparam("sequence_after"), head_hash=bindparam("hash_after"))
)
#: The stored row decides, not what was read before: the loss never falls and keeps the limit.
_CHARGE = _MOVE.where(
    _ACCOUNT.spent <= bindparam("spent_after"),
    _ACCOUNT.spending_limit >= bindparam("spent_after"),
).values(spent=bindparam("spent_after"))
_CHANGE_LIMIT = _MOVE.where(_ACCOUNT.spent <= bindparam("limit_after")).values(
    spending_limit=bindparam("limit_after")
)
_CLOSE = (
    update(schema.request)
    .where(_REQUEST.sequence == bindparam("reservation"), _REQUEST.state == "reserved")
    .values(
        state="committed", closed_by=bindparam("closing_entry"), answer=bindparam("answer_text")
    )
)


class Book:
    """The ledger, locked for one writer."""

    def __init__(self, connection: Connection, state: ChainState) -> None:
        self._connection = connection
        self._state = state
        self._owner = os.getpid()
        self._usable = True
        # Nobody else writes meanwhile, so what was looked up stays as it is until it is changed.
        self._new_keys: set[tuple[str, str]] = set()
        self._requests: dict[int, StoredRequest | None] = {}

    @property
    def spent(self) -> int:
        """Nano-units spent so far, this transaction included."""
        return self._state.spent

    @property
    def limit(self) -> int:
        """Nano-units that may be spent in all."""
        return self._state.limit

    @property
    def state(self) -> ChainState:
        """The head of the chain, this transaction included."""
        return self._state

    def entries(self, after: int = 0) -> list[Entry]:
        """The entries after a sequence number, in order, this transaction's included."""
        connection = self._reading()
        return [] if after >= self._state.sequence else read_entries(connection, after)

    def entry(self, sequence: int) -> Entry:
        """The entry with this sequence number."""
        return read_one(self._reading(), sequence)

    def find(self, analyst: str, key: str, digest: str | None = None) -> StoredRequest | None:
        """What is stored under an analyst's key; None when the key is new.

        With a digest, a key that belongs to another request raises `KeyConflict`.
        """
        connection = self._reading()
        if (analyst, key) in self._new_keys:
            return None
        stored = find_request(connection, analyst, key, digest)
        if stored is None:
            self._new_keys.add((analyst, key))
        return stored

    def request(self, sequence: int) -> StoredRequest | None:
        """The request that an entry opened; None when it opened none."""
        connection = self._reading()
        if sequence not in self._requests:
            self._requests[sequence] = request_of(connection, sequence)
        return self._requests[sequence]

    def reserve(
        self,
        *,
        analyst: str,
        key: str,
        digest: str,
        payload: Mapping[str, object],
        spent_after: int,
    ) -> Reservation:
        """A new charge: the loss becomes `spent_after`, and the key belongs to this request.

        Privacy: the limit is checked by the UPDATE that charges (and by a CHECK of the table), not
        by a value read before. `BudgetExceeded` leaves the book as it was. The data may be touched
        only after the `exclusive()` block has ended without an error: only then is it durable.
        """
        require_amount(spent_after, "spent_after")
        about = self._new_request(analyst, key, digest)
        if spent_after < self._state.spent:
            raise LedgerError(
                "the loss after a charge cannot be less than before it; bring the accountant up to "
                "date with entries(after=...) and compute the loss again"
            )
        with self._writing():
            entry = self._append(RESERVE, {**about, "spent_after": spent_after}, payload)
            self._record(about, entry.sequence, answer=None)
        return Reservation(sequence=entry.sequence, token=entry.hash)

    def commit(self, reservation: int, payload: Mapping[str, object], answer: str) -> Closing:
        """The end of a reservation: the stored answer, and whether it is the one given here.

        Privacy: exactly one call per reservation is `first`. Every other caller must forget its own
        noisy value and release `Closing.answer`, which it gets here.
        """
        request = self.request(reservation)
        if request is None:
            raise LedgerError(
                f"entry {reservation} is no reservation; reserve before measuring, and commit with "
                "the sequence number of the reservation"
            )
        if request.closed_by is not None and request.answer is not None:
            return Closing(request.answer, self.entry(request.closed_by), first=False)
        about = {"reservation": reservation, "answer_sha256": require_answer(answer)}
        with self._writing():
            entry = self._append(COMMIT, about, payload, closes=reservation)
            closed = self._connection.execute(
                _CLOSE,
                {
                    "reservation": reservation,
                    "closing_entry": entry.sequence,
                    "answer_text": answer,
                },
            )
            if closed.rowcount != 1:
                raise LedgerError("the reservation was closed meanwhile; retry with the same key")
            failpoint("ledger.recorded")
            del self._requests[reservation]
        return Closing(answer, entry, first=True)

    def remember(
        self,
        *,
        analyst: str,
        key: str,
        digest: str,
        answer: str,
        payload: Mapping[str, object] | None = None,
    ) -> Entry:
        """A free answer, stored so that the same key gets the same text again."""
        about = self._new_request(analyst, key, digest)
        signed = {**about, "answer_sha256": require_answer(answer)}
        with self._writing():
            entry = self._append(REMEMBER, signed, {} if payload is None else payload)
            self._record(about, entry.sequence, answer=answer)
        return entry

    def change_limit(self, limit: int, payload: Mapping[str, object]) -> Entry:
        """The entry that replaces the limit; a limit below the loss raises `BudgetExceeded`."""
        require_amount(limit, "limit")
        with self._writing():
            return self._append(LIMIT, {"limit": limit}, payload)

    def note(self, kind: str, payload: Mapping[str, object]) -> Entry:
        """An entry of the caller's own kind, without any cost."""
        require_name(kind, "kind")
        if kind in OWN_KINDS:
            raise LedgerError(f"entries of kind {kind!r} have their own method; use another kind")
        with self._writing():
            return self._append(kind, {}, payload)

    def finish(self) -> None:
        """Close the book before its transaction commits; an error if a write has failed in it."""
        require_owner(self._owner)
        if not self._usable:
            raise LedgerError("a ledger write failed and its error was swallowed; nothing is kept")
        self._usable = False

    def _reading(self) -> Connection:
        require_owner(self._owner)
        if not self._usable:
            raise LedgerError("this ledger transaction is over; begin a new one")
        return self._connection

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Half a write must never be committed, even if the caller swallows the error."""
        self._reading()
        before = self._state
        try:
            yield
        except BudgetExceeded:
            raise  # the conditional UPDATE matched nothing, so nothing was written
        except BaseException:
            self._usable = False
            self._state = before
            raise

    def _append(
        self,
        kind: str,
        about: Mapping[str, object],
        payload: Mapping[str, object],
        closes: int | None = None,
    ) -> Entry:
        document = canonical_text({"about": dict(about), "payload": dict(payload)})
        now = datetime.now(UTC).isoformat(timespec="microseconds")
        before = self._state
        draft = Link(before.sequence + 1, kind, now, document, closes, "")
        link = draft._replace(hash=entry_hash(before.hash, draft))
        after = ChainState(
            link.sequence,
            link.hash,
            spent=_amount(about, "spent_after", before.spent),
            limit=_amount(about, "limit", before.limit),
        )
        self._move_account(before, after, _CHANGE_LIMIT if kind == LIMIT else _CHARGE)
        failpoint("ledger.charged")
        self._connection.execute(_INSERT_ENTRY, link._asdict())
        failpoint("ledger.appended")
        self._state = after
        return read_entry(link)

    def _move_account(self, before: ChainState, after: ChainState, statement: Update) -> None:
        amount = (
            {"limit_after": after.limit}
            if statement is _CHANGE_LIMIT
            else {"spent_after": after.spent}
        )
        moved = self._connection.execute(
            statement,
            {
                "sequence_before": before.sequence,
                "hash_before": before.hash,
                "sequence_after": after.sequence,
                "hash_after": after.hash,
                **amount,
            },
        )
        if moved.rowcount == 1:
            return
        if after.spent > after.limit:
            raise BudgetExceeded(
                f"a loss of {after.spent} nano-units would pass the limit of {after.limit} "
                f"({before.spent} are spent); nothing was spent: ask for less accuracy, or let the "
                "curator raise the limit"
            )
        raise LedgerError("the ledger moved under its lock; begin a new transaction and retry")

    def _new_request(self, analyst: str, key: str, digest: str) -> dict[str, object]:
        for value, name in ((analyst, "analyst"), (key, "key"), (digest, "digest")):
            require_name(value, name)
        if self.find(analyst, key, digest) is not None:
            raise LedgerError(
                "this key has a record already; look it up with find() and complete or repeat that"
            )
        return {"analyst": analyst, "key": key, "digest": digest}

    def _record(self, about: Mapping[str, object], sequence: int, answer: str | None) -> None:
        self._new_keys.discard((str(about["analyst"]), str(about["key"])))
        self._connection.execute(
            _INSERT_REQUEST,
            {
                "analyst": about["analyst"],
                "request_key": about["key"],
                "digest": about["digest"],
                "state": "reserved" if answer is None else "committed",
                "sequence": sequence,
                "closed_by": None if answer is None else sequence,
                "answer": answer,
            },
        )
        failpoint("ledger.recorded")


def _amount(about: Mapping[str, object], name: str, otherwise: int) -> int:
    return require_amount(about.get(name, otherwise), name)
