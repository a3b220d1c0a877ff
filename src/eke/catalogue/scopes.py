"""Scopes: what PostgreSQL would call the columns of a query, and of which kind they are.

Only what the engine cannot tell by itself is worked out: that a text is a name, that a number
is the OID of a relation. None means that the engine's own type is to be believed.
"""

from __future__ import annotations

from typing import TypeAlias

from sqlglot import exp

from eke.catalogue.directory import Directory
from eke.catalogue.functions import RETURNS, SAME_AS_ARGUMENT
from eke.catalogue.kind import BY_OID, ROWS, kind_named
from eke.catalogue.reading import common_table

Outputs: TypeAlias = list[tuple[str, str | None]]
"""Names and kinds of the columns of a query."""
_WORDS: dict[type[exp.Expr], str] = {
    exp.CurrentUser: "current_user",
    exp.CurrentRole: "current_role",
    exp.SessionUser: "session_user",
    exp.CurrentCatalog: "current_catalog",
    exp.CurrentSchema: "current_schema",
    exp.CurrentDate: "current_date",
    exp.CurrentTimestamp: "current_timestamp",
    exp.Localtimestamp: "localtimestamp",
}
_WRAPPERS = (exp.Alias, exp.Paren, exp.Collate, exp.Filter, exp.Window)


def called(node: exp.Expr) -> str | None:
    """The name of the function that a node calls, if it is a call."""
    if type(node) in _WORDS:
        return _WORDS[type(node)]
    if isinstance(node, exp.Dot) and isinstance(node.expression, exp.Anonymous):
        node = node.expression
    if isinstance(node, exp.Anonymous):
        return str(node.name).lower()
    if isinstance(node, exp.Column) and not node.table and node.name in ("user", "current_role"):
        return None if node.this.args.get("quoted") else node.name
    return None


def cast_kind(target: exp.Expr) -> str | None:
    """The kind that a cast names, if there is such a kind."""
    if isinstance(target, exp.DataType) and target.this == exp.DType.ARRAY:
        inner = cast_kind(target.expressions[0]) if target.expressions else None
        return kind_named(f"{inner}[]") if inner and not inner.startswith("_") else None
    if isinstance(target, exp.DataType) and target.this == exp.DType.USERDEFINED:
        given = target.args.get("kind")
        last = given.expression if isinstance(given, exp.Dot) else given
        name = last.name if isinstance(last, exp.Expr) else str(last)
        exact = isinstance(last, exp.Identifier) and last.args.get("quoted")
        return kind_named(f'"{name}"' if exact and name == "char" else name)
    if isinstance(target, exp.DataType) and target.this == exp.DType.TIMESTAMPTZ:
        return "timestamptz"
    if isinstance(target, exp.DataType):
        plain = exp.DataType(this=target.this)
        return kind_named(plain.sql(dialect="postgres").lower())
    return kind_named(target.name.lower())


def column_name(node: exp.Expr) -> str:
    """The name that PostgreSQL gives to a column without an alias."""
    return _figured(node)[0]


def _figured(node: exp.Expr) -> tuple[str, bool]:
    """That name, and whether a cast or CASE around the node keeps it."""
    name, keeps = called(node) or _FIXED.get(type(node), ""), True
    if name:
        pass
    elif isinstance(node, exp.Column | exp.Identifier):
        name = node.name
    elif isinstance(node, exp.Alias):
        name = node.alias
    elif isinstance(node, exp.Trim):
        sides = {"LEADING": "ltrim", "TRAILING": "rtrim"}
        name = sides.get(node.args.get("position") or "", "btrim")
    elif isinstance(node, exp.Cast):
        name, keeps = _figured(node.this)
        name = name if keeps else (cast_kind(node.to) or name).lstrip("_")
    elif isinstance(node, exp.Case):
        last = node.args.get("default")
        name, keeps = ("", False) if last is None else _figured(last)
        name = name if keeps else "case"
    else:
        inner = _inside(node)
        name, keeps = ("?column?", False) if inner is None else _figured(inner)
    return name, keeps


def _inside(node: exp.Expr) -> exp.Expr | None:
    """The part of a node that names it."""
    inner = None
    if isinstance(node, exp.Dot):
        inner = node.expression
    elif isinstance(node, exp.Subquery) and isinstance(node.this, exp.Select):
        inner = node.this.expressions[0]
    elif isinstance(node, (*_WRAPPERS, exp.Bracket)):
        inner = node.this
    return inner


_FIXED: dict[type[exp.Expr], str] = {
    exp.Exists: "exists",
    exp.Array: "array",
    exp.Extract: "extract",
    exp.Substring: "substring",
    exp.StrPosition: "position",
    exp.Interval: "interval",
}


class Scopes:
    """The kinds of the expressions of one tree, which is not changed meanwhile."""

    def __init__(self, directory: Directory) -> None:
        self._directory = directory
        self._sources: dict[int, dict[str, Outputs]] = {}

    def outputs(self, query: exp.Expr) -> Outputs:
        """The columns of a query as far as they can be told; may be empty."""
        if isinstance(query, exp.Subquery | exp.CTE):
            return self.outputs(query.this)
        if isinstance(query, exp.SetOperation):
            left, right = self.outputs(query.left), self.outputs(query.right)
            if len(left) != len(right):
                return []
            pairs = zip(left, right, strict=True)
            return [(name, kind if kind == other else None) for (name, kind), (_, other) in pairs]
        if not isinstance(query, exp.Select):
            return []
        columns: Outputs = []
        for node in query.expressions:
            if isinstance(node, exp.Star):
                columns += [pair for source in self._of(query).values() for pair in source]
            elif isinstance(node, exp.Column) and isinstance(node.this, exp.Star):
                columns += self._of(query).get(node.table, [])
            else:
                columns.append((node.alias or column_name(node), self.kind(node)))
        return columns

    def kind(self, node: exp.Expr | None) -> str | None:
        """The kind of an expression, if it is one that the engine cannot tell."""
        kind = None
        name = None if node is None else called(node)
        if node is None:
            pass
        elif name is not None:
            kind = self._returned(name, node)
        elif isinstance(node, _WRAPPERS):
            kind = self.kind(node.this)
        elif isinstance(node, exp.Column):
            kind = self._column(node)
        elif isinstance(node, exp.Cast):
            kind = cast_kind(node.to)
        elif isinstance(node, exp.Subquery):
            columns = self.outputs(node.this)
            kind = columns[0][1] if columns else None
        elif isinstance(node, exp.Array):
            kind = _array_of(self.kind(node.expressions[0]) if node.expressions else None)
        elif isinstance(node, exp.Case):
            kind = self._chosen(node)
        return kind

    def _chosen(self, node: exp.Case) -> str | None:
        """The kind of all the results of CASE; a text that is written out takes any kind."""
        results = [branch.args.get("true") for branch in node.args["ifs"]]
        kinds = {
            self.kind(result)
            for result in (*results, node.args.get("default"))
            if result is not None and not isinstance(result, exp.Null | exp.Literal)
        }
        return kinds.pop() if len(kinds) == 1 else None

    def _returned(self, name: str, node: exp.Expr) -> str | None:
        call = node.expression if isinstance(node, exp.Dot) else node
        if name in SAME_AS_ARGUMENT and call.expressions:
            inner = self.kind(call.expressions[0])
            return inner[1:] if name == "unnest" and inner and inner[0] == "_" else inner
        if name == "date_trunc" and len(call.expressions) == 2:
            return self.kind(call.expressions[1])
        if name == "array_agg" and call.expressions:
            first = call.expressions[0]
            inner = self.kind(first.this if isinstance(first, exp.Order) else first)
            return _array_of(inner)
        if name == "array" and call.expressions:
            columns = self.outputs(call.expressions[0])
            return _array_of(columns[0][1] if columns else None)
        return RETURNS.get(name)

    def knows(self, node: exp.Column) -> bool:
        """True when a column is known to be one of a table around it."""
        return self._place(node) is not None

    def is_row(self, node: exp.Column) -> bool:
        """True when this is not a column but the name of a table, and stands for its rows."""
        select = None if node.table or self.knows(node) else node.find_ancestor(exp.Select)
        while isinstance(select, exp.Select):
            if self._of(select).get(node.name):
                return True
            select = select.find_ancestor(exp.Select)
        return False

    def _column(self, node: exp.Column) -> str | None:
        place = self._place(node)
        return None if place is None else place[1]

    def _place(self, node: exp.Column) -> tuple[str, str | None] | None:
        select = node.find_ancestor(exp.Select)
        while isinstance(select, exp.Select):
            for alias, columns in self._of(select).items():
                if node.table in ("", alias):
                    for pair in columns:
                        if pair[0] == node.name:
                            return pair
            select = select.find_ancestor(exp.Select)
        return None

    def _of(self, select: exp.Select) -> dict[str, Outputs]:
        """The tables of a SELECT by alias, in their order."""
        if id(select) not in self._sources:
            self._sources[id(select)] = {}  # a table that names itself has no columns
            start = select.args.get("from_")
            nodes = ([start.this] if start else []) + [
                join.this for join in select.args.get("joins") or []
            ]
            self._sources[id(select)] = {
                node.alias_or_name or node.this.name: self._source(node) for node in nodes
            }
        return self._sources[id(select)]

    def _source(self, node: exp.Expr) -> Outputs:
        if isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier):
            common = common_table(node)
            if common is not None:
                return _renamed(self.outputs(common.this), common)
            relation = self._directory.readable(node.name, node.db)
            columns = () if relation is None else relation.columns
            return _renamed([(one.name, BY_OID[one.oid].name) for one in columns], node)
        if isinstance(node, exp.Table):
            return _renamed([(node.alias or node.this.name, self.kind(node.this))], node)
        if isinstance(node, exp.Unnest) and len(node.expressions) == 1:
            array = self.kind(node.expressions[0]) or ""
            return _renamed([(node.alias, array[1:] if array[:1] == "_" else None)], node)
        if isinstance(node, exp.Subquery | exp.Lateral):
            return _renamed(self.outputs(node.this), node)
        return []


def _array_of(kind: str | None) -> str | None:
    return f"_{kind}" if f"_{kind}" in ROWS else None


def _renamed(columns: Outputs, node: exp.Expr) -> Outputs:
    """Columns under the names that follow an alias, as in AS t(a, b)."""
    alias = node.args.get("alias")
    names = [column.name for column in alias.args.get("columns") or []] if alias else []
    kinds = [kind for _, kind in columns]
    return [*zip(names, kinds, strict=False), *columns[len(names) :]]
