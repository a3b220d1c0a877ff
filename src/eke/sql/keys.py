"""Keys: which expressions are keys of GROUP BY, however they are written, and its groupings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from eke.question.groupings import Following, Grouping, Groupings
from eke.question.groups import GroupKey, MomentKind
from eke.sql.casts import written_label
from eke.sql.finishing import has_aggregate
from eke.sql.grouping import group_key, labelled, plain_attribute
from eke.sql.groupings import KeySets, is_several
from eke.sql.place import echo
from eke.sql.scalar import AGGREGATES, value_of
from eke.sql.scope import Relation, matching
from eke.sql.tree import name_of
from eke.sql.value import Moment, Reading, Value

Items = list[tuple[str, exp.Expr]]
MOST_SETS = 512
_MOST_BITS = 31
_GROUPING = (exp.Grouping, exp.GroupingId)
_BY_ITSELF = (
    "GROUPING names keys of GROUP BY, and stands by itself in a column, in HAVING or in ORDER BY; "
    "write GROUPING(sex)"
)
_PLACE = "GROUP BY takes columns, CASE, the names of selected expressions and their places"


class Keys:
    """The keys of a statement in the order of GROUP BY, each once.

    After them comes what groups nothing: GROUPING(…), and public values that are selected.
    """

    def __init__(
        self, reading: Reading, relation: Relation, select: exp.Select, items: Items
    ) -> None:
        self._reading = reading
        self._relation = relation
        self._items = items
        self._marks: list[object] = []  # what identifies each key: its column or its diagram
        self._written: list[exp.Expr] = []
        self.found: list[GroupKey] = []
        self.kinds: list[MomentKind | None] = []  # of dates and times, which labels are texts of
        group = select.args.get("group")
        # Rolled up by itself, each of two keys with the same values shows NULL by itself.
        self._are_apart = group is not None and is_several(group)
        sets = [()] if group is None else KeySets(reading.text, self._add, MOST_SETS).of(group)
        reading.effort.spend(sum(map(len, sets)))
        if group is not None and len(sets) == 1:
            sets = [(*sets[0], *self._following())]
        in_order = [tuple(sorted(set(one))) for one in sets]
        # The finest first, as ROLLUP has them.
        self._sets = sorted(in_order, key=len, reverse=True)
        self._keyed = len(self.found)
        for node in select.walk(prune=lambda one: isinstance(one, exp.Subquery)):
            if isinstance(node, _GROUPING):
                self._add_grouping(node)
        for name, item in items:
            self._add_public(name, item)

    @property
    def groupings(self) -> Groupings:
        """The rows that GROUP BY makes."""
        more = [key.labels for key in self.found[self._keyed :]]
        numbers = zip(*more, strict=True) if more else [()] * len(self._sets)
        rolled_up = (None,) * self._keyed
        each = []
        for keys, numbers_here in zip(self._sets, numbers, strict=True):
            by, following = self._parted(keys)
            each.append(Grouping(by, (*rolled_up, *numbers_here), None, following))
        return Groupings(tuple(self.found), tuple(each))

    def _parted(self, keys: Sequence[int]) -> tuple[tuple[int, ...], tuple[Following, ...]]:
        """The keys that make the groups, and those that follow from them: each by its columns."""
        plain: dict[str, int] = {}
        for key in keys:
            plain.setdefault(self.found[key].attribute or "", key)
        plain.pop("", None)
        known = {
            key: followed
            for key in keys
            if len(keys) > 1 and key not in plain.values() and (followed := self._places(key))
        }
        follows = {key for key, (names, _) in known.items() if plain.keys() >= set(names)}
        by = tuple(key for key in keys if key not in follows)
        return by, tuple(
            Following(
                key, self.found[key].labels, tuple(by.index(plain[name]) for name in names), places
            )
            for key, (names, places) in known.items()
            if key in follows
        )

    def _places(self, key: int) -> tuple[tuple[str, ...], NDArray[np.int64]] | None:
        self._reading.effort.spend(len(self.found[key].labels) + 10)
        return self.found[key].places(self._reading.domain)

    def place(self, node: exp.Expr) -> int | None:
        """The place of the key that an expression without aggregates is; None for a constant."""
        if isinstance(node, _GROUPING):
            return self._marks.index(self._rolled_up(node))
        public = _public(self._reading, node)
        if public in self._marks:
            return self._marks.index(public)
        if any(isinstance(one, _GROUPING) for one in node.walk()):
            raise self._reading.error(node, _BY_ITSELF)
        if not any(isinstance(one, exp.Column) for one in node.walk()):
            return None
        value = value_of(self._reading, self._relation, node)
        place = self._find(self._mark(node, value), node)
        if place is None:
            what = echo(node.name) if isinstance(node, exp.Column) else "this expression"
            raise self._reading.error(
                node,
                f"{what} is neither aggregated nor a key; put it into GROUP BY, or into COUNT, SUM "
                "or AVG: records are never shown",
            )
        return place

    def _find(self, mark: object, written: exp.Expr, *, apart: bool = False) -> int | None:
        """The place of a key with these values: the one that is written so, or else the first."""
        places = [place for place, own in enumerate(self._marks) if own == mark]
        same = [place for place in places if self._written[place] == written]
        return next(iter(same if apart else same + places), None)

    def named(self, node: exp.Expr) -> exp.Expr:
        """The expression that a name within OVER means: a column, or what is selected so."""
        if isinstance(node, exp.Column) and node.args.get("table") is None:
            return self._by_name(node)[1]
        return node

    def _add(self, node: exp.Expr) -> int:
        """The place of a key, which may be a new one."""
        name, meant = self._meant(node)
        if any(isinstance(one, (*AGGREGATES, *_GROUPING)) for one in meant.walk()):
            raise self._reading.error(
                node, f"an aggregate cannot be a key of its own groups; {_PLACE}"
            )
        value = value_of(self._reading, self._relation, meant)
        mark = self._mark(node, value)
        place = self._find(mark, meant, apart=self._are_apart)
        if place is None:
            kind = value.kind if isinstance(value, Moment) else None
            self.found.append(replace(group_key(self._reading, node, name, value), moment=kind))
            self.kinds.append(kind)
            self._marks.append(mark)
            self._written.append(meant)
            place = len(self.found) - 1
        return place

    def _following(self) -> list[int]:
        """The places of what is selected and follows from the keys, as UPPER(sex) does from sex.

        They are keys as well; a record's group is still decided by the others.
        """
        places: list[int] = []
        for _, item in self._items:
            columns = list(item.find_all(exp.Column))
            is_plain = not has_aggregate(item) and not item.find(exp.Window, *_GROUPING)
            if columns and is_plain and all(self._is_key(column) for column in columns):
                places.append(self._add(item))
        return places

    def _is_key(self, column: exp.Column) -> bool:
        value = value_of(self._reading, self._relation, column)
        return self._mark(column, value) in self._marks

    def _add_grouping(self, node: exp.Expr) -> None:
        """A key that groups nothing: its labels are what GROUPING says, one for each grouping."""
        mark = self._rolled_up(node)
        if mark in self._marks:
            return
        numbers = []
        for by in self._sets:
            bits = "".join("0" if key in by else "1" for key in mark[1:])
            numbers.append(int(bits or "0", 2))
        self.found.append(GroupKey(name_of(node, "GROUPING"), None, tuple(numbers)))
        self.kinds.append(None)
        self._marks.append(mark)
        self._written.append(node)

    def _add_public(self, name: str, node: exp.Expr) -> None:
        """A key that groups nothing: a text or another public value is the same in all rows."""
        mark = _public(self._reading, node)
        if mark is not None and mark not in self._marks:
            self.found.append(GroupKey(name, None, (mark[1],) * len(self._sets)))
            self.kinds.append(None)
            self._marks.append(mark)
            self._written.append(node)

    def _rolled_up(self, node: exp.Expr) -> tuple[str | int, ...]:
        """What identifies GROUPING: the keys that it is about, all of them if it names none."""
        named = node.args.get("expressions") or ()
        places: list[int] = []
        for written in named:
            nested = isinstance(written, _GROUPING)
            place = None if nested else self.place(self.named(written))
            if place is None:
                raise self._reading.error(node, _BY_ITSELF)
            places.append(place)
        if not self._keyed or len(places) > _MOST_BITS:
            raise self._reading.error(node, _BY_ITSELF)
        return ("GROUPING", *(places if named else range(self._keyed)))

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


def _public(reading: Reading, node: exp.Expr) -> tuple[str, Any] | None:
    """What identifies a text, a truth value, a date or NULL by itself; numbers are formulas."""
    while isinstance(node, exp.Paren):
        node = node.this
    if isinstance(node, exp.Literal) and node.args.get("is_string"):
        return "public", str(node.this)
    if isinstance(node, exp.Boolean):
        return "public", bool(node.this)
    if isinstance(node, exp.Null):
        return "public", None
    label = written_label(reading, node)
    return None if label is None else ("public", label)
