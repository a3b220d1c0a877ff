"""What the variance alone says holds for the exact law, and is wider."""

import math

import numpy as np
import pytest

from eke.errors import AccuracyError
from eke.inference.papers.chebyshev import ChebyshevPosterior
from eke.inference.posterior import ComposedNoise, ExactPosterior
from tests.parts import in_long

NOISES = [
    ComposedNoise(np.array([2.0])),
    ComposedNoise(np.array([1.0, 0.3, 0.3, 5.0]), 4.0),
    ComposedNoise(np.empty(0), 9.0),
    ComposedNoise(np.random.default_rng(1).exponential(size=25)),
]


@pytest.mark.parametrize("noise", NOISES, ids=range(len(NOISES)))
@pytest.mark.parametrize("number", [60, in_long(300)])
def test_it_promises_less_than_the_exact_law_holds(noise: ComposedNoise, number: int) -> None:
    exact, bound = ExactPosterior(7.0, noise), ChebyshevPosterior(7.0, noise)
    assert (bound.value, bound.variance) == (exact.value, exact.variance)
    for confidence in (0.5, 0.8, 0.95, 0.999):
        low, high = bound.interval(confidence)
        assert (high - low) / 2 == pytest.approx(math.sqrt(noise.variance / (1 - confidence)))
        assert exact.probability(above=low, below=high) >= confidence
        # Th. 3.2 the other way round: its usefulness for this interval.
        assert bound.probability(above=low, below=high) == pytest.approx(confidence)
    rng = np.random.default_rng(2)
    promised = []
    for _ in range(number):
        ends = sorted(7.0 + 6.0 * math.sqrt(noise.variance) * rng.uniform(-1, 1, 2))
        for claim in ({"above": ends[0], "below": ends[1]}, {"above": ends[0]}, {"below": ends[1]}):
            least = bound.probability(**claim)
            assert 0.0 <= least <= exact.probability(**claim)
            promised.append(least)
    assert max(promised) > 0.9
    assert 0.0 in promised


def test_it_has_no_density_and_knows_its_limits() -> None:
    bound = ChebyshevPosterior(1.0, NOISES[0])
    with pytest.raises(AccuracyError, match="no density"):
        bound.density([0.0])
    with pytest.raises(AccuracyError, match="strictly between"):
        bound.interval(1.0)
    with pytest.raises(AccuracyError, match="finite"):
        ChebyshevPosterior(math.nan, NOISES[0])
    assert bound.support() == bound.interval(0.999)
    assert bound.probability(above=2.0) == 0.0  # the estimate lies outside
    assert bound.probability(above=5.0, below=3.0) == 0.0
