"""Asked: the distinct queries of one statement, each with its place among the blocks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from sqlglot import exp

from eke.query import Query
from eke.query.blur import widest
from eke.question.groups import GroupKey, grouped
from eke.question.per_row import AskedBlock, PerRow
from eke.sql.value import Reading

MOST_QUERIES = 64
_LONGEST = 2**20
"""Denominators beyond it stay in the coefficients, where long fractions are rounded."""


class Asked:
    """What must be answered, collected as a statement is read."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._queries: dict[int, Query] = {}  # asked of every group
        self._windows: dict[int, PerRow] = {}
        self._places: dict[Any, int] = {}

    def blocks(self, keys: Sequence[GroupKey]) -> tuple[AskedBlock, ...]:
        """The block at each place, once everything has been read."""
        groups = {place: grouped(query, keys) for place, query in self._queries.items()}
        placed: dict[int, AskedBlock] = {**groups, **self._windows}
        return tuple(placed[place] for place in range(len(placed)))

    def place(self, node: exp.Expr, query: Query) -> int | Fraction:
        """The place of a query, the same for the same one; its constant if no record counts."""
        if query.is_zero:
            return query.constant
        key = query.constant, tuple((term.weight, term.key) for term in query.terms)
        if key not in self._places:
            self._places[key] = self.add(node, query)
        place = self._places[key]
        same = self._queries[place]
        self._queries[place] = replace(same, blur=widest(same.blur, query.blur))
        return place

    def add(self, node: exp.Expr, query: Query) -> int:
        """A place of its own for a query."""
        place = self._next(node)
        self._queries[place] = query
        return place

    def add_window(self, node: exp.Expr, window: PerRow) -> int:
        """A place of its own for what a window asks."""
        place = self._next(node)
        self._windows[place] = window
        return place

    def _next(self, node: exp.Expr) -> int:
        taken = len(self._queries) + len(self._windows)
        if taken == MOST_QUERIES:
            raise self._reading.error(
                node, f"at most {MOST_QUERIES} different aggregates fit in one statement"
            )
        return taken


def whole_unit(weights: Iterable[Fraction]) -> Fraction:
    """The largest unit in which all weights are whole; 1 where multiples of powers of two are."""
    weights = list(weights)
    denominator = math.lcm(*(weight.denominator for weight in weights))
    odd = denominator // (denominator & -denominator)
    if odd == 1 or odd > _LONGEST:
        return Fraction(1)
    return Fraction(math.gcd(*(weight.numerator for weight in weights)), denominator)
