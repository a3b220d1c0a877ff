"""Numeric: grids of numbers, as people write them, and what is rounded to them."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eke.domain import Domain, Integer, Numeric, domain_from_document, domain_to_document
from eke.errors import DomainError, QueryError


def test_values_are_those_that_people_write():
    """0.1 is a tenth: no dust of doubles in labels, numbers or ranges."""
    grid = Numeric(0, 1, 0.1, null="bucket")
    assert grid.labels == (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, None)
    assert grid.numbers() == (*(Fraction(k, 10) for k in range(11)), 0)
    assert grid.label_text(3) == "0.3"
    assert grid.label_text(11) == "missing"
    assert grid.range_text(1, 3) == "0.1–0.3"
    assert grid.size == 12
    assert [grid.declared_code(k / 10) for k in range(11)] == list(range(11))
    assert grid.declared_code(0.35) is None
    assert grid.declared_code("0.3") is None
    assert grid.declared_code(math.inf) is None


@given(
    st.integers(-1000, 1000),
    st.integers(1, 400),
    st.sampled_from([0.01, 0.1, 0.25, 1, 3, 0.5]),
    st.floats(-2000, 2000),
)
def test_a_raw_value_goes_to_the_nearest(low: int, steps: int, step: float, raw: float):
    """The slow twin looks at all values; ties and the rounding of doubles may go either way."""
    grid = (
        Numeric(low, low + steps * Fraction(str(step)).numerator, 1)
        if step >= 1
        else Numeric(low, float(low + steps * Fraction(str(step))), step)
    )
    code = grid.code(raw)
    assert code is not None
    numbers = grid.numbers()
    nearest = min(abs(number - Fraction(raw)) for number in numbers)
    assert abs(numbers[code] - Fraction(raw)) <= nearest + Fraction(1, 10**9)


def test_ranges_take_the_values_between():
    grid = Numeric(-1, 1, 0.25)
    assert grid.codes_between(-0.3, 0.5) == slice(3, 7)
    assert grid.codes_between(None, -0.75) == slice(0, 2)
    assert grid.codes_between(Fraction(1, 3), None) == slice(6, 9)
    assert grid.codes_between(-math.inf, math.inf) == slice(0, 9)
    for low, high in ((0.1, 0.2), (2, 3), (None, -5), (math.inf, None)):
        with pytest.raises(QueryError, match=r"-1 to 1 in steps of 0\.25"):
            grid.codes_between(low, high)


def test_whole_numbers_are_the_numbers():
    for grid in (
        Numeric(-0.3, 0.9, 0.3),
        Numeric(0, 10, 2.5, null="bucket"),
        Integer(-3, 4, null="bucket"),
        Numeric(2**52, 2**52 + 4, 0.5),
    ):
        whole, unit = grid.whole_numbers()
        assert tuple(Fraction(number, unit) for number in whole) == grid.numbers()
        assert all(type(number) is int for number in whole)


def test_it_is_written_down_and_read_again():
    domain = Domain(x=Numeric(0, 2.5, 0.5, null="never", outside="never"), y=Numeric(1, 1, 3))
    assert domain_from_document(domain_to_document(domain)) == domain


def test_what_rounding_leaves_open():
    assert Numeric(0, 1, 0.5).half_widths() == (Fraction(1, 4),) * 3
    assert Numeric(0, 1, 0.5, null="bucket").half_widths() == (*(Fraction(1, 4),) * 3, Fraction(0))
    assert Numeric(0, 1, 0.5, outside="never").half_widths() is None


@pytest.mark.parametrize(
    ("low", "high", "step", "advice"),
    [
        (0, 1, 0, "step above 0"),
        (2, 1, 0.5, "not above the upper"),
        (0, 1, 0.3, r"take 0\.9"),
        (0, 1e12, 0.5, "longer step"),
        (0, math.inf, 1, "finite"),
        (0, math.nan, 1, "finite"),
        ("0", 1, 1, "must be a number"),
        (True, 1, 1, "must be a number"),
        (0, 2**53, 2**50, "below 2"),
    ],
)
def test_bad_grids_raise_with_advice(low, high, step, advice):
    with pytest.raises(DomainError, match=advice):
        Numeric(low, high, step)


def test_numpy_and_rules():
    loose: Any = Numeric
    grid = loose(np.int64(0), np.float64(1), np.float32(0.5), outside="drop")
    assert (grid.low, grid.high, grid.step) == (0, 1, 0.5)
    assert [grid.code(raw) for raw in (-0.01, 0.2, 0.25, 0.3, 1, 1.01, "x")] == [
        *(None, 0, 1, 1, 2, None, None),
    ]
