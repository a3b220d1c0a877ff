"""Draft: a first proposal of a domain, read off the table, for the curator to check and correct.

Privacy: A draft is made of private values: bounds, categories, the very fact that a value occurs.
It is for the curator alone until each line has been checked against public knowledge.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import ibis
import pyarrow as pa
import yaml

from eke.data.coding import FALSE_WORDS, TRUE_WORDS, spelled_number
from eke.data.files import CsvFile, DuckDBFile, ParquetFile, file_from_path
from eke.data.memory import MemoryTable, memory_table
from eke.data.round_edges import round_bounds, round_edges
from eke.data.scan import scan_file
from eke.data.sealed import Engine, OpenEngine, SealedEngine
from eke.domain import (
    Attribute,
    Binned,
    Boolean,
    Categorical,
    Domain,
    Integer,
    Rule,
    domain_to_document,
)
from eke.errors import DataError

_WIDEST_INTEGER = 1000
_NEARLY_ALL = 0.9
_SPIKE = 0.25
_FEW = 12  # so few whole numbers over so wide a range are labels
_EXACT = 2**53
_EMPTY = "left out: it holds no values"
_ID = (
    "If it names the individuals to protect, use it as Unit(column, rows=...); "
    "ids and free text are no attributes"
)
_HEADER = """\
# DRAFT of a domain. Everything below was read off the data and is PRIVATE: bounds, categories, even
# the fact that a value occurs. Before you use it, check each attribute against what is publicly
# known about the table (a codebook, a form, the law), add values that could occur but did not,
# remove what only a few people have, and delete this comment. Whatever remains here is published.
#
# null:    drop (the row is not part of the table), bucket (a cell of its own) or {replace: value}
# outside: the same for values that are not listed; numbers may also clamp to the nearest bound
"""


@dataclass(frozen=True, slots=True)
class Draft:
    """A proposed domain, a note on each of its attributes in order, then on columns left out."""

    domain: Domain
    notes: list[str]


@dataclass(frozen=True, slots=True, repr=False)
class _Table:
    """An Ibis table with columns ``c0``, ``c1``, ... and the names they have in public."""

    engine: Engine
    table: Any
    names: dict[str, str]
    from_text: bool


def draft_domain(
    data: object, *, table: str | None = None, max_categories: int = 50, bins: int = 20
) -> Draft:
    """A domain that fits a table, with a note on every column, for a curator to check."""
    if type(max_categories) is not int or max_categories < 1 or type(bins) is not int or bins < 1:
        raise DataError("max_categories and bins must be whole numbers of 1 or more")
    attributes: dict[str, Attribute] = {}
    notes, left_out = [], []
    with _opened(data, table) as opened:
        for column, name in opened.names.items():
            attribute, note = _draft_column(opened, column, max_categories, bins)
            line = f"{json.dumps(name, ensure_ascii=False)}: {note}"
            if attribute is None:
                left_out.append(line)
            else:
                attributes[name] = attribute
                notes.append(line)
    if not attributes:
        raise DataError("no column can be drafted; declare a Domain yourself")
    return Draft(Domain(attributes), notes + left_out)


def draft_file(
    data: object,
    path: str | Path,
    *,
    table: str | None = None,
    max_categories: int = 50,
    bins: int = 20,
) -> Draft:
    """The draft, written as a YAML file with its notes as comments; it must be checked by hand."""
    draft = draft_domain(data, table=table, max_categories=max_categories, bins=bins)
    document = domain_to_document(draft.domain)
    lines = [_HEADER, f"format: {document['format']}", "attributes:"]
    notes = iter(draft.notes)
    for name, fields in document["attributes"].items():
        lines += ["", f"  # {next(notes)}"]
        text = yaml.safe_dump(
            {name: fields}, sort_keys=False, allow_unicode=True, width=90, default_flow_style=None
        )
        lines += [f"  {line}" for line in text.splitlines()]
    left_out = list(notes)
    if left_out:
        lines += ["", "# Columns left out:", *(f"# {line}" for line in left_out)]
    Path(path).write_text("\n".join(lines) + "\n", "utf-8")
    return draft


@contextmanager
def _opened(data: object, table: str | None) -> Iterator[_Table]:
    if isinstance(data, (str, Path)):
        data = file_from_path(data, table)
    elif table is not None:
        raise DataError("table= goes with the path of a DuckDB file")
    if isinstance(data, (CsvFile, ParquetFile, DuckDBFile)):
        with scan_file(data) as scan:
            names = {f"c{place}": name for place, name in enumerate(scan.columns)}
            held = scan.engine.hold(scan.table(names))
            yield _Table(scan.engine, held, names, isinstance(data, CsvFile))
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


def _draft_column(
    opened: _Table, column: str, max_categories: int, bins: int
) -> tuple[Attribute | None, str]:
    values = opened.table[column]
    dtype = values.type()
    if dtype.is_string():
        return _draft_text(opened, values, max_categories, bins)
    if dtype.is_numeric() and not dtype.is_boolean():
        return _draft_number(opened, values.cast("float64"), bins)
    present, missing = _row(opened, opened.table, values.count(), values.isnull().sum())
    if not present:
        return None, _EMPTY
    if dtype.is_boolean():
        return Boolean("bucket" if missing else "drop"), "true or false"
    return None, (
        f"left out: type {dtype} has no attribute of its own; derive what matters from it "
        "(the year, the month, a category) and add that as a column"
    )


def _draft_text(
    opened: _Table, values: Any, max_categories: int, bins: int
) -> tuple[Attribute | None, str]:
    counted = opened.table.select(v=values).group_by("v").aggregate(n=ibis._.count())
    texts = opened.engine.hold(counted)
    present, distinct, words, others = _row(
        opened,
        texts,
        texts.n.sum(where=texts.v.notnull()),
        texts.v.count(),
        texts.v.lower().isin([*TRUE_WORDS, *FALSE_WORDS]).sum(),
        spelled_number(texts.v, Integer(0, 0)).isnull().sum(),
    )
    if not present:
        return None, _EMPTY
    if opened.from_text and words == distinct:
        missing = _row(opened, texts, texts.count())[0] > distinct
        return Boolean("bucket" if missing else "drop"), "true or false, spelled out"
    if opened.from_text and not others:
        return _draft_number(opened, spelled_number(values, Integer(0, 0)), bins)
    if distinct > max_categories:
        if distinct >= _NEARLY_ALL * present:
            return None, "left out: nearly every row has its own text. " + _ID
        return None, (
            f"left out: more than {max_categories} different texts; group them, or list the public "
            "ones yourself as a categorical attribute with outside: bucket"
        )
    return _draft_categories(opened.engine.fetch(texts.select("v"))["v"].to_pylist())


def _draft_categories(found: list[str | None]) -> tuple[Attribute, str]:
    texts = sorted(text for text in found if text is not None)
    if None in found:
        note = "the texts that occur; the bucket takes missing ones, and others not listed"
        return Categorical(*texts, null="bucket", outside="bucket"), note
    return Categorical(*texts), "the texts that occur; rows with others would be dropped"


def _draft_number(opened: _Table, number: Any, bins: int) -> tuple[Attribute | None, str]:
    column = opened.engine.hold(opened.table.select(v=number))
    missing, infinite = _row(
        opened, column, (column.v.isnull() | column.v.isnan()).sum(), column.v.isinf().sum()
    )
    column = column.filter(column.v.notnull() & ~column.v.isnan() & ~column.v.isinf())
    present, distinct, low, high, whole = _row(
        opened,
        column,
        column.count(),
        column.v.nunique(),
        column.v.min(),
        column.v.max(),
        (column.v == column.v.floor()).all(),
    )
    if not present:
        return None, _EMPTY
    null: Rule = "bucket" if missing else "drop"
    beyond = "; infinities go to the outermost cells" if infinite else ""
    if whole and high - low <= _WIDEST_INTEGER:
        bounds = round_bounds(int(low), int(high))
        return Integer(*bounds, null=null), f"whole numbers, bounds rounded outwards{beyond}"
    if whole and distinct == present > bins:
        return None, "left out: every row has its own number. " + _ID
    if whole and distinct <= _FEW and max(-low, high) < _EXACT:
        found = opened.engine.fetch(column.distinct())["v"].to_pylist()
        note = "the whole numbers that occur; rows with others would be dropped"
        return Categorical(*sorted(map(int, found)), null=null), note
    (at_low,) = _row(opened, column, (column.v == low).sum())
    cuts = _cuts(opened, column, bins)
    edges = round_edges(low, high, cuts, spike=at_low >= _SPIKE * present, whole=bool(whole))
    return Binned(edges, null=null), (
        f"numbers in bins, more of them where there are more rows, edges rounded{beyond}"
    )


def _cuts(opened: _Table, column: Any, bins: int) -> list[float]:
    """Where the bins would end if each held the same number of rows."""
    shares = [place / bins for place in range(1, bins)] or [0.5]
    (cuts,) = _row(opened, column, column.v.quantile(shares))
    if len(set(cuts)) < bins / 2:
        # Most rows share a few values: let every value have its say, once.
        once = column.distinct()
        cuts = [*cuts, *_row(opened, once, once.v.quantile(shares))[0]]
    return list(cuts)


def _row(opened: _Table, table: Any, *expressions: Any) -> tuple[Any, ...]:
    """The values of some aggregates of a table, 0 for a sum over nothing.

    DuckDB sums whole numbers in 128 bits, which arrive as Decimal.
    """
    named = {f"x{place}": expression for place, expression in enumerate(expressions)}
    result = opened.engine.fetch(table.aggregate(**named))
    found = (result[name].to_pylist()[0] for name in named)
    return tuple(int(v or 0) if v is None or isinstance(v, Decimal) else v for v in found)
