"""Quantile steps: where to cut a ladder next, and how precisely to count the parts.

What is in doubt is the zone. If its records lay evenly, so many ranks would be so many of its
steps; the interval of the ranks, as wide as the noise makes it, tells how much of the zone stays in
doubt. The true density may differ, which the next step sees.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import NormalDist
from typing import Any

import numpy as np

from eke.inference import QuantilePosterior
from eke.planning.online.facts import Facts
from eke.planning.online.known_quantiles import Doubt
from eke.planning.online.plan import Part, Plan, part_for
from eke.privacy.measure import Measure
from eke.privacy.record_loss import NANO
from eke.query import Query
from eke.question.ladder import Ladder

_FIRST_PARTS = 16
_COARSE = 0.005  # the share of the limit that a first look costs
_ZOOM = 0.2  # of the zone, what a step is to leave in doubt
_FAINT = 0.5  # the same, where there may be no records at all
_DEARER = 3.0  # times the noise of what is left: with less, a look is as good as the last step
_PARTS_IN_INTERVAL = 4
_PARTS_FOR_A_PRICE = 10
_PARTS_AT_LAST = 8  # an interval ends where parts end: fewer would make it wider than it need be
_WIDER = 0.25  # of what an interval may miss: the zone is wider than that
_TELLING = 3.0  # deviations: fewer records than that cannot be told from none
_SAFETY = 0.9
_NOTICEABLE = 1.2
_CLOSE = 0.6  # of a part: old cuts nearer than that are not made again


@dataclass(frozen=True, slots=True)
class QuantileStep:
    """The steps of a ladder after which to cut, and the deviation that each count may have."""

    cuts: tuple[int, ...]
    deviation: float
    is_last: bool
    is_useful: bool = True  # more than what is known anyway
    is_look: bool = False  # whether there are records at all cannot be told yet


def next_step(doubt: Doubt, confidence: float, facts: Facts) -> QuantileStep:
    """What to count next for one quantile, as precisely as its interval needs it."""
    known, measure = doubt.known, facts.measure
    if known.records is None or not len(known.cuts):
        budget = _COARSE * max(1, facts.limit) / NANO
        deviation = deviation_of(measure, measure.noise_scale(1.0, budget))
        cuts = _even(0, known.ladder.last, _FIRST_PARTS)
        return QuantileStep(cuts, deviation, is_last=False, is_look=True)
    zone = _Zone.of(known, confidence)
    if doubt.is_of_rank:
        wanted = 2.0 * doubt.within * max(known.records, 1.0) / zone.records
    else:
        wanted = 2.0 * doubt.within / zone.width
    left_open = max(min(wanted, 1.0), _FAINT if zone.is_vague else _ZOOM)
    parts = _PARTS_AT_LAST if wanted >= _ZOOM else _PARTS_IN_INTERVAL
    cuts = zone.cut_into(math.ceil(parts / left_open))
    deviation = zone.deviation_for(left_open, len(cuts) - 1)
    if zone.is_cut_like(cuts):
        deviation = min(deviation, zone.deviation_to_halve(len(cuts) - 1))
    return QuantileStep(cuts, deviation, is_last=wanted >= _ZOOM, is_look=zone.is_vague)


def bought_step(doubt: Doubt, measure: Measure, rest: int, *, is_last: bool) -> QuantileStep:
    """What to count next for one quantile, if so much is left and may be spent at once.

    As long as a closer look costs much less than that, it comes first.
    """
    known = doubt.known
    deviation = deviation_of(measure, measure.noise_scale(1.0, rest / NANO))
    if known.records is None or not len(known.cuts):
        return QuantileStep(_even(0, known.ladder.last, _FIRST_PARTS), math.inf, is_last=False)
    zone = _Zone.of(known, doubt.confidence)
    cuts = zone.cut_into(_FIRST_PARTS)
    look = zone.deviation_for(_ZOOM, len(cuts) - 1)
    if is_last or look < _DEARER * deviation or zone.last - zone.first < _PARTS_FOR_A_PRICE:
        told = zone.rank_deviation(deviation, _PARTS_FOR_A_PRICE)
        is_useful = told < _NOTICEABLE * known.least_deviation
        if zone.last - zone.first < known.ladder.last // 2:  # else it is hardly narrowed down yet
            cuts = zone.cut_into(_PARTS_FOR_A_PRICE)
        return QuantileStep(cuts, deviation, is_last=True, is_useful=is_useful)
    return QuantileStep(cuts, look, is_last=False)


@dataclass(frozen=True, slots=True)
class _Zone:
    """The steps among which a quantile is sought, and the records that may be there."""

    first: int
    last: int
    width: float  # from end to end, in the column's unit
    records: float
    known: QuantilePosterior
    confidence: float
    is_vague: bool  # there may be none

    @staticmethod
    def of(known: QuantilePosterior, confidence: float) -> _Zone:
        first, last = known.steps(1.0 - _WIDER * (1.0 - confidence))
        value, end = known.ladder.value, known.ladder.last
        records, deviation = known.records_between(first, last)
        gap = (value(end) - value(0)) / max(end, 1)
        width = value(last) - value(first) + gap
        told = max(_TELLING * deviation, 1.0)
        return _Zone(first, last, width, max(records, told), known, confidence, records < told)

    def cut_into(self, parts: int) -> tuple[int, ...]:
        """The steps after which to cut: where it was cut before, if that is fine enough.

        Counts of the same records add to what is known of them.
        """
        least = (self.last - self.first + 1) / parts
        old = [int(cut) for cut in self.known.cuts if self.first <= cut < self.last]
        chosen = [self.first - 1]
        for cut in [*old, self.last]:
            gap = cut - chosen[-1]
            if gap < _CLOSE * least and cut != self.last:
                continue
            between = max(1, min(round(gap / least), gap))
            chosen += [chosen[-1] + gap * part // between for part in range(1, between + 1)]
        return tuple(chosen)

    def deviation_for(self, left_open: float, parts: int) -> float:
        """The deviation of each count with which so much of the zone stays in doubt.

        An interval is made of whole parts; where not even one may be left, half of one must do.
        """
        whole = math.floor(left_open * parts + 1e-9) or 0.5
        rank = 0.5 * _SAFETY * whole / parts * self.records
        wanted = rank / self._ranks_off(parts)
        # What is known of the same ranks counts for at most half of it.
        already = wanted * self.rank_deviation(1.0, parts) / self.known.least_deviation
        return wanted / math.sqrt(1.0 - min(already**2, 0.5))

    def is_cut_like(self, cuts: Sequence[int]) -> bool:
        """Whether all of these cuts were made before."""
        return {*cuts[1:-1]} <= set(self.known.cuts.tolist())

    def deviation_to_halve(self, parts: int) -> float:
        """The deviation of each count with which the ranks are known twice as well as they are.

        Where parts that were counted before are still in doubt, their records do not lie evenly: a
        few numbers have nearly all of them. Noise that is halved each time is soon small enough,
        and all steps together cost little more than the last.
        """
        cuts = self.known.cuts
        inside = self.known.deviations[(cuts >= self.first) & (cuts < self.last)]
        if not inside.size:
            return math.inf
        return float(np.median(inside)) / math.sqrt(3.0) / self.rank_deviation(1.0, parts)

    def _ranks_off(self, parts: int) -> float:
        """By how much an end of the interval is off in rank, for counts of deviation 1."""
        one_sided = -NormalDist().inv_cdf(0.5 * (1.0 - self.confidence))
        return one_sided * self.rank_deviation(1.0, parts)

    def rank_deviation(self, deviation: float, parts: int) -> float:
        """The deviation of N(t) − p·n in the midst of so many parts, from counts of this one."""
        share = float(self.known.ladder.share)
        tilt = share**2 + (1.0 - share) ** 2
        return deviation * math.sqrt(tilt * (1.0 + 0.5 * parts))


def _even(first: int, last: int, parts: int) -> tuple[int, ...]:
    """The steps after which to cut, so that a zone is told from what is below and above it."""
    edges = np.linspace(first - 1, last, min(parts, last - first + 1) + 1).round().astype(int)
    return tuple(int(edge) for edge in edges)


def plan_of_steps(
    doubts: Sequence[Doubt], steps: Sequence[QuantileStep], deviation: float, measure: Measure
) -> Plan:
    """Counts of the records in all parts, each with noise of this deviation.

    Several quantiles of one column share their parts: the cuts of all of them are made at once.
    """
    noise_scale = measure.scale_of(deviation**2)
    together: dict[tuple[str, str, Any], tuple[Doubt, set[int]]] = {}
    for doubt, step in zip(doubts, steps, strict=True):
        ladder = doubt.known.ladder
        key = doubt.counted.digest, ladder.attribute, ladder.key
        together.setdefault(key, (doubt, {-1, ladder.last}))[1].update(step.cuts)
    parts: list[Part] = []
    alike: dict[tuple[str, str, Any, tuple[int, ...]], list[Doubt]] = {}
    for (_, name, rungs), (doubt, cuts) in together.items():
        kind = doubt.block.inside.digest, name, rungs, tuple(sorted(cuts))
        alike.setdefault(kind, []).append(doubt)
    for (*_, edges), group in alike.items():
        block, ladder = group[0].block, group[0].known.ladder
        table = block.by_columns
        if table is not None and len(group) == table.cells:  # one block is less work than its cells
            insides = list(_cells(table.inside, ladder, edges))
            parts += [
                part_for(table.with_inside(member), noise_scale, measure) for member in insides
            ]
            continue
        for member in group:
            cells = _cells(member.counted, ladder, edges)
            parts += [part_for(query, noise_scale, measure) for query in cells]
    return Plan(tuple(parts))


def _cells(counted: Query, ladder: Ladder, edges: Sequence[int]) -> Iterator[Query]:
    for before, last in pairwise(edges):
        query = ladder.between(counted, before + 1, last).without_constant()
        if not query.is_zero:
            yield query


def deviation_of(measure: Measure, noise_scale: float) -> float:
    """The standard deviation of noise of a scale."""
    return math.sqrt(measure.variance(noise_scale))
