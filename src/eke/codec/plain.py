"""Plain values: what JSON can hold, and dataclasses from documents of any version."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, TypeVar

from eke.domain.rule import plain

RecordT = TypeVar("RecordT")
DocumentT = TypeVar("DocumentT")


def finite(document: DocumentT) -> DocumentT:
    """The document with null for numbers that JSON does not have."""
    made: Any = document
    if isinstance(document, Mapping):
        made = {str(key): finite(value) for key, value in document.items()}
    elif isinstance(document, (list, tuple)):
        made = [finite(value) for value in document]
    elif isinstance(document, float) and not math.isfinite(document):
        made = None
    return made  # type: ignore[no-any-return]


def label_document(label: Any) -> Any:
    """A label; a bin is an object with its edges."""
    if isinstance(label, tuple):
        return {"from": label[0], "to": label[1]}
    return plain(label)


def read_label(label: Any) -> Any:
    """The label that `label_document` wrote down."""
    return (label["from"], label["to"]) if isinstance(label, Mapping) else label


def read_record(kind: type[RecordT], document: Mapping[str, Any]) -> RecordT:
    """A dataclass from the fields of a document that it has; others are passed over."""
    known = {one.name for one in fields(kind) if one.init}  # type: ignore[arg-type]
    return kind(**{name: value for name, value in document.items() if name in known})
