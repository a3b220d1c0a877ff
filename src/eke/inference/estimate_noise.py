"""The law of the error of a linear estimate, from the noises in what it is made of."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eke.arrays import FloatArray
from eke.inference.posterior import ComposedNoise
from eke.inference.regression import LinearEstimate
from eke.inference.tables import ReleasedTables
from eke.privacy.law import Charged, noise_in


def noise_of(
    estimate: LinearEstimate, laws: Sequence[Charged], tables: ReleasedTables | None = None
) -> ComposedNoise:
    """The law of the error of a linear estimate."""
    used = [noise_in(laws[i]) for i in estimate.rows]
    size = np.abs(estimate.weights)
    laplace = size * np.array([law.laplace_scale for law in used])
    gaussian = float((size**2 * np.array([law.gaussian_variance for law in used])).sum())
    slack = 0.5 * float((size * np.array([law.step for law in used])).sum())
    if tables is None or not estimate.cells:
        return ComposedNoise(laplace, gaussian, slack)
    scales, counts = [laplace], [np.ones(len(laplace))]
    for part in estimate.cells:
        law = tables.law(part.table)
        weights, cells = np.unique(_rounded_up(np.abs(part.weights)), return_counts=True)
        often = np.asarray(part.repeats * cells, np.float64)
        gaussian += float(weights**2 @ often) * law.gaussian_variance
        slack += 0.5 * float(weights @ often) * law.step
        if law.laplace_scale:
            scales.append(weights * law.laplace_scale)
            counts.append(often)
    return ComposedNoise(np.concatenate(scales), gaussian, slack, np.concatenate(counts))


def _rounded_up(weights: FloatArray) -> FloatArray:
    """The weights with 44 bits, none smaller: cells that count alike are told by that."""
    mantissas, exponents = np.frexp(weights)
    return np.asarray(np.ldexp(np.ceil(mantissas * 2.0**44), exponents - 44))
