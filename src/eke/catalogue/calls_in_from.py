"""Calls in FROM: a function whose values are the rows of a table."""

from __future__ import annotations

from sqlglot import exp

from eke.catalogue.functions import RECORDS


def call_as_table(node: exp.Table, name: str) -> exp.Expr:
    """The query of the values of a function that is called under this name."""
    alias = node.args.get("alias")
    columns = alias.args.get("columns") if alias else None
    table = exp.to_identifier(node.alias or name, quoted=True)
    if name in RECORDS:
        record = exp.Alias(this=node.this.copy(), alias=exp.to_identifier("given", quoted=True))
        inner = exp.Select(expressions=[record]).subquery("one_by_one")
        fields = exp.Column(this=exp.Star(), table=exp.to_identifier("given", quoted=True))
        query = exp.Select(expressions=[fields], from_=exp.From(this=inner))
        shown = exp.TableAlias(this=table, columns=[column.copy() for column in columns or ()])
    else:
        label = columns[0].name if columns else (node.alias or name)
        value = exp.Alias(this=node.this.copy(), alias=exp.to_identifier(label, quoted=True))
        query = exp.Select(expressions=[value])
        shown = exp.TableAlias(this=table)
    return exp.Lateral(this=exp.Subquery(this=query), alias=shown)
