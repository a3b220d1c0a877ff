"""Tables of PostgreSQL and Spark as sources: opened, and opened again from a reference.

A server's table is known again by a digest of its coded rows: of the collected cells, or, when only
marginals are collected, by one that the server sums up (`row_digest`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TypeAlias

from eke.data.cell_source import CellSource
from eke.data.cells import Cells
from eke.data.columns import notes_on_types, wanted_columns
from eke.data.cover import cover
from eke.data.fingerprint import CHANGED
from eke.data.grouping import Scanned, scan_sets
from eke.data.holders import Holders
from eke.data.marginal_source import MarginalSource
from eke.data.postgresql_engine import PostgreSQLEngine
from eke.data.reduction import ID, count_cells, count_holders, kept_rows
from eke.data.row_digest import SecretPoint
from eke.data.row_sample import RowSample, stored_sample
from eke.data.server_table import (
    PostgreSQLTable,
    ServerTable,
    is_postgresql_address,
    table_from_document,
    table_to_document,
)
from eke.data.source import ROW_KEY
from eke.data.spark_engine import SparkEngine
from eke.data.view import ViewTable
from eke.domain import Domain
from eke.errors import DataError
from eke.privacy.unit import Unit

_DIGEST = "sha256"
_SALT = "salt"
_SECRETS = (_SALT, _DIGEST, ROW_KEY)

AnySource: TypeAlias = CellSource | MarginalSource


def open_server(
    table: ServerTable, domain: Domain, unit: Unit | None, sample: RowSample | None
) -> AnySource:
    """A table of a server, read once: its cells, or its digest."""
    stored = {**table_to_document(table), **stored_sample(sample)}
    if table.collect == "cells":
        cells, notes = read_cells(table, domain, unit, sample)
        reference = {**stored, _DIGEST: cells.sha256()}
        return CellSource(
            domain,
            unit,
            read=lambda: cells,
            reference=reference,
            notes=notes,
            read_holders=lambda: read_holders(table, domain, unit, sample),
        )
    point = SecretPoint.draw(domain)
    first, notes = _scan(table, domain, unit, sample, point=point, sets=cover([()], domain))
    reference = {**stored, _SALT: point.salt, _DIGEST: first.digest}
    return _marginal_source(table, domain, unit, reference, notes, checked=True)


def reopen_server(
    reference: Mapping[str, object], domain: Domain, unit: Unit | None, *, data: object
) -> AnySource:
    """The table that a reference names, to be read at the first count."""
    sample = RowSample.stored(reference)
    secret = {name: reference[name] for name in _SECRETS if name in reference}
    table = table_of_reference(reference)
    if is_postgresql_address(data) and isinstance(table, PostgreSQLTable):
        table = replace(table, address=str(data))
    elif type(data) is type(table):
        table = replace(data, collect=table.collect)  # the digest is of one of the two kinds
    elif data is not None:
        raise DataError(
            "this dataset was created from a table of a server; data= must name it again: "
            "an address, eke.PostgreSQLTable or eke.SparkTable"
        )
    stored = {**table_to_document(table), **secret}
    if table.collect == "marginals":
        return _marginal_source(table, domain, unit, stored)

    def read() -> Cells:
        cells, _ = read_cells(table, domain, unit, sample)
        if cells.sha256() != stored.get(_DIGEST):
            raise DataError(CHANGED)
        return cells

    return CellSource(
        domain,
        unit,
        read=read,
        reference=stored,
        read_holders=lambda: read_holders(table, domain, unit, sample),
    )


def table_of_reference(reference: Mapping[str, object]) -> ServerTable:
    """The table of a server that a reference names."""
    return table_from_document({k: v for k, v in reference.items() if k not in _SECRETS})


def _marginal_source(
    table: ServerTable,
    domain: Domain,
    unit: Unit | None,
    reference: Mapping[str, object],
    notes: Sequence[str] = (),
    *,
    checked: bool = False,
) -> MarginalSource:
    point = SecretPoint.from_salt(str(reference.get(_SALT)), domain)
    sample = RowSample.stored(reference)

    def scan(sets: Sequence[tuple[str, ...]]) -> Sequence[Cells]:
        # The digest comes from the same scan as the counts, so these are of the table known before.
        scanned, _ = _scan(table, domain, unit, sample, point=point, sets=sets)
        if scanned.digest != reference.get(_DIGEST):
            raise DataError(CHANGED)
        return scanned.tables

    return MarginalSource(
        domain,
        unit,
        scan=scan,
        check=lambda: None if checked else scan(cover([()], domain)),
        reference=reference,
        notes=notes,
    )


def _scan(
    table: ServerTable,
    domain: Domain,
    unit: Unit | None,
    sample: RowSample | None,
    *,
    point: SecretPoint,
    sets: Sequence[tuple[str, ...]],
) -> tuple[Scanned, list[str]]:
    with server_engine(table) as engine:
        wanted = wanted_columns(engine.names, domain, unit)
        raw = engine.table(wanted, identity=ID)
        notes = notes_on_types(raw, domain, from_text=False, shown=engine.shown_types(wanted))
        rows = kept_rows(raw, domain, unit, engine, sample=sample)
        return scan_sets(rows, sets, domain, engine, point), notes


def read_cells(
    table: ServerTable | ViewTable, domain: Domain, unit: Unit | None, sample: RowSample | None
) -> tuple[Cells, list[str]]:
    """The cells of a server's table or view, and what its curator should know of its columns."""
    with _checked(table, unit) as engine:
        wanted = wanted_columns(engine.names, domain, unit)
        raw = engine.table(wanted, identity=ID)
        notes = notes_on_types(raw, domain, from_text=False, shown=engine.shown_types(wanted))
        return count_cells(raw, domain, unit, engine, sample=sample), notes


def read_holders(
    table: ServerTable | ViewTable, domain: Domain, unit: Unit | None, sample: RowSample | None
) -> Holders:
    """Whose the rows of a server's table or view are."""
    with _checked(table, unit) as engine:
        raw = engine.table(wanted_columns(engine.names, domain, unit), identity=ID)
        return count_holders(raw, domain, unit, engine, sample=sample)


@contextmanager
def _checked(
    table: ServerTable | ViewTable, unit: Unit | None
) -> Iterator[PostgreSQLEngine | SparkEngine]:
    with server_engine(table) as engine:
        if isinstance(engine, PostgreSQLEngine):
            engine.check_view(unit)
        yield engine


def server_engine(table: ServerTable | ViewTable) -> PostgreSQLEngine | SparkEngine:
    """The engine of a table, for a with block."""
    if isinstance(table, ViewTable):
        return PostgreSQLEngine(table.bases[0], table)
    return PostgreSQLEngine(table) if isinstance(table, PostgreSQLTable) else SparkEngine(table)
