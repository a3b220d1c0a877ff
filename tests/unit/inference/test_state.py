from __future__ import annotations

import numpy as np
import pytest

from eke.errors import AccuracyError
from eke.history import Measurement, Row
from eke.inference import ExactPosterior, Inference, Posterior, noise_of, state
from eke.inference.mixed import MixedRegression
from eke.inference.papers.chebyshev import ChebyshevPosterior
from eke.inference.papers.convolution import ConvolutionPosterior
from eke.inference.papers.methods import Method, posterior_by
from eke.inference.papers.monte_carlo import MonteCarloPosterior
from eke.inference.papers.product import ProductPosterior
from eke.inference.regression import LinearEstimate
from eke.privacy.law import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace, NoiseLaw
from eke.query import count, marginal
from tests.unit.inference.dense import domain_of, query_of


@pytest.fixture
def inference() -> Inference:
    domain = domain_of(2, 3)
    measurements = [
        Measurement(marginal("a0").on(domain), Laplace(2.0), (10.0, 20.0)),
        Measurement(count().on(domain), DiscreteLaplace(3, 0), (33.0,)),
        Measurement(count(a1=1).on(domain), DiscreteGaussian(4, -2), (7.25,)),
    ]
    return Inference(domain, measurements)


def test_measurements_become_rows(inference):
    assert [row.value for row in inference.rows] == [10.0, 20.0, 33.0, 7.25]
    assert inference.regression.laws == [row.law for row in inference.rows]
    assert inference.regression.rank == 3


@pytest.mark.parametrize(
    ("method", "family"),
    [
        ("exact", ExactPosterior),
        ("convolution", ConvolutionPosterior),
        ("chebyshev", ChebyshevPosterior),
        ("monte_carlo", MonteCarloPosterior),
        ("product", ProductPosterior),
    ],
)
def test_every_method_gives_a_posterior_of_its_own_kind(inference, method, family):
    posterior = posterior_by(method, inference, (count() + 100).on(inference.domain))
    assert isinstance(posterior, family)
    assert isinstance(posterior, Posterior)
    # Of 10 + 20 with variance 16 and 33 with variance near 18.
    assert posterior.value == pytest.approx(100 + 31.4, abs=0.3)
    low, high = posterior.interval(0.9)
    assert low < posterior.value < high


def test_methods_agree_where_there_is_one_observation(inference):
    question = count(a1=1).on(inference.domain)
    expected = inference.posterior(question)
    methods: list[tuple[Method, float]] = [("convolution", 0.11), ("product", 1e-5)]
    for method, tolerance in methods:  # its step; nothing
        found = posterior_by(method, inference, question)
        assert found is not None
        assert found.value == pytest.approx(expected.value)
        assert found.variance == pytest.approx(expected.variance, rel=1e-6)
        np.testing.assert_allclose(found.interval(0.95), expected.interval(0.95), atol=tolerance)


@pytest.mark.parametrize("method", ["exact", "chebyshev", "convolution", "monte_carlo", "product"])
def test_what_history_does_not_determine_has_no_posterior(inference, method):
    assert posterior_by(method, inference, count(a0=1, a1=1).on(inference.domain)) is None
    assert posterior_by(method, Inference(inference.domain), count().on(inference.domain)) is None


@pytest.mark.parametrize("method", ["exact", "chebyshev", "convolution", "monte_carlo", "product"])
def test_a_constant_is_known_exactly(inference, method):
    posterior = posterior_by(method, inference, query_of(inference.domain, [0] * 6, 42))
    assert posterior is not None
    assert posterior.value == 42.0
    assert posterior.variance == 0.0
    assert posterior.interval(0.99) == (42.0, 42.0)


def test_an_unknown_method_is_refused(inference):
    with pytest.raises(AccuracyError, match="exact, chebyshev, convolution, monte_carlo, product"):
        posterior_by("magic", inference, count().on(inference.domain))  # type: ignore[arg-type]


def test_linear_gives_value_and_noise(inference):
    value, noise = inference.linear(count(a0=0).on(inference.domain) * -2)
    assert inference.linear(count(a0=0, a1=0).on(inference.domain)) is None
    # With v the variance of the total: the two cells have weights (8 + v, -8, 8)/(16 + v).
    v = DiscreteLaplace(3, 0).variance
    weights = -2.0 * np.array([8.0 + v, -8.0, 8.0]) / (16.0 + v)
    assert sorted(noise.laplace_scales) == pytest.approx(sorted(np.abs(weights) * [2, 2, 3]))
    assert noise.gaussian_variance == 0.0
    assert value == pytest.approx(float(weights @ [10.0, 20.0, 33.0]))


def test_the_noise_of_an_estimate():
    laws: list[NoiseLaw] = [
        Laplace(2.0),
        DiscreteLaplace(3, 1),
        Gaussian(9.0),
        DiscreteGaussian(4, -2),
        Laplace(5.0),
    ]
    estimate = LinearEstimate(1.0, np.array([3, 1, 2, 0]), np.array([2.0, -0.5, -1.0, 3.0]))
    noise = noise_of(estimate, laws)
    assert noise.laplace_scales.tolist() == [0.5 * 6.0, 3.0 * 2.0]
    assert noise.gaussian_variance == 4.0 * 1.0 + 9.0
    assert noise.grid_slack == 0.5 * (2.0 * 0.25 + 0.5 * 2.0)
    nothing = noise_of(LinearEstimate(1.0, np.empty(0, np.intp), np.empty(0)), laws)
    assert nothing.is_zero
    assert nothing.grid_slack == 0.0


def test_rows_can_come_one_by_one():
    domain = domain_of(4)
    one = Inference(domain)
    rows = [Row(query_of(domain, [1, k, 0, k]), float(k), Laplace(1.0)) for k in range(4)]
    for row in rows:
        one.append(row)
    other = Inference(domain, [Measurement(r.query, Laplace(1.0), (r.value,)) for r in rows])
    question = query_of(domain, [0, 2, 0, 2])
    first, second = one.linear(question), other.linear(question)
    assert first is not None
    assert second is not None
    assert first[0] == second[0]


def test_what_was_estimated_before_is_estimated_anew_after_a_new_row():
    domain = domain_of(3)
    question = query_of(domain, [1, 1, 0])
    inference = Inference(domain, [Measurement(query_of(domain, [1, 0, 0]), Laplace(1.0), (5.0,))])
    assert inference.linear(question) is None
    assert inference.linear(question) is None
    inference.append(Row(query_of(domain, [0, 1, 0]), 3.0, Laplace(1.0)))
    first = inference.linear(question)
    assert first is not None
    assert first[0] == pytest.approx(8.0)
    assert inference.linear(question) is first
    # Equal but for the constant: another question.
    shifted = inference.linear(query_of(domain, [1, 1, 0], 10))
    assert shifted is not None
    assert shifted[0] == pytest.approx(18.0)
    inference.append(Row(question, 2.0, Laplace(2.0)))
    second = inference.linear(question)
    assert second is not None
    assert second[0] == pytest.approx((8.0 / 4.0 + 2.0 / 8.0) / (1 / 4.0 + 1 / 8.0))


def test_many_tables_taken_in_are_told_apart_once(monkeypatch):
    """Following a ledger is linear in its tables, and ends where taking them one by one ends."""
    domain = domain_of(20, 20, 3)
    generator = np.random.default_rng(1)
    released = []
    for step in range(4):
        values = generator.normal(50.0, 5.0, 400).tolist()
        released.append([Measurement(marginal("a0", "a1").on(domain), Laplace(2.0), (*values,))])
        asked = count(a0=step, a2=step % 3).on(domain)
        released.append([Measurement(asked, Laplace(3.0), (float(step),))])
    one_by_one, followed = Inference(domain), Inference(domain)
    made = []

    def counted(*given):
        made.append(given)
        return MixedRegression(*given)

    monkeypatch.setattr(state, "MixedRegression", counted)
    for part in released:
        followed.take_in(part)
    followed.settle()
    assert len(made) == 1
    for part in released:
        one_by_one.extend_all(part)
    assert len(made) == 5
    for query in (count(a0=1, a2=1), count(a0=(0, 9)), count(a2=1), count(a0=3, a1=2, a2=1)):
        first, second = one_by_one.linear(query.on(domain)), followed.linear(query.on(domain))
        assert (first is None) == (second is None)
        if first is not None and second is not None:
            assert first[0] == second[0]
            assert first[1].variance == second[1].variance


def test_nothing_is_asked_in_between():
    domain = domain_of(20, 20)
    inference = Inference(domain)
    values = (1.0,) * 400
    inference.take_in([Measurement(marginal("a0", "a1").on(domain), Laplace(2.0), values)])
    with pytest.raises(ValueError, match="settle"):
        inference.linear(count().on(domain))
