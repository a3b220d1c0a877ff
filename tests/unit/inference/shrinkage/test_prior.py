"""Priors from noisy counts are positive, add up to one, and ignore noise."""

import numpy as np
import pytest

from eke.domain import Domain, Integer
from eke.errors import EstimateError
from eke.history import Measurement
from eke.inference.shrinkage import measured_prior, onto_simplex, prior_from_history
from eke.privacy.law import Laplace
from eke.query import count, marginal

DOMAIN = Domain(a=Integer(0, 3), b=Integer(0, 1))


def test_negative_counts_become_small_probabilities() -> None:
    prior = measured_prior(DOMAIN, {"a": [60.0, 45.0, -5.0, 0.0]}, {"a": 9.0})
    assert prior.vectors["a"].sum() == pytest.approx(1.0)
    assert (prior.vectors["a"] > 0).all()
    assert prior.vectors["a"][2] < 0.01
    assert prior.vectors["b"].tolist() == [0.5, 0.5]


def test_counts_that_are_all_noise_leave_the_prior_uniform() -> None:
    prior = measured_prior(DOMAIN, {"a": [3.0, -4.0, 1.0, 1.0]}, {"a": 100.0})
    assert prior.vectors["a"].tolist() == [0.25] * 4


@pytest.mark.parametrize("seed", range(5))
def test_the_simplex_projection_is_the_nearest_point(seed: int) -> None:
    generator = np.random.default_rng(seed)
    numbers = generator.normal(1.0, 3.0, 6)
    found = onto_simplex(numbers, 4.0)
    assert found.sum() == pytest.approx(4.0)
    assert (found >= 0).all()
    others = 4.0 * generator.dirichlet(np.ones(6), 2000)
    nearest = float(((others - numbers) ** 2).sum(axis=1).min())
    assert float(((found - numbers) ** 2).sum()) <= nearest + 1e-9


def test_histories_are_searched_for_single_marginals() -> None:
    block = marginal("b").on(DOMAIN)
    history = [
        Measurement(block, Laplace(1.0), (80.0, 20.0)),
        Measurement(block, Laplace(100.0), (20.0, 80.0)),
        Measurement(marginal("a", "b").on(DOMAIN), Laplace(1.0), (1.0,) * 8),
        Measurement(count().on(DOMAIN), Laplace(1.0), (100.0,)),
        Measurement(marginal("a", of=count(b=1)).on(DOMAIN), Laplace(1.0), (9.0,) * 4),
    ]
    prior = prior_from_history(DOMAIN, history)
    assert prior.vectors["b"] == pytest.approx([0.8, 0.2], abs=0.001)
    assert prior.vectors["a"].tolist() == [0.25] * 4


def test_malformed_counts_are_refused() -> None:
    with pytest.raises(EstimateError, match="numbers"):
        measured_prior(DOMAIN, {"a": [1.0]}, {"a": 1.0})
