"""The numbers of a column as vectors: itself and its powers, exactly, for however many values."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eke.domain import Attribute
from eke.query.vector import SAFE, IntVector, grid_step, integer_vector


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


def power_vector(attribute: Attribute, power: int) -> tuple[Fraction, IntVector]:
    """(unit, integers): the power of the number of each code, put on the coefficient grid."""
    whole, unit = whole_vector(attribute)
    height = max(abs(int(whole.min())), abs(int(whole.max()))) ** power
    if unit == 1 and height and grid_step(Fraction(height)) <= 1:  # they are on the grid already
        return Fraction(1), whole.astype(np.int64) ** power
    # Plain ints where possible: a million Fractions would take their time.
    plain = (n.numerator if n.denominator == 1 else n for n in attribute.numbers())
    return integer_vector([n**power for n in plain])
