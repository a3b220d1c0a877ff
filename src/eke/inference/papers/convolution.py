"""BAYES's discrete probability calculation (§4.3, Algorithm 2): convolve the parts' histograms.

Kept so that the paper can be reproduced and as a check that shares nothing with `exact.py`. It
rounds every part to cells of width `step`, which adds about step²/12 to the variance of each.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import fft, special

from eke.errors import AccuracyError
from eke.inference.posterior.centred_belief import CentredBelief
from eke.inference.posterior.composed import ComposedNoise
from eke.inference.posterior.mass import ProbabilityMass
from eke.inference.posterior.protocol import checked_bounds, checked_points

Reals = NDArray[np.float64]
ConvolutionMethod = Literal["fft", "direct"]

_LONGEST = 50_000_000  # cells
_SHORT = 64  # cells; below this a direct convolution is faster than Fourier transforms
_ADDED_VARIANCE = 1e-3  # relative, that the default step may add by rounding


@dataclass(frozen=True, slots=True)
class ConvolutionPosterior(CentredBelief):
    """The posterior from a probability mass vector that lost at most `gamma` (BAYES Lemma 4.3)."""

    gamma: float = 1e-6
    step: float | None = None  # None: `default_step`; the paper always uses 1
    method: ConvolutionMethod = "fft"
    mass: ProbabilityMass = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        CentredBelief.__post_init__(self)
        step = default_step(self.noise) if self.step is None else self.step
        mass = convolved_mass(self.noise, gamma=self.gamma, step=step, method=self.method)
        object.__setattr__(self, "step", mass.step)
        object.__setattr__(self, "mass", mass)

    def halfwidth(self, confidence: float) -> float:
        """Half the width of `interval(confidence)`."""
        return self.mass.halfwidth(confidence) + self.noise.grid_slack

    def probability(self, *, above: float | None = None, below: float | None = None) -> float:
        """Pr(θ > above), Pr(θ < below), or Pr(above < θ < below), less the lost mass."""
        low, high = checked_bounds(above, below)
        return self.mass.between(low - self.value, high - self.value)

    def density(self, points: ArrayLike) -> Reals:
        """The density of θ at each point, constant within each cell."""
        return self.mass.density(checked_points(points) - self.value)


def default_step(noise: ComposedNoise) -> float:
    """The paper's 1, or less where rounding every part to whole numbers would blur the noise."""
    if noise.is_zero:
        return 1.0
    parts = max(_parts(noise), 1)
    return min(1.0, math.sqrt(12.0 * _ADDED_VARIANCE * noise.variance / parts))


def convolved_mass(
    noise: ComposedNoise,
    *,
    gamma: float,
    step: float = 1.0,
    method: ConvolutionMethod = "fft",
) -> ProbabilityMass:
    """The probability mass vector u of the noise (BAYES Algorithm 2).

    Shortest first, as the paper proves best: `direct` convolves one vector after the other as it
    prints; `fft` merges the two shortest each time and multiplies long ones by Fourier transform.
    """
    if not (0.0 < gamma < 1.0):
        raise AccuracyError("gamma is a lost probability: it must lie strictly between 0 and 1.")
    if not (0.0 < step < math.inf):
        raise AccuracyError("The step must be a positive number.")
    if method not in ("fft", "direct"):
        raise AccuracyError("The convolution method is 'fft' or 'direct'.")
    if noise.is_zero:
        return ProbabilityMass(np.ones(1), step)
    vectors = _vectors(noise, gamma, step)
    vectors.sort(key=len)
    masses = _one_by_one(vectors) if method == "direct" else _two_shortest(vectors)
    return ProbabilityMass(masses, step)


def _parts(noise: ComposedNoise) -> int:
    return noise.laplace_parts + (noise.gaussian_variance > 0.0)


def _vectors(noise: ComposedNoise, gamma: float, step: float) -> list[Reals]:
    """The probability mass vectors v_k, each losing at most gamma/m (BAYES Lemma 4.2)."""
    lost = gamma / _parts(noise)
    deviation = math.sqrt(noise.gaussian_variance)
    # The paper's |v|_k = 2·|A_k|·S_k·ln(m/γ)/α_k, made odd, with S_k/α_k the scale and cells of
    # `step`; the Gaussian's quantile plays the part of ln(m/γ).
    reaches = np.ceil(noise.every_scale * (-math.log(lost) / step) - 0.5)
    gaussian_reach = math.ceil(-deviation * float(special.ndtri(0.5 * lost)) / step - 0.5)
    if not 2.0 * (reaches.sum() + gaussian_reach) < _LONGEST:
        raise AccuracyError(
            "The probability mass vector would be too long; use a larger step, or the exact method."
        )
    vectors = [
        _laplace_masses(float(scale) / step, int(reach))
        for scale, reach in zip(noise.every_scale, reaches, strict=True)
    ]
    if deviation > 0.0:
        vectors.append(_gaussian_masses(deviation / step, gaussian_reach))
    return vectors


def _laplace_masses(scale_in_cells: float, reach: int) -> Reals:
    cells = np.arange(1, reach + 1)
    right = 0.5 * np.exp(-(cells - 0.5) / scale_in_cells) * -math.expm1(-1.0 / scale_in_cells)
    return np.concatenate([right[::-1], [-math.expm1(-0.5 / scale_in_cells)], right])


def _gaussian_masses(deviation_in_cells: float, reach: int) -> Reals:
    tails = special.ndtr(-(np.arange(reach + 1) + 0.5) / deviation_in_cells)
    right = tails[:-1] - tails[1:]
    return np.concatenate([right[::-1], [1.0 - 2.0 * tails[0]], right])


def _one_by_one(vectors: list[Reals]) -> Reals:
    result = vectors[0]
    for vector in vectors[1:]:
        result = np.convolve(result, vector)
    return result


def _two_shortest(vectors: list[Reals]) -> Reals:
    queue = [(vector.size, number, vector) for number, vector in enumerate(vectors)]
    heapq.heapify(queue)
    number = len(queue)  # breaks ties, so that arrays are never compared
    while len(queue) > 1:
        short, long = heapq.heappop(queue)[2], heapq.heappop(queue)[2]
        merged = np.convolve(short, long) if short.size < _SHORT else _by_fourier(short, long)
        heapq.heappush(queue, (merged.size, number, merged))
        number += 1
    return queue[0][2]


def _by_fourier(short: Reals, long: Reals) -> Reals:
    size = short.size + long.size - 1
    padded = fft.next_fast_len(size, real=True)
    product = fft.irfft(fft.rfft(short, padded) * fft.rfft(long, padded), padded)
    # Transforms leave rounding errors of either sign around 1e-17.
    return np.maximum(np.asarray(product, dtype=np.float64)[:size], 0.0)
