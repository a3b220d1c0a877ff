"""A table that Spark reads, coded and counted by Spark, for tables past one machine.

Ibis writes the SQL of our expressions, Spark runs it where the rows are, and only codes and counts
are collected.

Privacy: texts of attributes are compared byte by byte, whatever collation a column declares; ids
are compared as Spark compares their column. Spark is the curator's own: eke can neither seal it nor
keep it from logging, and gives it no expression that fails on a raw value (Spark's messages about a
failing row quote it).
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import Any, Self

import ibis

from eke.data.id_mark import MARK, spark_mark
from eke.data.identity import no_equality
from eke.data.moments import FIRST_SECOND, LAST_SECOND, ZONED_TYPE
from eke.data.sealed import UNKNOWN, Find, shielded
from eke.data.server_table import SparkTable
from eke.errors import DataError

_PLAIN = {
    "boolean": "boolean",
    "tinyint": "int8",
    "smallint": "int16",
    "int": "int32",
    "bigint": "int64",
    "float": "float32",
    "double": "float64",
    "date": "date",
    "timestamp_ntz": "timestamp(6)",
}


class SparkEngine:
    """One table of the active Spark session; use it in a with block."""

    __slots__ = ("_frame", "_session", "_view")

    def __init__(self, table: SparkTable) -> None:
        self._session = _session()
        self._view = f"eke_{secrets.token_hex(8)}"
        try:
            self._frame = shielded(lambda: _frame(self._session, table))
        except DataError:
            name = table.table or table.parquet
            raise DataError(
                f"Spark cannot open {name}; check the name, and that the session sees it"
            ) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        shielded(lambda: self._session.catalog.dropTempView(self._view))

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of the table."""
        return tuple(self._frame.columns)

    def table(self, wanted: Mapping[str, str], identity: str) -> Any:
        """An Ibis table of some columns: the keys are its names, the values those of Spark."""
        shown = self.shown_types(wanted)
        chosen, types = [], {}
        for name, source in wanted.items():
            form, types[name] = _form(_quoted(source), shown[name])
            if name == identity:
                form, types[name] = _quoted(source), UNKNOWN
                mark = spark_mark(form, shown[name])
                if mark is not None:
                    chosen.append(f"{mark} AS {MARK}")
                    types[MARK] = "int32"
            chosen.append(f"{form} AS {name}")
        shielded(lambda: self._frame.selectExpr(*chosen).createOrReplaceTempView(self._view))
        if identity in wanted and not shielded(lambda: self._compares(identity)):
            raise no_equality(wanted[identity], shown[identity])
        return ibis.table(types, name=self._view)

    def _compares(self, name: str) -> bool:
        """False when Spark has no order for a column, which it says without running anything."""
        from pyspark.errors import AnalysisException  # noqa: PLC0415 -- an optional back end

        groups = f"row_number() OVER (PARTITION BY {name} ORDER BY 1)"
        try:
            self._session.sql(f"SELECT {groups} FROM {self._view}")  # noqa: S608 -- names are ours
        except AnalysisException:
            return False
        return True

    def shown_types(self, wanted: Mapping[str, str]) -> dict[str, str]:
        """The types of the columns as Spark calls them."""
        types = {field.name: field.dataType.simpleString() for field in self._frame.schema}
        return {name: types[source] for name, source in wanted.items()}

    def hold(self, expression: Any) -> Any:
        """The expression itself: nothing is stored where eke only reads."""
        return expression

    def fetch(self, expression: Any) -> Any:
        """The rows of an expression as an Arrow table."""
        return shielded(lambda: self._session.sql(_sql(expression)).toArrow())

    def finder(self, texts: Sequence[str]) -> Find | None:
        """None: every declared value is compared."""
        return None

    def fetch_over(self, rows: Any, select: str, columns: Sequence[str]) -> Any:
        """The result of a SELECT of ours over the table `coded`, an Ibis expression."""
        sql = f"WITH coded AS ({_sql(rows)}) {select}"
        return shielded(lambda: self._session.sql(sql).toArrow())

    @property
    def fence(self) -> str:
        """Nothing: this engine computes a column once."""
        return ""

    def lookup(self, values: Sequence[int], place: str) -> str:
        """SQL of the value at a place, from 0, of a list of numbers."""
        return f"element_at(array({', '.join(map(str, values))}), {place} + 1)"


def _session() -> Any:
    try:
        from pyspark.sql import SparkSession  # noqa: PLC0415 -- an optional back end
    except ImportError:
        raise DataError("Spark is missing; install it with: pip install 'eke[spark]'") from None
    try:
        return shielded(SparkSession.builder.appName("eke").getOrCreate)
    except DataError:
        raise DataError(
            "Spark does not start; it needs Java 17 (JAVA_HOME), or a SparkSession of yours that "
            "is active already"
        ) from None


def _frame(session: Any, table: SparkTable) -> Any:
    return session.read.parquet(table.parquet) if table.parquet else session.table(table.table)


def _form(column: str, kind: str) -> tuple[str, Any]:
    """SQL of a column in a form that our expressions are total on, and its type for Ibis."""
    if kind.startswith("string"):
        return f"CAST({column} AS STRING) COLLATE UTF8_BINARY", "string"
    if kind in _PLAIN:
        return column, _PLAIN[kind]
    if kind.startswith("decimal"):
        return column, kind
    if kind == "timestamp":
        # In UTC, whatever the zone of the session, and within the years 1 to 9999.
        inside = f"LEAST(GREATEST(unix_seconds({column}), {FIRST_SECOND}), {LAST_SECOND})"
        parts = f"FLOOR({inside} / 86400), 0, 0, PMOD({inside}, 86400)"
        moment = f"TIMESTAMP_NTZ '1970-01-01 00:00:00' + make_dt_interval({parts})"
        return f"CASE WHEN {column} IS NOT NULL THEN {moment} END", ZONED_TYPE
    # Values of any other type are outside every domain; all that shows is whether there is one.
    return f"CASE WHEN {column} IS NOT NULL THEN X'00' END", "binary"


def _sql(expression: Any) -> str:
    _ = ibis.pyspark  # Ibis knows the options of a dialect only after loading its back end
    return str(ibis.to_sql(expression, dialect="pyspark"))


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
