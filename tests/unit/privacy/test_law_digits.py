"""Noise laws to the last digits: far tails, any angle, any kind and shape of numbers."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from eke.arrays import FloatArray
from eke.privacy.discrete_gaussian import _euler_maclaurin_tail, _tail_sums
from eke.privacy.law import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace, NoiseLaw

LAWS: list[NoiseLaw] = [
    DiscreteLaplace(3, -1),
    DiscreteLaplace(2**30, -28),
    DiscreteGaussian(3, -1),
    DiscreteGaussian(2**30, -28),
    Laplace(0.7),
    Gaussian(0.7),
]


def summed_tail(first: int, steps: int) -> float:
    """P(|K| >= first) of a discrete Gaussian of many steps, term by term from far out."""
    terms = (math.exp(-k * k / (2 * steps**2)) for k in range(first + 30 * steps, first - 1, -1))
    return 2.0 * math.fsum(terms) / (steps * math.sqrt(2.0 * math.pi))


@pytest.mark.parametrize("deviations", [0.1, 0.7, 1.7, 4.0, 10.0])
def test_both_corrections_of_the_integral_are_needed_and_right(deviations: float) -> None:
    """Of 300 steps, where each of them is seen."""
    first = int(300 * deviations)
    tail = float(_euler_maclaurin_tail(np.array(float(first)), 300))
    assert tail == pytest.approx(summed_tail(first, 300), rel=1e-13, abs=0.0)


def test_the_two_ways_to_a_tail_meet() -> None:
    first = np.array([1.0, 100.0, 1024.0, 5000.0, 20000.0])
    summed = _tail_sums(1024)[first.astype(np.int64)]
    assert _euler_maclaurin_tail(first, 1024) == pytest.approx(summed, rel=1e-12, abs=0.0)


@pytest.mark.parametrize("family", [DiscreteLaplace, DiscreteGaussian])
def test_far_tails_keep_their_digits(family: type[DiscreteLaplace | DiscreteGaussian]) -> None:
    law = family(1025, 0)
    k = np.arange(60 * law.steps, 0, -1)
    sums = 2.0 * np.cumsum(law.mass(k))[::-1]  # P(|K| >= 1), P(|K| >= 2), …
    x = np.array([0, 1, 500, 4100, 10250, 25625])
    assert law.tail(x) == pytest.approx(sums[x], rel=1e-11, abs=0.0)


@pytest.mark.parametrize("family", [DiscreteLaplace, DiscreteGaussian])
@pytest.mark.parametrize("steps", [1, 3, 2**20])
def test_beyond_every_float_there_is_no_noise(
    family: type[DiscreteLaplace | DiscreteGaussian], steps: int
) -> None:
    assert family(steps, -400).tail([1e300, math.inf, -1e300]).tolist() == [0.0, 0.0, 1.0]


@pytest.mark.parametrize("law", [DiscreteLaplace(2, -1), DiscreteGaussian(2, -1)], ids=str)
def test_waves_come_again_after_every_turn(law: DiscreteLaplace | DiscreteGaussian) -> None:
    turn = 2.0 * math.pi / law.step
    t = np.array([0.0, 0.3, 0.9, 2.0, 5.0])
    for turns in (-50, -7, 4, 5, 50):
        again = law.characteristic(t + turns * turn)
        assert again == pytest.approx(law.characteristic(t), rel=1e-9)


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_numbers_of_any_shape_are_treated_each_by_itself(law: NoiseLaw) -> None:
    x = np.linspace(0.0, 4.0, 6)
    functions = [law.tail, law.characteristic]
    if isinstance(law, DiscreteLaplace | DiscreteGaussian):
        functions.append(law.mass)
    for function in functions:
        flat = function(x)
        assert flat.dtype == np.float64
        assert function(x.reshape(2, 3)).tolist() == flat.reshape(2, 3).tolist()
        assert [float(function(number)) for number in x.tolist()] == pytest.approx(flat.tolist())


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_numbers_of_fewer_digits_lose_no_more(law: NoiseLaw) -> None:
    """What is worked out of 32-bit numbers, or of fractions, has the digits of doubles."""
    single = np.array([0.1, 0.7, 1.3], np.float32)
    fractions = [Fraction(x) for x in single.tolist()]

    def check(function: object) -> None:
        assert callable(function)
        expected: FloatArray = function(single.astype(np.float64))
        for numbers in (single, fractions):
            given: FloatArray = function(numbers)
            assert given.dtype == np.float64
            assert given.tolist() == expected.tolist()

    check(law.tail)
    check(law.characteristic)
    if isinstance(law, DiscreteLaplace | DiscreteGaussian):
        check(law.mass)


@pytest.mark.parametrize(("law", "power"), [*zip(LAWS, [1, 1, 2, 2, 1, 2], strict=True)], ids=str)
def test_losses_grow_with_the_coefficient_or_its_square(law: NoiseLaw, power: int) -> None:
    table = np.array([[0, 1, -2], [3, -4, 7]])
    exact = [[law.rate * Fraction(abs(n), 4) ** power for n in row] for row in table.tolist()]
    expected = [[math.ceil(loss) for loss in row] for row in exact]
    assert law.loss_nano_array(table, -2).tolist() == expected
    assert [[law.loss_nano(Fraction(n, 4)) for n in row] for row in table.tolist()] == expected
