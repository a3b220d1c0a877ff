"""Interactions: how far counts of several columns are from what fewer columns say.

Under a product p0 a question is a sum of parts, one for each set S of its columns (the functional
analysis of variance): q_S = Π_{a ∈ S} (f_a − p0[f_a]) · Π_{a ∉ S} p0[f_a]. A measured table tells
p[q_S] for every S among its columns, so the estimate is off by the parts of the other sets, the
open ones. How large those are, for events such as are asked about, is read off the measured tables:
`strengths` holds for each number of columns j the τ with |p[q_S]| ≤ z·τ·‖q_S‖ for 95 % of events
and tables, noise allowed for, and widened by Student's t for as many tables as there were. Beyond
the longest S that was measured, strengths go on as they fell.

Two scales meet here: α is what makes estimates good, `Interactions` says how wrong they are.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from eke.arrays import FloatArray
from eke.history import Measurement
from eke.inference.features import is_plain
from eke.inference.shrinkage.bounds import Bounds
from eke.inference.shrinkage.prior import margins_of
from eke.query import Prior, Query

Columns = tuple[str, ...]

LEVEL = 0.95
"""Strengths are fitted so that intervals of this confidence hold so often."""
ASSUMED = 0.2
"""Of pairs, where history measured few of them: a guess, and said to be one."""
FEW = 8
"""So many pairs of columns tell how large the others are."""
ENOUGH = 59
"""Of so many pairs drawn at random the strongest is among the strongest 5 % of all, 95 % sure."""
TOGETHER = 0.1
"""Correlation of the open parts of one question: they share columns, and often their sign."""
_SETS = {2: "pairs", 3: "triples"}
_DRAWS = 120  # events a table
_TWO_SIDED = 1.959964  # deviations of a Gaussian that hold 95 %
_MOST_FALL = 0.25  # of a strength, from one number of columns to the next
_MOST_CELLS = 2**20  # of a table, to be read for strengths
_MOST_SETS = 2_000  # of a question's columns, to be looked at one by one
_MOST_TERMS = 32
_NEVER = 1e-12  # variance of an event that cannot vary

AWARE = (
    "Hardly any table of the history holds two columns together, so that little tells how these "
    "depend on each other: the interval rests on a guess, and may miss."
)
ALIKE = (
    "Only {number} {sets} of columns were measured together. The interval takes columns of other "
    "{sets} to depend on each other no more than these do, which fewer than {enough} cannot show."
)
BEYOND = (
    "No table of the history holds {order} columns together. What {order} columns do that no fewer "
    "of them show is taken for no more than what fewer do, which such a history cannot show."
)


@dataclass(frozen=True, slots=True, eq=False)
class Interactions:
    """What history's tables say of the size of what they leave open."""

    prior: Prior
    records: float
    """The number of records, as the tables say."""
    known: frozenset[Columns]
    """The sets of columns inside a measured table, each in the domain's order."""
    strengths: tuple[float, ...]
    """τ of 1, 2, … columns; the last is of all further ones as well, which fall like it."""
    fall: float
    """By what factor τ changes for each column more than there are strengths."""
    margin_noise: Mapping[str, float]
    """The variance of the prior's counts of each column, where it was measured."""
    bounds: Bounds = field(default_factory=lambda: Bounds({}))
    """What the tables allow counts to be, however large interactions are."""

    @staticmethod
    def of_history(
        measurements: Iterable[Measurement], prior: Prior, before: Prior
    ) -> Interactions | None:
        """The interactions in the tables of a history; None when it has no table.

        `before` is the prior of columns that were never measured. Privacy: free; it reads released
        values only.
        """
        tables = [one for one in measurements if _is_read(one)]
        if not tables:
            return None
        records = max(_records(tables), 1.0)
        excesses: dict[int, list[FloatArray]] = defaultdict(list)
        known: dict[int, set[Columns]] = defaultdict(set)
        sources: dict[int, set[Columns]] = defaultdict(set)
        for table in tables:
            for chosen, excess in _excesses(table, prior, before, records):
                excesses[len(chosen)].append(excess)
                known[len(chosen)].add(chosen)
                sources[len(chosen)].add(table.query.attributes)
        strengths = tuple(
            _strength(np.concatenate(excesses[order]), len(sources[order]))
            for order in range(1, max(known) + 1)
        )
        fall = 1.0
        if len(strengths) == 1:
            strengths = (*strengths, ASSUMED)
        elif len(known[2]) < FEW:
            strengths = tuple(max(one, ASSUMED) for one in strengths)
        elif len(strengths) > 2:
            fall = min(max(strengths[-1] / max(strengths[-2], 1e-9), _MOST_FALL), 1.0)
        every = frozenset(one for some in known.values() for one in some)
        noise = {name: variance for name, (_, variance) in margins_of(prior.domain, tables).items()}
        bounds = Bounds.of_history(tables, most_cells=_MOST_CELLS)
        return Interactions(prior, records, every, strengths, fall, noise, bounds)

    def strength(self, columns: Columns) -> float:
        """τ of one set of columns; of one with a column never measured, no less than of that."""
        order, last = len(columns), len(self.strengths)
        value = self.strengths[min(order, last) - 1] * self.fall ** max(order - last, 0)
        fresh = any((name,) not in self.known for name in columns)
        return max(value, self.strengths[0]) if fresh else value

    def caveats(self, query: Query) -> tuple[str, ...]:
        """What is taken for granted of columns that were not measured together, pairs first."""
        read = _read(query)
        for order in range(2, len(read) + 1):
            number = sum(len(columns) == order for columns in self.known)
            if number >= ENOUGH or read in self.known or self._tells_all(read, order, number):
                continue
            if order == 2 and number < FEW:
                return (AWARE,)
            if not number:
                return (BEYOND.format(order=order),)
            sets = _SETS.get(order, f"sets of {order}")
            return (ALIKE.format(number=number, sets=sets, enough=ENOUGH),)
        return ()

    def _tells_all(self, read: Columns, order: int, number: int) -> bool:
        """Whether the known sets of an order, so many, hold all those of a question's columns."""
        if math.comb(len(read), order) > number:
            return False  # and too many, perhaps, to be gone through
        return all(columns in self.known for columns in combinations(read, order))

    def left_open(self, query: Query) -> OpenParts | None:
        """How large the parts are that no table tells; None when tables tell them all."""
        if len(query.terms) > _MOST_TERMS:
            return OpenParts((self.records * max(self.strengths)) ** 2, 0.0)
        factors = _Factors.of(query, self.prior)
        squares, sizes, norm = 0.0, 0.0, 0.0
        for columns, square in self._parts(factors):
            size = self.strength(columns) ** 2 * square
            squares += size
            sizes += math.sqrt(size)
            norm += square
        if norm <= 0.0:
            return None
        together = (1.0 - TOGETHER) * squares + TOGETHER * sizes**2
        noise = sum(
            variance * factors.slope(name)
            for name, variance in self.margin_noise.items()
            if name in factors.names
        )
        return OpenParts(self.records**2 * together / norm, noise)

    def _parts(self, factors: _Factors) -> Iterator[tuple[Columns, float]]:
        """(S, ‖q_S‖²) of the open sets, the smallest first, as many as are looked at."""
        looked = 0
        for order in range(1, len(factors.names) + 1):
            looked += math.comb(len(factors.names), order)
            if order > 2 and looked > _MOST_SETS:
                return  # what so many columns say together is next to nothing
            for columns in combinations(factors.names, order):
                if columns not in self.known and (square := factors.square(columns)) > 0.0:
                    yield columns, square


@dataclass(frozen=True, slots=True)
class OpenParts:
    """The size of what tables leave open of one question."""

    variance: float
    """For each unit of the squared norm of what is open."""
    margin_noise: float
    """The variance that noise in the prior's columns adds."""


@dataclass(frozen=True, slots=True, eq=False)
class _Factors:
    """The terms of a question, seen from the prior."""

    names: Columns
    weights: FloatArray  # (terms,)
    vectors: dict[str, FloatArray]  # (terms, size) by column
    means: dict[str, FloatArray]  # (terms,) under the prior
    spreads: dict[str, FloatArray]  # (terms, terms) covariances under the prior

    @staticmethod
    def of(query: Query, prior: Prior) -> _Factors:
        names = _read(query)
        vectors, means, spreads = {}, {}, {}
        for name in names:
            size, p0 = query.domain[name].size, prior.vectors[name]
            rows = [dict(term.factors).get(name, np.ones(size)) for term in query.terms]
            vectors[name] = np.array(rows, np.float64)
            means[name] = vectors[name] @ p0
            outer = np.multiply.outer(means[name], means[name])
            spreads[name] = (vectors[name] * p0) @ vectors[name].T - outer
        weights = np.array([float(term.weight) for term in query.terms])
        return _Factors(names, weights, vectors, means, spreads)

    def square(self, columns: Columns) -> float:
        """‖q_S‖² of some columns."""
        inside = np.ones((len(self.weights), len(self.weights)))
        for name in columns:
            inside = inside * self.spreads[name]
        outside = self._outside(columns)
        return float(outside @ inside @ outside)

    def slope(self, name: str) -> float:
        """Σ_v (∂ answer / ∂ count of v)² of a column: what noise in its counts does."""
        return float(((self._outside((name,)) @ self.vectors[name]) ** 2).sum())

    def _outside(self, columns: Columns) -> FloatArray:
        """The terms' weights, times the means of the other columns; (terms,)."""
        product = self.weights
        for name in self.names:
            if name not in columns:
                product = product * self.means[name]
        return product


def _read(query: Query) -> Columns:
    names = {name for term in query.terms for name, _ in term.factors}
    return query.domain.in_order(names)


def _is_read(measurement: Measurement) -> bool:
    block = measurement.query
    return bool(block.attributes) and is_plain(block) and 1 < len(measurement.values) <= _MOST_CELLS


def _records(tables: Sequence[Measurement]) -> float:
    """The number of records that tables add up to, averaged by their precision."""
    precisions = [1.0 / (len(one.values) * one.law.variance) for one in tables]
    sums = [precision * sum(one.values) for precision, one in zip(precisions, tables, strict=True)]
    return sum(sums) / sum(precisions)


def _excesses(
    table: Measurement, prior: Prior, before: Prior, records: float
) -> Iterator[tuple[Columns, FloatArray]]:
    """(S, τ² that each event would need to be held) for every set of a table's columns."""
    names, domain = table.query.attributes, prior.domain
    sizes = domain.sizes(names)
    values = np.asarray(table.values, np.float64).reshape(sizes)
    events = drawn_events(values)
    for order in range(1, len(names) + 1):
        belief = before if order == 1 else prior
        for axes in combinations(range(len(names)), order):
            rest = tuple(axis for axis in range(len(names)) if axis not in axes)
            margin = values.sum(axis=rest) if rest else values
            noise = np.full(_DRAWS, table.law.variance * values.size / margin.size)
            part, square = np.broadcast_to(margin, (_DRAWS, *margin.shape)), np.ones(_DRAWS)
            for axis in axes:
                mean = events[axis] @ belief.vectors[names[axis]]
                contrast = events[axis] - mean[:, None]
                part = np.einsum("nv...,nv->n...", part, contrast)
                noise *= (contrast**2).sum(axis=1)
                square *= mean * (1.0 - mean)
            varies = square > _NEVER
            needed = ((part / _TWO_SIDED) ** 2 - noise)[varies] / (records**2 * square[varies])
            yield tuple(names[axis] for axis in axes), needed


def drawn_events(values: FloatArray) -> list[NDArray[np.float64]]:
    """Ranges around records of a noisy table, up to a third of a column wide; (draws, size) each.

    The same for everyone: places go through the table evenly, widths by roots of primes.
    """
    mass = np.cumsum(np.maximum(values, 0.0).reshape(-1))
    places = (np.arange(_DRAWS) + 0.5) / _DRAWS * max(float(mass[-1]), 1e-300)
    cells = np.minimum(np.searchsorted(mass, places), values.size - 1)
    events = []
    for axis, codes in enumerate(np.unravel_index(cells, values.shape)):
        size = values.shape[axis]
        below, above = (_even(2 * axis + k) * (size // 3 + 1) for k in (0, 1))
        low, high = codes - np.floor(below), codes + np.floor(above)
        value = np.arange(size)
        events.append(((value >= low[:, None]) & (value <= high[:, None])).astype(np.float64))
    return events


def _even(sequence: int) -> FloatArray:
    """Numbers from 0 to 1 without a period, independent of those of other sequences."""
    primes = [n for n in range(2, 400) if all(n % d for d in range(2, int(n**0.5) + 1))]
    return np.asarray(
        np.modf(np.arange(1, _DRAWS + 1) * math.sqrt(primes[sequence % len(primes)]))[0]
    )


def _strength(needed: FloatArray, tables: int) -> float:
    """τ that holds 95 % of events, and as much more as Student's t allows for few tables.

    The pairs within one table share its columns, and count as one.
    """
    if not needed.size:
        return 0.0
    squared = max(float(np.quantile(needed, LEVEL)), 0.0)
    few = float(stdtrit(tables, 0.5 + LEVEL / 2.0)) / _TWO_SIDED
    return math.sqrt(squared) * few
