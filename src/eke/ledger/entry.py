"""What the ledger hands out: frozen records of entries, requests, balances and checks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Literal

from eke.errors import LedgerError, LedgerTampered

RequestState = Literal["reserved", "committed"]

GENESIS = "genesis"
RESERVE = "reserve"
COMMIT = "commit"
REMEMBER = "remember"
LIMIT = "limit"
#: Kinds whose meaning the ledger itself replays; `Book.note` refuses them.
OWN_KINDS = frozenset({GENESIS, RESERVE, COMMIT, REMEMBER, LIMIT})

HASH_LENGTH = 64


@dataclass(frozen=True, slots=True)
class Entry:
    """One link of the chain.

    `about` is what the ledger says of itself (who, which key, the balance after it); `payload` is
    the caller's document, which the ledger never interprets.
    """

    sequence: int
    kind: str
    at: str
    about: Mapping[str, object]
    payload: Mapping[str, object]
    hash: str


@dataclass(frozen=True, slots=True)
class Balance:
    """Limit and loss in nano-units, and the head of the chain they belong to."""

    limit: int
    spent: int
    head_sequence: int
    head_hash: str

    @property
    def remaining(self) -> int:
        """Nano-units that may still be spent."""
        return self.limit - self.spent


@dataclass(frozen=True, slots=True)
class StoredRequest:
    """What is known under an analyst's idempotency key.

    `sequence` is the entry that opened it (a reservation, or a remembered free answer),
    `closed_by` the entry that holds its outcome, `answer` the stored text; the last two are None
    while it is only reserved.
    """

    analyst: str
    key: str
    digest: str
    state: RequestState
    sequence: int
    closed_by: int | None
    answer: str | None


@dataclass(frozen=True, slots=True)
class Reservation:
    """A charge written to the chain: its sequence, and its entry's hash as evidence of it."""

    sequence: int
    token: str


@dataclass(frozen=True, slots=True)
class Closing:
    """How a reservation ended.

    Privacy: `answer` is the one stored text, whoever wrote it. Release this and nothing else: when
    `first` is False another process closed the reservation, and the caller's own noisy value was
    paid by nobody.
    """

    answer: str
    entry: Entry
    first: bool


@dataclass(frozen=True, slots=True)
class HighWaterMark:
    """A point of the chain to be kept elsewhere; a ledger without it is old or edited."""

    sequence: int
    hash: str
    spent: int

    def __post_init__(self) -> None:
        whole = (type(self.sequence), type(self.spent)) == (int, int)
        if not whole or self.sequence < 1 or self.spent < 0 or len(self.hash) != HASH_LENGTH:
            raise LedgerError(
                "this high-water mark is malformed; use the text that Ledger.mark().to_json() gave"
            )

    def to_json(self) -> str:
        """One line of JSON, to be stored away from the ledger."""
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> HighWaterMark:
        """The mark that `to_json` wrote."""
        try:
            fields = json.loads(text)
            return cls(sequence=fields["sequence"], hash=fields["hash"], spent=fields["spent"])
        except (ValueError, KeyError, TypeError) as error:
            raise LedgerError(
                "this is not a high-water mark; use the text that Ledger.mark().to_json() gave"
            ) from error


@dataclass(frozen=True, slots=True)
class Verification:
    """The outcome of walking the whole chain and comparing every table with it."""

    problems: tuple[str, ...]
    entries: int
    spent: int
    limit: int
    head_hash: str
    open_reservations: tuple[int, ...]

    @property
    def intact(self) -> bool:
        """Whether nothing was found wrong."""
        return not self.problems

    def require(self) -> Verification:
        """This verification, or `LedgerTampered` when something was found wrong."""
        if self.problems:
            raise LedgerTampered(
                "the ledger was edited, truncated or replaced ("
                + "; ".join(self.problems)
                + "); release nothing from it: restore the newest intact copy, or retire the data"
            )
        return self
