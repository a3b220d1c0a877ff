"""What is really drawn: goodness of fit of every noise path, and the source of its randomness."""

import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from eke.errors import PrivacyError
from eke.mechanism import Secret, draw, noise, reveal_with_noise
from eke.mechanism.noise import _measurement
from eke.privacy.law import DiscreteGaussian, DiscreteLaplace, DiscreteLaw, Gaussian, Laplace
from tests.parts import in_long

FAMILIES = (DiscreteLaplace, DiscreteGaussian)
SAMPLES = 100_000
SIGNIFICANCE = 1e-4
# An odd number of steps: a sampler that reduces its fractions wrongly shows there first.
WIDE = 2**20 + 3


def at_most(law: DiscreteLaw, k: np.ndarray) -> np.ndarray:
    """P(K <= k) for integers k, from the law's tail."""
    beyond = law.tail(np.where(k >= 0, k, -k - 1) * law.step) / 2
    return np.where(k >= 0, 1 - beyond, beyond)


def fit(sample: np.ndarray, law: DiscreteLaw) -> float:
    """The chi-square p-value of the sample under the law, on some 60 bins of integers."""
    reach = int(6 * law.steps)
    edges = np.unique(np.linspace(-reach, reach, 61).round().astype(np.int64))
    shares = np.diff(at_most(law, edges), prepend=0.0, append=1.0)
    counts = np.bincount(np.searchsorted(edges, sample), minlength=len(shares))
    thin = shares * len(sample) < 10
    # Thin bins are pooled into the fullest one, where they do no harm.
    fullest = int(np.argmax(shares))
    shares[fullest] += shares[thin].sum()
    counts[fullest] += counts[thin].sum()
    return float(stats.chisquare(counts[~thin], shares[~thin] * len(sample)).pvalue)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("steps", "wrong"), [(1, (2,)), (10, (7, 13)), (WIDE, (0.7 * WIDE,))])
@pytest.mark.parametrize("number", [20_000, in_long(SAMPLES)])
def test_drawn_noise_has_the_stated_law(family, steps, wrong, number):
    """OpenDP's; must fit at p > 1e-4 and not a scale that is 30 % off (1: twice)."""
    sample = np.array(_measurement(family(steps, -3))([0] * number))
    assert fit(sample, family(steps, -3)) > SIGNIFICANCE
    for other in wrong:
        assert fit(sample, family(round(other), -3)) < SIGNIFICANCE


@pytest.mark.parametrize("family", FAMILIES)
def test_revealed_answers_have_the_stated_law(family):
    """N = 100,000 through the whole path at a wide scale; ±30 % rejected, low bits uniform."""
    law = family(WIDE, -20)
    noisy = np.array(reveal_with_noise(Secret([-7] * SAMPLES, 2), law))
    sample = noisy + (7 << 22)
    assert fit(sample, law) > SIGNIFICANCE
    for factor in (0.7, 1.3):
        assert fit(sample, family(round(factor * WIDE), -20)) < SIGNIFICANCE
    # The answer has 22 zero bits below its unit; its noisy value must not.
    assert stats.chisquare(np.bincount(noisy & 63, minlength=64)).pvalue > SIGNIFICANCE


def test_the_goodness_of_fit_test_sees_a_coarse_grid():
    """Positive control for the low bits: noise that is a multiple of 2 is caught."""
    coarse = 2 * draw(DiscreteLaplace(WIDE, 0), 1000)
    assert stats.chisquare(np.bincount(coarse & 63, minlength=64)).pvalue < SIGNIFICANCE


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("steps", [1, 3, 2**20, 2**20 + 3, 2**53])
def test_opendp_confirms_the_price(family, steps):
    """OpenDP's own map is the exact loss of one step, up to one rounding of a double upwards."""
    law = family(steps, 0)
    exact = Fraction(1, steps) if family is DiscreteLaplace else Fraction(1, 2 * steps**2)
    stated = Fraction(_measurement(law).map(1))
    assert exact <= stated <= exact * (1 + Fraction(1, 2**52))
    assert law.loss_nano(1) >= 10**9 * exact


@pytest.mark.parametrize("family", FAMILIES)
def test_draws_are_integers_of_the_asked_number(family):
    for count in (0, 1, 5):
        noise = draw(family(2**20, 0), count)
        assert noise.dtype == np.int64
        assert noise.shape == (count,)


@pytest.mark.parametrize("law", [Laplace(1.0), Gaussian(1.0), "laplace"], ids=str)
def test_continuous_laws_are_never_drawn(law):
    with pytest.raises(PrivacyError):
        draw(law, 1)
    with pytest.raises(PrivacyError):
        reveal_with_noise(Secret([1], 0), law)


def test_a_negative_count_raises():
    with pytest.raises(PrivacyError):
        draw(DiscreteLaplace(5, 0), -1)


def test_the_widest_law_stays_far_from_the_ends_of_64_bits():
    for family in FAMILIES:
        assert np.abs(draw(family(2**53, 0), 1000)).max() < 2**60


FORKING = """
import os
from eke.mechanism import draw
from eke.privacy.law import DiscreteLaplace
law = DiscreteLaplace(2**40, 0)
draw(law, 3)  # the generator is seeded before the fork
for child in range(3):
    if os.fork() == 0:
        print(*draw(law, 3), flush=True)
        os._exit(0)
    os.wait()
print(*draw(law, 3))
"""


def test_forked_processes_draw_different_noise():
    """Three children and their parent, all forked from one seeded generator."""
    run = subprocess.run(
        [sys.executable, "-c", FORKING], capture_output=True, text=True, check=True
    )
    draws = run.stdout.split()
    assert len(draws) == 12
    assert len(set(draws)) == 12


@pytest.mark.parametrize("end", [np.iinfo(np.int64).max, np.iinfo(np.int64).min])
def test_noise_at_either_end_of_64_bits_is_refused(monkeypatch, end):
    """OpenDP cuts off there; it also adds the noise to nothing but zeros."""
    given = []

    def measured(zeros):
        given.extend(zeros)
        return [0, end, 5]

    monkeypatch.setattr(noise, "_measurement", lambda _: measured)
    with pytest.raises(PrivacyError, match="range of 64 bits"):
        noise.draw(DiscreteLaplace(5, 0), 3)
    assert given == [0, 0, 0]
