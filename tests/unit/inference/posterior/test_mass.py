"""Probability mass vectors, Algorithm 3 and the paper's error."""

import math

import numpy as np
import pytest

from eke.errors import AccuracyError
from eke.inference.posterior import ProbabilityMass, mass_error

FIVE = ProbabilityMass(np.array([0.1, 0.2, 0.4, 0.2, 0.1]))


@pytest.mark.parametrize(
    ("confidence", "half"), [(0.3, 0.5), (0.4, 0.5), (0.41, 1.5), (0.8, 1.5), (0.9, 2.5)]
)
def test_interval_is_the_shortest_centred_run(confidence, half):
    assert FIVE.halfwidth(confidence) == half


def test_interval_counts_both_sides_of_an_uneven_vector():
    uneven = ProbabilityMass(np.array([0.0, 0.5, 0.2, 0.1, 0.1]), 2.0)
    assert uneven.halfwidth(0.75) == 3.0
    assert uneven.halfwidth(0.85) == 5.0


def test_a_confidence_beyond_the_mass_is_refused():
    short = ProbabilityMass(np.array([0.2, 0.5, 0.2]))
    with pytest.raises(AccuracyError, match="gamma"):
        short.halfwidth(0.95)


def test_between_and_density():
    assert FIVE.between(-0.5, 0.5) == pytest.approx(0.4)
    assert FIVE.between(0.0, 1.0) == pytest.approx(0.2 + 0.1)
    assert FIVE.between(-math.inf, math.inf) == pytest.approx(1.0)
    assert FIVE.between(1.0, 1.0) == 0.0
    assert FIVE.density([0.0, 0.9, -2.4, 2.6, math.inf]).tolist() == [0.4, 0.2, 0.1, 0.0, 0.0]
    fine = ProbabilityMass(FIVE.masses, 0.5)
    assert fine.density([0.0]).tolist() == [0.8]
    assert fine.total == pytest.approx(1.0)
    assert fine.reach == 2


def test_one_cell():
    one = ProbabilityMass(np.ones(1), 0.25)
    assert one.halfwidth(0.99) == 0.125
    assert one.between(0.0, 9.0) == 0.5


@pytest.mark.parametrize(
    ("masses", "step"),
    [
        ([0.5, 0.5], 1.0),
        ([], 1.0),
        ([[1.0]], 1.0),
        ([-0.1, 0.5, 0.2], 1.0),
        ([0.6, 0.5, 0.2], 1.0),
        ([math.nan], 1.0),
        ([1.0], 0.0),
        ([1.0], math.nan),
    ],
)
def test_bad_vectors_are_refused(masses, step):
    with pytest.raises(AccuracyError):
        ProbabilityMass(np.array(masses), step)


def test_error_is_the_sum_of_squares_around_the_same_middle():
    assert mass_error([0.2, 0.6, 0.2], [0.3, 0.4, 0.3]) == pytest.approx(0.01 + 0.04 + 0.01)
    wide, narrow = [0.1, 0.2, 0.4, 0.2, 0.1], [0.5]
    assert mass_error(wide, narrow) == pytest.approx(0.01 + 0.04 + 0.01 + 0.04 + 0.01)
    assert mass_error(narrow, wide) == mass_error(wide, narrow)
    assert mass_error(wide, wide) == 0.0
    with pytest.raises(AccuracyError):
        mass_error([0.5, 0.5], [1.0])
