"""A document that stays in the ledger's file when the chain is exported.

The chain holds the hash of the document together with a random salt. So the document cannot be
exchanged unnoticed, and whoever holds the chain but not the file can test no guess about it. The
fingerprint of a protected table is such a document: with its plain hash at hand, an attacker who
knows all records but one could try out the last.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping

from sqlalchemy import Connection, select

from eke.errors import LedgerTampered
from eke.ledger import schema
from eke.ledger.chain import answer_digest, canonical_text
from eke.ledger.entry import Entry


def seal(document: Mapping[str, object]) -> str:
    """The text to be stored: the document with a fresh salt of 256 bits."""
    return canonical_text({"salt": secrets.token_hex(32), "document": dict(document)})


def unseal(connection: Connection, genesis: Entry) -> dict[str, object]:
    """The stored document, if it is the one that the first entry is bound to."""
    rows = connection.execute(select(schema.private.c.document)).scalars().all()
    text = rows[0] if len(rows) == 1 and isinstance(rows[0], str) else ""
    if answer_digest(text) != genesis.about.get("private_sha256"):
        raise LedgerTampered(
            "the private document is not the one this ledger was created with; restore the newest "
            "intact copy"
        )
    return dict(json.loads(text)["document"])
