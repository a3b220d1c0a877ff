"""A document that stays in the ledger's file when the chain is exported.

The chain holds the hash of the document together with a random salt. So the document cannot be
exchanged unnoticed, and whoever holds the chain but not the file can test no guess about it. The
fingerprint of a protected table is such a document: with its plain hash at hand, an attacker who
knows all records but one could try out the last.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from eke.errors import LedgerTampered
from eke.ledger.chain import answer_digest, canonical_text
from eke.ledger.entry import Entry


def seal(document: Mapping[str, object]) -> str:
    """The text to be stored: the document with a fresh salt of 256 bits."""
    import secrets  # noqa: PLC0415 - who only reads should not wait for it

    return canonical_text({"salt": secrets.token_hex(32), "document": dict(document)})


def unseal(stored: Sequence[object], genesis: Entry) -> dict[str, object]:
    """The document in the one stored text, if it is the one that the first entry is bound to."""
    text = stored[0] if len(stored) == 1 and isinstance(stored[0], str) else ""
    if answer_digest(text) != genesis.about.get("private_sha256"):
        raise LedgerTampered(
            "the private document is not the one this ledger was created with; restore the newest "
            "intact copy"
        )
    return dict(json.loads(text)["document"])
