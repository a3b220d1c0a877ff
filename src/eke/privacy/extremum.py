"""The certified maximum of a sum of small loss tables over a domain too large to enumerate.

`maximum` climbs a ladder and stops at the first rung that settles the question:

1. the sum of the tables' maxima (`upper_bound`);
2. a cell found by hill climbing, a lower bound;
3. loss moved between functions of two attributes (`shifted_pairs.py`, `shifted_tables.py`);
4. the same with all tables, on the values that are still in play;
5. variable elimination, exact when its tables are small enough (`eke.privacy.elimination`);
6. branch and bound within a budget (`eke.privacy.branch_bound`).

Whatever rung it ends on, `upper` is at least the true maximum. Work is counted in visited table
cells, never in seconds, and every step is a function of the tables alone: a decision can be
recomputed elsewhere, from the same questions in any order, with the same outcome.
"""

from __future__ import annotations

from dataclasses import dataclass

from eke.errors import PrivacyError
from eke.privacy.branch_bound import search
from eke.privacy.elimination import eliminate, elimination_order, exact_cells
from eke.privacy.hill_climb import climbed_cell, promising_cell
from eke.privacy.loss_tables import LARGEST_TOTAL, LossTables
from eke.privacy.shifted_pairs import Shifted, shifted

# Visited table cells; about a second when all of it is used.
DEFAULT_EFFORT = 200_000_000
# An elimination without splitting is run when its tables together have at most this many cells.
LARGEST_ELIMINATION = 2**22
# Tables of an elimination that must split, per part.
LARGEST_PART = 2**18
# A sweep that closes less than this fraction of the gap is followed by a search.
LEAST_GAIN = 4


@dataclass(frozen=True, slots=True)
class Extremum:
    """A maximum enclosed: lower ≤ max B ≤ upper.

    `witness` is a cell whose loss is `lower`; without one `lower` is zero. `exact` says that the
    bounds meet. When `enough` was given, `upper` is only as tight as that question needed.
    """

    upper: int
    lower: int
    exact: bool
    witness: dict[str, int] | None


def upper_bound(tables: LossTables) -> int:
    """Σ_a max T_a, a bound that no cell's loss exceeds."""
    return tables.total


def maximum(
    tables: LossTables, enough: int | None = None, effort: int = DEFAULT_EFFORT
) -> Extremum:
    """Bounds of max_t Σ_a T_a(t_a), exact unless the effort runs out.

    With `enough` the only question is whether the maximum is at most that number: the result is
    returned as soon as `upper <= enough` or `lower > enough`. If neither holds, the effort ran
    out and the answer must be taken from `upper`.

    Privacy: `upper` is never less than the loss of any cell, for any effort; refusing when
    `upper > enough` can refuse too much, never too little.
    """
    if effort < 0:
        raise PrivacyError("effort counts visited cells and cannot be negative")
    return _Ladder(tables, enough, effort).climbed()


class _Ladder:
    """The bounds known so far and the effort left."""

    def __init__(self, losses: LossTables, enough: int | None, effort: int) -> None:
        self.losses = losses
        self.enough = enough
        self.effort = effort
        self.upper = losses.total
        self.lower = 0
        self.witness: dict[str, int] | None = None

    @property
    def threshold(self) -> int:
        """The loss above which a cell would change the answer."""
        return self.lower if self.enough is None else max(self.lower, self.enough)

    @property
    def settled(self) -> bool:
        if self.enough is not None and (self.upper <= self.enough or self.lower > self.enough):
            return True
        return self.upper <= self.lower

    def climbed(self) -> Extremum:
        if not self.settled or self.enough is None:
            self._try_cell(promising_cell(self.losses))
        if not self.settled and self._fits_integers():
            self._shift_and_search()
        return Extremum(self.upper, self.lower, self.upper == self.lower, self.witness)

    def _fits_integers(self) -> bool:
        """Whether sums of shifted tables stay within int64, however the loss is moved.

        A table over r attributes becomes at most r² / 2 pairs; each may be as deep as the total.
        """
        tables = sum(1 + len(table.attributes) ** 2 for table in self.losses)
        return 8 * tables * self.losses.total < LARGEST_TOTAL

    def _shift_and_search(self) -> None:
        # Charged whether or not a cache holds the result, so that no outcome depends on it.
        pairwise_cost = sum(8 * table.cells.size for table in self.losses)
        if not self._pay(pairwise_cost):
            return
        pairs = shifted(self.losses, self.threshold)
        self._sweep(pairs)
        if self.settled:
            return
        if not self._pay(sum(table.cells.size for table in self.losses)):
            return
        all_tables = pairs.with_rests()
        self._sweep(all_tables)
        if not self.settled:
            self._search(all_tables)

    def _pay(self, cells: int) -> bool:
        if cells > self.effort:
            return False
        self.effort -= cells
        return True

    def _sweep(self, shifted: Shifted) -> None:
        """Shift loss until the bound settles the question or hardly moves."""
        self.upper = min(self.upper, max(shifted.constant, self.threshold))
        while not self.settled and self._pay(shifted.sweep_cost):
            gap = shifted.constant - self.threshold
            shifted.sweep(self.threshold)
            self.upper = min(self.upper, max(shifted.constant, self.threshold))
            if self.settled:
                return
            if (gap - (shifted.constant - self.threshold)) * LEAST_GAIN < gap:
                break
        self._try_cell(shifted.likely_cell())

    def _search(self, shifted: Shifted) -> None:
        """Eliminate what is left and look for cells that would change the answer."""
        sizes = {name: len(values) for name, values in shifted.values.items()}
        tables = shifted.tables
        scopes = sorted(tables)
        order = elimination_order(scopes, sizes)
        cells = exact_cells(scopes, order, sizes)
        largest_table = None
        if cells > LARGEST_ELIMINATION:
            largest_table = LARGEST_PART
            cells = LARGEST_ELIMINATION
        if not self._pay(cells):
            return
        elimination = eliminate(
            tables, order, constant=shifted.constant, largest_table=largest_table
        )
        finding = search(
            elimination,
            self.threshold,
            first_is_enough=self.enough is not None,
            budget=self.effort,
        )
        self.upper = min(self.upper, finding.upper)
        if finding.best is not None:
            cell = {name: int(values[0]) for name, values in shifted.values.items()}
            for step, position in zip(elimination.steps, finding.best, strict=True):
                cell[step.attribute] = int(shifted.values[step.attribute][position])
            self._try_cell(cell)

    def _try_cell(self, start: dict[str, int]) -> None:
        """Raise the lower bound by climbing from a cell."""
        cell = climbed_cell(self.losses, start)
        loss = self.losses.at(cell)
        if self.witness is None or loss > self.lower:
            self.lower, self.witness = loss, cell
