"""Numeric functions: ABS, ROUND, MOD, LEAST and the like, as exact maps of a column's numbers.

A function of one column maps its vector of numbers; one of a few columns is worked out as a table
and cut into slices. Numbers are whole ones over a common denominator, so nothing is rounded but
what the function itself rounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from sqlglot import exp

from eke.domain.wide import MOST_LISTED
from eke.query.blur import Blur, widest
from eke.query.canonical import DENSE_CELLS
from eke.query.pieces import Pieces
from eke.query.runs import WIDE
from eke.query.vector import SAFE
from eke.question.logic import both
from eke.sql.diagram import Diagram, Leaf
from eke.sql.effort import Effort
from eke.sql.logic import if_true
from eke.sql.polynomial import Dense as Vector
from eke.sql.polynomial import Polynomial, column, grown, height_of, tabled, wide
from eke.sql.stepwise import MOST_STRETCHES, Parameters, remainder, stepped
from eke.sql.value import Number, Reading, literal_number

_STEPS_A_STRETCH = 120
Map = Callable[[Vector, int, Parameters], tuple[Vector, int]]
"""From x and d, which stand for x / d, and parameters to the same of the result."""
PieceMap = Callable[[Pieces, int, Parameters, Effort], tuple[Pieces, int]]
"""The same over a wide column."""


@dataclass(frozen=True, slots=True)
class Function:
    """A function of one number and of constants.

    Numbers that are close have results that are `jump` farther apart; without one they stay as
    close, so that the midpoint of a bin may stand for what is in it.
    """

    name: str
    apply: Map
    jump: Callable[[Parameters], Fraction] | None = None
    is_whole: bool | None = None  # the type of the result in SQL; None for that of the number
    rises: bool = False  # or stays, but never falls, when the number rises
    on_pieces: PieceMap | None = None  # over wide columns, if it does not only rise


def signs(numbers: Vector) -> Vector:
    """1, 0 or -1 for each number."""
    return (numbers > 0).astype(np.int64) - (numbers < 0).astype(np.int64)


def _absolute(x: Vector, d: int, _: Parameters) -> tuple[Vector, int]:
    return abs(x), d


def _sign(x: Vector, _: int, __: Parameters) -> tuple[Vector, int]:
    return signs(x), 1


def _floor(x: Vector, d: int, _: Parameters) -> tuple[Vector, int]:
    if d == 1:
        return x, 1
    return (x if d < SAFE else wide(x)) // d, 1


def _ceil(x: Vector, d: int, _: Parameters) -> tuple[Vector, int]:
    if d == 1:
        return x, 1
    below, _one = _floor(-x, d, ())
    return -below, 1


def _round(x: Vector, d: int, parameters: Parameters) -> tuple[Vector, int]:
    """To so many digits, halves away from zero."""
    scale = Fraction(10) ** int(parameters[0])
    if scale.denominator == 1 and scale.numerator % d == 0:  # it has no more digits than that
        return x, d
    doubled = grown(abs(x), 2 * scale.numerator)
    unit = d * scale.denominator
    nearest, _one = _floor(_plus(doubled, unit), 2 * unit, ())
    return grown(signs(x) * nearest, scale.denominator), scale.numerator


def _trunc(x: Vector, d: int, parameters: Parameters) -> tuple[Vector, int]:
    scale = Fraction(10) ** int(parameters[0])
    if scale.denominator == 1 and scale.numerator % d == 0:
        return x, d
    nearest, _one = _floor(grown(abs(x), scale.numerator), d * scale.denominator, ())
    return grown(signs(x) * nearest, scale.denominator), scale.numerator


def _remainder(x: Vector, d: int, parameters: Parameters) -> tuple[Vector, int]:
    """What is left of a division, with the sign of what is divided."""
    divisor = abs(parameters[0])
    unit = math.lcm(d, divisor.denominator)
    scaled = grown(abs(x), unit // d)
    modulus = int(divisor * unit)
    rest = (scaled if modulus < SAFE else wide(scaled)) % modulus
    return signs(x) * rest, unit


def _bucket(x: Vector, d: int, parameters: Parameters) -> tuple[Vector, int]:
    """The number of the bucket, 0 below the lowest and one more than there are above all."""
    low, high, buckets = parameters
    slope = buckets / (high - low)
    shift = slope * low
    unit = math.lcm(slope.denominator * d, shift.denominator)
    above = grown(x, int(slope * unit / d))
    place, _one = _floor(_plus(above, -int(shift * unit)), unit, ())
    return np.clip(place + 1, 0, int(buckets) + 1), 1


def _plus(x: Vector, number: int) -> Vector:
    fits = abs(number) + height_of(x) < SAFE
    return (x if fits else wide(x)) + number


def _one_unit(_: Parameters) -> Fraction:
    return Fraction(1)


def _digit(parameters: Parameters) -> Fraction:
    return 1 / Fraction(10) ** int(parameters[0])


def _of_size(parameters: Parameters) -> Fraction:
    return 2 * abs(parameters[-1]) + 2


def _two_units(_: Parameters) -> Fraction:
    return Fraction(2)


ABSOLUTE = Function("ABS", _absolute, on_pieces=lambda x, d, _, __: (abs(x), d))
SIGN = Function("SIGN", _sign, _two_units, is_whole=True, rises=True)
FLOOR = Function("FLOOR", _floor, _one_unit, is_whole=False, rises=True)
CEIL = Function("CEIL", _ceil, _one_unit, is_whole=False, rises=True)
ROUND = Function("ROUND", _round, _digit, rises=True)
TRUNC = Function("TRUNC", _trunc, _digit, rises=True)
REMAINDER = Function("MOD", _remainder, _of_size, on_pieces=remainder)
BUCKET = Function("WIDTH_BUCKET", _bucket, _of_size, is_whole=True, rises=True)


def mapped(
    reading: Reading, node: exp.Expr, how: Function, number: Number, *parameters: Fraction
) -> Number:
    """A function of a number, NULL where that is."""
    diagrams = reading.diagrams
    whole = number.whole if how.is_whole is None else how.is_whole
    if number.steps is not None:
        reading.effort.spend(10 * len(diagrams.labels(number.steps)))
        steps = diagrams.mapped(_label, number.steps, (how, parameters))
        if isinstance(steps, Leaf) and steps.label is not None:
            return literal_number(reading, steps.label, whole=whole)
        return Number(None, number.known, steps, whole=whole)
    jump = Fraction(0)
    if how.jump is not None:
        if number.midpoints:
            raise reading.error(node, cuts_through_bins(how.name, number))
        jump = how.jump(parameters)
    # Two numbers that are close may be rounded to different ones.
    blur = {name: bound + jump if bound else bound for name, bound in number.blur.items()}
    stretches = _in_stretches(reading, how, number, parameters)
    if stretches is not None:
        return Number(*stretches, blur=blur, whole=whole)

    def worked_out(unit: int, numbers: Vector) -> tuple[Vector, int]:
        return how.apply(numbers, unit, parameters)

    def on_pieces(unit: int, numbers: Pieces) -> tuple[Pieces, int]:
        return _on_pieces(reading, how, numbers, unit, parameters)

    both_ways = worked_out, on_pieces
    return _tabled(reading, node, how.name, [number], both_ways, blur=blur, whole=whole)


def _on_pieces(
    reading: Reading, how: Function, x: Pieces, d: int, parameters: Parameters
) -> tuple[Pieces, int]:
    """A function of the numbers x / d of a wide column."""
    if how.on_pieces is not None:
        return how.on_pieces(x, d, parameters, reading.effort)
    probe: Vector = np.array([1], object)
    same, unit = how.apply(probe, d, parameters)
    if same is probe:  # as ROUND to more digits than there are
        return x, d

    def label(number: int) -> int:
        (numerator,), _ = how.apply(np.array([number], object), d, parameters)
        return int(numerator)

    return stepped(x, label, reading.effort), unit


def _in_stretches(
    reading: Reading, how: Function, number: Number, parameters: Parameters
) -> tuple[Polynomial, Diagram, Diagram] | None:
    """What a function that never falls makes of a line over a column of very many values.

    The value, where it is known, and its labels: each has a stretch of the column, whose end is
    sought by halving. None where there are too many of them, and for everything else.
    """
    line = number.line
    along = None if line is None else line.along(reading.domain)
    if not how.rises or line is None or line.attribute is None or along is None:
        return None
    attribute = reading.domain[line.attribute]
    if attribute.size <= WIDE:
        return None
    first, step = along

    def label(code: int) -> Fraction:
        return _label(first + step * code, (how, parameters)) or Fraction(0)

    declared = attribute.size - attribute.has_bucket
    reading.effort.spend(4 * MOST_STRETCHES + min(attribute.size, MOST_LISTED) // 50)
    if len({label(declared * n // MOST_STRETCHES) for n in range(MOST_STRETCHES)}) >= (
        MOST_STRETCHES
    ):
        return None
    stops: list[int] = []
    labels: list[Fraction] = []
    start = 0
    while start < declared:
        if len(stops) == MOST_STRETCHES:
            return None
        reading.effort.spend(_STEPS_A_STRETCH)
        here, stop = label(start), declared
        while stop - start > 1:
            middle = (start + stop) // 2
            start, stop = (middle, stop) if label(middle) == here else (start, middle)
        stops.append(stop)
        labels.append(here)
        start = stop
    stops[-1] = attribute.size  # the bucket is not known, whatever stands for it
    unit = math.lcm(*(one.denominator for one in labels))
    numbers = [int(one * unit) for one in labels]
    leaves = [reading.diagrams.leaf(one) for one in labels]
    steps = reading.diagrams.on_stretches(line.attribute, stops, leaves)
    shown = reading.diagrams.joined(if_true, number.known, steps)
    if attribute.is_wide:
        stretched = Pieces.of_stretches(list(zip(numbers, stops, strict=True)))
        return column(line.attribute, stretched, unit), number.known, shown
    whole = np.repeat(numbers, np.diff(stops, prepend=0))
    return tabled((line.attribute,), whole, unit), number.known, shown


def smaller(reading: Reading, node: exp.Expr, first: Number, second: Number) -> Number:
    """The smaller of two numbers, NULL where either is."""
    return _extreme(reading, node, "LEAST", first, second)


def larger(reading: Reading, node: exp.Expr, first: Number, second: Number) -> Number:
    """The larger of two numbers, NULL where either is."""
    return _extreme(reading, node, "GREATEST", first, second)


def cuts_through_bins(name: str, number: Number) -> str:
    """Why a function with jumps is refused on a binned column."""
    columns = " and ".join(sorted(number.midpoints))
    return f"{name} of {columns} would cut through its bins; group by the column itself"


def _extreme(reading: Reading, node: exp.Expr, name: str, first: Number, second: Number) -> Number:
    diagrams, whole = reading.diagrams, first.whole and second.whole
    if first.steps is not None and second.steps is not None:
        operation = _smaller_label if name == "LEAST" else _larger_label
        steps = diagrams.joined(operation, first.steps, second.steps)
        if isinstance(steps, Leaf) and steps.label is not None:
            return literal_number(reading, steps.label, whole=whole)
        return Number(None, diagrams.joined(both, first.known, second.known), steps, whole=whole)
    chosen = np.minimum if name == "LEAST" else np.maximum

    def worked_out(unit: int, one: Vector, other: Vector) -> tuple[Vector, int]:
        return chosen(one, other), unit

    def on_pieces(unit: int, one: Pieces, other: Pieces) -> tuple[Pieces, int]:
        return one.minimum(other) if name == "LEAST" else one.maximum(other), unit

    blur, both_ways = widest(first.blur, second.blur), (worked_out, on_pieces)
    return _tabled(reading, node, name, [first, second], both_ways, blur=blur, whole=whole)


def _tabled(
    reading: Reading,
    node: exp.Expr,
    name: str,
    numbers: Sequence[Number],
    ways: tuple[Callable[..., tuple[Vector, int]], Callable[..., tuple[Pieces, int]]],
    *,
    blur: Blur,
    whole: bool,
) -> Number:
    """A function of numbers over all combinations of the columns behind them.

    Of the two ways to work it out the second is for a wide column, whose values are not listed.
    """
    domain, diagrams = reading.domain, reading.diagrams
    parts = [number.polynomial(diagrams) for number in numbers]
    names = domain.in_order({name for part in parts for name in part.attributes})
    cells = math.prod(domain.sizes(names))
    if len(names) > 1 and cells > DENSE_CELLS:
        raise reading.error(
            node,
            f"{name} across {' and '.join(names)} has {cells:,} combinations and at most "
            f"{DENSE_CELLS:,} are worked out; use one column, or smaller ones",
        )
    known = numbers[0].known
    for number in numbers[1:]:
        known = diagrams.joined(both, known, number.known)
    midpoints = frozenset[str]().union(*(number.midpoints for number in numbers))
    worked_out, on_pieces = ways
    if len(names) == 1 and domain[names[0]].is_wide:
        wide_parts = [part.pieces(domain, names[0]) for part in parts]
        unit = math.lcm(*(fraction.denominator for fraction, _ in wide_parts))
        reading.effort.spend(20 * sum(len(pieces.parts) for _, pieces in wide_parts))
        same_unit = [pieces * (unit // fraction.denominator) for fraction, pieces in wide_parts]
        value = column(names[0], *on_pieces(unit, *same_unit))
        return Number(value, known, midpoints=midpoints, blur=blur, whole=whole)
    reading.effort.spend((cells // 10 if len(names) > 1 else cells // 15) + 20)
    tables = [part.table(domain, names) for part in parts]
    unit = math.lcm(*(fraction.denominator for fraction, _ in tables))
    common = [grown(table, unit // fraction.denominator) for fraction, table in tables]
    if any(table.dtype == object for table in common):
        reading.effort.spend(cells)
    worked, divisor = worked_out(unit, *common)
    value = tabled(names, np.asarray(worked), divisor)
    return Number(value, known, midpoints=midpoints, blur=blur, whole=whole)


def _label(number: Fraction | None, extra: tuple[Function, Parameters]) -> Fraction | None:
    if number is None:
        return None
    how, parameters = extra
    numerators, unit = how.apply(
        np.array([number.numerator], object), number.denominator, parameters
    )
    return Fraction(int(numerators[0]), unit)


def _smaller_label(first: Fraction | None, second: Fraction | None) -> Fraction | None:
    return None if first is None or second is None else min(first, second)


def _larger_label(first: Fraction | None, second: Fraction | None) -> Fraction | None:
    return None if first is None or second is None else max(first, second)
