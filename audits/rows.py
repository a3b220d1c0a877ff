"""Hostile rows on three engines: counted as the plain rules say, in any order, and never quoted.

Every value that tables can hold and programs stumble over, NULL, NaN, infinities, huge numbers, odd
texts and canaries, is counted by DuckDB, PostgreSQL and Spark, and by the slow twin in Python.
"""

from __future__ import annotations

import json
import secrets
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq

from audits.place import memory_folder
from audits.row import Row, Scale, number
from eke.data import ParquetFile, PostgreSQLTable, SparkTable, open_source
from eke.data.source import Collect
from eke.domain import Domain, Integer
from eke.errors import EkeError
from eke.privacy.unit import Unit
from tests.postgresql_server import running_server
from tests.spark_session import running_spark
from tests.unit.data.slow_twin import CANARY, all_cells, cell_counts, coded_rows, fixed_sample
from tests.unit.data.test_servers import POSTGRESQL_TYPES
from tests.unit.data.test_sources import COLUMNS, DOMAINS, ROWS, arrow_table

Store = Callable[[pa.Table, Collect], Any]
UNITS = (None, Unit("word", rows=2), Unit("day", rows=3))
WAYS: tuple[Collect, ...] = ("cells", "marginals")


@contextmanager
def engines() -> Iterator[Mapping[str, Store]]:
    """For each engine, a function that puts rows where it finds them."""
    with ExitStack() as stack:
        folder = stack.enter_context(memory_folder())
        server = stack.enter_context(running_server())
        stack.enter_context(running_spark(folder / "spark"))

        def in_parquet(table: pa.Table, collect: Collect) -> ParquetFile:
            path = folder / f"{secrets.token_hex(8)}.parquet"
            pq.write_table(table, path, row_group_size=int(1 + secrets.randbelow(40)))
            return ParquetFile(str(path), collect)

        def in_spark(table: pa.Table, collect: Collect) -> SparkTable:
            return SparkTable(parquet=in_parquet(table, collect).path, collect=collect)

        def in_postgresql(table: pa.Table, collect: Collect) -> PostgreSQLTable:
            name = f"t_{secrets.token_hex(8)}"
            fill_postgresql(server.address(), name, table)
            return PostgreSQLTable(server.address(), name, collect)

        yield {"DuckDB": in_parquet, "PostgreSQL": in_postgresql, "Spark": in_spark}


def fill_postgresql(address: str, name: str, table: pa.Table) -> None:
    """A new table with these rows, in this order."""
    columns = ", ".join(f'"{c}" {kind}' for c, kind in zip(COLUMNS, POSTGRESQL_TYPES, strict=True))
    holes = ", ".join(["%s"] * len(COLUMNS))
    rows = [[row[c] for c in COLUMNS] for row in table.to_pylist()]
    with psycopg.connect(address) as connection, connection.cursor() as cursor:
        cursor.execute(f"CREATE TABLE {name} ({columns})".encode())
        cursor.executemany(f"INSERT INTO {name} VALUES ({holes})".encode(), rows)


def shuffled(rng: np.random.Generator) -> list[dict[str, object]]:
    """The hostile rows in another order."""
    return [ROWS[int(place)] for place in rng.permutation(len(ROWS))]


# -- counts and canaries -------------------------------------------------------------------------


def rows(scale: Scale) -> tuple[Row, ...]:
    """Both rows of the scoreboard, with one start of the servers."""
    with engines() as stores:
        return hostile(stores), order(stores, scale)


def hostile(stores: Mapping[str, Store]) -> Row:
    """All rows under every domain on every engine, and everything that is said about them."""
    wrong = tables = 0
    said = []
    for store in stores.values():
        for collect in WAYS:
            data = store(arrow_table(), collect)
            for domain in DOMAINS.values():
                source = open_source(data, domain)
                wrong += all_cells(source) != cell_counts(ROWS, domain)
                tables += 1
                said += [repr(source), *source.notes, json.dumps(source.reference())]
            said.append(complaint(data, Domain(nothing=Integer(0, 9))))
            if isinstance(data, PostgreSQLTable):
                said.append(complaint(failing_view(data), Domain(whole=Integer(0, 9))))
    total = (DOMAINS["buckets"], DOMAINS["replacements"])  # these drop no row
    less_one = sum(
        all_cells(open_source(store(arrow_table(ROWS[1:]), "cells"), d)) != cell_counts(ROWS, d)
        for store in stores.values()
        for d in total
    )
    planted = canaries([*said, f"cannot cast '{CANARY}' to integer"])
    return Row(
        title="hostile rows on DuckDB, PostgreSQL and Spark",
        samples=f"{tables} tables of {len(ROWS)} rows, {len(said)} texts",
        figure=f"{wrong} tables counted otherwise than by rule, {canaries(said)} canaries",
        control=f"a row that an engine does not see: {less_one} of 6 noticed; "
        f"an engine's text: {planted} canary",
        passed=wrong == canaries(said) == 0,
        caught=less_one == 6 and planted == 1,
    )


def failing_view(data: PostgreSQLTable) -> PostgreSQLTable:
    """A view of the curator's that fails on a row; the server's own text quotes the value."""
    name = f"v_{secrets.token_hex(8)}"
    with psycopg.connect(data.address) as connection:
        connection.execute(
            f"CREATE VIEW {name} AS SELECT word::integer AS whole FROM {data.table}".encode()
        )
    return PostgreSQLTable(data.address, name, data.collect)


def complaint(data: Any, domain: Domain) -> str:
    """What is said about a table that does not fit its domain, or cannot be counted."""
    try:
        return repr(open_source(data, domain).counts([()]))
    except EkeError as error:
        return f"{error} {error.__cause__} {error.__context__}"


def canaries(texts: list[str]) -> int:
    """How many texts quote a value of the table."""
    return sum(CANARY in text for text in texts)


# -- order and engine ----------------------------------------------------------------------------

Cells = Counter[tuple[int, ...]]


def order(stores: Mapping[str, Store], scale: Scale) -> Row:
    """The same rows in other orders, row groups and engines give the same counts, of units, too."""
    turns = scale.of(20, 1)
    rng = np.random.default_rng()
    domain = DOMAINS["drops"]
    expected = {unit: cell_counts(ROWS, domain, unit) for unit in UNITS}
    counted = different = dependent = 0
    for _ in range(turns):
        rows = shuffled(rng)
        for store in stores.values():
            data = store(arrow_table(rows), WAYS[int(rng.integers(2))])
            for unit, wanted in expected.items():
                counted += 1
                with fixed_sample():
                    source = open_source(data, domain, unit)
                different += all_cells(source) != wanted
    for _ in range(20):
        dependent += first_rows(shuffled(rng), domain, UNITS[2]) != expected[UNITS[2]]
    return Row(
        title="order and engine independence",
        samples=f"{number(counted)} counts of shuffled rows on three engines",
        figure=f"{different} differ",
        control=f"first rows of each id as stored: {dependent} of 20 differ",
        passed=different == 0 and counted == 9 * turns,
        caught=dependent > 0,
    )


def first_rows(rows: list[dict[str, object]], domain: Domain, unit: Unit | None) -> Cells:
    """The positive control: of each id the first rows in the order in which they are stored."""
    assert unit is not None
    seen: Counter[object] = Counter()
    cells: Cells = Counter()
    for row, codes in coded_rows(rows, domain):
        seen[row[unit.column]] += 1
        cells[codes] += seen[row[unit.column]] <= unit.rows
    return +cells
