"""Prospects: questions like those that were paid for, and what a table would do for them.

A prospect is a question *like* one of the past: the same attributes, shape and accuracy, but about
other values, so that nothing but whole tables answers it. For a table over more attributes it is a
sum of cells, and three numbers say all: the sum of its squared coefficients over the table's cells,
the half-width of such a sum in standard deviations, and what measuring the question by itself costs
each record (its rent).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from eke.domain import Domain
from eke.inference import ComposedNoise, halfwidth
from eke.planning.plan import Part
from eke.planning.requirement import Demand
from eke.privacy.accountant import Accountant, Measure
from eke.query import Marginal, Query

FloatArray = NDArray[np.float64]
Names = tuple[str, ...]

MOST_CELLS = 2**13
"""Tables of more cells are not bought."""


@dataclass(frozen=True, slots=True, eq=False)
class Prospect:
    """A demand as a sum of cells, with the rent of each record."""

    names: Names  # the attributes it depends on, in the domain's order
    sizes: FloatArray  # (cells,) |coefficients| of the widest single question
    touched: FloatArray  # over the names: |coefficient| of each record, at most 1
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

    def spread(self, names: Names, domain: Domain, power: int) -> FloatArray:
        """The rent of a record in each cell of a table over these names."""
        shape = [domain[name].size if name in self.names else 1 for name in names]
        own = (self.touched**power).reshape(shape)
        return np.broadcast_to(self.rent * own, domain.sizes(names)).ravel()


def prospect_of(demand: Demand, rent: Part, accountant: Accountant) -> Prospect | None:
    """The prospect like a demand; None when it spans too many cells for any table."""
    query, domain = demand.query, demand.query.domain
    inside = query.inside if isinstance(query, Marginal) else query
    grouped = query.attributes if isinstance(query, Marginal) else ()
    names = domain.in_order({*inside.attributes, *grouped})
    if math.prod(domain.sizes(names)) > MOST_CELLS:
        return None
    coefficients = _coefficients(inside)
    shape = [domain[name].size if name in inside.attributes else 1 for name in names]
    table = np.broadcast_to(coefficients.reshape(shape), domain.sizes(names))
    sizes = table.ravel()
    if grouped:
        # Of a block, the widest cell is looked at: its coefficients, and zeros for other cells.
        axes = tuple(i for i, name in enumerate(names) if name not in grouped)
        squares = (table**2).sum(axis=axes)
        place = np.unravel_index(int(squares.argmax()), squares.shape)
        chosen = iter(place)
        index = tuple(next(chosen) if name in grouped else slice(None) for name in names)
        only = np.zeros(table.shape)
        only[index] = table[index]
        sizes = only.ravel()
    largest = float(table.max())
    if not largest > 0.0:
        return None
    return Prospect(
        names,
        np.sort(sizes),
        table / largest,
        demand.requirement.within,
        demand.requirement.confidence,
        float(accountant.price(rent.query, rent.law)),
    )


def _coefficients(query: Query) -> FloatArray:
    table = np.asarray(query.table(), dtype=np.float64)
    return np.abs(table) * 2.0**query.exponent


@lru_cache(maxsize=65536)
def _deviations(sizes: bytes, repeats: int, confidence: float, measure: Measure) -> float:
    """The half-width, in standard deviations, of a sum of cells with equal noise."""
    own = np.frombuffer(sizes)
    scales, counts = np.unique(own[own > 0.0], return_counts=True)
    if measure == "rho":
        return halfwidth(ComposedNoise(np.empty(0), 1.0), confidence)
    often = np.asarray(counts * float(repeats), np.float64)
    noise = ComposedNoise(scales, 0.0, 0.0, often)
    return halfwidth(noise, confidence) / math.sqrt(noise.variance)


@dataclass(frozen=True, slots=True, eq=False)
class Outlook:
    """The prospects within one set of attributes, and what a table over it does for them.

    With a table of noise variance v added to those there are, a prospect has precision
    known + 1 / (squares · v); it is met when that reaches 1 / needed.
    """

    rents: FloatArray  # (prospects, cells) nano-units
    squares: FloatArray  # (prospects,)
    needed: FloatArray  # (prospects,) variances
    known: FloatArray  # (prospects,) precisions that tables offer already
    octaves: float  # accuracies to come are spread by this factor of two around those seen

    @staticmethod
    def over(
        names: Names,
        prospects: Sequence[Prospect],
        tables: Sequence[Part],
        accountant: Accountant,
        domain: Domain,
        *,
        octaves: float,
    ) -> Outlook:
        """The outlook for a table over these names."""
        cells = math.prod(domain.sizes(names))
        power = 1 if accountant.measure == "epsilon" else 2
        measure = accountant.measure
        return Outlook(
            np.stack([one.spread(names, domain, power) for one in prospects]),
            np.array([one.squares(cells) for one in prospects]),
            np.array([one.needed_variance(cells, measure) for one in prospects]),
            np.array([_known_precision(one, tables) for one in prospects]),
            octaves,
        )

    def cell_variance(self, prospect: int) -> float:
        """The variance of a cell with which a table just meets one prospect."""
        lacking = 1.0 / self.needed[prospect] - self.known[prospect]
        if lacking <= 0.0:
            return math.inf
        return float(1.0 / (lacking * self.squares[prospect]))

    def left(self, cell_variance: float) -> float:
        """The loss of renting again every prospect that a table with this noise leaves unmet."""
        precision = self.known + 1.0 / (self.squares * cell_variance)
        with np.errstate(divide="ignore"):  # no table at all
            ratio = 0.5 * np.log2(precision * self.needed)  # octaves to spare
        if self.octaves > 0.0:
            unmet = np.clip(0.5 - ratio / (2.0 * self.octaves), 0.0, 1.0)
        else:
            unmet = (ratio < -1e-9).astype(np.float64)
        # What a record paid once is no reason to expect that it pays again: questions about
        # disjoint cells cost the dearest of them, however many there are.
        once = (unmet[:, None] * self.rents).max(axis=0)
        return float((unmet @ self.rents - once).max())


def _known_precision(prospect: Prospect, tables: Sequence[Part]) -> float:
    """What whole tables say about it, the smallest table of each noise counted by itself."""
    total = 0.0
    for part in tables:
        block = part.query
        if isinstance(block, Marginal) and set(prospect.names).issubset(block.attributes):
            weight = float(block.inside.terms[0].weight)
            variance = part.law.variance / weight**2
            total += 1.0 / (prospect.squares(block.cells) * variance)
    return total
