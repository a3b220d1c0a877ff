"""Id mark: a number made of an id, so that ids with equal rows do not keep equal ones.

It is the first six hexadecimal digits of the MD5 of the id as text, for whole numbers, texts and
UUIDs: these every engine writes down in one way, today and later. Ids of other types (times,
decimals, floats, objects) have no mark, for how they are written depends on settings and versions.

Privacy: A mark is a function of the row that holds it. Equal ids may be spelled differently and
have different marks; the sample takes the smallest mark among the rows of an id, which no other id
changes. Whether ids are equal is for PARTITION BY alone to say. Nothing secret rests on MD5.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa

MARK = "idmark"
_DIGITS = 6
_EXACT = 2.0**53
_MARKED = (int, float, str, np.integer)


def mark_of(value: object) -> int | None:
    """The mark of a Python value; equal whole numbers have one, as whole numbers or as floats."""
    whole = isinstance(value, float) and value.is_integer() and abs(value) < _EXACT
    if whole or isinstance(value, (int, np.integer)):
        text = str(int(value))  # type: ignore[call-overload]
    elif isinstance(value, str):
        text = str.__str__(value)
    else:
        return None
    digest = hashlib.md5(text.encode("utf-8", "replace"), usedforsecurity=False)
    return int(digest.hexdigest()[:_DIGITS], 16)


def marks(values: Iterable[object]) -> Any:
    """The marks of a column, as an Arrow array."""
    known: dict[tuple[type, object], int | None] = {}
    listed = []
    for value in values:
        mark = None
        if isinstance(value, _MARKED):
            key = (type(value), value)
            if key not in known:
                known[key] = mark_of(value)
            mark = known[key]
        listed.append(mark)
    return pa.array(listed, pa.int32())


def duckdb_mark(column: str, kind: str) -> str | None:
    """SQL of the mark of a DuckDB column; None for types without one."""
    whole = kind in _DUCKDB_WHOLE
    if not whole and kind not in ("VARCHAR", "UUID"):
        return None
    digits = f"substr(md5(CAST({column} AS VARCHAR)), 1, {_DIGITS})"
    return f"TRY_CAST('0x' || {digits} AS INTEGER)"


def postgresql_mark(column: str, kind: str) -> str | None:
    """SQL of the mark of a PostgreSQL column; None for types without one."""
    if kind.partition("(")[0] not in _POSTGRESQL:
        return None
    return f"('x' || substr(md5({column}::text), 1, {_DIGITS}))::bit({4 * _DIGITS})::integer"


def spark_mark(column: str, kind: str) -> str | None:
    """SQL of the mark of a Spark column; None for types without one."""
    if kind not in ("tinyint", "smallint", "int", "bigint") and not kind.startswith("string"):
        return None
    text = f"CAST(CAST({column} AS STRING) COLLATE UTF8_BINARY AS BINARY)"
    return f"CAST(conv(substr(md5({text}), 1, {_DIGITS}), 16, 10) AS INT)"


_DUCKDB_WHOLE = {
    f"{sign}{size}INT" for sign in ("", "U") for size in ("TINY", "SMALL", "BIG", "HUGE")
} | {"INTEGER", "UINTEGER"}
_POSTGRESQL = {"smallint", "integer", "bigint", "text", "character varying", "character", "uuid"}
