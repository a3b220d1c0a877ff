"""The hash chain: one canonical text per document, one hash per entry.

    hash(n) = sha256( hash(n-1) ‖ n ‖ |kind| ‖ kind ‖ |at| ‖ at ‖ text )

with 8-byte big-endian integers, so that no two different entries give the same input. The hash is
taken over the stored text itself: editing a single byte of it, even white space, is seen.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import NamedTuple

from eke.errors import LedgerError

#: What stands before the first entry.
NO_HASH = "0" * 64


class Link(NamedTuple):
    """A row of the entry table as stored; edited rows may hold other types than these."""

    sequence: int
    kind: str
    at: str
    document: str
    closes: int | None
    hash: str


def canonical_text(document: Mapping[str, object]) -> str:
    """The one JSON text of a document: sorted keys, no white space, ASCII, no NaN or infinity."""
    _require_json(document)
    try:
        return json.dumps(
            document, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
        )
    except (TypeError, ValueError, RecursionError) as error:
        raise LedgerError(
            "this document has no canonical JSON text; use finite numbers and shallow nesting"
        ) from error


def entry_hash(previous: str, link: Link) -> str:
    """The hash that binds an entry to all entries before it, in hexadecimal."""
    kind, at = link.kind.encode(), link.at.encode()
    return hashlib.sha256(
        b"".join(
            (
                bytes.fromhex(previous),
                link.sequence.to_bytes(8, "big"),
                len(kind).to_bytes(8, "big"),
                kind,
                len(at).to_bytes(8, "big"),
                at,
                link.document.encode(),
            )
        )
    ).hexdigest()


def answer_digest(answer: str) -> str:
    """The SHA-256 of a stored answer, in hexadecimal; entries hold it in place of the answer."""
    try:
        return hashlib.sha256(answer.encode()).hexdigest()
    except UnicodeEncodeError as error:
        raise LedgerError("an answer must be text that UTF-8 can hold") from error


def _require_json(value: object) -> None:
    # json.dumps would silently turn a key 1 into "1" and a NumPy subclass into its parent; what
    # is read back must equal what was written. A stack, so that deep nesting cannot overflow here.
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, Mapping):
            if type(item) is not dict or any(type(key) is not str for key in item):
                raise LedgerError("a ledger document must be made of dicts with text keys")
            waiting.extend(item.values())
        elif type(item) in (list, tuple):
            waiting.extend(item)  # type: ignore[arg-type]  # just checked to be a sequence
        elif item is not None and type(item) not in (str, int, float, bool):
            raise LedgerError(
                f"a ledger document cannot hold a {type(item).__name__}; "
                "convert it to text, numbers, lists and dicts first"
            )
