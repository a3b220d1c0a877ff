"""View plan: what a curator's view does to its tables, as far as promises and engines need it.

`eke.sql.view` reads one from a SELECT, `eke.data` lets an engine carry it out. Which rows of the
tables a promise about the view's rows is about follows from the joins (docs/proofs/views.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from eke.errors import DataError, PrivacyError
from eke.privacy.unit import Unit

Dialect = Literal["duckdb", "postgres", "spark"]
"""Whose SQL a view is written in, and who carries it out."""

NAME_UNIT = "or name the id column of a unit, of which so many rows are counted"


def base_name(place: int) -> str:
    """What the SQL of a plan calls a table, whatever its own name."""
    return f"eke_base_{place}"


@dataclass(frozen=True, slots=True)
class ViewColumn:
    """A column of a view: what it is made of, and whose rows belong to one value of it."""

    name: str
    sources: tuple[tuple[str, str], ...]  # tables and their columns
    carriers: tuple[str, ...] = ()
    """Tables of which each row only ever makes rows of the view with one value of this column."""
    problem: str = ""
    """Why the column cannot be the id of a unit."""
    ties: tuple[tuple[str, str], ...] = ()
    """The columns by which the rows of carriers are joined."""


@dataclass(frozen=True, slots=True)
class ViewJoin:
    """A join: the table, and SQL that returns a row if its key occurs more than once there."""

    table: str
    key: str
    repeated: str


@dataclass(frozen=True, slots=True)
class ViewPromise:
    """Which tables are protected by a promise about a view, and which are taken for public."""

    protected: tuple[str, ...]
    public: tuple[str, ...]
    unit: Unit | None

    def sentence(self) -> str:
        """The same for whoever creates a dataset."""
        tables = _listed(self.protected)
        if self.unit is None:
            whose = f"one row of {tables}, which makes at most one row of the view"
        else:
            whose = f"all rows of {tables} that belong to one {self.unit.column}"
        public = (
            f" What stands in {_listed(self.public)} is not protected: it is taken for public."
            if self.public
            else ""
        )
        return f"Protected: {whose}.{public}"


@dataclass(frozen=True, slots=True)
class ViewPlan:
    """A view that was read and found to work row by row, or by groups.

    Attributes:
        statement: what the curator wrote.
        select: the same for the engine, total where the engine allows it. Tables are called by
            `base_name`, in the order of `tables`.
        dialect: the engine.
        tables: the names of the tables.
        columns: the columns of the view.
        uses: the tables' columns that occur in it.
        joins: the joins, in order.
        keys: SELECTs of both sides of all join conditions, in pairs.
        parts: the SELECTs that UNION ALL puts together; none where there is but one.
        compared: SELECTs of what GROUP BY, MIN and MAX compare, never run.
        added: SELECTs of what SUM and AVG add up, never run.
        rows_from: the tables whose rows are the view's rows.
        row_problem: why rows of these may make several rows, whatever the tables hold.
        keeps_rows: whether each row of these makes a row of the view.
    """

    statement: str
    select: str
    dialect: Dialect
    tables: tuple[str, ...]
    columns: tuple[ViewColumn, ...] = ()
    uses: tuple[tuple[str, str], ...] = ()
    joins: tuple[ViewJoin, ...] = ()
    keys: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    compared: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    rows_from: tuple[str, ...] = ()
    row_problem: str = ""
    keeps_rows: bool = False

    def promise(self, unit: Unit | None, neighbours: str = "add_remove") -> ViewPromise:
        """What is protected, and what is not.

        Raises:
            PrivacyError: when a row of a table, or all rows of an id, could change more than what
                is accounted for.

        Privacy: Without a unit, that a row makes at most one row of the view also needs that the
        keys of joined tables are unique, which the engine checks whenever it reads the view. With
        one, rows of other ids stay as they are when the rows of an id change in the tables that are
        protected; `Unit.rows` bounds what changes (docs/proofs/views.md).
        """
        if neighbours == "replace_one" and not self.keeps_rows:
            raise PrivacyError(
                "replace_one makes the number of rows public, but the conditions of this view "
                "decide by private values how many there are; use neighbours='add_remove', or "
                "leave out WHERE and GROUP BY, and join with LEFT JOIN only"
            )
        if unit is None:
            if self.row_problem:
                raise PrivacyError(f"{self.row_problem}; {NAME_UNIT}")
            return self._promise(self.rows_from, None)
        column = next((c for c in self.columns if c.name == unit.column), None)
        if column is None:
            names = ", ".join(column.name for column in self.columns)
            raise PrivacyError(
                f"the view has no column {unit.column!r} for the unit; its columns are: {names}"
            )
        if column.problem:
            raise PrivacyError(f"column {unit.column!r} cannot be the unit: {column.problem}")
        return self._promise(column.carriers, unit)

    def _promise(self, protected: Sequence[str], unit: Unit | None) -> ViewPromise:
        public = tuple(table for table in self.tables if table not in protected)
        return ViewPromise(tuple(protected), public, unit)

    def to_document(self) -> dict[str, object]:
        """What is needed to carry the view out again, and to check it: plain JSON values.

        Privacy: Tables of a server may get columns of other types, by which ids are rounded; so
        whatever is checked when the view is made is checked whenever it is read.
        """
        return {
            "statement": self.statement,
            "select": self.select,
            "dialect": self.dialect,
            "columns": [[c.name, _pairs(c.sources), _pairs(c.ties)] for c in self.columns],
            "uses": _pairs(self.uses),
            "joins": [[join.table, join.key, join.repeated] for join in self.joins],
            "keys": list(self.keys),
            "parts": list(self.parts),
            **({"groups": [list(self.compared), list(self.added)]} if self.compared else {}),
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Any], tables: Sequence[str]) -> ViewPlan:
        """The plan as `to_document` wrote it; its promise was given when it was made."""
        try:
            compared, added = document.get("groups", ((), ()))
            return cls(
                str(document["statement"]),
                str(document["select"]),
                document["dialect"],
                tuple(tables),
                columns=tuple(
                    ViewColumn(str(name), sources=_tuples(sources), ties=_tuples(ties))
                    for name, sources, ties in document["columns"]
                ),
                uses=_tuples(document["uses"]),
                joins=tuple(ViewJoin(*join) for join in document["joins"]),
                keys=tuple(map(str, document["keys"])),
                parts=tuple(map(str, document["parts"])),
                compared=tuple(map(str, compared)),
                added=tuple(map(str, added)),
            )
        except (KeyError, TypeError, ValueError):
            raise DataError(
                "the stored reference to the view lacks what its checks need; create the dataset "
                "again from the view"
            ) from None


def _pairs(pairs: Sequence[tuple[str, str]]) -> list[list[str]]:
    return [list(pair) for pair in pairs]


def _tuples(pairs: Sequence[Sequence[str]]) -> tuple[tuple[str, str], ...]:
    return tuple((str(table), str(column)) for table, column in pairs)


def _listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)
