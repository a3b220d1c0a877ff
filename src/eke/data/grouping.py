"""Grouping: several tables of counts in one scan, as one GROUP BY GROUPING SETS of ours.

Ibis writes the SQL of the coded rows; it knows no grouping sets, so the statement around them is
text. It names nothing but the columns a0, a1, ... of the coded rows and public numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Protocol

import numpy as np

from eke.data.cells import Cells, sorted_cells
from eke.data.reduction import code_column
from eke.data.row_digest import LANES, SecretPoint
from eke.domain import Domain
from eke.errors import DataError

CODED = "coded"
"""The name under which the statement finds the coded rows."""
_TABLE, _CELL, _ROWS = "which", "cell", "counted"


class CountingEngine(Protocol):
    """What counting in one scan needs of an engine."""

    @property
    def fence(self) -> str:
        """SQL at the end of a subquery that keeps its expressions from being copied outwards."""
        ...

    def fetch_over(self, rows: Any, select: str, columns: Sequence[str]) -> Any:
        """The result of a SELECT over `CODED`, which is an Ibis table; 64-bit integers all."""
        ...

    def lookup(self, values: Sequence[int], place: str) -> str:
        """SQL of the value at a place, from 0, of a list of numbers."""
        ...


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Scanned:
    """What one scan gave: a table of counts for each set of attributes, and the row digest."""

    tables: tuple[Cells, ...]
    digest: str | None


def scan_sets(
    rows: Any,
    sets: Sequence[tuple[str, ...]],
    domain: Domain,
    engine: CountingEngine,
    point: SecretPoint | None,
) -> Scanned:
    """The non-empty cells of some different sets of attributes, each in the domain's order.

    `rows` are the coded rows, an Ibis table; none of their codes is NULL.

    Privacy: Only codes and COUNT(*) come back, and the sums of the digest, which stay here. A code
    is never NULL in a counted row, so a key is NULL exactly where the row of the result belongs to
    another table.
    """
    names = [_TABLE, _CELL, _ROWS, *(_lane(lane) for lane in range(LANES if point else 0))]
    result = engine.fetch_over(rows, _statement(sets, domain, engine, point), names)
    columns = {name: result[name].to_numpy().astype(np.int64) for name in names}
    tables = []
    for number, attributes in enumerate(sets):
        is_here = columns[_TABLE] == number
        codes = np.unravel_index(columns[_CELL][is_here], domain.sizes(attributes))
        tables.append(
            sorted_cells(attributes, domain.sizes(attributes), list(codes), columns[_ROWS][is_here])
        )
    if len({int(table.counts.sum()) for table in tables}) > 1:
        raise DataError(
            "tables counted in one scan do not add up to the same total; nothing was released. "
            "This is a fault in eke: please report it"
        )
    if point is None:
        return Scanned(tuple(tables), None)
    first = columns[_TABLE] == 0  # every row is in one cell of the first table
    sums = [int(columns[_lane(lane)][first].sum()) for lane in range(LANES)]
    return Scanned(tuple(tables), point.seal(sums))


def _statement(
    sets: Sequence[tuple[str, ...]],
    domain: Domain,
    engine: CountingEngine,
    point: SecretPoint | None,
) -> str:
    codes = {name: code_column(place) for place, name in enumerate(domain.names)}
    keys = [f"k{number}" for number in range(len(sets))]
    inner = [f"{_key(s, domain, codes)} AS {key}" for s, key in zip(sets, keys, strict=True)]
    sums = []
    if point is not None:
        terms = point.terms(list(codes.values()), engine.lookup)
        inner += [f"{term} AS t{lane}" for lane, term in enumerate(terms)]
        sums = [f"CAST(SUM(t{lane}) AS BIGINT) AS {_lane(lane)}" for lane in range(LANES)]
    which = " ".join(f"WHEN {key} IS NOT NULL THEN {n}" for n, key in enumerate(keys))
    cell = keys[0] if len(keys) == 1 else f"COALESCE({', '.join(keys)})"
    outer = [
        f"CAST(CASE {which} END AS BIGINT) AS {_TABLE}",
        f"CAST({cell} AS BIGINT) AS {_CELL}",
        f"CAST(COUNT(*) AS BIGINT) AS {_ROWS}",
        *sums,
    ]
    groups = ", ".join(f"({key})" for key in keys)
    return (
        f"SELECT {', '.join(outer)} "  # noqa: S608 -- no names but ours
        f"FROM (SELECT {', '.join(inner)} FROM {CODED}{engine.fence}) AS keyed "
        f"GROUP BY GROUPING SETS ({groups})"
    )


def _key(attributes: tuple[str, ...], domain: Domain, codes: dict[str, str]) -> str:
    """SQL of the number of a cell among all cells of some attributes, the last running fastest."""
    sizes = domain.sizes(attributes)
    parts = [
        f"CAST({codes[name]} AS INTEGER) * {rest // size}"
        for name, size, rest in zip(attributes, sizes, _cells_from(sizes), strict=True)
    ]
    return " + ".join(parts)


def _cells_from(sizes: Sequence[int]) -> list[int]:
    """For each place, the number of cells of it and all that follow."""
    return list(accumulate(reversed(sizes), lambda a, b: a * b))[::-1]


def _lane(lane: int) -> str:
    return f"lane{lane}"
