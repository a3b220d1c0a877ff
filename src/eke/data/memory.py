"""Memory: pandas, polars and Arrow tables brought into the few column types the engine reads.

Columns of Python objects may hold anything in any row, so they are coded here, value by value, by
`Attribute.code` itself; columns of one plain type are left to the engine. Ids go another way,
through `identity`: forms that are right for what is compared with public constants would merge or
split ids.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from eke.data.id_mark import MARK, marks
from eke.data.identity import (
    comparable_column,
    no_equality,
    no_equality_of_objects,
    numbered,
    plain_values,
)
from eke.data.moments import FIRST_SECOND, LAST_SECOND
from eke.data.reduction import ID, code_column
from eke.data.sealed import shielded
from eke.domain import Attribute, Domain
from eke.errors import DataError
from eke.privacy.unit import Unit

Column: TypeAlias = Any  # an Arrow array of a plain type, or a list of Python objects
Coding: TypeAlias = Callable[[Attribute, object], int | None]
_OUTSIDE = object()
_LARGEST_EXPONENT = 400
# Polars hands out objects as addresses, and Arrow does not know 128-bit integers.
_OBJECTS_OF_POLARS = ("Object", "Int128", "UInt128")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MemoryTable:
    """A pandas, polars or Arrow table and the names of its columns."""

    data: Any
    names: tuple[str, ...]

    def column(self, name: str) -> Column:
        """One column, of one plain Arrow type where it has one, else as a list of objects."""
        return shielded(lambda: _column(self.data, name))

    def ids(self, name: str) -> Any:
        """One column as ids: an Arrow column in which equal ids, and only they, are equal."""
        column = shielded(lambda: _raw_ids(self.data, name))
        if isinstance(column, list):
            numbers = numbered(column)
            if numbers is None:
                raise no_equality_of_objects(name)
            return numbers
        comparable = shielded(lambda: comparable_column(column))
        if comparable is None:
            raise no_equality(name, str(column.type))
        return comparable

    def raw_type(self, name: str) -> pa.DataType | None:
        """The type of Arrow's that a column has before anything is made of it; None for objects."""
        is_arrow = isinstance(self.data, pa.Table)
        empty = shielded(lambda: self.data.slice(0, 0) if is_arrow else self.data.head(0))
        raw = shielded(lambda: _raw_ids(empty, name))
        return None if isinstance(raw, list) else raw.type

    def coded(
        self, domain: Domain, unit: Unit | None, *, by: Coding = Attribute.code
    ) -> tuple[Any, frozenset[str]]:
        """An Arrow table with engine names, and the attributes of it that hold codes already.

        `by` makes a code of a single value, or its fate.
        """
        arrays, coded = {}, set()
        for place, (name, attribute) in enumerate(domain.attributes):
            column = self.column(name)
            if isinstance(column, list):
                column = pa.array(_codes(column, attribute, by), pa.int64())
                coded.add(name)
            arrays[code_column(place)] = column
        if unit:
            arrays[ID] = self.ids(unit.column)
            arrays[MARK] = shielded(lambda: _marks(_raw_ids(self.data, unit.column)))
        return pa.table(arrays), frozenset(coded)


def memory_table(data: Any) -> MemoryTable | None:
    """The table in memory that an object is, or None when it is nothing of the kind."""
    if isinstance(data, pd.DataFrame):
        names = list(data.columns)
    elif _is_polars(data):
        if not hasattr(data, "get_column"):
            raise DataError("call .collect() on the polars LazyFrame first, or scan a file")
        names = list(data.columns)
    elif hasattr(data, "__arrow_c_stream__"):
        data = shielded(lambda: pa.table(data))
        names = list(data.column_names)
    elif isinstance(data, pa.RecordBatch):
        data = pa.Table.from_batches([data])
        names = list(data.column_names)
    else:
        return None
    if not all(isinstance(name, str) for name in names) or len(set(names)) != len(names):
        raise DataError("the columns of the table need different texts as names; rename them")
    return MemoryTable(data, tuple(names))


def _is_polars(data: object) -> bool:
    return type(data).__module__.partition(".")[0] == "polars"


def _column(data: Any, name: str) -> Column:
    if isinstance(data, pd.DataFrame):
        series = data[name]
        if series.dtype == object:
            return list(series)
        try:
            return _plain(pa.array(series, from_pandas=True))
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            return list(series)
    if _is_polars(data):
        series = data.get_column(name)
        if str(series.dtype) in _OBJECTS_OF_POLARS:
            return series.to_list()
        return _plain(series.to_arrow())
    return _plain(data.column(name))


def _raw_ids(data: Any, name: str) -> Any:
    """One column as it is, of its own Arrow type if that holds all it holds, else as objects."""
    if isinstance(data, pd.DataFrame):
        series = data[name]
        if not _is_plain(series.dtype):
            return list(series)
        try:
            return pa.array(series, from_pandas=True)
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            return list(series)
    if _is_polars(data):
        series = data.get_column(name)
        if str(series.dtype) in _OBJECTS_OF_POLARS:
            return series.to_list()
        return series.to_arrow()
    return data.column(name)


def _marks(ids: Any) -> Any:
    values = ids if isinstance(ids, list) else plain_values(ids)
    return pa.nulls(len(ids), pa.int32()) if values is None else marks(values)


def _is_plain(dtype: Any) -> bool:
    """True when pandas knows how Arrow holds the values; of objects Arrow would make one type."""
    if isinstance(dtype, pd.CategoricalDtype):
        return _is_plain(dtype.categories.dtype)
    known = isinstance(dtype, np.dtype) or type(dtype).__module__.partition(".")[0] == "pandas"
    return known and not pd.api.types.is_object_dtype(dtype)


def _plain(array: Any) -> Column:
    """The same values in a type the engine reads as `coding` says, or as a list of objects."""
    if pa.types.is_dictionary(array.type):
        array = array.cast(array.type.value_type)
    dtype = array.type
    if pa.types.is_float16(dtype):
        return array.cast(pa.float32())
    if pa.types.is_decimal(dtype) and dtype.bit_width <= 128 and 0 <= dtype.scale <= 38:
        return array.cast(pa.decimal128(max(dtype.precision, dtype.scale), dtype.scale))
    if pa.types.is_string(dtype) or pa.types.is_large_string(dtype) or dtype == pa.string_view():
        return array.cast(pa.large_string())
    if pa.types.is_timestamp(dtype) or pa.types.is_date64(dtype) or pa.types.is_time(dtype):
        return _moments(array)
    if (
        pa.types.is_boolean(dtype)
        or pa.types.is_date32(dtype)
        or pa.types.is_integer(dtype)
        or dtype in (pa.float32(), pa.float64())
    ):
        return array
    return array.to_pylist()


def _moments(array: Any) -> Any:
    """Times by seconds, within the years that every engine knows; those with a zone in UTC."""
    if pa.types.is_time(array.type):
        return array.cast(pa.time64("us"), safe=False)  # nanoseconds are cut off
    dtype = pa.timestamp("ms") if pa.types.is_date64(array.type) else array.type
    units = {"s": 1, "ms": 1000, "us": 10**6, "ns": 10**9}
    whole = pc.fill_null(array.cast(pa.int64()), 0).to_numpy()
    # Rounded down, not towards 1970: the engine does not.
    seconds = np.clip(whole // units[dtype.unit], FIRST_SECOND, LAST_SECOND)
    zone = None if dtype.tz is None else "UTC"
    missing = pc.is_null(array).to_numpy(zero_copy_only=False)
    return pa.array(seconds * 10**6, pa.int64(), mask=missing).cast(pa.timestamp("us", zone))


def _codes(values: list[object], attribute: Attribute, by: Coding) -> list[int | None]:
    known: dict[object, int | None] = {}
    codes = []
    for value in values:
        plain = _presentable(value)
        key = (type(plain), plain)
        if key not in known:
            known[key] = by(attribute, plain)
        codes.append(known[key])
    return codes


def _presentable(value: object) -> Hashable:
    """The value as `Attribute.code` takes it: missing ones are None, lists and the like outside."""
    if value is pd.NaT or value is pd.NA or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, Decimal) and value.is_finite() and value.adjusted() > _LARGEST_EXPONENT:
        # As a whole number it might fill the memory with digits; it is beyond all bounds anyway.
        return math.copysign(math.inf, value)
    return value if isinstance(value, Hashable) else _OUTSIDE
