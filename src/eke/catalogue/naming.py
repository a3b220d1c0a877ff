"""Naming: which function a node calls, which kind a cast names, what a column is called."""

from __future__ import annotations

from sqlglot import exp

from eke.catalogue.kind import kind_named

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
WRAPPERS = (exp.Alias, exp.Paren, exp.Collate, exp.Filter, exp.Window)


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
    elif isinstance(node, (*WRAPPERS, exp.Bracket)):
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
