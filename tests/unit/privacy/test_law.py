"""Noise laws against brute sums over the integers, and exact losses against rational arithmetic."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from eke.errors import PrivacyError
from eke.privacy.law import (
    DiscreteGaussian,
    DiscreteLaplace,
    Gaussian,
    Laplace,
    choose_grid,
    law_from_json,
)

DISCRETE = (DiscreteLaplace, DiscreteGaussian)
SMALL = [family(steps, exponent) for family in DISCRETE for steps, exponent in
         ((1, 0), (2, 3), (5, -4), (40, -1))]  # fmt: skip
CONTINUOUS = [Laplace(0.25), Laplace(30.0), Gaussian(0.09), Gaussian(50.0)]
# One step above, and far above, the switch from term-by-term sums to Euler–Maclaurin.
WIDE = [family(steps, -7) for family in DISCRETE for steps in (1025, 4000)]
LAWS = [*SMALL, *CONTINUOUS, *WIDE]


def brute_masses(law):
    """(k, P(K = k)) for all k that matter, straight from the definition."""
    reach = 60 * law.steps if isinstance(law, DiscreteLaplace) else 40 * law.steps
    k = np.arange(-reach, reach + 1)
    power = 1 if isinstance(law, DiscreteLaplace) else 2
    weights = np.exp(-(np.abs(k / law.steps) ** power) / power)
    return k, weights / weights.sum()


@pytest.mark.parametrize("law", [*SMALL, *WIDE], ids=str)
def test_masses_are_the_definition_and_sum_to_one(law):
    k, expected = brute_masses(law)
    np.testing.assert_allclose(law.mass(k), expected, rtol=1e-12)
    assert law.mass(k).sum() == pytest.approx(1.0, rel=1e-13)


@pytest.mark.parametrize("law", [*SMALL, *WIDE], ids=str)
def test_variance_is_that_of_the_masses(law):
    k, masses = brute_masses(law)
    brute = float(np.sum(masses * (k * law.step) ** 2))
    assert law.variance == pytest.approx(brute, rel=1e-12)


@pytest.mark.parametrize("law", [*SMALL, *WIDE], ids=str)
def test_tail_is_the_sum_of_the_masses_beyond(law):
    k, masses = brute_masses(law)
    inside = [0, 0.3, 1, 1.5, 2, 3, law.steps, 2.5 * law.steps, 7 * law.steps, 25 * law.steps]
    x = np.array([-5.0, *inside]) * law.step
    brute = [masses[np.abs(k) * law.step > bound].sum() for bound in x]
    assert law.tail(x) == pytest.approx(brute, rel=1e-11)
    assert law.tail([-1e-300, np.inf, 1e300]) == pytest.approx([1.0, 0.0, 0.0])
    assert np.isnan(law.tail(np.nan))


@pytest.mark.parametrize("law", [*SMALL, *WIDE], ids=str)
def test_characteristic_function_is_the_fourier_sum(law):
    k, masses = brute_masses(law)
    widest = math.pi / law.step
    t = np.array([0.0, 0.1, 0.5, 1.0, 3.0, 10.0]) / (law.steps * law.step)
    t = np.concatenate([t, -t, [0.3 * widest, widest, 2 * widest, 2.7 * widest]])
    brute = [float(np.sum(masses * np.cos(k * law.step * one))) for one in t]
    # The sum itself is only good to the rounding of its angles, 2^-53 · k · angle.
    assert law.characteristic(t) == pytest.approx(brute, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("law", CONTINUOUS, ids=str)
def test_continuous_laws_are_those_of_scipy(law):
    scipy_law, width = (
        (stats.laplace, law.laplace_scale)
        if isinstance(law, Laplace)
        else (stats.norm, math.sqrt(law.noise_variance))
    )
    reference = scipy_law(scale=width)
    x = np.array([0.0, 0.01, 0.4, 3.0, 20.0])
    assert law.tail(x) == pytest.approx(2 * reference.sf(x), rel=1e-12)
    assert law.tail(-1.0) == pytest.approx(1.0)
    assert law.variance == pytest.approx(reference.var())
    for t in (0.0, 0.2, 1.0):
        wave, _ = integrate.quad(
            lambda y, t=t: reference.pdf(y) * math.cos(t * y), 0, np.inf, limit=500
        )
        assert float(law.characteristic(t)) == pytest.approx(2 * wave, abs=1e-7)
    assert law.step == 0.0


@pytest.mark.parametrize("exponent", [-30, 0, 9])
def test_discrete_laws_approach_their_continuous_neighbours(exponent):
    laplace, gaussian = DiscreteLaplace(2**20, exponent), DiscreteGaussian(2**20, exponent)
    for law, near in (
        (laplace, Laplace(laplace.laplace_scale)),
        (gaussian, Gaussian(gaussian.gaussian_variance)),
    ):
        width = 2.0 ** (20 + exponent)
        x = np.array([0.0, 0.1, 1.0, 4.0, 8.0]) * width
        assert law.variance == pytest.approx(near.variance, rel=1e-12)
        assert law.tail(x) == pytest.approx(near.tail(x), rel=1e-5)
        assert law.characteristic(x / width**2) == pytest.approx(
            near.characteristic(x / width**2), rel=1e-9
        )
    assert (laplace.gaussian_variance, gaussian.laplace_scale) == (0.0, 0.0)


@pytest.mark.parametrize("steps", [1, 2, 3, 10, 2**20, 2**53])
def test_a_discrete_gaussian_varies_no_more_than_its_parameter(steps):
    law = DiscreteGaussian(steps, -2)
    assert law.variance <= law.gaussian_variance
    assert law.variance == pytest.approx(law.gaussian_variance, rel=1e-6)


def test_extreme_but_allowed_laws_stay_finite():
    for family in DISCRETE:
        for steps in (1, 2**53):
            for exponent in (-400, 400):
                law = family(steps, exponent)
                assert 0.0 < law.variance < math.inf
                assert float(law.tail(law.step * steps)) == pytest.approx(
                    float(family(steps, 0).tail(float(steps)))
                )


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_json_gives_the_same_law_back(law):
    assert law_from_json(json.loads(json.dumps(law.to_json()))) == law


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"kind": "cauchy"},
        {"kind": ["laplace"]},
        {"kind": "laplace"},
        {"kind": "laplace", "laplace_scale": 1.0, "seed": 4},
        {"kind": "laplace", "laplace_scale": "1"},
        {"kind": "laplace", "laplace_scale": True},
        {"kind": "gaussian", "noise_variance": float("nan")},
        {"kind": "discrete_laplace", "steps": 4.0, "exponent": 0},
        {"kind": "discrete_laplace", "steps": True, "exponent": 0},
        {"kind": "discrete_gaussian", "steps": 4, "exponent": "0"},
        "discrete_laplace",
    ],
    ids=str,
)
def test_malformed_documents_are_refused(document):
    with pytest.raises(PrivacyError):
        law_from_json(document)


@pytest.mark.parametrize("family", DISCRETE)
@pytest.mark.parametrize(
    ("steps", "exponent"),
    [(0, 0), (-3, 0), (2**53 + 1, 0), (1.5, 0), (4, 401), (4, -401), (4, 0.5)],
)
def test_bad_grids_raise(family, steps, exponent):
    with pytest.raises(PrivacyError):
        family(steps, exponent)


@pytest.mark.parametrize("family", [Laplace, Gaussian])
@pytest.mark.parametrize("width", [0.0, -1.0, math.nan, math.inf, -math.inf, "1", None, 10**400])
def test_bad_widths_raise(family, width):
    with pytest.raises(PrivacyError):
        family(width)


def exact_loss(law, coefficient: Fraction) -> Fraction:
    """The loss in nano-units as a rational number, from the formulas of the proof note."""
    match law:
        case DiscreteLaplace():
            return 10**9 * abs(coefficient) / (law.steps * Fraction(2) ** law.exponent)
        case DiscreteGaussian():
            return 10**9 * coefficient**2 / (2 * (law.steps * Fraction(2) ** law.exponent) ** 2)
        case Laplace():
            return 10**9 * abs(coefficient) / Fraction(law.laplace_scale)
        case _:
            return 10**9 * coefficient**2 / (2 * Fraction(law.noise_variance))


def any_law() -> st.SearchStrategy:
    steps, exponents = st.integers(1, 2**53), st.integers(-60, 60)
    width = st.floats(1e-6, 1e9)
    return st.one_of(
        st.builds(DiscreteLaplace, steps, exponents),
        st.builds(DiscreteGaussian, steps, exponents),
        st.builds(Laplace, width),
        st.builds(Gaussian, width),
    )


@given(any_law(), st.fractions() | st.integers(-(2**70), 2**70).map(lambda n: Fraction(n, 2**40)))
def test_a_loss_is_the_exact_one_rounded_up(law, coefficient):
    loss = law.loss_nano(coefficient)
    assert isinstance(loss, int)
    assert exact_loss(law, coefficient) <= loss < exact_loss(law, coefficient) + 1
    assert law.loss_nano(-coefficient) == loss


@given(
    any_law(),
    st.lists(st.integers(-(2**63), 2**63 - 1), max_size=8),
    st.integers(-80, -60),
)
def test_losses_of_arrays_are_those_of_their_elements(law, numerators, exponent):
    array = np.array(numerators, dtype=np.int64)
    one_by_one = [law.loss_nano(n * Fraction(2) ** exponent) for n in numerators]
    if max(one_by_one, default=0) >= 2**63:
        with pytest.raises(PrivacyError):
            law.loss_nano_array(array, exponent)
        return
    losses = law.loss_nano_array(array, exponent)
    assert losses.dtype == np.int64
    assert losses.tolist() == one_by_one


def test_losses_keep_the_shape_and_know_round_numbers():
    law = DiscreteLaplace(2**21, -20)  # scale 2
    table = np.array([[0, 1, -1], [2, 4, -8]])
    assert law.loss_nano_array(table, 0).tolist() == [
        [0, 500_000_000, 500_000_000],
        [1_000_000_000, 2_000_000_000, 4_000_000_000],
    ]
    assert law.loss_nano_array(table, -1)[0, 1] == 250_000_000
    assert DiscreteGaussian(2**21, -20).loss_nano(2) == 500_000_000
    assert DiscreteLaplace(3, 0).loss_nano(1) == 333_333_334
    assert (law.loss_unit, DiscreteGaussian(1, 0).loss_unit) == ("epsilon", "rho")


def test_inexact_coefficients_are_refused():
    with pytest.raises(PrivacyError):
        DiscreteLaplace(3, 0).loss_nano(0.5)  # type: ignore[arg-type]
    with pytest.raises(PrivacyError):
        DiscreteLaplace(3, 0).loss_nano_array(np.array([0.5]), 0)


@given(
    st.sampled_from(DISCRETE),
    st.floats(1e-9, 1e9) | st.fractions(min_value=Fraction(1, 10**6), max_value=10**6),
    st.integers(-20, 20),
)
def test_the_chosen_grid_is_fine_divides_the_coefficients_and_never_shrinks_noise(
    family, noise_scale, coefficient_exponent
):
    law = choose_grid(family, noise_scale, coefficient_exponent)
    drawn = law.steps * Fraction(2) ** law.exponent
    asked = Fraction(noise_scale)
    assert law.steps >= 2**20
    assert law.exponent <= coefficient_exponent
    assert asked <= drawn <= asked * (1 + Fraction(1, 2**20))


def test_a_power_of_two_is_kept_as_it_is():
    assert choose_grid(DiscreteLaplace, 8.0, 0) == DiscreteLaplace(2**20, -17)
    assert choose_grid(DiscreteLaplace, 8.0, -30) == DiscreteLaplace(2**33, -30)
    assert choose_grid(DiscreteGaussian, 2.0**30, 0) == DiscreteGaussian(2**30, 0)


@pytest.mark.parametrize(
    ("noise_scale", "exponent"),
    [(0.0, 0), (-1.0, 0), (math.nan, 0), (math.inf, 0), (1.0, 500), (1.0, 0.5), (1e-200, 0)],
)
def test_impossible_grids_raise(noise_scale, exponent):
    with pytest.raises(PrivacyError):
        choose_grid(DiscreteLaplace, noise_scale, exponent)


def test_no_noise_is_no_scale():
    with pytest.raises(PrivacyError, match="must be positive"):
        choose_grid(DiscreteLaplace, 0.0, 0)


def test_too_wide_a_scale_names_the_remedy():
    with pytest.raises(PrivacyError, match="coarser grid"):
        choose_grid(DiscreteLaplace, 2.0**20, -40)


@pytest.mark.parametrize("steps", [1, 2, 5, 40])
def test_the_rounded_continuous_law_dominates_the_discrete_laplace(steps):
    """docs/proofs/noise.md §4: P(|K| >= k) <= P(|L| >= k - 1/2), and the two laws are close."""
    law, near = DiscreteLaplace(steps, 0), Laplace(float(steps))
    k = np.arange(1, 30 * steps)
    assert np.all(law.tail(k - 1.0) <= near.tail(k - 0.5) * (1 + 1e-14))
    rounded = near.tail(k - 0.5) - near.tail(k + 0.5)
    apart = abs(float(law.mass(0)) - (1 - float(near.tail(0.5))))
    distance = 0.5 * (apart + np.abs(2 * law.mass(k) - rounded).sum())
    assert distance <= 1 / (8 * steps**2)


@pytest.mark.parametrize("steps", [1, 2, 5, 40])
def test_the_rounded_continuous_law_is_close_to_the_discrete_gaussian(steps):
    """docs/proofs/noise.md §3: total variation distance at most 1/(8 steps²)."""
    law, near = DiscreteGaussian(steps, 0), Gaussian(float(steps) ** 2)
    k = np.arange(1, 40 * steps)
    rounded = near.tail(k - 0.5) - near.tail(k + 0.5)
    apart = abs(float(law.mass(0)) - (1 - float(near.tail(0.5))))
    distance = 0.5 * (apart + np.abs(2 * law.mass(k) - rounded).sum())
    assert distance <= 1 / (8 * steps**2)


@pytest.mark.parametrize("steps", [1, 2, 5, 40, 1000])
def test_smoothed_discrete_laplace_is_more_peaked_than_smoothed_laplace(steps):
    """docs/proofs/noise.md §4: P(|K + U| > x) <= P(|L + U| > x), U uniform on [-1/2, 1/2]."""
    law, near = DiscreteLaplace(steps, 0), Laplace(float(steps))
    x = np.linspace(0, 12 * steps, 2001)
    # K + U has a density that is constant between half integers, so its tail is linear there.
    k = np.arange(1, 12 * steps + 2)
    discrete = np.interp(x, [0.0, *(k - 0.5)], [1.0, *law.tail(k - 1.0)])
    shifted = x[:, np.newaxis] + (np.arange(400) + 0.5) / 400 - 0.5
    above = near.tail(np.abs(shifted)) / 2
    continuous = 2 * np.where(shifted >= 0, above, 1 - above).mean(axis=1)
    assert np.all(discrete <= continuous + 1e-14)
    assert np.all(discrete >= 0.8 * continuous)
