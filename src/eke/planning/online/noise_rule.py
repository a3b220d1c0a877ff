"""Noise rules: how much noise a question may have that history cannot answer well enough.

A rule is a function of public facts: what history knows (as a law of error, never as values) and
what is required. It returns the largest noise scale (Laplace scale or standard deviation) with
which the question, measured once, meets the requirement.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from eke.inference import ComposedNoise, halfwidth, tail
from eke.inference.crossing import crossing
from eke.planning.online.requirement import Requirement
from eke.privacy.measure import Measure

NoiseRule: TypeAlias = Callable[[Requirement, ComposedNoise | None, Measure], float]

# The grid on which noise is drawn moves scales up by at most this share, and its step is at most
# this share of the scale: an interval is wider by half a step.
_GRID = 2.0**-20
# Roots are found to this accuracy, always on the side of less noise.
_ROOT = 1e-9
# Where a tail is so near to a half that it loses its digits, half-widths are compared instead; and
# where the two disagree by more than a few roundings of the root.
TAILS_FROM = 0.01
_STEPS_BACK = 4


def direct_noise(requirement: Requirement, known: ComposedNoise | None, measure: Measure) -> float:
    """The noise with which the question alone meets the requirement, whatever is known.

    Laplace: P(|noise| > within) = exp(-within/b), so b = within / ln(1/δ), which is the papers'
    epsilon = S·ln(1/δ)/within. Gaussian: σ = within / z(1 - δ/2).
    """
    del known
    missing = 1.0 - requirement.confidence
    quantile = measure.quantile(missing)
    return requirement.within / (quantile + _GRID * (quantile + 1.0))


def top_up_noise(requirement: Requirement, known: ComposedNoise | None, measure: Measure) -> float:
    """The largest noise with which history and the new measurement together suffice."""
    least = direct_noise(requirement, None, measure)
    if known is None:
        return least

    def excess(logarithm: float) -> float:
        together = combined(known, math.exp(logarithm), measure)
        return halfwidth(together, requirement.confidence) / requirement.within - 1.0

    def reach(logarithm: float) -> float:
        return beyond(combined(known, math.exp(logarithm), measure), requirement)

    if requirement.confidence >= TAILS_FROM:
        root = _largest(reach, math.log(least))
        for _ in range(_STEPS_BACK):
            if excess(root) <= 0.0:
                return math.exp(root)
            root -= 2.0 * _ROOT
    root = _largest(excess, math.log(least))
    while excess(root) > 0.0:
        root -= 2.0 * _ROOT
    return math.exp(root)


def beyond(noise: ComposedNoise, requirement: Requirement) -> float:
    """How much more of a law of error lies outside an interval than may; below 0 where it is less.

    A half-width is itself a root; this is a logarithm of one tail, and has the same sign.
    """
    outside = tail(noise, max(requirement.within - noise.grid_slack, 0.0))
    return math.log(max(outside, sys.float_info.min) / (0.5 * (1.0 - requirement.confidence)))


def _largest(excess: Callable[[float], float], low: float) -> float:
    """Where an excess that grows with the noise crosses 0, in logarithms of the noise scale."""
    # At confidences below about 0.7 an interval can grow when the estimate takes in what is known:
    # the variance falls, but the law becomes less peaked. Less noise then makes up for it.
    while excess(low) > 0.0:
        low -= 0.1
    high = low + 1.0
    while excess(high) <= 0.0:
        high += 2.0
        if high > low + 60.0:  # history alone suffices, the caller should not have come here
            return high
    return crossing(excess, low, high, within=_ROOT)


def combined(known: ComposedNoise, noise_scale: float, measure: Measure) -> ComposedNoise:
    """The error of the best combination of what is known and one new measurement."""
    drawn = noise_scale * (1.0 + _GRID)
    new_variance = measure.variance(drawn)
    share = new_variance / (new_variance + known.variance)  # of what is known
    scales, counts = share * known.laplace_scales, known.counts
    variance = share**2 * known.gaussian_variance
    if measure.unit_law.laplace_scale:
        scales = np.append(scales, (1.0 - share) * drawn)
        counts = None if counts is None else np.append(counts, 1.0)
    else:
        variance += ((1.0 - share) * drawn) ** 2
    slack = share * known.grid_slack + (1.0 - share) * 0.5 * _GRID * drawn
    return ComposedNoise(scales, variance, slack, counts)
