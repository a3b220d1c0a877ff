"""Local search: marginals that cover a workload, improved one attribute at a time.

Every block keeps its share of the budget while it gains or loses an attribute, or is dropped
altogether; the move that lowers the error after least squares most is made, until none does. Shares
are optimised again afterwards.
"""

from __future__ import annotations

import math

import numpy as np

from eke.arrays import FloatArray
from eke.inference.residuals import Names
from eke.planning.workload.lattice import Lattice
from eke.planning.workload.strategy.blocks import MOST_CELLS
from eke.privacy.measure import Measure

MOST_WORK = 3_000_000
"""Blocks times attributes times components: beyond, a round of moves takes too long."""
_MOST_MOVES = 60
_GAIN = 1e-9


def improved(
    lattice: Lattice, marginals: list[Names], noise_variances: FloatArray, measure: Measure
) -> list[Names]:
    """Marginals from which no single move leads to a smaller error, by the noise given."""
    names = lattice.workload.domain.in_order({n for target in lattice.targets for n in target})
    used = np.isfinite(noise_variances)
    blocks = [block for block, kept in zip(marginals, used, strict=True) if kept]
    if len(blocks) * len(names) * len(lattice.sets) > MOST_WORK:
        return blocks
    search = _LocalSearch(lattice, blocks, noise_variances[used], measure)
    for _ in range(_MOST_MOVES):
        if not search.move(names):
            break
    return search.blocks


class _LocalSearch:
    """Blocks with fixed shares of the budget, and the information that they give together."""

    def __init__(
        self, lattice: Lattice, blocks: list[Names], noise_variances: FloatArray, measure: Measure
    ) -> None:
        self.blocks = list(blocks)
        self._lattice = lattice
        self._power = measure.variance_power  # information is share ** power
        self._shares = noise_variances ** (-1.0 / self._power)
        self._rows = np.array([self._row(block) for block in blocks])
        # A target stays covered even along attributes of one value, which no error depends on.
        self._needed = lattice.importance > 0.0
        self._needed[[lattice.index[target] for target in lattice.targets]] = True
        self._error = self._error_of(self._information(), float(self._shares.sum()))

    def _row(self, block: Names) -> FloatArray:
        row = np.zeros(len(self._lattice.sets))
        below = self._lattice.below(block)
        row[below] = self._lattice.cells[below] / self._lattice.size(block)
        return row

    def _information(self) -> FloatArray:
        return np.asarray(self._shares**self._power @ self._rows)

    def _error_of(self, information: FloatArray, paid: float) -> float:
        known = information[self._needed]
        if not (known > 1e-12 * information.max()).all():
            return math.inf
        error = float(np.sum(self._lattice.importance[self._needed] / known))
        return float(paid**self._power) * error

    def move(self, names: Names) -> bool:
        """Make the best move; False when there is none."""
        best = self._error * (1.0 - _GAIN)
        chosen: tuple[int, Names | None] | None = None
        information, paid = self._information(), float(self._shares.sum())
        known = set(self.blocks)
        for place, block in enumerate(self.blocks):
            share = float(self._shares[place])
            rest = information - share**self._power * self._rows[place]
            error = self._error_of(rest, paid - share) if len(self.blocks) > 1 else math.inf
            if error < best:
                best, chosen = error, (place, None)
            for changed in _neighbours(block, names):
                if changed in known or self._lattice.size(changed) > MOST_CELLS:
                    continue
                error = self._error_of(rest + share**self._power * self._row(changed), paid)
                if error < best:
                    best, chosen = error, (place, changed)
        if chosen is None:
            return False
        place, replacement = chosen
        if replacement is None:
            del self.blocks[place]
            self._shares = np.delete(self._shares, place)
            self._rows = np.delete(self._rows, place, axis=0)
        else:
            self.blocks[place] = replacement
            self._rows[place] = self._row(replacement)
        self._error = best
        return True


def _neighbours(block: Names, names: Names) -> list[Names]:
    """The block with one attribute more or less."""
    held = set(block)
    neighbours = []
    for name in names:
        changed = held ^ {name}
        if changed:
            neighbours.append(tuple(n for n in names if n in changed))
    return neighbours
