"""Chernoff's bound is above the truth, and not absurdly so."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eke.errors import AccuracyError
from eke.inference.posterior import ComposedNoise, halfwidth, tail
from eke.inference.posterior.chernoff import chernoff_halfwidth, chernoff_tail, tilted_halfwidth
from eke.inference.posterior.exact import bounded_halfwidth


def test_one_laplace_in_closed_form():
    """inf over s of exp(−s·x)/(1 − s²) is at s = (√(1 + x²) − 1)/x."""
    for x in (0.5, 4.0, 50.0):
        s = (math.sqrt(1 + x * x) - 1) / x
        expected = math.exp(-s * x) / (1 - s * s)
        assert chernoff_tail(ComposedNoise(np.array([1.0])), x) == pytest.approx(expected, rel=1e-8)


def test_gaussian_in_closed_form():
    for x in (0.5, 4.0, 30.0):
        noise = ComposedNoise(np.empty(0), 4.0)
        assert chernoff_tail(noise, x) == pytest.approx(math.exp(-x * x / 8), rel=1e-8)


@given(
    st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=30),
    st.floats(0.0, 1e4),
    st.floats(0.0, 40.0),
    st.floats(0.01, 1 - 1e-12),
)
@settings(max_examples=80)
def test_never_below_the_truth(parts, variance, deviations, confidence):
    noise = ComposedNoise(np.array(parts), variance)
    x = deviations * math.sqrt(noise.variance)
    assert chernoff_tail(noise, x) >= tail(noise, x)
    assert chernoff_halfwidth(noise, confidence) >= halfwidth(noise, confidence)
    assert tilted_halfwidth(noise, confidence) >= halfwidth(noise, confidence)
    assert bounded_halfwidth(noise, confidence) >= halfwidth(noise, confidence)


def test_close_to_the_truth_far_out():
    noise = ComposedNoise(np.full(100, 1.0), 5.0)
    assert chernoff_tail(noise, 140.0) < 100 * tail(noise, 140.0)
    assert chernoff_halfwidth(noise, 1 - 1e-12) < 1.2 * halfwidth(noise, 1 - 1e-12)


@pytest.mark.parametrize("parts", [1, 2, 5, 40, 3_000])
@pytest.mark.parametrize("variance", [0.0, 30.0])
@pytest.mark.parametrize("confidence", [0.99, 1 - 1e-4, 1 - 1e-9])
def test_a_few_tilts_are_nearly_as_good_as_the_best(parts, variance, confidence):
    noise = ComposedNoise(np.array([1.0]), variance, counts=np.array([parts]))
    best = chernoff_halfwidth(noise, confidence)
    assert best * (1 - 1e-8) <= tilted_halfwidth(noise, confidence) <= 1.03 * best
    exact = halfwidth(noise, confidence)
    assert exact <= bounded_halfwidth(noise, confidence) <= 1.55 * exact


def test_edges():
    noise = ComposedNoise(np.array([1.0, 2.0]))
    assert chernoff_tail(noise, 0.0) == 1.0
    assert chernoff_tail(noise, math.inf) == 0.0
    nothing = ComposedNoise(np.empty(0))
    assert chernoff_tail(nothing, 1.0) == 0.0
    assert chernoff_halfwidth(nothing, 0.9) == 0.0
    for x in (-1.0, math.nan):
        with pytest.raises(AccuracyError):
            chernoff_tail(noise, x)
