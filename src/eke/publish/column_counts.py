"""Column counts: how many records each value of one column has, as well as noise lets anyone know.

Noise on a thousand values where hardly anybody is adds up to many records far out, and with them
to a spread that the table does not have. Where that matters, the column is measured once more in
groups of values: a group's count has the noise of one cell, however many values it holds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from eke.arrays import FloatArray
from eke.inference.shrinkage import onto_simplex
from eke.publish.coarse import CoarseMarginal


@dataclass(frozen=True, slots=True, eq=False)
class GroupCounts:
    """Noisy counts of groups of values of one column."""

    marginal: CoarseMarginal
    values: FloatArray
    variance: float

    @property
    def starts(self) -> tuple[int, ...]:
        """The first value of each group: a group's values are neighbours."""
        return (0, *(np.flatnonzero(np.diff(self.marginal.groups[0])) + 1).tolist())


@dataclass(frozen=True, slots=True, eq=False)
class ColumnCounts:
    """The noisy counts of the values of one column."""

    values: FloatArray
    variance: float

    @property
    def deviation(self) -> float:
        """That of the noise of each."""
        return float(self.variance**0.5)

    def with_more(self, values: FloatArray, variance: float) -> ColumnCounts:
        """Both together, the more precise ones counting for more."""
        both = 1.0 / (1.0 / self.variance + 1.0 / variance)
        return ColumnCounts(both * (self.values / self.variance + values / variance), both)

    def shares(self, in_groups: GroupCounts | None, total: float) -> FloatArray:
        """How many of so many records each value has; none has less than nobody.

        A group has what its own count and those of its values say, each as far as it is precise;
        inside it the values share that. Groups whose count could be noise alone have nobody: where
        nobody is, noise is expected to reach the threshold in less than one group (Donoho and
        Johnstone 1994).
        """
        if in_groups is None:
            return onto_simplex(self.values, total)
        labels = in_groups.marginal.groups[0]
        added = np.bincount(labels, weights=self.values)
        variances = np.bincount(labels) * self.variance
        both = 1.0 / (1.0 / variances + 1.0 / in_groups.variance)
        sums = both * (added / variances + in_groups.values / in_groups.variance)
        seen = sums > math.sqrt(2.0 * math.log(max(len(sums), 2))) * np.sqrt(both)
        seen[np.argmax(sums)] = True
        held = np.zeros(len(sums))
        held[seen] = onto_simplex(sums[seen], total)
        result = np.zeros(len(labels))
        for group in np.flatnonzero(held > 0.0):
            inside = labels == group
            result[inside] = onto_simplex(self.values[inside], float(held[group]))
        return result


def spread_doubt(shares: FloatArray, deviation: float, total: float) -> float:
    """By which part of itself noise on each value makes the variance of a column uncertain."""
    places = np.arange(len(shares), dtype=float)
    weights = shares + 1e-12
    apart = (places - float(np.average(places, weights=weights))) ** 2
    variance = float(np.average(apart, weights=weights))
    return deviation * float(np.sqrt((apart**2).sum())) / max(variance * total, 1e-300)
