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


def test_margins_of_all_marginals_are_averaged_by_their_precision() -> None:
    """Of several tables, each with a margin of its own, a weighted mean; the rest is no use."""
    both, only = marginal("a", "b").on(DOMAIN), marginal("b").on(DOMAIN)
    rng = np.random.default_rng(3)
    cells, noisy = rng.uniform(50.0, 90.0, (4, 2)), np.array([300.0, 260.0])
    history = [
        Measurement(both, Laplace(1.0), tuple(cells.reshape(-1))),
        Measurement(only, Laplace(2.0), tuple(noisy)),
        Measurement(count().on(DOMAIN), Laplace(1e-3), (1.0,)),
        Measurement(marginal("a", of=count(b=1)).on(DOMAIN), Laplace(1e-3), (9.0, 1.0, 1.0, 1.0)),
    ]
    prior = prior_from_history(DOMAIN, history)
    # Four answers of variance 2 make one of b, two make one of a.
    expected = np.average([cells.sum(axis=0), noisy], axis=0, weights=[1 / 8, 1 / 8])
    assert prior.vectors["b"] == pytest.approx(expected / expected.sum())
    assert prior.vectors["a"] == pytest.approx(cells.sum(axis=1) / cells.sum())
    alone = prior_from_history(DOMAIN, history[1:])
    assert alone.vectors["b"] == pytest.approx(noisy / noisy.sum())
    assert alone.vectors["a"].tolist() == [0.25] * 4
    with_little_noise = prior_from_history(
        DOMAIN, [history[0], Measurement(only, Laplace(0.01), tuple(noisy))]
    )
    assert with_little_noise.vectors["b"] == pytest.approx(noisy / noisy.sum(), abs=1e-5)


def test_malformed_counts_are_refused() -> None:
    with pytest.raises(EstimateError, match="numbers"):
        measured_prior(DOMAIN, {"a": [1.0]}, {"a": 1.0})
