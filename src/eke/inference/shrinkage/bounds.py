"""Bounds: what measured tables allow a count of several columns to be (Fréchet's inequalities).

Of the records that meet all conditions of a conjunction, no more can be than meet some of them; and
of those that meet some, no more can be missing than fail one of the others. Margins of measured
tables tell how many these are, up to their noise.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from eke.arrays import FloatArray
from eke.history import Measurement
from eke.inference.features import is_plain
from eke.inference.posterior import BoundedPosterior, ComposedNoise, NoisyBound, Posterior
from eke.privacy.law import NoiseLaw
from eke.query import Query
from eke.query.vector import IntVector

Columns = tuple[str, ...]

_MOST_COLUMNS = 10  # of a conjunction: its subsets are looked at one by one


@dataclass(frozen=True, slots=True, eq=False)
class _Margin:
    """The counts of some columns, each the sum of `cells` noises of a law."""

    counts: FloatArray  # one axis a column
    law: NoiseLaw
    cells: int


@dataclass(frozen=True, slots=True, eq=False)
class Bounds:
    """The tables of a history, by what their margins say of conjunctions.

    Privacy: free; it holds released values only.
    """

    tables: Mapping[Columns, Measurement]
    """The best table of each set of columns in a measured table: that with the least noise."""
    _margins: dict[Columns, _Margin] = field(default_factory=dict)
    _noises: dict[tuple[NoiseLaw, int], ComposedNoise] = field(default_factory=dict)

    @staticmethod
    def of_history(measurements: Iterable[Measurement], most_cells: int) -> Bounds:
        """The bounds by the tables of a history of up to so many cells."""
        best: dict[Columns, Measurement] = {}
        noise: dict[Columns, float] = {}
        for table in measurements:
            names = table.query.attributes
            if not is_plain(table.query) or len(table.values) > most_cells:
                continue
            sizes = dict(zip(names, table.query.domain.sizes(names), strict=True))
            for order in range(len(names) + 1):
                for columns in combinations(names, order):
                    summed = len(table.values) / np.prod([sizes[name] for name in columns])
                    variance = table.law.variance * float(summed)
                    if variance < noise.get(columns, np.inf):
                        best[columns], noise[columns] = table, variance
        return Bounds(best)

    def around(self, query: Query, belief: Posterior) -> Posterior:
        """The belief about a question, kept between what the tables allow it to be."""
        ranges = _conjunction(query)
        if ranges is None or not self.tables or len(ranges) > _MOST_COLUMNS:
            return belief
        noises: list[ComposedNoise] = []
        missing: dict[str, NoisyBound] = {}
        for name, vector in ranges.items():
            if (name,) in self.tables:
                missing[name] = self._limit({name: 1 - vector}, noises)
        at_least, at_most = [], []
        for order in range(len(ranges) + 1):
            for columns in combinations(ranges, order):
                if columns not in self.tables:
                    continue
                some = self._limit({name: ranges[name] for name in columns}, noises)
                at_most.append(some)
                others = [name for name in ranges if name not in columns]
                if all(name in missing for name in others):
                    lost = [missing[name] for name in others]
                    value = some.value - sum(one.value for one in lost)
                    used = some.noises + tuple(k for one in lost for k in one.noises)
                    at_least.append(NoisyBound(value, used))
        shift = float(query.constant)
        at_least = [NoisyBound(one.value + shift, one.noises) for one in at_least]
        at_most = [NoisyBound(one.value + shift, one.noises) for one in at_most]
        return BoundedPosterior(belief, noises, at_least, at_most, floor=shift)

    def _limit(self, ranges: Mapping[str, IntVector], noises: list[ComposedNoise]) -> NoisyBound:
        """How many records fall into ranges, by the best table; its noise joins the others."""
        margin = self._margin(tuple(ranges))
        inside = [np.flatnonzero(vector) for vector in ranges.values()]
        cells = margin.counts[np.ix_(*inside)] if inside else margin.counts
        if not cells.size:
            return NoisyBound(0.0, ())
        noises.append(self._noise(margin.law, cells.size * margin.cells))
        return NoisyBound(float(cells.sum()), (len(noises) - 1,))

    def _margin(self, columns: Columns) -> _Margin:
        margin = self._margins.get(columns)
        if margin is None:
            table = self.tables[columns]
            names = table.query.attributes
            values = np.asarray(table.values, np.float64).reshape(table.query.domain.sizes(names))
            rest = tuple(axis for axis, name in enumerate(names) if name not in columns)
            counts = np.asarray(values.sum(axis=rest) if rest else values)
            margin = _Margin(counts, table.law, values.size // counts.size)
            self._margins[columns] = margin
        return margin

    def _noise(self, law: NoiseLaw, parts: int) -> ComposedNoise:
        """The noise of a sum of so many; questions share it, and the widths found for it."""
        noise = self._noises.get((law, parts))
        if noise is None:
            noise = ComposedNoise(
                np.array([law.laplace_scale]),
                parts * law.gaussian_variance,
                0.5 * parts * law.step,
                np.array([parts]),
            )
            self._noises[law, parts] = noise
        return noise


def _conjunction(query: Query) -> dict[str, IntVector] | None:
    """The values that each column may have, in the domain's order; None for other questions."""
    if len(query.terms) != 1 or query.people or query.terms[0].weight != 1:
        return None
    factors = dict(query.terms[0].factors)
    if any(vector.min() < 0 or vector.max() != 1 for vector in factors.values()):
        return None
    return {name: factors[name] for name in query.domain.in_order(factors)}
