"""The exact posterior of a linear estimate: the default, and what planning uses without a value.

The law of the error is closed for a single Laplace or a purely Gaussian noise and is inverted
numerically otherwise (`contour.py`, accurate to about 1e-12 of each result). Start at
`ExactPosterior`; `halfwidth` answers the question planning asks: how precise would this be?
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eke.errors import AccuracyError
from eke.inference.memo import keep_few
from eke.inference.posterior.centred_belief import CentredBelief
from eke.inference.posterior.chernoff import (
    chernoff_halfwidth,
    chernoff_tail,
    tilted_halfwidth,
)
from eke.inference.posterior.composed import ComposedNoise
from eke.inference.posterior.contour import invert, invert_each
from eke.inference.posterior.mass import ProbabilityMass
from eke.inference.posterior.protocol import (
    checked_bounds,
    checked_confidence,
    checked_points,
)

Reals = NDArray[np.float64]

# Every half-width is rounded up by this, far more than its numerical error, so that an interval
# holds at least what it promises (and absorbs what `ComposedNoise` leaves to it).
_ROUNDED_UP = 1e-12
_NEWTON_STEPS = 60
_NORMAL = NormalDist()


@dataclass(frozen=True, slots=True)
class ExactPosterior(CentredBelief):
    """The posterior of θ = θ̂ − e under an uninformative prior (BAYES Lemma 4.1, Th. 4.1)."""

    def halfwidth(self, confidence: float) -> float:
        """Half the width of `interval(confidence)`, which is the narrowest.

        The density is symmetric and falls away from θ̂, so the narrowest interval is centred.
        """
        return halfwidth(self.noise, confidence)

    def probability(self, *, above: float | None = None, below: float | None = None) -> float:
        """Pr(θ > above), Pr(θ < below), or Pr(above < θ < below) when both are given."""
        low, high = checked_bounds(above, below)
        if low >= high:
            return 0.0
        low, high = low - self.value, high - self.value
        if self.noise.is_zero:
            return 1.0 if low < 0.0 < high else 0.0
        if high <= 0.0:  # mirror it: a difference of two small tails is the accurate one
            low, high = -high, -low
        if low >= 0.0:
            tails = _tails(self.noise, np.array([low, high]))
            return max(float(tails[0] - tails[1]), 0.0)
        tails = _tails(self.noise, np.array([-low, high]))
        return 1.0 - float(tails.sum())

    def density(self, points: ArrayLike) -> Reals:
        """The density of θ at each point."""
        return densities(self.noise, checked_points(points) - self.value)


def tail(noise: ComposedNoise, x: float) -> float:
    """Pr(e > x), to a relative accuracy of about 1e-12 however small it is.

    Should the inversion ever fail its own check, this is Chernoff's upper bound instead, so that
    what is built on it stays conservative.
    """
    if math.isnan(x):
        raise AccuracyError("The point of a tail probability must be a number, not NaN.")
    if noise.is_zero:
        return 1.0 if x < 0.0 else 0.0
    upper = float(_tails(noise, np.array([abs(x)]))[0])
    return upper if x >= 0.0 else 1.0 - upper


def tails(noise: ComposedNoise, points: Reals) -> Reals:
    """Pr(e > x) at each point, as `tail`, found at once."""
    if noise.is_zero:
        return np.where(points < 0.0, 1.0, 0.0)
    upper = _tails(noise, np.abs(points))
    return np.where(points >= 0.0, upper, 1.0 - upper)


def tails_each(noises: Sequence[ComposedNoise], points: Reals) -> Reals:
    """Pr(e > x) at one point x ≥ 0 of each of many noises, as `tail`, upper together."""
    upper = np.empty(len(noises))
    composed = []
    for place, (noise, x) in enumerate(zip(noises, points.tolist(), strict=True)):
        if noise.is_zero or noise.laplace_scales.size == 0:
            upper[place] = tail(noise, x)
        else:
            composed.append(place)
    inversion = invert_each([noises[i] for i in composed], points[composed])
    upper[composed] = inversion.tails
    for i in (i for i, agreed in zip(composed, inversion.agreed, strict=True) if not agreed):
        upper[i] = min(0.5, chernoff_tail(noises[i], float(points[i])))
    return upper


def densities(noise: ComposedNoise, points: ArrayLike) -> Reals:
    """The density of e at each point."""
    if noise.is_zero:
        raise AccuracyError("An exact answer has no density; use its value.")
    array = np.abs(checked_points(points))
    scales, variance = noise.laplace_scales, noise.gaussian_variance
    if scales.size == 0:
        density: Reals = np.exp(-0.5 * array * array / variance)
        return density / math.sqrt(2.0 * math.pi * variance)
    if noise.laplace_parts == 1 and variance == 0.0:
        return np.asarray(np.exp(-array / scales[0]) / (2.0 * scales[0]))
    inversion = invert(noise, array.ravel())
    if not inversion.verified:
        raise AccuracyError("the density is not reliable here; use posterior='monte_carlo'")
    return inversion.densities.reshape(array.shape)


def halfwidth(noise: ComposedNoise, confidence: float) -> float:
    """The least x with Pr(|e| ≤ x) ≥ confidence, rounded up, plus the slack of the noise's grid."""
    return float(halfwidths([noise], confidence)[0])


def halfwidths(noises: Sequence[ComposedNoise], confidence: float) -> Reals:
    """The same for many noises, which are searched together, and each only once."""
    confidence = checked_confidence(confidence)
    known = [noise.widths.get(confidence) for noise in noises]
    unknown = [noise for noise, width in zip(noises, known, strict=True) if width is None]
    halves = [_closed_halfwidth(noise, confidence) for noise in unknown]
    composed = [noise for noise, half in zip(unknown, halves, strict=True) if half is None]
    searched = iter(_composed_halfwidths(composed, confidence).tolist())
    fresh = []
    for noise, closed in zip(unknown, halves, strict=True):
        half = next(searched) if closed is None else closed
        width = half * (1.0 + _ROUNDED_UP) + noise.grid_slack
        fresh.append(keep_few(noise.widths, confidence, width))
    new = iter(fresh)
    return np.array([next(new) if width is None else width for width in known])


def bounded_halfwidth(noise: ComposedNoise, confidence: float) -> float:
    """No less than the half-width, and found without inversion: exact where it has a closed form.

    Elsewhere it is up to 1.55 times as wide, for confidences from 0.99.
    """
    closed = _closed_halfwidth(noise, checked_confidence(confidence))
    half = tilted_halfwidth(noise, confidence) if closed is None else closed
    return half * (1.0 + _ROUNDED_UP) + noise.grid_slack


def _closed_halfwidth(noise: ComposedNoise, confidence: float) -> float | None:
    """The half-width where it has a closed form: of no noise, one Laplace, or only Gaussians."""
    if noise.is_zero:
        return 0.0
    if noise.laplace_scales.size == 0:
        return math.sqrt(noise.gaussian_variance) * _central(confidence)
    if noise.laplace_parts == 1 and noise.gaussian_variance == 0.0:
        return -float(noise.laplace_scales[0]) * math.log1p(-confidence)
    return None


def _central(confidence: float) -> float:
    """The x that a standard normal number keeps within with this probability, to either side."""
    if confidence >= 0.5:
        return -_NORMAL.inv_cdf(0.5 * (1.0 - confidence))
    from scipy.special import erfinv  # noqa: PLC0415 - slow to load; here it keeps its digits

    return math.sqrt(2.0) * float(erfinv(confidence))


def exact_masses(noise: ComposedNoise, length: int, step: float = 1.0) -> ProbabilityMass:
    """The probabilities of the `length` (odd) cells of width `step` around 0 (BAYES Def. 4.1).

    This is E(u) in the paper's error of a probability mass vector, see `mass.mass_error`.
    """
    if length < 1 or length % 2 == 0:
        raise AccuracyError("The length of a probability mass vector must be odd and positive.")
    if noise.is_zero:
        masses = np.zeros(length)
        masses[length // 2] = 1.0
        return ProbabilityMass(masses, step)
    edges: Reals = step * (0.5 + np.arange(length // 2 + 1, dtype=np.float64))
    tails = _tails(noise, edges)
    right = tails[:-1] - tails[1:]
    return ProbabilityMass(np.concatenate([right[::-1], [1.0 - 2.0 * tails[0]], right]), step)


def _tails(noise: ComposedNoise, points: Reals) -> Reals:
    """Pr(e > x) at each x ≥ 0, for a noise that is not zero."""
    scales, variance = noise.laplace_scales, noise.gaussian_variance
    if scales.size == 0:
        return np.array([0.5 * math.erfc(x / math.sqrt(2.0 * variance)) for x in points])
    if noise.laplace_parts == 1 and variance == 0.0:
        return np.asarray(0.5 * np.exp(-points / scales[0]))
    inversion = invert(noise, points)
    if not inversion.verified:
        return np.array([min(0.5, chernoff_tail(noise, float(x))) for x in points])
    return inversion.tails


def _composed_halfwidths(noises: Sequence[ComposedNoise], confidence: float) -> Reals:
    """The roots of Pr(e > x) = (1 − confidence)/2 by Newton's method on the logarithm.

    The tail of a log-concave density is log-concave: after one step Newton's iterates lie right of
    the root and fall towards it, from any start.
    """
    target = 0.5 * (1.0 - confidence)
    x = np.array([-_NORMAL.inv_cdf(target) * math.sqrt(noise.variance) for noise in noises])
    # Pr(|e| ≤ x) ≤ 2·x·density(0). Where the confidence is so small that ½ − tail loses its digits,
    # this bound is the answer.
    least = np.zeros(len(noises))
    if confidence < 1e-3:
        least = np.array([0.5 * confidence / float(densities(noise, 0.0)) for noise in noises])
    searching = np.arange(len(noises))
    failed: list[int] = []
    for _ in range(_NEWTON_STEPS):
        if not searching.size:
            break
        x[searching] = np.maximum(x[searching], least[searching])
        inversion = invert_each([noises[i] for i in searching.tolist()], x[searching])
        upper, density = inversion.tails, inversion.densities
        usable = inversion.agreed & (upper > 0.0) & (density > 0.0)
        failed += searching[~usable].tolist()
        searching, upper, density = searching[usable], upper[usable], density[usable]
        move = np.log(upper / target) * upper / density
        x[searching] += move
        # Convergence is quadratic: after a move this small the rest is below rounding.
        there = x[searching]
        searching = searching[(np.abs(move) > 3e-8 * there) & (there > least[searching])]
    for i in [*failed, *searching.tolist()]:
        x[i] = chernoff_halfwidth(noises[i], confidence)
    return np.asarray(np.maximum(x, least))
