"""Averages: what is measured for them.

An average lies between the least and the greatest value. What is measured for it is the sum of what
records have more than the middle of these two, which a record moves half as far as it can move the
sum, and the number of records; whatever was measured before is refined. How accurate both must be
depends on how many records there are, which is looked at before (`average_looks.py`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from eke.arrays import FloatArray
from eke.planning.online.facts import Facts
from eke.planning.online.known_formulas import KnownFormulas
from eke.planning.online.question_demand import QuestionDemand, demands_of
from eke.planning.online.requirement import Demand, Requirement
from eke.question import AskedBlock, Formula, Question
from eke.question.ratio import scaled_average

_FIRM = 0.2  # the share of the number of records that an average is known with at the end
_OFF = 0.25  # of how far averages can lie from the middle: what is assumed before one is known
_SAFETY = 0.97  # the estimates that a plan is made for move when it is carried out
_AGAIN = 0.95  # the same for a step that should be the last
_ACCURACIES = 2.0 ** -(np.arange(41) / 4.0)  # of numbers of records, that are tried for a plan


@dataclass(frozen=True, slots=True)
class Average:
    """An average that is asked for: the blocks of its sum and of its records, and its accuracy."""

    total: int
    records: int
    within: float
    middle: Fraction  # of what one record can add to the sum
    reach: float  # how far from the middle a record can be

    def centred(self, demand: QuestionDemand) -> AskedBlock:
        """The sum of what records have more than the middle."""
        if not self.middle:
            return demand.question.blocks[self.total]
        return demand.question.mixed([self.total, self.records], [Fraction(1), -self.middle])


def averages_of(demand: QuestionDemand) -> list[Average]:
    """The averages that all formulas of a question are; none where one of them is something else.

    They may be multiplied by a number, and one be added, as in percentages. Sums and numbers of
    records are those of the same groups, so that no average is compared with other rows.
    """
    if demand.relative or len(demand.question.groups.each) > 1:
        return []
    averages = [_average(demand, formula, within) for formula, within in demand.curved]
    told = [one for one in averages if one is not None]
    return told if len(told) == len(averages) else []


def _average(demand: QuestionDemand, formula: Formula, within: float) -> Average | None:
    question, places = demand.question, formula.aggregates()
    ratio = formula.over(places).ratio(len(places))
    scaled = None if ratio is None else scaled_average(ratio)
    if ratio is None or scaled is None:
        return None
    total, records = (places[at] for at in scaled)
    blocks = [question.blocks[total], question.blocks[records]]
    if any(block.common is None or block.inside.people for block in blocks):
        return None
    if not (question.counts_records(records) and question.is_average(total, records)):
        return None
    least, most = question.bounds(formula)
    if most - least <= 2.0 * within:
        return None  # nothing need be known for it
    low, high = _ends(question, total, records)
    factor = abs(ratio[0][scaled[0]] / ratio[1][scaled[1]])
    if not (low < high and 0.0 < factor < math.inf):
        return None
    return Average(total, records, within / factor, (low + high) / 2, float(high - low) / 2.0)


def _ends(question: Question, total: int, records: int) -> tuple[Fraction, Fraction]:
    """What a record that counts adds to a sum, at least and at most.

    All other records add 0, which is far below what is found when each that counts adds more.
    """
    low, high = question.blocks[total].inside.extremes()
    if (low and high) or min(question.blocks[records].inside.extremes()):
        return low, high  # no other record changes them, or there is none
    more = 2 * (high - low) + 1
    upwards, downwards = (
        question.mixed([total, records], [Fraction(sign), more]).inside.extremes()[1]
        for sign in (1, -1)
    )
    return more - downwards, upwards - more


def centred(known: KnownFormulas, averages: Sequence[Average], facts: Facts) -> list[Demand]:
    """Demands that refine what averages were measured by, so that they are accurate enough.

    None where there may be no records.
    """
    sizes = {one.records: known.at_places([one.records])[:, 0] for one in averages}
    if any(not len(counts) or counts.min() < 1.0 for counts in sizes.values()):
        return []
    off = offs(known, averages)
    return accurate(known.demand, averages, sizes, facts, off=off, share=_AGAIN)


def offs(
    known: KnownFormulas, averages: Sequence[Average], least: float = 0.0
) -> dict[int, FloatArray]:
    """How far the averages of each sum seem to lie from the middle, as a share of it at `least`."""
    off = {}
    for average in averages:
        sums, counts = known.at_places([average.total, average.records]).T
        away = np.abs(sums / np.maximum(counts, 1.0) - float(average.middle))
        off[average.total] = np.clip(away, least * average.reach, average.reach)
    return off


def accurate(
    demand: QuestionDemand,
    averages: Sequence[Average],
    sizes: Mapping[int, FloatArray],
    facts: Facts,
    *,
    off: Mapping[int, FloatArray] | None = None,
    share: float = _SAFETY,
) -> list[Demand]:
    """Demands with which averages are accurate enough where there are so many records.

    `off` says how far the averages of each sum lie from the middle. An error e of the centred sum
    and an error d of the number of records n move an average that lies so far off by
    (e − off·d) / n; that n is known to a share s makes intervals wider by 1 / (1 − s²).
    """
    demands: list[Demand] = []
    counted: dict[int, float] = {}
    for average in averages:
        block = average.records
        away = np.full(1, _OFF * average.reach) if off is None else off[average.total]
        for_sum, for_records = _widths(average, sizes[block], away, facts, share)
        counted[block] = min(for_records, counted.get(block, math.inf))
        demands += demands_of(average.centred(demand), Requirement(for_sum, demand.confidence))
    for block, width in counted.items():
        sure = Requirement(width, demand.confidence)
        demands += demands_of(demand.question.blocks[block], sure)
    return demands


def _widths(
    average: Average, sizes: FloatArray, off: FloatArray, facts: Facts, share: float
) -> tuple[float, float]:
    """The half-widths of the centred sum and of the number of records that cost least together."""
    measure = facts.measure
    if len(off) != len(sizes):  # those of rows that some other column has no value in
        off = np.full(1, off.max(initial=0.0))
    least, widths = math.inf, (0.0, 0.0)
    for width in _FIRM * float(sizes.min()) * _ACCURACIES:
        room = share * average.within * sizes * (1.0 - (width / sizes) ** 2)
        left = float((room**2 - (off * width) ** 2).min())
        if left <= 0.0:
            continue
        loss = measure.loss(average.reach, math.sqrt(left)) + measure.loss(1.0, width)
        if loss < least:
            least, widths = loss, (math.sqrt(left), float(width))
    if not math.isfinite(least):  # an accuracy beyond what was tried: both as accurate as it is
        half = share * average.within * float(sizes.min()) / 2.0
        return half, half / average.reach
    return widths
