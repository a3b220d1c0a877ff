"""Values: casts, texts, arrays, comparisons and operators of PostgreSQL for the engine."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from sqlglot import exp

from eke.catalogue.arrays import array_elements
from eke.catalogue.directory import Directory
from eke.catalogue.failure import NO_FUNCTION, NO_OBJECT, TOO_LONG, UNSUPPORTED, CatalogueError
from eke.catalogue.kind import REFERENCES, storage
from eke.catalogue.naming import called, cast_kind

_TEXT = frozenset({"text", "name", "varchar", "char", "bpchar"})
_MOST_DIGITS = 38
_WHOLE_CALLS = frozenset({"count", "row_number", "rank", "dense_rank", "length", "strpos"})
_FRACTIONAL = frozenset({"float4", "float8", "numeric"})
_MOST_ARRAY_JOINS, _MOST_ELEMENTS = 4, 1000
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


class Values:
    """Rewrites what stands for a value, of whose parts the kinds are known."""

    def __init__(self, directory: Directory) -> None:
        self._directory = directory
        self._kinds: dict[int, str | None] = {}
        self._array_joins = 0
        self._real: set[int] = set()  # divisions that are not of whole numbers
        self._handlers: dict[type[exp.Expr], Callable[[Any], exp.Expr]] = {
            exp.Cast: self._cast,
            exp.EQ: self._comparison,
            exp.NEQ: self._comparison,
            exp.DPipe: self._pipe,
            exp.Operator: self._operator,
            exp.Collate: lambda node: node.this,
            exp.Div: self._division,
            exp.Extract: lambda node: exp.cast(node.copy(), storage("numeric") or ""),
            exp.Array: self._array,
            exp.NullSafeEQ: lambda node: call("eke_same", node.left.copy(), node.right.copy()),
            exp.NullSafeNEQ: lambda node: call("eke_distinct", node.left.copy(), node.right.copy()),
            exp.AtTimeZone: self._at_zone,
            exp.Substring: self._substring,
            exp.Like: self._like,
            exp.ILike: self._like,
            exp.StrPosition: lambda node: call(
                "eke_strpos", node.this.copy(), node.args["substr"].copy()
            ),
            exp.ByteString: lambda node: exp.Literal.string(node.name),
            exp.RawString: lambda node: exp.Literal.string(node.name),
        }

    def _concat(self, arguments: list[exp.Expr]) -> exp.Expr:
        joined: exp.Expr = exp.Literal.string("")
        for argument in arguments:
            joined = call("eke_concat", joined, self._as_text(argument))
        return joined

    def _as_text(self, node: exp.Expr) -> exp.Expr:
        kind = self._kinds.get(id(node))
        if kind in REFERENCES:
            return call(f"py_name_{kind}", node.copy())
        if kind in ("int2vector", "oidvector"):
            return call("eke_array_to_string", node.copy(), exp.Literal.string(" "))
        if kind and kind.startswith("_"):
            names = f"eke_names_{kind[1:]}"
            listed = call(names, node.copy()) if kind[1:] in REFERENCES else node.copy()
            return call("eke_array_text", listed)
        text = call("eke_text", node.copy())
        if kind == "timestamptz":
            return call("py_join", text, exp.Literal.string("+00"))
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
                return call(f"py_{kind}", exp.cast(inner.copy(), "VARCHAR", dialect="duckdb"))
            inner = exp.Literal.number(self._directory.number(kind, literal))
        elif kind in _TEXT and literal is None:
            return self._shortened(self._as_text(inner), kind, node.to)
        elif textual and (named := (self._kinds.get(id(inner)) or "")[1:]) in REFERENCES:
            inner = call(f"eke_names_{named}", inner.copy())
        elif engine_type.endswith("[]") and literal is not None:
            inner = _list(literal, spaced=kind.endswith("vector"))
        if kind == "numeric":
            engine_type = _with_scale(node.to)
        return exp.cast(inner.copy(), engine_type, dialect="duckdb")

    def _shortened(self, text: exp.Expr, kind: str, target: exp.Expr) -> exp.Expr:
        length = target.expressions[0].name if target.expressions else ""
        if kind == "char":
            length = "1"
        if not length.isdigit():
            return text
        return call("left", text, exp.Literal.number(length))

    def _comparison(self, node: exp.EQ | exp.NEQ) -> exp.Expr:
        right = node.expression
        if isinstance(right, exp.Any | exp.All):
            return self._member(node, right)
        for side, other in (("this", right), ("expression", node.this)):
            text = node.args[side]
            kind = self._kinds.get(id(other)) or ""
            vector = kind.endswith("vector")
            if (kind.startswith("_") or vector) and isinstance(text, exp.Literal):
                node.set(side, _list(text.name, spaced=vector))
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
            inner = _list(inner.name, of_text=self._is_text(node.this))
        member = call("list_contains", inner.copy(), node.this.copy())
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
            return call("list_concat", node.this.copy(), node.expression.copy())
        return call("py_join", self._as_text(node.this), self._as_text(node.expression))

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

    def _at_zone(self, node: exp.AtTimeZone) -> exp.Expr:
        """UTC is the only time zone here."""
        if node.args["zone"].name.upper() not in ("UTC", "GMT", "ETC/UTC"):
            raise CatalogueError("the only time zone of the catalogue is UTC", UNSUPPORTED)
        return exp.cast(node.this.copy(), "TIMESTAMP", dialect="duckdb")

    def _substring(self, node: exp.Substring) -> exp.Expr:
        """With a text it is the part that fits this pattern, or the part of it in parentheses."""
        start = node.args.get("start")
        if not (isinstance(start, exp.Literal) and start.is_string):
            return node
        group = exp.Literal.number(int("(" in start.name))
        return call("eke_fitting", node.this.copy(), start.copy(), group)

    def _array(self, node: exp.Array) -> exp.Expr:
        if len(node.expressions) > _MOST_ELEMENTS:
            raise CatalogueError("the statement writes out too long an array", TOO_LONG)
        return node

    def _division(self, node: exp.Div) -> exp.Expr:
        """Whole numbers are divided into whole numbers, as PostgreSQL does."""
        if id(node) in self._real:
            return node
        return exp.IntDiv(this=node.this, expression=node.expression)

    def _is_fractional(self, node: exp.Expr) -> bool:
        """Whether a value is no whole number by its type, from the types of what it is made of."""
        kind, name = self._kinds.get(id(node)), called(node)
        if kind is not None or name in _WHOLE_CALLS:
            return kind in _FRACTIONAL
        if isinstance(node, exp.Literal):
            return not node.is_string and not node.name.isdecimal()
        if isinstance(node, exp.Extract) or name in ("avg", "date_part"):
            return True
        parts = node.iter_expressions()
        return any(self._is_fractional(part) for part in parts if not isinstance(part, exp.Where))


def _with_scale(target: exp.Expr) -> str:
    """The engine's type for numeric, numeric(10) or numeric(10, 2)."""
    given = [one.name for one in target.expressions]
    if not given:
        return storage("numeric") or ""
    precision, scale = int(given[0][:4]), int((given[1:] or ["0"])[0][:4])
    if not 1 <= precision <= _MOST_DIGITS or not 0 <= scale <= precision:
        raise CatalogueError(f"numeric has at most {_MOST_DIGITS} digits here", UNSUPPORTED)
    return f"DECIMAL({precision},{scale})"


def call(name: str, *arguments: exp.Expr) -> exp.Anonymous:
    """A call of one of the engine's functions."""
    return exp.Anonymous(this=name, expressions=list(arguments))


def _list(text: str, *, spaced: bool = False, of_text: bool = True) -> exp.Array:
    """The list of the elements of an array that is written as a text."""
    elements = text.split() if spaced else array_elements(text)
    whole = not of_text and all(_WHOLE.match(part or "0") for part in elements)
    write = exp.Literal.number if whole else exp.Literal.string
    return exp.Array(expressions=[exp.Null() if part is None else write(part) for part in elements])
