"""The meaning of the chain: which balance each entry leads to, and which entries are lawful."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from eke.errors import LedgerTampered
from eke.ledger.chain import NO_HASH, Link, answer_digest, entry_hash
from eke.ledger.entry import (
    COMMIT,
    GENESIS,
    LIMIT,
    REMEMBER,
    RESERVE,
    Balance,
    Entry,
    StoredRequest,
)

_DECODER = json.JSONDecoder()
_ABOUT, _PAYLOAD = '{"about":', ',"payload":{'


@dataclass(frozen=True, slots=True)
class ChainState:
    """Where a walk along the chain stands: last entry, its hash, loss and limit after it."""

    sequence: int = 0
    hash: str = NO_HASH
    spent: int = 0
    limit: int = 0

    def balance(self) -> Balance:
        """This state in the terms of the ledger's interface."""
        return Balance(
            limit=self.limit, spent=self.spent, head_sequence=self.sequence, head_hash=self.hash
        )


def read_entry(link: Link) -> Entry:
    """The entry in a stored row; `LedgerTampered` when its document cannot be read."""
    try:
        document = json.loads(link.document)
        about, payload = document["about"], document["payload"]
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise _broken(link, "its document cannot be read") from error
    if not isinstance(about, dict) or not isinstance(payload, dict):
        raise _broken(link, "its document cannot be read")
    return Entry(link.sequence, link.kind, link.at, about, payload, link.hash)


def read_about(link: Link) -> Entry:
    """The same without its payload, which is not looked at: most of a ledger's text is payload."""
    text = link.document
    if not text.startswith(_ABOUT):  # not as `canonical_text` writes it
        return replace(read_entry(link), payload={})
    try:
        about, end = _DECODER.raw_decode(text, len(_ABOUT))
    except (ValueError, RecursionError) as error:
        raise _broken(link, "its document cannot be read") from error
    if not isinstance(about, dict) or not text.startswith(_PAYLOAD, end) or text[-2:] != "}}":
        raise _broken(link, "its document cannot be read")
    return Entry(link.sequence, link.kind, link.at, about, {}, link.hash)


def walk(state: ChainState, links: Iterable[Link]) -> ChainState:
    """The state after some entries, or `LedgerTampered` at the first that does not hold."""
    for link in links:
        state, _ = advance(state, link)
    return state


def advance(
    state: ChainState, link: Link, read: Callable[[Link], Entry] = read_entry
) -> tuple[ChainState, Entry]:
    """State and content after one more entry; `LedgerTampered` when it cannot follow.

    `read` makes the entry of a row whose hash holds.
    """
    columns = (link.kind, link.at, link.document, link.hash)
    if type(link.sequence) is not int or any(type(column) is not str for column in columns):
        raise _broken(link, "a column has another type")
    if link.sequence != state.sequence + 1:
        raise _broken(link, f"it follows entry {state.sequence}")
    if entry_hash(state.hash, link) != link.hash:
        raise _broken(link, "its hash does not hold")
    entry = read(link)
    if (link.kind == GENESIS) != (link.sequence == 1):
        raise _broken(link, "the first entry, and only it, creates the ledger")
    if link.closes != (entry.about.get("reservation") if link.kind == COMMIT else None):
        raise _broken(link, "it closes another reservation than it says")
    spent, limit = _balance_after(state, link, entry.about)
    if not 0 <= state.spent <= spent <= limit:
        raise _broken(link, "loss and limit do not fit together")
    return ChainState(link.sequence, link.hash, spent, limit), entry


def the_account(rows: Sequence[Sequence[Any]]) -> ChainState:
    """What the one account row says: head, its hash, loss and limit."""
    if len(rows) != 1:
        raise LedgerTampered("the ledger has no account row; restore the newest intact copy")
    return ChainState(*rows[0])


def expected_request(opened: Entry, closed: Entry | None, answer: object) -> StoredRequest | None:
    """The only request row that two entries allow; None when they allow none with this answer."""
    if opened.kind == REMEMBER and closed is None:
        closed = opened
    elif opened.kind != RESERVE or (closed is not None and closed.kind != COMMIT):
        return None
    if closed is None:
        text = None
    elif isinstance(answer, str) and answer_digest(answer) == closed.about["answer_sha256"]:
        text = answer
    else:
        return None
    return StoredRequest(
        analyst=cast(str, opened.about["analyst"]),
        key=cast(str, opened.about["key"]),
        digest=cast(str, opened.about["digest"]),
        state="reserved" if closed is None else "committed",
        sequence=opened.sequence,
        closed_by=None if closed is None else closed.sequence,
        answer=text,
    )


def _balance_after(state: ChainState, link: Link, about: Mapping[str, object]) -> tuple[int, int]:
    if link.kind in (GENESIS, LIMIT):
        return state.spent, _whole(about, "limit", link)
    if link.kind == RESERVE:
        _texts(about, ("analyst", "key", "digest"), link)
        return _whole(about, "spent_after", link), state.limit
    if link.kind == COMMIT:
        _whole(about, "reservation", link)
        _texts(about, ("answer_sha256",), link)
    elif link.kind == REMEMBER:
        _texts(about, ("analyst", "key", "digest", "answer_sha256"), link)
    return state.spent, state.limit


def _whole(about: Mapping[str, object], name: str, link: Link) -> int:
    value = about.get(name)
    if type(value) is not int:
        raise _broken(link, f"{name} is missing")
    return value


def _texts(about: Mapping[str, object], names: Iterable[str], link: Link) -> None:
    for name in names:
        if type(about.get(name)) is not str:
            raise _broken(link, f"{name} is missing")


def _broken(link: Link, reason: str) -> LedgerTampered:
    return LedgerTampered(
        f"ledger entry {link.sequence!r} does not hold: {reason}; restore the newest intact copy"
    )
