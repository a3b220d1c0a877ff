"""BAYES's Monte Carlo method (§4.2, Algorithm 1): draw the noise many times and count.

Post-processing, not a release: the draws are fresh and never touch data, so NumPy's generator does.
"""

from __future__ import annotations

import math
from dataclasses import InitVar, dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eke.errors import AccuracyError
from eke.inference.posterior.centred_belief import CentredBelief
from eke.inference.posterior.composed import ComposedNoise
from eke.inference.posterior.mass import ProbabilityMass
from eke.inference.posterior.protocol import (
    checked_bounds,
    checked_confidence,
    checked_points,
)

_MOST_CELLS = 10_000_000
_DENSITY_CELLS = 64  # per standard deviation, at most; fewer for small samples


@dataclass(frozen=True, slots=True)
class MonteCarloPosterior(CentredBelief):
    """The posterior as `sample_size` draws of the noise; errors shrink with its square root."""

    sample_size: int = 1_000_000
    generator: InitVar[np.random.Generator | None] = None
    draws: NDArray[np.float64] = field(init=False, repr=False, compare=False)  # ascending

    def __post_init__(self, generator: np.random.Generator | None) -> None:
        CentredBelief.__post_init__(self)
        if self.sample_size < 1:
            raise AccuracyError("The Monte Carlo method needs at least one draw.")
        source = np.random.default_rng() if generator is None else generator
        draws = _draw(self.noise, self.sample_size, source)
        draws.sort()
        draws.flags.writeable = False
        object.__setattr__(self, "draws", draws)

    def halfwidth(self, confidence: float) -> float:
        """Half the width of `interval(confidence)`: an order statistic of |e|, on the safe side."""
        rank = math.ceil(checked_confidence(confidence) * (self.sample_size + 1))
        if rank > self.sample_size:
            raise AccuracyError("Too few draws for this confidence; raise sample_size.")
        sizes = np.partition(np.abs(self.draws), rank - 1)
        return float(sizes[rank - 1]) + self.noise.grid_slack

    def probability(self, *, above: float | None = None, below: float | None = None) -> float:
        """The share of draws with θ > above, θ < below, or above < θ < below."""
        low, high = checked_bounds(above, below)
        if low >= high:
            return 0.0
        # θ = θ̂ − e, so above < θ < below is θ̂ − below < e < θ̂ − above.
        first = np.searchsorted(self.draws, self.value - high, side="right")
        last = np.searchsorted(self.draws, self.value - low, side="left")
        return max(int(last) - int(first), 0) / self.sample_size

    def density(self, points: ArrayLike) -> NDArray[np.float64]:
        """The density of θ at each point, from the histogram of the draws."""
        if self.noise.is_zero:
            raise AccuracyError("An exact answer has no density; use its value.")
        # Cells shrink with the cube root of the sample, the usual balance of bias and scatter.
        cells = min(_DENSITY_CELLS, max(1, round(self.sample_size ** (1 / 3) / 3.5)))
        mass = self.mass(math.sqrt(self.noise.variance) / cells)
        return mass.density(self.value - checked_points(points))

    def mass(self, step: float = 1.0) -> ProbabilityMass:
        """The probability mass vector u of the draws rounded to `step` (BAYES Alg. 1, step 3)."""
        if not (0.0 < step < math.inf):
            raise AccuracyError("The step must be a positive number.")
        reach = np.rint(max(-float(self.draws[0]), float(self.draws[-1])) / step)
        if not 2.0 * reach + 1.0 <= _MOST_CELLS:
            raise AccuracyError("The probability mass vector would be too long; use a larger step.")
        cells = np.rint(self.draws / step).astype(np.int64) + int(reach)
        counts = np.bincount(cells, minlength=2 * int(reach) + 1)
        return ProbabilityMass(counts / self.sample_size, step)


def required_sample_size(masses: ArrayLike, gamma: float, *, least: int = 10_000) -> int:
    """The draws after which the expected error of u is below γ² (BAYES Cor. 4.1 and §6.3).

    m_s > |u|/γ²·max(u)·(1 − max(u)) + 1, for a first vector u; never fewer than `least`, because u
    itself must come from somewhere.
    """
    vector = np.asarray(masses, dtype=np.float64)
    if not (0.0 < gamma < 1.0):
        raise AccuracyError("gamma must lie strictly between 0 and 1.")
    if vector.ndim != 1 or vector.size == 0 or not (0.0 <= float(vector.max()) <= 1.0):
        raise AccuracyError(
            "Pass a probability mass vector, for example `posterior.mass().masses`."
        )
    peak = float(vector.max())
    return max(least, math.floor(vector.size / gamma**2 * peak * (1.0 - peak) + 1.0) + 1)


def _draw(
    noise: ComposedNoise, sample_size: int, source: np.random.Generator
) -> NDArray[np.float64]:
    """Draws of e, in no order: one vector for each part, added up (BAYES Algorithm 1, step 1)."""
    total = np.zeros(sample_size)
    for laplace_scale in noise.every_scale:
        total += source.laplace(scale=laplace_scale, size=sample_size)
    if noise.gaussian_variance > 0.0:
        total += source.normal(scale=math.sqrt(noise.gaussian_variance), size=sample_size)
    return total
