"""Stacked: what is asked in the groups of several groupings, one below the other.

A total and the groups that it is the total of are linear questions about the same records, so what
is measured for one of them tells about the other. Nothing is bought twice: planning sees the finest
groups first, and buys of the others what these leave open.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from eke.domain import Domain
from eke.errors import QueryError
from eke.query import Marginal, Query
from eke.question.groups import GroupedBlock
from eke.question.per_row import PerRow, reach


@dataclass(frozen=True, slots=True)
class Stacked:
    """What is asked in each grouping: the cells of one part after those of another.

    It is never measured as a whole: a record is in a cell of each part.
    """

    parts: tuple[GroupedBlock | PerRow, ...]

    @property
    def domain(self) -> Domain:
        return self.inside.domain

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.cells,)

    @property
    def cells(self) -> int:
        return sum(part.cells for part in self.parts)

    @property
    def grouped(self) -> None:
        """None: the cells are not the combinations of values of some attributes."""

    @property
    def by_columns(self) -> None:
        """None, for the same reason."""

    @property
    def inside(self) -> Query:
        """What moves an answer farthest: it stands for all of them where sizes count."""
        return max((part.inside for part in self.parts), key=reach)

    @property
    def common(self) -> Query | None:
        """What is asked of every group, a total being the group of all records; None if various."""
        first = self.parts[0].common
        return first if all(part.common == first for part in self.parts[1:]) else None

    def has_value(self, index: int) -> bool:
        """False where SQL has no value whatever the data."""
        part, place = self._within(index)
        return part.has_value(place)

    @property
    def description(self) -> str:
        """One line of text that says what is asked."""
        return " and ".join(part.description for part in self.parts)

    def measurable(self) -> Sequence[Query | Marginal]:
        """What its parts are measured by, each once, the finest first: they may suffice."""
        finest_first = sorted(self.parts, key=lambda part: part.cells, reverse=True)
        return list(dict.fromkeys(one for part in finest_first for one in part.measurable()))

    def cell(self, index: int) -> Query:
        """The query of one group, counted through all parts."""
        part, place = self._within(index)
        return part.cell(place)

    def queries(self) -> Iterator[Query]:
        return (query for part in self.parts for query in part.queries())

    def keys(self) -> list[tuple[object, ...]]:
        """The place of each cell."""
        return [(place,) for place in range(self.cells)]

    def _within(self, index: int) -> tuple[GroupedBlock | PerRow, int]:
        """The part that a cell is in, and its place there."""
        place = index
        for part in self.parts:
            if 0 <= place < part.cells:
                return part, place
            place -= part.cells
        raise QueryError(f"the groups are numbered 0 to {self.cells - 1}, not {index}")


AskedBlock: TypeAlias = GroupedBlock | PerRow | Stacked
"""What is asked in each row of a result."""
