"""The exact posterior: closed forms, the worked example of BAYES, laws, refusals."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, special, stats

from eke.errors import AccuracyError
from eke.inference.posterior import (
    ComposedNoise,
    ExactPosterior,
    Posterior,
    SymmetricPosterior,
    contour,
    exact_masses,
    halfwidth,
    tail,
)
from eke.inference.posterior.exact import densities
from tests.unit.inference.posterior.oracles import fourier_central, precise_tail

CONFIDENCES = [1e-12, 1e-4, 0.1, 0.5, 0.8, 0.95, 0.99, 1 - 1e-6, 1 - 1e-12, 1 - 2**-53]
MIX = ComposedNoise(np.array([1.0, 0.3, 0.1]), 0.5)


# --- closed forms --------------------------------------------------------------------------------


@pytest.mark.parametrize("confidence", CONFIDENCES)
def test_one_laplace(confidence):
    """Pr(|e| ≤ x) = 1 − exp(−x/b), the right reading of BAYES Th. 5.3."""
    half = halfwidth(ComposedNoise(np.array([3.0])), confidence)
    assert half == pytest.approx(float(stats.expon.ppf(confidence, scale=3.0)), rel=1e-11)


@pytest.mark.parametrize("confidence", CONFIDENCES)
def test_gaussian(confidence):
    half = halfwidth(ComposedNoise(np.empty(0), 4.0), confidence)
    if confidence < 0.5:
        expected = float(stats.chi.ppf(confidence, 1, scale=2.0))
    else:  # from the tail, where the confidence has its digits
        expected = float(stats.norm.isf(0.5 * (1.0 - confidence), scale=2.0))
    assert half == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("confidence", CONFIDENCES)
def test_two_different_laplace_by_partial_fractions(confidence):
    first, second = 2.0, 0.5
    weight = first**2 / (first**2 - second**2)

    def outside(x: float) -> float:
        return weight * math.exp(-x / first) + (1 - weight) * math.exp(-x / second)

    half = halfwidth(ComposedNoise(np.array([first, second])), confidence)
    if confidence < 1e-3:  # 1 − outside has lost its digits, so use that the density is flat here
        density = 0.5 * (weight / first + (1 - weight) / second)
        assert half == pytest.approx(confidence / (2 * density), rel=1e-4)
    else:
        root = optimize.brentq(
            lambda x: math.log(outside(x) / (1 - confidence)), 0, 200, xtol=1e-15
        )
        assert half == pytest.approx(root, rel=1e-10)


def test_a_vanishing_part_changes_nothing():
    """The closed forms and the inversion meet."""
    one, gaussian = ComposedNoise(np.array([1.0])), ComposedNoise(np.empty(0), 1.0)
    nearly_one = ComposedNoise(np.array([1.0, 1e-12]))
    nearly_gaussian = ComposedNoise(np.array([1e-12]), 1.0)
    for x in (-2.0, 0.0, 0.3, 8.0):
        assert tail(nearly_one, x) == pytest.approx(tail(one, x), rel=1e-11)
        assert tail(nearly_gaussian, x) == pytest.approx(tail(gaussian, x), rel=1e-11)
    for c in (0.1, 0.9, 1 - 1e-9):
        assert halfwidth(nearly_one, c) == pytest.approx(halfwidth(one, c), rel=1e-11)
        assert halfwidth(nearly_gaussian, c) == pytest.approx(halfwidth(gaussian, c), rel=1e-11)
    assert densities(nearly_one, [0.5]) == pytest.approx(densities(one, [0.5]), rel=1e-11)


# --- the worked example of BAYES -----------------------------------------------------------------


def bayes_example() -> tuple[float, np.ndarray, np.ndarray]:
    """θ̂, the weights A and the Laplace scales S/α of BAYES eq. 11–13 and 16."""
    H = np.array(
        [
            [1, 1, 0, 0],
            [0, 0, 1, 1],
            [0, 0, 0, 1],
            [0, 0, 1, 0],
            [0, 1, 0, 1],
            [2, 1, 0, 0],
            [0, 0, 2, -1],
            [0, -1, 0, 1],
        ],
        dtype=float,
    )
    alpha = np.array([0.05, 0.1, 0.05, 0.1, 0.1, 0.05, 0.05, 0.1])
    S = np.abs(H).max(axis=1)
    y = np.array([30.8, 30.3, 46.9, 20.2, 30.4, 68.9, 38.9, 9.5])
    Q = np.array([1.0, 0, 1, 0])
    W = np.diag((alpha / S) ** 2)
    A = Q @ np.linalg.solve(H.T @ W @ H, H.T @ W)
    return float(A @ y), A, S / alpha


def test_worked_example_of_bayes():
    """θ̂ and A as printed; the interval and Pr(θ > 0) that its formulas give, not those it prints.

    With cells of width 1, as the paper's methods use, the interval comes out as [−5.39, 89.42]; the
    exact one is 0.02 narrower on each side (next test).
    """
    value, A, scales = bayes_example()
    assert np.round(A, 2).tolist() == [0.48, 0.36, -0.03, 0.50, -0.50, 0.26, 0.07, 0.24]
    posterior = ExactPosterior(value, ComposedNoise(np.abs(A) * scales))
    assert posterior.value == pytest.approx(42.01, abs=0.005)
    assert posterior.variance == pytest.approx(554.45, abs=0.005)
    assert posterior.interval(0.95) == pytest.approx((-5.3695, 89.3971), abs=0.00005)
    assert posterior.probability(above=0.0) == pytest.approx(0.962, abs=0.0005)


def test_worked_example_against_120_digits():
    value, A, scales = bayes_example()
    parts = np.abs(A) * scales
    posterior = ExactPosterior(value, ComposedNoise(parts))
    exact = 1 - precise_tail(parts, 0.0, value)
    assert posterior.probability(above=0.0) == pytest.approx(float(exact), rel=1e-13)
    low, high = posterior.interval(0.95)
    assert float(precise_tail(parts, 0.0, (high - low) / 2)) == pytest.approx(0.025, rel=1e-10)
    assert (
        float(precise_tail(parts, 0.0, 47.3833)) > 0.025 > float(precise_tail(parts, 0.0, 47.3834))
    )


# --- probabilities -------------------------------------------------------------------------------


def test_probability_in_all_its_forms():
    posterior = ExactPosterior(10.0, MIX)
    cdf = {x: 1.0 - tail(MIX, x - 10.0) for x in (8.0, 9.5, 10.0, 11.0, 12.5)}
    assert posterior.probability(above=10.0) == 0.5
    assert posterior.probability(below=11.0) == pytest.approx(cdf[11.0], rel=1e-13)
    assert posterior.probability(above=11.0) == pytest.approx(1 - cdf[11.0], rel=1e-12)
    for above, below in [(8.0, 9.5), (9.5, 11.0), (11.0, 12.5), (10.0, 11.0)]:
        expected = cdf[below] - cdf[above]
        assert posterior.probability(above=above, below=below) == pytest.approx(expected, rel=1e-12)
    assert posterior.probability(above=12.0, below=11.0) == 0.0
    assert posterior.probability(above=11.0, below=11.0) == 0.0
    assert posterior.probability(above=-math.inf) == 1.0
    assert posterior.probability(above=math.inf) == 0.0
    assert posterior.probability(below=-math.inf) == 0.0
    assert posterior.probability(above=-math.inf, below=math.inf) == 1.0


def test_a_far_off_hypothesis_keeps_its_digits_on_both_sides():
    posterior = ExactPosterior(0.0, MIX)
    exact = float(precise_tail(MIX.laplace_scales, 0.5, 60.0))
    assert exact < 1e-25
    assert posterior.probability(above=60.0) == pytest.approx(exact, rel=1e-11)
    assert posterior.probability(below=-60.0) == pytest.approx(exact, rel=1e-11)


# --- density -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "noise",
    [
        MIX,
        ComposedNoise(np.array([2.0])),
        ComposedNoise(np.empty(0), 3.0),
        ComposedNoise(np.array([5.0, 1e-3])),
        ComposedNoise(np.random.default_rng(1).uniform(0.5, 2, 400)),
    ],
)
def test_density_is_symmetric_positive_and_integrates_to_one(noise):
    posterior = ExactPosterior(-3.0, noise)
    high = posterior.support(1 - 1e-12)[1]
    # Each side apart, because a Laplace density has a corner in the middle; and in pieces, because
    # next to the corner a second, tiny scale rounds it off.
    edges = -3.0 + (high + 3.0) * np.concatenate([[0.0], np.geomspace(1e-6, 1.0, 40)])
    nodes, weights = special.roots_legendre(20)
    points = edges[:-1, None] + np.diff(edges)[:, None] * (nodes + 1) / 2
    values = posterior.density(points)
    assert values.shape == points.shape
    assert (values > 0).all()
    assert posterior.density(-6.0 - points) == pytest.approx(values, rel=1e-10)
    area = float((values @ weights * np.diff(edges) / 2).sum())
    assert 2 * area == pytest.approx(1.0, abs=1e-10)


def test_density_takes_scalars_and_infinities():
    posterior = ExactPosterior(1.0, MIX)
    assert posterior.density(1.0).shape == ()
    assert posterior.density([-math.inf, math.inf]).tolist() == [0.0, 0.0]


def test_exact_masses_are_the_probabilities_of_the_cells():
    mass = exact_masses(MIX, 7, 0.5)
    assert mass.masses[3] == pytest.approx(fourier_central(MIX, 0.25), abs=1e-13)
    assert mass.masses[5] == pytest.approx(tail(MIX, 0.75) - tail(MIX, 1.25), rel=1e-12)
    assert mass.masses.tolist() == mass.masses[::-1].tolist()
    assert exact_masses(ComposedNoise(np.empty(0)), 3).masses.tolist() == [0.0, 1.0, 0.0]
    for length in (0, 4, -1):
        with pytest.raises(AccuracyError):
            exact_masses(MIX, length)


# --- laws ----------------------------------------------------------------------------------------

scales = st.floats(1e-4, 1e4)
noises = st.builds(
    lambda parts, gaussian: ComposedNoise(np.array(parts), gaussian),
    st.lists(scales, min_size=1, max_size=40),
    st.one_of(st.just(0.0), st.floats(1e-8, 1e8)),
)
confidences = st.floats(1e-3, 1 - 1e-9)


@given(noises, confidences)
@settings(max_examples=150)
def test_the_interval_holds_what_it_promises_and_no_more(noise, confidence):
    outside = 2.0 * tail(noise, halfwidth(noise, confidence))
    assert outside <= 1.0 - confidence
    assert outside == pytest.approx(1.0 - confidence, rel=1e-9)


@given(noises, st.floats(0.0, 8.0))
@settings(max_examples=100)
def test_quantile_undoes_the_probability(noise, deviations):
    x = (0.01 + deviations) * math.sqrt(noise.variance)
    inside = ExactPosterior(0.0, noise).probability(above=-x, below=x)
    # `inside` is rounded to 1e-16, so x is determined only up to 1e-16/density.
    slack = 4e-16 / float(densities(noise, x)) + 1e-10 * x
    if inside < 1.0:
        assert halfwidth(noise, inside) == pytest.approx(x, abs=slack)


@given(noises, st.floats(0.0, 50.0), st.floats(0.0, 50.0))
@settings(max_examples=100)
def test_tails_fall_and_mirror(noise, one, other):
    deviation = math.sqrt(noise.variance)
    low, high = sorted((one * deviation, other * deviation))
    assert tail(noise, high) <= tail(noise, low) * (1 + 1e-11)
    assert tail(noise, -low) == pytest.approx(1.0 - tail(noise, low), abs=1e-15)


@given(noises, confidences, confidences)
@settings(max_examples=60)
def test_more_confidence_is_never_narrower(noise, one, other):
    low, high = sorted((one, other))
    assert halfwidth(noise, low) <= halfwidth(noise, high) * (1 + 1e-11)


@given(noises, scales, st.floats(0.01, 0.999))
@settings(max_examples=60)
def test_more_noise_is_never_narrower(noise, added, confidence):
    more = ComposedNoise(np.append(noise.laplace_scales, added), noise.gaussian_variance)
    assert halfwidth(noise, confidence) <= halfwidth(more, confidence) * (1 + 1e-10)


@given(noises, st.floats(1e-6, 1e6), st.floats(0.01, 0.999))
@settings(max_examples=60)
def test_widths_scale_with_the_question(noise, factor, confidence):
    scaled = ComposedNoise(factor * noise.laplace_scales, factor**2 * noise.gaussian_variance)
    assert halfwidth(scaled, confidence) == pytest.approx(
        factor * halfwidth(noise, confidence), rel=1e-11
    )


# --- edges and refusals --------------------------------------------------------------------------


def test_an_exact_answer_is_a_point():
    posterior = ExactPosterior(5.0, ComposedNoise(np.empty(0), 0.0, grid_slack=0.125))
    assert posterior.interval(0.99) == (4.875, 5.125)
    assert posterior.probability(above=4.0) == 1.0
    assert posterior.probability(above=5.0) == 0.0
    assert posterior.probability(above=4.0, below=6.0) == 1.0
    assert [tail(posterior.noise, x) for x in (-1.0, 0.0, 1.0)] == [1.0, 0.0, 0.0]
    with pytest.raises(AccuracyError, match="no density"):
        posterior.density([5.0])


def test_it_is_a_posterior():
    posterior = ExactPosterior(1, MIX)
    assert isinstance(posterior, Posterior)
    assert isinstance(posterior, SymmetricPosterior)
    low, high = posterior.interval(0.9)
    assert (high - low) / 2 == pytest.approx(posterior.halfwidth(0.9))
    assert posterior.support() == posterior.interval(0.999)


@pytest.mark.parametrize("confidence", [0.0, 1.0, -0.1, 1.5, math.nan, math.inf])
def test_bad_confidence_is_refused(confidence):
    with pytest.raises(AccuracyError, match="confidence"):
        halfwidth(MIX, confidence)


def test_bad_values_are_refused():
    for value in (math.nan, math.inf):
        with pytest.raises(AccuracyError):
            ExactPosterior(value, MIX)
    posterior = ExactPosterior(0.0, MIX)
    with pytest.raises(AccuracyError, match="above"):
        posterior.probability()
    for bounds in ({"above": math.nan}, {"below": math.nan}, {"above": 0.0, "below": math.nan}):
        with pytest.raises(AccuracyError):
            posterior.probability(**bounds)
    with pytest.raises(AccuracyError):
        posterior.density([0.0, math.nan])
    with pytest.raises(AccuracyError):
        tail(MIX, math.nan)


def test_an_inversion_that_fails_its_check_makes_answers_conservative(monkeypatch):
    right_tail, right_half = tail(MIX, 3.0), halfwidth(MIX, 0.95)
    monkeypatch.setattr(contour, "_AGREEMENT", -1.0)
    MIX.widths.clear()
    assert 0.5 >= tail(MIX, 3.0) > right_tail
    assert right_half < halfwidth(MIX, 0.95) < 2 * right_half
    MIX.widths.clear()
    with pytest.raises(AccuracyError, match="monte_carlo"):
        densities(MIX, [0.0])
