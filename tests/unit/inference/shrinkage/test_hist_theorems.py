"""HIST Prop. 1 to 3 and Th. 1 to 4 as numbers, against matrices over all cells."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from eke.inference.features import HistoryFeatures
from eke.inference.papers.eigenquery import Eigenqueries, eigenqueries
from eke.inference.shrinkage import Evidence, Factorisation, Noise, Shrinkage
from eke.query import Query, TermStack, inner
from tests.unit.inference.shrinkage.worlds import (
    DOMAIN,
    PRIOR,
    World,
    matrix_of,
    random_covariance,
    random_query,
)

Reals = NDArray[np.float64]


class Case:
    """Evidence with dense noise covariance and the eigenqueries of it."""

    def __init__(self, seed: int) -> None:
        generator = np.random.default_rng(seed)
        self.world = World.drawn(generator)
        self.covariance = random_covariance(self.world.size, generator)
        noise = Noise.of_covariance(self.covariance)
        errors = generator.multivariate_normal(np.zeros(self.world.size), self.covariance)
        self.values = self.world.matrix @ self.world.histogram + errors
        self.evidence = Evidence.of(self.world.features, self.values, noise, PRIOR, "ignored")
        self.eigen: Eigenqueries = eigenqueries(self.evidence)
        self.queries = [random_query(generator) for _ in range(6)]
        self.asked = self.evidence.asked(HistoryFeatures.of(DOMAIN, list(self.queries)))
        self.coefficients = matrix_of(list(self.queries))

    @property
    def scaled(self) -> Reals:
        """H·diag(√p0): dot products of its rows are the inner products."""
        return self.world.matrix * np.sqrt(self.world.p0)


@pytest.fixture(params=range(3))
def case(request: pytest.FixtureRequest) -> Case:
    return Case(request.param)


def test_proposition_1_eigenqueries_are_an_orthonormal_basis_of_the_span(case: Case) -> None:
    vectors = case.eigen.coefficients @ case.scaled
    np.testing.assert_allclose(vectors @ vectors.T, np.eye(case.eigen.rank), atol=1e-7)
    assert case.eigen.rank == np.linalg.matrix_rank(case.scaled)
    inside = case.scaled @ vectors.T @ vectors
    np.testing.assert_allclose(inside, case.scaled, atol=1e-7)


def test_proposition_2_their_answers_are_least_squares(case: Case) -> None:
    root = np.linalg.cholesky(case.covariance)
    solution = np.linalg.pinv(np.linalg.solve(root, case.scaled), rcond=1e-10) @ np.linalg.solve(
        root, case.values
    )
    least_squares = case.eigen.coefficients @ case.scaled @ solution
    np.testing.assert_allclose(case.eigen.answers, least_squares, rtol=1e-6, atol=1e-6)


def test_proposition_3_their_errors_are_uncorrelated(case: Case) -> None:
    spread = case.eigen.coefficients @ case.covariance @ case.eigen.coefficients.T
    np.testing.assert_allclose(spread, np.diag(case.eigen.variances), rtol=1e-7, atol=1e-7)


def test_theorems_1_and_2_inner_products_by_small_vectors(case: Case) -> None:
    first, second = case.queries[0], case.queries[1]
    rows = matrix_of([first, second])
    expected = float((rows[0] * case.world.p0) @ rows[1])
    assert inner(first, second, PRIOR) == pytest.approx(expected, abs=1e-12)
    stack = TermStack(PRIOR)
    stack.append(first)
    assert stack.against(second)[0] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("alpha", [0.3, 3.0, 50.0, math.inf])
def test_theorem_3_shrinkage_is_the_eigenquery_formula(case: Case, alpha: float) -> None:
    by_eigenqueries = case.eigen.estimate(case.asked, alpha)
    by_ridge = Shrinkage(Factorisation(case.evidence), alpha).estimate_asked(case.asked).values
    np.testing.assert_allclose(by_ridge, by_eigenqueries, rtol=1e-7, atol=1e-7)


def test_theorem_3_no_other_estimable_question_has_a_smaller_objective(case: Case) -> None:
    alpha, generator = 4.0, np.random.default_rng(0)
    weights = Shrinkage(Factorisation(case.evidence), alpha).estimate_asked(case.asked).weights

    def objective(combination: Reals, query: Reals) -> float:
        apart = query - combination @ case.world.matrix
        bias = float(apart @ (case.world.p0 * apart))
        return alpha**2 * bias + float(combination @ case.covariance @ combination)

    for column, query in enumerate(case.coefficients):
        best = weights[:, column]
        least = objective(best, query)
        for size in (1e-3, 1e-1):
            other = best + size * generator.standard_normal(len(best))
            assert objective(other, query) > least


def test_theorem_3_estimates_are_consistent(case: Case) -> None:
    first, second = case.queries[:2]
    estimator = Shrinkage(Factorisation(case.evidence), 2.0)
    one, two, both = estimator.estimate([first, second, _sum(first, second)]).values
    assert both == pytest.approx(one + two)


def test_theorem_4_is_unbiased() -> None:
    """N = 4,000 histories: the mean estimated error is within 4 deviations of the true one.

    Positive control: without subtracting the variance it is 40 deviations off.
    """
    generator = np.random.default_rng(11)
    truth = generator.normal(0.0, 3.0, 50)
    estimates = truth + generator.normal(0.5, 1.0, (4000, 50))
    seen = truth + generator.normal(0.0, 2.0, (4000, 50))
    raw = ((estimates - seen) ** 2).mean(axis=1)
    true = float(((estimates - truth) ** 2).mean())
    deviation = float(raw.std()) / math.sqrt(len(raw))
    assert abs(float(raw.mean()) - 4.0 - true) < 4 * deviation
    assert abs(float(raw.mean()) - true) > 40 * deviation


def _sum(first: Query, second: Query) -> Query:
    return first + second
