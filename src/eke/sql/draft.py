"""Drafts: arithmetic on aggregates before the queries behind them are put together.

What is linear stays a list of weights, so that `2000 * COUNT(*) - 10000` or the difference of two
sums ends up as one query; ratios, products and roots become trees.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from sqlglot import exp

from eke.question.formula import Sign
from eke.question.groups import MomentKind
from eke.question.ladder import Ladder
from eke.question.quantile import NOT_CALCULATED_WITH
from eke.sql.value import Reading

NO_OTHER_TYPE = (
    "a noisy number becomes DOUBLE, INTEGER, DECIMAL or TEXT, and no other type; leave it out"
)
_CAST_WITHIN = (
    "a quantile of dates or times is one of them already; cast what it is of, as in "
    "MEDIAN(CAST(t AS DATE))"
)
_MOST_LEVELS = 40
_MOST_BITS = 400
SPREADS = (exp.Variance, exp.VariancePop, exp.Stddev, exp.StddevPop, exp.StddevSamp)


@dataclass(frozen=True, slots=True)
class Linear:
    """A weighted sum of basic aggregates, each given by its place, and a constant."""

    weights: tuple[tuple[int, Fraction], ...]
    constant: Fraction

    def plus(self, other: Linear) -> Linear:
        total = dict(self.weights)
        for place, weight in other.weights:
            total[place] = total.get(place, Fraction(0)) + weight
        parts = tuple(sorted((p, w) for p, w in total.items() if w))
        return Linear(parts, self.constant + other.constant)

    def times(self, factor: Fraction) -> Linear:
        if not factor:
            return Linear((), Fraction(0))
        weights = tuple((place, factor * weight) for place, weight in self.weights)
        return Linear(weights, factor * self.constant)


@dataclass(frozen=True, slots=True)
class Joined:
    """Two parts whose combination is not linear."""

    sign: Sign
    left: Draft
    right: Draft
    levels: int


@dataclass(frozen=True, slots=True)
class RootOf:
    """A square root."""

    of: Draft
    levels: int


@dataclass(frozen=True, slots=True)
class QuantileOf:
    """A quantile of the records that a basic aggregate counts."""

    rows: Linear
    ladder: Ladder
    levels: int = 1


Draft: TypeAlias = Linear | Joined | RootOf | QuantileOf


def joined(reading: Reading, node: exp.Expr, sign: Sign, left: Draft, right: Draft) -> Draft:
    """Two drafts joined by a sign; linear as long as it can be."""
    _check_alone(reading, node, left, right)
    if isinstance(left, Linear) and isinstance(right, Linear):
        if sign in ("+", "-"):
            other = right if sign == "+" else right.times(Fraction(-1))
            return _short(reading, node, left.plus(other))
        if sign == "*" and not (left.weights and right.weights):
            scaled = left.times(right.constant) if left.weights else right.times(left.constant)
            return _short(reading, node, scaled)
    if sign == "/" and isinstance(right, Linear) and not right.weights:
        if right.constant == 0:
            raise reading.error(node, "division by zero; divide by something else")
        sign, right = "*", Linear((), 1 / right.constant)
        if isinstance(left, Linear):
            return _short(reading, node, left.times(right.constant))
    return Joined(sign, left, right, _levels(reading, node, left, right))


def rooted(reading: Reading, node: exp.Expr, of: Draft) -> Draft:
    """The square root of a draft."""
    _check_alone(reading, node, of)
    return RootOf(of, _levels(reading, node, of))


def _check_alone(reading: Reading, node: exp.Expr, *parts: Draft) -> None:
    if any(isinstance(part, QuantileOf) for part in parts):
        raise reading.error(node, NOT_CALCULATED_WITH)


def told_as(reading: Reading, node: exp.Expr, draft: Draft, kind: MomentKind) -> Draft:
    """The draft cast to dates or times, if that is what it is of."""
    calendar = draft.ladder.calendar if isinstance(draft, QuantileOf) else None
    if calendar is None:
        raise reading.error(node, NO_OTHER_TYPE)
    if calendar.kind != kind:
        raise reading.error(node, _CAST_WITHIN)
    return draft


def spread(reading: Reading, node: exp.Expr, rows: Linear, total: Linear, squares: Linear) -> Draft:
    """A variance from count, sum and sum of squares, or its root, as the node says."""
    if isinstance(node, (exp.VariancePop, exp.StddevPop)):
        mean = joined(reading, node, "/", total, rows)
        square = joined(reading, node, "*", mean, mean)
        variance = joined(reading, node, "-", joined(reading, node, "/", squares, rows), square)
    else:
        square = joined(reading, node, "*", total, total)
        correction = joined(reading, node, "/", square, rows)
        about = joined(reading, node, "-", squares, correction)
        variance = joined(reading, node, "/", about, rows.plus(Linear((), Fraction(-1))))
    is_variance = isinstance(node, (exp.Variance, exp.VariancePop))
    return variance if is_variance else rooted(reading, node, variance)


@dataclass(frozen=True, slots=True)
class PairSums:
    """What two expressions y and x add up to, over the records where both are known."""

    rows: Linear
    total_y: Linear
    total_x: Linear
    products: Linear
    squares_y: Linear
    squares_x: Linear


def related(reading: Reading, node: exp.Expr, sums: PairSums) -> Draft:
    """A covariance, a correlation or a line through the points (x, y), as the node says."""

    def about(products: Linear, one: Linear, other: Linear) -> Draft:
        """Σ (a − ā)(b − b̄) = Σ ab − Σ a · Σ b / n."""
        square = joined(reading, node, "*", one, other)
        correction = joined(reading, node, "/", square, sums.rows)
        return joined(reading, node, "-", products, correction)

    if isinstance(node, exp.RegrCount):
        return sums.rows
    both = about(sums.products, sums.total_y, sums.total_x)
    if isinstance(node, (exp.CovarPop, exp.CovarSamp)):
        less = Linear((), Fraction(0 if isinstance(node, exp.CovarPop) else -1))
        return joined(reading, node, "/", both, sums.rows.plus(less))
    of_x = about(sums.squares_x, sums.total_x, sums.total_x)
    if isinstance(node, (exp.RegrSlope, exp.RegrIntercept)):
        slope = joined(reading, node, "/", both, of_x)
        if isinstance(node, exp.RegrSlope):
            return slope
        mean_y = joined(reading, node, "/", sums.total_y, sums.rows)
        mean_x = joined(reading, node, "/", sums.total_x, sums.rows)
        return joined(reading, node, "-", mean_y, joined(reading, node, "*", slope, mean_x))
    of_y = about(sums.squares_y, sums.total_y, sums.total_y)
    product = joined(reading, node, "*", of_x, of_y)
    if isinstance(node, exp.RegrR2):
        return joined(reading, node, "/", joined(reading, node, "*", both, both), product)
    return joined(reading, node, "/", both, rooted(reading, node, product))


def _short(reading: Reading, node: exp.Expr, linear: Linear) -> Linear:
    for number in (linear.constant, *(weight for _, weight in linear.weights)):
        if max(number.numerator.bit_length(), number.denominator.bit_length()) > _MOST_BITS:
            raise reading.error(node, "the numbers have too many digits; use shorter ones")
    return linear


def _levels(reading: Reading, node: exp.Expr, *parts: Draft) -> int:
    levels = 1 + max(0 if isinstance(part, Linear) else part.levels for part in parts)
    if levels > _MOST_LEVELS:
        raise reading.error(
            node, f"more than {_MOST_LEVELS} ratios and products in one column; select fewer"
        )
    return levels
