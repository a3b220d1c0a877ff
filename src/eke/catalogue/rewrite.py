"""Rewrite: from the tree of a statement for PostgreSQL to the text of one for the engine.

Every table becomes one of ours, every function one of the list, every cast one between kinds;
what is not known raises.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp
from sqlglot.errors import ErrorLevel

from eke.catalogue.allowed import check_nodes
from eke.catalogue.calls_in_from import call_as_table
from eke.catalogue.directory import Directory, is_catalogue_call
from eke.catalogue.failure import (
    NO_COLUMN,
    NO_FUNCTION,
    NO_TABLE,
    TOO_LONG,
    UNSUPPORTED,
    CatalogueError,
)
from eke.catalogue.format_parts import format_parts
from eke.catalogue.functions import BOUNDED, CASTING, MACROS, PLAIN, RELATIONS, RENAMED
from eke.catalogue.kind import storage
from eke.catalogue.naming import called, column_name
from eke.catalogue.reading import common_table
from eke.catalogue.relation import CatalogueRelation
from eke.catalogue.scopes import Outputs, Scopes, is_written
from eke.catalogue.system_columns import system_column, system_value
from eke.catalogue.values import Values, call

_SYSTEM_SCHEMAS = {"pg_catalog": "names", "information_schema": "standard"}
ENGINE_SCHEMAS = {**_SYSTEM_SCHEMAS, "public": "shown"}
CALL_SCHEMA = "calls"
_HIDDEN = frozenset(
    {"rowid", "user", "current_user", "session_user", "current_role", "current_catalog"}
    | {"current_schema", "current_date", "current_time", "current_timestamp", "localtime"}
    | {"localtimestamp", "current_database"}
)
_MOST_FIELDS = 40
_PLAIN_KINDS = frozenset(
    {None, "int2", "int4", "int8", "float8", "bool", "text", "varchar", "name"}
)
"""Those that both engines write alike in JSON."""


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A statement for the engine, and what PostgreSQL would say its columns are."""

    sql: str
    columns: Outputs
    tables: frozenset[CatalogueRelation]


def rewritten(tree: exp.Query, directory: Directory, *, describing: bool) -> Rewritten:
    """The statement for the engine; the tree is used up."""
    return _Rewriter(directory, describing=describing).run(tree)


class _Rewriter(Values):
    def __init__(self, directory: Directory, *, describing: bool) -> None:
        super().__init__(directory)
        self._describing = describing
        self._tables: set[CatalogueRelation] = set()
        self._alive: list[exp.Expr] = []
        self._called: dict[int, str] = {}
        self._system: dict[int, exp.Expr] = {}
        self._handlers |= {
            exp.Table: self._table,
            exp.Column: self._column,
            exp.Dot: self._dot,
            exp.Anonymous: self._call,
            exp.Filter: self._bounded,
            exp.Parameter: self._parameter,
        }

    def run(self, tree: exp.Query) -> Rewritten:
        nodes = list(tree.walk())
        check_nodes(nodes)
        for node in nodes:
            if isinstance(node, exp.Identifier) and not node.args.get("quoted"):
                node.set("this", node.name.lower())
            node.comments = None
        scopes = Scopes(self._directory)
        columns = scopes.outputs(tree)
        self._kinds = {id(node): scopes.kind(node) for node in nodes}
        self._real = {
            id(node)
            for node in nodes
            if isinstance(node, exp.Div)
            and (self._is_fractional(node.this) or self._is_fractional(node.expression))
        }
        for node in nodes:
            if isinstance(node, exp.Column) and called(node) is None:
                _refuse_hidden(node, scopes)
                place = system_column(node, scopes)
                if place is not None:
                    self._system[id(node)] = system_value(*place)
            if isinstance(node, exp.SetOperation):
                self._cast_written(node, scopes)
            if isinstance(node, exp.Select):
                _write_out_star(node, scopes)
                self._name_columns(node, scopes)
            elif isinstance(node, exp.Table):
                self._called[id(node)] = node.this.name.lower()
        for node in reversed(nodes):
            self._replace(node, tree)
        sql = tree.sql(dialect="duckdb", identify=True, unsupported_level=ErrorLevel.IGNORE)
        return Rewritten(sql, columns, frozenset(self._tables))

    def _replace(self, node: exp.Expr, tree: exp.Query) -> None:
        word = None if isinstance(node, exp.Anonymous | exp.Dot) else called(node)
        handler = self._handlers.get(type(node))
        fresh = node
        if word is not None:
            fresh = call(f"eke_{word}")
        elif handler is not None:
            fresh = handler(node)
        if fresh is not node and node is not tree:
            self._kinds[id(fresh)] = self._kinds.get(id(node))
            self._alive.append(fresh)  # so that no later node gets its number
            node.replace(fresh)

    def _name_columns(self, select: exp.Select, scopes: Scopes) -> None:
        for node in list(select.expressions):
            plain = isinstance(node, exp.Alias | exp.Star) or (
                isinstance(node, exp.Column)
                and called(node) is None
                and system_column(node, scopes) is None
            )
            if not plain:
                label = exp.to_identifier(column_name(node), quoted=True)
                alias = exp.Alias(alias=label)
                node.replace(alias)
                alias.set("this", node)

    def _cast_written(self, node: exp.SetOperation, scopes: Scopes) -> None:
        """Give what is written out on one side of a UNION the type of the other."""
        kinds = [storage(kind) if kind else None for _, kind in scopes.outputs(node)]
        for side in (node.left, node.right):
            columns = side.expressions if isinstance(side, exp.Select) else ()
            for column, engine_type in zip(list(columns), kinds, strict=False):
                value = column.this if isinstance(column, exp.Alias) else column
                if engine_type is not None and is_written(value):
                    self._alive.append(value)
                    value.replace(exp.cast(value.copy(), engine_type, dialect="duckdb"))

    def _table(self, node: exp.Table) -> exp.Expr:
        if isinstance(node.this, exp.Identifier):
            if common_table(node) is not None:
                return node
            relation = self._directory.readable(node.name, node.db)
            if relation is None or node.catalog not in ("", self._directory.database):
                raise CatalogueError(
                    f"the catalogue has no relation {node.name[:100]!r}; check its name", NO_TABLE
                )
            self._tables.add(relation)
            if not node.args.get("alias"):
                node.set("alias", exp.TableAlias(this=exp.to_identifier(node.name, quoted=True)))
            node.set("catalog", None)
            node.set("only", None)
            node.set("db", exp.to_identifier(ENGINE_SCHEMAS[relation.schema]))
            return node
        if node.db not in ("", *_SYSTEM_SCHEMAS) or node.args.get("ordinality"):
            raise CatalogueError("the catalogue has no such function for FROM", UNSUPPORTED)
        name = self._called[id(node)]
        if is_catalogue_call(name) or name in RELATIONS:
            return self._relation_called(node, name)
        return call_as_table(node, name)

    def _relation_called(self, node: exp.Table, name: str) -> exp.Expr:
        """A function that stands for a relation."""
        relation = RELATIONS.get(name, name)
        known = self._directory.readable(relation, "pg_catalog")
        self._tables |= {known} if known is not None else set()
        schema = ENGINE_SCHEMAS["pg_catalog"] if name in RELATIONS else CALL_SCHEMA
        alias = node.args.get("alias") or exp.TableAlias(this=exp.to_identifier(name, quoted=True))
        return exp.Table(
            this=exp.to_identifier(relation, quoted=True),
            db=exp.to_identifier(schema),
            alias=alias.copy(),
            joins=node.args.get("joins"),
        )

    def _column(self, node: exp.Column) -> exp.Expr:
        if id(node) in self._system:
            return self._system[id(node)]
        if node.args.get("db"):
            if node.args["db"].name not in ENGINE_SCHEMAS:
                raise CatalogueError(f"no schema {node.args['db'].name[:60]!r}", "3F000")
            node.set("db", None)
            node.set("catalog", None)
        return node

    def _dot(self, node: exp.Dot) -> exp.Expr:
        if isinstance(node.this, exp.Identifier) and not isinstance(node.parent, exp.DataType):
            if node.this.name not in _SYSTEM_SCHEMAS or isinstance(node.expression, exp.Identifier):
                raise CatalogueError(f"no function in schema {node.this.name[:60]!r}", NO_FUNCTION)
            inner: exp.Expr = node.expression
            return inner
        return node

    def _call(self, node: exp.Anonymous) -> exp.Expr:
        name = str(node.name).lower()
        special = self._special_call(node, name, node.expressions)
        if special is not None:
            return special
        if name in PLAIN:
            node.set("this", RENAMED.get(name, name))
            return call("unnest", node.copy()) if name == "generate_series" else node
        if name in MACROS:
            node.set("this", f"eke_{name}")
            return node
        relation = is_catalogue_call(name) or name in RELATIONS
        if relation and isinstance(node.parent, exp.Table) and not node.expressions:
            return node
        raise CatalogueError(
            f"the catalogue has no function {name[:100]!r}; it answers what is known of tables",
            NO_FUNCTION,
        )

    def _special_call(
        self, node: exp.Anonymous, name: str, arguments: list[exp.Expr]
    ) -> exp.Expr | None:
        """What becomes of a call that is more than a call of another name."""
        fresh: exp.Expr | None = None
        if name in ("concat", "format"):
            fresh = self._concat(arguments if name == "concat" else [*format_parts(arguments)])
        elif name in ("all", "some") and len(arguments) == 1:
            fresh = (exp.All if name == "all" else exp.Any)(this=arguments[0])
        elif name in BOUNDED:
            fresh = node if isinstance(node.parent, exp.Filter) else self._bounded(node)
        elif name == "json_build_object":
            if len(arguments) > _MOST_FIELDS:
                raise CatalogueError("the statement builds too large an object", TOO_LONG)
            node.set("expressions", [call("eke_small", value.copy()) for value in arguments])
        elif name == "substring" and len(arguments) in (2, 3):
            names = ("this", "start", "length")
            fresh = self._substring(exp.Substring(**dict(zip(names, arguments, strict=False))))
        elif name in CASTING and len(arguments) == 1:
            target = exp.DataType.build(name, dialect="postgres")
            fresh = self._cast(exp.Cast(this=arguments[0], to=target))
        return fresh

    def _bounded(self, node: exp.Filter | exp.Anonymous) -> exp.Expr:
        """A call whose result may be long, with a bound on it."""
        inner = node.this if isinstance(node, exp.Filter) else node
        bound = BOUNDED.get(inner.name.lower()) if isinstance(inner, exp.Anonymous) else None
        if bound is not None and isinstance(node.parent, exp.Window):
            raise CatalogueError("the catalogue does not join values in a window", UNSUPPORTED)
        return node if bound is None else call(bound, node.copy())

    def _parameter(self, node: exp.Parameter) -> exp.Expr:
        if self._describing:
            return exp.Null()
        raise CatalogueError("the statement has a parameter without a value", "42P02")


def _write_out_star(select: exp.Select, scopes: Scopes) -> None:
    """Name the columns of * where the engine would give them in another order."""
    columns = scopes.merged(select)
    if columns and len(select.expressions) == 1 and isinstance(select.expressions[0], exp.Star):
        names = [exp.column(exp.to_identifier(name, quoted=True)) for name, _ in columns]
        select.set("expressions", names)


def _refuse_hidden(node: exp.Column, scopes: Scopes) -> None:
    """Names that the engine gives a meaning of its own where no column has them."""
    if node.name in _HIDDEN and not scopes.knows(node):
        raise CatalogueError(
            f"the catalogue has no column {node.name!r} there; check its name", NO_COLUMN
        )
    row = scopes.row(node)
    in_json = called(node.parent or node) == "row_to_json"
    if row and not (in_json and {kind for _, kind in row} <= _PLAIN_KINDS):
        raise CatalogueError("the catalogue does not show rows as values", UNSUPPORTED)
