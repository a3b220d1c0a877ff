"""A table of a PostgreSQL database, coded and counted by the server itself.

Ibis writes the SQL of our expressions; the server runs it in one read-only transaction, and only
codes and counts come back, by binary COPY.

Privacy: the raw columns are first brought into forms on which our expressions are total (THREATS
4). PostgreSQL raises an error where it casts a number that DOUBLE PRECISION cannot hold, knows NaN
and infinities among its NUMERICs, and compares texts as a column's collation says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self, TypeVar

import ibis

from eke.data.id_mark import MARK, postgresql_mark
from eke.data.identity import no_equality
from eke.data.moments import FIRST_SECOND, LAST_SECOND, ZONED_TYPE
from eke.data.postgresql_copy import SQL_TYPES, CopyReader
from eke.data.sealed import FAILURE, UNKNOWN, Find, quoted_name
from eke.data.server_table import PostgreSQLTable
from eke.data.view import (
    NO_PLAN,
    SCALED,
    ViewTable,
    check_group_types,
    check_id_types,
    check_key_types,
    repeated_key,
)
from eke.errors import DataError
from eke.privacy.unit import Unit
from eke.privacy.view import base_name

_AWAY = (
    "the PostgreSQL server of the protected table cannot be reached, or refuses this user or "
    "database; nothing was released. Check the address and the password (PGPASSWORD or ~/.pgpass), "
    "start the server, and try again"
)
_CONNECT_SECONDS = 10
_RAW = "raw"
_MAY_HASH = "SELECT set_config('hash_mem_multiplier', '1000', true)"

_TABLES = """
SELECT n.nspname, c.relname, c.oid::bigint
FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f')
  AND n.nspname <> 'information_schema' AND NOT starts_with(n.nspname, 'pg_')
ORDER BY 1, 2
"""
_COLUMNS = """
SELECT a.attname, coalesce(b.typname, t.typname), coalesce(b.typtype, t.typtype)::text,
       CASE WHEN b.oid IS NULL THEN a.atttypmod ELSE t.typtypmod END
FROM pg_catalog.pg_attribute AS a
JOIN pg_catalog.pg_type AS t ON t.oid = a.atttypid
LEFT JOIN pg_catalog.pg_type AS b ON t.typtype = 'd' AND b.oid = t.typbasetype
WHERE a.attrelid = %s::bigint::oid AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
"""

_TYPES = "SELECT oid::bigint, typname, typtype::text FROM pg_catalog.pg_type"
# What casts to texts and from moments depend on.
_SETTINGS = (
    *("SET LOCAL TIME ZONE 'UTC'", "SET LOCAL DateStyle = 'ISO, YMD'"),
    *("SET LOCAL IntervalStyle = 'postgres'", "SET LOCAL extra_float_digits = 1"),
)

_PLAIN = {
    "int2": "int16",
    "int4": "int32",
    "int8": "int64",
    "float4": "float32",
    "float8": "float64",
}
_TIMES = {"date": "date", "timestamp": "timestamp(6)", "time": "time"}
_TEXTS = ("text", "varchar", "bpchar", "name", "citext")
# Numbers that DOUBLE PRECISION rounds to infinity or to zero; casting them is an error.
_TOO_LARGE = 2**1024 - 2**970
_TOO_SMALL = "2.4703282292062328e-324"
_LARGEST_DECIMAL = 10**38 - 1

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class _ServerColumn:
    """A column of the table: SQL of a tame form of it for attributes, and the type of that."""

    form: str
    dtype: Any  # a type of Ibis, or its name
    shown: str  # the type's own name


class PostgreSQLEngine:
    """One read-only transaction on the server of a table, or of a view of tables there."""

    __slots__ = ("_bases", "_columns", "_connection", "_plan", "_raw", "_relation")

    def __init__(self, table: PostgreSQLTable, view: ViewTable | None = None) -> None:
        self._connection = _connect(table)
        self._raw = ""
        self._bases: list[str] = []
        self._plan = None if view is None else view.plan
        try:
            if view is None:
                self._relation, number = self._find(table)
                listed = self._rows(_COLUMNS, [number])
                self._columns = {name: _column(name, *kind) for name, *kind in listed}
            else:
                self._columns = self._open_view(view)
                # The fence keeps expressions of the view from being computed at each mention.
                self._relation = f"({view.plan.select}{self.fence}) AS eke_view"
        except BaseException:
            self._connection.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of the table."""
        return tuple(self._columns)

    def table(self, wanted: Mapping[str, str], identity: str) -> Any:
        """An Ibis table of some columns: the keys are its names, the values those of the server."""
        chosen, types = [], {}
        for name, source in wanted.items():
            column = self._columns[source]
            form, types[name] = column.form, column.dtype
            if name == identity:
                form, types[name] = quoted_name(source), UNKNOWN
                mark = postgresql_mark(form, column.shown)
                if mark is not None:
                    chosen.append(f"{mark} AS {MARK}")
                    types[MARK] = "int32"
            chosen.append(f"{form} AS {quoted_name(name)}")
        self._raw = f"SELECT {', '.join(chosen)} FROM {self._relation}"  # noqa: S608 -- quoted
        if identity in wanted and not _shielded(lambda: self._compares(identity)):
            column = self._columns[wanted[identity]]
            raise no_equality(wanted[identity], column.shown)
        return ibis.table(types, name=_RAW)

    def shown_types(self, wanted: Mapping[str, str]) -> dict[str, str]:
        """The types of the columns as the server calls them."""
        return {name: self._columns[source].shown for name, source in wanted.items()}

    def hold(self, expression: Any) -> Any:
        """The expression itself: nothing is stored on a server that is only read."""
        return expression

    def fetch(self, expression: Any) -> Any:
        """The rows of an expression of whole numbers, none of them NULL, as an Arrow table."""
        types = {name: str(dtype).lstrip("!") for name, dtype in expression.schema().items()}
        sql = f"WITH {self._with_raw()} {_sql(expression)}"
        return _shielded(lambda: self._copy(sql, types))

    def finder(self, texts: Sequence[str]) -> Find | None:
        """None: every declared value is compared."""
        return None

    def fetch_over(self, rows: Any, select: str, columns: Sequence[str]) -> Any:
        """The result of a SELECT of ours over the table `coded`, an Ibis expression.

        The domain bounds the number of groups, so the server may hash all of them in memory: it
        would else write them to disk or, worse, sort its rows once for each table.
        """
        coded = f"coded AS (SELECT * FROM {_sql(rows)} AS plain{self.fence})"  # noqa: S608 -- ours
        sql = f"WITH {self._with_raw()}, {coded} {select}"

        def run() -> Any:
            self._connection.execute(_MAY_HASH)
            return self._copy(sql, dict.fromkeys(columns, "int64"))

        return _shielded(run)

    @property
    def fence(self) -> str:
        """What keeps the server from copying the expressions of a subquery to all their uses."""
        return " OFFSET 0"

    def lookup(self, values: Sequence[int], place: str) -> str:
        """SQL of the value at a place, from 0, of a list of numbers."""
        return f"(CAST('{{{', '.join(map(str, values))}}}' AS INTEGER[]))[{place} + 1]"

    def _compares(self, name: str) -> bool:
        """False when the server has no equality for a column, said without reading it."""
        from psycopg.errors import FeatureNotSupported, UndefinedFunction  # noqa: PLC0415 -- optional

        groups = f"row_number() OVER (PARTITION BY {quoted_name(name)})"
        sql = f"EXPLAIN WITH {self._with_raw()} SELECT {groups} FROM {quoted_name(_RAW)}"  # noqa: S608 -- quoted
        try:
            self._connection.execute(sql)
        except (FeatureNotSupported, UndefinedFunction):
            return False
        return True

    def check_view(self, unit: Unit | None) -> None:
        """Raise unless joins compare exactly, by unique keys or ids of one type, and groups too."""
        if self._plan is None:
            return
        if unit is not None and self._plan.parts:
            selects = (self._plan.select, *self._plan.parts)
            types = [{name: kind for name, kind, *_ in self._types(sql)} for sql in selects]
            check_id_types([names[unit.column] for names in types])
        for keys in self._plan.keys:
            check_key_types([kind[0] for _, *kind in self._types(keys)])
        check_group_types(self._plan, self._group_types)
        for join in self._plan.joins if unit is None else ():
            if self._rows(f"WITH {', '.join(self._bases)} {join.repeated}", None):
                raise repeated_key(join.table, join.key)

    def _open_view(self, view: ViewTable) -> dict[str, _ServerColumn]:
        """The columns of a view; what is read as text or compared by a setting reads alike."""
        for setting in _SETTINGS:
            self._connection.execute(setting)
        for place, base in enumerate(view.bases):
            relation, _ = self._find(base)
            rows = f"SELECT * FROM {relation}"  # noqa: S608 -- quoted
            self._bases.append(f"{base_name(place)} AS NOT MATERIALIZED ({rows})")
        return {name: _column(name, *kind) for name, *kind in self._types(view.plan.select)}

    def _types(self, select: str) -> list[Any]:
        """Names and types of the columns of a SELECT over the tables of a view."""
        sql = f"WITH {', '.join(self._bases)} SELECT * FROM ({select}) AS typed LIMIT 0"  # noqa: S608 -- ours
        try:
            columns = _shielded(lambda: self._connection.execute(sql).description)
        except DataError:
            raise DataError(NO_PLAN) from None
        types = {number: (name, kind) for number, name, kind in self._rows(_TYPES, [])}
        return [(c.name, *types[c.type_code], _modifier(c)) for c in columns]

    def _group_types(self, select: str) -> list[str]:
        """The types of the columns of a SELECT, by the names that `check_group_types` knows."""
        return [self._group_type(select, *column) for column in self._types(select)]

    def _group_type(self, select: str, name: str, kind: str, typtype: str, modifier: int) -> str:
        if typtype == "e":
            return "enum"
        if kind == "numeric" and modifier >= 0:
            return SCALED
        if kind in _TEXTS and not self._tells_apart(select, name):
            return f"{kind} with a collation of its own"
        return kind

    def _tells_apart(self, select: str, name: str) -> bool:
        """Whether texts of a column of a SELECT are equal only if they are the same."""
        column = f"pg_collation_for({quoted_name(name)})"
        sql = (
            f"WITH {', '.join(self._bases)} SELECT collisdeterministic FROM pg_collation "  # noqa: S608 -- ours
            f"WHERE oid = (SELECT {column} FROM (SELECT 1) AS one LEFT JOIN ({select}) AS typed "
            "ON FALSE)::regcollation"
        )
        return self._rows(sql, None) == [(True,)]

    def _with_raw(self) -> str:
        return ", ".join([*self._bases, f"{quoted_name(_RAW)} AS ({self._raw})"])

    def _copy(self, sql: str, types: Mapping[str, str]) -> Any:
        reader = CopyReader(types)
        # Ibis leaves out casts to what it takes for the type already; a literal may be narrower.
        columns = ", ".join(
            f"CAST({quoted_name(name)} AS {SQL_TYPES[dtype]}) AS {quoted_name(name)}"
            for name, dtype in types.items()
        )
        cast = f"SELECT {columns} FROM ({sql}) AS counted"  # noqa: S608 -- names are quoted
        with (
            self._connection.cursor() as cursor,
            cursor.copy(f"COPY ({cast}) TO STDOUT (FORMAT BINARY)") as copy,
        ):
            for block in copy:
                reader.take(block)
        return reader.table()

    def _find(self, table: PostgreSQLTable) -> tuple[str, int]:
        tables = self._rows(_TABLES, [])
        matching = [
            (schema, name, number)
            for schema, name, number in tables
            if table.table in (None, name, f"{schema}.{name}")
        ]
        if len(matching) == 1:
            schema, name, number = matching[0]
            return f"{quoted_name(schema)}.{quoted_name(name)}", number
        known = ", ".join(f"{schema}.{name}" for schema, name, _ in tables) or "none at all"
        raise DataError(
            f"name one table of the database with table=..., for instance schema.table; it has: "
            f"{known}"
        )

    def _rows(self, sql: str, values: Sequence[object] | None) -> list[Any]:
        return _shielded(lambda: self._connection.execute(sql, values).fetchall())


def _connect(table: PostgreSQLTable) -> Any:
    try:
        import psycopg  # noqa: PLC0415 -- an optional back end
    except ImportError:
        raise DataError(
            "the PostgreSQL driver is missing; install it with: pip install 'eke[postgresql]'"
        ) from None

    def connect() -> Any:
        connection = psycopg.connect(
            table.address, connect_timeout=_CONNECT_SECONDS, application_name="eke"
        )
        # All statements see the table at one moment, and can change nothing.
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        connection.read_only = True
        return connection

    return _shielded(connect, _AWAY)


def _column(name: str, typname: str, typtype: str, modifier: int) -> _ServerColumn:
    column = quoted_name(name)
    text = f'{column}::text COLLATE "C"'
    if typtype == "e" or typname in _TEXTS:
        return _ServerColumn(text, "string", typname)
    if typname == "bool":
        # There is no cast to the narrower integers that Ibis would use.
        return _ServerColumn(f"{column}::integer", "int32", typname)
    if typname in _PLAIN | _TIMES:
        return _ServerColumn(column, (_PLAIN | _TIMES)[typname], typname)
    if typname == "numeric":
        form, dtype = _numeric(column, modifier)
        return _ServerColumn(form, dtype, typname)
    if typname == "timestamptz":
        # In UTC and within the years 1 to 9999: infinity has neither year nor month.
        return _ServerColumn(_moment(column), ZONED_TYPE, typname)
    # IS NULL would take a composite value of NULLs for NULL.
    outside = f"CASE WHEN {column} IS DISTINCT FROM NULL THEN ''::bytea END"
    return _ServerColumn(outside, "binary", typname)


def _numeric(column: str, modifier: int) -> tuple[str, str]:
    # https://www.postgresql.org/docs/current/catalog-pg-attribute.html: the modifier of a NUMERIC
    # holds precision and scale (11 bits, signed) after 4 bytes; -1 means neither is declared.
    precision, scale = ((modifier - 4) >> 16) & 0xFFFF, (((modifier - 4) & 0x7FF) ^ 1024) - 1024
    if modifier >= 4 and scale <= 0:
        exact = f"NULLIF({column}, 'NaN')"
        if precision - scale > 38:
            # All that counts beyond 38 digits is on which side of the domain a number lies.
            exact = f"LEAST(GREATEST({exact}, -{_LARGEST_DECIMAL}), {_LARGEST_DECIMAL})"
            exact = f"CASE WHEN {column} IS NOT NULL AND {column} <> 'NaN' THEN {exact} END"
        return f"({exact})::numeric(38, 0)", "decimal(38, 0)"
    tame = (
        f"CASE WHEN {column} = 'NaN' THEN 'NaN'::float8 "
        f"WHEN {column} >= {_TOO_LARGE} THEN 'Infinity'::float8 "
        f"WHEN {column} <= -{_TOO_LARGE} THEN '-Infinity'::float8 "
        f"WHEN abs({column}) < {_TOO_SMALL} THEN 0::float8 "
        f"ELSE {column}::float8 END"
    )
    return tame, "float64"


def _modifier(column: Any) -> int:
    """What `pg_attribute` says of a column of a result: precision and scale of a NUMERIC."""
    if column.precision is None or column.scale is None:
        return -1
    return (int(column.precision) << 16 | int(column.scale) & 0x7FF) + 4


def _moment(column: str) -> str:
    low, high = (f"to_timestamp({second})" for second in (FIRST_SECOND, LAST_SECOND))
    inside = f"LEAST(GREATEST({column}, {low}), {high}) AT TIME ZONE 'UTC'"
    return f"CASE WHEN {column} IS NOT NULL THEN {inside} END"


def _sql(expression: Any) -> str:
    return f"({ibis.to_sql(expression, dialect='postgres')})"


def _shielded(action: Callable[[], Result], failure: str = FAILURE) -> Result:
    """What the action returns; any failure inside becomes one fixed DataError."""
    try:
        return action()
    except Exception:  # noqa: BLE001, S110 -- the server's texts may quote a private value
        pass
    raise DataError(failure)
