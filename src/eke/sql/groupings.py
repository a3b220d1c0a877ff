"""Sets of keys: which groupings GROUP BY asks for with ROLLUP, CUBE and GROUPING SETS.

CUBE means every subset of its keys, ROLLUP every prefix, and several of them side by side every
combination, as in SQL.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Generic, TypeVar

from sqlglot import exp

from eke.sql.place import SqlText

KeyT = TypeVar("KeyT")
_SEVERAL = (exp.Cube, exp.Rollup, exp.GroupingSets)


def is_several(group: exp.Expr) -> bool:
    """Whether a GROUP BY has ROLLUP, CUBE or GROUPING SETS."""
    return group.find(*_SEVERAL) is not None or any(map(group.args.get, ("rollup", "cube")))


@dataclass(frozen=True, slots=True)
class KeySets(Generic[KeyT]):
    """Reads the sets of keys in a GROUP BY; `read` says which key an expression is."""

    text: SqlText
    read: Callable[[exp.Expr], KeyT]
    most: int

    def of(self, group: exp.Expr) -> list[tuple[KeyT, ...]]:
        """The set of each grouping, as it is written; the same set may be there several times."""
        parts: list[exp.Expr] = list(group.args.get("expressions") or [])
        for word, kind in (("rollup", exp.Rollup), ("cube", exp.Cube)):
            if group.args.get(word):  # GROUP BY a, b WITH ROLLUP
                parts = [kind(expressions=parts)]
        factors = [self._factor(part) for part in parts]
        self._check(group, math.prod(map(len, factors)))
        return [_joined(sets) for sets in product(*factors)]

    def _factor(self, part: exp.Expr) -> list[tuple[KeyT, ...]]:
        """The sets that one part of GROUP BY stands for."""
        if isinstance(part, exp.GroupingSets):
            sets: list[tuple[KeyT, ...]] = []
            for inner in part.expressions:
                sets += self._factor(inner) if isinstance(inner, _SEVERAL) else [self._keys(inner)]
                self._check(part, len(sets))
            return sets
        if not isinstance(part, _SEVERAL):
            return [self._keys(part)]
        keys = [self._keys(one) for one in part.expressions]
        if isinstance(part, exp.Rollup):
            self._check(part, len(keys) + 1)
            return [_joined(keys[:size]) for size in range(len(keys), -1, -1)]
        self._check(part, 2 ** min(len(keys), 64))
        sizes = range(len(keys) + 1)
        return [_joined(chosen) for size in sizes for chosen in combinations(keys, size)]

    def _keys(self, part: exp.Expr) -> tuple[KeyT, ...]:
        """A key, or several in parentheses that stand and fall together."""
        while isinstance(part, exp.Paren):
            part = part.this
        if isinstance(part, exp.Tuple):
            return _joined([self._keys(one) for one in part.expressions])
        return (self.read(part),)

    def _check(self, part: exp.Expr, sets: int) -> None:
        if sets > self.most:
            raise self.text.error(
                part,
                f"that makes {sets:,} groupings and at most {self.most:,} are made at once; name "
                "fewer keys, or those that are wanted with GROUPING SETS",
            )


def _joined(sets: Sequence[tuple[KeyT, ...]]) -> tuple[KeyT, ...]:
    return tuple(key for keys in sets for key in keys)
