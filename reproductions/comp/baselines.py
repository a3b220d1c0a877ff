"""The baselines of COMP §4.3: Laplace noise on every feature, the exponential mechanism on values.

Both are ε-differentially private for the identity query: a record changes its own row only.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from eke.publish.features import Features

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]


def laplace_rows(
    features: Features, codes: Codes, epsilon: float, rng: np.random.Generator
) -> Floats:
    """Each feature with Laplace noise of scale (p₁ + 2p₂)/ε, the largest change of a row in L1."""
    change = sum(1 if feature.numeric else 2 for feature in features.all)
    exact = features.encode(codes)
    return np.asarray(exact + rng.laplace(0.0, change / epsilon, exact.shape))


def exponential_rows(
    features: Features, codes: Codes, epsilon: float, rng: np.random.Generator
) -> Codes:
    """Each attribute drawn by the exponential mechanism with an equal share of ε.

    The utility of a value is minus its distance from the true one: |v - x| of scaled numbers, 0 or
    1 of categories; its sensitivity is 1.
    """
    share = epsilon / len(features.all)
    columns = []
    for place, feature in enumerate(features.all):
        table = feature.table / feature.table.max()
        apart = np.abs(table - table.T) if feature.numeric else 1.0 - np.eye(len(table))
        chances = np.exp(-0.5 * share * apart)  # (codes, codes)
        reach = np.cumsum(chances / chances.sum(axis=1, keepdims=True), axis=1)
        drawn = rng.random(len(codes))[:, np.newaxis]
        picked = (reach[codes[:, place]] < drawn).sum(axis=1)
        columns.append(np.minimum(picked, len(table) - 1))
    return np.stack(columns, axis=1)
