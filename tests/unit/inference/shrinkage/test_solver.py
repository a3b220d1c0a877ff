"""Conjugate gradients on blocks give the estimates of the dense formulas, and honest errors."""

from __future__ import annotations

import math
import tracemalloc
from itertools import combinations

import numpy as np
import pytest

from eke.domain import Domain, Integer
from eke.errors import EstimateError
from eke.history import Measurement
from eke.inference.posterior import ExactPosterior
from eke.inference.shrinkage import (
    ConjugateGradients,
    Evidence,
    Factorisation,
    Shrinkage,
    Total,
    evidence_of_blocks,
)
from eke.inference.shrinkage.blocks.preconditioner import Parts
from eke.privacy.law import Laplace
from eke.query import count, marginal
from tests.parts import in_long
from tests.unit.inference.shrinkage.blocks.histories import (
    ALPHA,
    DOMAIN,
    P0,
    PRIOR,
    history,
    matrix_of,
    questions,
    written_out,
)


def dense(
    measurements: list[Measurement],
    alpha: float,
    total: Total = "estimated",
    *,
    inflation: float = 1.0,
) -> Shrinkage:
    """The estimator by factorisation of the dense kernel, which has a row for every answer."""
    evidence = Evidence.of_history(DOMAIN, measurements, PRIOR, total)
    return Shrinkage(Factorisation(evidence), alpha, inflation=inflation)


@pytest.mark.parametrize("total", ["estimated", "ignored", 400.0])
@pytest.mark.parametrize("alpha", [in_long(0.5), ALPHA, in_long(300.0)])
@pytest.mark.parametrize("varied", [False, True])
def test_estimates_are_those_of_the_dense_kernel(total: Total, alpha: float, varied: bool) -> None:
    generator = np.random.default_rng(1)
    measurements, asked = history(generator, varied=varied), questions(generator)
    exact = dense(measurements, alpha, total)
    evidence = evidence_of_blocks(DOMAIN, measurements, PRIOR, total, least_block=2)
    estimator = Shrinkage(ConjugateGradients(evidence), alpha)
    expected, found = exact.estimate(asked), estimator.estimate(asked)
    np.testing.assert_allclose(found.values, expected.values, rtol=1e-7, atol=1e-6)
    np.testing.assert_allclose(
        found.noise_variances, expected.noise_variances, rtol=1e-6, atol=1e-7
    )
    np.testing.assert_allclose(
        found.model_variances, expected.model_variances, rtol=1e-6, atol=1e-6
    )
    assert estimator.convergence is not None
    assert estimator.convergence.converged


def test_posteriors_hold_every_released_noise() -> None:
    """Also of two measurements of one marginal, which are one row here and two there."""
    generator = np.random.default_rng(2)
    measurements, asked = history(generator, varied=True), questions(generator)
    exact = dense(measurements, ALPHA, inflation=2.0)
    evidence = evidence_of_blocks(DOMAIN, measurements, PRIOR, least_block=2)
    assert evidence.size < exact.evidence.size
    estimator = Shrinkage(ConjugateGradients(evidence), ALPHA, inflation=2.0)
    for query, found in zip(asked, estimator.posteriors(asked), strict=True):
        expected = exact.posterior(query)
        assert isinstance(found, ExactPosterior)
        assert isinstance(expected, ExactPosterior)
        assert found.value == pytest.approx(expected.value, abs=1e-6)
        assert found.halfwidth(0.99) == pytest.approx(expected.halfwidth(0.99), rel=1e-6)
        assert found.noise.laplace_parts == expected.noise.laplace_parts
        assert estimator.posterior(query).value == pytest.approx(found.value, abs=1e-7)


def test_steps_are_taken_where_blocks_share_more_than_is_put_back() -> None:
    generator = np.random.default_rng(3)
    measurements, asked = history(generator, varied=True), questions(generator)
    expected = dense(measurements, ALPHA).estimate(asked)
    evidence = evidence_of_blocks(DOMAIN, measurements, PRIOR, least_block=2)
    estimator = Shrinkage(ConjugateGradients(evidence, parts=Parts(evidence.kernel, 5)), ALPHA)
    found = estimator.estimate(asked)
    assert estimator.convergence is not None
    assert estimator.convergence.converged
    assert estimator.convergence.steps > 5
    deviations = np.sqrt(expected.variances)
    assert (np.abs(found.values - expected.values) < 1e-2 * deviations).all()
    np.testing.assert_allclose(found.variances, expected.variances, rtol=1e-6)


def test_unfinished_weights_have_wider_and_true_error_bars() -> None:
    """The stated variance is that of the weights as they are, by the formula over all rows."""
    generator = np.random.default_rng(4)
    measurements, asked = history(generator, varied=True), questions(generator)[:2]
    evidence = evidence_of_blocks(DOMAIN, measurements, PRIOR, "ignored", least_block=2)
    parts = Parts(evidence.kernel, 5)
    early = Shrinkage(ConjugateGradients(evidence, parts=parts, most_steps=2), ALPHA)
    best = Shrinkage(ConjugateGradients(evidence, parts=parts), ALPHA).estimate(asked)
    found = early.estimate(asked)
    assert early.convergence is not None
    assert not early.convergence.converged
    assert early.convergence.worst > 1.0
    assert (found.variances > best.variances).all()
    apart = matrix_of([*asked]) - found.weights.T @ written_out(evidence.kernel)
    expected = ALPHA**2 * (apart**2 @ P0)
    np.testing.assert_allclose(found.model_variances, expected, rtol=1e-8)


@pytest.mark.parametrize("alpha", [0.0, math.inf, -1.0, math.nan])
def test_only_finite_strengths_make_sense(alpha: float) -> None:
    evidence = evidence_of_blocks(DOMAIN, history(np.random.default_rng(5), varied=False), PRIOR)
    with pytest.raises(EstimateError, match="alpha"):
        Shrinkage(ConjugateGradients(evidence), alpha)
    with pytest.raises(EstimateError, match="inflation"):
        Shrinkage(ConjugateGradients(evidence), 1.0, inflation=0.0)


def test_evidence_is_checked() -> None:
    with pytest.raises(EstimateError, match="no history"):
        evidence_of_blocks(DOMAIN, [])
    one = Measurement(count(a=1).on(DOMAIN), Laplace(1.0), (3.0,))
    with pytest.raises(EstimateError, match="number of records"):
        evidence_of_blocks(DOMAIN, [one], total=math.inf)
    with pytest.raises(EstimateError, match="finite"):
        evidence_of_blocks(DOMAIN, [Measurement(one.query, one.law, (math.nan,))])
    with pytest.raises(EstimateError, match="one by one"):
        evidence_of_blocks(DOMAIN, [one] * 12_001)
    nothing = Measurement((count(a=1) - count(a=1)).on(DOMAIN), Laplace(1.0), (3.0,))
    with pytest.raises(EstimateError, match="measure a count"):
        Shrinkage(ConjugateGradients(evidence_of_blocks(DOMAIN, [nothing])), 1.0)


def test_sixty_thousand_answers_take_little_memory() -> None:
    """All pairs of six attributes of 64 values: the dense kernel alone would take 28 GiB."""
    generator = np.random.default_rng(6)
    domain = Domain({name: Integer(0, 63) for name in "uvwxyz"})
    measurements = []
    for pair in combinations(domain.names, 2):
        block = marginal(*pair).on(domain)
        noisy = 25.0 + generator.laplace(0.0, 5.0, block.cells)
        measurements.append(Measurement(block, Laplace(5.0), tuple(noisy.tolist())))
    for low in range(40):
        query = count(u=(low, low + 9), v=(0, low)).on(domain)
        measurements.append(Measurement(query, Laplace(5.0), (25.0 * 10 * (low + 1),)))
    assert 8 * sum(len(m.values) for m in measurements) ** 2 > 28 * 2**30
    tracemalloc.start()
    evidence = evidence_of_blocks(domain, measurements)
    estimator = Shrinkage(ConjugateGradients(evidence), 100.0)
    found = estimator.posterior(count(u=(0, 31), z=(0, 31), w=(0, 31)).on(domain))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 400 * 2**20
    assert estimator.convergence is not None
    assert estimator.convergence.converged
    assert abs(found.value - 12_800.0) < 6 * math.sqrt(found.variance)
