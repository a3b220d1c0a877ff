"""Views as sources: opened, and opened again from a reference.

A view of files is known again by the fingerprints of all of them, one of a server by the digest of
its coded rows, as a table there is; the view itself is stored as the SQL that eke wrote, so that a
dataset means the same whichever version reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from eke.data.cell_source import CellSource, stated_reference
from eke.data.cells import Cells
from eke.data.columns import notes_on_types, wanted_columns
from eke.data.files import file_from_document, file_to_document
from eke.data.fingerprint import (
    CHANGED,
    Fingerprint,
    check_fingerprint,
    check_untouched,
    take_fingerprint,
)
from eke.data.holders import Holders
from eke.data.memory import MemoryTable
from eke.data.reduction import ID, count_cells, count_holders
from eke.data.row_sample import RowSample, stored_sample
from eke.data.server_source import read_cells, read_holders
from eke.data.server_table import (
    PostgreSQLTable,
    is_postgresql_address,
    table_from_document,
    table_to_document,
)
from eke.data.view import ViewTable, check_id, check_keys, scan_view
from eke.domain import Domain
from eke.errors import DataError
from eke.privacy.unit import Unit
from eke.privacy.view import ViewPlan

VIEW = "view"
"""The kind of a reference to a view of files or of a server."""
_DIGEST = "sha256"
Read = TypeVar("Read", Cells, Holders)


def open_view(
    view: ViewTable, domain: Domain, unit: Unit | None, sample: RowSample | None
) -> CellSource:
    """A view over tables as they are now; those in memory and on servers are read at once."""
    if view.plan.dialect == "postgres":
        cells, notes = read_cells(view, domain, unit, sample)
        reference = {**_server_document(view), **stored_sample(sample), _DIGEST: cells.sha256()}
        return CellSource(
            domain,
            unit,
            read=lambda: cells,
            reference=reference,
            notes=notes,
            read_holders=lambda: read_holders(view, domain, unit, sample),
        )
    prints = {name: take_fingerprint(file.path) for name, file in view.files.items()}
    if any(isinstance(table, MemoryTable) for table in view.tables.values()):
        cells, notes = _read(view, prints, domain, unit, sample, count=count_cells)
        return CellSource(
            domain,
            unit,
            read=lambda: cells,
            reference=stated_reference("memory", cells, domain, unit, sample),
            notes=notes,
            read_holders=lambda: _read(view, prints, domain, unit, sample, count=count_holders)[0],
        )
    return _file_view(view, prints, domain, unit, sample)


def reopen_view(
    reference: Mapping[str, Any], domain: Domain, unit: Unit | None, *, data: object
) -> CellSource:
    """The view that a reference is about, to be read at the first count."""
    sample = RowSample.stored(reference)
    view, prints = known_view(reference, data)
    if view.plan.dialect != "postgres":
        return _file_view(view, prints, domain, unit, sample)

    def read() -> Cells:
        cells, _ = read_cells(view, domain, unit, sample)
        if cells.sha256() != reference.get(_DIGEST):
            raise DataError(CHANGED)
        return cells

    stored = {**_server_document(view), **stored_sample(sample), _DIGEST: reference.get(_DIGEST)}
    return CellSource(
        domain,
        unit,
        read=read,
        reference=stored,
        read_holders=lambda: read_holders(view, domain, unit, sample),
    )


def known_view(
    reference: Mapping[str, Any], data: object = None
) -> tuple[ViewTable, dict[str, Fingerprint]]:
    """The view that a reference is about, none of whose files has changed since.

    `data` is the folder that all of its files were moved to, their places by name, or the new
    address of the server.
    """
    documents: Mapping[str, Any] = reference["tables"]
    plan = ViewPlan.from_document(reference["view"], list(reference["names"]))
    if plan.dialect == "postgres":
        tables = {name: table_from_document(document) for name, document in documents.items()}
        if data is not None:
            tables = {name: _at(table, data) for name, table in tables.items()}
        return ViewTable(plan, tables), {}
    files, prints = {}, {}
    for name, document in documents.items():
        fields = {k: v for k, v in document.items() if k not in ("size", "mtime_ns", _DIGEST)}
        path = _moved(name, str(fields["path"]), data)
        if not Path(path).is_file():
            raise DataError(
                f"there is no file {path}; if the tables were moved, say where with data=: their "
                "folder, or their places by name"
            )
        files[name] = file_from_document({**fields, "path": path})
        prints[name] = check_fingerprint(path, Fingerprint.from_document(document))
    return ViewTable(plan, files), prints


def _moved(name: str, path: str, data: object) -> str:
    if data is None:
        return path
    if isinstance(data, Mapping):
        return str(Path(data.get(name, path)).expanduser().resolve())
    if isinstance(data, (str, Path)) and Path(data).is_dir():
        return str(Path(data).resolve() / Path(path).name)
    raise DataError(
        "this dataset was created from a view; data= must be the folder that its files were moved "
        "to, or a mapping from the names of its tables to their places"
    )


def _at(table: Any, data: object) -> PostgreSQLTable:
    if not is_postgresql_address(data):
        raise DataError("this dataset was created from a view of a server; data= is its address")
    return PostgreSQLTable(str(data), table.table)


def _file_view(
    view: ViewTable,
    prints: Mapping[str, Fingerprint],
    domain: Domain,
    unit: Unit | None,
    sample: RowSample | None,
) -> CellSource:
    with scan_view(view) as scan:
        if unit is not None:
            check_id(view.plan, scan.engine, unit)
        wanted = wanted_columns(tuple(scan.columns), domain, unit)
        raw = scan.table(wanted, ID)
        notes = notes_on_types(raw, domain, from_text=view.from_text)
    tables = {
        name: {**file_to_document(file), **prints[name].to_document()}
        for name, file in view.files.items()
    }
    reference = {**_document(view), "tables": tables, **stored_sample(sample)}
    return CellSource(
        domain,
        unit,
        read=lambda: _read(view, prints, domain, unit, sample, count=count_cells)[0],
        reference=reference,
        notes=notes,
        read_holders=lambda: _read(view, prints, domain, unit, sample, count=count_holders)[0],
    )


def _read(
    view: ViewTable,
    prints: Mapping[str, Fingerprint],
    domain: Domain,
    unit: Unit | None,
    sample: RowSample | None,
    *,
    count: Callable[..., Read],
) -> tuple[Read, list[str]]:
    """What is counted of a view in a sealed engine, of files that do not change meanwhile.

    Privacy: Without a unit the keys of joined tables must be unique, so that a row of the first
    table makes at most one row of the view.
    """
    _check_untouched(view, prints)
    with scan_view(view) as scan:
        if unit is None:
            check_keys(view.plan, scan.engine)
        else:
            check_id(view.plan, scan.engine, unit)
        wanted = wanted_columns(tuple(scan.columns), domain, unit)
        raw = scan.table(wanted, ID)
        notes = notes_on_types(raw, domain, from_text=view.from_text)
        counted = count(raw, domain, unit, scan.engine, sample=sample, from_text=view.from_text)
    _check_untouched(view, prints)
    return counted, notes


def _check_untouched(view: ViewTable, prints: Mapping[str, Fingerprint]) -> None:
    for name, file in view.files.items():
        check_untouched(file.path, prints[name])


def _document(view: ViewTable) -> dict[str, object]:
    # The ledger sorts the keys of what it stores, but the SQL calls tables by their places.
    return {"kind": VIEW, "view": view.plan.to_document(), "names": list(view.plan.tables)}


def _server_document(view: ViewTable) -> dict[str, object]:
    tables = {name: table_to_document(table) for name, table in view.tables.items()}
    return {**_document(view), "tables": tables}
