"""BAYES's probability calculation against the exact law, within the errors it states."""

import math

import numpy as np
import pytest

from eke.errors import AccuracyError
from eke.inference.papers.convolution import ConvolutionPosterior, convolved_mass, default_step
from eke.inference.posterior import (
    ComposedNoise,
    ExactPosterior,
    Posterior,
    exact_masses,
    mass_error,
    tail,
)
from tests.unit.inference.posterior.test_exact import bayes_example

NOISES = [
    ComposedNoise(np.array([20.0])),
    ComposedNoise(np.array([9.6, 3.6, 0.6, 5.0, 5.0, 10.4, 2.8, 2.4])),
    ComposedNoise(np.empty(0), 400.0),
    ComposedNoise(np.random.default_rng(1).uniform(0.5, 30.0, 40), 100.0),
]


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("method", ["fft", "direct"])
def test_it_loses_at_most_gamma_and_rounds_each_part_by_at_most_half_a_step(noise, method):
    """The rigorous sandwich: m·step/2 of rounding inside, gamma of lost mass below."""
    gamma, step = 0.01, 0.25
    mass = convolved_mass(noise, gamma=gamma, step=step, method=method)
    assert 1 - gamma <= mass.total <= 1 + 1e-12
    parts = noise.laplace_scales.size + (noise.gaussian_variance > 0)
    deviation = math.sqrt(noise.variance)
    for cells in (3, round(deviation / step), round(2.5 * deviation / step)):
        inside = float(mass.masses[mass.reach - cells : mass.reach + cells + 1].sum())
        high = (cells + 0.5 * parts) * step + 0.5 * step
        low = max((cells - 0.5 * parts) * step, 0.0)
        assert inside <= 1 - 2 * tail(noise, high) + 1e-12
        assert inside >= 1 - 2 * tail(noise, low) - gamma - 1e-12


@pytest.mark.parametrize("noise", NOISES)
def test_both_orders_of_convolution_give_the_same_vector(noise):
    fast = convolved_mass(noise, gamma=1e-6, step=0.5)
    slow = convolved_mass(noise, gamma=1e-6, step=0.5, method="direct")
    assert fast.masses == pytest.approx(slow.masses, abs=1e-14)


def test_one_part_is_not_rounded_at_all():
    noise = ComposedNoise(np.array([20.0]))
    mass = convolved_mass(noise, gamma=1e-9)
    assert mass.masses == pytest.approx(exact_masses(noise, mass.masses.size).masses, abs=1e-15)
    gaussian = ComposedNoise(np.empty(0), 50.0)
    mass = convolved_mass(gaussian, gamma=1e-9)
    assert mass.masses == pytest.approx(exact_masses(gaussian, mass.masses.size).masses, abs=1e-15)


def test_lengths_are_the_paper_s():
    """BAYES §4.3: for |A|·S/α = 0.48/0.05, m = 8 and γ = 0.01, |v| = 129."""
    eight = convolved_mass(ComposedNoise(np.full(8, 0.48 / 0.05)), gamma=0.01)
    assert eight.masses.size == 8 * 128 + 1


def test_worked_example_of_bayes():
    """γ = 0.01 and step 1: the error (Def. 4.2) is below γ² as Th. 4.5 says."""
    value, A, scales = bayes_example()
    noise = ComposedNoise(np.abs(A) * scales)
    posterior = ConvolutionPosterior(value, noise, gamma=0.01, step=1.0, method="direct")
    masses = posterior.mass.masses
    assert mass_error(masses, exact_masses(noise, masses.size).masses) < 0.01**2
    exact = ExactPosterior(value, noise)
    # The lost mass counts as outside, so the interval is at most wider.
    low, high = posterior.interval(0.95)
    assert exact.halfwidth(0.95) <= (high - low) / 2 <= exact.halfwidth(0.95 + 0.01) + 1.5
    assert posterior.probability(above=0.0) == pytest.approx(exact.probability(above=0), abs=0.01)


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e3])
def test_default_step_suits_small_noises_too(unit, confidence):
    noise = ComposedNoise(unit * np.random.default_rng(2).uniform(0.2, 2.0, 30), unit**2 * 4.0)
    found, exact = ConvolutionPosterior(3.0, noise), ExactPosterior(3.0, noise)
    assert found.step is not None
    assert found.step <= 1.0
    assert found.halfwidth(confidence) == pytest.approx(
        exact.halfwidth(confidence), rel=2e-3, abs=found.step
    )
    deviation = math.sqrt(noise.variance)
    points = 3.0 + deviation * np.array([-2.0, -0.5, 0.0, 1.0])
    assert found.density(points) == pytest.approx(exact.density(points), rel=0.02)
    assert found.probability(below=3.0 + deviation) == pytest.approx(
        exact.probability(below=3.0 + deviation), abs=1e-3
    )


def test_the_paper_s_step_blurs_noise_smaller_than_it():
    """Why `step` exists: at step 1 a noise of scale 0.01 falls into one cell."""
    noise = ComposedNoise(np.full(50, 0.01))
    assert ConvolutionPosterior(0.0, noise, step=1.0).halfwidth(0.95) == 0.5
    assert default_step(noise) < 0.01


def test_it_is_a_posterior_and_adds_the_grid_slack():
    noise = ComposedNoise(np.array([5.0, 2.0]), 1.0)
    slack = ComposedNoise(np.array([5.0, 2.0]), 1.0, grid_slack=0.125)
    posterior = ConvolutionPosterior(1.0, noise)
    assert isinstance(posterior, Posterior)
    assert posterior.variance == noise.variance
    assert posterior.support() == posterior.interval(0.999)
    widened = ConvolutionPosterior(1.0, slack)
    assert widened.halfwidth(0.9) == pytest.approx(posterior.halfwidth(0.9) + 0.125)


def test_no_noise_is_one_cell():
    posterior = ConvolutionPosterior(2.0, ComposedNoise(np.empty(0)), step=1e-6)
    assert posterior.interval(0.9) == pytest.approx((2.0, 2.0), abs=1e-6)


@pytest.mark.parametrize(
    "arguments",
    [
        {"gamma": 0.0},
        {"gamma": 1.0},
        {"gamma": math.nan},
        {"step": 0.0},
        {"step": -1.0},
        {"step": math.nan},
        {"step": 1e-9},  # a vector longer than memory
        {"method": "magic"},
    ],
)
def test_bad_arguments_are_refused(arguments):
    with pytest.raises(AccuracyError):
        ConvolutionPosterior(0.0, NOISES[1], **arguments)


def test_confidence_beyond_gamma_is_refused():
    with pytest.raises(AccuracyError, match="gamma"):
        ConvolutionPosterior(0.0, NOISES[1], gamma=0.05).halfwidth(0.99)
