"""The inversion around the saddle point against closed forms and two other integrals."""

import math

import mpmath as mp  # type: ignore[import-untyped]
import numpy as np
import pytest
from scipy import integrate, special

from eke.inference.posterior import ComposedNoise
from eke.inference.posterior.contour import invert, invert_each
from tests.unit.inference.posterior.oracles import (
    equal_laplace_density,
    fourier_central,
    precise_tail,
)

RELATIVE = 2e-12

# name -> Laplace scales, Gaussian variance
MIXES: dict[str, tuple[np.ndarray, float]] = {
    "two": (np.array([1.0, 0.3]), 0.0),
    "two, nearly equal": (np.array([1.0, 1.0 + 1e-7]), 0.0),
    "two, far apart": (np.array([1.0, 1e-9]), 0.0),
    "thirteen, from 1e-6 to 1e6": (10.0 ** np.linspace(-6, 6, 13), 0.0),
    "Laplace and as much Gaussian": (np.array([1.0]), 1.0),
    "Laplace and a trace of Gaussian": (np.array([1.0]), 1e-6),
    "Gaussian and some Laplace": (np.array([0.05, 0.02]), 1.0),
    "thirty": (np.random.default_rng(1).exponential(size=30) ** 2, 0.0),
    "twenty and Gaussian": (np.random.default_rng(2).uniform(0.1, 1, 20), 3.0),
}
FAMILIES: dict[str, tuple[np.ndarray, float]] = {
    **MIXES,
    "one": (np.array([1.0]), 0.0),
    "Gaussian": (np.empty(0), 2.0),
    "eight equal": (np.ones(8), 0.0),
    "5000 equal": (np.ones(5000), 0.0),
    "5000 different": (np.random.default_rng(3).exponential(size=5000) ** 2, 0.0),
    "one and 5000 tiny": (np.r_[1.0, np.full(5000, 1e-2)], 0.0),
    "a million to one": (np.r_[1e6, np.full(3000, 1e-6)], 0.0),
    "groups": (np.repeat([0.1, 0.2, 3.0], [40, 31, 100]), 0.5),
}


@pytest.mark.parametrize("name", MIXES)
@pytest.mark.parametrize("deviations", [0.0, 1e-9, 1e-3, 0.1, 1.0, 2.0, 5.0, 12.0, 30.0])
def test_tails_are_right_relative_to_their_own_size(name, deviations):
    """Against 120 digits, from ½ down to 1e-21 and beyond."""
    scales, variance = MIXES[name]
    noise = ComposedNoise(scales, variance)
    x = deviations * math.sqrt(noise.variance)
    inversion = invert(noise, np.array([x]))
    assert inversion.verified
    assert float(abs(inversion.tails[0] / precise_tail(scales, variance, x) - 1)) < RELATIVE


@pytest.mark.parametrize("name", FAMILIES)
def test_central_probability_agrees_with_the_integral_of_gil_pelaez(name):
    """Every kind of noise, against Ooura and Mori's rule on the imaginary axis."""
    noise = ComposedNoise(*FAMILIES[name])
    points = np.array([0.1, 0.5, 1.0, 1.96, 3.0, 5.0]) * math.sqrt(noise.variance)
    inversion = invert(noise, points)
    assert inversion.verified
    twin = [fourier_central(noise, float(x)) for x in points]
    assert 1.0 - 2.0 * inversion.tails == pytest.approx(twin, abs=2e-13)


@pytest.mark.parametrize("deviations", [3.0, 10.0, 30.0])
def test_far_tails_of_a_gaussian_and_of_a_single_laplace(deviations):
    """Down to 1e-197, though the package itself uses the closed forms for these two."""
    points = np.array([deviations])
    gaussian = invert(ComposedNoise(np.empty(0), 1.0), points)
    laplace = invert(ComposedNoise(np.array([1.0])), points)
    assert gaussian.tails[0] == pytest.approx(float(special.ndtr(-deviations)), rel=RELATIVE)
    assert laplace.tails[0] == pytest.approx(0.5 * math.exp(-deviations), rel=RELATIVE)


@pytest.mark.parametrize("count", [2, 3, 8, 40])
@pytest.mark.parametrize("z", [0.0, 0.4, 3.0, 15.0, 60.0])
def test_density_of_equal_laplace_noises_is_equation_23(count, z):
    inversion = invert(ComposedNoise(np.full(count, 1.5)), np.array([z]))
    with mp.workdps(30):
        exact = float(equal_laplace_density(count, 1.5, z))
    assert inversion.densities[0] == pytest.approx(exact, rel=RELATIVE)


@pytest.mark.parametrize("name", FAMILIES)
def test_density_is_positive_and_integrates_to_the_tails(name):
    noise = ComposedNoise(*FAMILIES[name])
    deviation = math.sqrt(noise.variance)
    nodes, weights = special.roots_legendre(40)
    for low, high in [(0.5, 1.0), (2.0, 3.0)]:
        points = deviation * (low + (high - low) * (nodes + 1) / 2)
        inside = invert(noise, points)
        ends = invert(noise, deviation * np.array([low, high]))
        assert (inside.densities > 0).all()
        area = 0.5 * deviation * (high - low) * float(weights @ inside.densities)
        assert area == pytest.approx(ends.tails[0] - ends.tails[1], rel=1e-11)


def test_density_of_a_mix_against_an_ordinary_cosine_transform():
    noise = ComposedNoise(np.array([1.0, 0.6, 0.5, 0.2]), 0.3)
    for x in (0.0, 0.7, 4.0):
        integral, _ = integrate.quad(
            lambda t, x=x: float(noise.characteristic(t)) * math.cos(t * x), 0, 60, limit=400
        )
        assert invert(noise, np.array([x])).densities[0] == pytest.approx(
            integral / math.pi, abs=1e-9
        )


@pytest.mark.parametrize("name", FAMILIES)
def test_points_that_share_a_path_agree_with_points_alone(name):
    noise = ComposedNoise(*FAMILIES[name])
    # In no order and with repetitions, as a caller may send them.
    points = np.array([2.3, 0.0, 7.0, 0.2, 0.21, 1.4, 0.2, 30.0]) * math.sqrt(noise.variance)
    together = invert(noise, points)
    alone = [invert(noise, points[i : i + 1]) for i in range(points.size)]
    assert together.verified
    assert together.tails == pytest.approx([a.tails[0] for a in alone], rel=RELATIVE, abs=0)
    assert together.densities == pytest.approx([a.densities[0] for a in alone], rel=1e-11, abs=0)


@pytest.mark.parametrize("name", FAMILIES)
def test_points_far_beyond_everything_have_no_probability(name):
    noise = ComposedNoise(*FAMILIES[name])
    inversion = invert(noise, np.array([1e13, 1e120, 1e300, math.inf]))
    assert inversion.verified
    assert inversion.tails.tolist() == [0.0] * 4
    assert inversion.densities.tolist() == [0.0] * 4


def test_no_points_give_no_results():
    inversion = invert(ComposedNoise(np.array([1.0, 2.0])), np.empty(0))
    assert inversion.tails.size == inversion.densities.size == 0
    assert inversion.verified


@pytest.mark.parametrize("unit", [1e-140, 1e-6, 1e6, 1e140])
def test_results_do_not_depend_on_the_unit_of_measurement(unit):
    scales, variance = np.array([1.0, 0.5, 0.2]), 0.4
    here = invert(ComposedNoise(scales, variance), np.array([0.5, 3.0]))
    there = invert(
        ComposedNoise(unit * scales, unit * (unit * variance)), unit * np.array([0.5, 3.0])
    )
    assert there.tails == pytest.approx(here.tails, rel=1e-12)
    assert there.densities * unit == pytest.approx(here.densities, rel=1e-12)


def test_one_point_of_each_of_many_noises_is_as_each_alone():
    """All families at once, some of them twice, at points from the middle to the far tails."""
    noises = [ComposedNoise(*FAMILIES[name]) for name in [*FAMILIES, "two", "groups"]]
    for deviations in (0.0, 0.3, 2.0, 9.0, 1e13):
        points = np.array([deviations * math.sqrt(noise.variance) for noise in noises])
        together = invert_each(noises, points)
        alone = [invert(noise, points[i : i + 1]) for i, noise in enumerate(noises)]
        assert together.verified
        assert together.tails == pytest.approx([a.tails[0] for a in alone], rel=RELATIVE, abs=0)
        assert together.densities == pytest.approx(
            [a.densities[0] for a in alone], rel=1e-11, abs=0
        )
    assert invert_each([], np.empty(0)).tails.size == 0


def test_only_noises_whose_steps_disagree_are_not_agreed_on(monkeypatch):
    """A step too coarse for one of them is halved for it, and given up on at last."""
    noises = [ComposedNoise(np.array([1.0, 0.5])), ComposedNoise(np.array([1.0, 1e-3]), 1e-9)]
    points = np.array([0.5, 3.0])
    right = invert_each(noises, points)
    monkeypatch.setattr("eke.inference.posterior.contour._FIRST_STEP", 1.6)
    halved = invert_each(noises, points)
    assert halved.verified
    assert halved.tails == pytest.approx(right.tails, rel=1e-9)
    monkeypatch.setattr("eke.inference.posterior.contour._HALVINGS", 0)
    assert not invert_each(noises, points).agreed.any()
