"""Identity: the ids of a table in memory, as a column in which equal ids, and only they, are equal.

A database compares its own ids. For tables in memory there are two kinds of columns: those of one
Arrow type, whose values are equal when they are the same value, and those of Python objects, which
are compared by ``==``, so that 1, 1.0, True and Decimal("1.00") are one id.

Privacy: The unit is a class of equal ids. If equal ids were split, one individual would be counted
several times; if different ones were merged, the rows of one would displace those of another. So
no id is rewritten, cut or told apart by its type here, and what has no equality that sorts values
into classes (lists, objects equal only to themselves, a clock time that occurred twice) is refused,
when the table is opened and before anything is created.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Hashable, Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Any
from uuid import UUID

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from eke.errors import DataError

# Numbers are equal across these types, and so are their hashes; the others equal only their like.
_BASES: tuple[type, ...] = (
    *(int, float, complex, Decimal, Fraction, str, bytes, UUID),
    *(dt.datetime, dt.date, dt.time, dt.timedelta, tuple),
)
_NUMBERS = (np.bool_, np.integer, np.floating, np.complexfloating)
_EXTENSIONS = ("arrow.uuid", "arrow.json", "pandas.period")  # equal when what they store is
_YEARS = range(1, 10_000)  # where equal instants of pandas have equal hashes


class _NoEquality(Exception):
    """A value that cannot be an id."""


def no_equality(column: str, kind: str) -> DataError:
    """The refusal of a column of ids whose type has no equality where the table is."""
    return DataError(
        f"column {column!r} cannot be the id of a unit: the table's own engine cannot group rows "
        f"by values of type {kind}. Name a column of numbers or texts, if need be one of a view "
        "that makes such ids from these"
    )


def no_equality_of_objects(column: str) -> DataError:
    """The refusal of a column of objects of which some have no equality; it quotes none of them."""
    return DataError(
        f"column {column!r} cannot be the id of a unit: not all of its values can be compared with "
        "each other. Ids in memory may be numbers, texts, bytes, dates, times and UUIDs, and "
        "tuples of these; convert the column to one such type before you protect the table"
    )


def numbered(values: Iterable[object]) -> Any | None:
    """An Arrow column with a number for each class of equal objects, NULL where one is missing.

    None when some values cannot be compared; whatever goes wrong with a value is swallowed here.
    """
    known: dict[Hashable, int] = {}
    numbers: list[int | None] = []
    try:
        for value in values:
            plain = None if _is_missing(value) else _comparable(value)
            numbers.append(None if plain is None else known.setdefault(plain, len(known)))
    except Exception:  # noqa: BLE001 -- of an object of a foreign type, it may quote a value
        return None
    return pa.array(numbers, pa.int64())


def comparable_column(column: Any) -> Any | None:
    """An Arrow column in a type the engine compares as Arrow's values are; None if there is none.

    Whole numbers, texts and floats are left as they are: the engine takes 0.0 and -0.0 for equal,
    as Python does, and all NaNs for one. It would round times and decimals, so they are numbered.
    """
    array = _decoded(column)
    dtype = array.type
    if pa.types.is_boolean(dtype) or pa.types.is_integer(dtype):
        return array
    if pa.types.is_floating(dtype):
        return array.cast(pa.float32()) if pa.types.is_float16(dtype) else array
    if pa.types.is_string(dtype) or pa.types.is_large_string(dtype) or dtype == pa.string_view():
        return array.cast(pa.large_string())
    if pa.types.is_nested(dtype) or isinstance(dtype, pa.BaseExtensionType):
        return None
    if pa.types.is_decimal(dtype) and dtype.bit_width < 128:
        array = array.cast(pa.decimal128(dtype.precision, dtype.scale))
    try:
        coded = pc.dictionary_encode(array)  # one dictionary for all chunks
    except pa.ArrowNotImplementedError:
        return None
    return pa.chunked_array([chunk.indices for chunk in coded.chunks], pa.int32())


def plain_values(column: Any) -> list[Any] | None:
    """The values of an Arrow column of whole numbers, floats or texts; None for other types."""
    array = _decoded(column)
    dtype = array.type
    texts = pa.types.is_string(dtype) or pa.types.is_large_string(dtype)
    if texts or dtype == pa.string_view() or pa.types.is_integer(dtype):
        return list(array.to_pylist())
    return list(array.to_pylist()) if pa.types.is_floating(dtype) else None


def _decoded(column: Any) -> Any:
    """The values themselves of a column that stores them in another form."""
    array = column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])
    while True:
        dtype = array.type
        if pa.types.is_dictionary(dtype):
            array = array.cast(dtype.value_type)  # a dictionary may hold one value twice
        elif pa.types.is_run_end_encoded(dtype):
            array = pc.run_end_decode(array)
        elif getattr(dtype, "extension_name", None) in _EXTENSIONS:
            stored = [chunk.storage for chunk in array.chunks]
            array = pa.chunked_array(stored, dtype.storage_type)
        else:
            return array


def _is_missing(value: object) -> bool:
    if value is None or value is pd.NA or value is pd.NaT:
        return True
    if isinstance(value, Decimal):
        return value.is_nan()
    return isinstance(value, (float, complex, np.inexact)) and bool(value != value)  # noqa: PLR0124


def _comparable(value: object) -> Hashable:
    """The same value in a form of which ``==`` and hash() are those of Python's own types."""
    if isinstance(value, np.str_):
        return str.__str__(value)
    if isinstance(value, np.bytes_):
        return bytes.__getitem__(value, slice(None))  # .item() would cut zeros off at the end
    if isinstance(value, _NUMBERS):
        # NumPy rounds before it compares: float32(0.1) == 0.1 and int64(2**53 + 1) == 2.0**53.
        value = value.item()
    if isinstance(value, pd.Timestamp):
        return _instant(value)
    if isinstance(value, pd.Timedelta):
        return value.as_unit("ns")
    for base in _BASES:
        if isinstance(value, base) and _compares_as(type(value), base):
            return _checked(value)
    raise _NoEquality


def _compares_as(kind: type, base: type) -> bool:
    return kind.__eq__ is base.__eq__ and kind.__hash__ is base.__hash__


def _checked(value: Any) -> Hashable:
    if isinstance(value, tuple):
        return tuple(None if part is None else _part(part) for part in value)
    if isinstance(value, dt.datetime) and value.tzinfo is not None:
        other = value.replace(fold=1 - value.fold)
        if value.utcoffset() != other.utcoffset():
            # Python has the two hours with one name equal to each other and to no other zone's.
            raise _NoEquality
    return value  # type: ignore[no-any-return]


def _part(value: object) -> Hashable:
    if _is_missing(value):
        raise _NoEquality  # (nan,) is equal to itself or not, depending on the object
    return _comparable(value)


def _instant(value: pd.Timestamp) -> Hashable:
    """The moment itself: pandas hashes the second of two hours with one name like the first."""
    if value.year not in _YEARS:
        raise _NoEquality
    return value if value.tzinfo is None else value.tz_convert("UTC")
