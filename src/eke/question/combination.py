"""Combinations: what UNION, INTERSECT and EXCEPT leave of the rows of several branches.

They compare rows as they are shown, noise and all, and are post-processing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

Word: TypeAlias = Literal["union", "intersect", "except"]


@dataclass(frozen=True, slots=True)
class Combination:
    """Two parts, each a branch by its number or a combination, and how their rows are combined.

    With `all`, equal rows count as often as they are there; else a row is left once.
    """

    word: Word
    all: bool
    left: Combination | int
    right: Combination | int

    @property
    def keeps_all(self) -> bool:
        """True for UNION ALL throughout, which leaves every row where it is."""
        return (
            (self.word, self.all) == ("union", True)
            and (isinstance(self.left, int) or self.left.keeps_all)
            and (isinstance(self.right, int) or self.right.keeps_all)
        )

    def rows(self, branches: Mapping[int, Sequence[int]], shown: Mapping[int, Any]) -> list[int]:
        """The places of the rows that are left, given those of each branch and what each shows."""
        left, right = (
            list(branches[part]) if isinstance(part, int) else part.rows(branches, shown)
            for part in (self.left, self.right)
        )
        if self.word == "union":
            together = left + right
            return together if self.all else _once(together, shown)
        # A row of the left is left if the right has an equal one (INTERSECT), or none (EXCEPT).
        there = Counter(shown[place] for place in right)
        if not self.all:
            wanted = self.word == "intersect"
            return _once([at for at in left if (shown[at] in there) == wanted], shown)
        remaining = []
        for at in left:
            if (there[shown[at]] > 0) == (self.word == "intersect"):
                remaining.append(at)
            there[shown[at]] -= 1
        return remaining


def _once(places: Sequence[int], shown: Mapping[int, Any]) -> list[int]:
    """The first of each kind of equal rows."""
    first: dict[Any, int] = {}
    for place in places:
        first.setdefault(shown[place], place)
    return list(first.values())
