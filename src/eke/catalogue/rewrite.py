"""Rewrite: from the tree of a statement for PostgreSQL to the text of one for the engine.

Every table becomes one of ours, every function one of the list, every cast one between kinds;
what is not known raises.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sqlglot import exp
from sqlglot.errors import ErrorLevel

from eke.catalogue.allowed import check_nodes
from eke.catalogue.arrays import array_elements
from eke.catalogue.directory import Directory
from eke.catalogue.failure import (
    NO_COLUMN,
    NO_FUNCTION,
    NO_OBJECT,
    NO_TABLE,
    TOO_LONG,
    UNSUPPORTED,
    CatalogueError,
)
from eke.catalogue.format_parts import format_parts
from eke.catalogue.functions import BOUNDED, MACROS, PLAIN, RENAMED
from eke.catalogue.kind import REFERENCES, storage
from eke.catalogue.reading import common_table
from eke.catalogue.relation import CatalogueRelation
from eke.catalogue.scopes import Outputs, Scopes, called, cast_kind, column_name

_SYSTEM_SCHEMAS = {"pg_catalog": "names", "information_schema": "standard"}
ENGINE_SCHEMAS = {**_SYSTEM_SCHEMAS, "public": "shown"}
_TEXT = frozenset({"text", "name", "varchar", "char", "bpchar"})
_FRACTIONAL = frozenset({"float4", "float8", "numeric"})
_HIDDEN = frozenset(
    {"rowid", "user", "current_user", "session_user", "current_role", "current_catalog"}
    | {"current_schema", "current_date", "current_time", "current_timestamp", "localtime"}
    | {"localtimestamp", "current_database"}
)
_MOST_ARRAY_JOINS, _MOST_ELEMENTS, _MOST_FIELDS = 4, 1000, 40
_WHOLE = re.compile(r"[0-9]{1,18}\Z")
_OPERATORS: dict[str, type[exp.Expr]] = {
    "~": exp.RegexpLike,
    "~*": exp.RegexpILike,
    "~~": exp.Like,
    "~~*": exp.ILike,
    "=": exp.EQ,
    "<>": exp.NEQ,
    "!=": exp.NEQ,
    "<": exp.LT,
    "<=": exp.LTE,
    ">": exp.GT,
    ">=": exp.GTE,
    "+": exp.Add,
    "-": exp.Sub,
    "*": exp.Mul,
    "||": exp.DPipe,
}


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A statement for the engine, and what PostgreSQL would say its columns are."""

    sql: str
    columns: Outputs
    tables: frozenset[CatalogueRelation]


def rewritten(tree: exp.Query, directory: Directory, *, describing: bool) -> Rewritten:
    """The statement for the engine; the tree is used up."""
    return _Rewriter(directory, describing=describing).run(tree)


class _Rewriter:
    def __init__(self, directory: Directory, *, describing: bool) -> None:
        self._directory = directory
        self._describing = describing
        self._kinds: dict[int, str | None] = {}
        self._tables: set[CatalogueRelation] = set()
        self._alive: list[exp.Expr] = []
        self._called: dict[int, str] = {}
        self._array_joins = 0
        self._handlers: dict[type[exp.Expr], Callable[[Any], exp.Expr]] = {
            exp.Table: self._table,
            exp.Column: self._column,
            exp.Dot: self._dot,
            exp.Anonymous: self._call,
            exp.Cast: self._cast,
            exp.EQ: self._comparison,
            exp.NEQ: self._comparison,
            exp.DPipe: self._pipe,
            exp.Operator: self._operator,
            exp.Collate: lambda node: node.this,
            exp.Div: self._division,
            exp.Filter: self._bounded,
            exp.Array: self._array,
            exp.NullSafeEQ: lambda node: _function("eke_same", node.left.copy(), node.right.copy()),
            exp.NullSafeNEQ: lambda node: _function(
                "eke_distinct", node.left.copy(), node.right.copy()
            ),
            exp.Like: self._like,
            exp.ILike: self._like,
            exp.StrPosition: lambda node: _function(
                "eke_strpos", node.this.copy(), node.args["substr"].copy()
            ),
            exp.Parameter: self._parameter,
            exp.ByteString: lambda node: exp.Literal.string(node.name),
            exp.RawString: lambda node: exp.Literal.string(node.name),
        }

    def run(self, tree: exp.Query) -> Rewritten:
        nodes = list(tree.walk())
        check_nodes(nodes)
        for node in nodes:
            if isinstance(node, exp.Identifier) and not node.args.get("quoted"):
                node.set("this", node.name.lower())
            node.comments = None
        for node in nodes:
            if isinstance(node, exp.Unnest):
                _name_unnested(node)
        scopes = Scopes(self._directory)
        columns = scopes.outputs(tree)
        self._kinds = {id(node): scopes.kind(node) for node in nodes}
        for node in nodes:
            if isinstance(node, exp.Column) and called(node) is None:
                _refuse_hidden(node, scopes)
            if isinstance(node, exp.Select):
                self._name_columns(node)
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
            fresh = _function(f"eke_{word}")
        elif handler is not None:
            fresh = handler(node)
        if fresh is not node and node is not tree:
            self._kinds[id(fresh)] = self._kinds.get(id(node))
            self._alive.append(fresh)  # so that no later node gets its number
            node.replace(fresh)

    def _name_columns(self, select: exp.Select) -> None:
        for node in list(select.expressions):
            plain = isinstance(node, exp.Alias | exp.Star) or (
                isinstance(node, exp.Column) and called(node) is None
            )
            if not plain:
                label = exp.to_identifier(column_name(node), quoted=True)
                alias = exp.Alias(alias=label)
                node.replace(alias)
                alias.set("this", node)

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
        call = node.this
        if node.db not in ("", *_SYSTEM_SCHEMAS) or node.args.get("ordinality"):
            raise CatalogueError("the catalogue has no such function for FROM", UNSUPPORTED)
        return _call_as_table(call, self._called[id(node)], node)

    def _column(self, node: exp.Column) -> exp.Expr:
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
        arguments = node.expressions
        if name == "concat":
            return self._concat(arguments)
        if name == "format":
            return self._concat(list(format_parts(arguments)))
        if name in ("all", "some") and len(arguments) == 1:
            quantified = exp.All if name == "all" else exp.Any
            return quantified(this=arguments[0])
        if name in BOUNDED:
            return node if isinstance(node.parent, exp.Filter) else self._bounded(node)
        if name == "json_build_object":
            if len(arguments) > _MOST_FIELDS:
                raise CatalogueError("the statement builds too large an object", TOO_LONG)
            node.set("expressions", [_function("eke_small", value.copy()) for value in arguments])
        if name in PLAIN:
            node.set("this", RENAMED.get(name, name))
            return _function("unnest", node.copy()) if name == "generate_series" else node
        if name in MACROS:
            node.set("this", f"eke_{name}")
            return node
        raise CatalogueError(
            f"the catalogue has no function {name[:100]!r}; it answers what is known of tables",
            NO_FUNCTION,
        )

    def _bounded(self, node: exp.Filter | exp.Anonymous) -> exp.Expr:
        """A call whose result may be long, with a bound on it."""
        call = node.this if isinstance(node, exp.Filter) else node
        bound = BOUNDED.get(call.name.lower()) if isinstance(call, exp.Anonymous) else None
        if bound is not None and isinstance(node.parent, exp.Window):
            raise CatalogueError("the catalogue does not join values in a window", UNSUPPORTED)
        return node if bound is None else _function(bound, node.copy())

    def _concat(self, arguments: list[exp.Expr]) -> exp.Expr:
        joined: exp.Expr = exp.Literal.string("")
        for argument in arguments:
            joined = _function("eke_concat", joined, self._as_text(argument))
        return joined

    def _as_text(self, node: exp.Expr) -> exp.Expr:
        kind = self._kinds.get(id(node))
        if kind in REFERENCES:
            return _function(f"py_name_{kind}", node.copy())
        if kind in ("int2vector", "oidvector"):
            return _function("eke_array_to_string", node.copy(), exp.Literal.string(" "))
        if kind and kind[1:] in REFERENCES:
            return _function("eke_array_text", _function(f"eke_names_{kind[1:]}", node.copy()))
        if kind and kind.startswith("_"):
            return _function("eke_array_text", node.copy())
        text = _function("eke_text", node.copy())
        if kind == "timestamptz":
            return _function("py_join", text, exp.Literal.string("+00"))
        return text

    def _cast(self, node: exp.Cast) -> exp.Expr:
        kind = cast_kind(node.to)
        engine_type = storage(kind) if kind else None
        textual = engine_type is not None and engine_type.startswith("VARCHAR")
        if kind is None or engine_type is None or (textual and kind.removeprefix("_") not in _TEXT):
            raise CatalogueError(
                f"the catalogue has no type {node.to.sql('postgres')[:60]!r}", NO_OBJECT
            )
        inner = node.this
        literal = inner.name if isinstance(inner, exp.Literal) and inner.is_string else None
        if kind in REFERENCES:
            if literal is None:
                return _function(f"py_{kind}", exp.cast(inner.copy(), "VARCHAR", dialect="duckdb"))
            inner = exp.Literal.number(self._directory.number(kind, literal))
        elif kind in _TEXT and literal is None:
            return self._shortened(self._as_text(inner), kind, node.to)
        elif textual and (named := (self._kinds.get(id(inner)) or "")[1:]) in REFERENCES:
            inner = _function(f"eke_names_{named}", inner.copy())
        elif engine_type.endswith("[]") and literal is not None:
            inner = _array(literal, spaced=kind.endswith("vector"))
        return exp.cast(inner.copy(), engine_type, dialect="duckdb")

    def _shortened(self, text: exp.Expr, kind: str, target: exp.Expr) -> exp.Expr:
        length = target.expressions[0].name if target.expressions else ""
        if kind == "char":
            length = "1"
        if not length.isdigit():
            return text
        return _function("left", text, exp.Literal.number(length))

    def _comparison(self, node: exp.EQ | exp.NEQ) -> exp.Expr:
        right = node.expression
        if isinstance(right, exp.Any | exp.All):
            return self._member(node, right)
        for side, other in (("this", right), ("expression", node.this)):
            text = node.args[side]
            kind = self._kinds.get(id(other)) or ""
            vector = kind.endswith("vector")
            if (kind.startswith("_") or vector) and isinstance(text, exp.Literal):
                node.set(side, _array(text.name, spaced=vector))
        return node

    def _member(self, node: exp.EQ | exp.NEQ, right: exp.Any | exp.All) -> exp.Expr:
        inner = right.this
        while isinstance(inner, exp.Paren):
            inner = inner.this
        if isinstance(inner, exp.Subquery | exp.Query):
            return node
        if isinstance(node, exp.EQ) != isinstance(right, exp.Any):
            raise CatalogueError("write = ANY (…) or <> ALL (…)", UNSUPPORTED)
        if isinstance(inner, exp.Literal) and inner.is_string:
            inner = _array(inner.name, of_text=self._is_text(node.this))
        member = _function("list_contains", inner.copy(), node.this.copy())
        return member if isinstance(node, exp.EQ) else exp.Not(this=member)

    def _is_text(self, node: exp.Expr) -> bool:
        literal = isinstance(node, exp.Literal) and node.is_string
        return literal or self._kinds.get(id(node)) in _TEXT

    def _pipe(self, node: exp.DPipe) -> exp.Expr:
        kinds = [self._kinds.get(id(side)) or "" for side in (node.this, node.expression)]
        if any(kind.startswith("_") for kind in kinds):
            self._array_joins += 1
            if self._array_joins > _MOST_ARRAY_JOINS:  # each may double what is in memory
                raise CatalogueError("the statement joins too many arrays", TOO_LONG)
            return _function("list_concat", node.this.copy(), node.expression.copy())
        return _function("py_join", self._as_text(node.this), self._as_text(node.expression))

    def _like(self, node: exp.Like | exp.ILike) -> exp.Expr:
        """A backslash escapes, unless the statement says otherwise."""
        if isinstance(node.parent, exp.Escape):
            return node
        return exp.Escape(this=node.copy(), expression=exp.Literal.string("\\"))

    def _operator(self, node: exp.Operator) -> exp.Expr:
        name = str(node.args["operator"]).removeprefix("pg_catalog.")
        negated = name in ("!~", "!~*", "!~~", "!~~*")
        kind = _OPERATORS.get(name[1:] if negated else name)
        if kind is None:
            raise CatalogueError(f"the catalogue has no operator {name[:20]!r}", NO_FUNCTION)
        plain = kind(this=node.this, expression=node.expression)
        handler = self._handlers.get(kind)
        fresh = handler(plain) if handler else plain
        return exp.Not(this=exp.Paren(this=fresh)) if negated else exp.Paren(this=fresh)

    def _array(self, node: exp.Array) -> exp.Expr:
        if len(node.expressions) > _MOST_ELEMENTS:
            raise CatalogueError("the statement writes out too long an array", TOO_LONG)
        return node

    def _division(self, node: exp.Div) -> exp.Expr:
        """Whole numbers are divided into whole numbers, as PostgreSQL does."""
        sides = (node.this, node.expression)
        if any(self._kinds.get(id(side)) in _FRACTIONAL or "." in side.name for side in sides):
            return node
        return exp.IntDiv(this=node.this, expression=node.expression)

    def _parameter(self, node: exp.Parameter) -> exp.Expr:
        if self._describing:
            return exp.Null()
        raise CatalogueError("the statement has a parameter without a value", "42P02")


def _name_unnested(node: exp.Unnest) -> None:
    """The elements of one array as a table have its name, as PostgreSQL calls them."""
    alias = node.args.get("alias") or exp.TableAlias(this=exp.to_identifier("unnest"))
    if len(node.expressions) == 1 and not alias.args.get("columns"):
        alias.set("columns", [alias.this.copy()])
    node.set("alias", alias)


def _refuse_hidden(node: exp.Column, scopes: Scopes) -> None:
    """Names that the engine gives a meaning of its own where no column has them."""
    if node.name in _HIDDEN and not scopes.knows(node):
        raise CatalogueError(
            f"the catalogue has no column {node.name!r} there; check its name", NO_COLUMN
        )
    if scopes.is_row(node):
        raise CatalogueError("the catalogue does not show rows as values", UNSUPPORTED)


def _function(name: str, *arguments: exp.Expr) -> exp.Anonymous:
    return exp.Anonymous(this=name, expressions=list(arguments))


def _array(text: str, *, spaced: bool = False, of_text: bool = True) -> exp.Array:
    """The list of the elements of an array that is written as a text."""
    elements = text.split() if spaced else array_elements(text)
    whole = not of_text and all(_WHOLE.match(part or "0") for part in elements)
    write = exp.Literal.number if whole else exp.Literal.string
    return exp.Array(expressions=[exp.Null() if part is None else write(part) for part in elements])


def _call_as_table(call: exp.Expr, inner: str, node: exp.Table) -> exp.Expr:
    """A function in FROM as a query of its values."""
    alias = node.args.get("alias")
    columns = alias.args.get("columns") if alias else None
    label = columns[0].name if columns else (node.alias or inner)
    shown = exp.Alias(this=call.copy(), alias=exp.to_identifier(label, quoted=True))
    name = exp.TableAlias(this=exp.to_identifier(node.alias or inner, quoted=True))
    return exp.Lateral(this=exp.Subquery(this=exp.Select(expressions=[shown])), alias=name)
