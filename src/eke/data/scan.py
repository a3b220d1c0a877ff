"""Scan: the columns of a data file as the engine sees them, and a view of those that are needed.

The SQL here is ours and names only the file, its columns and its options, all public; how raw
values become codes is said in `coding`.
"""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from eke.data.files import CsvFile, DataFile, DuckDBFile, ParquetFile
from eke.data.id_mark import MARK, duckdb_mark
from eke.data.moments import FIRST_SECOND, LAST_SECOND
from eke.data.sealed import SealedEngine, quoted_name, shielded, text_literal
from eke.errors import DataError

_VIEW = "raw"
_BLANKS = "' ' || chr(9)"
_LONGEST_LINE = 16 * 2**20
_LARGEST = "9" * 38
_ZONED = "TIMESTAMP WITH TIME ZONE"


@dataclass(frozen=True, slots=True)
class Scan:
    """A sealed engine for one file: its relation in SQL, and two expressions for each column.

    `columns` serve attributes; `ids` are the values that the file holds and the engine compares;
    `marks` are the numbers made of them (`id_mark`), where there are any.
    """

    engine: SealedEngine
    relation: str
    columns: dict[str, str]
    ids: dict[str, str]
    rounded: frozenset[str] = frozenset()  # columns that the engine cannot hold exactly
    marks: Mapping[str, str] = field(default_factory=dict)
    zoned: frozenset[str] = frozenset()  # columns of moments, which `columns` tells in UTC
    fields: Mapping[str, str] = field(default_factory=dict)
    """The columns of a text as they are. Lines that cannot be read are left out, which shows only
    where the column in question is looked at."""

    def table(
        self,
        wanted: Mapping[str, str],
        identity: str | None = None,
        looked_at: Iterable[str] = (),
    ) -> Any:
        """An Ibis table of some columns: the keys are its names, the values those of the file.

        It has the rows that it would have if all columns `looked_at` were wanted.

        Privacy: Under the name `identity` a column appears as it is, so that the engine compares
        ids as it compares that column; a form that serves an attribute may merge or split them.
        """
        named = None if identity is None else wanted.get(identity)
        if named in self.rounded:
            raise DataError(
                f"column {named!r} cannot be the id of a unit: its values are rounded (times of "
                "the old type INT96, numbers of more than 38 digits; in a view all moments) or, in "
                "a view, compared in another way than by their table (texts with a collation), so "
                "that ids would become equal or different. Write the column as plain texts"
            )
        chosen = []
        for name, column in wanted.items():
            form = (self.ids if name == identity else self.columns)[column]
            chosen.append(f"{form} AS {quoted_name(name)}")
        if named is not None and named in self.marks:
            chosen.append(f"{self.marks[named]} AS {MARK}")
        rows = f"SELECT {', '.join(chosen)} FROM {self.relation}"  # noqa: S608 -- names are quoted
        looked = [self.fields[name] for name in looked_at if name in self.fields]
        if looked:
            rows += f" WHERE {' + '.join(f'coalesce(strlen({one}), 0)' for one in looked)} >= 0"
        self.engine.run(f"CREATE OR REPLACE TEMP VIEW {_VIEW} AS {rows}")
        zoned = {name for name, column in wanted.items() if column in self.zoned}
        return self.engine.table(_VIEW, opaque=identity, zoned=zoned)


@contextmanager
def scan_file(file: DataFile) -> Iterator[Scan]:
    """A sealed engine that can read this file and no other, closed at the end of the block."""
    with SealedEngine(files_to_read([file])) as engine:
        yield scan_within(engine, file, "protected")


def files_to_read(files: Sequence[DataFile]) -> list[str]:
    """The paths that an engine must be allowed to read for these tables; raises if one is not."""
    paths = []
    for file in files:
        if not Path(file.path).is_file():
            raise DataError(f"there is no file {file.path}; check the path")
        paths.append(file.path)
        if isinstance(file, DuckDBFile):
            log = file.path + ".wal"
            if Path(log).exists():
                raise DataError(
                    f"{file.path} has changes that are not written yet ({log}); close the program "
                    "that uses it, or run CHECKPOINT in it, and try again"
                )
            paths.append(log)
    return paths


def scan_within(engine: SealedEngine, file: DataFile, name: str) -> Scan:
    """The table of a file that an engine can read, which may keep something under this name."""
    if isinstance(file, CsvFile):
        return _scan_text(engine, file)
    if isinstance(file, ParquetFile):
        return _scan_parquet(engine, file, name)
    return scan_typed(engine, _attached_table(engine, file, name))


def _scan_text(engine: SealedEngine, file: CsvFile) -> Scan:
    names = file.columns or _header(file)
    engine_names = [f"field{place}" for place in range(len(names))]
    fields = ", ".join(f"{name}: 'VARCHAR'" for name in engine_names)
    quote = text_literal(file.quote or "")
    # One reader, so that quoted line ends mean the same whatever the number of threads; the
    # lenient options make every line a row or nothing, never an error.
    relation = (
        f"read_csv({text_literal(file.path)}, auto_detect = false, columns = {{{fields}}}, "
        f"header = {file.header}, skip = {file.skip}, delim = {text_literal(file.delimiter)}, "
        f"quote = {quote}, escape = {quote}, encoding = {text_literal(file.encoding)}, "
        f"compression = '{'gzip' if file.path.endswith('.gz') else 'none'}', parallel = false, "
        f"strict_mode = false, null_padding = true, ignore_errors = true, "
        f"max_line_size = {_LONGEST_LINE})"
    )
    nulls = ", ".join(text_literal(text) for text in ("", *file.null))
    columns = {}
    for name, engine_name in zip(names, engine_names, strict=True):
        field = _stripped(engine_name) if file.strip else engine_name
        columns[name] = f"CASE WHEN {field} NOT IN ({nulls}) THEN {field} END"
    return Scan(
        engine,
        relation,
        columns,
        ids=columns,
        marks=_marks(columns, "VARCHAR"),
        fields=dict(zip(names, engine_names, strict=True)),
    )


def _stripped(field: str) -> str:
    """SQL of a field without blanks at its ends; to look for them is quicker than to cut them."""
    blank = f"starts_with({field}, ' ') OR ends_with({field}, ' ') OR contains({field}, chr(9))"
    return f"CASE WHEN {blank} THEN trim({field}, {_BLANKS}) ELSE {field} END"


def _marks(columns: Mapping[str, str], kind: str) -> dict[str, str]:
    marks = {name: duckdb_mark(column, kind) for name, column in columns.items()}
    return {name: mark for name, mark in marks.items() if mark is not None}


def _header(file: CsvFile) -> tuple[str, ...]:
    """The names in the header line, which is public: it is part of the schema."""

    def read() -> list[str]:
        opened = gzip.open if file.path.endswith(".gz") else open
        with opened(file.path, "rb") as stream:
            encoding = "utf-8-sig" if file.encoding == "utf-8" else file.encoding
            # The buffer reaches into the rows, where bytes may be anything.
            with io.TextIOWrapper(stream, encoding, errors="replace", newline="") as lines:
                for _ in range(file.skip):
                    lines.readline()
                rows = csv.reader(
                    lines,
                    delimiter=file.delimiter,
                    quotechar=file.quote,
                    quoting=csv.QUOTE_MINIMAL if file.quote else csv.QUOTE_NONE,
                )
                return next(rows, [])

    names = tuple(name.strip() if file.strip else name for name in shielded(read))
    if not names or not all(names) or len(set(names)) != len(names):
        raise DataError(
            f"the header line of {file.path} does not hold different names for all columns; "
            "name them yourself: eke.CsvFile(path, columns=[...], header=True)"
        )
    return names


def _attached_table(engine: SealedEngine, file: DuckDBFile, name: str) -> str:
    # A file can be attached once only, and a view may read several of its tables.
    attached = engine.run(
        f"SELECT database_name FROM duckdb_databases() WHERE path = {text_literal(file.path)}"  # noqa: S608 -- quoted
    )
    if attached:
        name = attached[0][0]
    else:
        engine.run(f"ATTACH {text_literal(file.path)} AS {name} (READ_ONLY)")
    tables = engine.run(
        "SELECT table_schema, table_name FROM information_schema.tables "  # noqa: S608 -- ours
        f"WHERE table_catalog = '{name}' ORDER BY ALL"
    )
    if file.table is None:
        matching = tables
    else:
        matching = [(s, t) for s, t in tables if file.table in (f"{s}.{t}", t)]
    if len(matching) != 1:
        known = ", ".join(f"{schema}.{table}" for schema, table in tables) or "none at all"
        raise DataError(
            f"name one table of {file.path} with table=..., for instance schema.table; "
            f"it has: {known}"
        )
    schema, table = matching[0]
    return f"{name}.{quoted_name(schema)}.{quoted_name(table)}"


def _scan_parquet(engine: SealedEngine, file: ParquetFile, name: str) -> Scan:
    path = text_literal(file.path)
    rounded = _columns_of_parquet(engine, file, _ROUNDED)
    if not _columns_of_parquet(engine, file, _MILLISECONDS):
        relation = f"read_parquet({path}, hive_partitioning = false)"
        return scan_typed(engine, relation, rounded)
    # The engine's own reader fails on milliseconds far from today: one row would be enough to keep
    # all others from being counted. Arrow's reader passes them on as they are.
    zoned = engine.attach_parquet(name, file.path)
    return scan_typed(engine, name, rounded, zoned)


def scan_typed(
    engine: SealedEngine,
    relation: str,
    rounded: frozenset[str] = frozenset(),
    told_in_utc: frozenset[str] = frozenset(),
) -> Scan:
    """A relation of the engine whose columns have types."""
    kinds = engine.describe(relation)
    columns = {name: _typed_column(name, kind) for name, kind in kinds}
    ids = {name: quoted_name(name) for name in columns}
    marks: dict[str, str] = {}
    for name, kind in kinds:
        marks |= _marks({name: ids[name]}, kind)
    zoned = told_in_utc | {name for name, kind in kinds if kind == _ZONED}
    return Scan(engine, relation, columns, ids, rounded, marks, zoned)


_ROUNDED = "type = 'INT96' OR type LIKE '%BYTE_ARRAY' AND duckdb_type = 'DOUBLE'"
"""What the engine reads rounded."""
_MILLISECONDS = "converted_type = 'TIMESTAMP_MILLIS' OR logical_type LIKE '%MILLIS=Milli%'"


def _columns_of_parquet(engine: SealedEngine, file: ParquetFile, kind: str) -> frozenset[str]:
    """The columns of a Parquet file that hold, at any depth, values of a kind."""
    listed = f"SELECT name, coalesce(num_children, 0), coalesce({kind}, false)"
    schema = f"parquet_schema({text_literal(file.path)})"
    nodes = engine.run(f"{listed} FROM {schema} ORDER BY column_id")
    # The schema is a tree, written down from the root: each node before its children.
    names, left, column = set(), 0, ""
    for name, children, is_one in nodes[1:]:
        if left == 0:
            column, left = name, 1
        left += int(children) - 1
        if is_one:
            names.add(column)
    return frozenset(names)


def _typed_column(name: str, dtype: str) -> str:
    column = quoted_name(name)
    if dtype in (_ZONED, "TIMESTAMP_NS"):
        return _moment(column, dtype)
    if dtype in ("TIMESTAMP_S", "TIMESTAMP_MS"):
        return _within_the_calendar(column, dtype)
    if (
        dtype == "TIME WITH TIME ZONE"
    ):  # without a day it is a time of no place; outside all domains
        return f"CASE WHEN {column} IS NOT NULL THEN ''::BLOB END"
    if dtype == "TIME_NS":
        return f"TRY_CAST(left({column}::VARCHAR, 8) AS TIME)"  # a cast of its own would round up
    if dtype not in ("HUGEINT", "UHUGEINT"):
        return column
    # 128-bit integers have 39 digits, one more than the widest type Ibis knows. Beyond 38 digits
    # all that counts is on which side of the domain they lie, so they are cut off there.
    above, below = f"{column} > {_LARGEST}", f"{column} < -{_LARGEST}"
    low = "" if dtype == "UHUGEINT" else f"WHEN {below} THEN -{_LARGEST} "
    return f"CASE WHEN {above} THEN {_LARGEST} {low}ELSE TRY_CAST({column} AS DECIMAL(38, 0)) END"


def _within_the_calendar(column: str, dtype: str) -> str:
    """SQL of a time of coarser units, of which there are more than the usual type can hold."""
    low, high = "TIMESTAMP '0001-01-01 00:00:00'", "TIMESTAMP '9999-12-31 23:59:59'"
    return (
        f"CASE WHEN {column} < {low}::{dtype} THEN {low} "
        f"WHEN {column} > {high}::{dtype} THEN {high} ELSE TRY_CAST({column} AS TIMESTAMP) END"
    )


def _moment(column: str, dtype: str) -> str:
    """SQL of a time in UTC, within the years 1 to 9999, whatever the zone of the engine.

    The engine itself rounds nanoseconds before 1970 up, into the next day.
    """
    micros = f"epoch_us({column})"
    if dtype == "TIMESTAMP_NS":
        nanos = f"epoch_ns({column})"
        micros = f"{nanos} // 1000 - CASE WHEN {nanos} % 1000 < 0 THEN 1 ELSE 0 END"
    low, high = f"{FIRST_SECOND}000000", f"{LAST_SECOND}000000"
    infinite = f"CASE WHEN {column} > make_timestamp(0)::{dtype} THEN {high} ELSE {low} END"
    finite = f"least(greatest({micros}, {low}), {high})"
    chosen = f"CASE WHEN isfinite({column}) THEN {finite} ELSE {infinite} END"
    return f"CASE WHEN {column} IS NOT NULL THEN make_timestamp({chosen}) END"
