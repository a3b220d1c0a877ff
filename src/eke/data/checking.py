"""Checking: counts what a domain does to a table, in one scan, from the expressions that code it.

Each value is given its fate (`coding.fate_expression`), and the engine counts rows by the fates of
all their values; what the rules make of them follows. `table_check` holds the result.

Privacy: The counts are exact, and nobody pays for them. They belong to whoever may read the table:
nothing here is reached by a question, a server or a stored dataset.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ibis
import numpy as np
from numpy.typing import NDArray

from eke.data.columns import check_moments, wanted_columns
from eke.data.files import CsvFile, DataFile, DuckDBFile, ParquetFile, file_from_path
from eke.data.identity import no_equality
from eke.data.memory import memory_table
from eke.data.opening import NO_TABLE
from eke.data.postgresql_engine import PostgreSQLEngine
from eke.data.reduction import ID, code_column, fates_of_rows, ids_compare
from eke.data.reopening import known_file
from eke.data.scan import scan_file
from eke.data.sealed import Engine, OpenEngine, SealedEngine
from eke.data.server_source import server_engine, table_of_reference
from eke.data.server_table import PostgreSQLTable, SparkTable, is_postgresql_address
from eke.data.table_check import ColumnCheck, TableCheck, UnitCheck
from eke.data.view import ViewTable, check_id, check_keys, scan_view
from eke.data.view_source import VIEW, known_view
from eke.domain import Attribute, Domain
from eke.domain.fate import Fate
from eke.errors import DataError
from eke.privacy.unit import Unit

_COUNT, _FIRST, _CUT = "rows", "first", "cut"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _RawTable:
    """A raw table as the engine sees it; the `ready` columns hold fates already."""

    table: Any
    engine: Engine
    from_text: bool = False
    ready: frozenset[str] = frozenset()


def check_table(
    source: object, domain: Domain, unit: Unit | None = None, *, table: str | None = None
) -> TableCheck:
    """What a domain and a unit do to a table: of `open_source`'s kinds, or its reference.

    Privacy: Exact counts, for the curator of the table; see `TableCheck`.
    """
    with _raw_table(source, domain, unit, table) as raw:
        fates = fates_of_rows(
            raw.table, domain, unit, raw.engine, from_text=raw.from_text, ready=raw.ready
        )
        names = [code_column(place) for place in range(len(domain))]
        keys = list(names)
        if unit is not None:
            fates, keys = _with_flags(fates, domain, unit), [*names, _FIRST, _CUT]
        counted = raw.engine.fetch(fates.group_by(keys).aggregate(**{_COUNT: fates.count()}))
    columns = {name: counted[name].to_numpy().astype(np.int64) for name in [*keys, _COUNT]}
    counts = columns[_COUNT]
    return TableCheck(
        rows=int(counts.sum()),
        dropped=int(counts[_dropped(columns, domain)].sum()),
        columns=tuple(
            _column_check(name, attribute, columns[code_column(place)], counts)
            for place, (name, attribute) in enumerate(domain.attributes)
        ),
        unit=None if unit is None else _unit_check(unit, columns),
    )


def _with_flags(fates: Any, domain: Domain, unit: Unit) -> Any:
    """With two columns: 1 for one row of each id; and for counted rows, 1 or 2 if one too many.

    Of the rows of an id beyond those that a unit counts, one has 1 and the others 2. Rows are told
    apart by PARTITION BY, as when they are counted; which one has which flag makes no difference.
    """
    is_kept = ibis.literal(True)
    for place, (_, attribute) in enumerate(domain.attributes):
        drops = [int(fate) for fate in _dropping(attribute)]
        if drops:
            is_kept &= ~fates[code_column(place)].isin(drops)
    fates = fates.mutate(kept=_flag((is_kept, 1)))
    first = ibis.row_number().over(group_by=fates[ID])
    place_of_row = ibis.row_number().over(group_by=[fates[ID], fates["kept"]])
    fates = fates.mutate(first_place=first, place=place_of_row)
    cut = _flag(
        (fates["kept"] == 0, 0), (fates["place"] == unit.rows, 1), (fates["place"] > unit.rows, 2)
    )
    return fates.mutate(**{_FIRST: _flag((fates["first_place"] == 0, 1)), _CUT: cut})


def _flag(*branches: tuple[Any, int]) -> Any:
    """The number of the first condition that holds, else 0, in the narrowest type."""
    # Ibis takes a short literal for narrow, PostgreSQL does not: only a cast makes it so.
    numbered = [(condition, ibis.literal(number, "int64")) for condition, number in branches]
    return ibis.cases(*numbered, else_=ibis.literal(0, "int64")).cast("int8")


def _dropping(attribute: Attribute) -> list[Fate]:
    return [fate for fate in Fate if attribute.rule_of(fate) in ("drop", "never")]


def _dropped(columns: Mapping[str, NDArray[np.int64]], domain: Domain) -> NDArray[np.bool_]:
    """True for the groups of rows that some attribute drops."""
    dropped = np.zeros(len(columns[_COUNT]), dtype=np.bool_)
    for place, (_, attribute) in enumerate(domain.attributes):
        dropped |= np.isin(columns[code_column(place)], _dropping(attribute))
    return dropped


def _column_check(
    name: str, attribute: Attribute, fates: NDArray[np.int64], counts: NDArray[np.int64]
) -> ColumnCheck:
    missing, beyond, undeclared, rounded = (
        int(counts[fates == fate].sum())
        for fate in (Fate.MISSING, Fate.BEYOND, Fate.UNDECLARED, Fate.ROUNDED)
    )
    return ColumnCheck(name, attribute, missing, beyond, undeclared, rounded)


def _unit_check(unit: Unit, columns: Mapping[str, NDArray[np.int64]]) -> UnitCheck:
    counts, cut = columns[_COUNT], columns[_CUT]
    return UnitCheck(
        unit,
        ids=int(counts[columns[_FIRST] == 1].sum()),
        cut=int(counts[cut == 1].sum()),
        truncated=int(counts[cut > 0].sum()),
    )


@contextmanager
def _raw_table(
    source: object, domain: Domain, unit: Unit | None, table: str | None
) -> Iterator[_RawTable]:
    source = _named(source, table)
    if isinstance(source, (CsvFile, ParquetFile, DuckDBFile)):
        with scan_file(source) as scan:
            wanted = wanted_columns(tuple(scan.columns), domain, unit)
            yield _RawTable(scan.table(wanted, ID), scan.engine, isinstance(source, CsvFile))
    elif isinstance(source, ViewTable) and source.plan.dialect == "duckdb":
        with scan_view(source) as scan:
            if unit is None:
                check_keys(source.plan, scan.engine)
            else:
                check_id(source.plan, scan.engine, unit)
            wanted = wanted_columns(tuple(scan.columns), domain, unit)
            yield _RawTable(scan.table(wanted, ID), scan.engine, source.from_text)
    elif isinstance(source, (PostgreSQLTable, SparkTable, ViewTable)):
        with server_engine(source) as engine:
            if isinstance(engine, PostgreSQLEngine):
                engine.check_view(unit)
            wanted = wanted_columns(engine.names, domain, unit)
            yield _RawTable(engine.table(wanted, identity=ID), engine)
    elif isinstance(source, ibis.expr.types.Table):
        wanted = wanted_columns(tuple(source.columns), domain, unit)
        raw = source.select(**{name: source[column] for name, column in wanted.items()})
        if unit and not ids_compare(raw, OpenEngine()):
            raise no_equality(unit.column, str(source[unit.column].type()))
        check_moments(raw, domain)
        yield _RawTable(raw, OpenEngine())
    else:
        memory = memory_table(source)
        if memory is None:
            raise DataError(NO_TABLE)
        wanted_columns(memory.names, domain, unit)
        arrow, ready = memory.coded(domain, unit, by=Attribute.fate)
        with SealedEngine() as engine:
            yield _RawTable(engine.register("raw", arrow), engine, ready=ready)


def _named(source: object, table: str | None) -> object:
    """The table that a path, an address or a stored reference names."""
    if isinstance(source, Mapping):
        return _of_reference(source)
    if is_postgresql_address(source):
        return PostgreSQLTable(str(source), table)
    if isinstance(source, (str, Path)):
        return file_from_path(source, table)
    if table is not None:
        raise DataError("table= goes with the path of a DuckDB file or a PostgreSQL URL")
    return source


def _of_reference(
    reference: Mapping[str, object],
) -> DataFile | PostgreSQLTable | SparkTable | ViewTable:
    if reference.get("kind") in ("memory", "ibis"):
        raise DataError(
            "this dataset was created from a table in memory or behind Ibis, which eke does not "
            "store: check the table itself, in Python with eke.check(table, domain)"
        )
    if reference.get("kind") in ("postgresql", "spark"):
        return table_of_reference(reference)
    if reference.get("kind") == VIEW:
        return known_view(reference)[0]
    return known_file(reference)[0]
