"""View tables: a view that was read (`ViewPlan`) with its tables, and its rows in a sealed engine.

Each table becomes a relation of the engine under a name of ours, with the values that the table
holds, times with a zone told in UTC; the view is a SELECT over these that eke has written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from eke.data.files import CsvFile, DataFile, DuckDBFile, ParquetFile, file_from_path
from eke.data.memory import MemoryTable, memory_table
from eke.data.scan import Scan, files_to_read, scan_typed, scan_within
from eke.data.sealed import SealedEngine, quoted_name
from eke.data.server_table import PostgreSQLTable, SparkTable, is_postgresql_address
from eke.errors import DataError
from eke.privacy.unit import Unit
from eke.privacy.view import Dialect, ViewPlan, ViewPromise, base_name

_VIEW = "eke_view"
_EMPTY = "eke_empty"
_WHOLE = frozenset(
    (
        *("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"),
        *("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "int2", "int4", "int8"),
    )
)
"""Types that are compared, and put together, as whole numbers; UHUGEINT becomes DOUBLE instead."""
_TEXTS = frozenset(("text", "varchar"))
_EXACT = frozenset(
    (
        *(pa.bool_(), pa.int8(), pa.int16(), pa.int32(), pa.int64()),
        *(pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()),
        *(pa.float16(), pa.float32(), pa.float64()),
        *(pa.string(), pa.large_string(), pa.string_view(), pa.date32()),
        *(pa.time32("s"), pa.time32("ms"), pa.time64("us")),
    )
)
_ONE_TYPE = (str, bool, int, float)
SCALED = "numeric of one scale"
"""What a type of PostgreSQL is called of whose values equal ones are the same; 1 is not 1.00."""
_SAME = frozenset(
    (
        *(_WHOLE | _TEXTS | {SCALED, "UHUGEINT", "name", "enum"}),
        *("BOOLEAN", "VARCHAR", "UUID", "DATE", "TIME", "TIMESTAMP"),
        *("bool", "uuid", "date", "time", "timestamp", "timestamptz"),
    )
)
"""Types of which equal values are the same, whatever is made of them; not 0.0 and -0.0."""
_ADDED = (_WHOLE - {"HUGEINT"}) | {"numeric", SCALED}
"""Types whose sums are exact and never too large."""
_MOST_DIGITS = 18  # of DECIMALs that are added up in 38

NO_PLAN = (
    "the engine cannot carry out this view; check that its functions and operators fit the types "
    "of the columns. All columns of a text file are texts: write CAST(year AS INTEGER) > 2000"
)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ViewTable:
    """A view and its tables by name: files, tables in memory, or tables of one server.

    Privacy: The plan was read from a text by `eke.sql.view`; nothing else may make one.
    """

    plan: ViewPlan
    tables: Mapping[str, Any]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.plan.statement!r}; of {', '.join(self.plan.tables)})"

    def promise(self, unit: Unit | None = None, neighbours: str = "add_remove") -> ViewPromise:
        """What a dataset of this view would protect, and which tables it takes for public."""
        return self.plan.promise(unit, neighbours)

    @property
    def bases(self) -> tuple[Any, ...]:
        """The tables in the order of the plan."""
        return tuple(self.tables[name] for name in self.plan.tables)

    @property
    def files(self) -> dict[str, DataFile]:
        """Those of the tables that are files."""
        return {name: table for name, table in self.tables.items() if _is_file(table)}

    @property
    def from_text(self) -> bool:
        """Whether texts of it may come from a text file, where they spell numbers."""
        return any(isinstance(table, CsvFile) for table in self.tables.values())


def named_tables(tables: Mapping[str, object]) -> tuple[Dialect, dict[str, Any]]:
    """The tables that a view is given, each of a kind that eke opens, and whose SQL it speaks."""
    named = {name: _table(table) for name, table in tables.items()}
    if not named or not all(isinstance(name, str) and name for name in named):
        raise DataError("a view needs its tables by name: tables={'visits': 'visits.csv', ...}")
    if any(isinstance(table, SparkTable) for table in named.values()):
        raise DataError(
            "views of Spark tables are made in Spark: create a view there, and protect it with "
            "eke.SparkTable"
        )
    on_server = [table for table in named.values() if isinstance(table, PostgreSQLTable)]
    if on_server and (len(on_server) < len(named) or len({t.address for t in on_server}) > 1):
        raise DataError("all tables of a view are on one server, or none is")
    places = [
        id(table.data) if isinstance(table, MemoryTable) else table for table in named.values()
    ]
    if len(set(places)) < len(places):
        raise DataError("two names of the view stand for one table; use one name for it")
    return "postgres" if on_server else "duckdb", named


def tables_of_database(database: str | Path, names: Sequence[str]) -> dict[str, Any]:
    """The tables of a PostgreSQL database or a DuckDB file, by the names that they have there."""
    if is_postgresql_address(database):
        return {name: PostgreSQLTable(str(database), name) for name in names}
    return {name: file_from_path(database, name) for name in names}


def _table(table: object) -> Any:
    if isinstance(table, (CsvFile, ParquetFile, DuckDBFile, PostgreSQLTable, SparkTable)):
        return table
    if is_postgresql_address(table):
        raise DataError("name the table of the server with eke.PostgreSQLTable(address, table)")
    if isinstance(table, (str, Path)):
        return file_from_path(table)
    memory = memory_table(table)
    if memory is None:
        raise DataError("a table of a view is a path, eke.CsvFile, a DataFrame or an Arrow table")
    return memory


def _is_file(table: object) -> bool:
    return isinstance(table, (CsvFile, ParquetFile, DuckDBFile))


@contextmanager
def scan_view(view: ViewTable) -> Iterator[Scan]:
    """A sealed engine that can read the files of a view and no others, with the view's columns.

    Privacy: What fails here depends on names and types of columns, which are public.
    """
    with SealedEngine(files_to_read(list(view.files.values()))) as engine:
        rounded: set[tuple[str, str]] = set()
        for place, name in enumerate(view.plan.tables):
            table = view.tables[name]
            if isinstance(table, MemoryTable):
                columns, inexact = _attach_memory(engine, table, place)
            else:
                columns, inexact = _attach_file(engine, table, place)
            _check_uses(view.plan, name, columns)
            rounded |= {(name, column.casefold()) for column in inexact}
        for keys in view.plan.keys:
            check_key_types([kind for _, kind in _described(engine, keys)])
        check_group_types(view.plan, lambda s: [kind for _, kind in _described(engine, s)])
        _plan(engine, f"CREATE TEMP VIEW {_VIEW} AS {view.plan.select}")
        lossy = frozenset(
            column.name
            for column in view.plan.columns
            if any(
                (table, source.casefold()) in rounded
                for table, source in (*column.sources, *column.ties)
            )
        )
        yield scan_typed(engine, _VIEW, lossy)


def check_keys(plan: ViewPlan, engine: SealedEngine) -> None:
    """Raise unless the key of each joined table is unique there.

    Privacy: With unique keys a row of the first table makes at most one row of the view, whatever
    its values are. The tables that are looked at here are those that are taken for public.
    """
    for join in plan.joins:
        if engine.run(join.repeated):
            raise repeated_key(join.table, join.key)


def repeated_key(table: str, key: str) -> DataError:
    """The refusal of a join that may multiply rows."""
    return DataError(
        f"{key} occurs more than once in {table!r}, so that one row may make several rows of the "
        "view; join by a column that is unique there, or name the id column of a unit, of which "
        "so many rows are counted"
    )


def check_key_types(kinds: Sequence[str]) -> None:
    """Raise unless both sides of each equality, listed in pairs, are compared without rounding."""
    for before, after in zip(kinds[::2], kinds[1::2], strict=True):
        if not _alike({before, after}):
            raise DataError(
                f"a join compares a column of type {before} with one of type {after}, which would "
                "have to be converted; CAST one of them to the type of the other"
            )


def check_id_types(kinds: Sequence[str]) -> None:
    """Raise unless the id has one type in all parts of a UNION ALL, and in the result.

    Privacy: Else UNION ALL would convert ids, by which different ones may become equal.
    """
    if not _alike(set(kinds)):
        raise DataError(
            f"the id of the unit has the types {', '.join(dict.fromkeys(kinds[1:]))} in the parts "
            "of UNION ALL, where different ids could become equal; CAST all of them to one type"
        )


def check_group_types(plan: ViewPlan, types_of: Callable[[str], Sequence[str]]) -> None:
    """Raise unless groups and their aggregates are the same in whichever order the rows come.

    `types_of` gives the types of the columns of a SELECT.

    Privacy: The order may depend on other people's rows. Of equal values that differ, GROUP BY, MIN
    and MAX take the one that comes first, and sums of floating numbers are rounded as they come. A
    sum that is too large would fail, and with it the whole view.
    """
    for kind in (kind for select in plan.compared for kind in types_of(select)):
        if kind not in _SAME and not kind.startswith(("DECIMAL(", "ENUM(")):
            raise DataError(_of_order("GROUP BY, MIN and MAX compare", kind))
    for kind in (kind for select in plan.added for kind in types_of(select)):
        precise = kind.startswith("DECIMAL(") and int(kind[8:].split(",")[0]) <= _MOST_DIGITS
        if kind not in _ADDED and not precise:
            raise DataError(_of_order("SUM and AVG add up", kind))


def _of_order(what: str, kind: str) -> str:
    return (
        f"{what} a column of type {kind}, whose result could depend on the order of the rows, or "
        "be too large; CAST it in the view, for instance CAST(x AS DECIMAL(18, 2)) or AS BIGINT"
    )


def check_id(plan: ViewPlan, engine: SealedEngine, unit: Unit) -> None:
    """`check_id_types` of a view in a sealed engine."""
    selects = (plan.select, *plan.parts) if plan.parts else ()
    check_id_types([dict(_described(engine, select))[unit.column] for select in selects])


def _alike(kinds: set[str]) -> bool:
    """Whether values of these types are compared, or put together, without being rounded."""
    return len(kinds) < 2 or kinds <= _WHOLE or kinds <= _TEXTS


def _attach_file(
    engine: SealedEngine, file: DataFile, place: int
) -> tuple[list[str], frozenset[str]]:
    scan = scan_within(engine, file, f"place{place}")
    forms = dict(scan.columns)
    collated: set[str] = set()
    if not isinstance(file, CsvFile):
        kinds = dict(engine.describe(scan.relation))
        # Columns as they are, so that ids stay what they are; but no collation, for a join of two
        # columns would compare by that of either.
        plain = {
            name: f'{form} COLLATE "C"' if kinds[name] == "VARCHAR" else form
            for name, form in scan.ids.items()
        }
        forms = {name: forms[name] if name in scan.zoned else plain[name] for name in forms}
        collated = {name for name in plain if not _is_plain(engine, scan, name, kinds[name])}
    listed = ", ".join(f"{form} AS {quoted_name(name)}" for name, form in forms.items())
    relation = f"SELECT {listed} FROM {scan.relation}"  # noqa: S608 -- names are quoted
    engine.run(f"CREATE TEMP VIEW {base_name(place)} AS {relation}")
    return list(forms), scan.rounded | scan.zoned | collated


def _is_plain(engine: SealedEngine, scan: Scan, name: str, kind: str) -> bool:
    """Whether the texts of a column are equal only if they are the same, without a collation.

    Privacy: In the view they are; where their table takes others for equal, one id would become
    several. A table without rows is made, so that this follows from the type alone.
    """
    if kind != "VARCHAR":
        return True
    empty = f"SELECT {scan.ids[name]} AS x FROM {scan.relation} LIMIT 0"  # noqa: S608
    engine.run(f"CREATE OR REPLACE TEMP TABLE {_EMPTY} AS {empty}")
    made = engine.run(f"SELECT sql FROM duckdb_tables() WHERE table_name = '{_EMPTY}'")  # noqa: S608
    return [text for (text,) in made] == [f"CREATE TEMP TABLE {_EMPTY}(x VARCHAR);"]


def _attach_memory(
    engine: SealedEngine, table: MemoryTable, place: int
) -> tuple[list[str], frozenset[str]]:
    columns = {name: table.column(name) for name in table.names}
    arrays = {name: _typed(column) for name, column in columns.items()}
    present = {name: array for name, array in arrays.items() if array is not None}
    engine.register(base_name(place), pa.table(present))
    inexact = {
        name
        for name in present  # objects of one type are taken as they are
        if not isinstance(columns[name], list) and not _is_exact(table.raw_type(name))
    }
    return list(present), frozenset(inexact)


def _is_exact(kind: pa.DataType | None) -> bool:
    """Whether the engine holds all values of a type of Arrow's as they are.

    Privacy: Values of all others may be rounded, by which different ids become equal: nanoseconds
    are, and moments among days.
    """
    if kind is not None and pa.types.is_dictionary(kind):
        return _is_exact(kind.value_type)
    return kind in _EXACT or (kind is not None and pa.types.is_decimal(kind))


def _typed(column: Any) -> Any | None:
    """An Arrow column of one type; None for objects of several types."""
    if not isinstance(column, list):
        return column
    kinds = {type(value) for value in column if value is not None}
    if len(kinds) > 1 or not kinds <= set(_ONE_TYPE):
        return None
    try:
        return pa.array(column, from_pandas=True)
    except (pa.ArrowException, OverflowError, UnicodeError):
        return None


def _check_uses(plan: ViewPlan, table: str, columns: Sequence[str]) -> None:
    known = {column.casefold() for column in columns}
    for name in (column for used, column in plan.uses if used == table):
        if name.casefold() not in known:
            raise DataError(
                f"table {table!r} of the view has no column {name!r} of one type; its columns are: "
                f"{', '.join(columns)}"
            )


def _plan(engine: SealedEngine, sql: str) -> None:
    try:
        engine.run(sql)
    except DataError:
        raise DataError(NO_PLAN) from None


def _described(engine: SealedEngine, select: str) -> list[tuple[str, str]]:
    """Names and types of the columns of a SELECT."""
    try:
        return [(name, kind) for name, kind, *_ in engine.run(f"DESCRIBE {select}")]
    except DataError:
        raise DataError(NO_PLAN) from None
