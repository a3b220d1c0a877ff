"""Labels as values of PostgreSQL: of which type a column of them is, and how each is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime
from typing import Any

from eke.domain import Attribute, Binned, Boolean, Date, Integer, Numeric, Timestamp, plain_label
from eke.question.calendar import Calendar
from eke.wire.kind import BOOL, DATE, FLOAT8, INT8, TEXT, TIMESTAMP

_MOMENTS = {"day": DATE, "moment": TIMESTAMP}
ATTRIBUTE_KINDS: dict[type[Attribute], int] = {
    Boolean: BOOL,
    Integer: INT8,
    Numeric: FLOAT8,
    Binned: FLOAT8,
    Date: DATE,
    Timestamp: TIMESTAMP,
}


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


def column_kind(attribute: Attribute, labels: Iterable[Any]) -> int:
    """The type of a column that shows these labels of an attribute, or others put beside them."""
    kind = ATTRIBUTE_KINDS.get(type(attribute), TEXT)
    if kind not in _MOMENTS.values():
        return kind_of(labels)
    shown = {label for label in labels if label is not None}
    return kind if shown <= set(attribute.declared) else TEXT


def key_kind(moment: str | None, labels: Sequence[Any]) -> int:
    """The type of a key whose labels are texts of days or moments, if it has such.

    Where another label is among them (other, missing) they are shown as texts.
    """
    kind = _MOMENTS.get(moment or "", TEXT)
    return kind if kind != TEXT and _all_read(labels, kind) else kind_of(labels)


def value_kind(calendar: Calendar | None) -> int:
    """The type of a value: a number, or a date or a timestamp where it is told as such."""
    return FLOAT8 if calendar is None else _MOMENTS.get(calendar.kind, TEXT)


def _all_read(labels: Sequence[Any], kind: int) -> bool:
    """Whether all labels are texts of a type."""
    try:
        for label in labels:
            shown_label(label, kind)
    except (TypeError, ValueError):
        return False
    return any(label is not None for label in labels)


def shown_label(label: Any, kind: int) -> Any:
    """A label as a value of its column's type; what is missing is NULL."""
    plain: Any = plain_label(label)
    if plain is None:
        return None
    return _FORMS.get(kind, lambda same: same)(plain)


def _day(label: Any) -> Any:
    return date.fromisoformat(label) if isinstance(label, str) else label


def _moment(label: Any) -> Any:
    return datetime.fromisoformat(label) if isinstance(label, str) else label


_FORMS: dict[int, Callable[[Any], Any]] = {
    TEXT: str,
    FLOAT8: float,
    DATE: _day,
    TIMESTAMP: _moment,
}
