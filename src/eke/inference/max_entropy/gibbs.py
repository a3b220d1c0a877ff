"""Many Gibbs chains at once, compiled: samples from models too dense for exact sums (HIST §4.2).

HIST moves one chain by Metropolis steps. Here thousands of persistent chains move together, and
every attribute is drawn from its exact conditional distribution: a product of one line from each
table that the attribute occurs in. Lines are kept exponentiated and contiguous, once for each
attribute of a table, so a draw is multiplications only.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from eke.arrays import Codes, FloatArray
from eke.domain import Domain
from eke.errors import EstimateError
from eke.inference.features import table_of
from eke.inference.max_entropy.table_layout import TableLayout
from eke.query import Prior, Query

AttributeSet = tuple[str, ...]

_LEAST_CHAINS = 256  # fewer are not worth a thread of their own


@dataclass(frozen=True, slots=True, eq=False)
class GibbsPlan:
    """Where the lines of every (table, attribute) pair lie; made once for a set of tables."""

    domain: Domain
    attribute_sets: tuple[AttributeSet, ...]
    first: Codes  # (attributes + 1,) pairs of attribute k are first[k] to first[k + 1]
    table: Codes  # (pairs,) which table
    start: Codes  # (pairs,) where its copy begins
    strides: Codes  # (pairs, attributes) of the copy, 0 for the attribute itself
    sizes: Codes  # (attributes,)
    source: Codes  # (cells,) of each copied entry, among all tables one after another
    layout: TableLayout

    @staticmethod
    def of(domain: Domain, attribute_sets: Sequence[AttributeSet]) -> GibbsPlan:
        """The plan for tables over these attribute sets."""
        names, layout = domain.names, TableLayout.of(domain, attribute_sets)
        first, table, start, strides, source, place = [0], [], [], [], [], 0
        for name in names:
            for index, attributes in enumerate(attribute_sets):
                if name not in attributes:
                    continue
                others = [other for other in attributes if other != name]
                row, step = [0] * len(names), domain[name].size
                for other in reversed(others):
                    row[names.index(other)] = step
                    step *= domain[other].size
                cells = np.arange(*layout.starts[index : index + 2]).reshape(
                    domain.sizes(attributes)
                )
                source.append(np.moveaxis(cells, attributes.index(name), -1).reshape(-1))
                table.append(index)
                start.append(place)
                strides.append(row)
                place += step
            first.append(len(table))
        return GibbsPlan(
            domain,
            tuple(attribute_sets),
            np.array(first, np.int64),
            np.array(table, np.int64),
            np.array(start, np.int64),
            np.array(strides, np.int64).reshape(len(table), len(names)),
            np.array(domain.shape, np.int64),
            np.concatenate([np.empty(0, np.int64), *source]),
            layout,
        )

    def lines(self, flat: FloatArray) -> FloatArray:
        """All copies one after another, as logarithms, each with a largest entry of 0."""
        copied = flat[self.source]
        # Shifting a whole table changes no conditional; it keeps the products within range.
        if len(self.start):
            tops = np.maximum.reduceat(copied, self.start)
            copied -= np.repeat(tops, np.diff(self.start, append=len(copied)))
        return copied


class GibbsChains:
    """Persistent chains: `sweep` moves them, `marginals` counts where they are."""

    def __init__(
        self,
        plan: GibbsPlan,
        prior: Prior,
        chains: int,
        generator: np.random.Generator,
        states: Codes | None = None,
    ) -> None:
        self.plan, self.prior = plan, prior
        names = plan.domain.names
        width = int(plan.sizes.max())
        self._base = np.zeros((len(names), width))
        for k, name in enumerate(names):
            self._base[k, : plan.sizes[k]] = np.log(prior.vectors[name])
        if states is None:
            drawn = [
                generator.choice(len(prior.vectors[name]), chains, p=prior.vectors[name])
                for name in names
            ]
            states = np.stack(drawn, axis=1).astype(np.int64)
        elif len(states) != chains:
            states = states[generator.integers(0, len(states), chains)]
        self.states: Codes = np.ascontiguousarray(states, np.int64)
        self._random = generator.integers(1, 2**63, chains, dtype=np.int64).astype(np.uint64)

    def sweep(self, log_tables: Mapping[AttributeSet, FloatArray], sweeps: int = 1) -> None:
        """Draw every attribute of every chain anew, `sweeps` times."""
        plan = self.plan
        lines = plan.lines(plan.layout.flat(log_tables))
        layout = (plan.first, plan.start, plan.strides, plan.sizes)
        both_lines, both_bases = (np.exp(lines), lines), (np.exp(self._base), self._base)
        workers = min(os.cpu_count() or 1, max(1, len(self.states) // _LEAST_CHAINS))
        parts = np.array_split(np.arange(len(self.states)), workers)

        def move(part: NDArray[np.intp]) -> None:
            here = slice(int(part[0]), int(part[-1]) + 1)
            _sweep(self.states[here], self._random[here], both_lines, both_bases, layout, sweeps)

        # Threads of our own: Numba's are neither fork-safe nor safe under concurrent callers.
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(move, parts))

    def jump(
        self,
        log_tables: Mapping[AttributeSet, FloatArray],
        offered: Codes,
        offered_log_densities: FloatArray,
        own_log_densities: FloatArray,
        generator: np.random.Generator,
    ) -> float:
        """Metropolis-Hastings with independent proposals of known density; the share accepted.

        One record is offered to each chain: offered and both densities have the chains' length.
        """
        flat = self.plan.layout.flat(log_tables)
        gain = (self._log_weight(offered, flat) - offered_log_densities) - (
            self._log_weight(self.states, flat) - own_log_densities
        )
        accepted = np.log(generator.random(len(gain))) < gain
        self.states[accepted] = offered[accepted]
        return float(accepted.mean())

    def _log_weight(self, records: Codes, flat: FloatArray) -> FloatArray:
        total = self._base[np.arange(records.shape[1]), records].sum(axis=1)
        return np.asarray(total + self.plan.layout.sums(records, flat))

    def marginals(self) -> dict[AttributeSet, FloatArray]:
        """The share of chains in each cell of the plan's tables, flat."""
        return self.plan.layout.shares(self.states)


@dataclass(frozen=True, slots=True, eq=False)
class SampledDistribution:
    """A model known by many records drawn from it."""

    domain: Domain
    records: Codes  # (records, attributes)

    def marginal(self, attributes: Sequence[str]) -> FloatArray:
        """The share of records in each combination of some attributes, in the domain's order."""
        wanted = self.domain.in_order(attributes)
        return counted(self.domain, self.records, wanted).reshape(self.domain.sizes(wanted))

    def expectation(self, query: Query) -> float:
        """The mean of the query over the records, without its constant."""
        if not query.terms:
            return 0.0
        attributes = query.attributes
        if query.support_size <= len(self.records):
            return float(
                table_of(query, attributes) @ counted(self.domain, self.records, attributes)
            )
        total = np.zeros(len(self.records))
        column = {name: k for k, name in enumerate(self.domain.names)}
        for term in query.terms:
            product = np.full(len(self.records), float(term.weight))
            for name, vector in term.factors:
                product *= vector[self.records[:, column[name]]]
            total += product
        return float(total.mean())

    def sample(self, rows: int, generator: np.random.Generator) -> Codes:
        """Records in random order, each used as equally often as possible."""
        if rows < 0:
            raise EstimateError("the number of rows must be at least 0")
        times = math.ceil(rows / len(self.records))
        order = [generator.permutation(len(self.records)) for _ in range(max(1, times))]
        return self.records[np.concatenate(order)[:rows]]


def counted(domain: Domain, records: Codes, attributes: Sequence[str]) -> FloatArray:
    """The share of records in each combination of some attributes, flat in C order."""
    cells = cells_of(domain, records, attributes)
    return np.bincount(cells, minlength=math.prod(domain.sizes(attributes))) / len(records)


def cells_of(domain: Domain, records: Codes, attributes: Sequence[str]) -> Codes:
    """The flat cell of each record in the table over some attributes."""
    cells = np.zeros(len(records), np.int64)
    for name, size in zip(attributes, domain.sizes(attributes), strict=True):
        cells = cells * size + records[:, domain.names.index(name)]
    return cells


@njit(nogil=True, cache=True)
def _sweep(  # noqa: C901, PLR0912, PLR0917 - one compiled loop nest; calls would not be inlined as well
    states: Codes,
    random: NDArray[np.uint64],
    lines: tuple[FloatArray, FloatArray],
    base: tuple[FloatArray, FloatArray],
    layout: tuple[Codes, Codes, Codes, Codes],
    sweeps: int,
) -> None:  # pragma: no cover - compiled
    """Move some chains; lines and base come as (numbers, their logarithms)."""
    chains, attributes = states.shape
    first, start, strides, sizes = layout
    weights = np.empty(base[0].shape[1])
    for chain in range(chains):
        state, seed = states[chain], random[chain]
        for _ in range(sweeps):
            for k in range(attributes):
                size = sizes[k]
                for v in range(size):
                    weights[v] = base[0][k, v]
                for pair in range(first[k], first[k + 1]):
                    place = start[pair]
                    for j in range(attributes):
                        place += strides[pair, j] * state[j]
                    for v in range(size):
                        weights[v] *= lines[0][place + v]
                total = 0.0
                for v in range(size):
                    total += weights[v]
                if not 1e-280 < total < 1e280:  # out of range: once more with logarithms
                    for v in range(size):
                        weights[v] = base[1][k, v]
                    for pair in range(first[k], first[k + 1]):
                        place = start[pair]
                        for j in range(attributes):
                            place += strides[pair, j] * state[j]
                        for v in range(size):
                            weights[v] += lines[1][place + v]
                    top = weights[0]
                    for v in range(size):
                        top = max(top, weights[v])
                    total = 0.0
                    for v in range(size):
                        weights[v] = np.exp(weights[v] - top)
                        total += weights[v]
                # splitmix64: one 64-bit state for each chain, nothing shared between threads
                seed += np.uint64(0x9E3779B97F4A7C15)
                bits = seed
                bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
                bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
                bits ^= bits >> np.uint64(31)
                left = np.float64(bits >> np.uint64(11)) * 2.0**-53 * total
                chosen = size - 1
                for v in range(size):
                    left -= weights[v]
                    if left < 0.0:
                        chosen = v
                        break
                state[k] = chosen
        random[chain] = seed
