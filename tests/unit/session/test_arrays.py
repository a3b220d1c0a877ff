"""Answers from elsewhere with correlated noise: against the formulas, written out as matrices."""

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import softmax

import eke
from eke.errors import EstimateError, QueryError

MATRIX = np.array(
    [[1, 1, 0, 0], [0, 1, 1, 0], [1, 1, 1, 1], [0, 0, 1, 1], [1, 0, 0, 1]], dtype=float
)
VALUES = np.array([30.0, 42.0, 100.0, 66.0, 61.0])
ROOT = np.tril(np.array([[((3 * i + 2 * j) % 5 + 1) / 4 for j in range(5)] for i in range(5)]))
COVARIANCE = ROOT @ ROOT.T
ASKED = np.array([1.0, 1.0, 1.0, 0.0])


def correlated() -> eke.History:
    return eke.History.from_arrays(MATRIX, VALUES, covariance=COVARIANCE)


def test_unbiased_estimates_are_generalised_least_squares() -> None:
    asked = np.array([1.0, 2.0, 1.0, 0.0])  # the first row and the second
    inverse = np.linalg.inv(COVARIANCE)
    information = MATRIX.T @ inverse @ MATRIX
    best = asked @ np.linalg.pinv(information) @ MATRIX.T @ inverse @ VALUES
    variance = asked @ np.linalg.pinv(information) @ asked
    found = correlated().estimate(asked)
    assert found.value == pytest.approx(best)
    assert found.variance == pytest.approx(variance)
    independent = eke.History.from_arrays(MATRIX, VALUES, covariance=np.diag(np.diag(COVARIANCE)))
    assert independent.estimate(asked).value != pytest.approx(best)  # the control


def test_shrinkage_is_the_formula_with_the_whole_covariance() -> None:
    """θ̂ = kᵀ(K + Σ/α²)⁻¹(y − n·u) + n·m with the n that makes it right for every n."""
    alpha, p0 = 7.0, np.array([1, 2, 3, 4]) / 10.0
    means, mean = MATRIX @ p0, float(ASKED @ p0)
    kernel = (MATRIX * p0) @ MATRIX.T - np.outer(means, means)
    cross = (MATRIX * p0) @ ASKED - means * mean
    inverse = np.linalg.inv(kernel + COVARIANCE / alpha**2)
    total = (means @ inverse @ VALUES) / (means @ inverse @ means)
    best = cross @ inverse @ (VALUES - total * means) + total * mean
    found = correlated().shrunk(ASKED, prior={"cell": [1, 2, 3, 4]}, alpha=alpha)
    assert found.value == pytest.approx(best)


def test_maximum_entropy_weighs_by_the_covariance() -> None:
    """At the optimum the answers are met as Σ says: by brute force over distributions of cells."""
    alpha = 2.0
    history = correlated()
    total = history.shrunk(np.ones(4)).value
    inverse = np.linalg.inv(COVARIANCE)

    def distance(logarithms: np.ndarray) -> float:
        p = softmax(logarithms)
        off = VALUES - total * MATRIX @ p
        return float(p @ np.log(4 * p) + 0.5 * alpha * off @ inverse @ off)

    often: Any = {"maxiter": 20_000, "maxfev": 20_000, "xatol": 1e-10, "fatol": 1e-10}
    starts = (np.zeros(4), np.arange(4.0))
    tried = [minimize(distance, one, method="Nelder-Mead", options=often) for one in starts]
    p = softmax(min(tried, key=lambda best: best.fun).x)
    found = history.by_entropy(ASKED, alpha=alpha)
    assert found == pytest.approx(total * float(ASKED @ p), rel=1e-3)


def test_alpha_is_chosen_where_it_is_not_given() -> None:
    rng = np.random.default_rng(5)
    matrix = rng.integers(0, 2, (40, 6)).astype(float)
    values = matrix @ np.array([5.0, 9.0, 2.0, 30.0, 8.0, 6.0]) + rng.normal(0.0, 2.0, 40)
    covariance = 4.0 * np.eye(40) + 0.5
    history = eke.History.from_arrays(matrix, values, covariance=covariance)
    low, high = history.shrunk(np.eye(6)[3], folds=4).interval(0.99)
    assert low < 30.0 < high
    assert history.by_entropy(np.eye(6)[3]) == pytest.approx(30.0, abs=15.0)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (np.eye(4), "5 × 5"),
        (-np.eye(5), "positive definite"),
        (np.eye(5) + np.triu(np.ones((5, 5)), 1), "symmetric"),
        (np.full((5, 5), np.nan), "covariance"),
        ("many", "matrix of numbers"),
    ],
)
def test_what_is_no_covariance_is_refused(given: object, said: str) -> None:
    with pytest.raises(EstimateError, match=said):
        eke.History.from_arrays(MATRIX, VALUES, covariance=given)  # type: ignore[arg-type]


def test_noise_is_said_once() -> None:
    with pytest.raises(QueryError, match="laplace_scales or as covariance"):
        eke.History.from_arrays(MATRIX, VALUES)
    with pytest.raises(QueryError, match="laplace_scales or as covariance"):
        eke.History.from_arrays(MATRIX, VALUES, np.ones(5), covariance=COVARIANCE)
    with pytest.raises(EstimateError, match="independent noise"):
        correlated().estimate(MATRIX[0], "product")
    with pytest.raises(EstimateError, match="does not determine"):
        correlated().estimate([1.0, 0.0, 0.0, 0.0])
