"""The curator's side of a simulation: true answers, and noisy ones.

The noise is continuous Laplace from an injected NumPy generator, so that a simulation can be
repeated. That is fine for measuring methods and unfit for protecting anybody: eke itself draws
integer noise from a cryptographic source and takes no seed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reproductions.answering.histogram import Histogram


class NoisySource:
    """Answers queries over one histogram, truly or with Laplace noise."""

    def __init__(self, histogram: Histogram, generator: np.random.Generator) -> None:
        self.histogram = histogram
        self._generator = generator

    def truth(self, coefficients: ArrayLike) -> float:
        return float(np.asarray(coefficients) @ self.histogram.counts)

    def measure(self, coefficients: ArrayLike, laplace_scale: float) -> float:
        return self.truth(coefficients) + float(self._generator.laplace(scale=laplace_scale))


def hierarchical_rows(cells: int) -> tuple[NDArray[np.int64], int]:
    """The nodes of a binary partitioning tree over the cells, root first, and its number of levels.

    This is the tree of Hay et al. (VLDB 2010), which both papers start from: the cells are padded
    to a power of two and halved again and again. A record is in one node of each level.
    """
    levels = int(cells - 1).bit_length() + 1
    rows: list[NDArray[np.int64]] = []
    for level in range(levels):
        width = 2 ** (levels - 1 - level)
        for start in range(0, cells, width):
            row = np.zeros(cells, np.int64)
            row[start : start + width] = 1
            rows.append(row)
    return np.stack(rows), levels


def measured_tree(
    source: NoisySource, epsilon: float
) -> tuple[NDArray[np.int64], Sequence[float], float]:
    """(rows, noisy values, Laplace scale) of a tree released with this epsilon in total."""
    rows, levels = hierarchical_rows(source.histogram.cells)
    laplace_scale = levels / epsilon
    return rows, [source.measure(row, laplace_scale) for row in rows], laplace_scale
