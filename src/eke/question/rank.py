"""Ranks: the places of rows in an order of noisy values; post-processing that costs nothing.

A rank follows from all values together, so it has no interval of its own. What can be said is which
ranks are possible if all values lie in their intervals at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from eke.arrays import FloatArray
from eke.errors import AccuracyError
from eke.question.formula import Formula
from eke.question.outcome import Ordering, ResultRow, ordered


@dataclass(frozen=True, slots=True)
class Ranking:
    """RANK, DENSE_RANK or ROW_NUMBER in every partition, which is one of the given keys' labels."""

    word: Literal["rank", "dense_rank", "row_number"]
    partition_by: tuple[int, ...]
    order_by: tuple[Ordering, ...]

    def parts(self, rows: Sequence[ResultRow]) -> list[list[int]]:
        """The places of the rows, apart by partition."""
        apart: dict[tuple[Any, ...], list[int]] = {}
        for place, row in enumerate(rows):
            apart.setdefault(tuple(row.keys[key] for key in self.partition_by), []).append(place)
        return list(apart.values())

    def ranks(self, rows: Sequence[ResultRow]) -> list[int]:
        """The rank of each row."""
        ranks = [0] * len(rows)
        for places in self.parts(rows):
            inside = [rows[place] for place in places]
            order = ordered(inside, range(len(inside)), self.order_by)
            before: tuple[Any, ...] | None = None
            rank = dense = 0
            for number, at in enumerate(order, start=1):
                row = inside[at]
                values = tuple(one.by.value(row.values, row.keys) for one in self.order_by)
                if values != before:
                    rank, dense, before = number, dense + 1, values
                by_word = {"rank": rank, "dense_rank": dense, "row_number": number}
                ranks[places[at]] = by_word[self.word]
        return ranks


@dataclass(frozen=True, slots=True)
class RankOf(Formula):
    """A rank, which a ranked row holds at a place after its keys."""

    index: int

    def with_parts(self, *parts: Formula) -> Formula:
        return self

    def value(self, answers: Sequence[Any], keys: Sequence[Any] = ()) -> Any:
        return keys[self.index]

    def values(self, answers: FloatArray) -> FloatArray:
        raise AccuracyError("a rank has no distribution of its own")

    @property
    def text(self) -> str:
        return f"rank{self.index}"

    def to_document(self) -> dict[str, Any]:
        return {"rank": self.index}


def with_ranks(rankings: Sequence[Ranking], rows: Sequence[ResultRow]) -> list[ResultRow]:
    """The rows with their ranks after their keys."""
    if not rankings:
        return list(rows)
    ranks = zip(*(ranking.ranks(rows) for ranking in rankings), strict=True)
    return [
        ResultRow((*row.keys, *more), row.values) for row, more in zip(rows, ranks, strict=True)
    ]


def possible_ranks(
    lows: FloatArray, highs: FloatArray, *, descending: bool
) -> list[tuple[int, int]]:
    """The best and the worst rank of each value, if all values lie between their ends.

    Those that lie wholly before a value are before it; those that may do so may be. Equal values
    may be in either order. docs/proofs/ranks.md.
    """
    first, last = (-highs, -lows) if descending else (lows, highs)
    surely = np.searchsorted(np.sort(last), first, side="left")  # last_j < first_i
    # first_j <= last_i, of which the value itself is one
    perhaps = np.searchsorted(np.sort(first), last, side="right")
    return [(int(a) + 1, int(b)) for a, b in zip(surely, perhaps, strict=True)]
