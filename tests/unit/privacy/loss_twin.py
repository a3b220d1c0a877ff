"""What units lose, by trying every unit: the obvious slow twin of `eke.privacy.accountant`.

A unit is any multiset of up to k records that appear, or that move from cell to cell (or from and
to nowhere, when the domain drops rows). Its loss is computed from the definition: every released
number changes by some Δ, which costs |Δ|/b of epsilon or Δ²/2σ² of rho, and the losses of all
numbers add. In a number of people a unit counts once. Exact rational arithmetic throughout.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eke.domain import Domain
from eke.privacy.law import NoiseLaw
from eke.privacy.record_loss import NANO
from eke.query import Block, Kronecker, Marginal, Query

Cell = tuple[int, ...]
Integers = NDArray[Any]  # of Python's own integers, which cannot overflow


class LossTwin:
    """The loss of every possible unit so far."""

    def __init__(self, domain: Domain, neighbours: str, rows_per_unit: int = 1) -> None:
        self._cells = every_cell(domain)
        self._units = _units(len(self._cells), neighbours, rows_per_unit, total=domain.total)
        self._losses = [Fraction(0)] * len(self._units)

    def largest_after(self, measured: Block, law: NoiseLaw) -> Fraction:
        """The loss of the unit that loses most after one more measurement, in nano-units."""
        return max(self._after(measured, law))

    def add(self, measured: Block, law: NoiseLaw) -> None:
        self._losses = self._after(measured, law)

    @property
    def largest(self) -> Fraction:
        return max(self._losses)

    def _after(self, measured: Block, law: NoiseLaw) -> list[Fraction]:
        moves = [contributions(measured, cell) for cell in self._cells]
        finest = math.lcm(*(x.denominator for move in moves for x in move))
        whole = np.array([[int(x * finest) for x in move] for move in moves], dtype=object)
        changes = self._units @ whole  # (units, numbers)
        if measured.people:  # a unit is one in each number, however many of its records are
            changes = np.where(self._units @ (whole != 0) > 0, whole[whole != 0][0], 0)
        if law.loss_unit == "epsilon":
            price = NANO / (finest * noise_scale(law))
            own = np.abs(changes).sum(axis=1)
        else:
            price = NANO / (2 * (finest * noise_scale(law)) ** 2)
            own = (changes * changes).sum(axis=1)
        return [before + int(n) * price for before, n in zip(self._losses, own, strict=True)]


def noise_scale(law: NoiseLaw) -> Fraction:
    """The Laplace scale or the standard deviation of a discrete law, exactly."""
    return law.steps * Fraction(2) ** law.exponent  # type: ignore[union-attr]


def coefficient(query: Query, cell: Cell) -> Fraction:
    """Σ weight · Π factor at one cell, straight from the definition of a query."""
    place = dict(zip(query.domain.names, cell, strict=True))
    return sum(
        (
            term.weight * math.prod(int(vector[place[name]]) for name, vector in term.factors)
            for term in query.terms
        ),
        Fraction(0),
    )


def contributions(measured: Block, cell: Cell) -> list[Fraction]:
    """By how much a record in this cell changes each released number."""
    if isinstance(measured, Query):
        return [coefficient(measured, cell)]
    names = measured.domain.names
    own = tuple(cell[names.index(name)] for name in measured.attributes)
    if isinstance(measured, Kronecker):
        entries = [
            [int(row[code]) for row in matrix.tolist()]
            for matrix, code in zip(measured.matrices, own, strict=True)
        ]
        return [Fraction(math.prod(chosen)) for chosen in product(*entries)]
    if not isinstance(measured, Marginal):
        return [coefficient(query, cell) for query in measured.queries()]
    inside = coefficient(measured.inside, cell)
    return [inside if index == own else Fraction(0) for index in np.ndindex(*measured.shape)]


def record_loss(measured: Query | Marginal, law: NoiseLaw, cell: Cell) -> Fraction:
    """The loss of one record in one cell, in nano-units."""
    inside = measured.inside if isinstance(measured, Marginal) else measured
    moved = abs(coefficient(inside, cell)) / noise_scale(law)
    return NANO * (moved if law.loss_unit == "epsilon" else moved**2 / 2)


def every_cell(domain: Domain) -> list[Cell]:
    return list(product(*(range(size) for size in domain.shape)))


def _units(cells: int, neighbours: str, most: int, *, total: bool) -> Integers:
    """By how much each unit changes the count of each cell: (units, cells)."""
    places = [np.eye(cells, dtype=int)[i] for i in range(cells)]
    moves = places  # removing a record costs what adding it does: only the sign differs
    if neighbours == "replace_one":
        ends = places if total else [*places, np.zeros(cells, dtype=int)]
        moves = [there - here for there, here in product(ends, ends)]
    found = {
        tuple(sum(chosen).tolist())
        for rows in range(1, most + 1)
        for chosen in combinations_with_replacement(moves, rows)
    }
    return np.array(sorted(found), dtype=object)
