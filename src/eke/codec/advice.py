"""Advice as a document. The fields are in docs/reference/http.md."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from eke.codec.plain import finite
from eke.session import Advice, Advised


def advice_document(advice: Advice, measure: str) -> dict[str, Any]:
    """Suggestions, those that save most first; their costs are in the measure of the dataset."""
    return finite({"measure": measure, "advice": [_suggestion(one) for one in advice]})


def _suggestion(advised: Advised) -> dict[str, Any]:
    suggestion = advised.suggestion
    return {
        "text": str(advised),
        "attributes": list(suggestion.attributes),
        "kind": advised.kind,
        "counts": advised.counts,
        "questions": suggestion.questions,
        "paid": suggestion.paid,
        "cost": suggestion.cost,
        "frontier": [asdict(point) for point in suggestion.frontier],
    }
