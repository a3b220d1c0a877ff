"""Allowed: the parts of SQL that a catalogue statement may be made of."""

from __future__ import annotations

from sqlglot import exp

from eke.catalogue.failure import UNSUPPORTED, CatalogueError

_QUERY = (
    exp.Select,
    exp.Union,
    exp.Except,
    exp.Intersect,
    exp.Values,
    exp.Tuple,
    exp.Subquery,
    exp.With,
    exp.CTE,
    exp.From,
    exp.Join,
    exp.Table,
    exp.TableAlias,
    exp.Lateral,
    exp.Unnest,
    exp.Where,
    exp.Group,
    exp.Having,
    exp.Order,
    exp.Ordered,
    exp.Limit,
    exp.Offset,
    exp.Fetch,
    exp.LimitOptions,
    exp.Distinct,
    exp.Star,
    exp.Alias,
)
_VALUES = (
    exp.Column,
    exp.Identifier,
    exp.Literal,
    exp.ByteString,
    exp.RawString,
    exp.Boolean,
    exp.Null,
    exp.Paren,
    exp.Cast,
    exp.DataType,
    exp.DataTypeParam,
    exp.ObjectIdentifier,
    exp.PseudoType,
    exp.Array,
    exp.Bracket,
    exp.Slice,
    exp.Case,
    exp.If,
    exp.Var,
    exp.Interval,
    exp.Parameter,
    exp.Collate,
)
_CALLS = (
    exp.Anonymous,
    exp.Dot,
    exp.CurrentUser,
    exp.CurrentRole,
    exp.SessionUser,
    exp.CurrentCatalog,
    exp.CurrentSchema,
    exp.CurrentDate,
    exp.CurrentTimestamp,
    exp.Localtimestamp,
    exp.AtTimeZone,
    exp.Extract,
    exp.Trim,
    exp.Substring,
    exp.StrPosition,
    exp.Window,
    exp.WindowSpec,
    exp.Filter,
)
_OPERATORS = (
    exp.And,
    exp.Or,
    exp.Not,
    exp.EQ,
    exp.NEQ,
    exp.LT,
    exp.LTE,
    exp.GT,
    exp.GTE,
    exp.Is,
    exp.In,
    exp.Between,
    exp.NullSafeEQ,
    exp.NullSafeNEQ,
    exp.Like,
    exp.ILike,
    exp.Escape,
    exp.RegexpLike,
    exp.RegexpILike,
    exp.Exists,
    exp.Any,
    exp.All,
    exp.Operator,
    exp.DPipe,
    exp.Neg,
    exp.Add,
    exp.Sub,
    exp.Mul,
    exp.Div,
    exp.Mod,
    exp.BitwiseAnd,
    exp.BitwiseOr,
    exp.BitwiseLeftShift,
    exp.BitwiseRightShift,
)
_ALLOWED = frozenset[type[exp.Expr]]((*_QUERY, *_VALUES, *_CALLS, *_OPERATORS))

# Parts of theirs that PostgreSQL's own grammar does not have, or that the engine reads otherwise.
_REFUSED_PARTS: dict[type[exp.Expr], tuple[str, ...]] = {
    exp.Star: ("except_", "except", "replace", "rename"),
    exp.Group: ("all", "totals", "rollup", "cube", "grouping_sets"),
    exp.Union: ("by_name",),
    exp.Except: ("by_name",),
    exp.Intersect: ("by_name",),
    exp.With: ("search",),
    exp.Select: ("kind", "hint", "operation_modifiers", "exclude"),
    exp.Table: ("version", "partition", "changes", "when"),
}
_JOINS = frozenset({"", "NATURAL", "INNER", "CROSS", "OUTER", "NATURALINNER", "NATURALOUTER"})


def check_nodes(nodes: list[exp.Expr]) -> None:
    """Refuse what is not on the list, and parts of listed things that are not plain queries."""
    for node in nodes:
        if type(node) not in _ALLOWED:
            words = type(node).key.upper()[:40]
            raise CatalogueError(f"the catalogue does not support {words} here", UNSUPPORTED)
        for part in _REFUSED_PARTS.get(type(node), ()):
            if node.args.get(part):
                raise CatalogueError(f"the catalogue does not support {part} here", UNSUPPORTED)
        if isinstance(node, exp.Join) and f"{node.method}{node.kind}".upper() not in _JOINS:
            raise CatalogueError("the catalogue does not support this kind of JOIN", UNSUPPORTED)
