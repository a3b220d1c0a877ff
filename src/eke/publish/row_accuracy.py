"""Row accuracy: how far a number computed from synthetic rows may be from that of the real table.

Three parts add up. *Noise*: of the counts of single columns that the rows were fitted to, those of
values that no row has included. *Misfit*:
what rows do not know of columns together. Each table that was measured had been predicted by the
rows before; how far it then was from that, beyond its noise, says how much larger errors are than
those of a sample. The tables were chosen for being predicted worst, so that this is no less than
what is to be expected of others. *Sampling*: rows are a finite number of draws. Post-processing of
released numbers; `benchmarks/row_estimates.py` prints how often intervals cover.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from eke.arrays import FloatArray
from eke.publish.row_form import RowForm

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


@dataclass(frozen=True, slots=True, eq=False)
class GroupNoise:
    """The groups of neighbours that a column was measured in, too, and the noise of each count."""

    starts: tuple[int, ...]  # the first value of each group
    variance: float

    def of_sum(self, added: FloatArray, held: FloatArray, variance: float) -> float:
        """The variance of Σ added · count over all values, from those of values and of groups.

        A group's count is known from its own and from those of its values; inside the group noise
        moves no more records than there are, from one end to the other.
        """
        sizes = np.diff((*self.starts, len(added)))
        both = 1.0 / (1.0 / (sizes * variance) + 1.0 / self.variance)
        means = np.add.reduceat(added, self.starts) / sizes
        within = variance * np.add.reduceat((added - np.repeat(means, sizes)) ** 2, self.starts)
        most, least = (at.reduceat(added, self.starts) for at in (np.maximum, np.minimum))
        records = np.add.reduceat(held, self.starts) + np.sqrt(both)
        moved = ((most - least) * records / 2.0) ** 2
        return float((means**2 * both + np.minimum(within, moved)).sum())


@dataclass(frozen=True, slots=True)
class RowAccuracy:
    """What was released about the errors of some rows.

    `spread` is the variance of a count of columns together in variances of a sample, None if no
    table was measured; `columns` up to how many were ever compared together; `noise` the variance
    of each count of a single column, `groups` what was measured of some in groups of values, too.
    """

    total: float
    total_variance: float
    spread: float | None
    columns: int
    noise: Mapping[str, float]
    groups: Mapping[str, GroupNoise] = field(default_factory=dict)

    def errors(self, form: RowForm) -> RowErrors:
        """The errors of a linear form of all records."""
        mean, number = float(form.added.mean()), len(form.added)
        largest = max(form.most - mean, mean - form.least)
        # Of what hardly any row has, or none, there may be a few records all the same.
        variance = max(float(((form.added - mean) ** 2).mean()), largest**2 / number)
        noise = mean**2 * self.total_variance
        for name, by_value in form.by_value.items():
            noise += self._noise_of(name, by_value - mean, form.held[name])
        alone = len(form.by_value) < 2 or self.spread is None
        spread = 1.0 if alone or self.spread is None else self.spread
        return RowErrors(
            float(np.sqrt(noise)),
            float(np.sqrt(max(spread - 1.0, 0.0) * self.total * variance)),
            float(np.sqrt(max(self.total / number, 1.0) * self.total * variance)),
        )

    def _noise_of(self, name: str, apart: FloatArray, held: FloatArray) -> float:
        """The variance of Σ apart · count over the values of a column."""
        if name not in self.groups:
            return self.noise[name] * float((apart**2).sum())
        records = held * self.total / max(float(held.sum()), 1.0)
        return self.groups[name].of_sum(apart, records, self.noise[name])

    def to_document(self) -> dict[str, Any]:
        """Plain values for a receipt."""
        return {
            "total": self.total,
            "total_variance": self.total_variance,
            "spread": self.spread,
            "columns": self.columns,
            "noise": dict(self.noise),
            "groups": {
                name: {"starts": list(one.starts), "variance": one.variance}
                for name, one in self.groups.items()
            },
        }

    @staticmethod
    def from_document(document: Mapping[str, Any]) -> RowAccuracy:
        return RowAccuracy(
            document["total"],
            document["total_variance"],
            document["spread"],
            document["columns"],
            document["noise"],
            {
                name: GroupNoise(tuple(one["starts"]), one["variance"])
                for name, one in document.get("groups", {}).items()
            },
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
