"""Fitted rows: records, changed as little as needed until they agree with what is measured.

The rows begin independent, one column like another. A pair of columns that were not connected so
far is brought together by putting the rows of one side next to those of the other, which changes
neither side. All else is fitted by changing single values, each time one that brings the measured
tables nearer (as GUM in PrivSyn, Zhang et al. 2021). Values stay as they are declared however
coarsely pairs are measured, and nothing grows with the number of columns but the number of tables.
Post-processing: what it sees is released.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eke.arrays import Codes, FloatArray
from eke.domain import Domain
from eke.inference.shrinkage import onto_simplex
from eke.publish.coarse import CoarseMarginal
from eke.publish.matching import matched
from eke.publish.row_tables import Neighbourhood, RowTables, improved


@dataclass(frozen=True, slots=True, eq=False)
class WantedTable:
    """A marginal, the counts that rows should have in it, and the deviation of their noise."""

    marginal: CoarseMarginal
    counts: FloatArray
    deviation: float


class FittedRows:
    """Rows over a domain that stand for `total` records, and what is wanted of them.

    All that is random is drawn from one seed: the same measurements give the same rows.
    """

    def __init__(self, domain: Domain, codes: Codes, total: float, seed: int) -> None:
        self.domain, self.codes, self.total = domain, codes, total
        self.wanted: list[WantedTable] = []
        self.inside: dict[tuple[str, ...], WantedTable] = {}
        self._source = np.random.default_rng(seed)
        self._connected = {name: number for number, name in enumerate(domain.names)}

    @staticmethod
    def independent(
        domain: Domain, shares: dict[str, FloatArray], total: float, rows: int, seed: int
    ) -> FittedRows:
        """Rows whose columns follow these shares of values, each by itself."""
        source = np.random.default_rng(seed)
        even = (np.arange(rows) + 0.5) / rows
        codes = np.empty((rows, len(domain)), np.int64)
        for column, name in enumerate(domain.names):
            up_to = np.cumsum(shares[name])
            drawn = np.searchsorted(up_to / up_to[-1], even).clip(0, len(up_to) - 1)
            codes[:, column] = drawn[source.permutation(rows)]
        return FittedRows(domain, codes, total, seed + 1)

    @property
    def each(self) -> float:
        """How many records a row stands for."""
        return self.total / len(self.codes)

    def expected(self, marginals: list[CoarseMarginal]) -> list[FloatArray]:
        """The counts of records that the rows stand for."""
        tables = RowTables.of(self.domain, marginals)
        return tables.apart(self.each * tables.counts(self.codes))

    def add(self, wanted: WantedTable, inside: WantedTable | None = None) -> None:
        """One more table to agree with; of two columns not yet connected, the rows are matched.

        `inside` is what is supposed of the same columns in finer groups, in place of what was
        supposed before.
        """
        self.wanted.append(wanted)
        names = wanted.marginal.attributes
        if inside is not None:
            self.inside[names] = inside
        else:
            self.inside.pop(names, None)
        if len(names) == 2 and self._connected[names[0]] != self._connected[names[1]]:
            self._match(wanted if inside is None else inside)

    def improve(self, sweeps: int) -> int:
        """Change values until so many times all were looked at; how many were changed."""
        every = [*self.wanted, *self.inside.values()]
        tables = RowTables.of(self.domain, [one.marginal for one in every])
        counts = np.concatenate([one.counts for one in every])
        return improved(
            self.codes,
            tables,
            Neighbourhood.of(self.domain, self.codes, tables),
            self.each * tables.counts(self.codes) - counts,
            np.array([one.deviation**-2.0 for one in every]),
            each=self.each,
            sweeps=sweeps,
            seed=int(self._source.integers(2**31)),
        )

    def distances(self) -> FloatArray:
        """How far each table is from what is wanted, in deviations of its noise."""
        counts = self.expected([one.marginal for one in self.wanted])
        return np.array(
            [
                float(np.sqrt(np.mean((present - one.counts) ** 2))) / one.deviation
                for present, one in zip(counts, self.wanted, strict=True)
            ]
        )

    def resized(self, rows: int) -> FittedRows:
        """As many rows as wanted that stand for the same records: each as often as any other."""
        whole, rest = divmod(rows, len(self.codes))
        more = self._source.permutation(len(self.codes))[:rest]
        chosen = np.concatenate([np.tile(np.arange(len(self.codes)), whole), more])
        return self.with_codes(self.codes[np.sort(chosen)])

    def with_codes(self, codes: Codes) -> FittedRows:
        """Other rows that stand for the same records, and of which the same is wanted."""
        seed = int(self._source.integers(2**31))
        result = FittedRows(self.domain, codes, self.total, seed)
        result.wanted, result.inside = self.wanted, self.inside
        return result

    def _match(self, wanted: WantedTable) -> None:
        first, second = wanted.marginal.attributes
        names = self.domain.names
        sides = [
            labels[self.codes[:, names.index(name)]]
            for name, labels in zip(wanted.marginal.attributes, wanted.marginal.groups, strict=True)
        ]
        counts = onto_simplex(wanted.counts, float(len(self.codes))).reshape(wanted.marginal.shape)
        partner = matched(sides[0], sides[1], counts, self._source)
        moving = [k for k, name in enumerate(names) if self._is_connected(name, second)]
        self.codes[:, moving] = self.codes[partner][:, moving]
        joined = self._connected[second]
        for name in names:
            if self._connected[name] == joined:
                self._connected[name] = self._connected[first]

    def _is_connected(self, name: str, other: str) -> bool:
        return self._connected[name] == self._connected[other]
