"""Subqueries: (SELECT COUNT(*) FROM t) beside other aggregates, the same number in every row.

It is one more aggregate of the statement, over the records of its own FROM and WHERE, whatever the
groups are: a linear question, or a formula of some, like any other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from sqlglot import exp

from eke.sql.draft import Draft, Linear
from eke.sql.finishing import has_aggregate
from eke.sql.frame import Everywhere
from eke.sql.place import echo
from eke.sql.scalar import AGGREGATES
from eke.sql.scope import Relation, Tables
from eke.sql.table import filtered
from eke.sql.value import Reading
from eke.sql.window import mapped

_ONE_VALUE = (
    "a query in parentheses is one aggregate over the protected table, without groups: write "
    "(SELECT COUNT(*) FROM t WHERE …)"
)
_CORRELATED = (
    "is of the query outside, and a query in parentheses is the same for every row; write a "
    "window, as in SUM(COUNT(*)) OVER (PARTITION BY key), or COUNT(*) FILTER (WHERE …)"
)
_CLAUSES = (
    *("group", "having", "qualify", "windows", "order", "limit", "offset", "with_", "distinct"),
)


@dataclass(frozen=True, slots=True)
class Subqueries:
    """Reads the queries in parentheses of one statement."""

    reading: Reading
    tables: Tables
    outside: Relation

    def read(self, node: exp.Expr) -> tuple[Relation, exp.Expr]:
        """The records that a query in parentheses is about, and what it asks of them."""
        select = node.this
        if not isinstance(select, exp.Select) or len(select.expressions) != 1:
            raise self.reading.error(node, _ONE_VALUE)
        (item,) = select.expressions
        item = item.this if isinstance(item, exp.Alias) else item
        plain = all(select.args.get(clause) is None for clause in _CLAUSES)
        if not plain or not has_aggregate(item) or _looks_at_rows(item):
            raise self.reading.error(node, _ONE_VALUE)
        self._check_names(select)
        return filtered(self.reading, self.tables, select), item

    def _check_names(self, select: exp.Select) -> None:
        """Raise where a column is one of the row outside."""
        inner = {
            str(table.alias_or_name).casefold()
            for table in select.find_all(exp.Table, exp.Subquery)
        }
        for column in select.find_all(exp.Column):
            written = str(column.args["table"].this) if column.args.get("table") else ""
            if written.casefold() in self.outside.tables and written.casefold() not in inner:
                name = f"{written}.{column.this.this}"
                raise self.reading.error(column, f"{echo(name)} {_CORRELATED}")


def in_all_rows(
    reading: Reading, node: exp.Expr, draft: Draft, framed: Callable[[int, Everywhere], int]
) -> Draft:
    """What is asked of all records, beside groups; `framed` gives a basic aggregate its place."""

    def whole(linear: Linear) -> Linear:
        total = Linear((), linear.constant)
        for place, weight in linear.weights:  # of which two may be the same of all records
            total = total.plus(
                Linear(((framed(place, Everywhere.EVERYWHERE), weight),), Fraction(0))
            )
        return total

    return mapped(reading, node, draft, whole)


def check_one_row(reading: Reading, select: exp.Select) -> None:
    """Raise where SQL would show what a query in parentheses is once for each record."""
    if select.args.get("group") is not None:
        return
    items = select.expressions
    for item in items:
        around = item.walk(prune=lambda one: isinstance(one, exp.Subquery))
        if any(isinstance(one, AGGREGATES) for one in around):
            return
    if any(has_aggregate(item) for item in items):
        raise reading.error(
            select,
            "SQL would show this once for each record; ask the query in parentheses by itself",
        )


def _looks_at_rows(node: exp.Expr) -> bool:
    return any(isinstance(one, (exp.Window, exp.Grouping, exp.GroupingId)) for one in node.walk())
