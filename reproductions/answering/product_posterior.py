"""ONLINE Algorithms 3, 4 and 6: the product of the observations' likelihoods, on a grid.

The paper composes noises by convolving probabilities of whole numbers (Algorithm 6), which takes
minutes for a question once history is long. Here each composed density comes from one inverse
Fourier transform of its characteristic function, which is the same function without the rounding.
`eke.inference.ProductPosterior` computes it in a third way; the tests compare the two.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Reals = NDArray[np.float64]

_POINTS = 4096
_PER_DEVIATION = 64  # grid points in a standard deviation of one observation's noise
_FLOOR = 1e-14  # of the peak; below it Fourier transforms leave nothing but rounding
_REACH = 15.0  # standard deviations of the sharpest observation


@dataclass(frozen=True, slots=True)
class Observation:
    """θ̃ = θ + N, with the Laplace scales of the parts of N (ONLINE eq. 15, 16)."""

    value: float
    laplace_scales: Reals

    @property
    def deviation(self) -> float:
        return math.sqrt(2.0 * float(self.laplace_scales @ self.laplace_scales))


@dataclass(frozen=True, slots=True)
class GridPosterior:
    """The posterior of θ as masses of equally wide cells around the points (ONLINE eq. 37)."""

    points: Reals
    masses: Reals

    @property
    def mean(self) -> float:
        """θ̂, which has the least mean squared error (ONLINE eq. 38)."""
        return float(self.masses @ self.points)

    def interval(self, delta: float) -> tuple[float, float]:
        """The run of most probable cells that holds 1 − δ, from edge to edge.

        ONLINE's Algorithm 4 takes in one cell after the other, always the likelier neighbour. The
        posterior has one mode, so that is the same as taking the likeliest cells first.
        """
        order = np.argsort(-self.masses, kind="stable")
        enough = int(np.searchsorted(np.cumsum(self.masses[order]), 1.0 - delta)) + 1
        taken = order[:enough]
        half_cell = 0.5 * (self.points[1] - self.points[0])
        return (
            float(self.points[taken.min()] - half_cell),
            float(self.points[taken.max()] + half_cell),
        )


def product_posterior(observations: Sequence[Observation]) -> GridPosterior:
    """The normalised product of the likelihoods, under a flat prior."""
    values = [observation.value for observation in observations]
    reach = _REACH * min(observation.deviation for observation in observations)
    points = np.linspace(min(values) - reach, max(values) + reach, _POINTS + 1)
    logarithm = np.zeros(len(points))
    for observation in observations:
        logarithm += _log_likelihood(observation, points)
    masses = np.exp(logarithm - logarithm.max())
    return GridPosterior(points, masses / masses.sum())


def _log_likelihood(observation: Observation, points: Reals) -> Reals:
    """The logarithm of f_N(θ̃ - θ) at each θ; beyond what is resolved it falls exponentially."""
    scales = observation.laplace_scales
    distance = np.abs(observation.value - points)
    if len(scales) == 1:
        return np.asarray(-distance / scales[0] - math.log(2.0 * scales[0]))
    step = observation.deviation / _PER_DEVIATION
    frequency = 2.0 * math.pi * np.fft.rfftfreq(_POINTS, step)
    characteristic = np.exp(-np.log1p(np.square(np.outer(frequency, scales))).sum(axis=1))
    density = np.fft.irfft(characteristic, _POINTS)[: _POINTS // 2] / step
    known = int(np.argmax(density < _FLOOR * density[0])) or len(density)
    logarithm = np.log(density[:known])
    inside = np.interp(distance, step * np.arange(known), logarithm)
    beyond = np.maximum(distance - step * (known - 1), 0.0)
    return np.asarray(inside - beyond / scales.max())
