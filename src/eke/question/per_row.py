"""Per row: a block with a question of its own for each row of a result, as windows make them.

A running total over months, the month before, the sum of all groups: each row asks for a weighted
sum of groups, which is a linear question like any other. So its interval comes from everything
that is known about these groups together, and its accuracy can be demanded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import TypeAlias

import numpy as np

from eke.domain import Domain
from eke.errors import QueryError
from eke.query import Query, Term
from eke.question.groups import GroupKey

Weights: TypeAlias = Mapping[tuple[int, ...], Fraction]
"""Of some groups, each given by the places of its labels."""


@dataclass(frozen=True, slots=True)
class PerRow:
    """A query for each cell of the keys; None where SQL has no value, as before the first row."""

    rows: tuple[Query | None, ...]
    domain: Domain

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.rows),)

    @property
    def cells(self) -> int:
        return len(self.rows)

    @property
    def grouped(self) -> None:
        """None: the rows are no combinations of values of some attributes."""

    @property
    def by_columns(self) -> None:
        """None, for the same reason."""

    @property
    def inside(self) -> Query:
        """The row that a record can move farthest: it stands for all of them where sizes count."""
        known = [row for row in self.rows if row is not None]
        return max(known, key=reach, default=Query.of(self.domain, []))

    @property
    def common(self) -> None:
        """None: each row asks a question of its own."""

    def has_value(self, index: int) -> bool:
        """False where SQL has no value whatever the data."""
        return self.rows[index] is not None

    @property
    def description(self) -> str:
        """One line of text that says what is asked."""
        return f"{self.inside.description} and the like, row by row"

    @property
    def parts(self) -> tuple[PerRow]:
        """The blocks that it is made of, one for each grouping: itself."""
        return (self,)

    def measurable(self) -> Sequence[Query]:
        """The questions of all rows, each once; what they have in common is found by planning."""
        known = (row.without_constant() for row in self.rows if row is not None)
        return list(dict.fromkeys(row for row in known if not row.is_zero))

    def cell(self, index: int) -> Query:
        """The query of one row; where there is no value, the number 1, which nobody looks at."""
        if not 0 <= index < len(self.rows):
            raise QueryError(f"the rows are numbered 0 to {len(self.rows) - 1}, not {index}")
        row = self.rows[index]
        return Query.of(self.domain, [], 1) if row is None else row

    def queries(self) -> Iterator[Query]:
        return (self.cell(i) for i in range(self.cells))

    def keys(self) -> list[tuple[object, ...]]:
        """The place of each row."""
        return [(place,) for place in range(self.cells)]


def added_groups(inside: Query, keys: Sequence[GroupKey], weights: Weights) -> Query:
    """The weighted sum of a query over some groups, as one query.

    Groups that differ in one label only are put together first, so that a running total over
    months is one condition on the month and not a sum of twelve.
    """
    domain = inside.domain
    total = Query.of(domain, [])
    for weight, parts in _products(domain, keys, weights):
        total += weight * reduce(Query.pointwise, parts, inside)
    return total


def _products(
    domain: Domain, keys: Sequence[GroupKey], weights: Weights
) -> Iterator[tuple[Fraction, list[Query]]]:
    """Weighted products of conditions, one for each key, that add up to the weights."""
    if not keys:
        yield weights[()], []
        return
    behind: dict[int, dict[tuple[int, ...], Fraction]] = {}
    for (place, *rest), weight in weights.items():
        behind.setdefault(place, {})[tuple(rest)] = weight
    alike: dict[tuple[object, ...], list[int]] = {}
    for place, inner in behind.items():
        alike.setdefault(tuple(sorted(inner.items())), []).append(place)
    for places in alike.values():
        here = _any_of(domain, keys[0], places)
        for weight, parts in _products(domain, keys[1:], behind[places[0]]):
            yield weight, [here, *parts]


def _any_of(domain: Domain, key: GroupKey, places: Sequence[int]) -> Query:
    """The count of records that have one of some labels."""
    if key.attribute is None:
        terms = [term for place in places for term in key.parts[place].terms]
        return Query.of(domain, terms)
    chosen = np.zeros(domain[key.attribute].size, np.int64)
    chosen[list(places)] = 1
    return Query.of(domain, [Term(Fraction(1), ((key.attribute, chosen),))])


def reach(query: Query) -> Fraction:
    """By how much a record can move its answer, where that is farthest."""
    return max(map(abs, query.extremes()))
