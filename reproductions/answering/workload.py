"""Workload: the questions that the papers' simulated analysts ask, with the accuracy they need."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

GROUP = 10
"""Cells come in groups of ten; each group is asked about ten times less than the one before."""


@dataclass(frozen=True, slots=True)
class Workload:
    """Queries over the cells, each with the half-width its answer may have; one confidence."""

    coefficients: NDArray[np.int64]  # (queries, cells)
    within: NDArray[np.float64]  # (queries,) the papers' ε
    delta: float  # the papers' δ: one minus the confidence

    def __len__(self) -> int:
        return len(self.within)

    @property
    def confidence(self) -> float:
        return 1.0 - self.delta


def interest(cells: int) -> NDArray[np.float64]:
    """The probability that a trial hits each cell (BAYES eq. 37, ONLINE eq. 50).

    The papers print P_j = 0.9·10^-⌊(j-1)/10⌋, which adds up to 10 and not to 1; it is read as the
    probability of a group of ten cells. What lies beyond the last cell is given back to all.
    """
    group = np.arange(cells) // GROUP
    weights = 0.9 / GROUP * 10.0 ** -np.minimum(group, 300).astype(np.float64)
    result: NDArray[np.float64] = weights / weights.sum()
    return result


def draw_workload(
    cells: int,
    queries: int,
    *,
    within: tuple[float, float],
    delta: float,
    generator: np.random.Generator,
) -> Workload:
    """Multinomial queries of one to ten trials, half-widths uniform between the two given."""
    trials = generator.integers(1, 11, size=queries)
    probabilities = interest(cells)
    coefficients = np.stack([generator.multinomial(n, probabilities) for n in trials])
    return Workload(coefficients, generator.uniform(*within, size=queries), delta)
