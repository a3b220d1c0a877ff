"""Intervals of ratios, searched together: each as if it were alone, and none too narrow."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from eke.inference import Joint, halfwidth
from eke.inference.fieller import Ratio, edges, fieller
from tests.parts import in_long

SLOPES = (np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0]))


def ratios(number: int, seed: int, gaussian: float = 0.0, least: float = 1.0) -> list[Ratio]:
    """Sums and counts of groups of very different sizes, each known by a few noisy answers."""
    draw = np.random.default_rng(seed)
    made = []
    for _ in range(number):
        noises = int(draw.integers(1, 7))
        size = least * 10.0 ** draw.uniform(0.0, 5.0)
        made.append(
            Ratio(
                Joint(
                    np.array([size * draw.uniform(-5.0, 50.0), size]),
                    draw.normal(size=(2, noises)) * draw.uniform(0.1, 3.0),
                    draw.uniform(0.5, 20.0, noises),
                    draw.uniform(0.0, gaussian, noises),
                    np.full(noises, 2.0**-20),
                    np.ones(noises),
                ),
                *SLOPES,
            )
        )
    return made


def outside(ratio: Ratio, place: float, confidence: float) -> bool:
    """Whether N − place·D can be told from 0: what an interval is made of, by its definition."""
    value, noise = ratio.minus(place)
    return abs(value) > halfwidth(noise, confidence)


@pytest.mark.parametrize("gaussian", [0.0, 30.0])
@pytest.mark.parametrize("confidence", [0.5, in_long(0.8), 0.95, in_long(0.999)])
def test_ends_are_where_the_ratio_begins_to_be_told_apart(confidence, gaussian):
    """By single half-widths just inside and outside of each; alone and together are the same."""
    asked = ratios(30, seed=1, gaussian=gaussian)
    together = fieller(asked, confidence)
    bounded = [pair for pair in zip(asked, together, strict=True) if math.isfinite(pair[1][0])]
    assert 5 < len(bounded) < 30
    for ratio, interval in bounded:
        centre = ratio.estimate()
        for end in interval:
            assert outside(ratio, centre + (end - centre) * (1.0 + 1e-6), confidence)
            assert not outside(ratio, centre + (end - centre) * (1.0 - 1e-6), confidence)
        assert fieller([ratio], confidence)[0] == pytest.approx(interval, rel=1e-9)


def test_a_denominator_that_may_be_zero_leaves_everything_open():
    asked = ratios(40, seed=2, least=0.1)
    intervals = fieller(asked, 0.95)
    for ratio, interval in zip(asked, intervals, strict=True):
        value, noise = ratio.bottom()
        may_be_zero = abs(value) <= halfwidth(noise, 0.95)
        assert may_be_zero == (interval == (-math.inf, math.inf))
    assert 5 < sum(math.isinf(low) for low, _ in intervals) < 35


def test_what_is_exact_has_a_point_and_nothing_has_no_interval():
    exact = Joint(np.array([6.0, 2.0]), np.zeros((2, 0)), *[np.empty(0)] * 4)
    assert fieller([Ratio(exact, *SLOPES)], 0.95) == [(3.0, 3.0)]
    assert fieller([], 0.95) == []


@pytest.mark.parametrize("number", [600, in_long(2000)])
def test_intervals_hold_as_often_as_they_say(number):
    """N ratios with Laplace noise at 80 %; those of 60 % are noticed; N = 2,000: of 70 %."""
    draw = np.random.default_rng(3)
    lower = 0.7 if number == 2000 else 0.6
    top, bottom, scales = 5200.0, 400.0, np.array([300.0, 12.0])
    covered = {0.8: 0, lower: 0}
    noise = draw.laplace(scale=scales, size=(number, 2))
    weights = np.array([[1.0, 0.5], [0.0, 1.0]])
    asked = [
        Ratio(
            Joint(
                np.array([top, bottom]) + weights @ noise[i],
                weights,
                scales,
                np.zeros(2),
                np.zeros(2),
                np.ones(2),
            ),
            *SLOPES,
        )
        for i in range(number)
    ]
    for confidence in covered:
        intervals = fieller(asked, confidence)
        covered[confidence] = sum(low <= top / bottom <= high for low, high in intervals)
    error = 4.0 * math.sqrt(0.8 * 0.2 / number)
    assert abs(covered[0.8] / number - 0.8) < error
    assert covered[lower] / number < 0.8 - error  # the positive control


def scalar_edges(excess, centre: float, step: float) -> float:
    """One search of `edges` for a function of one number."""

    def each(places: NDArray[np.float64], _: NDArray[np.intp]) -> NDArray[np.float64]:
        return np.array([excess(float(x)) for x in places])

    return float(edges(each, np.array([centre]), np.array([step]))[0])


@pytest.mark.parametrize("side", [-1.0, 1.0])
@pytest.mark.parametrize("error", [0.0, 1e-15, 1e-12, 1e-9])
def test_an_end_within_rounding_errors_of_a_step_is_found(side, error):
    """The tail is searched for itself: asked twice at one place, it may come out on either side.

    Before, such an end raised an error, which depended on the noisy values.
    """
    for steps in range(4):
        end = 1.25**steps
        asked: list[float] = []

        def excess(x: float, end: float = end, asked: list[float] = asked) -> float:
            asked.append(x)
            wobble = error if len(asked) % 2 else -error
            return float(abs(x) - end * (1.0 + wobble))

        found = scalar_edges(excess, 0.0, side)
        assert math.copysign(1.0, found) == side
        assert end * (1.0 - 1e-6) <= abs(found) <= end * (1.0 + 1e-6)
        assert len(asked) < 60


def test_an_end_that_is_never_reached_is_infinite():
    assert scalar_edges(lambda _: -1.0, 0.0, 1.0) == math.inf
    assert scalar_edges(lambda _: -1.0, 0.0, -1.0) == -math.inf
    assert scalar_edges(lambda _: -1.0, 3.0, 0.0) == 3.0


@pytest.mark.parametrize("bend", [0.2, 1.0, 5.0])
def test_few_places_are_looked_at(bend):
    """However a function bends: 40 searches at once, in fewer rounds than halving takes."""
    draw = np.random.default_rng(4)
    ends = draw.uniform(0.3, 9.0, 40)
    rounds = 0

    def excess(places: NDArray[np.float64], which: NDArray[np.intp]) -> NDArray[np.float64]:
        nonlocal rounds
        rounds += 1
        apart = places - ends[which]
        return np.asarray(np.sign(apart) * np.abs(apart) ** bend)

    found = edges(excess, np.zeros(40), np.ones(40))
    assert found == pytest.approx(ends, abs=3e-7)
    assert (found >= ends).all()
    assert rounds < 70  # 24 halvings, as many others, and the widening
