from __future__ import annotations

import numpy as np
import pytest

from eke.inference.posterior.composed import ComposedNoise
from eke.inference.posterior.exact import densities
from eke.inference.posterior.log_density import LogDensity


@pytest.mark.parametrize(
    ("laplace_scales", "gaussian_variance", "tolerance"),
    [
        ([1.0], 0.0, 1e-13),
        ([], 4.0, 1e-12),
        ([1.0, 1.0], 0.0, 1e-10),
        ([1.0, 2.0, 3.0, 4.5], 0.0, 1e-10),
        ([1.0] * 300, 0.0, 1e-10),
        ([3.0, 0.1, 0.1], 0.0, 1e-9),
        ([1.0, 0.01], 0.0, 1e-6),
        ([2.0], 1.0, 1e-9),
        ([1.0], 100.0, 1e-6),
        ([1e-3] * 3, 5.0, 1e-10),
        # A tip rounded over a thousandth of the width: wrong there only, and hardly.
        ([1.0, 1e-3], 0.0, 1e-3),
        ([1.0], 1e-6, 1e-3),
    ],
)
@pytest.mark.parametrize("unit", [1.0, 1e-6, 1e8])
def test_the_logarithm_equals_that_of_the_density(
    laplace_scales, gaussian_variance, tolerance, unit
):
    noise = ComposedNoise(np.array(laplace_scales) * unit, gaussian_variance * unit**2)
    points = np.concatenate([np.linspace(0, 1, 101), np.linspace(1, 14, 101)]) * noise.variance**0.5
    expected = np.log(densities(noise, points))
    logarithm = LogDensity(noise)
    np.testing.assert_allclose(logarithm(points), expected, atol=tolerance)
    np.testing.assert_array_equal(logarithm(-points), logarithm(points))


def test_it_goes_on_falling_where_densities_underflow():
    for noise in (
        ComposedNoise(np.array([1.0, 2.0])),
        ComposedNoise(np.array([1.0, 1.0]), 3.0),
        ComposedNoise(np.full(500, 0.1)),
        ComposedNoise(np.array([0.01]), 100.0),
    ):
        points = np.geomspace(1.0, 1e6, 200)
        values = LogDensity(noise)(points)
        assert np.isfinite(values).all()
        slopes = np.diff(values) / np.diff(points)
        assert (np.diff(values) < 0.0).all()
        assert (np.diff(slopes) <= 1e-6 * np.abs(slopes[1:])).all()  # concave


def test_panels_are_computed_when_needed_and_only_once():
    logarithm = LogDensity(ComposedNoise(np.array([1.0, 2.0])))
    near = logarithm(np.array([0.1]))
    first = dict(logarithm._panels)
    assert len(first) == 1
    logarithm(np.array([5.0, 100.0]))
    assert len(logarithm._panels) == 3
    assert all(logarithm._panels[k] is v for k, v in first.items())
    assert logarithm(np.array([0.1])) == near
