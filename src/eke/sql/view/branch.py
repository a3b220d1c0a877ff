"""Branch: one SELECT of a view, its columns tied to its tables and its joins taken apart."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sqlglot import exp

from eke.privacy.view import Dialect
from eke.sql.place import SqlText
from eke.sql.view.grouping import RowGroups, check_no_aggregate, grouping_of, keys_of
from eke.sql.view.vocabulary import INNER_OR_LEFT, PLACES

_EQUALITIES = (
    "a join compares the tables: ON a.x = b.x AND …, where one side is made of the joined table "
    "alone and the other of tables before it; conditions on other tables go to WHERE"
)


@dataclass(frozen=True, slots=True)
class TableUse:
    """A table in a FROM clause, under the name by which its columns are called there."""

    table: str
    alias: str


@dataclass(frozen=True, slots=True)
class TableJoin:
    """A join: pairs of equal expressions, of tables before it and of its own, and conditions."""

    use: TableUse
    is_left: bool
    pairs: tuple[tuple[exp.Expr, exp.Expr], ...]
    conditions: tuple[exp.Expr, ...]


@dataclass(frozen=True, slots=True)
class ViewBranch:
    """One SELECT: where its rows come from, and an expression for each column of the view."""

    first: TableUse
    links: tuple[TableJoin, ...]
    columns: tuple[tuple[str, exp.Expr], ...]
    where: exp.Expr | None
    grouping: RowGroups | None = None

    @property
    def uses(self) -> tuple[TableUse, ...]:
        return self.first, *(link.use for link in self.links)

    def sources(self, node: exp.Expr) -> set[tuple[str, str]]:
        """The tables and their columns that an expression is made of."""
        tables = {use.alias: use.table for use in self.uses}
        return {(tables[column.table], column.name) for column in node.find_all(exp.Column)}

    def joined(self) -> set[tuple[str, str]]:
        """The columns of tables that are compared by joins."""
        sides = [side for link in self.links for pair in link.pairs for side in pair]
        return set().union(*map(self.sources, sides))

    def references(self) -> set[tuple[str, str]]:
        """All columns of tables that occur in it."""
        nodes = [node for _, node in self.columns]
        nodes += [] if self.where is None else [self.where]
        nodes += [] if self.grouping is None else [*self.grouping.keys, *self.grouping.aggregates]
        for link in self.links:
            nodes += [*(side for pair in link.pairs for side in pair), *link.conditions]
        return set().union(*map(self.sources, nodes))


def aliases_of(node: exp.Expr) -> set[str]:
    """The tables, by alias, whose columns an expression is made of."""
    return {column.table for column in node.find_all(exp.Column)}


class BranchReader:
    """Reads the SELECTs of one view."""

    def __init__(self, text: SqlText, dialect: Dialect, table_named: Callable[[str], str | None]):
        self._text = text
        self._dialect = dialect
        self._table_named = table_named

    def read(self, select: exp.Select) -> ViewBranch:
        """The branch that a SELECT of allow-listed nodes is."""
        source = select.args.get("from_")
        if source is None:
            raise self._text.error(select, "a view reads a table; write FROM and its name")
        first = self._use(source.this)
        uses = [first]
        merged: dict[str, str] = {}
        links: list[TableJoin] = []
        for join in select.args.get("joins") or ():
            use = self._use(join.this)
            if use.alias.casefold() in {before.alias.casefold() for before in uses}:
                raise self._text.error(
                    join.this, f"two tables are called {use.alias!r}; name one with AS"
                )
            uses.append(use)
            links.append(self._link(join, uses, merged))
        where, having = (_condition(select, clause) for clause in ("where", "having"))
        if where is not None:
            check_no_aggregate(self._text, where)
            self._tie(where, uses, merged)
        keys = keys_of(self._text, select)
        columns = tuple(self._column(item, uses, merged) for item in select.expressions)
        grouping = None
        if keys is not None:
            for node in (*keys, *([having] if having is not None else [])):
                self._tie(node, uses, merged)
            made = [node for _, node in columns]
            grouping = grouping_of(self._text, keys, made, having)
        return ViewBranch(first, tuple(links), columns, where, grouping)

    def _use(self, node: exp.Expr) -> TableUse:
        if not isinstance(node, exp.Table) or not isinstance(node.this, exp.Identifier):
            raise self._text.error(node, PLACES)
        parts = [part for part in (node.args.get("db"), node.this) if part is not None]
        written = ".".join(self.name(part) for part in parts)
        table = self._table_named(written)
        if table is None:
            raise self._text.error(node, f"where table {written!r} is was not said: {PLACES}")
        alias = node.args.get("alias")
        return TableUse(table, self.name(node.this if alias is None else alias.this))

    def _link(self, join: exp.Join, uses: list[TableUse], merged: dict[str, str]) -> TableJoin:
        side, kind = join.args.get("side") or "", join.args.get("kind") or ""
        if (side, kind) not in {("", ""), ("", "INNER"), ("LEFT", ""), ("LEFT", "OUTER")}:
            raise self._text.error(join.this, f"{side or kind} JOIN: {INNER_OR_LEFT}")
        if join.args.get("using"):
            pairs = [self._using(key, uses, merged) for key in join.args["using"]]
            return TableJoin(uses[-1], side == "LEFT", tuple(pairs), ())
        if join.args.get("on") is None:
            raise self._text.error(join.this, f"every row with every row: {INNER_OR_LEFT}")
        check_no_aggregate(self._text, join.args["on"])
        self._tie(join.args["on"], uses, merged)
        pairs, conditions = [], []
        for condition in _conjuncts(join.args["on"]):
            pair = _pair(condition, uses[-1].alias)
            if pair is not None:
                pairs.append(pair)
            elif aliases_of(condition) == {uses[-1].alias}:
                conditions.append(condition)
            else:
                raise self._text.error(condition, _EQUALITIES)
        if not pairs:
            raise self._text.error(join.args["on"], _EQUALITIES)
        return TableJoin(uses[-1], side == "LEFT", tuple(pairs), tuple(conditions))

    def _using(
        self, key: exp.Expr, uses: list[TableUse], merged: dict[str, str]
    ) -> tuple[exp.Expr, exp.Expr]:
        name = self.name(key)
        # The first of two tables is the only one that the column can be of; of three, who knows.
        alias = merged.get(name) or (uses[0].alias if len(uses) == 2 else None)
        if alias is None:
            raise self._text.error(
                key, f"USING ({name}) with a third table: write ON and the tables' names"
            )
        merged[name] = alias
        return exp.column(name, alias, quoted=True), exp.column(name, uses[-1].alias, quoted=True)

    def _column(
        self, item: exp.Expr, uses: list[TableUse], merged: dict[str, str]
    ) -> tuple[str, exp.Expr]:
        node = item.this if isinstance(item, exp.Alias) else item
        if not isinstance(item, (exp.Alias, exp.Column)):
            raise self._text.error(item, "name this column of the view with AS")
        name = self.name(item.args["alias"] if isinstance(item, exp.Alias) else item.this)
        self._tie(item, uses, merged)
        return name, node

    def _tie(self, root: exp.Expr, uses: list[TableUse], merged: dict[str, str]) -> None:
        """Give each column within a node the name of its table, as the clause calls it."""
        known = {use.alias.casefold(): use.alias for use in uses}
        for column in root.find_all(exp.Column):
            name = self.name(column.this)
            written = column.args.get("table")
            if written is not None:
                alias = known.get(self.name(written).casefold())
                if alias is None:
                    raise self._text.error(
                        column, f"there is no table {self.name(written)!r} before this place"
                    )
            else:
                alias = uses[0].alias if len(uses) == 1 else merged.get(name)
            if alias is None:
                raise self._text.error(
                    column,
                    f"say of which table column {name!r} is, for instance {uses[0].alias}.{name}",
                )
            named = exp.to_identifier(name, quoted=True)
            named.update_positions(column.this)
            column.set("this", named)
            column.set("table", exp.to_identifier(alias, quoted=True))

    def name(self, identifier: exp.Expr) -> str:
        """A name as the engine takes it; PostgreSQL knows those without quotes in small letters."""
        folds = self._dialect == "postgres" and not identifier.args.get("quoted")
        return str(identifier.this).lower() if folds else str(identifier.this)


def _condition(select: exp.Select, clause: str) -> exp.Expr | None:
    node = select.args.get(clause)
    return None if node is None else node.this


def _conjuncts(node: exp.Expr) -> Iterator[exp.Expr]:
    node = node.unnest()
    if isinstance(node, exp.And):
        yield from _conjuncts(node.this)
        yield from _conjuncts(node.expression)
    else:
        yield node


def _pair(condition: exp.Expr, alias: str) -> tuple[exp.Expr, exp.Expr] | None:
    """The two sides of an equality, that of tables before first; None if it is none of these."""
    if not isinstance(condition, exp.EQ):
        return None
    sides = condition.this.unnest(), condition.expression.unnest()
    before, after = sides if aliases_of(sides[1]) == {alias} else sides[::-1]
    if aliases_of(after) != {alias} or not aliases_of(before) or alias in aliases_of(before):
        return None
    return before, after
