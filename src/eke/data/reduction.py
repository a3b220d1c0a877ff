"""Reduction: from a raw table to the row counts of its non-empty cells, as one Ibis expression.

Drop what is outside the domain, keep at most so many rows of each id, count. `coding` says how one
column is coded; `cells` holds the result.

Privacy: Whether ids are equal is said by PARTITION BY alone, where the engine compares them as it
compares the column that they come from. The mark of an id (`id_mark`) only decides which of its own
rows are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import ibis
import numpy as np
from numpy.typing import NDArray

from eke.data.cells import Cells, sorted_cells
from eke.data.coding import (
    code_expression,
    fate_expression,
    is_spelled,
    long_list,
    spelled_number,
)
from eke.data.holders import NOBODY, Holders
from eke.data.id_mark import MARK
from eke.data.row_sample import RowSample
from eke.data.sealed import Engine, Find
from eke.data.source import Rows
from eke.domain import Attribute, Domain
from eke.domain.fate import Fate
from eke.errors import DataError
from eke.privacy.unit import Unit

_Read: TypeAlias = Callable[..., Any]
"""What is made of a column: `code_expression`, or another of its kind."""

ID = "id"
_COUNT = "rows"
_PLACE = "place"
_NUMBER, _HOLDER = "number", "holder"


def code_column(place: int) -> str:
    """The name of an attribute's column inside the engine, which never sees its real name."""
    return f"a{place}"


def count_cells(
    table: Any,
    domain: Domain,
    unit: Unit | None,
    engine: Engine,
    *,
    sample: RowSample | None,
    from_text: bool = False,
    coded: frozenset[str] = frozenset(),
) -> Cells:
    """The cells of a raw table, which has columns ``a0``, ``a1``, ... and, with a unit, ``id``.

    Attributes listed in `coded` hold codes already; `from_text` says that the table comes from a
    text file.

    Privacy: A row with any dropped attribute is left out, whatever is asked later, so all questions
    are about one and the same table. Then at most ``unit.rows`` rows of each id are kept, chosen
    by the codes and marks of that id's rows and the key of the sample; without a sample, as in
    datasets that were made before there was one, the first in the order of their codes.
    """
    names = [code_column(place) for place in range(len(domain))]
    rows = _held_rows(table, domain, unit, engine, from_text=from_text, coded=coded)
    result = engine.fetch(_cell_counts(rows, names, unit, sample))
    columns = [whole_numbers(result[name]) for name in names]
    counts = whole_numbers(result[_COUNT]).astype(np.int64)
    return sorted_cells(domain.names, domain.shape, columns, counts)


def count_holders(
    table: Any,
    domain: Domain,
    unit: Unit | None,
    engine: Engine,
    *,
    sample: RowSample | None,
    from_text: bool = False,
    coded: frozenset[str] = frozenset(),
) -> Holders:
    """The same rows as in `count_cells`, by whose they are.

    Privacy: Every id has a number of its own, that of its first row in whatever order the engine
    has; rows without an id have none. Whether ids are equal, PARTITION BY says, as everywhere.
    """
    names = [code_column(place) for place in range(len(domain))]
    rows = _held_rows(table, domain, unit, engine, from_text=from_text, coded=coded)
    counted = _kept(rows, names, unit, sample)
    counted = counted.mutate(**{_NUMBER: ibis.row_number().over(ibis.window())})
    first = counted[_NUMBER].min().over(group_by=counted[ID])
    # COUNT knows what is missing; IS NULL is true of composed values whose fields all are, as well.
    has_id = counted[ID].count().over(group_by=counted[ID]) > 0
    counted = counted.mutate(**{_HOLDER: ibis.ifelse(has_id, first, NOBODY)})
    pairs = counted.group_by([_HOLDER, *names]).aggregate(**{_COUNT: counted.count()})
    result = engine.fetch(pairs)
    return Holders(
        domain.names,
        domain.shape,
        tuple(whole_numbers(result[name]) for name in names),
        whole_numbers(result[_HOLDER]).astype(np.int64),
        whole_numbers(result[_COUNT]).astype(np.int64),
    )


def whole_numbers(column: Any) -> NDArray[Any]:
    """The integers of an Arrow column without NULL; Arrow's own way loads pandas, which is slow."""
    return np.from_dlpack(column.combine_chunks())


def kept_rows(
    table: Any, domain: Domain, unit: Unit | None, engine: Engine, *, sample: RowSample | None
) -> Any:
    """The coded rows that `count_cells` counts, as an Ibis table that nothing is held for.

    Only for tables with typed columns: numbers spelled in texts would be parsed over and over.
    """
    coded = _coded_rows(table, domain, unit, engine, coded=frozenset(), spelled=set())
    names = [code_column(place) for place in range(len(domain))]
    return _kept(coded, names, unit, sample).select(*names)


def fates_of_rows(
    table: Any,
    domain: Domain,
    unit: Unit | None,
    engine: Engine,
    *,
    from_text: bool = False,
    ready: frozenset[str] = frozenset(),
) -> Any:
    """The fate of each value of a raw table as in `count_cells`, row by row, as an Ibis table.

    Attributes listed in `ready` hold fates already.

    Privacy: For the curator's checks only; nothing that is released is made of it.
    """
    return _held_rows(
        table, domain, unit, engine, from_text=from_text, coded=ready, read=fate_expression
    )


def ids_compare(table: Any, engine: Engine) -> bool:
    """False when an engine can read a table but cannot group its rows by their ids."""
    groups = table.select(**{_PLACE: ibis.row_number().over(group_by=table[ID])})
    try:
        engine.fetch(groups.limit(0))
    except DataError:
        engine.fetch(table.select(**{_PLACE: ibis.literal(0)}).limit(0))
        return False
    return True


def list_rows(
    table: Any,
    domain: Domain,
    engine: Engine,
    *,
    from_text: bool = False,
    coded: frozenset[str] = frozenset(),
) -> Rows:
    """The coded rows of a raw table as in `count_cells`, one by one, in the order of the table.

    Only for sealed engines and domains that drop no row: DuckDB keeps the order of insertion, and
    the caller compares the rows with the cells.
    """
    held = _held_rows(table, domain, None, engine, from_text=from_text, coded=coded)
    result = engine.fetch(held)
    columns = [whole_numbers(result[code_column(place)]) for place in range(len(domain))]
    return Rows(domain.names, np.stack(columns, axis=1).astype(np.int64))


def _held_rows(
    table: Any,
    domain: Domain,
    unit: Unit | None,
    engine: Engine,
    *,
    from_text: bool,
    coded: frozenset[str],
    read: _Read = code_expression,
) -> Any:
    types = dict(table.schema().items())
    spelled = {
        name
        for place, (name, a) in enumerate(domain.attributes)
        if name not in coded and is_spelled(types[code_column(place)], a, from_text=from_text)
    }
    # The engine copies the expression of a column to every place that mentions it; held tables keep
    # it from parsing the same text dozens of times.
    if spelled:
        table = engine.hold(
            _read_texts(table, domain, unit, engine, coded=coded, spelled=spelled, read=read)
        )
        coded = frozenset(domain.names) - spelled
    rows = _coded_rows(table, domain, unit, engine, coded=coded, spelled=spelled, read=read)
    return engine.hold(rows)


def _read_texts(
    table: Any,
    domain: Domain,
    unit: Unit | None,
    engine: Engine,
    *,
    coded: frozenset[str],
    spelled: set[str],
    read: _Read,
) -> Any:
    """The numbers that texts spell and the codes of all others, so that no text is held."""
    columns = {}
    for place, (name, attribute) in enumerate(domain.attributes):
        column = table[code_column(place)]
        if name not in coded:
            if name in spelled:
                column = spelled_number(column, attribute)
            else:
                column = read(column, attribute, find=_finder(engine, attribute))
        columns[code_column(place)] = column
    return table.select(*_ids(table, unit), **columns)


def _coded_rows(
    table: Any,
    domain: Domain,
    unit: Unit | None,
    engine: Engine,
    *,
    coded: frozenset[str],
    spelled: set[str],
    read: _Read = code_expression,
) -> Any:
    columns = {}
    for place, (name, attribute) in enumerate(domain.attributes):
        column = table[code_column(place)]
        if name not in coded:
            find = _finder(engine, attribute)
            column = read(column, attribute, spelled=name in spelled, find=find)
        most = len(Fate) if read is fate_expression else attribute.size
        columns[code_column(place)] = column.cast(_code_type(most))
    return table.select(*_ids(table, unit), **columns)


def _finder(engine: Engine, attribute: Attribute) -> Find | None:
    texts = long_list(attribute)
    return engine.finder(texts) if texts else None


def _ids(table: Any, unit: Unit | None) -> list[str]:
    """The columns that say whose row it is: the id, and its mark where it has one."""
    return [name for name in (ID, MARK) if name in table.columns] if unit else []


def _cell_counts(
    rows: Any, names: Sequence[str], unit: Unit | None, sample: RowSample | None
) -> Any:
    counted = _kept(rows, names, unit, sample)
    return counted.group_by(list(names)).aggregate(**{_COUNT: counted.count()})


def _kept(rows: Any, names: Sequence[str], unit: Unit | None, sample: RowSample | None) -> Any:
    inside = rows.filter([rows[name].notnull() for name in names])
    if unit is None:
        return inside
    if sample is not None:
        return sample.kept(inside, names, ID, unit.rows)
    order = [inside[name] for name in names]
    inside = inside.mutate(**{_PLACE: ibis.row_number().over(group_by=inside[ID], order_by=order)})
    return inside.filter(inside[_PLACE] < unit.rows)


def _code_type(size: int) -> str:
    """The narrowest column type for the codes 0..size-1."""
    # Codes of 64 bits have two digits where rows are sampled (`row_sample.py`); others have one.
    types = (("int8", 2**7), ("int16", 2**15), ("int32", 2**25), ("int64", 2**63))
    return next(name for name, most in types if size <= most)
