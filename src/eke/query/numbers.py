"""The numbers of a column as vectors: itself and its powers, exactly, for however many values."""

from __future__ import annotations

import math
import operator
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eke.domain import Attribute
from eke.domain.wide import is_wide, unlisted
from eke.errors import QueryError
from eke.query.pieces import Pieces
from eke.query.runs import WIDE, Vector
from eke.query.vector import HIGHEST_ADDED, SAFE, grid_step


def not_hidden(highest: int) -> str:
    """Why numbers of a wide column are not added up: their squares may be too many steps."""
    return (
        f"numbers up to {highest:.2g} steps of the column would be added up, and the widest noise "
        "hides a record below 2^44, about 1.8e13; take lower powers, or smaller numbers, as in "
        "LEAST(x, 1000) or WHERE x < 1000, or declare a longer step"
    )


def whole_pieces(attribute: Attribute) -> tuple[Pieces, int]:
    """(pieces, unit): the number of each code of an evenly spaced column is its piece's / unit."""
    if attribute.progression is None:
        raise QueryError(unlisted(attribute.size))
    first, step = attribute.progression
    unit = math.lcm(first.denominator, step.denominator)
    parts: list[tuple[int, tuple[int, ...]]] = [(0, (int(first * unit), int(step * unit)))]
    if attribute.has_bucket:
        parts.append((attribute.size - 1, (0,)))
    return Pieces(attribute.size, parts), unit


def whole_vector(attribute: Attribute) -> tuple[NDArray[Any], int]:
    """(integers, unit): the number of each code is its integer divided by the unit.

    The integers are int64 where all of them are below 2^62, else Python's own.
    """
    if attribute.progression is None:
        whole, unit = attribute.whole_numbers()
        fits = max(map(abs, whole), default=0) < SAFE
        return np.array(whole, np.int64 if fits else object), unit
    first, step = attribute.progression
    unit = math.lcm(first.denominator, step.denominator)
    start, between = int(first * unit), int(step * unit)
    declared = attribute.size - attribute.has_bucket
    last = start + between * (declared - 1)
    dtype: Any = np.int64 if max(abs(start), abs(last)) < SAFE else object
    numbers = start + between * np.arange(attribute.size).astype(dtype)
    numbers[declared:] = 0
    return numbers, unit


def step_power(attribute: Attribute, power: int) -> Fraction:
    """The unit of the powers of the numbers of a wide column."""
    return Fraction(1, whole_pieces(attribute)[1] ** power)


def power_vector(
    attribute: Attribute, power: int, chosen: Vector | None = None
) -> tuple[Fraction, Vector]:
    """(unit, integers): the power of the number of each code, put on the coefficient grid.

    Of a wide column they are exact, in a unit that may be any fraction, and 0 at codes that are not
    chosen: the numbers at the others may be small enough to be added up.

    Whole numbers of a column of very many values stay as they are. A unit such as 1/100 must not be
    rounded instead of the values: noise on so fine a grid cannot be wide, and would cost more.
    """
    if is_wide(attribute.size):
        numbers = reduce(operator.mul, [whole_pieces(attribute)[0]] * power)
        if chosen is not None:
            numbers = numbers * Pieces.of_vector(chosen)
        if numbers.height >= HIGHEST_ADDED:
            raise QueryError(not_hidden(numbers.height))
        return step_power(attribute, power), numbers.runs()
    whole, unit = whole_vector(attribute)
    height = max(abs(int(whole.min())), abs(int(whole.max()))) ** power
    if height == 0:
        return Fraction(0), np.zeros(len(whole), np.int64)
    if unit == 1 and len(whole) > WIDE and height < SAFE:
        return Fraction(1), whole.astype(np.int64) ** power  # a few runs; rounding breaks them up
    step = grid_step(Fraction(height, unit**power))
    if unit == 1 and step <= 1:  # they are on the grid already
        return Fraction(1), whole.astype(np.int64) ** power
    # In steps they are whole**power / (unit**power · step); a million Fractions take their time.
    in_steps = unit**power * step
    fits = 2 * height * in_steps.denominator < SAFE and 2 * in_steps.numerator < SAFE
    numbers = whole.astype(np.int64 if fits else object) ** power * in_steps.denominator
    steps = _divided(numbers, in_steps.numerator).astype(np.int64)
    content = int(np.bitwise_or.reduce(steps))
    shift = (content & -content).bit_length() - 1
    return step * 2**shift, steps >> shift


def _divided(numbers: NDArray[Any], by: int) -> NDArray[Any]:
    """The quotients rounded to the nearest whole number, halves to the even one."""
    quotients = numbers // by
    left = 2 * (numbers - quotients * by)
    rounded: NDArray[Any] = quotients + ((left > by) | ((left == by) & (quotients % 2 == 1)))
    return rounded
