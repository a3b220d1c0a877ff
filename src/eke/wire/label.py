"""Labels as values of PostgreSQL: of which type a column of them is, and how each is shown."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime
from typing import Any

from eke.domain import plain_label
from eke.wire.kind import BOOL, DATE, FLOAT8, INT8, TEXT, TIMESTAMP


def kind_of(labels: Iterable[Any]) -> int:
    """The type of a column that shows these labels."""
    kinds = {type(label) for label in labels if label is not None}
    for kind, fitting in (
        (BOOL, {bool}),
        (INT8, {int}),
        (FLOAT8, {int, float}),
        (TIMESTAMP, {datetime}),
        (DATE, {date}),
    ):
        if kinds and kinds <= fitting:
            return kind
    return TEXT


def shown_label(label: Any, kind: int) -> Any:
    """A label as a value of its column's type; what is missing is NULL."""
    plain: Any = plain_label(label)
    if plain is None:
        return None
    return {TEXT: str, FLOAT8: float}.get(kind, lambda same: same)(plain)
