from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate, stats

from eke.errors import AccuracyError
from eke.inference import ComposedNoise, ExactPosterior, Posterior
from eke.inference.papers.product import ProductPosterior
from eke.inference.posterior.exact import densities
from tests.parts import among


def laplace(*scales: float, variance: float = 0.0, slack: float = 0.0) -> ComposedNoise:
    return ComposedNoise(np.array(scales), variance, slack)


CASES = {
    "cusps": [(0.0, laplace(1.0)), (0.7, laplace(2.0)), (5.0, laplace(0.8))],
    "sums": [
        (73.34, laplace(40.0, 10.0)),
        (91.12, laplace(10.0, 10.0)),
        (78.46, laplace(*[20.0] * 3)),
    ],
    "gaussian": [(3.0, laplace(variance=4.0)), (-1.0, laplace(variance=0.5))],
    "mixed": [
        (1e6, laplace(3.0, 1.0)),
        (1e6 + 4, laplace(2.0, variance=9.0)),
        (1e6 - 2, laplace(5.0)),
    ],
    "far apart": [(0.0, laplace(1.0, 2.0)), (60.0, laplace(3.0, 1.0))],
    "many": [(float(k % 7), laplace(1.0 + k % 3, 2.0)) for k in range(9)],
}


class Integrated:
    """The same posterior by summing the product of densities on a very fine grid."""

    def __init__(self, observations) -> None:
        values = [value for value, _ in observations]
        sharp = min(math.sqrt(noise.variance) for _, noise in observations)
        low, high = min(values) - 30.0 * sharp, max(values) + 30.0 * sharp
        size = int((high - low) / (0.004 * sharp))
        self.grid = np.linspace(low, high, size)
        logarithm = np.zeros(size)
        with np.errstate(divide="ignore"):
            for value, noise in observations:
                logarithm += np.log(densities(noise, self.grid - value))
        self.density = np.exp(logarithm - logarithm.max())
        cumulative = integrate.cumulative_trapezoid(self.density, self.grid, initial=0)
        self.density /= cumulative[-1]
        self.cumulative = cumulative / cumulative[-1]

    def expectation(self, function) -> float:
        return float(integrate.trapezoid(self.density * function(self.grid), self.grid))

    def below(self, point: float) -> float:
        return float(np.interp(point, self.grid, self.cumulative))

    def narrowest(self, confidence: float) -> float:
        """The length of the shortest interval, by sliding one end over the whole grid."""
        keep = self.cumulative < 1.0 - confidence
        ends = np.interp(self.cumulative[keep] + confidence, self.cumulative, self.grid)
        return float((ends - self.grid[keep]).min())


@pytest.fixture(scope="module", params=among(CASES, CASES.keys() - {"many"}))
def case(request):
    observations = CASES[request.param]
    return ProductPosterior(observations), Integrated(observations)


def test_mean_and_variance_equal_numerical_integration(case):
    posterior, oracle = case
    mean = oracle.expectation(lambda x: x)
    deviation = math.sqrt(oracle.expectation(lambda x: (x - mean) ** 2))
    assert posterior.value == pytest.approx(mean, abs=1e-5 * deviation)
    assert math.sqrt(posterior.variance) == pytest.approx(deviation, rel=1e-5)


@pytest.mark.parametrize("confidence", [0.5, 0.8, 0.95, 0.99, 0.9999])
def test_intervals_hold_their_confidence_and_none_is_narrower(case, confidence):
    posterior, oracle = case
    low, high = posterior.interval(confidence)
    assert oracle.below(high) - oracle.below(low) == pytest.approx(confidence, abs=2e-5)
    assert posterior.probability(above=low, below=high) >= confidence
    assert high - low <= oracle.narrowest(confidence) * (1.0 + 1e-4)


def test_probabilities_and_densities(case):
    posterior, oracle = case
    deviation = math.sqrt(posterior.variance)
    for point in posterior.value + deviation * np.array([-3.0, -1.0, 0.0, 0.4, 2.5]):
        below = posterior.probability(below=point)
        assert below == pytest.approx(oracle.below(point), abs=2e-5)
        assert posterior.probability(above=point) == pytest.approx(1.0 - below, abs=1e-12)
        assert posterior.probability(above=point, below=point) == 0.0
        expected = float(np.interp(point, oracle.grid, oracle.density))
        assert posterior.density([point])[0] == pytest.approx(expected, rel=1e-3)
    assert posterior.probability(above=-math.inf, below=math.inf) == 1.0
    assert posterior.probability(above=posterior.value + deviation, below=posterior.value) == 0.0
    assert posterior.density([-math.inf, math.inf]).tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    "noise",
    [laplace(2.0), laplace(2.0, 1.0, 0.5), laplace(variance=3.0), laplace(1.0, variance=2.0)],
)
def test_one_observation_is_the_exact_posterior(noise):
    product, exact = ProductPosterior([(10.0, noise)]), ExactPosterior(10.0, noise)
    assert isinstance(product, Posterior)
    assert product.value == pytest.approx(10.0, abs=1e-8)
    assert product.variance == pytest.approx(exact.variance, rel=1e-6)
    for confidence in (0.1, 0.8, 0.95, 0.999):
        expected = exact.interval(confidence)
        np.testing.assert_allclose(product.interval(confidence), expected, atol=2e-5)
        assert product.interval(confidence)[1] >= expected[1] - 1e-9  # never short of the promise
    points = np.linspace(0.0, 20.0, 41)
    np.testing.assert_allclose(product.density(points), exact.density(points), rtol=1e-6)
    assert product.probability(above=12.0) == pytest.approx(exact.probability(above=12.0), abs=1e-8)
    np.testing.assert_allclose(product.support(), exact.support(), rtol=1e-5)


def test_equal_gaussians_average():
    observations = [(v, laplace(variance=2.0)) for v in (1.0, 4.0, 7.0, 0.0)]
    posterior = ProductPosterior(observations)
    expected = stats.norm(3.0, math.sqrt(0.5))
    assert posterior.value == pytest.approx(3.0)
    assert posterior.variance == pytest.approx(0.5)
    np.testing.assert_allclose(posterior.interval(0.95), expected.interval(0.95), rtol=1e-5)


def test_two_observations_hundreds_of_deviations_apart():
    # Equal Laplace noises: anything in between is equally likely.
    posterior = ProductPosterior([(0.0, laplace(1.0)), (1e4, laplace(1.0))])
    assert posterior.value == pytest.approx(5e3)
    assert posterior.variance == pytest.approx(1e8 / 12, rel=1e-3)
    low, high = posterior.interval(0.5)
    assert high - low == pytest.approx(0.5 * (1e4 + 1), rel=1e-5)
    # The heavier tail gives way.
    posterior = ProductPosterior([(0.0, laplace(2.0, 2.0)), (1e4, laplace(1.0, 1.0))])
    assert posterior.value == pytest.approx(1e4, abs=5.0)
    # Gaussians meet in the middle, whatever their distance.
    posterior = ProductPosterior([(0.0, laplace(variance=1.0)), (1e4, laplace(variance=1.0))])
    assert posterior.value == pytest.approx(5e3, abs=1e-6)
    assert posterior.variance == pytest.approx(0.5, rel=1e-6)


def test_intervals_are_widened_by_the_coarsest_grid():
    fine = ProductPosterior([(0.0, laplace(1.0)), (1.0, laplace(2.0))])
    coarse = ProductPosterior([(0.0, laplace(1.0, slack=0.5)), (1.0, laplace(2.0, slack=0.125))])
    low, high = fine.interval(0.9)
    assert coarse.interval(0.9) == pytest.approx((low - 0.5, high + 0.5))
    assert coarse.variance == fine.variance


@pytest.mark.parametrize(
    "observations",
    [
        [],
        [(1.0, ComposedNoise(np.empty(0)))],
        [(math.nan, laplace(1.0))],
        [(math.inf, laplace(1.0))],
    ],
)
def test_bad_observations_are_refused(observations):
    with pytest.raises(AccuracyError):
        ProductPosterior(observations)


@pytest.mark.parametrize("confidence", [0.0, 1.0, -1.0, 2.0, math.nan])
def test_bad_confidences_are_refused(confidence):
    with pytest.raises(AccuracyError):
        ProductPosterior([(0.0, laplace(1.0))]).interval(confidence)


def test_bad_questions_are_refused():
    posterior = ProductPosterior([(0.0, laplace(1.0))])
    with pytest.raises(AccuracyError):
        posterior.probability()
    with pytest.raises(AccuracyError):
        posterior.probability(above=math.nan)
    with pytest.raises(AccuracyError):
        posterior.density([math.nan])
