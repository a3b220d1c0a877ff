"""Groups: the keys of a grouped question, exactly the declared ones, whatever the data.

A key is a column with its declared values, or parts the cells of the domain in another way, as CASE
and FLOOR(age / 10) do. A question asked in every group is a block: a `Marginal` where all keys are
columns, otherwise a `Partition`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import reduce
from itertools import product
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from eke.domain import Domain
from eke.errors import QueryError
from eke.query import Marginal, Query, Term

_MOST_LOOKED_AT = 10_000_000  # values of a column times labels
MomentKind: TypeAlias = Literal["day", "moment", "clock"]
"""What a text that spells a time stands for."""


@dataclass(frozen=True, slots=True)
class GroupKey:
    """One key: its labels in declared order.

    A bin is labelled by its two edges, and NULL by None. `parts` holds the indicator of each label
    when the key is not simply a column. `moment` says that the labels are texts of days, moments or
    times of day, for those who show them; nothing else depends on it.
    """

    name: str
    attribute: str | None
    labels: tuple[Any, ...]
    parts: tuple[Query, ...] = ()
    moment: MomentKind | None = field(default=None, compare=False)

    @staticmethod
    def of_column(domain: Domain, name: str) -> GroupKey:
        """The key that a column is."""
        return GroupKey(name, name, domain[name].labels)

    def places(self, domain: Domain) -> tuple[tuple[str, ...], NDArray[np.int64]] | None:
        """The columns that it follows from, with the place of the label for all of their values.

        Values without a label have -1. None where there are too many to be looked at.
        """
        if self.attribute is not None:
            return (self.attribute,), np.arange(domain[self.attribute].size)
        terms = [term for part in self.parts for term in part.terms]
        names = domain.in_order({name for term in terms for name in term.names})
        shape = domain.sizes(names)
        if not names or math.prod(shape) * len(terms) > _MOST_LOOKED_AT:
            return None
        places = np.full(shape, -1)
        for place, part in enumerate(self.parts):
            inside = np.zeros(shape)
            for term in part.terms:
                factors = dict(term.factors)
                each = [factors.get(name, np.ones(1, np.int64)) for name in names]
                inside += float(term.weight) * np.asarray(reduce(np.multiply, np.ix_(*each)), float)
            places[inside != 0] = place
        return names, places

    def part(self, domain: Domain, place: int) -> Query:
        """The count of records with the label at a place."""
        if self.attribute is None:
            return self.parts[place]
        indicator = np.zeros(domain[self.attribute].size, np.int64)
        indicator[place] = 1
        return Query.of(domain, [Term(Fraction(1), ((self.attribute, indicator),))])


@dataclass(frozen=True, slots=True)
class Partition:
    """A block whose cells are groups that are not simply values of columns, as CASE makes them.

    It is used like a `Marginal`: the cells are disjoint, and each is a query.
    """

    keys_by: tuple[GroupKey, ...]
    inside: Query

    @property
    def domain(self) -> Domain:
        return self.inside.domain

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(len(key.labels) for key in self.keys_by)

    @property
    def cells(self) -> int:
        return math.prod(self.shape)

    @property
    def grouped(self) -> None:
        """None: the groups are not the combinations of values of some attributes."""

    @property
    def by_columns(self) -> None:
        """None, for the same reason."""

    @property
    def description(self) -> str:
        """One line of text that says what is asked."""
        return f"{self.inside.description} by {', '.join(key.name for key in self.keys_by)}"

    @property
    def parts(self) -> tuple[Partition]:
        """The blocks that it is made of, one for each grouping: itself."""
        return (self,)

    def measurable(self) -> Sequence[Query]:
        """Its cells, one by one: since no record is in two of them, they cost as little."""
        return [query for query in self.queries() if not query.is_zero]

    @property
    def common(self) -> Query:
        """What is asked of every group."""
        return self.inside

    def has_value(self, index: int) -> bool:
        """True: a group without records is counted like any other."""
        return True

    def with_inside(self, inside: Query) -> Partition:
        """Another question in the same groups."""
        return Partition(self.keys_by, inside)

    def cell(self, index: int) -> Query:
        """The query of one group, by its flat index in C order."""
        if not 0 <= index < self.cells:
            raise QueryError(f"the groups are numbered 0 to {self.cells - 1}, not {index}")
        places = np.unravel_index(index, self.shape)
        parts = (k.part(self.domain, int(p)) for k, p in zip(self.keys_by, places, strict=True))
        return reduce(Query.pointwise, parts, self.inside)

    def queries(self) -> Iterator[Query]:
        return (self.cell(i) for i in range(self.cells))

    def keys(self) -> list[tuple[object, ...]]:
        """The labels of each cell, in order: exactly the declared ones, whatever the data."""
        return list(product(*(key.labels for key in self.keys_by)))


GroupedBlock: TypeAlias = Query | Marginal | Partition
"""What is asked of every group: one query, or a block of one for each group."""


def axes_of(domain: Domain, keys: Sequence[GroupKey]) -> list[int] | None:
    """The key along each axis of a block; None where rows and cells are in one order."""
    by_name = {key.attribute: axis for axis, key in enumerate(keys)}
    if None in by_name or len(by_name) < len(keys) or not keys:
        return None
    return [by_name[name] for name in domain.in_order(filter(None, by_name))]


def cell_of(domain: Domain, keys: Sequence[GroupKey], row: int) -> int:
    """The cell of a row within every block: blocks follow the domain's order of columns."""
    axes = axes_of(domain, keys)
    if axes is None:
        return row
    places = np.unravel_index(row, tuple(len(key.labels) for key in keys))
    shape = [len(keys[axis].labels) for axis in axes]
    return int(np.ravel_multi_index([int(places[axis]) for axis in axes], shape))


def cells_of(domain: Domain, keys: Sequence[GroupKey]) -> list[int]:
    """The cell of each row, as `cell_of` says it one by one."""
    shape = [len(key.labels) for key in keys]
    rows = math.prod(shape)
    axes = axes_of(domain, keys)
    if axes is None:
        return list(range(rows))
    cells = np.empty(rows, np.intp)
    cells[np.arange(rows).reshape(shape).transpose(axes).reshape(-1)] = np.arange(rows)
    return [int(cell) for cell in cells]


def grouped(query: Query, keys: Sequence[GroupKey]) -> GroupedBlock:
    """The query asked in every group; without keys, the query itself."""
    if not keys:
        return query
    names = {key.attribute for key in keys if key.attribute is not None}
    if len(names) == len(keys):  # else some are no columns, or one by two names
        return Marginal(query.domain.in_order(names), query)
    return Partition(tuple(keys), query)
