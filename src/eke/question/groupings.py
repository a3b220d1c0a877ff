"""Groupings: the rows of a result, by all keys at once or by some of them at a time.

GROUP BY has one grouping, by all of its keys. ROLLUP, CUBE and GROUPING SETS have several, whose
rows come one after the other; a key that a grouping is not by is rolled up, and shows NULL there.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eke.domain import Domain
from eke.errors import QueryError
from eke.query import Query
from eke.question.groups import GroupedBlock, GroupKey, cell_of, cells_of, grouped
from eke.question.per_row import PerRow
from eke.question.stacked import AskedBlock, Stacked


@dataclass(frozen=True, slots=True, eq=False)
class Following:
    """A key that follows from keys of a grouping, as a name does from a code.

    `along` are these, by their places among those that the grouping is by; `places` has the place
    of the label for all of their labels, -1 where there is none, for then there is no such row.
    """

    key: int
    labels: tuple[Any, ...]
    along: tuple[int, ...]
    places: NDArray[np.int64]

    def label(self, row: Sequence[int]) -> Any:
        """What it shows in a row, which is given by the places of its labels."""
        at = int(self.places[tuple(row[axis] for axis in self.along)])
        return self.labels[at] if at >= 0 else None

    def reached(self, shape: Sequence[int]) -> NDArray[np.bool_]:
        """The rows, by the keys of the grouping, that there are."""
        order = np.argsort(self.along)
        there = self.places.transpose(order) >= 0
        others = [axis for axis in range(len(shape)) if axis not in self.along]
        return np.broadcast_to(np.expand_dims(there, others), shape)


@dataclass(frozen=True, slots=True)
class Grouping:
    """A row for each combination of labels of some keys, given by their places.

    `shown` is what the other keys show in all of these rows: NULL where they are rolled up, what
    GROUPING(…) says of it, a public text. `keys` are what stands at these places, where that is
    not the same in every grouping, as after UNION ALL. `following` are keys that need no place of
    their own.
    """

    by: tuple[int, ...]
    shown: tuple[Any, ...]
    keys: tuple[GroupKey, ...] | None = None
    following: tuple[Following, ...] = ()

    def has(self, key: int) -> bool:
        """Whether a key has labels here, and not one for all rows."""
        return key in self.by or any(one.key == key for one in self.following)


@dataclass(frozen=True, slots=True)
class Groupings:
    """The keys of a question, and the groupings by them in the order of their rows."""

    keys: tuple[GroupKey, ...]
    each: tuple[Grouping, ...]
    _starts: tuple[int, ...] = field(init=False, repr=False, compare=False)  # the last is the end

    def __post_init__(self) -> None:
        keys = map(self.keys_of, range(len(self.each)))
        sizes = [math.prod(len(key.labels) for key in each) for each in keys]
        object.__setattr__(self, "_starts", tuple(accumulate(sizes, initial=0)))

    @staticmethod
    def of_all(keys: Sequence[GroupKey]) -> Groupings:
        """The one grouping by all keys."""
        return Groupings(tuple(keys), (Grouping(tuple(range(len(keys))), (None,) * len(keys)),))

    @property
    def rows(self) -> int:
        """The number of all rows; 1 without keys."""
        return self._starts[-1]

    def spans(self) -> list[tuple[int, int]]:
        """The first row of each grouping and the one after its last."""
        return list(pairwise(self._starts))

    def keys_of(self, grouping: int) -> tuple[GroupKey, ...]:
        """The keys that a grouping is by."""
        here = self.each[grouping]
        return tuple(self.keys[key] for key in here.by) if here.keys is None else here.keys

    def labels(self) -> list[tuple[Any, ...]]:
        """What the keys show in each row, the last one changing fastest."""
        rows: list[tuple[Any, ...]] = []
        for place, grouping in enumerate(self.each):
            keys = self.keys_of(place)
            for places in product(*(range(len(key.labels)) for key in keys)):
                row = list(grouping.shown)
                for key, at, labelled in zip(grouping.by, places, keys, strict=True):
                    row[key] = labelled.labels[at]
                for other in grouping.following:
                    row[other.key] = other.label(places)
                rows.append(tuple(row))
        return rows

    def place(self, row: int) -> tuple[int, tuple[int, ...]]:
        """The grouping of a row, and the places of its labels among those of the keys it is by."""
        grouping, inner = self.within(row)
        shape = tuple(len(key.labels) for key in self.keys_of(grouping))
        return grouping, tuple(int(at) for at in np.unravel_index(inner, shape))

    def cell(self, domain: Domain, row: int) -> int:
        """The cell of one row within every block: blocks follow the domain's order of columns."""
        grouping, inner = self.within(row)
        return row - inner + cell_of(domain, self.keys_of(grouping), inner)

    def within(self, row: int) -> tuple[int, int]:
        """The grouping of a row, and its number among the rows of that."""
        if not 0 <= row < self.rows:
            raise QueryError(f"the rows are numbered 0 to {self.rows - 1}, not {row}")
        grouping = bisect_right(self._starts, row) - 1
        return grouping, row - self._starts[grouping]

    def cells(self, domain: Domain) -> list[int]:
        """The cell of each row within every block."""
        cells: list[int] = []
        for grouping in range(len(self.each)):
            before = len(cells)
            cells += [before + cell for cell in cells_of(domain, self.keys_of(grouping))]
        return cells

    def block(self, query: Query) -> AskedBlock:
        """The query asked in every row."""
        return _stacked([grouped(query, self.keys_of(place)) for place in range(len(self.each))])

    def listed(self, domain: Domain, cells: Sequence[Query | None]) -> AskedBlock:
        """A query of its own in each cell; None where there is no value."""
        return _stacked([PerRow(tuple(cells[start:stop]), domain) for start, stop in self.spans()])


def _stacked(parts: Sequence[GroupedBlock | PerRow]) -> AskedBlock:
    return parts[0] if len(parts) == 1 else Stacked(tuple(parts))
