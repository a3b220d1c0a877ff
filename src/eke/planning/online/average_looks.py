"""Average looks: how many records averages are made of, and what to do next about them.

The number of records is looked at before anything else, and the sum as closely: faintly first, and
then for a fraction of what the answer costs at least, as far as that is known. When the number is
clear, all that the average needs is measured at once, and refines the looks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from eke.arrays import FloatArray
from eke.inference import ComposedNoise, halfwidths
from eke.planning.online.averages import Average, accurate, averages_of, offs
from eke.planning.online.decision import Decision, cost_of, decide_demands
from eke.planning.online.facts import Facts
from eke.planning.online.known_formulas import KnownFormulas
from eke.planning.online.look import cheaper, coarse, looked, small_groups
from eke.planning.online.policy import Policy
from eke.planning.online.price_search import least_stretch_for
from eke.planning.online.question_demand import QuestionDemand, demands_of, linear_demands
from eke.planning.online.requirement import Demand, Requirement

_MANY_RECORDS = 2.0**22  # in all groups together: the first look is made for so many
_OF_THE_ANSWER = 0.75  # times what it costs with half of all records that there may be: a look
_CLOSER = (8.0, 1000.0)  # by how much a look is closer than what is known, at least and at most
_CLEAR = 0.4  # the number of records is clear when its half-width is at most this share of it
_AIM = (0.05, 0.2)  # the share that a look aims at, where a number can be told from 0
_NEW = 0.7  # of the half-width that is known: a look must do better
_CAUTION = 0.35  # of its half-width, by which a number is taken to be smaller than it seems
_MANY_GROUPS = 4
_DEVIATION = 0.5  # the standard deviation of noise as a share of the half-width, at 95 %
_HARDLY_OFF = 0.2  # a look at a sum tells no better how far an average is from the middle
_USUAL = 1000  # records in each group, where nothing is known of them
_MOST_RECORDS = 1e12
_FEWER = 0.6  # than there are: so many records are the answer and the looks paid for


def decide_averages(
    demand: QuestionDemand,
    averages: Sequence[Average],
    known: KnownFormulas | None,
    facts: Facts,
    policy: Policy,
) -> Decision:
    """What to do next about averages of which history does not tell how many records they have.

    Privacy: a function of public facts: the question, the limit and what was released before.
    """
    numbers = {one.records: _Numbers.of(demand, facts, one.records) for one in averages}
    widths = {k: one.first(averages, facts) for k, one in numbers.items() if not one.rows}
    if widths:
        looks = _looks(demand, averages, numbers, widths)
        return looked(decide_demands(looks, facts, policy), facts)
    hint = small_groups(demand, min(numbers.values(), key=_Numbers.largest).smallest_group())
    unclear = {k: one for k, one in numbers.items() if not one.is_clear}
    sizes = {k: one.most() if unclear else one.least() for k, one in numbers.items()}
    off = None if known is None or unclear else offs(known, averages, _HARDLY_OFF)

    def wanted(stretch: float) -> list[Demand]:
        asked = [replace(one, within=stretch * one.within) for one in averages]
        relaxed = [one.relaxed(stretch) for one in linear_demands(demand)]
        return [*relaxed, *accurate(demand, asked, sizes, facts, off=off)]

    decision = decide_demands(wanted(1.0), facts, policy)
    if decision.action == "refuse":  # even if there are as many records as there may be
        stretch = _advice(lambda one: cost_of(wanted(one), facts, policy), decision.cost, facts)
        return replace(decision, stretch=stretch, hint=hint)
    if not unclear:
        return replace(decision, hint=hint)
    widths = {k: one.closer(averages, facts) for k, one in unclear.items()}
    looks = _looks(demand, averages, numbers, widths)
    cheap = cheaper(looks, facts)
    wider = cheap[0].requirement.within / looks[0].requirement.within
    tell = all(wider * widths[k] <= _NEW * one.widths.max() for k, one in unclear.items())
    decision = looked(decide_demands(cheap if tell else looks, facts, policy), facts)
    return replace(decision, hint="; ".join(filter(None, [decision.hint, hint])))


def _looks(
    demand: QuestionDemand,
    averages: Sequence[Average],
    numbers: Mapping[int, _Numbers],
    widths: Mapping[int, float],
) -> list[Demand]:
    """Looks at numbers of records, and as closely at the sums over them.

    A sum is measured more closely in the end, however many records there may be, so that a look at
    it costs nothing then. It tells how far the average is from the middle, which decides how well
    the number must be known.
    """
    looks = [
        look
        for block, width in widths.items()
        for look in demands_of(demand.question.blocks[block], Requirement(width, demand.confidence))
    ]
    for average in averages:
        if average.records in widths:
            least = average.within * numbers[average.records].largest()
            width = max(widths[average.records] * average.reach, least)
            sure = Requirement(width, demand.confidence)
            looks += demands_of(average.centred(demand), sure)
    return looks


def _advice(cost_at: Callable[[float], int], cost: int, facts: Facts) -> float | None:
    """How much wider intervals must be that what is left pays for them."""
    left, root = facts.limit - facts.spent, facts.measure.root
    return least_stretch_for(cost_at, root(cost / left), left, root, None) if left > 0 else None


@dataclass(frozen=True, slots=True)
class Foreseen:
    """What averages cost in all steps, or less, where each group has at least so many records."""

    cost: int  # nano-units
    records: int


def foreseen(demand: QuestionDemand, facts: Facts, policy: Policy) -> Foreseen | None:
    """What averages are likely to cost; None where something else is asked for.

    It is the price of an answer over fewer records, wherever the averages lie. That is more than
    is needed, by what looks cost, and noise that makes groups seem smaller than they are. Where
    history does not tell how many records there are, it is for 1,000, or as many as what is left
    pays for.

    Privacy: a function of public facts, as `decide`.
    """
    averages = [] if demand.quantiles else averages_of(demand)
    if not averages:
        return None
    numbers = [_Numbers.of(demand, facts, one.records) for one in averages]
    records = float(demand.groups_of or _USUAL)
    if all(one.rows and one.is_clear for one in numbers):
        records = max(1.0, math.floor(min(float(one.least().min()) for one in numbers)))
    anywhere = {one.total: np.full(1, one.reach) for one in averages}
    linear, left = linear_demands(demand), facts.limit - facts.spent
    while records <= _MOST_RECORDS:
        sizes = {one.records: np.full(1, _FEWER * records) for one in averages}
        wanted = [*linear, *accurate(demand, averages, sizes, facts, off=anywhere)]
        cost = cost_of(wanted, facts, policy)
        if cost <= left:
            return Foreseen(cost, int(records))
        records *= 10.0
    return None


@dataclass(frozen=True, slots=True)
class _Numbers:
    """What history says of how many records there are, in each row that can have any."""

    demand: QuestionDemand
    block: int
    rows: tuple[int, ...]  # none where history leaves one open
    values: FloatArray
    widths: FloatArray

    @staticmethod
    def of(demand: QuestionDemand, facts: Facts, block: int) -> _Numbers:
        """What is known; with `groups_of`, groups count as no smaller than that."""
        question = demand.question
        values: list[float] = []
        noises: list[ComposedNoise] = []
        rows = []
        for row in question.places:
            query = question.query(block, row)
            if query.is_zero:
                continue  # nobody, whatever the data
            linear = facts.inference.linear(query)
            if linear is None:
                return _Numbers(demand, block, (), np.zeros(0), np.zeros(0))
            rows.append(row)
            values.append(float(linear[0]))
            noises.append(linear[1])
        counted = np.maximum(values, float(demand.groups_of or 0))
        widths = np.asarray(halfwidths(noises, demand.confidence))
        return _Numbers(demand, block, tuple(rows), counted, widths)

    @property
    def is_clear(self) -> bool:
        return bool(np.all(self.widths <= _CLEAR * self.values))

    def most(self) -> FloatArray:
        """So many records there may be."""
        return np.maximum(np.maximum(self.values, 0.0) + self.widths, 1.0)

    def least(self) -> FloatArray:
        """So many records are planned for.

        Of many groups of one size noise makes one seem much smaller. So numbers that differ little
        more than by noise are taken to be nearer to each other than they seem.
        """
        share = 1.0
        if len(self.rows) >= _MANY_GROUPS:
            noise = float(np.mean((_DEVIATION * self.widths) ** 2))
            share = max(0.0, 1.0 - noise / max(float(np.var(self.values)), noise))
        middle = float(self.values.mean())
        least = middle + share * (self.values - middle - _CAUTION * self.widths)
        return np.maximum(least, float(self.demand.groups_of or 1))

    def largest(self) -> float:
        """So many records there may be in the smallest row; very many if nothing is known."""
        if not self.rows:
            each = _MANY_RECORDS / len(self.demand.question.places)
            return max(each, float(self.demand.groups_of or 1))
        return float(self.most().min())

    def smallest_group(self) -> str:
        if not self.demand.question.group_by:
            return ""
        row = self.rows[int(np.argmin(self.most()))]
        return f"the group {self.demand.question.group(row)} decides"

    def first(self, averages: Sequence[Average], facts: Facts) -> float:
        """The half-width of a first look: made for very many records, and no closer than coarse."""
        width = self.largest() / _closer(averages, self.block, facts)
        looks = coarse(self.demand, facts, [self.block])
        return max([width, *(one.requirement.within for one in looks)])

    def closer(self, averages: Sequence[Average], facts: Facts) -> float:
        """The half-width of the next look: it costs about as much as the answer at most."""
        open_rows = self.widths > _CLEAR * self.values
        narrow = min(one.within / one.reach for one in averages if one.records == self.block)
        aim = float(np.clip(math.sqrt(narrow), *_AIM))
        known = aim * float(self.values[open_rows].min())
        width = max(known, self.largest() / _closer(averages, self.block, facts))
        return min(width, _CLEAR * float(self.widths[open_rows].max()))


def _closer(averages: Sequence[Average], block: int, facts: Facts) -> float:
    """How much less than the number of records a look may leave open, to cost so little."""
    spread = max(one.reach / one.within for one in averages if one.records == block)
    return float(np.clip(2.0 * facts.measure.root(_OF_THE_ANSWER) * spread, *_CLOSER))
