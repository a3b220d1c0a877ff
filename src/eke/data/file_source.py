"""File sources: a protected table in a CSV, Parquet or DuckDB file, read by a sealed engine.

The schema is looked at when it is opened, the rows when something is first counted. What is in
memory or on a server is opened elsewhere (`opening`): nothing of that is loaded for a file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from eke.data.cell_source import CellSource
from eke.data.cells import Cells
from eke.data.columns import notes_on_types, wanted_columns
from eke.data.cover import cover
from eke.data.files import CsvFile, DataFile, file_to_document
from eke.data.fingerprint import Fingerprint, check_untouched
from eke.data.grouping import scan_sets
from eke.data.holders import Holders
from eke.data.marginal_source import MarginalSource
from eke.data.reduction import ID, count_cells, count_holders, kept_rows, list_rows
from eke.data.row_sample import RowSample, stored_sample
from eke.data.scan import Scan, scan_file
from eke.data.source import Columns, Rows
from eke.domain import Domain
from eke.privacy.unit import Unit


def reopened_file(
    reference: Mapping[str, object],
    file: DataFile,
    fingerprint: Fingerprint,
    domain: Domain,
    unit: Unit | None,
    *,
    columns: Columns = "all",
) -> CellSource | MarginalSource:
    """The table in a file that a reference is about, with the same sample of rows."""
    sample = RowSample.stored(reference)
    return file_source(file, fingerprint, domain, unit, sample, columns=columns)


def file_source(
    file: DataFile,
    fingerprint: Fingerprint,
    domain: Domain,
    unit: Unit | None,
    sample: RowSample | None,
    *,
    columns: Columns = "all",
) -> CellSource | MarginalSource:
    """The table in a file of this fingerprint: its schema is looked at, its rows are not."""
    from_text = isinstance(file, CsvFile)
    with scan_file(file) as scan:
        wanted = wanted_columns(tuple(scan.columns), domain, unit)
        notes = notes_on_types(scan.table(wanted, ID), domain, from_text=from_text)

    def holders() -> Holders:
        with _untouched(file, fingerprint) as scan:
            raw = scan.table(wanted, ID)
            return count_holders(raw, domain, unit, scan.engine, sample=sample, from_text=from_text)

    def read(part: Domain = domain) -> Cells:
        others = [name for name in domain.names if name not in part]
        with _untouched(file, fingerprint) as scan:
            named = wanted_columns(tuple(scan.columns), part, unit)
            raw = scan.table(named, ID, looked_at=others)
            return count_cells(raw, part, unit, scan.engine, sample=sample, from_text=from_text)

    def read_some(names: frozenset[str]) -> Cells:
        return read(_same_rows(domain, names))

    def in_order() -> Rows:
        with _untouched(file, fingerprint) as scan:
            return list_rows(scan.table(wanted, ID), domain, scan.engine, from_text=from_text)

    stored = {**fingerprint.to_document(), **stored_sample(sample)}
    reference = {**file_to_document(file), **stored}
    if not isinstance(file, CsvFile) and file.collect == "marginals":

        def scan_all(sets: Sequence[tuple[str, ...]]) -> Sequence[Cells]:
            with _untouched(file, fingerprint) as scan:
                rows = kept_rows(scan.table(wanted, ID), domain, unit, scan.engine, sample=sample)
                return scan_sets(rows, sets, domain, scan.engine, None).tables

        return MarginalSource(
            domain,
            unit,
            scan=scan_all,
            check=lambda: scan_all(cover([()], domain)),
            reference=reference,
            notes=notes,
        )
    # Which rows of an id are kept depends on all of their columns.
    reads_some = columns == "needed" and unit is None
    return CellSource(
        domain,
        unit,
        read=read,
        read_some=read_some if reads_some else None,
        reference=reference,
        notes=notes,
        list_rows=in_order,
        read_holders=holders,
    )


def _same_rows(domain: Domain, names: frozenset[str]) -> Domain:
    """Some attributes, and those that take rows out of the table, so that all count the same rows.

    Values that never occur were looked for when the dataset was made, in this very file.
    """
    dropping = {name for name, a in domain.attributes if "drop" in (a.null, a.outside)}
    return domain.project(names | dropping or domain.names[:1])


@contextmanager
def _untouched(file: DataFile, fingerprint: Fingerprint) -> Iterator[Scan]:
    """The columns of the file, which is the one known before, and still is at the end."""
    check_untouched(file.path, fingerprint)
    with scan_file(file) as scan:
        yield scan
    check_untouched(file.path, fingerprint)
