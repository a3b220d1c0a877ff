"""BAYES's Monte Carlo method against the exact law, within its sampling error."""

import math

import numpy as np
import pytest

from eke.errors import AccuracyError
from eke.inference.papers.monte_carlo import MonteCarloPosterior, required_sample_size
from eke.inference.posterior import (
    ComposedNoise,
    ExactPosterior,
    Posterior,
    exact_masses,
    mass_error,
    tail,
)
from tests.unit.inference.posterior.test_exact import bayes_example

N = 200_000
# Dvoretzky–Kiefer–Wolfowitz: the largest distance of N draws from their own law exceeds this with
# probability below 1e-9.
FARTHEST = math.sqrt(math.log(2 / 1e-9) / (2 * N))

NOISES = [
    ComposedNoise(np.array([2.0])),
    ComposedNoise(np.array([1.0, 0.3, 0.3, 5.0]), 4.0),
    ComposedNoise(np.empty(0), 9.0),
    ComposedNoise(np.random.default_rng(1).exponential(size=25)),
]


def distance(posterior: MonteCarloPosterior, noise: ComposedNoise) -> float:
    """The distance between the share of draws and the exact law, over 60 points."""
    points = np.linspace(-4, 4, 60) * math.sqrt(noise.variance)
    share = np.searchsorted(posterior.draws, points, side="right") / posterior.sample_size
    exact = np.array([1.0 - tail(noise, float(x)) for x in points])
    return float(np.abs(share - exact).max())


@pytest.mark.parametrize("noise", NOISES)
def test_draws_follow_the_exact_law(noise):
    """N = 200,000; false alarm 1e-9. Control: the same noise 10 % larger is flagged."""
    posterior = MonteCarloPosterior(0.0, noise, N, np.random.default_rng(11))
    assert distance(posterior, noise) < FARTHEST
    larger = ComposedNoise(1.1 * noise.laplace_scales, 1.21 * noise.gaussian_variance)
    broken = MonteCarloPosterior(0.0, larger, N, np.random.default_rng(11))
    assert distance(broken, noise) > FARTHEST


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.99])
def test_intervals_and_probabilities_agree_with_the_exact_ones(confidence):
    """N = 200,000: each within the distance that the law of the draws may have."""
    noise = NOISES[1]
    found = MonteCarloPosterior(7.0, noise, N, np.random.default_rng(12))
    exact = ExactPosterior(7.0, noise)
    covered = 1.0 - 2.0 * tail(noise, found.halfwidth(confidence))
    assert covered == pytest.approx(confidence, abs=2 * FARTHEST)
    for bounds in ({"above": 8.0}, {"below": 3.0}, {"above": 5.0, "below": 9.0}):
        assert found.probability(**bounds) == pytest.approx(
            exact.probability(**bounds), abs=2 * FARTHEST
        )


def test_density_agrees_with_the_exact_one():
    """N = 200,000, cells of a seventeenth of a deviation: about 4700 draws in the middle cell."""
    noise = NOISES[1]
    found = MonteCarloPosterior(7.0, noise, N, np.random.default_rng(13))
    points = 7.0 + np.array([-6.0, -1.0, 0.0, 2.0, 9.0])
    exact = ExactPosterior(7.0, noise).density(points)
    assert found.density(points) == pytest.approx(exact, rel=0.15)


def test_error_of_the_mass_vector_is_below_the_paper_s_bound():
    """BAYES Cor. 4.1 on its worked example, N = 200,000 draws and whole cells.

    Control: draws of a noise 50 % larger break the bound.
    """
    value, A, scales = bayes_example()
    noise = ComposedNoise(np.abs(A) * scales)
    larger = ComposedNoise(1.5 * noise.laplace_scales)

    def error_and_bound(drawn: ComposedNoise) -> tuple[float, float]:
        u = MonteCarloPosterior(value, drawn, N, np.random.default_rng(14)).mass().masses
        bound = u.size / (N - 1) * u.max() * (1 - u.max())
        return mass_error(u, exact_masses(noise, u.size).masses), float(bound)

    error, bound = error_and_bound(noise)
    assert error < bound
    error, bound = error_and_bound(larger)
    assert error > bound


def test_required_sample_size_is_corollary_4_1():
    u = np.array([0.2, 0.6, 0.2])
    assert required_sample_size(u, 0.01, least=1) == math.floor(3 / 1e-4 * 0.6 * 0.4 + 1) + 1
    assert required_sample_size(u, 0.5) == 10_000
    for gamma in (0.0, 1.0, math.nan):
        with pytest.raises(AccuracyError):
            required_sample_size(u, gamma)
    for masses in (np.empty(0), np.array([[0.5]]), np.array([math.nan]), np.array([1.5])):
        with pytest.raises(AccuracyError):
            required_sample_size(masses, 0.1)


def test_mass_vector_counts_rounded_draws():
    posterior = MonteCarloPosterior(0.0, NOISES[0], 1000, np.random.default_rng(15))
    mass = posterior.mass(0.5)
    cells = np.rint(posterior.draws / 0.5).astype(int)
    assert mass.reach == np.abs(cells).max()
    for cell in (-3, 0, 2):
        assert mass.masses[mass.reach + cell] == (cells == cell).sum() / 1000
    assert mass.total == pytest.approx(1.0)


def test_direction_theta_is_the_value_minus_the_error():
    """Five draws are lopsided enough to tell θ̂ − e from θ̂ + e."""
    posterior = MonteCarloPosterior(10.0, NOISES[0], 5, np.random.default_rng(16))
    theta = 10.0 - posterior.draws
    for bound in (8.0, 9.5, 10.0, 10.7):
        assert posterior.probability(above=bound) == (theta > bound).mean()
        assert posterior.probability(below=bound) == (theta < bound).mean()
    assert posterior.probability(above=9.0, below=9.0) == 0.0


def test_it_is_a_posterior_with_fresh_draws_by_default():
    one, other = (MonteCarloPosterior(0.0, NOISES[0], 100) for _ in range(2))
    assert isinstance(one, Posterior)
    assert one.draws.tolist() != other.draws.tolist()
    assert one.variance == NOISES[0].variance
    assert not one.draws.flags.writeable


def test_grid_slack_widens_the_interval():
    bare = MonteCarloPosterior(0.0, ComposedNoise(np.array([1.0])), 99, np.random.default_rng(17))
    slack = MonteCarloPosterior(
        0.0, ComposedNoise(np.array([1.0]), 0.0, 0.25), 99, np.random.default_rng(17)
    )
    assert slack.halfwidth(0.8) == pytest.approx(bare.halfwidth(0.8) + 0.25)
    assert slack.support(0.9) == slack.interval(0.9)


def test_no_noise_and_refusals():
    exact = MonteCarloPosterior(4.0, ComposedNoise(np.empty(0)), 10)
    assert exact.interval(0.5) == (4.0, 4.0)
    assert exact.probability(above=3.0) == 1.0
    with pytest.raises(AccuracyError, match="no density"):
        exact.density([4.0])
    posterior = MonteCarloPosterior(0.0, NOISES[0], 10, np.random.default_rng(18))
    with pytest.raises(AccuracyError, match="sample_size"):
        posterior.halfwidth(0.99)
    for step in (0.0, math.nan, 1e-12):
        with pytest.raises(AccuracyError):
            posterior.mass(step)
    with pytest.raises(AccuracyError):
        MonteCarloPosterior(0.0, NOISES[0], 0)
    with pytest.raises(AccuracyError):
        MonteCarloPosterior(math.nan, NOISES[0], 10)
