"""The worked examples of BAYES (§2 to §5) and ONLINE (§3), figure by figure."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import integrate, optimize

from eke.history import Row
from eke.inference import Inference
from eke.inference.papers.methods import Method, posterior_by
from eke.inference.papers.product import ProductPosterior
from eke.inference.papers.representation import linear_representations
from eke.privacy.law import Laplace
from tests.unit.inference.dense import domain_of, query_of

BAYES_HISTORY = [
    [1, 1, 0, 0],
    [0, 0, 1, 1],
    [0, 0, 0, 1],
    [0, 0, 1, 0],
    [0, 1, 0, 1],
    [2, 1, 0, 0],
    [0, 0, 2, -1],
    [0, -1, 0, 1],
]
BAYES_BUDGETS = [0.05, 0.1, 0.05, 0.1, 0.1, 0.05, 0.05, 0.1]
BAYES_ANSWERS = [30.8, 30.3, 46.9, 20.2, 30.4, 68.9, 38.9, 9.5]


def history_of(matrix, budgets, answers) -> Inference:
    """Laplace noise of scale S/α with S the largest coefficient (BAYES eq. 9 and 10)."""
    domain = domain_of(len(matrix[0]))
    inference = Inference(domain)
    for row, budget, answer in zip(matrix, budgets, answers, strict=True):
        scale = max(abs(v) for v in row) / budget
        inference.append(Row(query_of(domain, row), answer, Laplace(scale)))
    return inference


@pytest.fixture(scope="module")
def bayes() -> Inference:
    return history_of(BAYES_HISTORY, BAYES_BUDGETS, BAYES_ANSWERS)


def fourier_tail(laplace_scales, x: float) -> float:
    """Pr(e > x) by Gil-Pelaez: ½ − (1/π)·∫ φ(t)·sin(t·x)/t dt (shares nothing with the package)."""

    def integrand(t: float) -> float:
        return float(
            np.prod(1.0 / (1.0 + (np.asarray(laplace_scales) * t) ** 2)) * math.sin(t * x) / t
        )

    # φ falls like t^-16: beyond 40/scale nothing is left.
    end = 40.0 / min(laplace_scales)
    cuts = np.concatenate(([1e-12], np.geomspace(1e-4, end, 60)))
    total = sum(
        integrate.quad(integrand, a, b, epsabs=1e-14, limit=200)[0]
        for a, b in itertools.pairwise(cuts)
    )
    return 0.5 - (total + 1e-12 * x) / math.pi


def test_bayes_cells(bayes):
    """x̂ = [24.9, 10.1, 17.0, 19.5] (§3), which the paper cuts off after one digit."""
    found = [
        bayes.posterior(query_of(bayes.domain, np.eye(4, dtype=int)[j])).value for j in range(4)
    ]
    assert [math.floor(10 * x) / 10 for x in found] == [24.9, 10.1, 17.0, 19.5]


def test_bayes_weights(bayes):
    """A = [0.48 0.36 -0.03 0.50 -0.50 0.26 0.07 0.24] (eq. 26)."""
    estimate = bayes.regression.estimate(query_of(bayes.domain, [1, 0, 1, 0]))
    weights = np.zeros(8)
    weights[estimate.rows] = estimate.weights
    np.testing.assert_allclose(
        weights, [0.48, 0.36, -0.03, 0.50, -0.50, 0.26, 0.07, 0.24], atol=0.0051
    )


def test_bayes_estimate_and_variance(bayes):
    """θ̂ = 42.0 (§3); Var = 2·Q(HᵀWH)⁻¹Qᵀ = 554.45 (eq. 17)."""
    posterior = bayes.posterior(query_of(bayes.domain, [1, 0, 1, 0]))
    assert posterior.value == pytest.approx(42.01, abs=0.005)
    assert posterior.variance == pytest.approx(554.45, abs=0.005)
    history, precision = np.array(BAYES_HISTORY, float), np.array(BAYES_BUDGETS)
    precision = (precision / np.abs(history).max(axis=1)) ** 2
    question = np.array([1.0, 0, 1, 0])
    inverse = np.linalg.inv(history.T @ (precision[:, None] * history))
    assert posterior.variance == pytest.approx(2.0 * question @ inverse @ question, rel=1e-10)


def test_bayes_interval_and_probability(bayes):
    """The paper prints [-41, 125] and 0.88, which its own formulas do not give."""
    question = query_of(bayes.domain, [1, 0, 1, 0])
    posterior = bayes.posterior(question)
    scales = posterior.noise.laplace_scales
    half = optimize.brentq(lambda x: fourier_tail(scales, x) - 0.025, 20.0, 80.0, xtol=1e-9)
    low, high = posterior.interval(0.95)
    assert low == pytest.approx(posterior.value - half, abs=1e-6)
    assert high == pytest.approx(posterior.value + half, abs=1e-6)
    assert (low, high) == pytest.approx((-5.3695, 89.3971), abs=1e-3)
    positive = 1.0 - fourier_tail(scales, posterior.value)
    assert posterior.probability(above=0.0) == pytest.approx(positive, abs=1e-9)
    assert posterior.probability(above=0.0) == pytest.approx(0.962, abs=5e-4)
    methods: tuple[Method, ...] = ("convolution", "monte_carlo")
    for method in methods:
        other = posterior_by(method, bayes, question)
        assert other is not None
        np.testing.assert_allclose(other.interval(0.95), (low, high), atol=0.6)
        assert other.probability(above=0.0) == pytest.approx(0.962, abs=3e-3)


ONLINE_HISTORY = [
    [0, 1, 0, 0, 1, 0, 0, 0, 0],
    [0, 0, 0, 0, 0, 0, 0, 1, 1],
    [0, 0, 0, 0, 4, 2, 0, 0, 0],
    [0, 0, 0, 0, 2, 0, 0, 0, 0],
    [0, 0, 0, 0, 1, 1, 0, -1, -1],
    [0, 1, 0, 0, 0, 0, 0, 0, 0],
    [0, 0, 0, 0, 0, 2, 0, 0, 0],
]
ONLINE_BUDGETS = [0.05, 0.1, 0.05, 0.1, 0.1, 0.05, 0.05]
# The paper gives no y, only the observations of Figure 5; these answers lead to them.
ONLINE_ANSWERS = [70.0, 1.0, 246.68, 100.0, 90.12, 31.54, 80.0]


@pytest.fixture(scope="module")
def online() -> Inference:
    return history_of(ONLINE_HISTORY, ONLINE_BUDGETS, ONLINE_ANSWERS)


def test_online_representations(online):
    """T of eq. 29, and the observations 73.34, 91.12, 78.46 of Figure 5."""
    question = query_of(online.domain, [0, 0, 0, 0, 1, 1, 0, 0, 0])
    found = linear_representations([row.query for row in online.rows], question)
    expected = [
        [0, 0, 0.5, -0.5, 0, 0, 0],
        [0, 1, 0, 0, 1, 0, 0],
        [1, 0, 0, 0, 0, -1, 0.5],
    ]
    np.testing.assert_allclose(np.array(found), np.array(expected), atol=1e-12)
    np.testing.assert_allclose(np.array(found) @ np.array(ONLINE_ANSWERS), [73.34, 91.12, 78.46])


def sum_of_two(x, wide: float, narrow: float):
    """The density of a sum of two Laplace noises of different scales."""
    size = np.abs(x)
    both = wide * np.exp(-size / wide) - narrow * np.exp(-size / narrow)
    return both / (2.0 * (wide**2 - narrow**2))


def sum_of_equals(x, count: int, scale: float):
    """The density of a sum of two or three equal Laplace noises."""
    size = np.abs(x) / scale
    shape = {2: (1.0 + size) / 4.0, 3: (3.0 + 3.0 * size + size**2) / 16.0}[count]
    return shape * np.exp(-size) / scale


def test_online_posterior(online):
    """θ̂ = 84 and [68, 102] at 80 % (Figure 5), simulated and rounded; exactly, 85.91 and
    [67.38, 104.39]."""
    question = query_of(online.domain, [0, 0, 0, 0, 1, 1, 0, 0, 0])
    posterior = posterior_by("product", online, question)
    assert isinstance(posterior, ProductPosterior)
    noises = [sorted(noise.laplace_scales.tolist()) for _, noise in posterior.observations]
    assert noises == [
        pytest.approx([10.0, 40.0]),
        pytest.approx([10.0, 10.0]),
        pytest.approx([20.0, 20.0, 20.0]),
    ]
    grid = np.linspace(-700.0, 900.0, 320_001)
    density = sum_of_two(grid - 73.34, 40.0, 10.0) * sum_of_equals(grid - 91.12, 2, 10.0)
    density *= sum_of_equals(grid - 78.46, 3, 20.0)
    density /= density.sum()
    assert posterior.value == pytest.approx(float(density @ grid), abs=1e-3)
    low, high = posterior.interval(0.8)
    held = density[(grid > low) & (grid < high)].sum()
    assert held == pytest.approx(0.8, abs=1e-4)
    inside = np.sort(density)[::-1].cumsum() <= 0.8
    assert high - low == pytest.approx(inside.sum() * 0.005, abs=0.02)  # no narrower set holds it
    assert (posterior.value, low, high) == pytest.approx((85.912, 67.382, 104.393), abs=1e-3)
    assert (posterior.value, low, high) == pytest.approx((84.0, 68.0, 102.0), abs=2.5)
