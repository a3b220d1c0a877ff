"""Writing: the SQL of a view for its engine, every expression total where the engine allows it.

Privacy: An expression that fails on one row would keep all others from being counted. DuckDB makes
NULL of a failing expression (TRY); casts are tried there and in Spark, and nothing is divided by
zero anywhere. What is left to fail, in PostgreSQL and Spark, fails when the view is read, which is
before anything is charged, with one fixed message.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from eke.privacy.view import Dialect, ViewJoin, base_name
from eke.sql.view.branch import TableJoin, TableUse, ViewBranch
from eke.sql.view.grouping import RowGroups, aggregate_name, key_name
from eke.sql.view.vocabulary import AGGREGATES

_CALLED: dict[type[exp.Expr], str] = {exp.LogicalOr: "BOOL_OR", exp.LogicalAnd: "BOOL_AND"}
_OF_ORDER = (exp.Min, exp.Max)
_OF_NUMBERS = (exp.Sum, exp.Avg)


class ViewWriter:
    """Writes the branches of one view for one engine."""

    def __init__(self, dialect: Dialect, tables: Sequence[str]) -> None:
        self._dialect = dialect
        self._names = {table: base_name(place) for place, table in enumerate(tables)}

    def selects(self, branches: Sequence[ViewBranch]) -> tuple[str, ...]:
        """What UNION ALL makes the view of."""
        names = [name for name, _ in branches[0].columns]
        return tuple(self._branch(branch, names) for branch in branches)

    def keys(self, branch: ViewBranch) -> str:
        """A SELECT of both sides of all equalities of a branch, which is never run."""
        return self._listing(branch, [s for link in branch.links for p in link.pairs for s in p])

    def join(self, link: TableJoin) -> ViewJoin:
        """A join, with the SELECT that finds a key that occurs more than once."""
        keys = [self._tame(after) for _, after in link.pairs]
        wanted = [f"{key} IS NOT NULL" for key in keys]
        wanted += [self._condition(condition) for condition in link.conditions]
        repeated = (
            f"SELECT 1 FROM {self._table(link.use)} WHERE {' AND '.join(wanted)} "  # noqa: S608 -- as above
            f"GROUP BY {', '.join(keys)} HAVING COUNT(*) > 1 LIMIT 1"
        )
        shown = ", ".join(after.sql(dialect=self._dialect) for _, after in link.pairs)
        return ViewJoin(link.use.table, shown, repeated)

    def grouped(self, branch: ViewBranch) -> tuple[str, str]:
        """Two SELECTs, never run: what is compared to make groups of rows, and what is added up."""
        if branch.grouping is None:
            return "", ""
        inner = [node.find(*AGGREGATES) for node in branch.grouping.aggregates]
        compared = [*branch.grouping.keys, *(n.this for n in inner if isinstance(n, _OF_ORDER))]
        added = [node.this for node in inner if isinstance(node, _OF_NUMBERS)]
        return self._listing(branch, compared), self._listing(branch, added)

    def _listing(self, branch: ViewBranch, nodes: Sequence[exp.Expr]) -> str:
        listed = ", ".join(f"{self._tame(n)} AS {self._name(f'k{p}')}" for p, n in enumerate(nodes))
        sources = ", ".join(map(self._table, branch.uses))
        return f"SELECT {listed} FROM {sources}" if nodes else ""  # noqa: S608 -- names are quoted

    def _branch(self, branch: ViewBranch, names: Sequence[str]) -> str:
        if branch.grouping is not None:
            return self._groups(branch, branch.grouping, names)
        listed = self._columns(names, [self._tame(node) for _, node in branch.columns])
        return f"SELECT {listed}{self._from(branch)}"

    def _groups(self, branch: ViewBranch, grouping: RowGroups, names: Sequence[str]) -> str:
        """The groups with their aggregates, and the columns of the view made of these."""
        keys = [self._tame(key) for key in grouping.keys]
        made = [*keys, *map(self._aggregate, grouping.aggregates)]
        called = [
            *map(key_name, range(len(keys))),
            *map(aggregate_name, range(len(grouping.aggregates))),
        ]
        places = ", ".join(str(place + 1) for place in range(len(keys)))
        groups = f"SELECT {self._columns(called, made)}{self._from(branch)} GROUP BY {places}"
        listed = self._columns(names, [self._tame(node) for node in grouping.columns])
        text = f"SELECT {listed} FROM ({groups}) AS {self._name('eke_groups')}"  # noqa: S608 -- names are quoted
        return (
            text if grouping.having is None else f"{text} WHERE {self._condition(grouping.having)}"
        )

    def _aggregate(self, node: exp.Expr) -> str:
        if isinstance(node, exp.Filter):
            condition = self._condition(node.expression.this)
            return f"{self._aggregate(node.this)} FILTER (WHERE {condition})"
        called = _CALLED.get(type(node)) or type(node).__name__.upper()
        if isinstance(node.this, exp.Star):
            return f"{called}(*)"
        if isinstance(node.this, exp.Distinct):
            return f"{called}(DISTINCT {self._tame(node.this.expressions[0])})"
        return f"{called}({self._tame(node.this)})"

    def _columns(self, names: Sequence[str], made: Sequence[str]) -> str:
        pairs = zip(names, made, strict=True)
        return ", ".join(f"{sql} AS {self._name(name)}" for name, sql in pairs)

    def _from(self, branch: ViewBranch) -> str:
        text = f" FROM {self._table(branch.first)}"
        for link in branch.links:
            pairs = [f"{self._tame(a)} = {self._tame(b)}" for a, b in link.pairs]
            pairs += [self._condition(condition) for condition in link.conditions]
            kind = "LEFT JOIN" if link.is_left else "JOIN"
            text += f" {kind} {self._table(link.use)} ON {' AND '.join(pairs)}"
        return text if branch.where is None else f"{text} WHERE {self._condition(branch.where)}"

    def _table(self, use: TableUse) -> str:
        return f"{self._name(self._names[use.table])} AS {self._name(use.alias)}"

    def _name(self, name: str) -> str:
        return exp.to_identifier(name, quoted=True).sql(dialect=self._dialect)

    def _condition(self, node: exp.Expr) -> str:
        tame = self._tame(node)
        return tame if tame.startswith("TRY(") else f"({tame})"

    def _tame(self, node: exp.Expr) -> str:
        """SQL of an expression; NULL where it has no value, if the engine can say that."""
        sql = node.copy().transform(self._total).sql(dialect=self._dialect, identify=True)
        plain = isinstance(node, (exp.Column, exp.Literal, exp.Null, exp.Boolean))
        return sql if plain or self._dialect != "duckdb" else f"TRY({sql})"

    def _total(self, node: exp.Expr) -> exp.Expr:
        if isinstance(node, (exp.Div, exp.IntDiv, exp.Mod)) and not _is_number(node.expression):
            zero = exp.Literal.number(0)
            node.set("expression", exp.Nullif(this=node.expression, expression=zero))
        if isinstance(node, (exp.Cast, exp.TryCast)) and self._dialect != "postgres":
            return exp.TryCast(this=node.this, to=node.args["to"], safe=True)
        return node


def _is_number(node: exp.Expr) -> bool:
    return isinstance(node, exp.Literal) and not node.is_string and float(node.this) != 0
