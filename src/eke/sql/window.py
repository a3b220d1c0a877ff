"""Windows: SUM(COUNT(*)) OVER (ORDER BY month) and the like, over the groups of a noisy result.

Ordered by keys, what a window function looks at does not depend on any value: sums, averages and
neighbours of counts are linear questions, one for each row (`eke.question.per_row`). They are
asked, measured and given intervals like any other; nothing is calculated with printed intervals.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sqlglot import exp

from eke.query import Query
from eke.question.formula import Key
from eke.question.outcome import Ordering
from eke.question.per_row import added_groups
from eke.question.stacked import AskedBlock
from eke.sql.draft import Draft, Joined, Linear, QuantileOf, RootOf
from eke.sql.finishing import constant_of, has_aggregate
from eke.sql.frame import Everywhere, Frame, Over, ends_of, frame_of, picked, whole
from eke.sql.keys import Keys
from eke.sql.place import echo
from eke.sql.value import Reading
from eke.sql.vocabulary import RANKS

MOST_ROWS = 512
_STEPS_A_ROW = 120
_STEPS_A_GROUPING = 250
_RECORDS = (
    "a window runs over the groups of the result, never over records; write GROUP BY and an "
    "aggregate within, as in SUM(COUNT(*)) OVER (ORDER BY month)"
)
_BY_KEYS = (
    "a window that adds up is ordered and parted by keys of GROUP BY: ordered by noisy values, the "
    "sum itself would depend on the noise; only RANK, DENSE_RANK and ROW_NUMBER are ordered by them"
)
_CURVED = (
    "a window adds up counts and sums, not averages or ratios; write the sums themselves, as in "
    "SUM(SUM(age)) OVER w / SUM(COUNT(*)) OVER w"
)
_INSTEAD = {
    exp.Count: "COUNT(…) OVER would count groups, which are declared; write SUM(COUNT(*)) OVER (…)",
    exp.Min: "MIN and MAX of noisy values have no interval; use RANK() OVER (ORDER BY …)",
    exp.Max: "MIN and MAX of noisy values have no interval; use RANK() OVER (ORDER BY …)",
    exp.Filter: "FILTER goes to the aggregate within: SUM(COUNT(*) FILTER (WHERE …)) OVER (…)",
}
_WINDOWED = "SUM, AVG, LAG, LEAD, FIRST_VALUE, LAST_VALUE and NTH_VALUE"


@dataclass(frozen=True, slots=True)
class Share:
    """So many times a query in the rows of a frame; without a query, so many times 1."""

    weight: Fraction
    inside: Query | None
    frame: Frame | Everywhere | None  # None for the row itself


class Windows:
    """The window functions of one statement."""

    def __init__(
        self,
        reading: Reading,
        keys: Keys,
        possible: Sequence[int] | None,
        named: Sequence[exp.Expr] = (),
    ) -> None:
        self._reading = reading
        self._keys = keys
        self._possible = possible
        self._named = {str(one.this.this).casefold(): one for one in named}
        self._groups = keys.groupings

    def draft(
        self,
        node: exp.Expr,
        read: Callable[[exp.Expr], Draft],
        framed: Callable[[int | None, Frame], int],
    ) -> Draft:
        """What a window function is: the draft within, over other rows than its own.

        `read` reads what is within, and `framed` gives a basic aggregate in a frame its place.
        """
        reading, function = self._reading, node.this
        self._check(node, function)
        inner = read(function.this)
        over = self.over(node, self._key)
        keys, places = self._rows(node)

        def moved(linear: Linear, frame: Frame) -> Linear:
            reading.effort.spend(sum(len(row or ()) for row in frame) // 8 + 50)
            weights = [(framed(place, frame), weight) for place, weight in linear.weights]
            if linear.constant:
                weights.append((framed(None, frame), linear.constant))
            return Linear(tuple(sorted(weights)), Fraction(0))

        if isinstance(function, (exp.Sum, exp.Avg)):
            if not isinstance(inner, Linear):
                raise reading.error(node, _CURVED)
            mean = isinstance(function, exp.Avg)
            return moved(inner, frame_of(over, ends_of(reading, over), keys, places, mean=mean))
        frame, default = self._picked(node, function, over)
        if default is None:
            return mapped(reading, node, inner, lambda linear: moved(linear, frame))
        if not isinstance(inner, Linear):
            raise reading.error(
                node,
                "the third argument is for counts and sums; write COALESCE(LAG(…) OVER (…), 0)",
            )
        absent = tuple(
            ((row, Fraction(1)),) if picks is None else () for row, picks in enumerate(frame)
        )
        present = tuple(() if picks is None else picks for picks in frame)
        return moved(inner, present).plus(moved(Linear((), default), absent))

    def over(self, node: exp.Expr, by: Callable[[exp.Expr], Any]) -> Over:
        """What stands within OVER; `by` reads what is ordered by."""
        name = node.args.get("alias")
        if name is not None:
            written = str(name.this)
            if written.casefold() not in self._named:
                raise self._reading.error(node, f"there is no WINDOW {echo(written)!r}; define it")
            node = self._named[written.casefold()]
        parts = [self._key(one) for one in node.args.get("partition_by") or ()]
        order = node.args.get("order")
        orderings = [
            Ordering(by(item.this), bool(item.args.get("desc")), bool(item.args.get("nulls_first")))
            for item in (order.args["expressions"] if order is not None else ())
        ]
        return Over(tuple(one.index for one in parts), tuple(orderings), node.args.get("spec"))

    def listed(self, node: exp.Expr, shares: Sequence[Share]) -> AskedBlock:
        """The block of a weighted sum of aggregates, some of them in frames."""
        keys, places = self._rows(node)
        domain = self._reading.domain
        rows: list[Query | None] = [None] * len(keys)
        everywhere = Query.of(domain, [])
        for share in shares:
            if share.frame is Everywhere.EVERYWHERE and share.inside is not None:
                everywhere += share.weight * share.inside
        are_alike = all(share.frame is Everywhere.EVERYWHERE for share in shares)
        for row in places:
            self._reading.effort.spend(1)
            here = everywhere if are_alike else self._row(shares, row, everywhere)
            rows[self._groups.cell(domain, row)] = here
        return self._groups.listed(domain, rows)

    # -- inside --------------------------------------------------------------------------------

    def _check(self, node: exp.Expr, function: exp.Expr) -> None:
        reading = self._reading
        if type(function) in RANKS:
            raise reading.error(
                node,
                f"{RANKS[type(function)].upper()} stands by itself in a column, in ORDER BY or in "
                "QUALIFY: a rank has no interval to calculate with",
            )
        advice = next((text for kind, text in _INSTEAD.items() if isinstance(function, kind)), None)
        if advice is not None:
            raise reading.error(node, advice)
        if not isinstance(function, (exp.Sum, exp.Avg, *_PICKS)) or function.this is None:
            raise reading.error(node, f"this function has no window here; there is {_WINDOWED}")
        if not self._keys.found or not has_aggregate(function.this):
            raise reading.error(node, _RECORDS)
        if has_window(function.this):
            raise reading.error(node, "a window function cannot stand within another one")
        if any(isinstance(one, exp.Subquery) for one in function.walk()):
            raise reading.error(
                node, "a query in parentheses is the same in every row; write it beside the window"
            )

    def _key(self, node: exp.Expr) -> Key:
        """The key that an expression within OVER is."""
        if has_aggregate(node):
            raise self._reading.error(node, _BY_KEYS)
        place = self._keys.place(self._keys.named(node))
        if place is None:
            raise self._reading.error(node, "a constant orders nothing; leave it out")
        return Key(place)

    def _rows(self, node: exp.Expr) -> tuple[list[tuple[Any, ...]], Sequence[int]]:
        rows = self._groups.rows
        if rows > MOST_ROWS:
            raise self._reading.error(
                node,
                f"a window runs over at most {MOST_ROWS} groups, a query in parentheses stands "
                f"beside as many, and the keys have {rows:,} combinations; group by fewer or "
                "coarser keys",
            )
        return self._groups.labels(), range(rows) if self._possible is None else self._possible

    def _row(self, shares: Sequence[Share], row: int, everywhere: Query) -> Query | None:
        """The query of one row, with what is the same in all; None where there is no value."""
        constant = Fraction(0)
        # By what is added up, and by the grouping of the groups.
        together: dict[tuple[int, int], dict[tuple[int, ...], Fraction]] = {}
        for share in shares:
            if share.frame is Everywhere.EVERYWHERE:
                continue
            picks = ((row, Fraction(1)),) if share.frame is None else share.frame[row]
            if picks is None:
                return None
            if share.inside is None:
                constant += share.weight * sum((weight for _, weight in picks), Fraction(0))
                continue
            for other, weight in picks:
                grouping, at = self._groups.place(other)
                weights = together.setdefault((id(share.inside), grouping), {})
                weights[at] = weights.get(at, Fraction(0)) + share.weight * weight
        several = len(together) if len(self._groups.each) > 1 else 0
        self._reading.effort.spend(_STEPS_A_ROW + _STEPS_A_GROUPING * several)
        total = everywhere + Query.of(self._reading.domain, [], constant)
        insides = {id(share.inside): share.inside for share in shares if share.inside is not None}
        for (mark, grouping), weights in together.items():
            used = {at: weight for at, weight in weights.items() if weight}
            if used:
                total += added_groups(insides[mark], self._groups.keys_of(grouping), used)
        return total

    def _picked(
        self, node: exp.Expr, function: exp.Expr, over: Over
    ) -> tuple[Frame, Fraction | None]:
        """The frame of a function that picks one row, and what stands for no row."""
        reading = self._reading
        keys, places = self._rows(node)
        if isinstance(function, (exp.Lag, exp.Lead)):
            if not over.order_by:
                raise reading.error(node, "LAG and LEAD need an order: OVER (ORDER BY month)")
            written = function.args.get("offset")
            by = 1 if written is None else whole(reading, written)
            step = -by if isinstance(function, exp.Lag) else by
            given = function.args.get("default")
            default = None if given is None else constant_of(reading, given)
            if given is not None and default is None:
                raise reading.error(given, "what stands for no row is a plain number, such as 0")
            return picked(over, lambda _, at: at + step, keys, places), default
        ends = ends_of(reading, over)
        number = 1
        if isinstance(function, exp.NthValue):
            number = whole(reading, function.args["offset"])
            if not number:
                raise reading.error(node, "rows are counted from 1")

        def pick(part: Any, at: int) -> int | None:
            first, last = ends(part, at)
            first, last = max(first, 0), min(last, len(part.rows) - 1)
            wanted = last if isinstance(function, exp.LastValue) else first + number - 1
            return wanted if first <= wanted <= last else None

        return picked(over, pick, keys, places), None


_PICKS = (exp.Lag, exp.Lead, exp.FirstValue, exp.LastValue, exp.NthValue)


def is_rank(node: exp.Expr) -> bool:
    """True for RANK() OVER (…) and its relatives."""
    return isinstance(node, exp.Window) and type(node.this) in RANKS


def has_window(node: exp.Expr) -> bool:
    """True for an expression that looks at other rows than its own."""
    return any(isinstance(one, exp.Window) for one in node.walk())


def mapped(
    reading: Reading, node: exp.Expr, draft: Draft, moved: Callable[[Linear], Linear]
) -> Draft:
    """A draft with each of its linear parts taken from another row."""
    if isinstance(draft, Linear):
        return moved(draft) if draft.weights else draft
    if isinstance(draft, QuantileOf):
        raise reading.error(
            node, "quantiles are not calculated with, and are asked for in every group or in none"
        )
    if isinstance(draft, RootOf):
        return RootOf(mapped(reading, node, draft.of, moved), draft.levels)
    left, right = (mapped(reading, node, side, moved) for side in (draft.left, draft.right))
    return Joined(draft.sign, left, right, draft.levels)
