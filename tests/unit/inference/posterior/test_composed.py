"""The composed noise: its values, its variance, its characteristic function, its grid slack."""

import math

import numpy as np
import pytest

from eke.errors import AccuracyError, EkeError
from eke.inference.posterior import ComposedNoise, halfwidth


def test_variance_adds_up_over_the_parts():
    noise = ComposedNoise(np.array([1.0, 3.0]), 5.0)
    assert noise.variance == pytest.approx(2 * (1 + 9) + 5)


def test_zero_scales_are_dropped_and_scales_are_read_only():
    given = np.array([0.0, 2.0, 0.0])
    noise = ComposedNoise(given)
    given[1] = 9.0
    assert noise.laplace_scales.tolist() == [2.0]
    with pytest.raises(ValueError, match="read-only"):
        noise.laplace_scales[0] = 1.0


def test_no_parts_is_no_noise():
    noise = ComposedNoise(np.zeros(3), 0.0, grid_slack=0.25)
    assert noise.is_zero
    assert noise.variance == 0.0
    assert noise.characteristic([0.0, 5.0]).tolist() == [1.0, 1.0]


@pytest.mark.parametrize("t", [0.0, 0.3, -2.0, 40.0])
def test_characteristic_function_is_the_product_of_the_parts(t):
    scales, variance = np.array([0.5, 0.5, 2.0, 1e-4]), 0.7
    slow = math.prod(1 / (1 + w * w * t * t) for w in scales) * math.exp(-variance * t * t / 2)
    assert float(ComposedNoise(scales, variance).characteristic(t)) == pytest.approx(
        slow, rel=1e-13
    )


def test_characteristic_function_keeps_shapes_and_does_not_overflow():
    noise = ComposedNoise(np.full(5000, 1e100))
    assert noise.characteristic(np.ones((2, 3))).shape == (2, 3)
    assert noise.characteristic(1e50) == 0.0


@pytest.mark.parametrize(
    ("scales", "variance", "slack"),
    [
        ([-1.0], 0.0, 0.0),
        ([math.nan], 0.0, 0.0),
        ([math.inf], 0.0, 0.0),
        ([[1.0]], 0.0, 0.0),
        ([1.0], -1.0, 0.0),
        ([1.0], math.nan, 0.0),
        ([1.0], math.inf, 0.0),
        ([1.0], 0.0, -0.1),
        ([1.0], 0.0, math.nan),
        ([1e200], 0.0, 0.0),  # its variance overflows
        ([1e-200], 0.0, 0.0),  # its variance would vanish, and the noise with it
    ],
)
def test_bad_values_are_refused(scales, variance, slack):
    with pytest.raises(AccuracyError) as caught:
        ComposedNoise(np.array(scales), variance, slack)
    assert isinstance(caught.value, EkeError)


# --- the noise really drawn is on a grid ---------------------------------------------------------


def _discrete_laplace(laplace_scale: float, step: float, reach: int) -> np.ndarray:
    ratio = math.exp(-step / laplace_scale)
    return (1 - ratio) / (1 + ratio) * ratio ** np.abs(np.arange(-reach, reach + 1))


def test_discrete_laplace_spread_over_its_cell_is_no_less_peaked_than_laplace():
    """The claim in the docstring of `ComposedNoise`, on a grid coarse enough to see it."""
    laplace_scale, step = 1.0, 0.5
    masses = _discrete_laplace(laplace_scale, step, 200)
    edges = step * (np.arange(402) - 200.5)
    held = np.concatenate([[0.0], np.cumsum(masses)])
    y = np.linspace(0.0, 20.0, 4001)
    outside = 1.0 - (np.interp(y, edges, held) - np.interp(-y, edges, held))
    laplace = np.exp(-y / laplace_scale)
    excess = (outside / laplace).max() - 1.0
    assert 0.0 < excess < (step / laplace_scale) ** 4 / 288
    on_grid = np.isclose(y / step, np.round(y / step))
    assert outside[on_grid] == pytest.approx(laplace[on_grid], rel=1e-6)


def test_grid_slack_makes_intervals_cover_noise_on_a_grid():
    """Exact coverage of 1.0·D1 + 0.7·D2 on coarse grids, for 200 confidences.

    Control: without the slack some interval covers too little.
    """
    weights, scales, step = np.array([1.0, 0.7]), np.array([1.0, 2.0]), 0.125
    reach = 300
    first, second = (_discrete_laplace(b, step, reach) for b in scales)
    grid = step * np.arange(-reach, reach + 1)
    sizes = np.abs(weights[0] * grid[:, None] + weights[1] * grid[None, :]).ravel()
    order = np.argsort(sizes)
    held = np.cumsum(np.outer(first, second).ravel()[order])

    def coverage(half: float) -> float:
        return float(held[np.searchsorted(sizes[order], half, side="right") - 1])

    confidences = np.linspace(0.01, 0.999, 200)
    slack = 0.5 * step * weights.sum()
    honest = ComposedNoise(weights * scales, 0.0, slack)
    bare = ComposedNoise(weights * scales)
    assert all(coverage(halfwidth(honest, c)) >= c for c in confidences)
    assert not all(coverage(halfwidth(bare, c)) >= c for c in confidences)
    assert halfwidth(honest, 0.9) == pytest.approx(halfwidth(bare, 0.9) + slack)
