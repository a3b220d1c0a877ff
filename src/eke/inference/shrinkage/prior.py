"""Product priors from what is known of single attributes (HIST §2, footnote 3).

A prior may be given, uniform (`Prior(domain)`), or measured: noisy one-dimensional marginals,
bought for a small loss. Noise can make a count negative or zero, and a prior must be positive.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import ArrayLike

from eke.arrays import FloatArray
from eke.domain import Domain
from eke.errors import EstimateError
from eke.history import Measurement
from eke.inference.features import is_plain
from eke.query import Prior


def measured_prior(
    domain: Domain, counts: Mapping[str, ArrayLike], variances: Mapping[str, float]
) -> Prior:
    """The product of the distributions nearest to noisy counts, one attribute at a time.

    Each vector of counts is projected onto the simplex (the least-squares answer among the
    possible ones; truncation at zero, the paper's way, inflates the total), then every value gets
    at least the mass that its noise could hide, so that no cell is ruled out by luck. Attributes
    without counts are uniform.
    """
    vectors = {}
    for name, given in counts.items():
        noisy = np.asarray(given, np.float64)
        if noisy.shape != (domain[name].size,) or not np.isfinite(noisy).all():
            raise EstimateError(f"the counts of {name!r} must be {domain[name].size} numbers")
        total = float(noisy.sum())
        deviation = float(variances[name]) ** 0.5
        if total <= deviation * len(noisy) ** 0.5:
            continue  # noise alone: the uniform prior says as much
        nearest = onto_simplex(noisy, total)
        floor = min(0.1 * deviation, 0.05 * total / len(noisy))
        vectors[name] = (np.maximum(nearest, max(floor, 1e-12 * total))).tolist()
    return Prior(domain, vectors)


def prior_from_history(domain: Domain, measurements: Iterable[Measurement]) -> Prior:
    """The product prior of the one-dimensional marginals that a history's marginals add up to.

    Several of them are averaged by their precision. Privacy: free; it reads released values only.
    """
    margins = margins_of(domain, measurements)
    return measured_prior(
        domain,
        {name: counts for name, (counts, _) in margins.items()},
        {name: variance for name, (_, variance) in margins.items()},
    )


def margins_of(
    domain: Domain, measurements: Iterable[Measurement]
) -> dict[str, tuple[FloatArray, float]]:
    """(counts, variance of each) of every column in a measured marginal, the best average of all.

    Privacy: free; it reads released values only.
    """
    sums: dict[str, FloatArray] = {}
    precisions: dict[str, float] = {}
    for measurement in measurements:
        block = measurement.query
        if not block.attributes or not is_plain(block):
            continue
        sizes = domain.sizes(block.attributes)
        values = np.asarray(measurement.values).reshape(sizes)
        for axis, (name, size) in enumerate(zip(block.attributes, sizes, strict=True)):
            counts = values.sum(axis=tuple(other for other in range(len(sizes)) if other != axis))
            precision = size / (measurement.law.variance * values.size)
            sums[name] = sums.get(name, np.zeros(size)) + precision * counts
            precisions[name] = precisions.get(name, 0.0) + precision
    return {
        name: (total / precisions[name], 1.0 / precisions[name]) for name, total in sums.items()
    }


def onto_simplex(numbers: FloatArray, total: float) -> FloatArray:
    """The nearest vector of non-negative numbers with this sum (Held, Wolfe and Crowder 1974)."""
    ordered = np.sort(numbers)[::-1]
    excess = (np.cumsum(ordered) - total) / np.arange(1, len(numbers) + 1)
    last = int(np.flatnonzero(ordered > excess)[-1])
    return np.asarray(np.maximum(numbers - excess[last], 0.0))
