"""Noisy clauses: HAVING, ORDER BY, LIMIT and OFFSET, read as conditions on the result's rows."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from sqlglot import exp

from eke.question.finish import AS_TEXT, Finish, finished
from eke.question.formula import Constant, Formula, Key
from eke.question.outcome import AllOf, AnyOf, Compared, Condition, IsNull, Not, Ordering
from eke.question.question import Column
from eke.question.rank import Ranking, RankOf
from eke.sql.aggregate import Aggregates
from eke.sql.casts import label_of, written_label
from eke.sql.comparison import COMPARISONS
from eke.sql.finishing import checked_finishes, has_aggregate, taken_off
from eke.sql.keys import Items, Keys
from eke.sql.place import echo, number_of_rows
from eke.sql.scalar import AGGREGATES
from eke.sql.scope import matching
from eke.sql.tree import left_chain
from eke.sql.value import Reading
from eke.sql.vocabulary import RANKS
from eke.sql.window import Windows, is_rank

_MOST_ROWS = 10**9
_HAVING = "HAVING compares aggregates, keys and constants, as in COUNT(*) > 100"


class NoisyClauses:
    """The clauses that act on the noisy result; they may need aggregates that are not selected."""

    def __init__(
        self,
        reading: Reading,
        keys: Keys,
        aggregates: Aggregates,
        items: Items,
        windows: Windows,
    ) -> None:
        self._reading = reading
        self._keys = keys
        self._aggregates = aggregates
        self._items = items
        self._windows = windows
        self.rankings: list[Ranking] = []

    def rank(self, node: exp.Expr) -> Formula:
        """RANK() OVER (…), which may be ordered by aggregates, as ORDER BY may."""
        over = self._windows.over(node, self._operand)
        word = RANKS[type(node.this)].upper()
        if not self._keys.found or not over.order_by or over.spec is not None:
            raise self._reading.error(
                node,
                f"{word} ranks the groups of GROUP BY in an order, and has no "
                f"frame; write {word}() OVER (ORDER BY COUNT(*) DESC)",
            )
        ranking = Ranking(RANKS[type(node.this)], over.partition_by, over.order_by)
        if ranking not in self.rankings:
            self.rankings.append(ranking)
        return RankOf(len(self._keys.found) + self.rankings.index(ranking))

    def having(self, clause: exp.Expr | None) -> Condition | None:
        """The condition of HAVING; a group that has records is no condition, every one has some.

        Tools write COUNT(1) > 0 where they select sums alone; where the count is selected, too, it
        is about that noisy count.
        """
        if clause is None or (_has_records(clause.this) and not self._counts()):
            return None
        return self._condition(clause.this)

    def _counts(self) -> bool:
        return any(_counts_records(one) for _, item in self._items for one in item.walk())

    def order_by(self, clause: exp.Expr | None, columns: Sequence[Column]) -> tuple[Ordering, ...]:
        """The criteria of ORDER BY, the most important first."""
        items = clause.args["expressions"] if clause is not None else ()
        return tuple(ordering_of(item, self._ordered(item.this, columns)) for item in items)

    def _ordered(self, node: exp.Expr, columns: Sequence[Column]) -> Formula:
        place = self._selected(node)
        if isinstance(node, exp.Literal):
            spelled = str(node.this)
            if not spelled.isdecimal() or not 1 <= int(spelled[:6]) <= len(columns):
                raise self._reading.error(
                    node, f"there is no column number {echo(spelled)}; count from 1"
                )
            place = int(spelled) - 1
        if place is None:
            return self._operand(node)
        check_order(self._reading, node, columns[place].finishes)
        return columns[place].finished

    def _condition(self, node: exp.Expr) -> Condition:
        self._reading.effort.spend(10)
        while isinstance(node, exp.Paren):
            node = node.this
        if isinstance(node, (exp.And, exp.Or)):
            first, rest = left_chain(node)
            parts = tuple(self._condition(one) for one in (first, *(o for _, o in rest)))
            return AllOf(parts) if isinstance(node, exp.And) else AnyOf(parts)
        if isinstance(node, exp.Not):
            return Not(self._condition(node.this))
        return self._simple(node)

    def _simple(self, node: exp.Expr) -> Condition:
        if type(node) in COMPARISONS:
            sign = COMPARISONS[type(node)].sign
            return self._compared(node, sign, node.this, node.args["expression"])
        if isinstance(node, exp.Between):
            low = self._compared(node, ">=", node.this, node.args["low"])
            return AllOf((low, self._compared(node, "<=", node.this, node.args["high"])))
        if isinstance(node, exp.In):
            choices = node.args["expressions"]
            return AnyOf(tuple(self._compared(node, "=", node.this, c) for c in choices))
        if isinstance(node, exp.Is) and isinstance(node.args["expression"], exp.Null):
            return IsNull(self._operand(node.this))
        raise self._reading.error(node, f"this is not a condition on the result; {_HAVING}")

    def _compared(self, node: exp.Expr, sign: str, left: exp.Expr, right: exp.Expr) -> Condition:
        operands = self._operand(left), self._operand(right)
        if any(one.calendar is not None for one in operands):
            return Compared(sign, *self._dates(node, sign, operands))
        first, second = (self._beside(node, *pair) for pair in (operands, operands[::-1]))
        kinds = self._kind(node, first), self._kind(node, second)
        if kinds[0] != kinds[1]:
            raise self._reading.error(
                node, f"{sign} compares {kinds[0]} with {kinds[1]}; compare values of one kind"
            )
        return Compared(sign, first, second)

    def _dates(
        self, node: exp.Expr, sign: str, operands: tuple[Formula, Formula]
    ) -> tuple[Formula, Formula]:
        """Quantiles of dates or times, and texts beside them, as numbers of one calendar."""
        calendars = {one.calendar for one in operands if one.calendar is not None}

        def number(operand: Formula) -> Formula:
            """The quantile itself, or the number of what a text beside it spells."""
            (calendar,) = calendars
            if operand.calendar is not None:
                return operand
            told = label_of(self._reading, node, str(operand.value(())), calendar.kind)
            return Constant(Fraction(calendar.number(told)))

        beside = [one for one in operands if one.calendar is None]
        labels = [key.labels for key in self._keys.found]
        are_texts = all(one.key is None and type(one.example(labels)) is str for one in beside)
        if len(calendars) > 1 or not are_texts:
            raise self._reading.error(
                node,
                f"{sign} compares a quantile of dates or times with something else; write a date "
                "as DATE '2013-01-31'",
            )
        return number(operands[0]), number(operands[1])

    def _beside(self, node: exp.Expr, operand: Formula, other: Formula) -> Formula:
        """The operand; a text beside a key of dates or times as that key would show it."""
        kind = None if other.key is None else self._keys.kinds[other.key]
        text = operand.example([key.labels for key in self._keys.found])
        if kind is None or operand.key is not None or not isinstance(text, str):
            return operand
        return Constant(label_of(self._reading, node, text, kind))

    def _operand(self, node: exp.Expr) -> Formula:
        """A formula: a selected name, an aggregate, a key, or a constant."""
        while isinstance(node, exp.Paren):
            node = node.this
        place = self._selected(node)
        meant = node if place is None else self._items[place][1]
        if isinstance(meant, exp.Literal) and meant.args.get("is_string"):
            return Constant(str(meant.this))
        label = written_label(self._reading, meant)
        if label is not None:  # a key shows dates and times as texts
            return Constant(label)
        if isinstance(meant, exp.Boolean):
            return Constant(bool(meant.this))
        if isinstance(meant, exp.Null):
            raise self._reading.error(node, "a comparison with NULL is never true; write IS NULL")
        if is_rank(meant):
            return self.rank(meant)
        if not has_aggregate(meant) and not self._names_aggregate(meant):
            key = self._keys.place(meant)
            if key is not None:
                return Key(key)
        inner, finishes = taken_off(self._reading, meant)
        check_order(self._reading, node, finishes)
        formula = self._aggregates.formula(inner, names=self._items)
        return finished(formula, checked_finishes(self._reading, node, formula, finishes))

    def _selected(self, node: exp.Expr) -> int | None:
        """The place of the selected expression that a bare name means."""
        if not isinstance(node, exp.Column) or node.args.get("table") is not None:
            return None
        names = [name for name, _ in self._items]
        written, quoted = str(node.this.this), bool(node.this.args.get("quoted"))
        named = matching(names, written, quoted=quoted)
        return names.index(named) if named else self._only(written)

    def _only(self, function: str) -> int | None:
        """The place of the only COUNT, SUM or AVG selected, which its name alone may mean."""
        if function.casefold() in map(str.casefold, self._reading.domain.names):
            return None
        places = [
            place
            for place, (_, item) in enumerate(self._items)
            if isinstance(item, exp.AggFunc) and item.sql_name().casefold() == function.casefold()
        ]
        return places[0] if len(places) == 1 else None

    def _names_aggregate(self, node: exp.Expr) -> bool:
        """True when a name in the expression stands for a selected aggregate."""
        for inner in node.walk():
            place = self._selected(inner)
            if place is not None and any(
                isinstance(part, AGGREGATES) for part in self._items[place][1].walk()
            ):
                return True
        return False

    def _kind(self, node: exp.Expr, formula: Formula) -> str:
        value = formula.example([key.labels for key in self._keys.found])
        if isinstance(value, tuple):
            raise self._reading.error(
                node, "a binned key cannot be compared in HAVING; put the condition into WHERE"
            )
        kinds = {str: "a text", bool: "a truth value"}
        return kinds.get(type(value), "a number")


def _has_records(node: exp.Expr) -> bool:
    """True for COUNT(*) > 0 and COUNT(1) > 0."""
    while isinstance(node, exp.Paren):
        node = node.this
    zero = node.args.get("expression")
    is_zero = isinstance(zero, exp.Literal) and not zero.is_string and str(zero.this) == "0"
    return isinstance(node, exp.GT) and is_zero and _counts_records(node.this)


def _counts_records(node: exp.Expr) -> bool:
    return isinstance(node, exp.Count) and isinstance(node.this, (exp.Star, exp.Literal))


def check_order(reading: Reading, node: exp.Expr, finishes: Sequence[Finish]) -> None:
    """Raise where rows would be compared by texts of numbers."""
    if AS_TEXT in finishes:
        raise reading.error(
            node, "texts of numbers have another order than numbers; leave the cast out"
        )


def ordering_of(item: exp.Expr, by: Formula) -> Ordering:
    """One criterion of ORDER BY."""
    return Ordering(by, bool(item.args.get("desc")), bool(item.args.get("nulls_first")))


def whole_number(reading: Reading, clause: exp.Expr | None) -> int | None:
    """The number of rows that LIMIT or OFFSET names."""
    if clause is None:
        return None
    node = clause.args.get("expression") or clause.args.get("count")  # of LIMIT, of FETCH
    spelled = str(node.this) if isinstance(node, exp.Literal) else ""
    number = number_of_rows(spelled, _MOST_ROWS)
    if number is None:
        raise reading.error(
            node or clause, "LIMIT and OFFSET take a whole number of rows, such as 10"
        )
    return number
