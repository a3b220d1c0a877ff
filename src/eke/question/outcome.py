"""Outcome: HAVING, ORDER BY, LIMIT and OFFSET, which act on the noisy result and cost nothing."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

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
class Compared:
    """Two formulas compared; unknown where either is NULL."""

    sign: str
    left: Formula
    right: Formula


@dataclass(frozen=True, slots=True)
class AllOf:
    """AND."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """OR."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """NOT."""

    part: Condition


@dataclass(frozen=True, slots=True)
class IsNull:
    """IS NULL."""

    of: Formula


Condition: TypeAlias = Compared | AllOf | AnyOf | Not | IsNull


@dataclass(frozen=True, slots=True)
class Ordering:
    """One criterion of ORDER BY."""

    by: Formula
    descending: bool = False
    nulls_first: bool = False


@dataclass(frozen=True, slots=True)
class ResultRow:
    """A row of the result: its keys and its aggregates, exact or noisy."""

    keys: tuple[Any, ...]
    values: tuple[Any, ...]


def holds(condition: Condition, row: ResultRow) -> bool | None:
    """True, False, or None when it is unknown."""
    match condition:
        case Compared(sign, left, right):
            first = left.value(row.values, row.keys)
            second = right.value(row.values, row.keys)
            return None if first is None or second is None else SIGNS[sign](first, second)
        case AllOf(parts):
            known: bool | None = True
            for part in parts:
                known = both(known, holds(part, row))
            return known
        case AnyOf(parts):
            known = False
            for part in parts:
                known = either(known, holds(part, row))
            return known
        case Not(part):
            return opposite(holds(part, row))
        case IsNull(of):
            return of.value(row.values, row.keys) is None


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
    kept = [i for i, row in enumerate(rows) if having is None or holds(having, row) is True]
    for one in reversed(order_by):
        values = {i: one.by.value(rows[i].values, rows[i].keys) for i in kept}
        nulls = [i for i in kept if values[i] is None]
        others = [i for i in kept if values[i] is not None]
        others.sort(key=values.__getitem__, reverse=one.descending)
        kept = [*nulls, *others] if one.nulls_first else [*others, *nulls]
    return kept[offset:] if limit is None else kept[offset : offset + limit]
