"""The ledger: a durable, append-only, hash-chained record of charges and releases.

It knows nothing of queries or noise: amounts are whole nano-units, payloads are JSON documents.
Start reading at `store.py`; `docs/proofs/ledger.md` says why it can be trusted.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from eke.ledger.entry import (
    Balance,
    Closing,
    Entry,
    HighWaterMark,
    Reservation,
    StoredRequest,
    Verification,
)

if TYPE_CHECKING:
    from eke.ledger.book import Book
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

if not TYPE_CHECKING:  # SQLAlchemy; `look.py` does without, and commands that only look are quick

    def __getattr__(name):
        """Whoever writes or charges, loaded on first use."""
        homes = {"Book": "book", "Ledger": "store"}
        if name not in homes:
            raise AttributeError(f"module 'eke.ledger' has no attribute {name!r}")
        return getattr(import_module(f"eke.ledger.{homes[name]}"), name)
