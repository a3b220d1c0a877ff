"""A synthetic table: rows fitted to marginals that are selected privately, as the budget allows.

Measure every attribute by itself; then turn by turn let the private selection name the marginals of
two and three attributes that the rows so far explain worst, measure them over groups of values no
finer than the noise allows (`candidates.py`), and fit the rows again (`fitted_rows.py`). When
measuring no longer teaches anything, the noise becomes less and the groups finer (as in AIM,
McKenna et al. 2022). Data is touched by the `Curator` alone, which is handed in: it pays for and
records everything it does.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Protocol

import numpy as np

from eke.arrays import Codes, FloatArray
from eke.domain import Domain, Integer
from eke.privacy.law import Gaussian, Laplace, NoiseLaw
from eke.privacy.measure import Measure
from eke.publish.association import Association, NoisyPair
from eke.publish.candidates import OfferedMarginals, attribute_sets
from eke.publish.coarse import CoarseMarginal, groups_of_values
from eke.publish.column_counts import ColumnCounts, GroupCounts, spread_doubt
from eke.publish.fitted_rows import FittedRows, WantedTable
from eke.publish.publisher import MOST_ROWS, within_most_rows
from eke.publish.purpose import Purpose
from eke.publish.recipe import Recipe
from eke.publish.row_accuracy import GroupNoise, Lesson, RowAccuracy, spread_of
from eke.publish.row_rules import RowRules
from eke.publish.selection import (
    Candidate,
    mean_distance,
    measuring_law,
    selection_epsilon,
    split_of_singles,
)
from eke.publish.sharpening import sharpened

if TYPE_CHECKING:
    import pandas as pd

LEAST_STEP = 0.5
"""Of what a step was to lose: with less left than this there is no other."""
_MOST_RECORDS = 2.0**40  # with hardly any budget, noise is beyond any table


class Curator(Protocol):
    """Who may touch the data: the engine's junction, or a simulation in an evaluation."""

    @property
    def left(self) -> float:
        """The loss, of a record that is added, that may still be spent."""
        ...

    def measure(
        self, block: CoarseMarginal, law: Laplace | Gaussian
    ) -> tuple[FloatArray, NoiseLaw]:
        """(noisy counts, the law of the noise really drawn); paid for and recorded."""
        ...

    def choose(self, candidates: Sequence[Candidate], epsilon: float, picks: int) -> list[int]:
        """Indices drawn by the exponential mechanism over `selection.scores`, each paid for."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Synthesis:
    """A synthetic table as codes, and what it was made from."""

    domain: Domain
    codes: Codes  # (rows, attributes)
    total: float  # the estimated number of records
    measured: tuple[CoarseMarginal, ...]  # in the order they were chosen
    distance: float  # of the rows from what was measured, in deviations of its noise
    accuracy: RowAccuracy

    def chosen(self, ways: int) -> list[list[str]]:
        """The sets of so many attributes that were measured, each once, in order."""
        sets = dict.fromkeys(one.attributes for one in self.measured)
        return [list(names) for names in sets if len(names) == ways]

    def table(self) -> pd.DataFrame:
        """The rows in the table's own schema."""
        return decoded(self.domain, self.codes)


def synthesise(
    domain: Domain,
    curator: Curator,
    singles: Sequence[tuple[FloatArray, NoiseLaw]],
    measure: Measure,
    *,
    rows: int | None = None,
    most_rows: int = MOST_ROWS,
    recipe: Recipe | None = None,
    sets: Sequence[tuple[str, ...]] | None = None,
    rules: RowRules | None = None,
    purpose: Purpose | None = None,
) -> Synthesis:
    """A synthetic table for what a curator may spend, after noisy counts of each attribute alone.

    As many rows as the table is estimated to have, or `rows`; `sets` are the attributes that may be
    measured together, `rules` what public facts demand of the rows, and `purpose` what matters
    more in them. Privacy: the curator pays
    for each step, and refuses what goes beyond its allowance. The same noisy numbers give the same
    rows.
    """
    given = Recipe() if recipe is None else recipe
    together = attribute_sets(domain.names, given) if sets is None else sets
    work = _Workshop(domain, curator, singles, recipe=given, measure=measure, sets=together)
    work.purpose = work.purpose if purpose is None else purpose
    work.measure_singles_again()
    work.measure_in_groups()
    work.begin()
    while work.measure_more():
        work.fit(work.recipe.sweeps)
    wanted = within_most_rows(work.total, most_rows)[0] if rows is None else rows
    return work.finished(wanted, rules)


@cache
def rehearse() -> None:
    """Fit two rows to one table: whatever is wrong with the compiler shows before a charge."""
    domain = Domain({"a": Integer(0, 1), "b": Integer(0, 1)})
    even = {name: np.full(2, 0.5) for name in domain.names}
    rows = FittedRows.independent(domain, even, 2.0, 2, seed=0)
    every = np.arange(2, dtype=np.int64)
    both = CoarseMarginal(domain, domain.names, (every, every))
    rows.add(WantedTable(both, np.array([1.0, 0.0, 0.0, 1.0]), 1.0))
    rows.improve(1)


def decoded(domain: Domain, codes: Codes) -> pd.DataFrame:
    """Rows of codes as a table of the domain's labels."""
    import pandas as pd  # noqa: PLC0415 - slow to load

    return pd.DataFrame(
        {
            name: np.array(attribute.labels, dtype=object)[codes[:, column]]
            for column, (name, attribute) in enumerate(domain.attributes)
        }
    )


class _Workshop:
    """The state of a synthesis: what was measured so far, and the rows fitted to it."""

    def __init__(
        self,
        domain: Domain,
        curator: Curator,
        singles: Sequence[tuple[FloatArray, NoiseLaw]],
        *,
        recipe: Recipe,
        measure: Measure,
        sets: Sequence[tuple[str, ...]],
    ) -> None:
        self.domain, self.curator, self.recipe, self.measure = domain, curator, recipe, measure
        every = [np.arange(size, dtype=np.int64) for size in domain.shape]
        self._singles = [
            CoarseMarginal(domain, (name,), (own,))
            for name, own in zip(domain.names, every, strict=True)
        ]
        self._known = [ColumnCounts(values, law.variance) for values, law in singles]
        self._in_groups: dict[int, GroupCounts] = {}
        self._sets = sets
        self.purpose = Purpose({})
        self._measured: list[CoarseMarginal] = []
        self._loss_each = self._deviation = 0.0
        self._picks = 1
        self._taught: list[Lesson] = []  # by every table that was measured
        self._lessons: list[bool] = []  # whether what was measured last taught anything
        self._offer: OfferedMarginals | None = None
        self._of_numbers: dict[tuple[str, ...], list[NoisyPair]] = {}  # pairs in an order
        self._sum_up()

    def measure_singles_again(self) -> None:
        """Attributes once more, as far as noise drowns them and a block has room for them."""
        errors = [one.deviation * math.sqrt(2.0 / math.pi) * len(one.values) for one in self._known]
        error = float(np.mean(errors)) / (2.0 * self.total)
        share = self.recipe.singles_again(error) / (1.0 - self.recipe.singles_share)
        if not share * self.curator.left > 0.0:
            return
        losses = split_of_singles(self.domain.shape, share * self.curator.left, self.measure)
        for place, (block, loss) in enumerate(zip(self._singles, losses, strict=True)):
            if block.coefficients > self.recipe.most_coefficients:
                continue
            values, law = self.curator.measure(block, measuring_law(loss, self.measure))
            self._known[place] = self._known[place].with_more(values, law.variance)
        self._sum_up()

    def measure_in_groups(self) -> None:
        """Ordered attributes once more, in groups of values, where noise makes their spread."""
        recipe, left = self.recipe, self.curator.left
        if not left > 0.0:
            return
        share = recipe.singles_share / (1.0 - recipe.singles_share)  # as much as at first
        losses = split_of_singles(self.domain.shape, share * left, self.measure)
        groups = groups_of_values(self.domain, self._shares, most=recipe.spread_groups)
        for place, (name, attribute) in enumerate(self.domain.attributes):
            known, block = self._known[place], CoarseMarginal(self.domain, (name,), (groups[name],))
            doubt = spread_doubt(self._shares[name], known.deviation, self.total)
            if (
                attribute.is_ordered
                and doubt > recipe.spread_error
                and 2 * block.cells <= attribute.size
                and block.coefficients <= recipe.most_coefficients
            ):
                law = measuring_law(losses[place], self.measure)
                values, drawn = self.curator.measure(block, law)
                self._in_groups[place] = GroupCounts(block, values, drawn.variance)
        self._sum_up()

    def begin(self) -> None:
        """Rows whose columns are independent, and how the rest of the budget is divided."""
        recipe = self.recipe
        number = recipe.fitted_rows(self.total)
        seed = self._seed()
        self._source = np.random.default_rng(seed)
        self.rows = FittedRows.independent(self.domain, self._shares, self.total, number, seed)
        for place, (block, known) in enumerate(zip(self._singles, self._known, strict=True)):
            wanted = known.values
            if place in self._in_groups:  # what noise alone would put far out is not wanted there
                wanted = self._shares[block.attributes[0]]
                again = self._in_groups[place]
                self.rows.add(WantedTable(again.marginal, again.values, again.variance**0.5))
            self.rows.add(WantedTable(block, wanted, known.deviation))
        left = self.curator.left
        if not left > 0.0:
            return
        alone = measuring_law((1.0 - recipe.selection_share) * left, self.measure)
        steps = recipe.steps(len(self.domain), self.total, alone.variance**0.5)
        self._set_loss(left / steps)
        self._picks = max(1, steps // recipe.passes)

    def measure_more(self) -> bool:
        """Choose marginals privately and measure them; False when nothing is left to do so with."""
        left, picks = self.curator.left, self._picks
        if self._offer is None or left < LEAST_STEP * self._loss_each:
            return False
        if left < 2.0 * picks * self._loss_each:  # the last turn takes all
            picks = max(1, int(left / self._loss_each))
            self._set_loss(left / picks)
        candidates = self._candidates()
        if not candidates:
            return False  # what is left stays unspent
        epsilon = selection_epsilon(self.recipe.selection_share * self._loss_each, self.measure)
        chosen = self.curator.choose(candidates, epsilon, min(picks, len(candidates)))
        law = self._law()
        self._lessons = []
        for place in chosen:
            block, expected = candidates[place].marginal, candidates[place].expected
            values, drawn = self.curator.measure(block, law)
            self._measured.append(block)
            deviation = drawn.variance**0.5
            self._taught.append(Lesson(expected, values, deviation))
            wanted, doubt = self._add(NoisyPair(block, values, deviation), expected)
            self._lessons.append(float(np.abs(wanted - expected).sum()) > doubt)
        return True

    def _add(self, table: NoisyPair, expected: FloatArray) -> tuple[FloatArray, float]:
        """Have rows agree with a table; what is wanted of them there, and the doubt left in that.

        Numbers follow a smooth law inside groups, and counts are drawn towards that if it says
        more of them than the rows did.
        """
        block = table.marginal
        association = self._association(table)
        if association is None:
            wanted, doubt = sharpened(table.values, expected, table.deviation)
            self.rows.add(WantedTable(block, wanted, table.deviation))
            return wanted, doubt
        smooth = association.expected(block)
        nearer = table.misfit(smooth) < table.misfit(expected)
        wanted, doubt = sharpened(table.values, smooth if nearer else expected, table.deviation)
        inside = association.inside(block, wanted)
        self.rows.add(
            WantedTable(block, wanted, table.deviation),
            WantedTable(association.fine, inside, table.deviation),
        )
        return wanted, doubt

    def _association(self, table: NoisyPair) -> Association | None:
        names = table.marginal.attributes
        if len(names) != 2 or not all(self.domain[name].is_ordered for name in names):
            return None
        tables = self._of_numbers.setdefault(names, [])
        tables.append(table)
        return Association.of(self.domain, self._shares, self.total, tables)

    def fit(self, sweeps: int) -> None:
        """Fit the rows; less noise from here on if what was measured last taught too little."""
        self.rows.improve(sweeps)
        if 2 * sum(self._lessons) < len(self._lessons):
            left = self.curator.left
            if left >= self._loss_each:
                self._picks = max(1, min(self._picks, int(left / self._loss_each)))
                self._set_loss(min(self._loss_each * self.recipe.patience, left / self._picks))

    def finished(self, wanted: int, rules: RowRules | None = None) -> Synthesis:
        """So many rows, fitted once more, and as public facts have them."""
        recipe = self.recipe
        wanted = wanted if rules is None else rules.rows_near(wanted)
        self.rows.improve(recipe.last_sweeps)
        rows = self.rows
        if wanted != len(rows.codes) and wanted > 0:
            rows = rows.resized(wanted)
            if wanted <= recipe.most_rows:
                rows.improve(recipe.sweeps)
        codes = rows.codes if wanted > 0 else rows.codes[:0]
        codes = codes if rules is None else rules.kept_by(codes)
        rows = rows.with_codes(codes) if len(codes) else rows
        distance = float(np.sqrt(np.mean(rows.distances() ** 2)))
        measured, accuracy = tuple(self._measured), self._accuracy()
        return Synthesis(self.domain, codes, self.total, measured, distance, accuracy)

    def _accuracy(self) -> RowAccuracy:
        """What was released about the errors of the rows."""
        precision = sum(1.0 / (len(one.values) * one.variance) for one in self._known)
        return RowAccuracy(
            self.total,
            1.0 / precision,
            spread_of(self._taught),
            max((len(names) for names in self._sets), default=1),
            {
                name: single.variance
                for name, single in zip(self.domain.names, self._known, strict=True)
            },
            {
                self.domain.names[place]: GroupNoise(again.starts, again.variance)
                for place, again in self._in_groups.items()
            },
        )

    def _candidates(self) -> list[Candidate]:
        if self._offer is None:
            return []
        marginals, law = self._offer.marginals, self._law()
        sizes = np.array([one.cells + one.coefficients for one in marginals], np.int64)
        most, room = self.recipe.most_options, self.recipe.most_numbers
        if len(marginals) > most or sizes.sum() > room:  # each turn offers others of them
            some = self._source.permutation(len(marginals))[:most]
            some = some[np.cumsum(sizes[some]) <= room]
            marginals = [marginals[place] for place in np.sort(some)]
        expected = self.rows.expected(marginals)
        noise = [mean_distance(law, one.cells) for one in marginals]
        weights = self.purpose.weights([one.attributes for one in marginals])
        return [
            Candidate(block, counts, distance, weight)
            for block, counts, distance, weight in zip(
                marginals, expected, noise, weights, strict=True
            )
        ]

    def _law(self) -> Laplace | Gaussian:
        return measuring_law((1.0 - self.recipe.selection_share) * self._loss_each, self.measure)

    def _set_loss(self, loss: float) -> None:
        """The loss of each measurement with its choice, and what is on offer for that."""
        self._loss_each = loss
        deviation = self._law().variance ** 0.5
        if self._offer is None or deviation < 0.9 * self._deviation:
            self._deviation = deviation
            self._offer = OfferedMarginals(
                self.domain,
                self._shares,
                self.total,
                self._sets,
                self.recipe,
                deviation=deviation,
            )

    def _sum_up(self) -> None:
        precisions = [1.0 / (len(one.values) * one.deviation**2) for one in self._known]
        sums = [float(one.values.sum()) for one in self._known]
        total = float(np.average(sums, weights=precisions))
        self.total = min(max(total, 1.0), _MOST_RECORDS)
        self._shares = {
            name: known.shares(self._in_groups.get(place), self.total)
            for place, (name, known) in enumerate(zip(self.domain.names, self._known, strict=True))
        }

    def _seed(self) -> int:
        digest = hashlib.sha256()
        for single in self._known:
            digest.update(single.values.astype("<f8").tobytes())
        return int.from_bytes(digest.digest()[:4], "little")
