"""Previews as documents, both ways."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from eke.codec.plain import finite, read_record
from eke.session import Preview, preview_document


def sent_preview(preview: Preview) -> dict[str, Any]:
    """A preview with the sentence that says it."""
    sentence = preview.explain().split("\n", 1)[1]
    return finite({**preview_document(preview), "hint": preview.hint, "sentence": sentence})


def read_preview(document: Mapping[str, Any]) -> Preview:
    """The preview in a document."""
    return read_record(Preview, document)
