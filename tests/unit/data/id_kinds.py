"""Kinds of ids for tables in memory and in Parquet: values that merge or split easily."""

from __future__ import annotations

import datetime as dt
import math
import uuid
from decimal import Decimal
from enum import IntEnum, StrEnum
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from tests.unit.data.id_check import Ids

HUGE = 10**38
DAY = dt.date(2020, 1, 1)
NOON = dt.datetime(2020, 1, 1, 12)  # noqa: DTZ001 -- a time without a zone is a kind of its own
UTC_NOON = NOON.replace(tzinfo=dt.UTC)
PARIS_NOON = UTC_NOON.astimezone(dt.timezone(dt.timedelta(hours=1)))
NUMBER = uuid.UUID(int=1)


class Colour(StrEnum):
    RED = "red"


class Place(IntEnum):
    FIRST = 1


def nan_of(payload: int) -> float:
    return float(np.array([0x7FF8 << 48 | payload], np.uint64).view(np.float64)[0])


ARROW: dict[str, tuple[Any, Ids]] = {
    "bool": (pa.bool_(), Ids([True], [False])),
    "int8": (pa.int8(), Ids([1], [-1, 127, -128])),
    "int16": (pa.int16(), Ids([1], [2**15 - 1])),
    "int32": (pa.int32(), Ids([1], [-(2**31), 2**31 - 1])),
    "int64": (pa.int64(), Ids([2**53], [2**53 + 1, 2**63 - 1, 2**63 - 2])),
    "uint8": (pa.uint8(), Ids([255], [0])),
    "uint16": (pa.uint16(), Ids([2**16 - 1], [0])),
    "uint32": (pa.uint32(), Ids([2**32 - 1], [2**31])),
    "uint64": (pa.uint64(), Ids([2**64 - 1], [2**64 - 2, 2**63])),
    "float16": (pa.float16(), Ids([np.float16(0.0), np.float16(-0.0)], [np.float16(0.5)])),
    "float32": (pa.float32(), Ids([0.0, -0.0], [1e-45, math.inf, -math.inf])),
    "float64": (pa.float64(), Ids([0.0, -0.0], [5e-324, -5e-324, 2.0**53])),
    "nan32": (pa.float32(), Ids([math.nan, -math.nan], [math.inf])),
    "nan64": (pa.float64(), Ids([nan_of(0), nan_of(1), -math.nan], [math.inf, -math.inf])),
    "decimal32": (pa.decimal32(9, 2), Ids([Decimal("1.00"), Decimal(1)], [Decimal("1.01")])),
    "decimal64": (pa.decimal64(18, 0), Ids([Decimal(2**53)], [Decimal(2**53 + 1)])),
    "decimal128": (pa.decimal128(38, 0), Ids([Decimal(HUGE - 1)], [Decimal(HUGE - 2)])),
    "scaled": (pa.decimal128(38, 30), Ids([Decimal("1.0"), Decimal("1.00")], [Decimal("1e-30")])),
    "hundreds": (pa.decimal128(5, -2), Ids([Decimal(100)], [Decimal(200)])),
    "decimal256": (pa.decimal256(60, 0), Ids([Decimal(10**50)], [Decimal(10**50 + 1)])),
    "string": (pa.string(), Ids(["a"], ["A", "a ", " a", "", "é", "e\u0301"])),
    "zeros": (pa.string(), Ids(["a\0"], ["a", "a\0b", "\0"])),
    "large_string": (pa.large_string(), Ids(["1"], ["1.0", "01", "+1"])),
    "string_view": (pa.string_view(), Ids(["x" * 40], ["x" * 41, "x"])),
    "binary": (pa.binary(), Ids([b"\xff"], [b"\xfe", b"", b"\xff\0"])),
    "large_binary": (pa.large_binary(), Ids([b"a"], [b"A"])),
    "binary_view": (pa.binary_view(), Ids([b"a" * 20], [b"a" * 21])),
    "fixed": (pa.binary(2), Ids([b"a\0"], [b"a ", b"aa"])),
    "date32": (pa.date32(), Ids([DAY], [dt.date(2020, 1, 2), dt.date(1, 1, 1)])),
    "date64": (pa.date64(), Ids([DAY], [dt.date(2020, 1, 2)])),
    "seconds": (pa.timestamp("s"), Ids([0], [1, 2**40])),
    "milliseconds": (pa.timestamp("ms"), Ids([0], [1])),
    "microseconds": (pa.timestamp("us", "UTC"), Ids([UTC_NOON, PARIS_NOON], [0, 1])),
    "nanoseconds": (pa.timestamp("ns"), Ids([0], [1, 2, 999])),
    "zoned": (pa.timestamp("ns", "Europe/Paris"), Ids([0], [1, 2, 999])),
    "time32": (pa.time32("ms"), Ids([0], [1])),
    "micro time": (pa.time64("us"), Ids([0], [1])),
    "time64": (pa.time64("ns"), Ids([0], [1, 2, 999])),
    "duration": (pa.duration("ns"), Ids([0], [1, 999])),
    "interval": (
        pa.month_day_nano_interval(),
        Ids([pa.MonthDayNano([1, 0, 0])], [pa.MonthDayNano([0, 30, 0])]),
    ),
    "uuid": (pa.uuid(), Ids([NUMBER.bytes], [uuid.UUID(int=2).bytes])),
    "json": (pa.json_(), Ids(['{"a":1}'], ['{"a": 1}'])),
    "words": (pa.dictionary(pa.int32(), pa.string()), Ids(["a"], ["A", "b"])),
    "days": (pa.dictionary(pa.int8(), pa.timestamp("ns")), Ids([0], [1, 2])),
}
"""Arrow types. Numbers stand for times of their unit."""

NESTED: dict[str, Any] = {
    "list": pa.array([[1], [2]]),
    "struct": pa.array([{"a": 1}, {"a": 2}]),
    "map": pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int32())),
    "bool8": pa.ExtensionArray.from_storage(pa.bool8(), pa.array([1, 2], pa.int8())),
}
"""Arrow types whose values have no equality in Arrow, or one that its storage does not have."""


def arrow_column(kind: str) -> Any:
    """The Arrow array of a kind; one dictionary holds its values twice."""
    dtype, ids = ARROW[kind]
    values = ids.column()
    if not pa.types.is_dictionary(dtype):
        return pa.array(values, dtype)
    plain = pa.array(values, dtype.value_type)
    places = pa.array([None if v is None else n for n, v in enumerate(values)], dtype.index_type)
    return pa.DictionaryArray.from_arrays(places, plain)


OBJECTS: dict[str, Ids] = {
    "numbers": Ids([1, np.int64(1), 1.0, True], [2, "1", b"1"]),
    "more numbers": Ids([Decimal(1), Fraction(1), np.float32(1), 1 + 0j], [Decimal("1.1"), 1.1]),
    "few numbers": Ids([np.bool_(True), np.uint8(1), Place.FIRST], [False]),
    "decimals": Ids([Decimal("1.0"), Decimal("1.00"), Decimal("10e-1")], [Decimal("1.000001")]),
    "wide numbers": Ids([2**53 + 1, np.int64(2**53 + 1)], [2.0**53, 2**53 + 2]),
    "narrow floats": Ids([np.float32(0.1)], [0.1, np.float16(0.1)]),
    "zeros": Ids([0, 0.0, -0.0, Decimal("-0")], [5e-324]),
    "enormous": Ids([10**400, Decimal(10**400)], [10**400 + 1, math.inf]),
    "texts": Ids(["a", np.str_("a")], ["A", "a\0", b"a", "e\u0301", "é"]),
    "enums": Ids(["red", Colour.RED], ["RED"]),
    "surrogates": Ids(["\ud800"], ["\ud801"]),
    "bytes": Ids([b"a\0", np.bytes_(b"a\0")], [b"a", "a"]),
    "dates": Ids([DAY], [dt.datetime(2020, 1, 1), "2020-01-01"]),  # noqa: DTZ001
    "times": Ids([NOON, pd.Timestamp(NOON)], [pd.Timestamp(NOON) + pd.Timedelta(1, "ns")]),
    "zones": Ids([UTC_NOON, PARIS_NOON, pd.Timestamp(PARIS_NOON)], [NOON]),
    "durations": Ids([dt.timedelta(1), pd.Timedelta(1, "D")], [pd.Timedelta(1, "ns"), 1]),
    "clock": Ids([dt.time(12)], [dt.time(12, 0, 0, 1)]),
    "uuids": Ids([NUMBER, uuid.UUID(int=1)], [uuid.UUID(int=2), str(NUMBER), 1]),
    "pairs": Ids([(1, "a"), (1.0, np.str_("a"))], [(1, "A"), ("a", 1), (1, None)]),
    "missing": Ids([1], [2]),
}
"""Columns of Python objects."""

REFUSED_OBJECTS: dict[str, object] = {
    "list": [1],
    "dict": {"a": 1},
    "set": {1},
    "bytearray": bytearray(b"a"),
    "object": object(),
    "exception": ValueError("a"),
    "long double": np.longdouble(1),
    "datetime64": np.datetime64("2020-01-01"),
    "array": np.array([1]),
    "tuple of a list": ([1],),
    "tuple of nan": (math.nan,),
    "far away": pd.Timestamp(np.datetime64(2**50, "s")),
    "type": int,
    "frozenset": frozenset([1]),
}
"""Objects without an equality, or with one that sorts them into no classes."""
