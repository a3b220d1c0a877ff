"""The ledger: a durable, append-only, hash-chained record of charges and releases.

It knows nothing of queries or noise: amounts are whole nano-units, payloads are JSON documents.
Start reading at `store.py`; `docs/proofs/ledger.md` says why it can be trusted.
"""

from eke.ledger.book import Book
from eke.ledger.entry import (
    Balance,
    Closing,
    Entry,
    HighWaterMark,
    Reservation,
    StoredRequest,
    Verification,
)
from eke.ledger.store import Ledger

__all__ = [
    "Balance",
    "Book",
    "Closing",
    "Entry",
    "HighWaterMark",
    "Ledger",
    "Reservation",
    "StoredRequest",
    "Verification",
]
