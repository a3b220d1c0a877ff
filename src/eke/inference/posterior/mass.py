"""Probability mass vectors: how BAYES §4 and §5 hold a distribution.

Both of the paper's methods end in one, and its credible interval (Algorithm 3) starts from one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eke.errors import AccuracyError
from eke.inference.posterior.protocol import checked_confidence


@dataclass(frozen=True, slots=True, eq=False)
class ProbabilityMass:
    """Probabilities of adjacent cells of width `step`, the middle one around 0 (BAYES Def. 4.1)."""

    masses: NDArray[np.float64]  # (2·reach + 1,)
    step: float = 1.0

    def __post_init__(self) -> None:
        masses = np.array(self.masses, dtype=np.float64)
        if masses.ndim != 1 or masses.size % 2 == 0:
            raise AccuracyError("A probability mass vector has an odd number of entries.")
        if not bool(np.all(masses >= 0.0)) or not masses.sum() <= 1.0 + 1e-9:
            raise AccuracyError("Probability masses are at least 0 and add up to at most 1.")
        if not (0.0 < self.step < math.inf):
            raise AccuracyError("The step must be a positive number.")
        masses.flags.writeable = False
        object.__setattr__(self, "masses", masses)
        object.__setattr__(self, "step", float(self.step))

    @property
    def reach(self) -> int:
        """The number of cells on each side of the middle one."""
        return self.masses.size // 2

    @property
    def total(self) -> float:
        """The probability held; what is missing lies beyond the ends (BAYES Lemma 4.3)."""
        return min(float(self.masses.sum()), 1.0)

    def halfwidth(self, confidence: float) -> float:
        """Half the width of the narrowest centred run of cells with this mass (BAYES Alg. 3).

        The run ends at the edges of its last cells. The paper stops at their centres, half a step
        earlier, and so would count mass that its interval does not hold.
        """
        confidence = checked_confidence(confidence)
        middle = self.reach
        pairs = self.masses[middle + 1 :] + self.masses[:middle][::-1]
        held = np.cumsum(np.concatenate([[self.masses[middle]], pairs]))
        cells = int(np.searchsorted(held, confidence, side="left"))
        if cells > middle:
            raise AccuracyError(
                "The probability mass vector holds less than this confidence; "
                "compute it with a smaller gamma or more draws."
            )
        return (cells + 0.5) * self.step

    def between(self, low: float, high: float) -> float:
        """The mass in (low, high), taking the density as constant within each cell."""
        if low >= high:
            return 0.0
        edges = self.step * (np.arange(self.masses.size + 1) - (self.reach + 0.5))
        held = np.concatenate([[0.0], np.cumsum(self.masses)])
        return float(np.interp(high, edges, held) - np.interp(low, edges, held))

    def density(self, points: ArrayLike) -> NDArray[np.float64]:
        """The mass of the cell of each point, divided by the cell's width; 0 beyond the ends."""
        array = np.asarray(points, dtype=np.float64)
        # Clipped before the conversion: infinity is no integer.
        cells = np.clip(np.rint(array / self.step), -self.reach - 1, self.reach + 1).astype(int)
        padded = np.concatenate([[0.0], self.masses, [0.0]])
        result: NDArray[np.float64] = padded[cells + self.reach + 1] / self.step
        return result


def mass_error(u: ArrayLike, v: ArrayLike) -> float:
    """Σ (u_i − v_i)², the error of u when v is its expectation (BAYES Def. 4.2, eq. 27).

    Both have odd length and the same middle; the shorter one continues with zeros.
    """
    first, second = np.asarray(u, dtype=np.float64), np.asarray(v, dtype=np.float64)
    if first.ndim != 1 or second.ndim != 1 or first.size % 2 == 0 or second.size % 2 == 0:
        raise AccuracyError("Probability mass vectors have an odd number of entries.")
    if first.size < second.size:
        first, second = second, first
    difference = first.copy()
    start = (first.size - second.size) // 2
    difference[start : start + second.size] -= second
    return float(difference @ difference)
