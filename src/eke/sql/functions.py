"""Functions of a record: what each word of `vocabulary` means, given the values of its arguments.

Numbers are in `numeric`, texts in `texts`, types in `casts`; here are the functions that choose
between their arguments, and the table that `scalar` looks a word up in.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from sqlglot import exp

from eke.sql import arithmetic, numeric, texts
from eke.sql.casts import as_text, cast
from eke.sql.choice import choose
from eke.sql.comparison import COMPARISONS, compare
from eke.sql.diagram import Diagram
from eke.sql.logic import negated
from eke.sql.moments import compared, joined_grids, of_one_kind
from eke.sql.value import (
    Missing,
    Moment,
    Number,
    Reading,
    Text,
    Truth,
    Value,
    as_number,
    known_part,
    literal_number,
)

_MOST_DIGITS = 20
_MOST_POWER = 16
_MOST_BUCKETS = 10_000
Rule = Callable[..., Value]


def applied(reading: Reading, node: exp.Expr, values: list[Value]) -> Value:
    """The value of a function of the vocabulary."""
    return FUNCTIONS[type(node)](reading, node, *values)


def _coalesce(reading: Reading, node: exp.Expr, *values: Value) -> Value:
    """The first that is not NULL."""
    some = _of_one_kind(reading, node, values)
    if not some:
        return Missing()
    branches: list[tuple[Diagram, Value]] = []
    for value in some:
        known = known_part(reading, value)
        if known is reading.diagrams.true:
            return choose(reading, node, branches, value) if branches else value
        branches.append((known, value))
    return choose(reading, node, branches, Missing()) if len(some) > 1 else some[0]


def _nullif(reading: Reading, node: exp.Expr, value: Value, other: Value) -> Value:
    """NULL where it equals the other."""
    if isinstance(value, Missing) or isinstance(other, Missing):
        return value
    value, other = _of_one_kind(reading, node, [value, other])
    diagrams = reading.diagrams
    if isinstance(value, Text) and isinstance(other, Text):
        equal = diagrams.joined(_equal, value.labels, other.labels)  # '' need not be declared
    else:
        equal = compare(reading, node, COMPARISONS[exp.EQ], value, other)
    if True not in diagrams.labels(equal):
        return value
    return choose(reading, node, [(equal, Missing())], value)


def _if(
    reading: Reading, node: exp.Expr, condition: Value, value: Value, other: Value | None = None
) -> Value:
    """IF and IIF."""
    if not isinstance(condition, Truth):
        raise reading.error(node, "IF begins with a condition, as in IF(age > 30, 1, 0)")
    otherwise = Missing() if other is None else other
    return choose(reading, node, [(condition.labels, value)], otherwise)


def _extreme(reading: Reading, node: exp.Expr, *values: Value) -> Value:
    """LEAST and GREATEST, which leave NULLs out."""
    some = _of_one_kind(reading, node, values)
    if not some:
        return Missing()
    if isinstance(some[0], Moment):
        moments = compared(reading, node, some)
        number = as_number(reading, node, _extreme(reading, node, *(m.number for m in moments)))
        return Moment(number, moments[0].kind, joined_grids(moments))
    is_least = isinstance(node, exp.Least)
    extreme: Value = some[0]
    for value in some[1:]:
        if isinstance(extreme, Text) and isinstance(value, Text):
            join = _first_text if is_least else _last_text
            extreme = Text(reading.diagrams.joined(join, extreme.labels, value.labels))
            continue
        number_so_far, other = as_number(reading, node, extreme), as_number(reading, node, value)
        pick = numeric.smaller if is_least else numeric.larger
        chosen = pick(reading, node, number_so_far, other)
        alone: list[tuple[Diagram, Value]] = [
            (negated(reading.diagrams, number.known), instead)
            for number, instead in ((number_so_far, other), (other, number_so_far))
            if number.known is not reading.diagrams.true
        ]
        extreme = choose(reading, node, alone, chosen) if alone else chosen
    return extreme


def _plain(how: numeric.Function) -> Rule:
    def rule(reading: Reading, node: exp.Expr, value: Value) -> Value:
        return numeric.mapped(reading, node, how, as_number(reading, node, value))

    return rule


def _to_digits(how: numeric.Function) -> Rule:
    def rule(reading: Reading, node: exp.Expr, value: Value, digits: Value | None = None) -> Value:
        wanted = 0 if digits is None else texts.whole_literal(reading, node, digits)
        if abs(wanted) > _MOST_DIGITS:
            raise reading.error(node, f"{how.name} to at most {_MOST_DIGITS} digits")
        number = as_number(reading, node, value)
        return numeric.mapped(reading, node, how, number, Fraction(wanted))

    return rule


def _mod(reading: Reading, node: exp.Expr, value: Value, divisor: Value) -> Value:
    by = texts.number_literal(reading, node, divisor)
    if by == 0:
        raise reading.error(node, "division by zero; divide by another number")
    number = as_number(reading, node, value)
    remainder = numeric.mapped(reading, node, numeric.REMAINDER, number, by)
    return remainder if by.denominator == 1 else _real(remainder)


def _power(reading: Reading, node: exp.Expr, value: Value, exponent: Value) -> Value:
    power = texts.number_literal(reading, node, exponent)
    if power.denominator != 1 or not 0 <= power <= _MOST_POWER:
        raise reading.error(
            node,
            f"POWER takes a whole number from 0 to {_MOST_POWER}: other powers have no exact "
            "values; group by FLOOR(x / 10), or calculate with the answers",
        )
    number = as_number(reading, node, value)
    if power == 0:
        always_one = literal_number(reading, Fraction(1))
        if number.known is reading.diagrams.true:
            return always_one
        return choose(reading, node, [(number.known, always_one)], Missing())
    product = number
    for _ in range(int(power) - 1):
        product = arithmetic.multiply(reading, product, number)
    return _real(product)


def _bucket(reading: Reading, node: exp.Expr, value: Value, *bounds: Value) -> Value:
    low, high, buckets = bounds
    first, last = (texts.number_literal(reading, node, one) for one in (low, high))
    number = texts.whole_literal(reading, node, buckets)
    if not first < last or not 1 <= number <= _MOST_BUCKETS:
        raise reading.error(
            node,
            f"WIDTH_BUCKET(x, low, high, n) takes low < high and n from 1 to {_MOST_BUCKETS:,}",
        )
    column = as_number(reading, node, value)
    return numeric.mapped(reading, node, numeric.BUCKET, column, first, last, Fraction(number))


def _piped(reading: Reading, node: exp.Expr, first: Value, second: Value) -> Value:
    """||, which is NULL where either is."""
    one, other = as_text(reading, node, first), as_text(reading, node, second)
    if not isinstance(one, Text) or not isinstance(other, Text):
        raise reading.error(node, "a text joined with NULL is NULL; leave it out")
    return Text(reading.diagrams.joined(texts.joined_texts, one.labels, other.labels))


def _concat(reading: Reading, node: exp.Expr, *values: Value) -> Value:
    """CONCAT, which leaves NULLs out."""
    diagrams = reading.diagrams
    text: Diagram = diagrams.leaf("")
    for value in values:
        part = as_text(reading, node, value)
        if isinstance(part, Text):
            present = diagrams.mapped(_or_empty, part.labels)
            text = diagrams.joined(texts.joined_texts, text, present)
    return Text(text)


def _real(number: Number) -> Number:
    return Number(
        number.value,
        number.known,
        number.steps,
        number.line,
        number.midpoints,
        number.blur,
    )


def _of_one_kind(reading: Reading, node: exp.Expr, values: Sequence[Value]) -> list[Value]:
    """The values that are not NULL; beside a date a text in quotation marks is one, too."""
    some: list[Value] = [value for value in values if not isinstance(value, Missing)]
    if any(isinstance(value, Moment) for value in some):
        return list(of_one_kind(reading, node, some))
    if len({type(value) for value in some}) > 1:
        raise reading.error(
            node,
            f"the arguments of {node.sql_name() if isinstance(node, exp.Func) else 'this'} must "
            "be of one kind: all numbers, all texts, all dates or all conditions",
        )
    return some


def _equal(first: Any, second: Any) -> bool | None:
    return None if first is None or second is None else bool(operator.eq(first, second))


def _or_empty(text: str | None, _: object) -> str:
    return "" if text is None else text


def _first_text(first: str | None, second: str | None) -> str | None:
    return min((text for text in (first, second) if text is not None), default=None)


def _last_text(first: str | None, second: str | None) -> str | None:
    return max((text for text in (first, second) if text is not None), default=None)


FUNCTIONS: dict[type[exp.Expr], Rule] = {
    exp.Coalesce: _coalesce,
    exp.Nullif: _nullif,
    exp.Least: _extreme,
    exp.Greatest: _extreme,
    exp.If: _if,
    exp.Abs: _plain(numeric.ABSOLUTE),
    exp.Sign: _plain(numeric.SIGN),
    exp.Floor: _plain(numeric.FLOOR),
    exp.Ceil: _plain(numeric.CEIL),
    exp.Round: _to_digits(numeric.ROUND),
    exp.Trunc: _to_digits(numeric.TRUNC),
    exp.Mod: _mod,
    exp.Pow: _power,
    exp.WidthBucket: _bucket,
    exp.Cast: cast,
    exp.TryCast: cast,
    exp.DPipe: _piped,
    exp.Concat: _concat,
    exp.Upper: texts.in_case,
    exp.Lower: texts.in_case,
    exp.Length: texts.length,
    exp.Substring: texts.part,
    exp.Left: texts.side,
    exp.Right: texts.side,
    exp.Trim: texts.trim,
    exp.Replace: texts.replace,
    exp.ILike: texts.match,
    exp.StartsWith: texts.match,
    exp.EndsWith: texts.match,
    exp.Contains: texts.match,
    exp.RegexpLike: texts.regular,
    exp.RegexpFullMatch: texts.regular,
    exp.SimilarTo: texts.regular,
}
