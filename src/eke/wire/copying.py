"""COPY (SELECT …) TO STDOUT: the rows of a result as text, as CSV or in binary."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from eke.wire import message
from eke.wire.kind import encoded, shown
from eke.wire.outcome import SIGNATURE, Outcome
from eke.wire.report import Trouble
from eke.wire.words import Statement

_SPECIAL = frozenset(',"\n\r')
_ESCAPES = str.maketrans({"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"})


@dataclass(frozen=True, slots=True)
class Copy:
    """A query and the form that its rows are wanted in."""

    query: str
    form: str = "text"
    header: bool = False

    @staticmethod
    def of(statement: Statement) -> Copy:
        """What a COPY statement says."""
        words = statement.words
        if len(words) < 2 or words[1].text != "(":
            raise Trouble("0A000", "only COPY (SELECT …) TO STDOUT is answered; nothing is written")
        depth, end = 0, 0
        for place, word in enumerate(words):
            depth += (word.text == "(") - (word.text == ")")
            if place > 1 and not depth:
                end = place
                break
        after = [word.value.lower() for word in words[end + 1 :]]  # FORMAT csv, FORMAT 'csv'
        if not end or after[:2] != ["to", "stdout"]:
            raise Trouble("0A000", "only COPY (SELECT …) TO STDOUT is answered; nothing is written")
        query = statement.text[words[2].start : words[end].start]
        options = [word for word in after[2:] if word not in ("with", "(", ")", ",", "format")]
        known = {"csv", "text", "binary", "header", "true", "false", "on", "off"}
        if not set(options) <= known:
            raise Trouble("0A000", "COPY takes FORMAT text, csv or binary, and HEADER")
        forms = [one for one in options if one in ("csv", "text", "binary")]
        header = "header" in options and not {"false", "off"} & set(options)
        form = forms[0] if forms else "text"
        if header and form == "binary":
            raise Trouble("0A000", "HEADER goes with text and csv")
        return Copy(query, form, header)

    def outcome(self, answered: Outcome) -> Outcome:
        """The rows of an outcome, copied."""
        columns = answered.columns or ()
        names = [tuple(column.name for column in columns)] if self.header else []
        if self.form == "binary":
            kinds = [column.oid for column in columns]
            copied = _binary(answered.rows, kinds)
        elif self.form == "csv":
            copied = [_csv(row).encode("utf-8") for row in [*names, *answered.rows]]
        else:
            copied = [_line(row).encode("utf-8") for row in [*names, *answered.rows]]
        return Outcome(f"COPY {len(answered.rows)}", columns, (), answered.aside, copied)


def _line(row: Sequence[Any]) -> str:
    cells = ("\\N" if cell is None else shown(cell).translate(_ESCAPES) for cell in row)
    return "\t".join(cells) + "\n"


def _csv(row: Sequence[Any]) -> str:
    """A line as PostgreSQL writes it: NULL is nothing, an empty text two quotes."""
    return ",".join("" if cell is None else _quoted(shown(cell)) for cell in row) + "\n"


def _quoted(text: str) -> str:
    plain = text and text != "\\." and not _SPECIAL & set(text) and text.strip(" ") == text
    return text if plain else '"' + text.replace('"', '""') + '"'


def _binary(rows: Sequence[Sequence[Any]], kinds: Sequence[int]) -> list[bytes]:
    """A message a row; the first one has the signature, and a last one ends it."""
    lines = [
        struct.pack("!h", len(row))
        + b"".join(
            message.sized(encoded(cell, kind, 1)) for cell, kind in zip(row, kinds, strict=True)
        )
        for row in rows
    ]
    first, *others = [*lines, struct.pack("!h", -1)]
    return [SIGNATURE + struct.pack("!ii", 0, 0) + first, *others]
