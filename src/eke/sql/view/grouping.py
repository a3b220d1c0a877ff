"""Grouping: GROUP BY in a view, taken apart into keys, aggregates, and what is made of both.

Privacy: A row of the view is made of all rows with the same keys. So the rows of one id stay among
themselves if its column is one of the keys, and in no other case (docs/proofs/views.md §4). The
aggregates that are admitted give the same in whichever order the rows come, for the types that
`data.view` admits: the order of rows may depend on other people's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from eke.sql.place import SqlText
from eke.sql.view.vocabulary import AGGREGATES

_NEITHER = (
    "several rows make one row of the view, and this column may differ among them; add it to "
    "GROUP BY, or take MIN, MAX, SUM, AVG or COUNT of it"
)
_NO_KEY = "GROUP BY needs the column of the id, so that each row of the view belongs to one id"
_WITHIN = "aggregates stand after SELECT and in HAVING, and none within another"
_BY_NUMBER = "write GROUP BY and the expression itself, or its number after SELECT"


@dataclass(frozen=True, slots=True)
class RowGroups:
    """How rows become one: the keys, the aggregates, and expressions of columns named for them.

    Attributes:
        keys: what rows of a group have in common.
        aggregates: what is made of a group, each with its FILTER, if any.
        columns: the view's columns, made of `key_name` and `aggregate_name` columns.
        having: a condition on groups, likewise.
    """

    keys: tuple[exp.Expr, ...]
    aggregates: tuple[exp.Expr, ...]
    columns: tuple[exp.Expr, ...]
    having: exp.Expr | None

    def is_key(self, node: exp.Expr) -> bool:
        """Whether an expression is one of the keys."""
        return node.unnest().sql() in {key.sql() for key in self.keys}


def key_name(place: int) -> str:
    """What a key is called where the view's columns are made of it."""
    return f"eke_key_{place}"


def aggregate_name(place: int) -> str:
    """What an aggregate is called where the view's columns are made of it."""
    return f"eke_aggregate_{place}"


def is_aggregate(node: exp.Expr) -> bool:
    """Whether it is an aggregate, or one with a FILTER."""
    return isinstance(node, (*AGGREGATES, exp.Filter))


def keys_of(text: SqlText, select: exp.Select) -> list[exp.Expr] | None:
    """The expressions that a SELECT groups by, as they are written; None if it does not group.

    SELECT DISTINCT groups by all of its columns.
    """
    items = [item.this if isinstance(item, exp.Alias) else item for item in select.expressions]
    group = select.args.get("group")
    if select.args.get("distinct") is not None:
        if group is not None or any(node.find(*AGGREGATES) for node in items):
            raise text.error(select, "a view has DISTINCT or GROUP BY; leave DISTINCT out")
        return [node.copy() for node in items]
    if group is None:
        aggregates = [*(node.find(*AGGREGATES) for node in items), select.args.get("having")]
        first = next(filter(None, aggregates), None)
        if first is not None:
            raise text.error(
                first, f"an aggregate of all rows would tell them without noise; {_NO_KEY}"
            )
        return None
    return [_key(text, key, select.expressions) for key in group.expressions]


def _key(text: SqlText, key: exp.Expr, items: Sequence[exp.Expr]) -> exp.Expr:
    if isinstance(key, exp.Literal) and not key.is_string:
        place = int(key.this) if str(key.this).isdigit() else 0
        if not 1 <= place <= len(items):
            raise text.error(key, f"there is no column {key.this} after SELECT; {_BY_NUMBER}")
        item = items[place - 1]
        return (item.this if isinstance(item, exp.Alias) else item).copy()
    named = {item.alias.casefold(): item.this for item in items if isinstance(item, exp.Alias)}
    if isinstance(key, exp.Column) and key.args.get("table") is None:
        made = named.get(key.name.casefold())
        if made is not None and made.sql() != key.sql():
            # One engine takes it for a column of the table, another for that of the view.
            raise text.error(key, f"{key.name!r} is a name given with AS; {_BY_NUMBER}")
    return key


def grouping_of(
    text: SqlText,
    keys: Sequence[exp.Expr],
    columns: Sequence[exp.Expr],
    having: exp.Expr | None,
) -> RowGroups:
    """The parts of a SELECT whose columns are tied to their tables."""
    keys = [key.unnest() for key in keys]
    for key in keys:
        check_no_aggregate(text, key)
    if not any(key.find(exp.Column) for key in keys):
        raise text.error(0, _NO_KEY)
    names = {key.sql(): key_name(place) for place, key in enumerate(keys)}
    aggregates: dict[str, exp.Expr] = {}

    def made(node: exp.Expr) -> exp.Expr:
        if node.sql() in names:
            return exp.column(names[node.sql()], quoted=True)
        if is_aggregate(node):
            _check_inside(text, node)
            aggregates.setdefault(node.sql(), node)
            place = list(aggregates).index(node.sql())
            return exp.column(aggregate_name(place), quoted=True)
        if isinstance(node, exp.Column):
            raise text.error(node, _NEITHER)
        copy = node.copy()
        for child in list(copy.iter_expressions()):
            child.replace(made(child))
        return copy

    return RowGroups(
        tuple(keys),
        columns=tuple(made(node) for node in columns),
        having=None if having is None else made(having),
        aggregates=tuple(aggregates.values()),
    )


def check_no_aggregate(text: SqlText, node: exp.Expr) -> None:
    """Raise if there is an aggregate within an expression of single rows."""
    aggregate = node.find(*AGGREGATES)
    if aggregate is not None:
        raise text.error(aggregate, _WITHIN)


def _check_inside(text: SqlText, node: exp.Expr) -> None:
    if isinstance(node, exp.Filter):
        check_no_aggregate(text, node.expression)
        node = node.this
    check_no_aggregate(text, node.this)
