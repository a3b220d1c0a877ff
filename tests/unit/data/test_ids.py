"""Ids of tables in memory are compared by equality of values, whatever they are."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Hashable
from decimal import Decimal
from functools import partial
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from eke.data import memory, open_source
from eke.data.identity import numbered
from eke.errors import DataError
from eke.privacy.unit import Unit
from tests.parts import every
from tests.unit.data.id_check import (
    DOMAIN,
    LENGTH,
    ONE,
    Classes,
    Ids,
    caught,
    check_ids,
    chosen,
    classes_of,
    kept_rows,
)
from tests.unit.data.id_kinds import (
    ARROW,
    NESTED,
    OBJECTS,
    REFUSED_OBJECTS,
    arrow_column,
)
from tests.unit.data.slow_twin import CANARY

# Ibis 12 still calls a method that DuckDB 2 has renamed, and reads an option that pandas gives up.
pytestmark = [
    pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:The 'future.infer_string' option:DeprecationWarning"),
]

ROWS = range(LENGTH)


# -- Arrow ---------------------------------------------------------------------------------------


def arrow_classes(column: Any) -> Classes:
    """The rows with equal values, as Arrow says; NaN is not equal to itself but one id."""

    def plain(scalar: Any) -> Any:
        return scalar.value if isinstance(scalar, pa.DictionaryScalar) else scalar

    def equal(one: Any, other: Any) -> bool:
        if not one.is_valid or not other.is_valid:
            return bool(one.is_valid == other.is_valid)
        if pa.types.is_floating(one.type) and math.isnan(one.as_py()):
            return math.isnan(other.as_py())
        return bool(one.equals(other))

    scalars = [plain(scalar) for scalar in column]
    return classes_of([next(n for n in ROWS if equal(scalars[n], one)) for one in scalars])


def check_arrow(kind: str, rows: int = 1) -> None:
    column = arrow_column(kind)
    table = pa.table({"who": column, "row": ROWS})
    chunks = pa.concat_tables([table.slice(0, 3), table.slice(3, 8), table.slice(11)])
    own = arrow_classes(column)
    check_ids(chunks, table.slice(len(ONE)), "who", own, len(own), rows)


@pytest.mark.parametrize("kind", every(3, ARROW, first=1))
def test_ids_of_arrow_tables(kind: str) -> None:
    check_arrow(kind)


def test_of_every_id_so_many_rows_count_as_its_unit_allows() -> None:
    for kind in ("float64", "decimal256", "zoned"):
        for rows in (2, 3, 5):
            check_arrow(kind, rows)


@pytest.mark.parametrize("kind", NESTED)
def test_arrow_types_without_an_equality_are_refused(kind: str) -> None:
    table = pa.table({"who": NESTED[kind], "row": range(len(NESTED[kind]))})
    tables: list[object] = [table]
    if kind in ("list", "struct"):
        tables += [pl.from_arrow(table), table.to_pandas(types_mapper=pd.ArrowDtype)]
    for data in tables:
        with pytest.raises(DataError, match=r"'who' cannot be the id of a unit: the table's own"):
            open_source(data, DOMAIN, Unit("who"))


def test_ids_of_run_lengths_are_ids() -> None:
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([2, 3, 5], pa.int32()), ["a", "b", "a"])
    assert kept_rows(pa.table({"who": runs, "row": range(5)}), "who", 1) == chosen(
        [0, 1, 3, 4], 1
    ) | {2}


# -- polars --------------------------------------------------------------------------------------


def polars_series(kind: str) -> Any:
    return pl.DataFrame(pa.table({"who": arrow_column(kind)})).get_column("who")


POLARS_LACKS = ("interval", "hundreds", "decimal256", "uuid", "json", "words", "days")
POLARS: dict[str, Callable[[], Any]] = {
    **{kind: partial(polars_series, kind) for kind in ARROW if kind not in POLARS_LACKS},
    "Int128": lambda: pl.Series(Ids([10**38], [10**38 + 1]).column(), dtype=pl.Int128),
    "Categorical": lambda: pl.Series(Ids(["a"], ["A", "b"]).column(), dtype=pl.Categorical),
    "Enum": lambda: pl.Series(Ids(["a"], ["b"]).column(), dtype=pl.Enum(["b", "a"])),
    "Decimal": lambda: pl.Series(ARROW["scaled"][1].column(), dtype=pl.Decimal(38, 30)),
    "Null": lambda: pl.Series([None] * LENGTH),
}


def polars_classes(series: Any) -> Classes:
    frame = pl.DataFrame({"who": series, "row": ROWS})
    groups = frame.group_by("who").agg("row")["row"]
    assert len(groups) == series.n_unique()
    return [frozenset(group) for group in groups.to_list()]


@pytest.mark.parametrize("kind", every(3, (kind for kind in POLARS if kind != "Null")))
def test_ids_of_polars_tables(kind: str) -> None:
    series = POLARS[kind]()
    frame = pl.DataFrame({"who": series, "row": ROWS})
    check_ids(frame, frame[len(ONE) :], "who", polars_classes(series), series.n_unique())


@pytest.mark.parametrize("kind", OBJECTS)
def test_ids_of_objects_in_polars_tables(kind: str) -> None:
    values = OBJECTS[kind].column()
    frame = pl.DataFrame([pl.Series("who", values, dtype=pl.Object), pl.Series("row", ROWS)])
    own = classes_of(values)
    check_ids(frame, frame[len(ONE) :], "who", own, len(own))


def test_rows_without_an_id_are_one_unit() -> None:
    assert kept_rows(pl.DataFrame({"who": POLARS["Null"](), "row": ROWS}), "who", 2) == chosen(
        ROWS, 2
    )
    missing = [None, math.nan, pd.NA, pd.NaT, np.float32("nan"), complex(math.nan, 1), 7]
    frame = pd.DataFrame({"who": pd.Series(missing, dtype=object), "row": range(7)})
    assert kept_rows(frame, "who", 1) == chosen(range(6), 1) | {6}


# -- pandas --------------------------------------------------------------------------------------


def series_of(values: Any, dtype: Any = object) -> Any:
    return pd.Series(values, dtype=dtype)


def series_of_objects(kind: str) -> Any:
    return series_of(OBJECTS[kind].column())


def series_of_arrow(kind: str) -> Any:
    held = pd.arrays.ArrowExtensionArray(pa.chunked_array([arrow_column(kind)]))
    return series_of(held, None)


# pandas does not group by these types of Arrow, or groups 0.0 and -0.0, and NaNs, by their bits.
PANDAS_LACKS = (
    *("words", "days", "interval", "uuid", "json", "decimal32", "decimal64", "string_view"),
    *("binary_view", "float16", "float32", "float64", "nan32", "nan64"),
)
FOLD = pd.Timestamp("2024-11-03 05:30", tz="UTC")
PANDAS: dict[str, Callable[[], Any]] = {
    **{kind: partial(series_of_objects, kind) for kind in OBJECTS},
    **{f"{k}[pyarrow]": partial(series_of_arrow, k) for k in ARROW if k not in PANDAS_LACKS},
    "int64": lambda: series_of(Ids([2**53], [2**53 + 1]).column(0), "int64"),
    "uint64": lambda: series_of(Ids([2**64 - 1], [2**64 - 2]).column(0), "uint64"),
    "float16": lambda: series_of(Ids([0.0, -0.0], [0.5]).column(math.nan), "float16"),
    "float64": lambda: series_of(Ids([0.0, -0.0], [5e-324]).column(math.nan), "float64"),
    "complex": lambda: series_of(Ids([0j, complex(0, -0.0)], [1j]).column(math.nan), "complex128"),
    "Int64": lambda: series_of(Ids([2**53], [2**53 + 1]).column(pd.NA), "Int64"),
    "Float64": lambda: series_of(Ids([0.0, -0.0], [5e-324]).column(pd.NA), "Float64"),
    "boolean": lambda: series_of(Ids([True], [False]).column(pd.NA), "boolean"),
    "str": lambda: series_of(Ids(["a"], ["A", "a "]).column(None), "str"),
    "string": lambda: series_of(Ids(["a"], ["A", "a\0"]).column(None), "string"),
    "category": lambda: series_of(Ids(["a"], ["A"]).column(None), "category"),
    "mixed category": lambda: series_of(Ids([1, 1.0, True], ["1", 2]).column(None), "category"),
    "date category": lambda: series_of(
        Ids([dt.date(2020, 1, 1)], [pd.Timestamp(2020, 1, 1, 12)]).column(None), "category"
    ),
    "sparse": lambda: series_of(Ids([1], [2]).column(0), "Sparse[int]"),
    "period": lambda: series_of(Ids(["2020-01"], ["2020-02"]).column(None), "period[M]"),
    "datetime64": lambda: series_of(Ids([0], [1, 2]).column(None), "datetime64[ns]"),
    "zoned": lambda: series_of(
        [FOLD if v == 0 else FOLD + pd.Timedelta(v, "ns") for v in Ids([0], [1, 3600e9]).column(7)],
        "datetime64[ns, America/New_York]",
    ),
    "timedelta64": lambda: series_of(Ids([0], [1, 2]).column(None), "timedelta64[ns]"),
}


def check_pandas(kind: str) -> None:
    series = PANDAS[kind]()
    frame = pd.DataFrame({"who": series, "row": ROWS})
    numbers, values = pd.factorize(series)
    distinct = series.nunique() + bool(series.isna().any())
    assert distinct == len(values) + bool((numbers < 0).any())
    others = frame.iloc[len(ONE) :].sample(frac=1, random_state=1)
    check_ids(frame, others, "who", classes_of(numbers.tolist()), distinct)


@pytest.mark.parametrize("kind", every(3, PANDAS, first=2))
def test_ids_of_pandas_tables(kind: str) -> None:
    check_pandas(kind)


@pytest.mark.parametrize("kind", REFUSED_OBJECTS)
def test_objects_without_an_equality_are_refused_with_advice(kind: str) -> None:
    column = series_of([CANARY, REFUSED_OBJECTS[kind]])
    with pytest.raises(DataError, match="convert the column to one such type") as caught_error:
        open_source(pd.DataFrame({"who": column, "row": [0, 1]}), DOMAIN, Unit("who"))
    assert CANARY not in str(caught_error.value)
    assert caught_error.value.__context__ is None


def test_hostile_equalities_are_never_called() -> None:
    class Liar(str):
        __slots__ = ()
        __hash__ = str.__hash__

        def __eq__(self, other: object) -> bool:
            raise AssertionError(CANARY)

    class Alone:
        pass

    for value in (Liar("a"), Alone(), np.void(b"a")):
        assert numbered(["a", value]) is None


def test_hours_that_the_clock_shows_twice_are_refused_or_told_apart() -> None:
    zone = ZoneInfo("America/New_York")
    first, second = (dt.datetime(2024, 11, 3, 1, 30, tzinfo=zone, fold=f) for f in (0, 1))
    assert first == second, "though an hour lies between them"
    assert numbered([first]) is numbered([second]) is None
    # pandas compares instants, but hashes the second like the first.
    instants = [FOLD, FOLD.tz_convert(zone), FOLD + pd.Timedelta("1h")]
    instants.append(instants[-1].tz_convert(zone))
    assert instants[2] == instants[3]
    numbers = numbered([*instants, instants[-1].to_pydatetime().astimezone(dt.UTC)])
    assert numbers is not None
    assert numbers.to_pylist() == [0, 0, 1, 1, 1]


def test_columns_of_foreign_extensions_are_compared_as_objects() -> None:
    class Rounded(pd.api.extensions.ExtensionDtype):
        name = "rounded"
        type = float

    assert not memory._is_plain(Rounded())
    assert memory._is_plain(pd.CategoricalDtype(["a"]))
    assert not memory._is_plain(pd.CategoricalDtype(pd.Index([1, "a"], dtype=object)))


def test_there_are_at_least_forty_kinds_for_each_table_in_memory() -> None:
    assert min(len(ARROW), len(POLARS), len(PANDAS)) >= 40


# -- positive controls: what ids once were, and the findings ----------------------------------


def test_the_check_catches_ids_told_apart_by_their_type(monkeypatch) -> None:
    def typed(values: list[Any]) -> Any:
        known: dict[Hashable, int] = {}
        return pa.array(
            [
                None if pd.isna(v) is True else known.setdefault((type(v), repr(v)), len(known))
                for v in values
            ]
        )

    monkeypatch.setattr(memory, "numbered", typed)
    found = caught(OBJECTS, check_pandas)
    assert found >= {"numbers", "decimals", "texts", "times", "zeros", "zones"}


def test_the_check_catches_arrow_columns_handed_over_as_attributes_are(monkeypatch) -> None:
    """Python's times have no nanoseconds, and DOUBLE no 60 digits."""

    def as_attribute(column: Any) -> Any:
        if pa.types.is_decimal(column.type):
            return column.cast(pa.float64())
        values = memory._plain(column)
        return numbered(values) if isinstance(values, list) else values

    monkeypatch.setattr(memory, "comparable_column", as_attribute)
    kinds = ("int64", "time64", "decimal128", "decimal256", "string")
    assert caught(kinds, check_arrow) == {"time64", "decimal128", "decimal256"}


@pytest.mark.parametrize(
    "same",
    [
        [1, np.int64(1), 1.0, True],
        [Decimal("1.0"), Decimal("1.00")],
        ["a", np.str_("a")],
    ],
)
def test_one_id_in_several_spellings_is_counted_once(same: list[object]) -> None:
    frame = pd.DataFrame({"who": series_of(same), "row": range(len(same))})
    assert kept_rows(frame, "who", 1) == chosen(range(len(same)), 1)
