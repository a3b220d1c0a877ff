"""Aggregates: COUNT, SUM, AVG, VARIANCE, CORR and arithmetic on them, as formulas over queries.

Sums of aggregates with constant weights fold into one linear query. Only what is truly nonlinear
(a ratio, a product, a root) stays a tree, over as few distinct queries as possible.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import reduce
from typing import Any

from sqlglot import exp

from eke.query.blur import multiplied
from eke.query.pieces import TooLarge
from eke.question.formula import Aggregate, Constant, Formula, Operation, Sign
from eke.question.logic import both
from eke.question.quantile import Quantile
from eke.question.square_root import Root
from eke.sql.asked import Asked
from eke.sql.basics import Basics
from eke.sql.casts import moment_type, type_name
from eke.sql.diagram import Diagram
from eke.sql.draft import (
    SPREADS,
    Draft,
    Joined,
    Linear,
    PairSums,
    QuantileOf,
    RootOf,
    joined,
    related,
    rooted,
    spread,
    told_as,
)
from eke.sql.finishing import FUNCTIONS, advice, has_aggregate, is_guarded, power_of, unwrapped
from eke.sql.people import with_people
from eke.sql.polynomial import constant
from eke.sql.quantiles import asked_quantile, ladder_of, ranked_number
from eke.sql.scalar import AGGREGATES, condition_of, literal_fraction, number_of, value_of
from eke.sql.scope import Relation
from eke.sql.subquery import Subqueries, in_all_rows
from eke.sql.tree import left_chain
from eke.sql.value import (
    Missing,
    Reading,
    Truth,
    as_number,
    known_part,
)
from eke.sql.vocabulary import PAIRS, QUANTILES
from eke.sql.window import Windows, has_window

_OF_TWO = ("this", "expression")
_SHOWN = (
    "records are never shown, so what is selected must be an aggregate such as COUNT(*), "
    "arithmetic on aggregates, or one of the GROUP BY keys by itself"
)
Names = Sequence[tuple[str, exp.Expr]]
_SIGNS: dict[type[exp.Expr], Sign] = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/"}


class Aggregates:
    """The basic aggregates and the distinct queries of one statement, collected as it is read."""

    def __init__(
        self,
        reading: Reading,
        relation: Relation,
        windows: Windows,
        subqueries: Subqueries,
        *,
        grouped: bool,
    ) -> None:
        self._reading = reading
        self._relation = relation
        self._grouped = grouped  # a block of cells cannot carry a constant
        self._windows = windows
        self._subqueries = subqueries
        self._basics = Basics(reading)
        self._indices: dict[Any, tuple[Fraction, Formula]] = {}
        self._quantiles: dict[Any, Formula] = {}
        self._names: dict[str, exp.Expr] = {}
        self.asked = Asked(reading)

    def formula(self, node: exp.Expr, names: Names = ()) -> Formula:
        """The formula of an expression made of aggregates and constants.

        With `names`, as in HAVING, the expression may name selected expressions, and what is
        linear is not folded into a query of its own: it needs no interval.
        """
        self._names = {name.casefold(): item for name, item in names}
        draft = self._draft(node)
        self._reading.effort.turn_to(node)
        try:
            return self._part(node, draft) if names else self._whole(node, draft)
        except TooLarge as problem:
            raise self._reading.error(node, str(problem)) from None

    def _draft(self, node: exp.Expr) -> Draft:
        reading = self._reading
        reading.effort.spend(5)
        while isinstance(node, exp.Paren):
            node = node.this
        if isinstance(node, exp.Literal) and not node.args.get("is_string"):
            return Linear((), literal_fraction(reading, node))
        if isinstance(node, exp.Window):
            return self._windows.draft(node, self._draft, self._basics.framed)
        if isinstance(node, exp.Subquery):
            return self._same_in_all_rows(node)
        if isinstance(node, AGGREGATES):
            try:
                return self._aggregate(node)
            except TooLarge as problem:
                raise reading.error(node, str(problem)) from None
        if isinstance(node, exp.Column) and str(node.this.this).casefold() in self._names:
            return self._named(str(node.this.this).casefold())
        return self._arithmetic(node)

    def _named(self, name: str) -> Draft:
        """What a selected expression is; within it the name does not stand for itself."""
        names = self._names
        self._names = {other: item for other, item in names.items() if other != name}
        draft = self._draft(names[name])
        self._names = names
        return draft

    def _same_in_all_rows(self, node: exp.Expr) -> Draft:
        """What a query in parentheses is, over its own records and whatever the groups are."""
        outside = self._relation, self._names
        self._relation, expression = self._subqueries.read(node)
        self._names = {}
        draft = self._draft(expression)
        self._relation, self._names = outside
        return (
            in_all_rows(self._reading, node, draft, self._basics.framed) if self._grouped else draft
        )

    def _arithmetic(self, node: exp.Expr) -> Draft:
        reading = self._reading
        if isinstance(node, exp.Neg):
            return joined(reading, node, "*", Linear((), Fraction(-1)), self._draft(node.this))
        if isinstance(node, exp.Sqrt):
            return rooted(reading, node, self._draft(node.this))
        if isinstance(node, FUNCTIONS):
            return self._function(node)
        if not isinstance(node, (exp.Add, exp.Sub, exp.Mul, exp.Div)):
            raise reading.error(node, _SHOWN)
        first, rest = left_chain(node)
        total = self._draft(first)
        for operator, operand in rest:
            if operator is exp.Div and is_guarded(reading, operand):
                operand = unwrapped(operand).this  # noqa: PLW2901 - 0 makes NULL anyway
            total = joined(reading, operand, _SIGNS[operator], total, self._draft(operand))
        return total

    def _function(self, node: exp.Expr) -> Draft:
        """A function within arithmetic: powers, and those that change nothing here."""
        reading = self._reading
        if not has_aggregate(node) and not self._names:
            raise reading.error(node, _SHOWN)
        if isinstance(node, exp.Pow):
            base = self._draft(node.this)
            power = base
            for _ in range(power_of(reading, node) - 1):
                power = joined(reading, node, "*", power, base)
            return power
        if isinstance(node, exp.Cast) and type_name(node) in ("FLOAT", "DOUBLE"):
            return self._draft(node.this)
        kind = moment_type(node)
        if kind is not None:
            return told_as(reading, node, self._draft(node.this), kind)
        if isinstance(node, exp.Coalesce):  # a count or a sum is never NULL
            draft = self._draft(node.this)
            if isinstance(draft, Linear) and not has_window(node):
                return draft
        raise advice(reading, node)

    def _aggregate(self, node: exp.Expr) -> Draft:
        kept = self._relation.kept
        if isinstance(node, exp.Filter):
            kept = self._filtered(node)
            node = node.this
        if isinstance(node, exp.Count):
            return self._count(node, kept)
        if isinstance(node, exp.Sum):
            return self._sum(node, kept)
        if isinstance(node, exp.CountIf):
            met = condition_of(self._reading, self._relation, node.this)
            met = self._reading.diagrams.joined(both, kept, met)
            return self._basics.sum(constant(Fraction(1)), met)
        if isinstance(node, (*PAIRS, *QUANTILES)):
            is_pair = isinstance(node, PAIRS)
            return self._related(node, kept) if is_pair else self._quantile(node, kept)
        if not isinstance(node, (exp.Avg, *SPREADS)) or node.this is None:
            raise self._reading.error(
                node, "FILTER belongs directly after COUNT, SUM, AVG, MEDIAN, VARIANCE or STDDEV"
            )
        number = number_of(self._reading, self._relation, node.this)
        value = number.polynomial(self._reading.diagrams)
        known = self._reading.diagrams.joined(both, kept, number.known)
        blur = self._basics.blur(number, known)
        rows, total = (
            self._basics.sum(constant(Fraction(1)), known),
            self._basics.sum(value, known, blur),
        )
        if isinstance(node, exp.Avg):
            return joined(self._reading, node, "/", total, rows)
        of_squares = multiplied(blur, value.extremes, blur, value.extremes)
        squares = self._basics.sum(value * value, known, of_squares)
        return spread(self._reading, node, rows, total, squares)

    def _quantile(self, node: exp.Expr, kept: Diagram) -> QuantileOf:
        of, share, is_between = asked_quantile(self._reading, node)
        value = value_of(self._reading, self._relation, of)
        number = ranked_number(self._reading, of, value)
        known = self._reading.diagrams.joined(both, kept, number.known)
        ladder = ladder_of(self._reading, node, value, share, is_between=is_between)
        return QuantileOf(self._basics.sum(constant(Fraction(1)), known), ladder)

    def _related(self, node: exp.Expr, kept: Diagram) -> Draft:
        return related(self._reading, node, self._moments(node, kept))

    def _moments(self, node: exp.Expr, kept: Diagram) -> PairSums:
        """The sums behind an aggregate of two expressions, over the records that have both."""
        reading, diagrams = self._reading, self._reading.diagrams
        y, x = (number_of(reading, self._relation, node.args[key]) for key in _OF_TWO)
        known = diagrams.joined(both, kept, diagrams.joined(both, y.known, x.known))
        values = [number.polynomial(diagrams) for number in (y, x)]
        blurs = [self._basics.blur(number, known) for number in (y, x)]

        def product(one: int, other: int) -> Linear:
            blur = multiplied(
                blurs[one], values[one].extremes, blurs[other], values[other].extremes
            )
            return self._basics.sum(values[one] * values[other], known, blur)

        totals = [self._basics.sum(v, known, blur) for v, blur in zip(values, blurs, strict=True)]
        rows = self._basics.sum(constant(Fraction(1)), known)
        return PairSums(rows, totals[0], totals[1], product(0, 1), product(0, 0), product(1, 1))

    def _filtered(self, node: exp.Expr) -> Diagram:
        where = node.args["expression"].this
        condition = condition_of(self._reading, self._relation, where)
        kept = self._reading.diagrams.joined(both, self._relation.kept, condition)
        if self._reading.diagrams.true not in _leaves(self._reading, kept):
            raise self._reading.error(
                where, "no combination of declared values meets this FILTER; leave it out"
            )
        return kept

    def _count(self, node: exp.Expr, kept: Diagram) -> Linear:
        counted = node.this
        if isinstance(counted, exp.Distinct):
            cells = with_people(self._reading, self._relation, counted, kept)
            return self._basics.people(cells)
        if not isinstance(counted, exp.Star):
            if counted is None:
                raise self._reading.error(node, "COUNT counts something; write COUNT(*)")
            value = value_of(self._reading, self._relation, counted)
            if isinstance(value, Missing):
                raise self._reading.error(node, "COUNT(NULL) is always 0; write COUNT(*)")
            kept = self._reading.diagrams.joined(both, kept, known_part(self._reading, value))
        return self._basics.sum(constant(Fraction(1)), kept)

    def _sum(self, node: exp.Expr, kept: Diagram) -> Linear:
        diagrams = self._reading.diagrams
        if node.this is None:
            raise self._reading.error(node, "SUM adds something up; write SUM(age)")
        value = value_of(self._reading, self._relation, node.this)
        if isinstance(value, Truth):
            met = diagrams.joined(both, kept, value.labels)
            return self._basics.sum(constant(Fraction(1)), met)
        number = as_number(self._reading, node.this, value)
        known = diagrams.joined(both, kept, number.known)
        return self._basics.sum(
            number.polynomial(diagrams), known, self._basics.blur(number, known)
        )

    # -- formulas ------------------------------------------------------------------------------

    def _whole(self, node: exp.Expr, draft: Draft) -> Formula:
        """The formula of a whole column: if it is linear, one query with all its weights."""
        if not isinstance(draft, Linear) or len(self._basics.apart(draft.weights)) > 1:
            return self._part(node, draft)
        if self._grouped:
            return _times(*self._asked(node, draft.weights)).shifted(draft.constant)
        return _times(*self._asked(node, draft.weights, draft.constant))

    def _part(self, node: exp.Expr, draft: Draft) -> Formula:
        """The formula of a part of a tree."""
        return _times(*self._factored(node, draft))

    def _factored(self, node: exp.Expr, draft: Draft) -> tuple[Fraction, Formula]:
        """(c, f) of a part c·f: units go to the front; a scaled answer is shared with the plain."""
        if isinstance(draft, QuantileOf):
            return Fraction(1), self._placed(node, draft)
        if isinstance(draft, RootOf):
            return Fraction(1), Root(self._part(node, draft.of))
        if isinstance(draft, Joined):
            first, left = self._factored(node, draft.left)
            second, right = self._factored(node, draft.right)
            if draft.sign in "+-" or not second:
                return Fraction(1), Operation(
                    draft.sign, _times(first, left), _times(second, right)
                )
            factor = first * second if draft.sign == "*" else first / second
            return factor, Operation(draft.sign, left, right)
        return self._of_linear(node, draft)

    def _of_linear(self, node: exp.Expr, draft: Linear) -> tuple[Fraction, Formula]:
        parts = self._basics.apart(draft.weights)
        if len(parts) > 1:
            each = (_times(*self._asked(node, part)) for part in parts)
            return Fraction(1), reduce(_added, each).shifted(draft.constant)
        if len(draft.weights) != 1:
            factor, answer = self._asked(node, draft.weights)
        else:
            ((place, weight),) = draft.weights
            unit, plain = self._asked(node, ((place, Fraction(1)),))
            factor, answer = (unit, _times(weight, plain)) if unit == 1 else (weight * unit, plain)
        if draft.constant:
            return Fraction(1), _times(factor, answer).shifted(draft.constant)
        return factor, answer

    def _placed(self, node: exp.Expr, draft: QuantileOf) -> Formula:
        """A quantile, whose records are a query of its own: the answer at its place is itself."""
        ladder = draft.ladder
        key = draft.rows, ladder
        if key not in self._quantiles:
            query = self._basics.query(draft.rows.weights, Fraction(0))
            if query.is_zero:
                raise self._reading.error(node, "no record can be counted here; leave it out")
            self._quantiles[key] = Quantile.among(Aggregate(self.asked.add(node, query)), ladder)
        return self._quantiles[key]

    def _asked(
        self,
        node: exp.Expr,
        weights: tuple[tuple[int, Fraction], ...],
        shift: Fraction = Fraction(0),
    ) -> tuple[Fraction, Formula]:
        """A unit and the query with these weights in it; a constant when no record counts.

        Sums of cents are asked, and divided by 100 afterwards: coefficients are multiples of powers
        of two, and one that is near 1/100 would be so fine that the widest noise is narrow.
        """
        key = (weights, shift)
        if key not in self._indices:
            shares = self._basics.shares(weights)
            if shares:
                listed = self._windows.listed(node, shares)
                place: int | Fraction = self.asked.add_window(node, listed)
                unit = Fraction(1)
            else:
                unit = self._basics.unit(weights)
                scaled = tuple((place, weight / unit) for place, weight in weights)
                place = self.asked.place(node, self._basics.query(scaled, shift / unit))
            plain = Constant(place) if isinstance(place, Fraction) else Aggregate(place)
            self._indices[key] = unit, plain
        return self._indices[key]


def _leaves(reading: Reading, diagram: Diagram) -> list[Diagram]:
    return [reading.diagrams.leaf(label) for label in reading.diagrams.labels(diagram)]


def _added(one: Formula, other: Formula) -> Formula:
    return Operation("+", one, other)


def _times(factor: Fraction, formula: Formula) -> Formula:
    return formula if factor == 1 else Operation("*", Constant(factor), formula)
