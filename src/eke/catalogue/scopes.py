"""Scopes: what PostgreSQL would call the columns of a query, and of which kind they are.

Only what the engine cannot tell by itself is worked out: that a text is a name, that a number
is the OID of a relation. None means that the engine's own type is to be believed.
"""

from __future__ import annotations

from typing import TypeAlias

from sqlglot import exp

from eke.catalogue.directory import CALLS, READABLE, Directory
from eke.catalogue.functions import CASTING, RECORDS, RELATIONS, RETURNS, SAME_AS_ARGUMENT
from eke.catalogue.kind import BY_OID, ROWS
from eke.catalogue.naming import WRAPPERS, called, cast_kind, column_name
from eke.catalogue.reading import common_table

Outputs: TypeAlias = list[tuple[str, str | None]]
"""Names and kinds of the columns of a query."""
_CALLED: dict[str, Outputs] = {
    entry.relation.name: [
        (column.name, BY_OID[column.oid].name) for column in entry.relation.columns
    ]
    for entry in CALLS
}
_TABLES = {
    entry.relation.name: (entry.oid, entry.relation.columns[0].name)
    for entry in READABLE
    if entry.relation.kind == "r"
}
SystemPlace: TypeAlias = tuple[str, str, int]
"""The alias of a table, its first column, and the value of a system column of it."""
_STRINGS = frozenset({"text", "varchar", "bpchar", "name"})
_SYSTEM_KINDS = {"xmin": "xid", "tableoid": "oid"}


class Scopes:
    """The kinds of the expressions of one tree, which is not changed meanwhile."""

    def __init__(self, directory: Directory) -> None:
        self._directory = directory
        self._sources: dict[int, dict[str, Outputs]] = {}
        self._told: dict[int, Outputs] = {}

    def outputs(self, query: exp.Expr) -> Outputs:
        """The columns of a query as far as they can be told; may be empty."""
        if id(query) not in self._told:
            self._told[id(query)] = self._outputs(query)
        return self._told[id(query)]

    def _outputs(self, query: exp.Expr) -> Outputs:
        if isinstance(query, exp.Subquery | exp.CTE):
            return self.outputs(query.this)
        if isinstance(query, exp.SetOperation):
            left, right = self.outputs(query.left), self.outputs(query.right)
            if len(left) != len(right):
                return []
            shown = zip(left, right, self._open(query.left), self._open(query.right), strict=False)
            return [
                (name, _common(kind, other, takes=takes, gives=gives))
                for (name, kind), (_, other), takes, gives in shown
            ]
        if not isinstance(query, exp.Select):
            return []
        columns: Outputs = []
        for node in query.expressions:
            if isinstance(node, exp.Star):
                columns += self._all(query)
            elif isinstance(node, exp.Column) and isinstance(node.this, exp.Star):
                columns += self._of(query).get(node.table, [])
            else:
                columns.append((node.alias or column_name(node), self.kind(node)))
        return columns

    def _open(self, query: exp.Expr) -> list[bool]:
        """Which columns are written out, and take the kind of the other side of a UNION."""
        if isinstance(query, exp.Subquery | exp.CTE):
            return self._open(query.this)
        if isinstance(query, exp.SetOperation):
            pairs = zip(self._open(query.left), self._open(query.right), strict=False)
            return [left and right for left, right in pairs]
        written = [is_written(node) for node in query.expressions]
        return written if len(written) == len(self.outputs(query)) else [False] * 1000

    def _all(self, select: exp.Select) -> Outputs:
        """The columns of *."""
        merged = self.merged(select)
        if merged is not None:
            return merged
        return [pair for source in self._of(select).values() for pair in source]

    def merged(self, select: exp.Select) -> Outputs | None:
        """The columns of * where NATURAL or USING merges some: these come first, and once."""
        if not any(
            join.method or join.args.get("using") for join in select.args.get("joins") or ()
        ):
            return None
        merged: Outputs = []
        rest: Outputs = []
        joins = {id(join.this): join for join in select.find_all(exp.Join)}
        for node, columns in zip(_sources(select), self._of(select).values(), strict=False):
            join = joins.get(id(node))
            using = {name.name for name in join.args.get("using") or ()} if join else set()
            if join is not None and join.method.upper() == "NATURAL":
                using = {name for name, _ in columns}
            both = [pair for pair in merged + rest if pair[0] in using]
            merged += [pair for pair in both if pair not in merged]
            rest = [pair for pair in rest if pair not in both]
            rest += [pair for pair in columns if pair[0] not in {name for name, _ in both}]
        names = [name for name, _ in merged + rest]
        return merged + rest if len(set(names)) == len(names) else None

    def kind(self, node: exp.Expr | None) -> str | None:
        """The kind of an expression, if it is one that the engine cannot tell."""
        kind = None
        name = None if node is None else called(node)
        if node is None:
            pass
        elif name is not None:
            kind = self._returned(name, node)
        elif isinstance(node, WRAPPERS):
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
        elif isinstance(node, exp.Extract):
            kind = "numeric"
        elif isinstance(node, exp.AtTimeZone):
            turned = {"timestamptz": "timestamp", "timestamp": "timestamptz"}
            kind = turned.get(self.kind(node.this) or "")
        elif isinstance(node, exp.Bracket) and isinstance(node.expressions[0], exp.Slice):
            kind = self.kind(node.this)
        return kind

    def _chosen(self, node: exp.Case) -> str | None:
        """The kind of all the results of CASE; a text that is written out takes any kind."""
        results = [branch.args.get("true") for branch in node.args["ifs"]]
        kinds = [
            self.kind(result)
            for result in (node.args.get("default"), *results)
            if result is not None and not isinstance(result, exp.Null | exp.Literal)
        ]
        if len({*kinds} - {None} - _STRINGS) == 0 and kinds and kinds[0] in _STRINGS:
            return kinds[0]  # of texts the first decides, and ELSE comes first
        return kinds[0] if len({*kinds}) == 1 else None

    def _returned(self, name: str, node: exp.Expr) -> str | None:
        call = node.expression if isinstance(node, exp.Dot) else node
        if name in SAME_AS_ARGUMENT and call.expressions:
            inner = self.kind(call.expressions[0])
            return _element_of(inner) if name == "unnest" else inner
        if name == "date_trunc" and len(call.expressions) == 2:
            return self.kind(call.expressions[1])
        if name == "array_agg" and call.expressions:
            first = call.expressions[0]
            first = first.this if isinstance(first, exp.Order) else first
            first = first.expressions[0] if isinstance(first, exp.Distinct) else first
            return _array_of(self.kind(first))
        if name == "array" and call.expressions:
            columns = self.outputs(call.expressions[0])
            return _array_of(columns[0][1] if columns else None)
        if name in CASTING and len(call.expressions) == 1:
            return name
        return RETURNS.get(name)

    def knows(self, node: exp.Column) -> bool:
        """True when a column is known to be one of a table around it."""
        return self._place(node) is not None

    def row(self, node: exp.Column) -> Outputs:
        """The columns of the table of which this is the name, and stands for its rows, if so."""
        select = None if node.table or self.knows(node) else node.find_ancestor(exp.Select)
        while isinstance(select, exp.Select):
            columns = self._of(select).get(node.name)
            if columns:
                return columns
            select = select.find_ancestor(exp.Select)
        return []

    def system_place(self, node: exp.Column) -> SystemPlace | None:
        """Of which table this is a system column, if it is one."""
        select = None if self.knows(node) else node.find_ancestor(exp.Select)
        while node.name in _SYSTEM_KINDS and isinstance(select, exp.Select):
            for source in _sources(select):
                alias = source.alias_or_name
                if isinstance(source, exp.Table) and node.table in ("", alias):
                    oid, first = _TABLES.get(source.name, (0, ""))
                    if oid and common_table(source) is None:
                        return alias, first, oid if node.name == "tableoid" else 1
            select = select.find_ancestor(exp.Select)
        return None

    def _column(self, node: exp.Column) -> str | None:
        place = self._place(node)
        if place is None and self.system_place(node) is not None:
            return _SYSTEM_KINDS[node.name]
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
            self._sources[id(select)] = {
                _source_name(node): self._source(node) for node in _sources(select)
            }
        return self._sources[id(select)]

    def _listed(self, name: str, schema: str) -> Outputs:
        """The columns of a relation that FROM names."""
        relation = self._directory.readable(name, schema)
        columns = () if relation is None else relation.columns
        return [(column.name, BY_OID[column.oid].name) for column in columns]

    def _source(self, node: exp.Expr) -> Outputs:
        if isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier):
            common = common_table(node)
            if common is not None:
                return _renamed(self.outputs(common.this), common)
            return _renamed(self._listed(node.name, node.db), node)
        if isinstance(node, exp.Table):
            name = node.this.name.lower()
            listed = RECORDS.get(name) or _CALLED.get(name)
            if name in RELATIONS:
                listed = self._listed(RELATIONS[name], "pg_catalog")
            return _renamed(listed or [(node.alias or name, self.kind(node.this))], node)
        if isinstance(node, exp.Subquery | exp.Lateral):
            return _renamed(self.outputs(node.this), node)
        if isinstance(node, exp.Unnest) and node.expressions:
            inner = self.kind(node.expressions[0])
            return _renamed([(_source_name(node), _element_of(inner))], node)
        return []


def _sources(select: exp.Select) -> list[exp.Expr]:
    """What a SELECT reads from, in order; joins in parentheses are opened."""
    start = select.args.get("from_")
    opened = ([start.this] if start else []) + [
        join.this for join in select.args.get("joins") or []
    ]
    nodes = []
    while opened:
        node = opened.pop(0)
        joined = [join.this for join in node.args.get("joins") or []]
        within = isinstance(node, exp.Paren | exp.Subquery) and not node.alias
        if within and not isinstance(node.this, exp.Select | exp.SetOperation):
            opened[:0] = [node.this, *joined]
        else:
            nodes.append(node)
            opened[:0] = joined
    return nodes


def _common(kind: str | None, other: str | None, *, takes: bool, gives: bool) -> str | None:
    """The kind of a column of a UNION, one side of which may be written out."""
    texts = kind in _STRINGS and (other is None or other in _STRINGS)
    told = other if takes else kind if gives or texts or kind == other else None
    return None if told == "int2" and (takes or gives) else told


def _source_name(node: exp.Expr) -> str:
    if isinstance(node, exp.Unnest):
        return node.alias or "unnest"
    return node.alias_or_name or str(node.this.name)


def is_written(node: exp.Expr) -> bool:
    """True for NULL and for a value that is written out, under whatever name."""
    inner = node.this if isinstance(node, exp.Alias) else node
    return isinstance(inner, exp.Null | exp.Literal)


def _element_of(kind: str | None) -> str | None:
    vectors = {"oidvector": "oid", "int2vector": "int2"}
    return vectors.get(kind or "", kind[1:] if kind and kind[0] == "_" else kind)


def _array_of(kind: str | None) -> str | None:
    return f"_{kind}" if f"_{kind}" in ROWS else None


def _renamed(columns: Outputs, node: exp.Expr) -> Outputs:
    """Columns under the names that follow an alias, as in AS t(a, b)."""
    alias = node.args.get("alias")
    names = [column.name for column in alias.args.get("columns") or []] if alias else []
    kinds = [kind for _, kind in columns]
    return [*zip(names, kinds, strict=False), *columns[len(names) :]]
