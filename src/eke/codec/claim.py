"""Claims as documents, both ways. The fields are in docs/reference/http.md."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from eke.codec.answer import read_keys
from eke.codec.plain import finite, label_document
from eke.session import Claim


def claim_document(claim: Claim) -> dict[str, Any]:
    """A claim with its probability, or one for each row."""
    shared = {"question": claim.question, "claim": claim.text, "caveats": list(claim.caveats)}
    if claim.is_number:
        return finite({"kind": "number", "probability": claim.probabilities[0], **shared})
    return finite(
        {
            "kind": "table",
            "attributes": list(claim.attributes),
            "keys": [[label_document(label) for label in key] for key in claim.keys],
            "probabilities": list(claim.probabilities),
            **shared,
        }
    )


def read_claim(document: Mapping[str, Any]) -> Claim:
    """The claim in a document."""
    said = document["question"], document["claim"]
    caveats = tuple(document["caveats"])
    if document["kind"] == "number":
        return Claim(*said, (), ((),), (document["probability"],), caveats)
    probabilities = tuple(document["probabilities"])
    return Claim(*said, tuple(document["attributes"]), read_keys(document), probabilities, caveats)
