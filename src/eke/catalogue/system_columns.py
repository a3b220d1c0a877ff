"""System columns: xmin and tableoid, which every table has without listing them.

There are no transactions here, so that every row is as old as the first.
"""

from __future__ import annotations

from sqlglot import exp

from eke.catalogue.scopes import Scopes, SystemPlace


def system_column(node: exp.Expr, scopes: Scopes) -> SystemPlace | None:
    """What a column is one of, if it is such a column."""
    return scopes.system_place(node) if isinstance(node, exp.Column) else None


def system_value(alias: str, column: str, value: int) -> exp.Expr:
    """The value of such a column, which is NULL where an outer join found no row."""
    first = exp.column(
        exp.to_identifier(column, quoted=True), table=exp.to_identifier(alias, quoted=True)
    )
    number = exp.cast(exp.Literal.number(value), "UINTEGER", dialect="duckdb")
    missing = exp.If(this=exp.Is(this=first, expression=exp.Null()), true=exp.Null())
    return exp.Case(ifs=[missing], default=number)
