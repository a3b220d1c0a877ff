"""Exact small numbers: integer vectors over one attribute and weights on a power-of-two grid.

Everything a query is made of is an integer times a power of two, so that the exact answer to a
released query is an integer (`engine/exact.py`). Numbers that are not (0.1, a third) are
rounded once, publicly, to about nine significant digits, before anything is asked.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from fractions import Fraction
from functools import reduce
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from eke.errors import QueryError

IntVector: TypeAlias = NDArray[np.int64]
IntMatrix: TypeAlias = NDArray[np.int64]
Number: TypeAlias = int | Fraction

GRID_BITS = 32
"""Coefficients keep at least this many bits below the largest one."""

SAFE = 2**62
"""Integers below this bound add up in int64 without overflow."""


HIGHEST_ADDED = 2**44
"""A record that moves a sum so far can be hidden by the widest noise, which has 2^53 steps."""

LEAST = Fraction(1, 10**100)
"""Smaller coefficients are refused, and so are those beyond one over it."""
_MOST_BITS = 4096


def height(numbers: NDArray[np.signedinteger[Any]]) -> int:
    """The largest absolute value, as a Python integer: NumPy has none for -2^63."""
    return max(int(numbers.max()), -int(numbers.min())) if numbers.size else 0


def absolute_sum(numbers: NDArray[np.signedinteger[Any]]) -> int:
    """Σ |number|, exactly: int64 adds them up only when it is sure to hold every partial sum."""
    if height(numbers) * numbers.size < SAFE:
        return int(np.abs(numbers.astype(np.int64, copy=False)).sum(dtype=np.int64))
    return sum(map(abs, numbers.ravel().tolist()))


def frozen_array(numbers: NDArray[Any]) -> NDArray[Any]:
    """The same numbers in memory of their own that is read-only; a copy unless it is that already.

    Privacy: what was priced is what is measured, also when a caller keeps the array it gave.
    """
    if type(numbers) is np.ndarray and numbers.base is None and not numbers.flags.writeable:
        return numbers
    frozen = np.array(numbers)
    frozen.setflags(write=False)
    return frozen


def to_fraction(number: object) -> Fraction:
    """The exact value of an int, float, Fraction or NumPy scalar of a sensible size.

    NaN and infinity are refused, and so is what no answer could be computed with.
    """
    if isinstance(number, (bool, np.bool_)):
        raise QueryError("a coefficient must be a number, not True or False")
    if isinstance(number, (float, np.floating)):
        if not math.isfinite(float(number)):
            raise QueryError("a coefficient must be finite, not NaN or infinite")
        value = Fraction(float(number))
    elif isinstance(number, (int, Fraction)):
        value = Fraction(number)
    elif isinstance(number, np.integer):
        value = Fraction(int(number))
    else:
        raise QueryError(f"a coefficient must be a number, not {type(number).__name__}")
    if value and not LEAST <= abs(value) <= 1 / LEAST:
        raise QueryError("a coefficient must be 0 or between 1e-100 and 1e100 in size; rescale it")
    if value.denominator.bit_length() > _MOST_BITS:
        raise QueryError(f"a coefficient may have at most {_MOST_BITS} bits; round it")
    return value


def dyadic_exponent(number: Fraction) -> int:
    """The largest e with number = integer · 2^e, for a non-zero dyadic number."""
    numerator, denominator = number.numerator, number.denominator
    if denominator & (denominator - 1):
        raise QueryError("not on the coefficient grid")
    return ((numerator & -numerator).bit_length() - 1) - (denominator.bit_length() - 1)


def floor_log2(number: Fraction) -> int:
    """floor(log2(number)) for a positive number, exactly."""
    guess = number.numerator.bit_length() - number.denominator.bit_length()
    return guess if Fraction(2) ** guess <= number else guess - 1


def grid_step(largest: Fraction) -> Fraction:
    """The power of two whose multiples represent numbers up to a (positive) largest one.

    Half a step is at most 2^-(GRID_BITS + 1) of the largest number. The step belongs to the power
    of two *at or above* it, so that rounding never carries a number onto a coarser grid: rounding
    twice is rounding once.
    """
    above = floor_log2(largest)
    if Fraction(2) ** above < largest:
        above += 1
    return Fraction(2) ** (above - 1 - GRID_BITS)


def on_grid(numbers: Sequence[Number]) -> list[Number]:
    """The numbers rounded to multiples of the grid step of the largest of them."""
    largest = Fraction(max(max(numbers, default=0), -min(numbers, default=0)))
    if largest == 0:
        return list(numbers)
    step = grid_step(largest)
    if step <= 1 and all(n.denominator == 1 for n in numbers):
        return list(numbers)
    return [round(n / step) * step for n in numbers]


def integer_vector(numbers: Sequence[Number]) -> tuple[Fraction, IntVector]:
    """(unit, integers) with unit · integers equal to the numbers put on the grid."""
    gridded = on_grid(numbers)
    finest = max((n.denominator for n in gridded), default=1)
    whole = [n.numerator * (finest // n.denominator) for n in gridded]
    content = reduce(operator.or_, whole, 0)
    if content == 0:
        return Fraction(0), np.zeros(len(whole), np.int64)
    shift = (content & -content).bit_length() - 1
    return Fraction(2**shift, finest), np.array([n >> shift for n in whole], np.int64)


def primitive(vector: IntVector) -> tuple[int, IntVector]:
    """(factor, v) with factor · v the vector, v of gcd 1 and first non-zero entry positive."""
    divisor = int(np.gcd.reduce(vector))
    if divisor == 0:
        return 0, vector
    lead = int(vector[np.flatnonzero(vector)[0]])
    factor = divisor if lead > 0 else -divisor
    result = vector // factor
    result.setflags(write=False)
    return factor, result
