"""Opening a protected table: in a file, in memory, behind Ibis, in PostgreSQL or in Spark.

`open_source` is the only way to a protected table. It looks at the public schema and the file's
fingerprint; the rows are read once, coded (`coding`) and aggregated to their non-empty `cells`
inside the engine at hand, which is closed again. Files and tables in memory are read by a sealed
DuckDB, server tables by their own server.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import ibis

from eke.data.cell_source import CellSource, stated_reference
from eke.data.columns import check_moments, notes_on_types, wanted_columns
from eke.data.file_source import file_source, reopened_file
from eke.data.files import (
    CsvFile,
    DuckDBFile,
    ParquetFile,
    file_from_path,
)
from eke.data.fingerprint import (
    CHANGED,
    take_fingerprint,
)
from eke.data.holders import Holders
from eke.data.identity import no_equality
from eke.data.memory import MemoryTable, memory_table
from eke.data.reduction import count_cells, count_holders, ids_compare, list_rows
from eke.data.reopening import known_file
from eke.data.row_sample import RowSample
from eke.data.sealed import OpenEngine, SealedEngine
from eke.data.server_source import AnySource, open_server, reopen_server
from eke.data.server_table import PostgreSQLTable, SparkTable, is_postgresql_address
from eke.data.source import Rows
from eke.data.view import ViewTable
from eke.data.view_source import VIEW, open_view, reopen_view
from eke.domain import Domain
from eke.errors import DataError
from eke.privacy.unit import Unit

NO_TABLE = (
    "cannot open this kind of object as a table; give a path, eke.CsvFile, a pandas or polars "
    "DataFrame, an Arrow table, an Ibis table, eke.PostgreSQLTable, eke.SparkTable or eke.View"
)


def open_source(
    source: object,
    /,
    domain: Domain,
    unit: Unit | None = None,
    *,
    table: str | None = None,
    data: object = None,
) -> AnySource:
    """A protected table, open for counting.

    Args:
        source: a path (CSV or TSV, also with .gz, Parquet, DuckDB), the address of a PostgreSQL
            database, a `CsvFile`, `ParquetFile`, `DuckDBFile`, `PostgreSQLTable` or `SparkTable`, a
            pandas or polars DataFrame, an Arrow table, an Ibis table expression, or the reference
            of a source that was open before.
        domain: the attributes; each names a column of the table.
        unit: the id column that stands for an individual, if it is not the single row.
        table: the table inside a DuckDB file or a PostgreSQL database.
        data: with a reference, the table itself: required for tables in memory, and the new place
            of a file that was moved.

    Everything but a reference is read at once, so that problems show before a budget is spent. A
    reference to a file or server is read at the first count: questions answered from history never
    touch it.
    An Ibis expression runs on its own connection, which eke cannot lock: that is the curator's.

    Privacy: What can fail here depends on the schema, which is public, and on whether the file is
    still the same; failures while reading rows have one fixed message.
    """
    if isinstance(source, Mapping):
        return _reopen(source, domain, unit, table=table, data=data)
    if data is not None:
        raise DataError("data= goes with the reference of a source that was open before")
    opened = _open(source, domain, unit, RowSample.draw() if unit else None, table=table)
    opened.load()
    return opened


def _reopen(
    reference: Mapping[str, object],
    domain: Domain,
    unit: Unit | None,
    *,
    table: str | None,
    data: object,
) -> AnySource:
    sample = RowSample.stored(reference)
    if reference.get("kind") in ("memory", "ibis"):
        if data is None:
            raise DataError(
                "this dataset was created from a table in memory or behind Ibis, which eke does "
                "not store: give the same table again with data=..."
            )
        opened = _open(data, domain, unit, sample, table=table)
        if opened.reference().get("sha256") != reference.get("sha256"):
            raise DataError(CHANGED)
        return opened
    if reference.get("kind") in ("postgresql", "spark"):
        return reopen_server(reference, domain, unit, data=data)
    if reference.get("kind") == VIEW:
        return reopen_view(reference, domain, unit, data=data)
    return reopened_file(reference, *known_file(reference, data), domain, unit)


def _open(
    source: object,
    domain: Domain,
    unit: Unit | None,
    sample: RowSample | None,
    *,
    table: str | None,
) -> AnySource:
    if is_postgresql_address(source):
        source = PostgreSQLTable(str(source), table)
    elif isinstance(source, (str, Path)):
        source = file_from_path(source, table)
    elif table is not None:
        raise DataError("table= goes with the path of a DuckDB file or a PostgreSQL URL")
    if isinstance(source, (CsvFile, ParquetFile, DuckDBFile)):
        return file_source(source, take_fingerprint(source.path), domain, unit, sample)
    if isinstance(source, (PostgreSQLTable, SparkTable)):
        return open_server(source, domain, unit, sample)
    if isinstance(source, ViewTable):
        return open_view(source, domain, unit, sample)
    if isinstance(source, ibis.expr.types.Table):
        return _ibis_source(source, domain, unit, sample)
    memory = memory_table(source)
    if memory is not None:
        return _memory_source(memory, domain, unit, sample)
    raise DataError(NO_TABLE)


def _memory_source(
    memory: MemoryTable, domain: Domain, unit: Unit | None, sample: RowSample | None
) -> CellSource:
    wanted_columns(memory.names, domain, unit)
    arrow, coded = memory.coded(domain, unit)
    with SealedEngine() as engine:
        raw = engine.register("raw", arrow)
        notes = notes_on_types(raw, domain, from_text=False, coded=coded)
        cells = count_cells(raw, domain, unit, engine, sample=sample, coded=coded)

    def in_order() -> Rows:
        table, ready = memory.coded(domain, None)
        with SealedEngine() as engine:
            return list_rows(engine.register("raw", table), domain, engine, coded=ready)

    def holders() -> Holders:
        table, ready = memory.coded(domain, unit)
        with SealedEngine() as engine:
            raw = engine.register("raw", table)
            return count_holders(raw, domain, unit, engine, sample=sample, coded=ready)

    stated = stated_reference("memory", cells, domain, unit, sample)
    return CellSource(
        domain,
        unit,
        read=lambda: cells,
        reference=stated,
        notes=notes,
        list_rows=in_order,
        read_holders=holders,
    )


def _ibis_source(
    table: Any, domain: Domain, unit: Unit | None, sample: RowSample | None
) -> CellSource:
    wanted = wanted_columns(tuple(table.columns), domain, unit)
    raw = table.select(**{name: table[column] for name, column in wanted.items()})
    if unit and not ids_compare(raw, OpenEngine()):
        raise no_equality(unit.column, str(table[unit.column].type()))
    check_moments(raw, domain)
    notes = notes_on_types(raw, domain, from_text=False)
    cells = count_cells(raw, domain, unit, OpenEngine(), sample=sample)
    return CellSource(
        domain,
        unit,
        read=lambda: cells,
        reference=stated_reference("ibis", cells, domain, unit, sample),
        notes=notes,
        read_holders=lambda: count_holders(raw, domain, unit, OpenEngine(), sample=sample),
    )
