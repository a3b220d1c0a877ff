"""Row accuracy: how far a number computed from synthetic rows may be from that of the real table.

Three parts add up. *Noise*: of the counts of single columns that the rows were fitted to. *Misfit*:
what rows do not know of columns together. Each table that was measured had been predicted by the
rows before; how far it then was from that, beyond its noise, says how much larger errors are than
those of a sample. The tables were chosen for being predicted worst, so that this is no less than
what is to be expected of others. *Sampling*: rows are a finite number of draws. Post-processing of
released numbers; `benchmarks/row_estimates.py` prints how often intervals cover.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eke.arrays import Codes, FloatArray

_RECENT = 0.34  # of the tables measured, the last ones: the rows knew most when they came
_LEAST_TABLES = 6
_ROUNDS = 6
_LEAST_COUNT = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class Lesson:
    """A table that was measured, as the rows had it before, and the deviation of its noise."""

    expected: FloatArray
    values: FloatArray
    deviation: float


@dataclass(frozen=True, slots=True)
class RowErrors:
    """The standard deviations of an estimate from rows, by where they come from.

    Attributes:
        noise: of the counts of single columns that were measured.
        misfit: what rows do not know of columns together.
        sampling: that rows are so many draws.
    """

    noise: float
    misfit: float
    sampling: float

    @property
    def together(self) -> float:
        """That of all three."""
        return float(np.sqrt(self.noise**2 + self.misfit**2 + self.sampling**2))


@dataclass(frozen=True, slots=True)
class RowAccuracy:
    """What was released about the errors of some rows.

    `spread` is the variance of a count of columns together in variances of a sample, None if no
    table was measured; `columns` up to how many were ever compared together; `noise` the variance
    of each count of a single column.
    """

    total: float
    total_variance: float
    spread: float | None
    columns: int
    noise: Mapping[str, float]

    def errors(self, coefficients: FloatArray, columns: Mapping[str, Codes]) -> RowErrors:
        """The errors of Σ coefficient over all records, from that of each row and its codes."""
        mean, number = float(coefficients.mean()), len(coefficients)
        apart = coefficients - mean
        largest = float(np.abs(apart).max())
        # Of what no row has, there may be a few records all the same.
        variance = max(float((apart**2).mean()), largest**2 / number, 0.0)
        noise = mean**2 * self.total_variance
        for name, codes in columns.items():
            present = np.bincount(codes)
            sums = np.bincount(codes, weights=apart)
            by_value = sums[present > 0] / present[present > 0]
            noise += self.noise[name] * float((by_value**2).sum())
        spread = 1.0 if len(columns) < 2 or self.spread is None else self.spread
        return RowErrors(
            float(np.sqrt(noise)),
            float(np.sqrt(max(spread - 1.0, 0.0) * self.total * variance)),
            float(np.sqrt(max(self.total / number, 1.0) * self.total * variance)),
        )

    def to_document(self) -> dict[str, Any]:
        """Plain values for a receipt."""
        return {
            "total": self.total,
            "total_variance": self.total_variance,
            "spread": self.spread,
            "columns": self.columns,
            "noise": dict(self.noise),
        }

    @staticmethod
    def from_document(document: Mapping[str, Any]) -> RowAccuracy:
        return RowAccuracy(
            document["total"],
            document["total_variance"],
            document["spread"],
            document["columns"],
            document["noise"],
        )


def spread_of(lessons: Sequence[Lesson]) -> float | None:
    """The variance of counts around what rows had expected, in variances of a sample.

    A weighted regression of the squared differences, less that of the noise, on what a sample would
    differ by; weights follow from what it says itself. None without any table.
    """
    recent = lessons[-max(_LEAST_TABLES, round(len(lessons) * _RECENT)) :]
    if not recent:
        return None
    sampled, squared, noise = [], [], []
    for lesson in recent:
        expected = np.maximum(lesson.expected, 0.0) + _LEAST_COUNT
        rest = 1.0 - np.minimum(expected / expected.sum(), 1.0)
        sampled.append(expected * rest + _LEAST_COUNT)
        squared.append((lesson.values - lesson.expected) ** 2)
        noise.append(np.full(len(expected), lesson.deviation**2))
    by_sample, apart, by_noise = map(np.concatenate, (sampled, squared, noise))
    spread = 1.0
    for _ in range(_ROUNDS):
        weights = (by_noise + spread * by_sample) ** -2.0
        above = float((weights * by_sample * (apart - by_noise)).sum())
        spread = max(above / float((weights * by_sample**2).sum()), 1e-6)
    return spread
