"""Looks: small measurements that tell how large numbers are, so that the rest can be planned.

What ratios divide by is looked at first: at the beginning with so much noise that it costs next to
nothing, then with less and less. Only when that is clear are the sums looked at, once. Formulas
that bend need more than a glimpse: there all numbers behind them are looked at together.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from eke.inference import ComposedNoise, halfwidths
from eke.planning.online.decision import Decision
from eke.planning.online.divided_sum import DividedSum, divided_sums, divisors
from eke.planning.online.facts import Facts
from eke.planning.online.question_demand import QuestionDemand, demands_of
from eke.planning.online.rent import direct
from eke.planning.online.requirement import Demand, Requirement
from eke.privacy.record_loss import NANO
from eke.query import Query, sensitivity
from eke.question import AskedBlock

CLEAR = 0.25
"""A number is clear when its half-width is at most this share of it."""
BELOW = 0.8
"""Of the half-width that makes it clear: what a look aims at, so that it is clear afterwards."""
NARROWER = 3.0
"""By what a look makes an interval narrower where a number can hardly be told from 0."""
_CLOSER = math.sqrt(10.0)  # the same for what ratios divide by: two looks are one digit
_COARSE = 0.005  # of the limit: what a coarse look at one number costs
_FAINTER = 20.0  # by what the looks before the coarse one differ
_FAINTEST = _FAINTER**3  # times the noise of a coarse look: of the first one
_SMALLER = 0.6  # than the average: groups of this size are clear after a look made for all
_FEW_GROUPS = 8  # which are looked at themselves; of more, all together first
_LITTLE = 0.05  # of what is left, for a look at sums or at many groups
_MOST_ON_A_LOOK = 0.1  # of what is left, for one look at numbers that only help to plan


@dataclass(frozen=True, slots=True)
class Looks:
    """What to look at next, and the least that the whole can cost, as demands."""

    next: list[Demand]
    least: list[Demand]


def coarse_width(demand: QuestionDemand, facts: Facts, confidence: float) -> float:
    """The half-width after a coarse look at what a record moves by 1."""
    measured = (one for block in demand.question.blocks for one in block.measurable())
    times = max(map(facts.times_a_record, measured), default=1)
    noise_scale = facts.measure.noise_scale(1.0, _COARSE * max(1, facts.limit) / NANO / times)
    return noise_scale / direct(Requirement(1.0, confidence), None, facts.measure)


def clearer(value: float, width: float, coarse: float, closer: float = _CLOSER) -> float:
    """The half-width to look for where a value is not clear.

    Faint looks differ by much and cost little. The coarse one is not passed over: those after it
    cost more than a glimpse, and differ by less.
    """
    if width <= 1.01 * coarse:
        return width / closer
    return max(width / _FAINTER, coarse, BELOW * CLEAR * abs(value))


def first_looks(demand: QuestionDemand, facts: Facts, blocks: Sequence[int]) -> Looks:
    """Looks at some blocks of a question of which history does not say everything.

    Privacy: a function of public facts: the question, what was released before, and the limit.
    """
    coarse = coarse_width(demand, facts, demand.confidence)
    if not demand.curved:
        return Looks(_at_once(demand, blocks, _FAINTEST * coarse), [])
    below = [] if demand.bends else divisors(demand)
    sums = divided_sums(demand)
    many = len(demand.question.places) > _FEW_GROUPS
    whole = all(demand.question.counts_records(k) and _total(demand, k) is not None for k in below)
    if not below or (many and not whole):
        return Looks(_at_once(demand, blocks, coarse), [])
    sizes = {k: _Sizes.of(demand, facts, k, is_many=many) for k in below}
    looks = [one for size in sizes.values() for one in size.looks(facts, coarse)]
    least = [] if demand.relative else _least(demand, sums, sizes)
    if not looks:
        unknown = [one for one in sums if not _is_known(demand, facts, one.total)]
        looks = _at_sums(demand, unknown, sizes, facts)
    others = set(blocks) - {one.total for one in sums} - set(below)
    rest = [k for k in sorted(others) if not _is_known(demand, facts, k)]
    return Looks([*looks, *_at_once(demand, rest, coarse)], least)


@dataclass(frozen=True, slots=True)
class _Sizes:
    """What history says about an answer that sums are divided by."""

    demand: QuestionDemand
    block: int
    moved: float  # by one record
    rows: list[tuple[float, float]]  # (value, half-width) of each row; none if not all are known
    together: tuple[float, float] | None  # the same of all groups together, where there are many

    @staticmethod
    def of(demand: QuestionDemand, facts: Facts, block: int, *, is_many: bool) -> _Sizes:
        """What is known; with `groups_of`, groups count as no smaller than that."""
        moved = float(sensitivity(demand.question.blocks[block].inside, "add_remove")) or 1.0
        least = float(demand.groups_of or 0) if demand.question.counts_records(block) else 0.0
        rows = _known(facts, _queries(demand, block), demand.confidence)
        total = _total(demand, block) if is_many and not rows else None
        all_known = _known(facts, [] if total is None else [total], demand.confidence)
        return _Sizes(
            demand,
            block,
            moved,
            [(max(value, least), width) for value, width in rows],
            (max(all_known[0][0], 0.0), all_known[0][1]) if all_known else None,
        )

    def looks(self, facts: Facts, coarse: float) -> list[Demand]:
        """The next look, if they are not clear; all groups together first, where there are many.

        Every look at many groups is many answers in the history.
        """
        asked, sure = self.demand.question.blocks[self.block], self.demand.confidence
        total = _total(self.demand, self.block)
        many = len(self.demand.question.places) > _FEW_GROUPS
        if not self.rows and many and total is not None:
            if self.together is None:
                return [Demand(total, Requirement(_FAINTEST * coarse * self.moved, sure))]
            value, width = self.together
            if width > CLEAR * value:
                return [Demand(total, Requirement(self._next(value, width, coarse), sure))]
            wanted = [(asked, _SMALLER * CLEAR * self._average(value))]
            return _costing_little(wanted, facts, sure)
        if not self.rows:
            return demands_of(asked, Requirement(_FAINTEST * coarse * self.moved, sure))
        unclear = [
            self._next(value, width, coarse) for value, width in self.rows if width > CLEAR * value
        ]
        return demands_of(asked, Requirement(min(unclear), sure)) if unclear else []

    def _next(self, value: float, width: float, coarse: float) -> float:
        return max(BELOW * CLEAR * value, clearer(value, width, coarse * self.moved))

    def _average(self, value: float) -> float:
        groups = len(self.demand.question.places)
        return max(value / groups, float(self.demand.groups_of or 0), 1.0)

    def smallest(self) -> float | None:
        """The smallest row, as many records as it is known to be; None before that is known."""
        return min((value for value, _ in self.rows), default=None)

    def hoped(self) -> float | None:
        """The smallest row, as large as it may be; None before anything is known."""
        if self.rows:
            return min(value + width for value, width in self.rows)
        return None if self.together is None else self._average(sum(self.together))


def _queries(demand: QuestionDemand, block: int) -> list[Query]:
    """The queries of a block, of the rows that have a value."""
    question = demand.question
    queries = [question.query(block, row) for row in question.places]
    return [
        query
        for row, query in zip(question.places, queries, strict=True)
        if not (query.is_zero or question.is_null(block, row))
    ]


def _total(demand: QuestionDemand, block: int) -> Query | None:
    common = demand.question.blocks[block].common
    return None if common is None else common.without_constant()


def _known(facts: Facts, queries: Sequence[Query], confidence: float) -> list[tuple[float, float]]:
    """What history says about some queries, and half-widths; nothing if it leaves one open."""
    values: list[float] = []
    noises: list[ComposedNoise] = []
    for query in queries:
        linear = facts.inference.linear(query)
        if linear is None:
            return []
        values.append(linear[0])
        noises.append(linear[1])
    return list(zip(values, halfwidths(noises, confidence).tolist(), strict=True))


def _is_known(demand: QuestionDemand, facts: Facts, block: int) -> bool:
    return all(facts.inference.linear(query) is not None for query in _queries(demand, block))


def _at_once(demand: QuestionDemand, blocks: Iterable[int], width: float) -> list[Demand]:
    """A look at blocks, as far as they are moved by one record times some half-width."""
    demands = []
    for k in blocks:
        block = demand.question.blocks[k]
        moved = float(sensitivity(block.inside, "add_remove")) or 1.0
        demands += demands_of(block, Requirement(width * moved, demand.confidence))
    return demands


def _at_sums(
    demand: QuestionDemand, sums: Sequence[DividedSum], sizes: dict[int, _Sizes], facts: Facts
) -> list[Demand]:
    """A look at sums, once it is known how many records they are made of.

    Let an average of values that lie up to R apart be wrong by d. Then an answer to ±w costs more
    by a share of about d/R, and the look that tells it so well costs w/2d of it: together least at
    d² = w·R/2.
    """
    wanted = []
    for divided in sums:
        size = sizes[divided.below]
        records = (size.smallest() or 0.0) / size.moved
        share = min(CLEAR, math.sqrt(divided.share / 2.0))
        wanted.append((divided.centred(demand), BELOW * share * divided.span * max(records, 1.0)))
    return _costing_little(wanted, facts, demand.confidence)


def _costing_little(
    wanted: Sequence[tuple[AskedBlock, float]], facts: Facts, confidence: float
) -> list[Demand]:
    """Looks at blocks with half-widths, made wider until they cost little of what is left."""
    measure, left = facts.measure, max(1, facts.limit - facts.spent) / NANO
    scale = direct(Requirement(1.0, confidence), None, measure)
    usable = [(block, width) for block, width in wanted if width > 0.0]
    loss = sum(
        max(map(facts.times_a_record, block.measurable()), default=1)
        * measure.loss(float(sensitivity(block.inside, "add_remove")), width * scale)
        for block, width in usable
    )
    wider = max(1.0, float(measure.root(loss / (_LITTLE * left))))
    return [
        one
        for block, width in usable
        for one in demands_of(block, Requirement(wider * width, confidence))
    ]


def _least(
    demand: QuestionDemand, sums: Sequence[DividedSum], sizes: dict[int, _Sizes]
) -> list[Demand]:
    """What averages need at least: what records have more than the middle, if groups are large."""
    wanted = []
    for formula, _ in demand.curved:
        places = formula.aggregates()
        for divided in sums:
            hoped = sizes[divided.below].hoped()
            if (
                not divided.is_average
                or sorted({divided.total, divided.below}) != places
                or hoped is None
            ):
                continue  # differences of averages, for example, may need less
            within = divided.share * divided.span * max(hoped, 1.0)
            if 0.0 < within < math.inf:
                sure = Requirement(within, demand.confidence)
                wanted += demands_of(divided.centred(demand), sure)
    return wanted


def looked(decision: Decision, facts: Facts) -> Decision:
    """A decision to look first, refused when it would use up much of what is left."""
    left = facts.limit - facts.spent
    if decision.action == "measure" and decision.cost > _MOST_ON_A_LOOK * left:
        hint = "only to see how large the numbers behind it are; no more than a tenth goes to that"
        return replace(decision, action="refuse", plan=None, stretch=None, hint=hint)
    return decision
