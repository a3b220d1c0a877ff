"""Equations: what public facts say of tables that are made consistent.

The tables that agree with each other are a linear space L, and those that meet the facts C·z = d as
well an affine one. With P the projection onto L in the norm Σ (z − y)²/v, the nearest of these to y
is Py + PVCᵀ·(CPVCᵀ)⁺·(d − CPy): as many projections as there are facts, and no variable for any
cell of the domain. Facts that follow from others do no harm to the pseudo-inverse.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from eke.arrays import FloatArray
from eke.domain import Domain
from eke.history import Assertion
from eke.inference.residuals import Names
from eke.query import Query

Arrays: TypeAlias = Mapping[Names, FloatArray]
Projection: TypeAlias = Callable[[Arrays], dict[Names, FloatArray]]

MOST_EQUATIONS = 1_000
_MOST_CELLS = 2**16
"""Of the table of an equation's coefficients."""
_RANK = 1e-10


@dataclass(frozen=True, slots=True, eq=False)
class Equation:
    """Coefficients over the cells of a table of counts, and what they add up to."""

    attributes: Names
    coefficients: FloatArray
    value: float

    def over(self, names: Names, sizes: Mapping[str, int]) -> FloatArray:
        """The coefficients over a table with more attributes."""
        shape = [sizes[name] if name in self.attributes else 1 for name in names]
        return np.array(
            np.broadcast_to(self.coefficients.reshape(shape), [sizes[name] for name in names])
        )


def equations_of(
    facts: Iterable[Assertion], targets: Sequence[Names], domain: Domain
) -> list[Equation]:
    """What facts say of some tables: those that are about columns of one of them.

    Where nobody meets a condition, each of its cells is empty.
    """
    equations: list[Equation] = []
    for fact in facts:
        if fact.query.people or fact.query.cells > MOST_EQUATIONS:
            continue
        for query, value in zip(fact.query.queries(), fact.values, strict=True):
            if not any(set(query.attributes) <= set(names) for names in targets):
                continue
            if query.support_size <= _MOST_CELLS:
                equations += _split(query, float(value), domain)
    return equations[:MOST_EQUATIONS]


def _split(query: Query, value: float, domain: Domain) -> list[Equation]:
    table = query.table().astype(np.float64) * 2.0**query.exponent
    whole = Equation(query.attributes, table.reshape(domain.sizes(query.attributes)), value)
    cells = np.flatnonzero(table)
    if value != 0.0 or not (table >= 0.0).all() or len(cells) > MOST_EQUATIONS:
        return [whole]
    alone = []
    for cell in cells.tolist():
        unit = np.zeros(table.size)
        unit[cell] = 1.0
        alone.append(Equation(query.attributes, unit.reshape(whole.coefficients.shape), 0.0))
    return alone


@dataclass(frozen=True, slots=True, eq=False)
class Meeting:
    """The projection onto consistent tables that meet some equations."""

    project: Projection  # onto those that agree with each other; linear
    placed: tuple[tuple[Names, FloatArray, float], ...]  # of each equation, the table it is about
    moves: tuple[dict[Names, FloatArray], ...]  # PVCᵀ, a column for each

    @staticmethod
    def of(
        project: Projection,
        equations: Iterable[Equation],
        sizes: Mapping[str, int],
        tables: Sequence[Names],
        variances: Mapping[Names, float],
    ) -> Meeting:
        """Equations about none of the tables are left out."""
        placed = []
        for equation in equations:
            holder = next((n for n in tables if set(equation.attributes) <= set(n)), None)
            if holder is not None:
                placed.append((holder, equation.over(holder, sizes), equation.value))
        moves = []
        for holder, coefficients, _ in placed:
            told = {names: np.zeros([sizes[n] for n in names]) for names in tables}
            told[holder] = variances.get(holder, 1.0) * coefficients
            moves.append(project(told))
        return Meeting(project, tuple(placed), tuple(moves))

    def __call__(self, tables: Arrays) -> dict[Names, FloatArray]:
        nearest = self.project(tables)
        if not self.placed:
            return nearest
        gram = np.array([self._values(move) for move in self.moves]).T
        missing = np.array([value for _, _, value in self.placed]) - self._values(nearest)
        steps = np.linalg.lstsq(gram, missing, rcond=_RANK)[0]
        for step, move in zip(steps.tolist(), self.moves, strict=True):
            for names, change in move.items():
                nearest[names] = nearest[names] + step * change
        return nearest

    def _values(self, tables: Arrays) -> FloatArray:
        return np.array([float((c * tables[holder]).sum()) for holder, c, _ in self.placed])
