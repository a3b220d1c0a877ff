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
class Ordering:
    """One criterion of ORDER BY."""

    by: Formula
    descending: bool = False
    nulls_first: bool = False


def arranged(
    rows: Sequence[ResultRow],
    *,
    having: Condition | None,
    order_by: Sequence[Ordering],
    limit: int | None,
    offset: int,
) -> list[int]:
    """The places of the rows that remain, in the order in which they are shown.

    Rows that compare equal keep their declared order.
    """
    shown = [i for i, row in enumerate(rows) if having is None or having.holds(row) is True]
    for ordering in reversed(order_by):
        values = {i: ordering.by.value(rows[i].values, rows[i].keys) for i in shown}
        nulls = [i for i in shown if values[i] is None]
        others = [i for i in shown if values[i] is not None]
        others.sort(key=values.__getitem__, reverse=ordering.descending)
        shown = [*nulls, *others] if ordering.nulls_first else [*others, *nulls]
    return shown[offset:] if limit is None else shown[offset : offset + limit]
