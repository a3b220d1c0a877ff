"""Statement: a question in SQL as the session carries it out.

`aggregates` are what must be asked; each is one query, or a block of one for each group. The
columns of the result are formulas over them, and HAVING, ORDER BY and LIMIT act on the noisy rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import product
from typing import Any, TypeAlias

import numpy as np

from eke.domain import Domain
from eke.errors import QueryError
from eke.query import Marginal, Query
from eke.sql.accuracy import Accuracy
from eke.sql.formula import Formula, Key, evaluate, is_linear
from eke.sql.grouping import GroupKey
from eke.sql.outcome import Condition, Ordering, Row, arranged


@dataclass(frozen=True, slots=True)
class Partition:
    """A block whose cells are groups that are not simply values of columns, as CASE makes them.

    It is used like a `Marginal`: the cells are disjoint, and each is a query.
    """

    keys_by: tuple[GroupKey, ...]
    inside: Query

    @property
    def domain(self) -> Domain:
        return self.inside.domain

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(len(key.labels) for key in self.keys_by)

    @property
    def cells(self) -> int:
        return math.prod(self.shape)

    def cell(self, index: int) -> Query:
        """The query of one group, by its flat index in C order."""
        if not 0 <= index < self.cells:
            raise QueryError(f"the groups are numbered 0 to {self.cells - 1}, not {index}")
        places = np.unravel_index(index, self.shape)
        parts = (k.part(self.domain, int(p)) for k, p in zip(self.keys_by, places, strict=True))
        return reduce(Query.pointwise, parts, self.inside)

    def queries(self) -> Iterator[Query]:
        return (self.cell(i) for i in range(self.cells))

    def keys(self) -> list[tuple[object, ...]]:
        """The labels of each cell, in order: exactly the declared ones, whatever the data."""
        return list(product(*(key.labels for key in self.keys_by)))


Block: TypeAlias = Query | Marginal | Partition


@dataclass(frozen=True, slots=True)
class OutputColumn:
    """A column of the result: a key, a linear question, or a formula over several."""

    name: str
    formula: Formula

    @property
    def is_key(self) -> bool:
        return isinstance(self.formula, Key)

    @property
    def is_linear(self) -> bool:
        """True when its interval follows from one aggregate's by scaling and shifting."""
        return is_linear(self.formula)


@dataclass(frozen=True, slots=True)
class Statement:
    """A question in SQL over a domain, ready to be asked. Made by `parse`."""

    text: str
    domain: Domain
    columns: tuple[OutputColumn, ...]
    aggregates: tuple[Block, ...]
    group_by: tuple[GroupKey, ...]
    having: Condition | None
    order_by: tuple[Ordering, ...]
    limit: int | None
    offset: int
    requirement: Accuracy | None

    @property
    def rows(self) -> int:
        """The number of rows before HAVING and LIMIT; 1 without GROUP BY."""
        return math.prod(len(key.labels) for key in self.group_by)

    def keys(self) -> list[tuple[Any, ...]]:
        """The keys of each row, the last one of GROUP BY changing fastest."""
        return list(product(*(key.labels for key in self.group_by)))

    def cells(self) -> list[int]:
        """The cell of each row within every block: blocks follow the domain's order of columns."""
        return [self.cell(row) for row in range(self.rows)]

    def cell(self, row: int) -> int:
        """The cell of one row within every block."""
        if not 0 <= row < self.rows:
            raise QueryError(f"the rows are numbered 0 to {self.rows - 1}, not {row}")
        block = self.aggregates[0]
        if not isinstance(block, Marginal):
            return row
        shape = tuple(len(key.labels) for key in self.group_by)
        places = np.unravel_index(row, shape)
        by_name = {key.attribute: p for key, p in zip(self.group_by, places, strict=True)}
        here = tuple(int(by_name[name]) for name in block.attributes)
        return int(np.ravel_multi_index(here, block.shape))

    def query(self, aggregate: int, row: int) -> Query:
        """The query behind one aggregate of one row."""
        block = self.aggregates[aggregate]
        return block if isinstance(block, Query) else block.cell(self.cell(row))

    def result(self, rows: Sequence[Row]) -> list[int]:
        """The places of the rows that are shown, in order, after HAVING, ORDER BY and LIMIT."""
        return arranged(
            rows,
            having=self.having,
            order_by=self.order_by,
            limit=self.limit,
            offset=self.offset,
        )

    def shown(self, row: Row) -> tuple[Any, ...]:
        """The values of the columns in one row; a key is shown by its label."""
        return tuple(
            row.keys[column.formula.index]
            if isinstance(column.formula, Key)
            else evaluate(column.formula, row.values, row.keys)
            for column in self.columns
        )
