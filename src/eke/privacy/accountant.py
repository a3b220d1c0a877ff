"""What a table has lost so far: the largest loss over all cells, certified, for any history.

A measurement with coefficients h costs a record in cell t exactly |h(t)|/b (pure) or h(t)²/2σ²
(zCDP). Losses of one cell add; the dataset's loss is their maximum over the cells (ONLINE Th. 3.8,
BAYES Th. 5.4). It depends on what was asked only, so it is a valid filter for adaptive questions.
See docs/proofs/accounting.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from eke.domain import Domain
from eke.errors import BudgetExceeded, PrivacyError
from eke.privacy.block_loss import block_cell_losses, block_loss
from eke.privacy.extremum import Extremum, maximum
from eke.privacy.law import (
    Charged,
    DiscreteGaussian,
    DiscreteLaplace,
    DiscreteLaw,
    Refinement,
)
from eke.privacy.loss_tables import LARGEST_TABLE, LARGEST_TOTAL, LossTables
from eke.privacy.measure import Measure
from eke.privacy.measures import measure_of
from eke.privacy.record_loss import NANO
from eke.privacy.stretches import Stops, stretched
from eke.query import Block, Neighbours, Query, Term, sensitivity
from eke.query.vector import height

Measured: TypeAlias = tuple[Block, Charged]
Cells = NDArray[np.int64]

BEYOND_ALL_LIMITS = 2**60
"""No limit is as large (`eke.privacy.budget.Limit`), so a measurement beyond it needs no tables."""
USUAL_EFFORT = 20_000_000
"""Work for a tight figure when the limit is far."""
EFFORT_NEAR_LIMIT = 100_000_000
"""Work before refusing: about half a second when all of it is used."""


@dataclass(frozen=True, slots=True)
class _Losses:
    """The losses of a list of measurements, in the sums that bound the dataset's loss."""

    cells: LossTables  # every measurement, cell by cell; without numbers of people, if there are
    blocks: LossTables  # blocks of several answers only
    all_alone: int = 0  # Σ over all measurements of their own loss
    singles_alone: int = 0  # the same over single queries
    people: LossTables | None = None  # numbers of people, cell by cell, as if records were counted
    people_alone: int = 0  # Σ of what a unit loses by each of them, however many records it has


class Accountant:
    """The accumulated loss of one protected table, in integer nano-units.

    Privacy: every figure is an upper bound of the true loss. Under `replace_one` a record moves
    from a cell to another: its loss is at most the sum of both cells' losses, and at most the sum
    of the measurements' own sensitivities; the smaller certified figure counts. A unit of k rows
    multiplies a pure loss by k and a zCDP loss by k² (group privacy), but for numbers of people,
    which it moves by one: two bounds hold for these, and the smaller counts (accounting.md, §5).
    """

    def __init__(
        self, domain: Domain, measure: Measure, neighbours: Neighbours, rows_per_unit: int = 1
    ) -> None:
        self.measure = measure
        self.neighbours: Neighbours = neighbours
        if type(rows_per_unit) is not int or rows_per_unit < 1:  # NumPy's integers wrap around
            raise PrivacyError("a unit has a whole number of rows, at least one")
        self._rows = rows_per_unit
        self._factor = measure.group_factor(rows_per_unit)
        self.domain = domain
        self._empty = domain, measure, neighbours, rows_per_unit
        sizes = dict(zip(domain.names, domain.shape, strict=True))
        self._losses = _Losses(LossTables(sizes), LossTables(sizes))
        self._flat = 0
        self._spent = 0

    @property
    def spent(self) -> int:
        """The loss so far; never decreases."""
        return self._spent

    def empty(self) -> Accountant:
        """The accounts of the same table before anything was measured."""
        return Accountant(*self._empty)

    @property
    def sequential(self) -> int:
        """What the loss would be if every measurement touched every record: Σ of the prices."""
        losses = self._losses
        return self._flat + self._factor * losses.all_alone + losses.people_alone

    def price(self, block: Block, law: Charged) -> int:
        """The loss of one measurement by itself."""
        return self.times_a_record(block) * self._own_loss(block, law)

    def times_a_record(self, block: Block) -> int:
        """How many times as much as one record a unit loses by a block.

        Privacy: group privacy; by numbers of people a unit of k rows loses at most once for each of
        the k groups that it can be in.
        """
        if not self._counts_people(block):
            return self._factor
        return 1 if block.is_single else min(self._rows, block.cells)

    def price_of_choice(
        self, reach: int, law: DiscreteLaplace, *, replaced: int | None = None
    ) -> int:
        """The loss of an exponential mechanism with chances ∝ exp(score / laplace_scale).

        Privacy: `reach` is the most that an added record moves a score, in whole units; a replaced
        one moves it twice as far, unless `replaced` says that it is less. With Δ = that, the loss
        is 2Δ/b, and as zCDP (Δ/b)²/2: the range of the privacy loss is 2Δ/b (Cesar and Rogers
        2021). See docs/proofs/selection.md.
        """
        moved = reach
        if self.neighbours != "add_remove":
            moved = 2 * reach if replaced is None else min(replaced, 2 * reach)
        ratio = Fraction(moved) / (law.steps * Fraction(2) ** law.exponent)
        return self._factor * math.ceil(NANO * self.measure.loss_of_choice(ratio))

    def after(self, block: Block, law: Charged, limit: int) -> int:
        """The certified loss after one more measurement; see `after_all`."""
        return self.after_all([(block, law)], limit)

    def after_all(self, measured: Sequence[Measured], limit: int, flat: int = 0) -> int:
        """The certified loss after some more measurements, and `flat` for every record on top.

        Exact or tight when that is cheap; when it would pass the limit, as tight as certification
        can make it.
        """
        flat += self._flat
        limit = max(limit - flat, 0)
        losses = self._losses
        for block, law in measured:
            if self.price(block, law) >= BEYOND_ALL_LIMITS:
                return BEYOND_ALL_LIMITS
            try:
                losses = self._with(losses, block, law)
            except BudgetExceeded:  # sums outside of exact integers are beyond all limits as well
                return BEYOND_ALL_LIMITS
        if self.neighbours == "add_remove":
            loss = self._loss_of_unit(losses, limit)
        else:
            half = limit // (2 * self._factor)
            loss = self._factor * min(
                losses.all_alone,
                2 * _certified(losses.cells, half),
                2 * _certified(losses.blocks, half) + losses.singles_alone,
            )
        return max(self._spent, flat + loss)

    def _loss_of_unit(self, losses: _Losses, limit: int) -> int:
        """A bound of what a unit loses that comes or goes with all of its rows.

        Privacy: with R and D what a record in a cell loses by counts of records and of people, a
        unit of order p and k rows in cells c₁ … loses at most Σ (k^(p-1)·R + D)(cᵢ), so at most k
        times the largest of these; and at most k^p·max R and what it loses by each number of people
        alone. See docs/proofs/accounting.md, §5.
        """
        by_records = self._factor * _certified(losses.cells, limit // self._factor)
        if losses.people is None:
            return by_records
        apart = by_records + losses.people_alone
        try:
            together = losses.people.copy()
            for table in losses.cells:
                cells = _multiplied(table.cells.copy(), self._factor // self._rows)
                together.add(table.attributes, cells, table.stops)
        except BudgetExceeded:
            return apart
        return min(apart, self._rows * _certified(together, limit // self._rows))

    def charge_everyone(self, loss: int, spent_after: int) -> None:
        """Take into account a loss that every record has, as by row scores and choices."""
        self._flat += loss
        self._spent = max(self._spent, spent_after)

    def add(self, block: Block, law: Charged, spent_after: int) -> None:
        """Take a charged measurement into account, with the loss that the ledger recorded."""
        self._losses = self._with(self._losses, block, law)
        self._spent = max(self._spent, spent_after)

    def _with(self, before: _Losses, block: Block, law: Charged) -> _Losses:
        loss = self._own_loss(block, law)
        if loss == 0:  # no neighbour can change the answer: a total that is public, or nothing
            return before
        added = self._cell_losses(block, law)
        if self._counts_people(block):
            people = LossTables(before.cells.sizes) if before.people is None else before.people
            people = people.copy()
            for losses in added:
                people.add(*losses)
            alone = before.people_alone + self.price(block, law)
            return replace(before, people=people, people_alone=alone)
        cells, blocks = before.cells.copy(), before.blocks
        for losses in added:
            cells.add(*losses)
        singles_alone = before.singles_alone
        if block.is_single:
            singles_alone += loss
        else:
            blocks = before.blocks.copy()
            for losses in added:
                blocks.add(*losses)
        return replace(
            before,
            cells=cells,
            blocks=blocks,
            all_alone=before.all_alone + loss,
            singles_alone=singles_alone,
        )

    def _counts_people(self, block: Block) -> bool:
        """Whether a unit loses less by a block than its records do, one by one."""
        if block.people and self.neighbours != "add_remove":
            raise PrivacyError("people are counted where whole ids come and go: add_remove")
        return block.people and self._rows > 1

    def _cell_losses(self, block: Block, law: Charged) -> list[CellLosses]:
        """The loss of a record in each cell, to be added up over the two cells it moves between."""
        if self.neighbours == "add_remove":
            return cell_losses(block, law)
        inside = block.inside
        if inside is None:  # coefficients may have both signs
            return cell_losses(block, law, signed=True)
        if block.is_single:
            inside = _without_offset(inside)
        low, high = inside.extremes()
        return cell_losses(inside, law, signed=low < 0 < high)

    def _own_loss(self, block: Block, law: Charged) -> int:
        if measure_of(law) is not self.measure:
            raise PrivacyError(f"this table's losses are in {self.measure}; the noise's are not")
        inside = block.inside
        if inside is None:
            once = block_loss(block, _discrete(law))
            return once if self.neighbours == "add_remove" else self.measure.raised(2) * once
        if self.neighbours == "add_remove" or block.is_single:
            return law.loss_nano(sensitivity(inside, self.neighbours))
        # A record leaves a cell for another, two answers change; or it stays and changes one.
        low, high = inside.extremes()
        return max(2 * law.loss_nano(max(abs(low), abs(high))), law.loss_nano(high - low))


def _discrete(law: Charged) -> DiscreteLaw | Refinement:
    if not isinstance(law, (DiscreteLaplace, DiscreteGaussian, Refinement)):
        raise PrivacyError("a block of products is measured with discrete noise only")
    return law


def _without_offset(query: Query) -> Query:
    """The query less what all cells have in common, which a replaced record cannot change."""
    if not query.domain.total:
        return query
    low, high = query.extremes()
    offset = low if low > 0 else min(high, Fraction(0))
    return Query.unrounded(query.domain, [*query.terms, Term(-offset, ())])


def _certified(tables: LossTables, enough: int) -> int:
    """An upper bound of the largest loss of a cell, tighter where the limit is near."""
    if tables.total == 0:
        return 0
    tables = tables.aligned()
    bounds = _usual_bounds(_Content(tables.digest, tables))
    if bounds.upper <= enough or bounds.lower > enough or bounds.exact:
        return bounds.upper
    return min(bounds.upper, maximum(tables, enough=enough, effort=EFFORT_NEAR_LIMIT).upper)


@dataclass(frozen=True, slots=True)
class _Content:
    """Loss tables, equal when their content is."""

    digest: bytes
    tables: LossTables = field(compare=False)


@lru_cache(maxsize=8)
def _usual_bounds(content: _Content) -> Extremum:
    """The bounds of the largest loss, kept: a question is priced and then charged for the same.

    Privacy: `maximum` is a function of the tables' content, which the digest stands for, and of
    nothing else; what is kept is what would be worked out again.
    """
    return maximum(content.tables, effort=USUAL_EFFORT)


class CellLosses(NamedTuple):
    """The loss of a record by its values of some attributes, sorted by name.

    Of an attribute in `stops` the axis has an entry for each stretch, else for each value.
    """

    attributes: tuple[str, ...]
    cells: Cells
    stops: Mapping[str, Stops]


def cell_losses(block: Block, law: Charged, *, signed: bool = False) -> list[CellLosses]:
    """The loss of a record in each cell, as a sum of small tables.

    Privacy: exact for supports up to LARGEST_TABLE cells, columns of very many values counting by
    the stretches on which they are alike; beyond, |q| is bounded term by term and
    each term by its largest value over the attributes that are left out, never from below. A
    record contributes to one answer of a block that has an `inside`, with its coefficient; the
    losses of a block that is no product either are those of its questions, added up.
    """
    # |a-b|^p <= |a|^p + |b|^p needs a·b >= 0; else 2^(p-1) times that: twice for squares.
    order = measure_of(law).order
    repeat = 2 ** (order - 1) if signed else 1
    inside = block.inside
    if inside is None:
        whole = block_cell_losses(block, _discrete(law), LARGEST_TABLE)
        if whole is not None:
            return [CellLosses(whole[0], _multiplied(whole[1], repeat), {})]
        return [one for query in block.queries() for one in cell_losses(query, law, signed=signed)]
    narrow = stretched(inside)
    queries, stops = narrow.queries, narrow.stops
    if len(queries) == 1 and queries[0].support_size <= LARGEST_TABLE:
        whole = _exact_table(queries[0], law)
        if whole is not None:
            return [_with_stops(whole, stops, repeat)]
    terms = [(query, term) for query in queries for term in query.terms]
    # (h_1 + ... + h_L)² <= L (h_1² + ... + h_L²); absolute values just add.
    spread = len(terms) ** (order - 1)
    parts = (_term_table(query, term, law) for query, term in terms)
    return [_with_stops(part, stops, repeat * spread) for part in parts]


def _with_stops(
    table: tuple[tuple[str, ...], Cells], stops: Mapping[str, Stops], factor: int
) -> CellLosses:
    names, cells = table
    along = {name: stops[name] for name in names if name in stops}
    return CellLosses(names, _multiplied(cells, factor), along)


def _multiplied(cells: Cells, factor: int) -> Cells:
    """The losses multiplied in place, or an error: int64 would wrap around in silence."""
    if int(cells.max()) * factor >= LARGEST_TOTAL:
        raise BudgetExceeded("the loss of one measurement is beyond the range of exact integers")
    # `out` keeps a table over no attribute an array; NumPy would make it a scalar.
    return np.multiply(cells, factor, out=cells)


def _exact_table(query: Query, law: Charged) -> tuple[tuple[str, ...], Cells] | None:
    try:
        table = query.table()
    except ValueError:
        return None
    names = query.attributes
    order = sorted(range(len(names)), key=lambda i: names[i])
    losses = law.loss_nano_array(table, query.exponent)
    return tuple(sorted(names)), np.array(losses.transpose(order))


def _term_table(query: Query, term: Term, law: Charged) -> tuple[tuple[str, ...], Cells]:
    # Keep the attributes that exclude most cells; bound the others by their largest value.
    by_selectivity = sorted(
        term.factors, key=lambda f: float(np.abs(f[1]).mean()) / float(np.abs(f[1]).max())
    )
    factors: list[tuple[str, Cells]] = []
    weight = term.weight
    for name, vector in by_selectivity:
        size: int = math.prod([len(v) for _, v in factors])
        if size * len(vector) <= LARGEST_TABLE:
            factors.append((name, vector))
        else:
            weight *= height(vector)
    # Unrounded: putting the weight on the coefficient grid could make it smaller.
    projected = Query.unrounded(query.domain, [Term(weight, tuple(factors))])
    table = _exact_table(projected, law)
    if table is None:  # coefficients past 2**62: one bound for all cells
        loss = law.loss_nano(sensitivity(projected, "add_remove"))
        if loss >= LARGEST_TOTAL:
            raise BudgetExceeded(
                "the loss of one measurement is beyond the range of exact integers"
            )
        return (), np.array(loss, np.int64)
    return table
