"""Outcome: HAVING, ORDER BY, LIMIT and OFFSET, which act on the noisy result and cost nothing."""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from eke.question.formula import Formula
from eke.question.logic import both, either, opposite

SIGNS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@dataclass(frozen=True, slots=True)
class ResultRow:
    """A row of the result: its keys and its aggregates, exact or noisy."""

    keys: tuple[Any, ...]
    values: tuple[Any, ...]


class Condition(ABC):
    """What HAVING says of a row."""

    __slots__ = ()

    @abstractmethod
    def holds(self, row: ResultRow) -> bool | None:
        """True, False, or None when it is unknown."""


@dataclass(frozen=True, slots=True)
class Compared(Condition):
    """Two formulas compared; unknown where either is NULL."""

    sign: str
    left: Formula
    right: Formula

    def holds(self, row: ResultRow) -> bool | None:
        first = self.left.value(row.values, row.keys)
        second = self.right.value(row.values, row.keys)
        return None if first is None or second is None else SIGNS[self.sign](first, second)


@dataclass(frozen=True, slots=True)
class AllOf(Condition):
    """AND."""

    parts: tuple[Condition, ...]

    def holds(self, row: ResultRow) -> bool | None:
        known: bool | None = True
        for part in self.parts:
            known = both(known, part.holds(row))
        return known


@dataclass(frozen=True, slots=True)
class AnyOf(Condition):
    """OR."""

    parts: tuple[Condition, ...]

    def holds(self, row: ResultRow) -> bool | None:
        known: bool | None = False
        for part in self.parts:
            known = either(known, part.holds(row))
        return known


@dataclass(frozen=True, slots=True)
class Not(Condition):
    """NOT."""

    part: Condition

    def holds(self, row: ResultRow) -> bool | None:
        return opposite(self.part.holds(row))


@dataclass(frozen=True, slots=True)
class IsNull(Condition):
    """IS NULL."""

    of: Formula

    def holds(self, row: ResultRow) -> bool | None:
        return self.of.value(row.values, row.keys) is None


@dataclass(frozen=True, slots=True)
class BranchRows:
    """What a branch of UNION calls its keys and values, by their places in a row of the result."""

    keys: tuple[int, ...]
    values: tuple[int, ...]
    having: Condition | None


@dataclass(frozen=True, slots=True)
class InBranches(Condition):
    """The condition of each branch on its own rows; the last key says which branch a row is of."""

    branches: tuple[BranchRows, ...]

    def holds(self, row: ResultRow) -> bool | None:
        branch = self.branches[row.keys[-1]]
        keys = tuple(row.keys[place] for place in branch.keys)
        values = tuple(row.values[place] for place in branch.values)
        return branch.having is None or branch.having.holds(ResultRow(keys, values))


@dataclass(frozen=True, slots=True)
class Ordering:
    """One criterion of ORDER BY."""

    by: Formula
    descending: bool = False
    nulls_first: bool = False


def kept(rows: Sequence[ResultRow], having: Condition | None) -> list[int]:
    """The places of the rows that HAVING leaves."""
    return [i for i, row in enumerate(rows) if having is None or having.holds(row) is True]


def ordered(
    rows: Sequence[ResultRow], places: Sequence[int], order_by: Sequence[Ordering]
) -> list[int]:
    """The places of some rows in an order; rows that compare equal stay as they are."""
    shown = list(places)
    for ordering in reversed(order_by):
        values = {i: ordering.by.value(rows[i].values, rows[i].keys) for i in shown}
        nulls = [i for i in shown if values[i] is None]
        others = [i for i in shown if values[i] is not None]
        others.sort(key=values.__getitem__, reverse=ordering.descending)
        shown = [*nulls, *others] if ordering.nulls_first else [*others, *nulls]
    return shown
