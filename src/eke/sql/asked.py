"""Asked: the distinct queries of one statement, each with its place among the blocks."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from sqlglot import exp

from eke.query import Query
from eke.query.blur import widest
from eke.question.groupings import Groupings
from eke.question.stacked import AskedBlock
from eke.sql.value import Reading

MOST_QUERIES = 64
_STEPS_A_PART = 10


class Asked:
    """What must be answered, collected as a statement is read."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._queries: dict[int, Query] = {}  # asked of every group
        self._windows: dict[int, AskedBlock] = {}
        self._places: dict[Any, int] = {}

    def blocks(self, rows: Groupings) -> tuple[AskedBlock, ...]:
        """The block at each place, once everything has been read."""
        if len(rows.each) > 1:
            self._reading.effort.spend(_STEPS_A_PART * len(rows.each) * len(self._queries))
        groups = {place: rows.block(query) for place, query in self._queries.items()}
        placed: dict[int, AskedBlock] = {**groups, **self._windows}
        return tuple(placed[place] for place in range(len(placed)))

    def place(self, node: exp.Expr, query: Query) -> int | Fraction:
        """The place of a query, the same for the same one; its constant if no record counts."""
        if query.is_zero:
            return query.constant
        key = query.constant, query.people, tuple((term.weight, term.key) for term in query.terms)
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

    def add_window(self, node: exp.Expr, window: AskedBlock) -> int:
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
