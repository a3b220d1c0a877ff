"""Prospects: questions like those that were paid for, and what a purchase would do for them.

A prospect is a question *like* one of the past: the same attributes, shape and accuracy, but about
other values, so that nothing but whole blocks answers it. For a block over more attributes it is a
sum of noisy answers, and three numbers say all: the variance of that sum for noise of variance one,
the half-width of such a sum in standard deviations, and what measuring the question by itself costs
each record (its rent). Next: `offer.py` lists the blocks that may be bought.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from eke.arrays import FloatArray
from eke.domain import Domain
from eke.inference import ComposedNoise, halfwidth, table_weight
from eke.planning.online.plan import Part
from eke.planning.online.requirement import Demand
from eke.privacy.accountant import Accountant
from eke.privacy.measure import Measure
from eke.query import Query

Names = tuple[str, ...]

MOST_CELLS = 2**13
"""Tables of more cells are not bought."""
_MOST_VALUES = 8
"""Of an attribute, values at which rents are added up: those that cost most so far."""


@dataclass(frozen=True, slots=True, eq=False)
class Prospect:
    """A demand as a sum of cells, with the rent of each record."""

    names: Names  # the attributes it depends on, in the domain's order
    sizes: FloatArray  # (cells,) |coefficients| of the widest single question
    touched: FloatArray  # over the names: |coefficient| of each record, at most 1
    profiles: tuple[FloatArray, ...]  # of each name: the largest of them at every value
    vectors: tuple[FloatArray, ...] | None  # its factors, if the widest question is one product
    within: float
    confidence: float
    rent: float  # nano-units: the price of measuring it by itself

    def squares(self, cells: int) -> float:
        """The sum of squared coefficients over a table of so many cells."""
        return float(self.sizes @ self.sizes) * (cells / len(self.sizes))

    def needed_variance(self, cells: int, measure: Measure) -> float:
        """The variance that its estimate may have, as a sum of so many cells."""
        deviations = _deviations(
            self.sizes.tobytes(), cells // len(self.sizes), self.confidence, measure
        )
        return (self.within / deviations) ** 2

    def likely_variance(self, cells: int, measure: Measure) -> float:
        """Nearly the same, and quickly: as if the noises were equal, a power of two of them."""
        squares = self.sizes**2
        like = float(squares.sum()) ** 2 / float(squares @ squares) * (cells / len(self.sizes))
        number = 2 ** math.floor(math.log2(max(1.0, like)))
        return (self.within / _alike(number, self.confidence, measure)) ** 2

    def safe_variance(self, measure: Measure) -> float:
        """The same for a sum of any answers: what one law allows, or many together."""
        missing = 1.0 - self.confidence
        return (self.within / measure.sum_quantile(missing)) ** 2

    def along(self, name: str, size: int) -> FloatArray | None:
        """Its factor over one attribute; None when it is no product."""
        if self.vectors is None:
            return None
        if name not in self.names:
            return np.ones(size)
        return self.vectors[self.names.index(name)]

    def spread(self, names: Names, values: Sequence[NDArray[np.intp]], power: int) -> FloatArray:
        """The share of its rent that a record pays in the cells made by some values."""
        chosen = dict(zip(names, values, strict=True))
        touched = (self.touched[np.ix_(*(chosen[n] for n in self.names))] if self.names else
               self.touched)  # fmt: skip
        shape = [len(chosen[n]) if n in self.names else 1 for n in names]
        return np.broadcast_to((touched**power).reshape(shape), [len(v) for v in values]).ravel()


def prospect_of(demand: Demand, rent: Part, accountant: Accountant) -> Prospect | None:
    """The prospect like a demand; None when it spans too many cells for any table.

    None as well for a block whose answers are not the groups of some attributes, and for numbers of
    people, which no table of cells answers.
    """
    query, domain = demand.query, demand.query.domain
    inside, grouped = query.inside, query.grouped
    if inside is None or grouped is None or query.people:
        return None
    names = domain.in_order({*inside.attributes, *grouped})
    if math.prod(domain.sizes(names)) > MOST_CELLS:
        return None
    coefficients = _coefficients(inside)
    shape = [domain[name].size if name in inside.attributes else 1 for name in names]
    table = np.broadcast_to(coefficients.reshape(shape), domain.sizes(names))
    sizes = table.ravel()
    cell: dict[str, int] = {}
    if grouped:
        # Of a block, the widest cell is looked at: its coefficients, and zeros for other cells.
        axes = tuple(i for i, name in enumerate(names) if name not in grouped)
        squares = (table**2).sum(axis=axes)
        place = np.unravel_index(int(squares.argmax()), squares.shape)
        cell = {n: int(i) for n, i in zip([n for n in names if n in grouped], place, strict=True)}
        index = tuple(cell.get(name, slice(None)) for name in names)
        only = np.zeros(table.shape)
        only[index] = table[index]
        sizes = only.ravel()
    largest = float(table.max())
    if not largest > 0.0:
        return None
    touched = table / largest
    profiles = tuple(
        touched.max(axis=tuple(j for j in range(len(names)) if j != i)) for i in range(len(names))
    )
    return Prospect(
        names,
        np.sort(sizes),
        touched,
        profiles,
        _factors(inside, names, cell),
        demand.requirement.within,
        demand.requirement.confidence,
        float(accountant.price(rent.query, rent.charged)),
    )


def _factors(inside: Query, names: Names, cell: dict[str, int]) -> tuple[FloatArray, ...] | None:
    """The vectors whose product a query is, in one cell of a block; None if it is none."""
    if len(inside.terms) != 1:
        return None
    (term,) = inside.terms
    vectors = dict(term.factors)
    factors = []
    for place, name in enumerate(names):
        size = inside.domain[name].size
        vector = np.asarray(vectors.get(name, np.ones(size)), np.float64)
        if name in cell:
            vector = vector * (np.arange(size) == cell[name])
        factors.append(vector * float(term.weight) if place == 0 else vector)
    return tuple(factors)


def _coefficients(query: Query) -> FloatArray:
    table = np.asarray(query.table(), dtype=np.float64)
    return np.abs(table) * 2.0**query.exponent


@lru_cache(maxsize=65536)
def _deviations(sizes: bytes, repeats: int, confidence: float, measure: Measure) -> float:
    """The half-width, in standard deviations, of a sum of cells with equal noise."""
    numbers = np.frombuffer(sizes)
    scales, counts = np.unique(numbers[numbers > 0.0], return_counts=True)
    if measure.sums_keep_their_law:
        return halfwidth(ComposedNoise(np.empty(0), 1.0), confidence)
    often = np.asarray(counts * float(repeats), np.float64)
    noise = ComposedNoise(scales, 0.0, 0.0, often)
    return halfwidth(noise, confidence) / math.sqrt(noise.variance)


@lru_cache(maxsize=4096)
def _alike(number: int, confidence: float, measure: Measure) -> float:
    """The half-width, in standard deviations, of a sum of so many equal noises."""
    if measure.sums_keep_their_law:
        return halfwidth(ComposedNoise(np.empty(0), 1.0), confidence)
    noise = ComposedNoise(np.ones(1), 0.0, 0.0, np.array([float(number)]))
    return halfwidth(noise, confidence) / math.sqrt(noise.variance)


@dataclass(frozen=True, slots=True, eq=False)
class Outlook:
    """The prospects within one set of attributes: their rents, and what blocks tell already."""

    rents: FloatArray  # (prospects, cells) nano-units
    known: FloatArray  # (prospects,) precisions that blocks offer already

    @staticmethod
    def over(
        names: Names,
        prospects: Sequence[Prospect],
        blocks: Sequence[Part],
        accountant: Accountant,
        *,
        domain: Domain,
        worth: Callable[[Prospect], float],
    ) -> Outlook:
        """The outlook for a purchase over these names; `worth` is that of an answer.

        Rents are added up at the values that cost most so far: a forecast needs no more.
        """
        power = accountant.measure.order
        values = [_most_expensive(name, domain[name].size, prospects) for name in names]
        return Outlook(
            np.stack([worth(one) * one.spread(names, values, power) for one in prospects]),
            np.array([_known_precision(one, blocks) for one in prospects]),
        )

    def left(self, unmet: FloatArray) -> float:
        """The loss of renting again such shares of the prospects."""
        # What a record paid once is no reason to expect that it pays again: questions about
        # disjoint cells cost what the most expensive one costs, however many there are.
        once = (unmet[:, None] * self.rents).max(axis=0)
        return float((unmet @ self.rents - once).max())


def _most_expensive(name: str, size: int, prospects: Sequence[Prospect]) -> NDArray[np.intp]:
    if size <= _MOST_VALUES:
        return np.arange(size)
    total = np.zeros(size)
    for prospect in prospects:
        if name in prospect.names:
            total += prospect.rent * prospect.profiles[prospect.names.index(name)]
    return np.sort(np.argsort(-total, kind="stable")[:_MOST_VALUES])


def _known_precision(prospect: Prospect, blocks: Sequence[Part]) -> float:
    """What whole blocks say about it, each counted by itself."""
    total = 0.0
    for part in blocks:
        block = part.query
        if not set(prospect.names).issubset(block.attributes):
            continue
        if block.matrices is not None:
            factor = block_factor(prospect, block.attributes, block.matrices)
        else:
            weight = table_weight(block)
            if weight is None:
                continue
            factor = prospect.squares(block.cells) / float(weight) ** 2
        total += 1.0 / (factor * part.charged.variance)
    return total


def block_factor(prospect: Prospect, names: Names, matrices: Sequence[NDArray[np.int64]]) -> float:
    """The variance of its estimate from a block of products with noise of variance one.

    Infinite when the block does not determine it.
    """
    total = 1.0
    for name, matrix in zip(names, matrices, strict=True):
        vector = prospect.along(name, matrix.shape[1])
        total *= math.inf if vector is None else line_factor(vector, matrix)
    return total


def line_factor(vector: FloatArray, matrix: NDArray[np.int64]) -> float:
    """The same along one attribute."""
    inverse, onto = _least_squares(matrix.tobytes(), matrix.shape[1])
    if float(np.abs(onto @ vector - vector).max()) > 1e-6:
        return math.inf
    return float(vector @ inverse @ vector)


@lru_cache(maxsize=512)
def _least_squares(matrix: bytes, size: int) -> tuple[FloatArray, FloatArray]:
    """(MᵀM)⁺ and the projector onto the rows of M."""
    rows = np.frombuffer(matrix, np.int64).reshape(-1, size).astype(np.float64)
    gram = rows.T @ rows
    inverse = np.linalg.pinv(gram, rcond=1e-10, hermitian=True)
    return np.asarray(inverse), np.asarray(inverse @ gram)
