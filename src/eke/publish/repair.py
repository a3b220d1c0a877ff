"""Repair: moments that some distribution has, from noisy ones that perhaps none has.

COMP's noisy covariance can be indefinite. The matrix of all second moments, the constant 1
included, is a sum of squares. Noise of deviation σ on its entries is a matrix whose eigenvalues
have root mean square σ√p. Directions with an eigenvalue below that are known to be small and no
more, so they are lifted to that level: never indefinite, and a classifier trained on the rows does
not take noise for a direction without spread. A higher level gains accuracy where the noise is
large, and costs likeness to the real rows (reproductions/comp). Post-processing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from eke.publish.moments import Moments


@dataclass(frozen=True, slots=True, eq=False)
class Repaired:
    """Moments with no direction below the level, and what had to be done for it."""

    moments: Moments
    lifted: int
    indefinite: bool


def repair(moments: Moments, noise_deviation: float) -> Repaired:
    """The moments with small and negative eigenvalues lifted to what noise alone would make."""
    width = moments.products.shape[0]
    matrix = np.empty((width + 1, width + 1))
    matrix[0, 0] = max(moments.total, 1.0)
    matrix[0, 1:] = matrix[1:, 0] = moments.sums.sum(axis=0)
    matrix[1:, 1:] = moments.products
    values, vectors = np.linalg.eigh(matrix)
    level = noise_deviation * math.sqrt(width)
    # Dummies of an attribute add up to one: that direction is flat without any noise.
    lifted = int((values < level).sum())
    whole = (vectors * np.maximum(values, level)) @ vectors.T
    sizes = np.maximum(moments.sizes, 0.0)
    repaired = Moments(sizes, moments.sums, np.asarray(whole[1:, 1:]))
    return Repaired(repaired, lifted, bool(values[0] < 0.0))
