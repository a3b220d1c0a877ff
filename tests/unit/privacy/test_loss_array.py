"""Losses of many cells at once: those of each by itself, wherever the coefficients lie."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eke.errors import PrivacyError
from eke.privacy.loss_array import nano_array
from eke.privacy.record_loss import record_nano

NEAR = st.integers(-40, 40)
FAR = st.integers(-(2**40), 2**40)
ENDS = st.sampled_from([-(2**63), 2**63 - 1, 0, 4095, 4096, -4096])


@given(st.lists(st.one_of(NEAR, FAR, ENDS), max_size=30), st.integers(1, 2))
def test_each_cell_loses_what_it_would_alone(numbers: list[int], power: int) -> None:
    rate = Fraction(1, 3 * 2**90)  # so that the largest fit
    losses = nano_array(rate, power, np.array(numbers, np.int64), 1)
    assert losses.tolist() == [record_nano(rate, power, 2 * number) for number in numbers]


def test_the_shape_stays() -> None:
    table = np.arange(-6, 6).reshape(3, 4)
    assert nano_array(Fraction(5), 1, table, 0).tolist() == (5 * np.abs(table)).tolist()
    assert nano_array(Fraction(5), 1, np.array(3), 0).shape == ()
    assert nano_array(Fraction(5), 1, np.zeros((0, 2), np.int64), 0).shape == (0, 2)


@pytest.mark.parametrize("numbers", [[2**62, 2**62 + 1], [2**62, 0]])
def test_what_does_not_fit_is_an_error(numbers: list[int]) -> None:
    with pytest.raises(PrivacyError, match="beyond all limits"):
        nano_array(Fraction(2), 1, np.array(numbers), 0)


def test_the_largest_loss_that_fits_is_told():
    largest = 2**63 - 1
    assert nano_array(Fraction(largest), 1, np.array([1, 0]), 0).tolist() == [largest, 0]
    with pytest.raises(PrivacyError, match="beyond all limits"):
        nano_array(Fraction(largest + 1), 1, np.array([1, 0]), 0)


def test_no_coefficients_have_no_losses():
    losses = nano_array(Fraction(1), 1, np.zeros((0, 3), np.int64), 0)
    assert (losses.shape, str(losses.dtype)) == ((0, 3), "int64")
