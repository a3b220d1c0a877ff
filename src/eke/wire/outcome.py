"""Outcome: what a statement came to, before it is sent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from eke.catalogue import CatalogueColumn
from eke.wire import message
from eke.wire.kind import TEXT, encoded, size_of
from eke.wire.report import Trouble

SIGNATURE = b"PGCOPY\n\xff\r\n\0"
"""What rows copied in binary begin with."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The tag of a command, rows if it has any, and what is said before it.

    `aside` are messages that come before the tag: notices, and settings that changed.
    """

    tag: str
    columns: tuple[CatalogueColumn, ...] | None = None
    rows: Sequence[tuple[Any, ...]] = ()
    aside: tuple[bytes, ...] = ()
    copied: Sequence[bytes] | None = None  # by COPY … TO STDOUT, instead of rows

    @property
    def is_binary(self) -> bool:
        """Whether what is copied is in binary."""
        return any(line.startswith(SIGNATURE) for line in (self.copied or ())[:1])

    @staticmethod
    def of_texts(name: str, rows: Sequence[str], tag: str) -> Outcome:
        """One column of texts."""
        return Outcome(tag, (CatalogueColumn(name, TEXT),), [(row,) for row in rows])


def forms_of(columns: int, given: Sequence[int]) -> list[int]:
    """The format of each column: none given for text, one for all, or one for each."""
    if not given:
        return [0] * columns
    if len(given) not in (1, columns):
        raise Trouble("08P01", "there is a format for each column, or one for all")
    return list(given) * columns if len(given) == 1 else list(given)


def description(columns: Sequence[CatalogueColumn], forms: Sequence[int] = ()) -> bytes:
    """The columns as they are told before the rows."""
    chosen = forms_of(len(columns), forms)
    return message.row_description(
        [
            (column.name, column.oid, size_of(column.oid), form)
            for column, form in zip(columns, chosen, strict=True)
        ]
    )


def rows_of(outcome: Outcome, start: int, stop: int, forms: Sequence[int] = ()) -> bytes:
    """Some of the rows as they are sent."""
    columns = outcome.columns or ()
    chosen = forms_of(len(columns), forms)
    return b"".join(
        message.data_row(
            encoded(value, column.oid, form)
            for value, column, form in zip(row, columns, chosen, strict=True)
        )
        for row in outcome.rows[start:stop]
    )
