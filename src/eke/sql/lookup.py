"""Lookups: what a public table says of each cell, found by the values of its keys.

The keys are values over cells, so the row of the lookup is a function of the cell, too, and so is
every column of it: a lookup is one more public map of declared values. It is worked out as a table
over the columns behind the keys, which are few.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from eke.domain import Lookup
from eke.domain.attribute import as_whole
from eke.domain.lookup import Cell
from eke.errors import DomainError
from eke.query.canonical import DENSE_CELLS
from eke.query.vector import SAFE
from eke.question.calendar import written_number
from eke.question.groups import MomentKind
from eke.sql.diagram import Diagram, Label
from eke.sql.polynomial import tabled
from eke.sql.value import (
    Missing,
    Moment,
    Number,
    Reading,
    Text,
    Truth,
    Value,
    known_part,
)

_NUMBER = re.compile(r"[+-]?[0-9]{1,18}(\.[0-9]{1,18})?")
_TRUTHS = {"true": True, "false": False}
Codes = NDArray[np.int64]
Kind = type[Value] | MomentKind


@dataclass(frozen=True, slots=True, eq=False)
class FoundRows:
    """The row that each combination of some columns finds, by its place; -1 where it finds none."""

    lookup: Lookup
    names: tuple[str, ...]
    rows: Codes

    def found(self, reading: Reading) -> Diagram:
        """True where there is a row."""
        return _diagram(reading, self.names, [False, True], (self.rows >= 0).astype(np.int64))

    def with_default(self) -> FoundRows:
        """The same with any row where there is none, for records that are left out anyway.

        Without NULLs there are fewer groups and shorter conditions.
        """
        some = self.rows.max()
        return FoundRows(self.lookup, self.names, np.where(self.rows < 0, some, self.rows))

    def column(self, reading: Reading, name: str) -> Value:
        """What a column of the lookup holds in each cell, NULL where no row is found."""
        kind, cells = self.lookup.kind(name), self.lookup.column(name)
        reading.effort.spend(self.rows.size // 10 + len(self.lookup.rows) // 8 + 10)
        rows, place = np.unique(self.rows, return_inverse=True)
        labels = [None if row < 0 else cells[row] for row in rows.tolist()]
        if kind == "number":
            whole = all(isinstance(cell, int) for cell in cells if cell is not None)
            return self._number(reading, labels, place, whole=whole)
        distinct = {label: at for at, label in enumerate(dict.fromkeys(labels))}
        codes = np.array([distinct[label] for label in labels])[place]
        diagram = _diagram(reading, self.names, list(distinct), codes.reshape(self.rows.shape))
        return Text(diagram) if kind == "text" else Truth(diagram)

    def _number(
        self, reading: Reading, labels: list[Any], place: NDArray[Any], *, whole: bool
    ) -> Number:
        numbers, unit = as_whole([_fraction(label) or Fraction(0) for label in labels])
        fits = max(map(abs, numbers)) < SAFE
        shape = self.rows.shape
        table = np.array(numbers, np.int64 if fits else object)[place].reshape(shape)
        given = np.array([label is not None for label in labels], np.int64)[place].reshape(shape)
        known = _diagram(reading, self.names, [False, True], given)
        steps = reading.diagrams.unknown if not given.any() else None
        return Number(tabled(self.names, table, unit), known, steps, whole=whole)


def rows_of(reading: Reading, node: exp.Expr, lookup: Lookup, keys: Sequence[Value]) -> FoundRows:
    """The row of a lookup that each cell finds by the values of its keys."""
    try:
        places = _places(lookup, tuple(map(_kind, keys)))
    except DomainError as problem:
        raise reading.error(node, str(problem)) from None
    behind = [_attributes(reading, node, key) for key in keys]
    names = reading.domain.in_order({name for attributes in behind for name in attributes})
    shape = reading.domain.sizes(names)
    cells = math.prod(shape)
    if len(names) > 1 and cells > DENSE_CELLS:
        raise reading.error(
            node,
            f"{lookup.name!r} is looked up by {' and '.join(names)}, which have {cells:,} "
            f"combinations; at most {DENSE_CELLS:,} are worked out",
        )
    reading.effort.spend(cells * len(keys) // 2 + 50)
    grids = []
    for key, attributes in zip(keys, behind, strict=True):
        labels = np.empty(math.prod(reading.domain.sizes(attributes)), object)
        labels[:] = _labels(reading, key, attributes)
        along = [size if name in attributes else 1 for name, size in zip(names, shape, strict=True)]
        grids.append(np.broadcast_to(labels.reshape(along), shape).reshape(-1))
    rows = [places.get(key, -1) for key in zip(*grids, strict=True)]
    return FoundRows(lookup, names, np.array(rows, np.int64).reshape(shape))


def _attributes(reading: Reading, node: exp.Expr, value: Value) -> tuple[str, ...]:
    """The attributes behind the value of a key."""
    if isinstance(value, Missing):
        raise reading.error(node, "NULL equals no key; join with a column")
    number = value.number if isinstance(value, Moment) else value
    if not isinstance(number, Number):
        return reading.diagrams.attributes(number.labels)
    if number.midpoints:
        columns = " and ".join(sorted(number.midpoints))
        raise reading.error(
            node, f"{columns} is known by its bins only, so nothing can be looked up by it"
        )
    names = set(reading.diagrams.attributes(number.known))
    if number.steps is not None:
        names.update(reading.diagrams.attributes(number.steps))
    else:
        names.update(number.polynomial(reading.diagrams).attributes)
    return reading.domain.in_order(names)


def _labels(reading: Reading, value: Value, names: tuple[str, ...]) -> list[Label]:
    """The value of a key for every combination of the columns behind it."""
    diagrams = reading.diagrams
    shape = reading.domain.sizes(names)
    cells = math.prod(shape)
    codes = dict(zip(names, np.indices(shape).reshape(len(names), cells), strict=True))
    number = value.number if isinstance(value, Moment) else value
    if isinstance(number, (Text, Truth)):
        return list(diagrams.chosen(number.labels, codes, cells))
    if isinstance(number, Number) and number.steps is not None:
        return list(diagrams.chosen(number.steps, codes, cells))
    unit, table = number.polynomial(diagrams).table(reading.domain, names)  # type: ignore[union-attr]
    known = diagrams.chosen(known_part(reading, value), codes, cells)
    numbers = np.broadcast_to(table, shape).reshape(-1).tolist()
    return [unit * n if here else None for n, here in zip(numbers, known, strict=True)]


def _diagram(
    reading: Reading, names: Sequence[str], labels: Sequence[object], codes: Codes
) -> Diagram:
    leaves = [reading.diagrams.leaf(label) for label in labels]
    return reading.diagrams.from_table(names, leaves, codes)


def _kind(key: Value) -> Kind:
    return key.kind if isinstance(key, Moment) else type(key)


@lru_cache(maxsize=32)
def _places(lookup: Lookup, kinds: tuple[Kind, ...]) -> dict[tuple[Label, ...], int]:
    """The place of each row by its key, as values of these kinds; rows of other kinds find none."""
    places: dict[tuple[Label, ...], int] = {}
    for place, row in enumerate(lookup.rows):
        key = tuple(_as(kind, cell) for kind, cell in zip(kinds, row, strict=False))
        if None in key:
            continue
        if key in places:
            raise DomainError(
                f"two rows of {lookup.name!r} have the same key; have the curator keep one"
            )
        places[key] = place
    return places


def _as(kind: Kind, cell: Cell) -> Label:
    """A key of a lookup as the label that values of a kind have; None if it can be none of them."""
    if kind is Text:
        return cell if isinstance(cell, str) else None
    if kind is Truth:
        truth = _TRUTHS.get(cell.lower()) if isinstance(cell, str) else cell
        return truth if isinstance(truth, bool) else None
    if isinstance(kind, str):
        return written_number(cell, kind) if isinstance(cell, str) else None
    if isinstance(cell, str):
        return Fraction(cell) if _NUMBER.fullmatch(cell) else None
    return None if isinstance(cell, bool) else _fraction(cell)


def _fraction(cell: Any) -> Fraction | None:
    """The number that a decimal spells, not the double nearest to it."""
    if cell is None or isinstance(cell, int):
        return None if cell is None else Fraction(cell)
    return Fraction(repr(cell))
