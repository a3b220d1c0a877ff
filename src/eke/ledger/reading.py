"""Statements that read the ledger, shared by read-only and writing transactions."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import closing
from typing import cast

from sqlalchemy import Connection, Row, bindparam, or_, select

from eke.errors import KeyConflict, LedgerError, LedgerTampered
from eke.ledger import schema
from eke.ledger.chain import Link
from eke.ledger.entry import Entry, RequestState, StoredRequest
from eke.ledger.replay import ChainState, expected_request, read_entry, the_account, walk

# Built once: putting a statement together costs more than running it.
_ENTRY, _REQUEST, _ACCOUNT = schema.entry.c, schema.request.c, schema.account.c
_PAGE = 1000
_LINKS_AFTER = (
    select(schema.entry)
    .where(_ENTRY.sequence > bindparam("after"))
    .order_by(_ENTRY.sequence)
    .limit(_PAGE)
)
_LINK_AT = select(schema.entry).where(_ENTRY.sequence == bindparam("at_sequence"))
_LINKS_OF_REQUEST = select(schema.entry).where(
    or_(_ENTRY.sequence == bindparam("opened_by"), _ENTRY.closes == bindparam("opened_by"))
)
_STATE = select(_ACCOUNT.head_sequence, _ACCOUNT.head_hash, _ACCOUNT.spent, _ACCOUNT.spending_limit)
_STATE_LOCKED = _STATE.with_for_update()
_REQUEST_UNDER = select(schema.request).where(
    _REQUEST.analyst == bindparam("of_analyst"), _REQUEST.request_key == bindparam("under_key")
)
_REQUESTS = select(schema.request)
_PRIVATE = select(schema.private.c.document)
_REQUEST_OPENED_BY = select(schema.request).where(_REQUEST.sequence == bindparam("opened_by"))


def links(connection: Connection, after: int = 0) -> Generator[Link, None, None]:
    """The stored rows of the chain after a sequence number, in order.

    They come page by page, each read to its end: a whole chain need not fit into memory, and no
    statement stays open when whoever reads them fails. One that did would keep its lock of the
    file until the error is forgotten, and all writers waiting.
    """
    while True:
        page = connection.execute(_LINKS_AFTER, {"after": after}).all()
        for row in page:
            yield Link(*row)
        if len(page) < _PAGE:
            return
        after = page[-1].sequence


def read_entries(connection: Connection, after: int) -> list[Entry]:
    """The entries after a sequence number, in order."""
    return [read_entry(link) for link in links(connection, after)]


def read_one(connection: Connection, sequence: int) -> Entry:
    """The entry with this sequence number."""
    link = _link_at(connection, sequence)
    if link is None:
        raise LedgerError(f"the ledger has no entry {sequence}; ask for one up to its head")
    return read_entry(link)


def hash_at(connection: Connection, sequence: int) -> str | None:
    """The hash of the entry with this sequence number; None when there is none."""
    link = _link_at(connection, sequence)
    return None if link is None else link.hash


def _link_at(connection: Connection, sequence: int) -> Link | None:
    row = connection.execute(_LINK_AT, {"at_sequence": sequence}).one_or_none()
    return None if row is None else Link(*row)


def account_state(connection: Connection, *, lock: bool) -> ChainState:
    """What the account row says; with `lock`, held until the transaction ends."""
    return the_account(connection.execute(_STATE_LOCKED if lock else _STATE).all())


def private_texts(connection: Connection) -> list[object]:
    """What is stored as the private document, unchecked."""
    return list(connection.execute(_PRIVATE).scalars())


def extend(connection: Connection, known: ChainState, claimed: ChainState) -> ChainState:
    """The state at the head: the known one, walked on over the entries that are new.

    Privacy: what this process has already seen must still be there, and the account row must say
    what the chain says. A file that was put back, edited at its head or refilled is caught before
    anything is charged to it.
    """
    with closing(links(connection, known.sequence - 1)) as stored:
        last = next(stored, None) if known.sequence else known
        if last is None or (last.sequence, last.hash) != (known.sequence, known.hash):
            raise LedgerTampered(
                "the ledger went back to an older state while in use; restore the newest intact "
                "copy"
            )
        state = walk(known, stored)
    if state != claimed:
        raise LedgerTampered(
            "the account does not agree with the entries; restore the newest intact copy"
        )
    return state


def find_request(
    connection: Connection, analyst: str, key: str, digest: str | None
) -> StoredRequest | None:
    """What is stored under an analyst's key, checked against its entries; None when nothing is.

    Raises `KeyConflict` when a digest is given and the key belongs to another one.
    """
    row = connection.execute(
        _REQUEST_UNDER, {"of_analyst": analyst, "under_key": key}
    ).one_or_none()
    if row is None:
        return None
    request = check_request(connection, row)
    if digest is not None and digest != request.digest:
        raise KeyConflict(
            "this key was used before for another request; repeat that request unchanged, "
            "or choose a new key"
        )
    return request


def request_of(connection: Connection, sequence: int) -> StoredRequest | None:
    """The request that an entry opened, checked against its entries; None when it opened none."""
    row = connection.execute(_REQUEST_OPENED_BY, {"opened_by": sequence}).one_or_none()
    return None if row is None else check_request(connection, row)


def check_request(connection: Connection, row: Row[tuple[object, ...]]) -> StoredRequest:
    """The request in a row of the table, or `LedgerTampered` when its entries say otherwise."""
    request = as_request(row)
    rows = connection.execute(_LINKS_OF_REQUEST, {"opened_by": request.sequence}).all()
    entries = {link.closes: read_entry(link) for link in (Link(*row) for row in rows)}
    opened, closed = entries.get(None), entries.get(request.sequence)
    if opened is None or request != expected_request(opened, closed, request.answer):
        raise LedgerTampered(
            f"the stored request of entry {request.sequence} does not agree with the chain; "
            "restore the newest intact copy"
        )
    return request


def as_request(row: Row[tuple[object, ...]]) -> StoredRequest:
    """A row of the request table as it stands, unchecked."""
    return StoredRequest(
        analyst=cast(str, row.analyst),
        key=cast(str, row.request_key),
        digest=cast(str, row.digest),
        state=cast(RequestState, row.state),
        sequence=cast(int, row.sequence),
        closed_by=cast("int | None", row.closed_by),
        answer=cast("str | None", row.answer),
    )


class StoredTables:
    """The tables of a ledger as they stand, for `verify`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def links(self) -> Generator[Link, None, None]:
        return links(self._connection)

    def account(self) -> ChainState:
        return account_state(self._connection, lock=False)

    def private(self) -> list[object]:
        return private_texts(self._connection)

    def requests(self) -> Iterator[StoredRequest]:
        rows = self._connection.execute(_REQUESTS.execution_options(yield_per=_PAGE))
        return map(as_request, rows)
