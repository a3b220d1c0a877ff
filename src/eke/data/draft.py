"""Draft: a first proposal of a domain, read off the table, for the curator to check and correct.

Privacy: A draft is made of private values: bounds, categories, the very fact that a value occurs.
It is for the curator alone until each line has been checked against public knowledge.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import ibis
import pyarrow as pa

from eke.data.draft_column import ColumnDraft
from eke.data.draft_form import form_text
from eke.data.files import CsvFile, DuckDBFile, ParquetFile, file_from_path
from eke.data.memory import MemoryTable, memory_table
from eke.data.scan import scan_file
from eke.data.sealed import Engine, OpenEngine, SealedEngine
from eke.data.view import ViewTable, scan_view
from eke.domain import Attribute, Domain
from eke.errors import DataError


@dataclass(frozen=True, slots=True)
class Draft:
    """A proposed domain, a note on each of its attributes in order, then on columns left out."""

    domain: Domain
    notes: list[str]
    missing: tuple[str, ...] = ()
    """Texts of a CSV file, such as NA, that were taken for missing values."""


@dataclass(frozen=True, slots=True, repr=False)
class _Table:
    """An Ibis table with columns ``c0``, ``c1``, ... and the names they have in public."""

    engine: Engine
    table: Any
    names: dict[str, str]
    from_text: bool


def draft_domain(
    data: object, *, table: str | None = None, max_categories: int = 50, bins: int | None = None
) -> Draft:
    """A domain that fits a table, with a note on every column, for a curator to check.

    Numbers keep their values, on a grid fine enough for exact or nearly exact sums. With `bins`,
    numbers of many values are cut into about so many bins instead.
    """
    if any(type(n) is not int or n < 1 for n in (max_categories, 1 if bins is None else bins)):
        raise DataError("max_categories and bins must be whole numbers of 1 or more")
    attributes: dict[str, Attribute] = {}
    notes, left_out = [], []
    with _opened(_file_of(data, table)) as opened:
        columns = {
            name: ColumnDraft.of(
                opened.engine,
                name,
                opened.table[place],
                from_text=opened.from_text,
                max_categories=max_categories,
                bins=bins,
            )
            for place, name in opened.names.items()
        }
        # Texts that stand for missing numbers somewhere do so everywhere.
        missing = tuple(sorted(set[str]().union(*(c.missing_words() for c in columns.values()))))
        for name, drafted in columns.items():
            column = replace(drafted, missing=missing)
            attribute, note = column.drafted()
            line = f"{json.dumps(name, ensure_ascii=False)}: {note}"
            if attribute is None:
                left_out.append(line)
            else:
                attributes[name] = attribute
                notes.append(line)
    if not attributes:
        raise DataError("no column can be drafted; declare a Domain yourself")
    return Draft(Domain(attributes), notes + left_out, missing)


def draft_file(
    data: object,
    path: str | Path,
    *,
    table: str | None = None,
    max_categories: int = 50,
    bins: int | None = None,
) -> Draft:
    """The draft, written as a YAML file to be filled in like a form; it must be checked by hand."""
    draft = draft_domain(data, table=table, max_categories=max_categories, bins=bins)
    Path(path).write_text(form_text(draft.domain, draft.notes, draft.missing), "utf-8")
    return draft


def _file_of(data: object, table: str | None) -> object:
    if isinstance(data, (str, Path)):
        return file_from_path(data, table)
    if table is not None:
        raise DataError("table= goes with the path of a DuckDB file")
    return data


@contextmanager
def _opened(data: object) -> Iterator[_Table]:
    if isinstance(data, (CsvFile, ParquetFile, DuckDBFile)):
        with scan_file(data) as scan:
            names = {f"c{place}": name for place, name in enumerate(scan.columns)}
            held = scan.engine.hold(scan.table(names))
            yield _Table(scan.engine, held, names, isinstance(data, CsvFile))
        return
    if isinstance(data, ViewTable) and data.plan.dialect == "duckdb":
        with scan_view(data) as scan:
            names = {f"c{place}": name for place, name in enumerate(scan.columns)}
            held = scan.engine.hold(scan.table(names))
            yield _Table(scan.engine, held, names, data.from_text)
        return
    if isinstance(data, ibis.expr.types.Table):
        names = {f"c{place}": name for place, name in enumerate(data.columns)}
        renamed = data.select(**{column: data[name] for column, name in names.items()})
        yield _Table(OpenEngine(), renamed, names, from_text=False)
        return
    memory = memory_table(data)
    if memory is None:
        raise DataError("give a path, eke.CsvFile, a DataFrame, an Arrow table or an Ibis table")
    names = {f"c{place}": name for place, name in enumerate(memory.names)}
    with SealedEngine() as engine:
        raw = engine.register("raw", _arrow(memory, names))
        yield _Table(engine, raw, names, from_text=False)


def _arrow(memory: MemoryTable, names: dict[str, str]) -> Any:
    arrays = {}
    for column, name in names.items():
        values = memory.column(name)
        if isinstance(values, list):
            try:
                values = pa.array(values, from_pandas=True)
            except (pa.ArrowException, TypeError, ValueError, OverflowError):
                # Of no single type: bytes are a type that no attribute describes.
                values = pa.array([None if v is None else b"" for v in values], pa.binary())
        arrays[column] = values
    return pa.table(arrays)
