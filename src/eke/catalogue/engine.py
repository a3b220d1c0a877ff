"""Engine: an in-memory DuckDB that holds the catalogue and what was released, and nothing else.

A client's text gets here only as rewritten from a checked tree. The connection is sealed all the
same: no files, no extensions, no settings, one thread, little memory, no temporary files.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any

import duckdb
import pyarrow as pa

from eke.catalogue.built_in import call_rows
from eke.catalogue.contents import catalogue_rows, neutral
from eke.catalogue.directory import CALLS, READABLE, Directory
from eke.catalogue.failure import TOO_LONG, CatalogueError, of_engine
from eke.catalogue.functions import HELPERS, MACROS
from eke.catalogue.kind import BY_OID, storage
from eke.catalogue.lookups import SETTINGS, Lookups
from eke.catalogue.relation import CatalogueRelation, Row
from eke.catalogue.rewrite import CALL_SCHEMA, ENGINE_SCHEMAS
from eke.catalogue.standard import standard_rows

MOST_ROWS = 50_000
MOST_LETTERS = 4_000_000
MOST_COLUMNS = 1_664  # as PostgreSQL has it
_PART = 64  # rows that are fetched at a time
MOST_SECONDS = 10.0
MOST_CELLS = 2_000_000
"""Of relations with rows that are held at a time, and of a result: rows times columns."""
_CONFIGURATION: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
    "allow_persistent_secrets": False,
    "temp_directory": "",
    "threads": 1,
    "memory_limit": "128MB",  # some forty joins take seventy, however few their rows
}
_SEAL = (
    "enable_external_access = false",
    "python_enable_replacements = false",
    "enable_progress_bar = false",
    "max_expression_depth = 400",
    "ieee_floating_point_ops = false",  # a division by zero is an error, as in PostgreSQL
    "lock_configuration = true",
)


class CatalogueEngine:
    """The tables of a directory in a sealed engine."""

    def __init__(self, directory: Directory, lookups: Lookups) -> None:
        self._lookups = lookups
        self._provided: set[CatalogueRelation] = set()
        self._filled: OrderedDict[CatalogueRelation, int] = OrderedDict()  # with their cells
        self._connection = duckdb.connect(":memory:", config=_CONFIGURATION)
        for schema in (*ENGINE_SCHEMAS.values(), CALL_SCHEMA):
            self._connection.execute(f"CREATE SCHEMA {schema}")
        lookups.register(self._connection)
        for name, body in (MACROS | HELPERS).items():
            self._connection.execute(f"CREATE MACRO eke_{name}{body}")
        for entry in READABLE:
            fill = catalogue_rows if entry.relation.schema == "pg_catalog" else standard_rows
            place = ENGINE_SCHEMAS[entry.relation.schema]
            self._create(entry.relation, place, list(fill(directory, entry.relation.name)))
        for entry in CALLS:
            self._create(entry.relation, CALL_SCHEMA, list(call_rows(entry.relation.name)))
        for setting in _SEAL:
            self._connection.execute(f"SET {setting}")

    def close(self) -> None:
        """Give its memory back."""
        self._connection.close()

    def replace_settings(self, settings: dict[str, str]) -> None:
        """Make pg_settings show these."""
        try:
            self._connection.execute("DELETE FROM names.pg_settings")
            self._connection.execute(
                "INSERT INTO names.pg_settings "
                "(name, setting, context, vartype, source, boot_val, reset_val) SELECT "
                "name, setting, 'user', 'string', CASE WHEN setting IS NOT DISTINCT FROM usual "
                "THEN 'default' ELSE 'session' END, usual, usual FROM (SELECT unnest($1::VARCHAR[])"
                " AS name, unnest($2::VARCHAR[]) AS setting, unnest($3::VARCHAR[]) AS usual)",
                [
                    list(settings),
                    list(settings.values()),
                    [SETTINGS.get(name) for name in settings],
                ],
            )
        except Exception as raised:  # noqa: BLE001 -- as for a statement
            problem = of_engine(raised)
        else:
            return
        raise problem

    def provide(self, relations: Collection[CatalogueRelation]) -> None:
        """Have a table for each relation whose rows can be fetched, empty as yet."""
        for relation in relations:
            if relation.rows is not None and relation not in self._provided:
                self._create(relation, ENGINE_SCHEMAS[relation.schema], [])
                self._provided.add(relation)

    def fill(self, relations: Collection[CatalogueRelation]) -> None:
        """Fetch the rows of those that have some; what was read longest ago makes room."""
        wanted = [relation for relation in relations if relation.rows is not None]
        for relation in wanted:
            if relation in self._filled:
                self._filled.move_to_end(relation)
        for relation in wanted:
            if relation.rows is not None and relation not in self._filled:
                rows = relation.rows()
                cells = rows.num_rows * rows.num_columns
                self._make_room(cells, wanted)
                self._insert(_place(relation), rows)
                self._filled[relation] = cells

    @contextmanager
    def lent(self, relation: CatalogueRelation | None, *, filled: bool) -> Iterator[None]:
        """Have one relation more for a while, with its rows or empty."""
        if relation is None or relation.rows is None:
            yield
            return
        self._create(relation, ENGINE_SCHEMAS[relation.schema], [])
        self._provided.add(relation)
        try:
            if filled:
                self.fill([relation])
            yield
        finally:
            self._connection.execute(f"DROP TABLE {_place(relation)}")
            self._provided.discard(relation)
            self._filled.pop(relation, None)

    def _make_room(self, cells: int, needed: Collection[CatalogueRelation]) -> None:
        for relation in [one for one in self._filled if one not in needed]:
            if sum(self._filled.values()) + cells > MOST_CELLS:
                self._connection.execute(f"TRUNCATE {_place(relation)}")
                del self._filled[relation]
        if sum(self._filled.values()) + cells > MOST_CELLS:
            raise CatalogueError(
                f"together these relations have more than {MOST_CELLS:,} values, too many to be "
                "read here; download them over HTTP",
                TOO_LONG,
            )

    def run(self, sql: str, most_rows: int = MOST_ROWS) -> tuple[list[Any], list[tuple[Any, ...]]]:
        """Names and types of the columns, and the rows, of a rewritten statement."""
        timer = threading.Timer(MOST_SECONDS, self._connection.interrupt)
        timer.daemon = True
        timer.start()
        problem: CatalogueError
        try:
            self._connection.execute(sql)
            description = list(self._connection.description or ())
            rows = self._fetched(most_rows, len(description))
        except duckdb.Error as raised:
            problem = self._lookups.failure or of_engine(raised)
        except CatalogueError as raised:
            problem = raised
        except Exception as raised:  # noqa: BLE001 -- such as a text that is not Unicode
            problem = of_engine(raised)
        else:
            if len(rows) <= most_rows or most_rows == 0:
                return description, rows
            problem = CatalogueError(
                f"there are more than {MOST_ROWS:,} rows; add a condition or LIMIT", TOO_LONG
            )
        finally:
            timer.cancel()
            timer.join()
        raise problem

    def _fetched(self, most_rows: int, columns: int) -> list[tuple[Any, ...]]:
        """One row more than there may be, at most; an error when they are too large together."""
        if columns > MOST_COLUMNS:
            raise CatalogueError(f"a result has at most {MOST_COLUMNS:,} columns", TOO_LONG)
        rows: list[tuple[Any, ...]] = []
        size = cells = 0
        while len(rows) <= most_rows and (part := self._connection.fetchmany(_PART)):
            rows += part[: most_rows + 1 - len(rows)]
            size += sum(len(value) for row in part for value in row if isinstance(value, str))
            cells += sum(map(len, part))
            if size > MOST_LETTERS or cells > MOST_CELLS:
                raise CatalogueError(
                    f"there are more than {MOST_LETTERS:,} letters or {MOST_CELLS:,} values; add a "
                    "condition or LIMIT",
                    TOO_LONG,
                )
        return rows

    def _create(self, relation: CatalogueRelation, schema: str, rows: list[Row]) -> None:
        kinds = {column.name: BY_OID[column.oid].name for column in relation.columns}
        place = f"{schema}.{_quoted(relation.name)}"
        columns = ", ".join(f"{_quoted(name)} {storage(kind)}" for name, kind in kinds.items())
        self._connection.execute(f"CREATE TABLE {place} ({columns})")
        if rows:
            system = relation.schema == "pg_catalog"
            missing = {name: neutral(kind) for name, kind in kinds.items() if system}
            told = {name for row in rows for name in row}
            arrow = pa.table(
                {
                    name: [row.get(name, missing.get(name)) for row in rows]
                    if name in told
                    else [missing.get(name)] * len(rows)
                    for name in kinds
                }
            )
            self._insert(place, arrow)

    def _insert(self, place: str, rows: pa.Table) -> None:
        self._connection.register("given", rows)
        try:
            self._connection.execute(f"INSERT INTO {place} SELECT * FROM given")  # noqa: S608
        finally:
            self._connection.unregister("given")


def _place(relation: CatalogueRelation) -> str:
    return f"{ENGINE_SCHEMAS[relation.schema]}.{_quoted(relation.name)}"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
