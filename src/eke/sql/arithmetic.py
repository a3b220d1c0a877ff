"""Arithmetic on columns: sums and products stay sums of products of vectors.

Binned columns enter by the midpoints of their bins.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from sqlglot import exp

from eke.domain.attribute import as_whole
from eke.query import blur as blurs
from eke.query.pieces import Pieces, TooLarge
from eke.question.logic import both
from eke.sql.polynomial import column
from eke.sql.value import Line, Number, Reading

_MOST_RECIPROCALS = 10_000
_MOST_BITS = 200


def plus(first: Fraction | None, second: Fraction | None) -> Fraction | None:
    """The sum of two labels."""
    return None if first is None or second is None else _short(first + second)


def times(first: Fraction | None, second: Fraction | None) -> Fraction | None:
    """The product of two labels."""
    return None if first is None or second is None else _short(first * second)


def _short(number: Fraction) -> Fraction:
    if max(number.numerator.bit_length(), number.denominator.bit_length()) > _MOST_BITS:
        raise TooLarge("the numbers have too many digits; use shorter ones")
    return number


def add(reading: Reading, first: Number, second: Number) -> Number:
    """The sum, NULL where either is."""
    diagrams = reading.diagrams
    known = diagrams.joined(both, first.known, second.known)
    if first.steps is not None and second.steps is not None:
        steps = diagrams.joined(plus, first.steps, second.steps)
        line = _constant_line(first, second, plus)
        return Number(None, known, steps, line, whole=first.whole and second.whole)
    _spend(reading, first, second)
    value = first.polynomial(diagrams) + second.polynomial(diagrams)
    line = first.line.plus(second.line) if first.line and second.line else None
    midpoints, blur = first.midpoints | second.midpoints, blurs.added([first.blur, second.blur])
    whole = first.whole and second.whole
    return Number(value, known, line=line, midpoints=midpoints, blur=blur, whole=whole)


def multiply(reading: Reading, first: Number, second: Number) -> Number:
    """The product, NULL where either is."""
    diagrams = reading.diagrams
    known = diagrams.joined(both, first.known, second.known)
    if first.steps is not None and second.steps is not None:
        steps = diagrams.joined(times, first.steps, second.steps)
        line = _constant_line(first, second, times)
        return Number(None, known, steps, line, whole=first.whole and second.whole)
    _spend(reading, first, second)
    factor, other_factor = first.polynomial(diagrams), second.polynomial(diagrams)
    value = factor * other_factor
    blur = blurs.multiplied(first.blur, factor.extremes, second.blur, other_factor.extremes)
    line = None
    for one, other in ((first, second), (second, first)):
        if one.line and other.line and one.line.attribute is None:
            line = other.line.times(one.line.intercept)
    midpoints = first.midpoints | second.midpoints
    whole = first.whole and second.whole
    return Number(value, known, line=line, midpoints=midpoints, blur=blur, whole=whole)


def divide(reading: Reading, node: exp.Expr, first: Number, second: Number) -> Number:
    """The quotient as an exact fraction; a divisor that may be zero is refused."""
    if second.line is not None and second.line.attribute is None:
        if second.line.intercept == 0:
            raise reading.error(node, "division by zero; divide by another number")
        inverse = 1 / second.line.intercept
        steps = reading.diagrams.leaf(inverse)
        line = second.line.times(inverse * inverse)
        return multiply(reading, first, Number(None, second.known, steps, line))
    return multiply(reading, first, _reciprocal(reading, node, second))


def _reciprocal(reading: Reading, node: exp.Expr, number: Number) -> Number:
    polynomial = number.polynomial(reading.diagrams)
    names = tuple(polynomial.attributes)
    if len(names) > 1:
        raise reading.error(node, "divide by a number or by an expression of one column")
    if not names:
        raise reading.error(node, "the divisor may be zero; divide by something that never is")
    size = reading.domain[names[0]].size
    if size > _MOST_RECIPROCALS:
        raise reading.error(
            node, f"a column of {size:,} values is too long to divide by; divide the answers"
        )
    unit, whole = polynomial.vector(reading.domain, names[0])
    zero = reading.diagrams.where(names[0], whole == 0)
    if reading.diagrams.joined(both, number.known, zero) is not reading.diagrams.false:
        raise reading.error(
            node,
            f"the divisor is zero for a declared value of {names[0]!r}; "
            "divide by something that never is",
        )
    parts = [1 / (unit * int(v)) if v else Fraction(0) for v in whole]
    blur = _blur_of_reciprocals(reading, node, number.blur, parts)
    if math.lcm(*(p.denominator for p in parts)).bit_length() > _MOST_BITS:
        raise TooLarge("the quotients have too many digits; divide the answers instead")
    reading.effort.spend(20 * len(whole))
    return Number(
        column(names[0], *as_whole(parts)), number.known, midpoints=number.midpoints, blur=blur
    )


def _blur_of_reciprocals(
    reading: Reading, node: exp.Expr, blur: blurs.Blur, parts: Sequence[Fraction]
) -> blurs.Blur:
    """|1/a − 1/b| where a is at most the blur away from b = 1/part."""
    total = sum(blur.values(), Fraction(0))
    if not total:
        return blur
    bounds = []
    for part in filter(None, parts):
        nearest = 1 / abs(part) - total
        if nearest <= 0:
            raise reading.error(
                node,
                f"within its bins {_named(frozenset(blur))} may be zero; "
                "divide by something that never is, or divide the answers",
            )
        bounds.append(abs(part) * total / nearest)
    return {name: max(bounds, default=Fraction(0)) * bound / total for name, bound in blur.items()}


def _constant_line(first: Number, second: Number, operation: object) -> Line | None:
    if first.line is None or second.line is None:
        return None
    left, right = first.line.intercept, second.line.intercept
    return Line(None, Fraction(0), left + right if operation is plus else left * right)


def _spend(reading: Reading, first: Number, second: Number) -> None:
    for number in (first, second):
        for product in number.value.products if number.value else ():
            for vector in product.factors.values():
                # Python's own integers take fifty times as long.
                steps = (
                    10 * len(vector.parts)
                    if isinstance(vector, Pieces)
                    else len(vector) // (1 if vector.dtype == object else 50)
                )
                reading.effort.spend(20 + steps)


def _named(names: frozenset[str]) -> str:
    return " and ".join(sorted(names))
