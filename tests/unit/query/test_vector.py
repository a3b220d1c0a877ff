"""Numbers on the power-of-two grid."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eke.errors import QueryError
from eke.query.vector import (
    GRID_BITS,
    dyadic_exponent,
    floor_log2,
    grid_step,
    integer_vector,
    on_grid,
    primitive,
    to_fraction,
)

HALF_STEP = Fraction(1, 2 ** (GRID_BITS + 1))
POSITIVE = st.fractions(min_value=0).filter(bool)


@pytest.mark.parametrize(
    ("number", "value"),
    [
        (3, 3),
        (-0.5, Fraction(-1, 2)),
        (0.1, Fraction(0.1)),
        (Fraction(1, 3), Fraction(1, 3)),
        (np.int8(-4), -4),
        (np.uint64(2**63), 2**63),
        (np.float32(0.25), Fraction(1, 4)),
        (1e-99, Fraction(1e-99)),
        (10**100, 10**100),
        (-0.0, 0),
    ],
)
def test_numbers_are_taken_exactly(number, value):
    assert to_fraction(number) == value
    assert type(to_fraction(number)) is Fraction


@pytest.mark.parametrize("value", [True, False, np.True_])
def test_truth_values_are_not_numbers(value):
    with pytest.raises(QueryError, match="not True or False"):
        to_fraction(value)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, np.float32("nan")])
def test_nan_and_infinity_are_refused(value):
    with pytest.raises(QueryError, match="finite"):
        to_fraction(value)


@pytest.mark.parametrize("value", [1e-101, -1e101, 10**400, Fraction(1, 10**400), 5e-324])
def test_sizes_that_no_answer_can_have_are_refused(value):
    with pytest.raises(QueryError, match="between 1e-100 and 1e100 in size; rescale it"):
        to_fraction(value)


def test_numbers_of_too_many_digits_are_refused():
    with pytest.raises(QueryError, match="round it"):
        to_fraction(Fraction(10**2000 + 1, 10**2000))


@pytest.mark.parametrize("value", ["1", None, 1j, [1], np.array([1]), object()])
def test_anything_else_is_refused(value):
    with pytest.raises(QueryError, match="must be a number, not"):
        to_fraction(value)


@given(POSITIVE)
def test_floor_log2_is_exact(number):
    k = floor_log2(number)
    assert Fraction(2) ** k <= number < Fraction(2) ** (k + 1)


@given(st.integers().filter(bool), st.integers(-300, 300))
def test_dyadic_exponent_leaves_an_odd_number(odd, shift):
    number = (2 * odd + 1) * Fraction(2) ** shift
    assert dyadic_exponent(number) == shift


def test_other_fractions_have_no_dyadic_exponent():
    with pytest.raises(QueryError):
        dyadic_exponent(Fraction(1, 3))


@given(st.lists(st.fractions(), max_size=6))
def test_rounding_is_relative_to_the_largest_and_happens_once(numbers):
    rounded = on_grid(numbers)
    largest = max(map(abs, numbers), default=Fraction(0))
    assert len(rounded) == len(numbers)
    for before, after in zip(numbers, rounded, strict=True):
        assert abs(before - after) <= HALF_STEP * largest
    assert on_grid(rounded) == rounded


@pytest.mark.parametrize(
    "numbers",
    [
        [0.1, 0.3],
        [Fraction(1, 3), 1e-9],
        [1e12, 1e-9, 0.1],
        [1 - 2**-53, Fraction(2**33 + 1, 2**34)],
        [2**60 - 1, 1],
        [Fraction(2**40 - 1, 2**41)],
    ],
)
def test_rounding_twice_is_rounding_once_next_to_powers_of_two(numbers):
    given_numbers = [Fraction(n) for n in numbers]
    rounded = on_grid(given_numbers)
    assert on_grid(rounded) == rounded
    largest = max(given_numbers)
    assert all(
        abs(a - b) <= HALF_STEP * largest for a, b in zip(given_numbers, rounded, strict=True)
    )


@given(POSITIVE)
def test_grid_steps_are_powers_of_two_and_large_numbers_keep_their_bits(largest):
    step = grid_step(largest)
    assert Fraction(2) ** floor_log2(step) == step
    assert 2**GRID_BITS < largest / step <= 2 ** (GRID_BITS + 1)


@given(st.lists(st.one_of(st.integers(), st.fractions()), min_size=1, max_size=6))
def test_integer_vectors_are_the_rounded_numbers(numbers):
    unit, integers = integer_vector(numbers)
    assert integers.dtype == np.int64
    assert [unit * int(n) for n in integers] == on_grid(numbers)
    assert np.abs(integers).max() <= 2 ** (GRID_BITS + 1)
    if integers.any():
        assert (integers % 2).any()  # the unit takes all common powers of two
        assert Fraction(2) ** floor_log2(unit) == unit
    else:
        assert unit == 0


def test_small_whole_numbers_are_not_touched():
    unit, integers = integer_vector([Fraction(n) for n in (3, -(2**33), 0)])
    assert unit == 1
    assert integers.tolist() == [3, -(2**33), 0]


@given(st.lists(st.integers(-(2**61), 2**61), min_size=1, max_size=6))
def test_primitive_vectors_have_no_common_factor_and_start_positive(entries):
    vector = np.array(entries, np.int64)
    factor, rest = primitive(vector)
    assert [factor * int(v) for v in rest] == entries
    if any(entries):
        assert math.gcd(*(int(v) for v in rest)) == 1
        assert next(int(v) for v in rest if v) > 0
        assert not rest.flags.writeable
    else:
        assert factor == 0
