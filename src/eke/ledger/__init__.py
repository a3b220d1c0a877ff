"""The ledger: a durable, append-only, hash-chained record of charges and releases.

It knows nothing of queries or noise: amounts are whole nano-units, payloads are JSON documents.
Start reading at `store.py`; `docs/proofs/ledger.md` says why it can be trusted.
"""

from typing import TYPE_CHECKING

from eke.late import late_names
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

# SQLAlchemy; `look.py` does without, and commands that only look are quick.
if not TYPE_CHECKING:
    __getattr__ = late_names(
        __name__,
        {
            "book": "Book",
            "store": "Ledger",
        },
    )
