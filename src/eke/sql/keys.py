"""Keys: which expressions are keys of GROUP BY, however they are written."""

from __future__ import annotations

from sqlglot import exp

from eke.question.groups import GroupKey
from eke.sql.grouping import group_key, labelled, plain_attribute
from eke.sql.place import echo
from eke.sql.scalar import AGGREGATES, value_of
from eke.sql.scope import Relation, matching
from eke.sql.tree import name_of
from eke.sql.value import Moment, MomentKind, Reading, Value

Items = list[tuple[str, exp.Expr]]
_PLACE = "GROUP BY takes columns, CASE, the names of selected expressions and their places"


class Keys:
    """The keys of a statement in the order of GROUP BY, each once."""

    def __init__(
        self, reading: Reading, relation: Relation, group: exp.Expr | None, items: Items
    ) -> None:
        self._reading = reading
        self._relation = relation
        self._items = items
        self._marks: list[object] = []  # what identifies each key: its column or its diagram
        self.found: list[GroupKey] = []
        self.kinds: list[MomentKind | None] = []  # of dates and times, which labels are texts of
        for node in group.args["expressions"] if group is not None else ():
            self._add(node)

    def place(self, node: exp.Expr) -> int | None:
        """The place of the key that an expression without aggregates is; None for a constant."""
        if not any(isinstance(one, exp.Column) for one in node.walk()):
            return None
        value = value_of(self._reading, self._relation, node)
        mark = self._mark(node, value)
        if mark not in self._marks:
            what = echo(node.name) if isinstance(node, exp.Column) else "this expression"
            raise self._reading.error(
                node,
                f"{what} is neither aggregated nor a key; put it into GROUP BY, or into COUNT, SUM "
                "or AVG: records are never shown",
            )
        return self._marks.index(mark)

    def named(self, node: exp.Expr) -> exp.Expr:
        """The expression that a name within OVER means: a column, or what is selected so."""
        if isinstance(node, exp.Column) and node.args.get("table") is None:
            return self._by_name(node)[1]
        return node

    def _add(self, node: exp.Expr) -> None:
        name, meant = self._meant(node)
        if any(isinstance(one, AGGREGATES) for one in meant.walk()):
            raise self._reading.error(
                node, f"an aggregate cannot be a key of its own groups; {_PLACE}"
            )
        value = value_of(self._reading, self._relation, meant)
        mark = self._mark(node, value)
        if mark in self._marks:
            return
        self.found.append(group_key(self._reading, node, name, value))
        self.kinds.append(value.kind if isinstance(value, Moment) else None)
        self._marks.append(mark)

    def _mark(self, node: exp.Expr, value: Value) -> object:
        attribute = plain_attribute(value)
        if attribute is not None:
            return attribute
        return labelled(self._reading, node, value)

    def _meant(self, node: exp.Expr) -> tuple[str, exp.Expr]:
        """(name, expression) of a key written as an expression, a place or a name."""
        reading = self._reading
        if isinstance(node, exp.Literal) and not node.args.get("is_string"):
            spelled = str(node.this)
            if not spelled.isdecimal() or not 1 <= int(spelled[:6]) <= len(self._items):
                raise reading.error(
                    node, f"there is no selected expression number {echo(spelled)}; {_PLACE}"
                )
            return self._items[int(spelled) - 1]
        if isinstance(node, exp.Column) and node.args.get("table") is None:
            return self._by_name(node)
        return next((i for i in self._items if i[1] == node), (name_of(node, "key"), node))

    def _by_name(self, node: exp.Column) -> tuple[str, exp.Expr]:
        """The selected expression of that name, unless the table has such a column."""
        written, quoted = str(node.this.this), bool(node.this.args.get("quoted"))
        column = matching(self._relation.columns, written, quoted=quoted)
        named = matching([name for name, _ in self._items], written, quoted=quoted)
        if not named:
            return written, node
        item = next(item for name, item in self._items if name == named)
        if isinstance(item, exp.Column):
            return named, item if column is None else node
        if column:
            raise self._reading.error(
                node,
                f"{echo(written)!r} is a column and also the name of a selected expression; give "
                "the expression another name",
            )
        return named, item
