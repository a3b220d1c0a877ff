"""Shrinkage equals Gaussian conditioning over all cells, and its error bars hold what they say."""

import math
from typing import Any

import numpy as np
import pytest

from eke.domain import Domain, Integer
from eke.errors import EstimateError
from eke.history import Measurement
from eke.inference import Inference
from eke.inference.features import HistoryFeatures
from eke.inference.papers.eigenquery import eigenqueries
from eke.inference.posterior import ExactPosterior
from eke.inference.shrinkage import Evidence, Factorisation, Noise, Shrinkage, Total
from eke.privacy.law import Laplace
from eke.query import Prior, count
from tests.unit.inference.shrinkage.worlds import (
    DOMAIN,
    PRIOR,
    World,
    matrix_of,
    random_covariance,
    random_query,
)

NOBODY_KNOWS = 1e7  # the prior variance that stands for a flat prior on n


def conditioned(
    world: World, covariance: Any, values: Any, questions: Any, alpha: float, total: Total
) -> tuple[Any, Any]:
    """(mean, variance) of questions by conditioning a Gaussian over all cells."""
    spread, mean = alpha**2 * np.diag(world.p0), np.zeros(len(world.p0))
    if total != "ignored":
        spread = spread - alpha**2 * np.outer(world.p0, world.p0)
    if total == "estimated":
        spread = spread + NOBODY_KNOWS * np.outer(world.p0, world.p0)
    elif not isinstance(total, str):
        mean = total * world.p0
    seen = world.matrix @ spread @ world.matrix.T + covariance
    gain = np.linalg.solve(seen, world.matrix @ spread).T
    mean = mean + gain @ (values - world.matrix @ mean)
    left = spread - gain @ world.matrix @ spread
    return questions @ mean, np.einsum("ij,jk,ik->i", questions, left, questions)


@pytest.mark.parametrize("alpha", [0.5, 3.0, 40.0])
@pytest.mark.parametrize("total", ["ignored", "estimated", 300.0])
@pytest.mark.parametrize("dense", [False, True])
def test_shrinkage_is_the_posterior_mean_of_a_gaussian(
    alpha: float, total: Total, dense: bool
) -> None:
    generator = np.random.default_rng(5)
    world = World.drawn(generator)
    covariance = random_covariance(world.size, generator)
    if not dense:
        covariance = np.diag(np.diag(covariance))
    noise = Noise.of_covariance(covariance if dense else np.diag(covariance))
    values = world.matrix @ world.histogram + generator.normal(0.0, 3.0, world.size)
    asked = [random_query(generator) for _ in range(5)]
    evidence = Evidence.of(world.features, values, noise, PRIOR, total)
    found = Shrinkage(Factorisation(evidence), alpha).estimate(asked)
    questions = matrix_of(list(asked))
    mean, variance = conditioned(world, covariance, values, questions, alpha, total)
    loose = 5e-4 if total == "estimated" else 1e-9  # the oracle's flat prior is only nearly flat
    np.testing.assert_allclose(found.values, mean, rtol=loose, atol=2e-2 * (loose > 1e-5) + 1e-7)
    np.testing.assert_allclose(found.variances, variance, rtol=loose, atol=loose)


def test_infinite_alpha_is_blue_and_says_what_is_not_determined() -> None:
    domain = Domain(a=Integer(0, 4), b=Integer(0, 2))
    measured = [count(a=(0, 2)), count(a=(3, 4)), count(), count(a=(0, 2), b=1)]
    history = [
        Measurement(query.on(domain), Laplace(scale), (value,))
        for query, value, scale in zip(
            measured, (40.0, 33.0, 70.0, 12.0), (1.0, 2.0, 1.5, 1.0), strict=True
        )
    ]
    inference = Inference(domain, history)
    estimator = Shrinkage(Factorisation(Evidence.of_history(domain, history)), math.inf)
    asked = count(a=(3, 4)).on(domain)
    blue = inference.posterior(asked)
    assert blue is not None
    found = estimator.posterior(asked)
    assert found.value == pytest.approx(blue.value)
    assert found.interval(0.95) == pytest.approx(blue.interval(0.95))
    with pytest.raises(EstimateError, match="does not determine"):
        estimator.posterior(count(a=0).on(domain))


def test_alpha_zero_is_the_prior() -> None:
    generator = np.random.default_rng(3)
    world = World.drawn(generator)
    noise = Noise.of_covariance(np.full(world.size, 4.0))
    evidence = Evidence.of(world.features, np.zeros(world.size), noise, PRIOR, 500.0)
    asked = [random_query(generator) for _ in range(4)]
    found = Shrinkage(Factorisation(evidence), 0.0).estimate(asked)
    np.testing.assert_allclose(found.values, 500.0 * matrix_of(list(asked)) @ world.p0)
    nearly = Shrinkage(Factorisation(evidence), 1e-6).estimate(asked)
    np.testing.assert_allclose(found.values, nearly.values, rtol=1e-6)


def test_error_bars_of_undetermined_questions_are_calibrated() -> None:
    """N = 3,000 tables drawn from the prior: 90 % intervals hold 90 % ± 2.2 points (4 deviations).

    Positive control: intervals from the noise alone hold less than 70 %.
    """
    generator = np.random.default_rng(8)
    world = World.drawn(generator, 5)
    alpha, laplace_scale, runs = 30.0, 15.0, 3000
    laws = [Laplace(laplace_scale)] * world.size
    asked = count(a=1, c=2).on(DOMAIN)
    coefficients = matrix_of([asked])[0]
    tables = generator.normal(0.0, alpha * np.sqrt(world.p0), (runs, len(world.p0)))
    values = tables @ world.matrix.T + generator.laplace(0.0, laplace_scale, (runs, world.size))
    truth = tables @ coefficients
    evidence = Evidence.of(world.features, values[0], Noise.of_laws(laws), PRIOR, "ignored")
    estimator = Shrinkage(Factorisation(evidence), alpha)
    posterior = estimator.posterior(asked)
    assert isinstance(posterior, ExactPosterior)
    weights = estimator.estimate([asked]).weights[:, 0]
    assert posterior.value == pytest.approx(float(weights @ values[0]))
    off = np.abs(values @ weights - truth)
    inside = float((off <= posterior.halfwidth(0.9)).mean())
    assert abs(inside - 0.9) < 4 * math.sqrt(0.09 / runs)
    noise_alone = 1.645 * math.sqrt(float(estimator.estimate([asked]).noise_variances[0]))
    assert float((off <= noise_alone).mean()) < 0.7


def test_the_noise_keeps_its_own_law() -> None:
    """One Laplace answer, hardly shrunk: the interval is that of Laplace noise."""
    domain = Domain(a=Integer(0, 1))
    history = [Measurement(count().on(domain), Laplace(1.0), (10.0,))]
    evidence = Evidence.of_history(domain, history, total="ignored")
    posterior = Shrinkage(Factorisation(evidence), 1e6).posterior(count().on(domain))
    assert posterior.interval(0.99)[1] - posterior.value == pytest.approx(math.log(100.0), rel=1e-4)


def test_inflation_widens_what_history_leaves_open_only() -> None:
    generator = np.random.default_rng(1)
    world = World.drawn(generator)
    noise = Noise.of_covariance(np.full(world.size, 4.0))
    evidence = Evidence.of(world.features, np.zeros(world.size), noise, PRIOR, 300.0)
    asked = [random_query(generator)]
    plain = Shrinkage(Factorisation(evidence), 5.0).estimate(asked)
    wider = Shrinkage(Factorisation(evidence), 5.0, inflation=3.0).estimate(asked)
    assert wider.noise_variances == pytest.approx(plain.noise_variances)
    assert wider.model_variances == pytest.approx(3.0 * plain.model_variances)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"alpha": -1.0}, "alpha"),
        ({"alpha": math.nan}, "alpha"),
        ({"alpha": 1.0, "inflation": 0.0}, "inflation"),
    ],
)
def test_senseless_settings_are_refused(settings: dict[str, Any], message: str) -> None:
    world = World.drawn(np.random.default_rng(0))
    noise = Noise.of_covariance(np.ones(world.size))
    evidence = Evidence.of(world.features, np.zeros(world.size), noise, PRIOR)
    with pytest.raises(EstimateError, match=message):
        Shrinkage(Factorisation(evidence), **settings)


def test_evidence_is_checked() -> None:
    domain = Domain(a=Integer(0, 1))
    one = HistoryFeatures.of(domain, [count().on(domain)])
    noise = Noise.of_covariance([1.0])
    with pytest.raises(EstimateError, match="one value"):
        Evidence.of(one, [1.0, 2.0], noise)
    with pytest.raises(EstimateError, match="finite"):
        Evidence.of(one, [math.nan], noise)
    with pytest.raises(EstimateError, match="number of records"):
        Evidence.of(one, [1.0], noise, Prior(domain), math.inf)
    with pytest.raises(EstimateError, match="no history"):
        Evidence.of(HistoryFeatures.of(domain, []), [], Noise.of_covariance(np.empty(0)))
    with pytest.raises(EstimateError, match="known total"):
        eigenqueries(Evidence.of(one, [1.0], noise))


@pytest.mark.parametrize(
    "covariance",
    [[0.0], [-1.0], [math.nan], [[1.0, 2.0], [0.0, 1.0]], [[1.0, 2.0], [2.0, 1.0]], [[[1.0]]]],
)
def test_senseless_covariances_are_refused(covariance: Any) -> None:
    with pytest.raises(EstimateError):
        Noise.of_covariance(covariance)
