from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from eke.errors import AccuracyError
from eke.inference.posterior.log_concave import LogConcaveLaw

LAWS = {
    "normal": (stats.norm(3.0, 2.0), [2.0, 4.5]),
    "laplace": (stats.laplace(-1.0, 5.0), [-1.0]),
    "logistic": (stats.logistic(100.0, 0.01), [99.0, 100.5]),
    "gumbel": (stats.gumbel_r(0.0, 1.0), [-3.0, 2.0]),
}


def law_of(name: str) -> LogConcaveLaw:
    frozen, corners = LAWS[name]
    # A constant and a wrong guess of the width must not matter.
    return LogConcaveLaw(lambda x: frozen.logpdf(x) + 17.0, np.array(corners), 0.3 * frozen.std())


@pytest.mark.parametrize("name", LAWS)
def test_moments_probabilities_and_density(name):
    frozen, law = LAWS[name][0], law_of(name)
    deviation = frozen.std()
    assert law.mean == pytest.approx(frozen.mean(), abs=1e-7 * deviation)
    assert law.variance == pytest.approx(frozen.var(), rel=1e-6)
    points = frozen.ppf([1e-6, 0.01, 0.3, 0.5, 0.77, 0.99, 1 - 1e-6])
    np.testing.assert_allclose([law.below(p) for p in points], frozen.cdf(points), atol=1e-8)
    np.testing.assert_allclose(law.density(points), frozen.pdf(points), rtol=1e-7)
    assert law.below(-np.inf) == 0.0
    assert law.below(np.inf) == 1.0


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("probability", [1e-6, 0.1, 0.5, 0.8, 0.95, 0.999, 1 - 1e-9])
def test_the_narrowest_interval_holds_its_probability_and_none_is_narrower(name, probability):
    frozen, law = LAWS[name][0], law_of(name)
    low, high = law.narrowest(probability)
    assert frozen.cdf(high) - frozen.cdf(low) == pytest.approx(probability, abs=2e-8)
    left = np.linspace(0.0, 1.0 - probability, 20_001)
    widths = frozen.ppf(left + probability) - frozen.ppf(left)
    assert high - low <= np.nanmin(widths) * (1.0 + 1e-5)


def test_a_flat_top_has_an_interval_of_the_right_width():
    law = LogConcaveLaw(
        lambda x: -np.abs(x) - np.abs(x - 1e5), np.array([0.0, 1e5]), 1.0
    )  # flat in between
    low, high = law.narrowest(0.8)
    assert high - low == pytest.approx(0.8 * (1e5 + 1.0), rel=1e-9)
    assert law.mean == pytest.approx(5e4)


def test_hopeless_contradictions_are_refused():
    with pytest.raises(AccuracyError, match="contradict"):
        LogConcaveLaw(lambda x: -(x**2) - (x - 1e9) ** 2, np.array([0.0, 1e9]), 1.0)
