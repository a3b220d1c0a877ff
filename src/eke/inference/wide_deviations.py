"""What vectors over a wide column deviate from their means: kept as runs, and multiplied as such.

Means are those under the prior of `eke.query.run_stack`.

A vector v of mean m is kept as u = v − c, where c is the whole number next to m, and as δ = m − c.
Then Σ (v − m)(w − n) = size · (mean(u·z) − δ·ε), in which little cancels out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eke.arrays import FloatArray
from eke.query.run_stack import RunStack, prior_mean
from eke.query.runs import Runs


@dataclass(frozen=True, slots=True)
class WideDeviation:
    """u and δ of one vector."""

    runs: Runs
    rest: float

    @staticmethod
    def of(vector: Runs) -> tuple[float, WideDeviation]:
        """(the mean of a vector, what it deviates from it)."""
        mean = prior_mean(vector)
        nearest = round(mean)
        pieces = [(start, first - nearest, d1, d2) for start, first, d1, d2 in vector.pieces]
        return float(mean), WideDeviation(Runs(vector.size, pieces), float(mean - nearest))


class WideDeviations:
    """Many of them along one column."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._runs = RunStack(size)
        self._rests: list[float] = []

    @property
    def nbytes(self) -> int:
        return sum(part.nbytes for part in self._runs.parts().values())

    def view(self) -> WideDeviations:
        """Those so far, for good."""
        twin = WideDeviations(self._size)
        twin._runs = RunStack.from_parts(self._size, self._runs.parts())
        twin._rests = list(self._rests)
        return twin

    def append(self, deviation: WideDeviation) -> None:
        self._runs.append(len(self._rests), deviation.runs)
        self._rests.append(deviation.rest)

    def products(self, other: WideDeviation) -> FloatArray:
        """The mean of the product of each with another one, times the number of values."""
        means = np.zeros(len(self._rests))
        self._runs.write_means(other.runs, means)
        products: FloatArray = self._size * (means - np.asarray(self._rests) * other.rest)
        return products
