"""Beliefs between ends: nested intervals, probabilities that add up, ends that hold together."""

import numpy as np
import pytest

from eke.inference.posterior import BoundedPosterior, ComposedNoise, ExactPosterior, NoisyBound
from eke.inference.posterior.bounded import SHARE
from eke.inference.posterior.exact import bounded_halfwidth

NOISE = ComposedNoise(np.array([3.0]))
CENTRES = [-40.0, 10.0, 55.0, 70.0, 130.0]


def bounded(centre: float, spread: float = 30.0) -> BoundedPosterior:
    """A Gaussian belief about a count that lies between 40 and 80, up to noise."""
    belief = ExactPosterior(centre, ComposedNoise(np.empty(0), spread**2))
    return BoundedPosterior(
        belief, [NOISE, NOISE], [NoisyBound(40.0, (0,))], [NoisyBound(80.0, (1,))], 0.0
    )


@pytest.mark.parametrize("centre", CENTRES)
def test_intervals_are_nested_hold_the_value_and_keep_within_the_ends(centre: float) -> None:
    belief = bounded(centre)
    inner = (belief.value, belief.value)
    for confidence in (0.01, 0.5, 0.9, 0.95, 0.999, 1 - 1e-9):
        low, high = belief.interval(confidence)
        if confidence == 0.95:
            assert belief.probability(above=low - 1e-9, below=high + 1e-9) >= confidence
        assert low <= inner[0] <= inner[1] <= high
        least, most = belief.ends(1.0 - confidence)
        assert least <= low
        assert high <= most
        inner = (low, high)
    half = bounded_halfwidth(NOISE, 1.0 - SHARE * 0.05 / 2)
    assert belief.ends(0.05) == pytest.approx((40.0 - half, 80.0 + half))


@pytest.mark.parametrize("centre", CENTRES)
def test_probabilities_and_density_agree(centre: float) -> None:
    belief = bounded(centre)
    points = np.linspace(-400.0, 600.0, 2_000_001)
    density = belief.density(points)
    for above, below in [(-400.0, 600.0), (60.0, 600.0), (20.0, 70.0), (90.0, 200.0)]:
        inside = (points > above) & (points < below)
        mass = float(density[inside].sum() * (points[1] - points[0]))
        assert belief.probability(above=above, below=below) == pytest.approx(mass, abs=1e-4)
    assert belief.probability(above=0.0) + belief.probability(below=0.0) == pytest.approx(1.0)


def test_a_belief_that_knows_nothing_between_the_ends_is_even_there() -> None:
    belief = bounded(5_000.0, spread=1.0)
    low, high = belief.ends(0.05)
    assert belief.probability(below=(low + high) / 2.0) == pytest.approx(0.5, abs=0.01)
    assert belief.value == belief.ends(1.0)[1]
    assert belief.interval(0.95) == (low, high)


def test_limits_that_contradict_each_other_say_nothing() -> None:
    alone = ExactPosterior(50.0, ComposedNoise(np.empty(0), 100.0))
    belief = BoundedPosterior(
        alone, [NOISE], [NoisyBound(500.0, (0,))], [NoisyBound(80.0, (0,))], 0.0
    )
    assert belief.interval(0.95) == pytest.approx(alone.interval(1.0 - 0.95 * 0.05))
    assert belief.probability(above=50.0) == pytest.approx(0.5)
    assert belief.density(50.0) == alone.density(50.0)


def test_limits_without_noise_hold_exactly() -> None:
    alone = ExactPosterior(50.0, ComposedNoise(np.empty(0), 100.0))
    belief = BoundedPosterior(alone, [], [NoisyBound(48.0, ())], [NoisyBound(51.0, ())], 0.0)
    assert belief.interval(0.95) == (48.0, 51.0)
    assert belief.probability(above=51.0) == pytest.approx(0.0, abs=0.0025)


@pytest.mark.parametrize("centre", [*CENTRES, 1e9])
@pytest.mark.parametrize("confidence", [1.0 - 1e-14, 1.0 - 1e-15, 1.0 - 2.0**-53])
def test_whoever_wants_to_be_as_sure_as_can_be_gets_an_interval(
    centre: float, confidence: float
) -> None:
    """The limits' share of such a chance to miss is none that a number next to 1 can say."""
    belief = bounded(centre)
    low, high = belief.interval(confidence)
    inner = belief.interval(1.0 - 1e-9)
    assert 0.0 <= low <= inner[0] <= belief.value <= inner[1] <= high < np.inf


def test_where_noise_leaves_no_room_above_nobody_all_say_the_same() -> None:
    """A margin of -60 with noise of scale 3 beside a belief that says 25: nobody is there."""
    alone = ExactPosterior(25.0, ComposedNoise(np.empty(0), 100.0))
    belief = BoundedPosterior(alone, [NOISE], [], [NoisyBound(-60.0, (0,))], 0.0)
    assert belief.interval(0.95) == (0.0, 0.0)
    assert belief.value == 0.0
    assert belief.probability(above=0.5) < 0.05
    assert belief.probability(below=0.5) > 0.95
    points = np.linspace(-50.0, 100.0, 150_001)
    assert float(belief.density(points).sum()) * 1e-3 == pytest.approx(1.0, abs=1e-2)
