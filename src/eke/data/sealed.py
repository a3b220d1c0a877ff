"""Sealed engine: an embedded DuckDB that reads one table and nothing else, and says nothing.

Ibis writes the SQL of our expressions, DuckDB runs it. Analysts' text never gets here.

Privacy: The texts of engine errors quote raw cells, and a query engine can read any file it is
pointed at. So the connection is locked to the protected file before it is used, and every failure
inside it becomes one fixed message.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Sequence
from functools import lru_cache
from itertools import count
from typing import Any, Protocol, Self, TypeAlias, TypeVar

import duckdb
import ibis
import pyarrow as pa
from ibis.backends.sql.datatypes import DuckDBType

from eke.data.moments import ZONED_TYPE
from eke.errors import DataError

FAILURE = (
    "the data engine could not read the protected table; nothing was released. The engine's own "
    "message may quote private values and is withheld: check the file and its options with other "
    "tools, and that the table in coded form fits in memory"
)
_MOST_THREADS = 4
_SETTINGS: dict[str, str | bool] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
    "allow_persistent_secrets": False,
    # Private rows are never written to a temporary file; a table too large for memory fails.
    "temp_directory": "",
}

UNKNOWN = ibis.expr.datatypes.unknown
"""The type of a column that is passed on as it is and never part of an expression of ours."""

Result = TypeVar("Result")
Find: TypeAlias = Callable[[Any], Any]
"""From an expression of texts to that of their places in a list, NULL where it is not listed."""


class Engine(Protocol):
    """What reducing a table to its cells needs of an engine."""

    def hold(self, expression: Any) -> Any:
        """The table of an Ibis expression, stored for later use where that is possible."""
        ...

    def fetch(self, expression: Any) -> Any:
        """The rows of an Ibis expression as an Arrow table."""
        ...

    def finder(self, texts: Sequence[str]) -> Find | None:
        """What finds a text in a long list, if the engine can do better than to compare each."""
        ...


class SealedEngine:
    """An in-memory DuckDB that can read the given files and no others; use it in a with block."""

    __slots__ = ("_connection", "_numbers")

    def __init__(self, allowed_paths: Sequence[str] = ()) -> None:
        self._numbers = count()
        self._connection = shielded(lambda: _locked_connection(allowed_paths))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        shielded(self._connection.close)

    def run(self, sql: str) -> list[tuple[Any, ...]]:
        """The rows of a statement of ours, which may name files, tables and columns."""
        return shielded(lambda: self._connection.execute(sql).fetchall())

    def register(self, name: str, arrow: Any) -> Any:
        """The Ibis table of an Arrow table; moments with a zone are told in UTC (`moments`)."""
        schema, zoned = _plain(arrow.schema)
        plain = arrow if schema.equals(arrow.schema) else arrow.cast(schema)
        shielded(lambda: self._connection.register(name, plain))
        return self.table(name, zoned=zoned)

    def attach_parquet(self, name: str, path: str) -> frozenset[str]:
        """Let Arrow read a Parquet file as a table, moments in UTC; the columns of moments."""
        from pyarrow.dataset import dataset  # noqa: PLC0415 - takes long to load

        def attach() -> frozenset[str]:
            schema, zoned = _plain(dataset(path, format="parquet").schema)
            for place, field in enumerate(schema):
                if pa.types.is_duration(field.type):  # the file itself holds whole numbers
                    schema = schema.set(place, field.with_type(pa.int64()))
            self._connection.register(name, dataset(path, schema=schema, format="parquet"))
            return zoned

        return shielded(attach)

    def table(self, name: str, opaque: str | None = None, zoned: Container[str] = ()) -> Any:
        """The Ibis table of a table or view of the engine; Ibis need not know an opaque column.

        The `zoned` columns hold moments, told in UTC.
        """
        schema = {
            column: UNKNOWN
            if column == opaque
            else ZONED_TYPE
            if column in zoned
            else DuckDBType.from_string(kind)
            for column, kind in self.describe(name)
        }
        return ibis.table(schema, name=name)

    def describe(self, relation: str) -> list[tuple[str, str]]:
        """Names and types of the columns of a relation."""
        return [(name, kind) for name, kind, *_ in self.run(f"DESCRIBE FROM {relation}")]

    def hold(self, expression: Any) -> Any:
        name = f"held{next(self._numbers)}"
        self.run(f"CREATE TEMP TABLE {name} AS {_sql(expression)}")
        return ibis.table(expression.schema(), name=name)

    def fetch(self, expression: Any) -> Any:
        return shielded(lambda: self._connection.sql(_sql(expression)).to_arrow_table())

    def finder(self, texts: Sequence[str]) -> Find | None:
        """By the engine's own dictionary: texts are the same when their bytes are."""
        number = next(self._numbers)
        listed = pa.table({"place": range(len(texts)), "text": texts})
        shielded(lambda: self._connection.register(f"listed{number}", listed))
        in_order = f"SELECT text FROM listed{number} ORDER BY place"  # noqa: S608 - ours
        self.run(f"CREATE TEMP TYPE listing{number} AS ENUM ({in_order})")
        self.run(
            f"CREATE TEMP MACRO place{number}(word) AS "
            f"CAST(enum_code(TRY_CAST(word AS listing{number})) AS BIGINT)"
        )
        signature = ((ibis.expr.datatypes.string,), ibis.expr.datatypes.int64)
        find: Find = ibis.udf.scalar.builtin(
            lambda _: ..., name=f"place{number}", signature=signature
        )
        return find

    def fetch_over(self, rows: Any, select: str, columns: Sequence[str]) -> Any:
        """The result of a SELECT of ours over the table `coded`, an Ibis expression."""
        sql = f"WITH coded AS ({_sql(rows)}) {select}"
        return shielded(lambda: self._connection.sql(sql).to_arrow_table())

    @property
    def fence(self) -> str:
        """Nothing: this engine computes a column once."""
        return ""

    def lookup(self, values: Sequence[int], place: str) -> str:
        """SQL of the value at a place, from 0, of a list of numbers."""
        return f"([{', '.join(map(str, values))}])[{place} + 1]"


class OpenEngine:
    """The backend that an Ibis expression brings along; eke cannot seal it and stores nothing."""

    __slots__ = ()

    def hold(self, expression: Any) -> Any:
        return expression

    def fetch(self, expression: Any) -> Any:
        return shielded(expression.to_pyarrow)

    def finder(self, texts: Sequence[str]) -> Find | None:
        return None


def shielded(action: Callable[[], Result]) -> Result:
    """What the action returns; any failure inside becomes one fixed DataError.

    The error is raised after the handler has ended, so that it carries no reference to the
    engine's exception, neither as cause nor as context.
    """
    try:
        return action()
    except Exception:  # noqa: BLE001, S110 -- whatever the engine raises may quote a private value
        pass
    raise DataError(FAILURE)


def text_literal(text: str) -> str:
    """A text as a SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def quoted_name(name: str) -> str:
    """A name as a SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def _locked_connection(allowed_paths: Sequence[str]) -> duckdb.DuckDBPyConnection:
    threads = min(_MOST_THREADS, os.cpu_count() or 1)
    connection = duckdb.connect(":memory:", config={**_SETTINGS, "threads": threads})
    paths = ", ".join(text_literal(path) for path in allowed_paths)
    # The order matters: paths cannot be added once access is off, nor anything once locked.
    for setting in (
        f"allowed_paths = [{paths}]",
        "enable_external_access = false",
        "python_enable_replacements = false",
        "enable_progress_bar = false",
        "lock_configuration = true",
    ):
        connection.execute(f"SET {setting}")
    return connection


def _sql(expression: Any) -> str:
    return _written(expression.op())


@lru_cache(maxsize=128)
def _written(node: Any) -> str:
    """The SQL of an expression; writing it takes longer than reading a small table.

    Equal nodes are written alike: they hold names, types and constants, and no rows.
    """
    return str(ibis.to_sql(node.to_expr(), dialect="duckdb"))


def _plain(schema: pa.Schema) -> tuple[pa.Schema, frozenset[str]]:
    """The same columns as the engine takes them, and which hold moments, which are told in UTC.

    It would shift moments by the zone of its own, and does not know numbers of 16 bits.
    """
    kinds = {field.name: field.type for field in schema}
    zoned = frozenset(c for c, kind in kinds.items() if pa.types.is_timestamp(kind) and kind.tz)
    short = {c for c, kind in kinds.items() if pa.types.is_float16(kind)}
    other = {c: pa.timestamp(kinds[c].unit) for c in zoned} | dict.fromkeys(short, pa.float32())
    return pa.schema(list((kinds | other).items())), zoned
