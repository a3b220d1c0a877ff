"""Noise of a simulation: NumPy's, from a seeded generator. Nothing here is a release."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from eke.publish.moments import Measured, Moments

Floats = NDArray[np.float64]


def exact_moments(
    features: Floats, classes: NDArray[np.int64] | None = None, kinds: int = 1
) -> Moments:
    """Class sizes, class sums and pooled second moments of a feature matrix.

    `kinds` is the number of classes where the last ones may have no record.
    """
    labels = np.zeros(len(features), np.int64) if classes is None else classes
    inside = np.eye(max(kinds, int(labels.max()) + 1))[labels]
    return Moments(inside.sum(axis=0), inside.T @ features, features.T @ features)


def noisy_moments(
    measured: Measured,
    exact: Moments,
    laplace_scales: Sequence[float],
    rng: np.random.Generator,
    *,
    honest_sizes: bool = True,
) -> Moments:
    """The moments that a publication would see: Laplace noise on each statistic.

    Without `honest_sizes` the class sizes are taken as they are, as COMP does.
    """
    width = measured.features.width
    sizes = exact.sizes.copy()
    sums, products = exact.sums.copy(), np.zeros((width, width))
    for statistic, scale in zip(measured.statistics, laplace_scales, strict=True):
        if statistic.row is None:
            if honest_sizes:
                sizes = sizes + rng.laplace(0.0, scale, sizes.shape)
        elif statistic.column is None:
            at = statistic.row.columns
            sums[:, at] += rng.laplace(0.0, scale, sums[:, at].shape)
        else:
            rows, columns = statistic.row.columns, statistic.column.columns
            block = exact.products[rows, columns]
            noisy = block + rng.laplace(0.0, scale, block.shape)
            products[rows, columns] = noisy
            products[columns, rows] = noisy.T
    for feature in measured.features.all:
        if feature.is_binary:
            at = feature.columns
            products[at, at] = np.diag(sums[:, at].sum(axis=0))
    return Moments(sizes, sums, products)
