"""Quantiles: on which side of each step history puts them, and the interval that follows.

N(t) − p·n, of the records up to t and all of them, is linear, and what history says about it is a
test: where it is surely negative, the quantile lies above t. The interval is the set of steps that
no test rejects, at half of what may be missed to either side. It misses only if the test at the
quantile itself errs, or the one just below it, so that no step has to pay for the others: see
docs/proofs/quantiles.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eke.arrays import FloatArray
from eke.inference.posterior.exact import tails
from eke.inference.posterior.protocol import checked_bounds, checked_confidence, checked_points
from eke.inference.state import Inference
from eke.query import Query
from eke.query.pieces import meet
from eke.query.runs import Vector, content
from eke.question.ladder import Ladder
from eke.question.rungs import Side

_FIRST_LOOKS, _LOOKS = 9, 48
_ROUNDS = 4
_PROBES = 3
_SURE = 1e-9
"""Steps that are excluded with less than this are not looked at one by one."""


@dataclass(frozen=True, eq=False)
class QuantilePosterior:
    """The belief about a quantile: at some steps, the probability that it is no higher."""

    ladder: Ladder
    cuts: NDArray[np.intp]  # (k,) ascending, without the last step: it is never higher than that
    at_most: FloatArray  # (k,) the probability that the quantile is at most that step
    above: FloatArray  # (k,) that it is above; both may be, where it lies between two records
    excess: FloatArray  # (k,) the estimate of N(t) − p·n, in records
    deviations: FloatArray  # (k,) of its error
    records: float | None  # how many there are, if history tells
    records_deviation: float = 0.0

    @property
    def value(self) -> float:
        """Where the estimated ranks cross the share, between two of the steps looked at."""
        ladder, share = self.ladder, float(self.ladder.share)
        crossed = int(np.count_nonzero(self.excess < 0.0))
        records = self.records or 1.0
        low, high = -1, ladder.last
        before, after = -share * records, (1.0 - share) * records
        if crossed:
            low, before = int(self.cuts[crossed - 1]), float(np.sort(self.excess)[crossed - 1])
        if crossed < len(self.cuts):
            high, after = int(self.cuts[crossed]), float(np.sort(self.excess)[crossed])
        part = -before / (after - before) if after > max(before, 0.0) else 0.5
        step = low + math.ceil(min(max(part, 0.0), 1.0) * (high - low))
        return ladder.value(min(max(step, low + 1), high))

    @property
    def variance(self) -> float:
        """That of a number drawn from the belief."""
        masses, middles = self._masses
        mean = float(masses @ middles)
        within = np.diff(self._edges) ** 2 / 12.0  # steps not told apart are equally likely
        return float(masses @ ((middles - mean) ** 2 + within))

    def interval(self, confidence: float) -> tuple[float, float]:
        """From the lowest to the highest step that is not excluded."""
        first, last = self.steps(confidence)
        return self.ladder.value(first), self.ladder.value(last)

    def halfwidth(self, confidence: float) -> float:
        """Half the width of the interval."""
        low, high = self.interval(confidence)
        return 0.5 * (high - low)

    def steps(self, confidence: float) -> tuple[int, int]:
        """The lowest and the highest step that no test at this confidence excludes."""
        missed = 0.5 * (1.0 - checked_confidence(confidence))
        lowest = np.flatnonzero(self.at_most >= missed)
        highest = np.flatnonzero(self.above >= missed)
        ends = np.concatenate([[-1], self.cuts, [self.ladder.last]])
        first = lowest[0] if lowest.size else len(self.cuts)
        last = highest[-1] + 1 if highest.size else 0
        return int(ends[first]) + 1, int(ends[last + 1])

    @property
    def least_deviation(self) -> float:
        """Of the estimated ranks, where they are known best."""
        return float(self.deviations.min()) if self.deviations.size else math.inf

    def records_between(self, first: int, last: int) -> tuple[float, float]:
        """(estimate, bound of its deviation) of the records from one step to another.

        Just before the first and at the last, history was looked at.
        """
        records, share = self.records or 0.0, float(self.ladder.share)
        parts = {-1: -share, self.ladder.last: 1.0 - share}
        known = {
            end: (part * records, abs(part) * self.records_deviation) for end, part in parts.items()
        }
        known |= {
            int(cut): (float(excess), float(deviation))
            for cut, excess, deviation in zip(self.cuts, self.excess, self.deviations, strict=True)
        }
        (low, off), (high, other) = known[first - 1], known[last]
        return high - low, off + other

    def probability(self, *, above: float | None = None, below: float | None = None) -> float:
        """The belief that it is above, below or between."""
        low, high = checked_bounds(above, below)
        inside = self._up_to(high, "left") - self._up_to(low, "right")
        return min(max(inside, 0.0), 1.0)

    def density(self, points: ArrayLike) -> NDArray[np.float64]:
        """The density at each point, as if steps between those looked at were equally likely."""
        masses, _ = self._masses
        edges = self._edges
        at = np.searchsorted(edges, checked_points(points), "right") - 1
        inside = (at >= 0) & (at < len(masses))
        heights = masses / np.diff(edges)
        return np.where(inside, heights[np.clip(at, 0, len(masses) - 1)], 0.0)

    def support(self, coverage: float = 0.999) -> tuple[float, float]:
        """A (low, high) worth plotting."""
        low, high = self.interval(coverage)
        return (low, high) if low < high else (low - 0.5, high + 0.5)

    @cached_property
    def _rising(self) -> FloatArray:
        """The probability of at most each end of `_edges`, from 0 to 1."""
        return np.concatenate([[0.0], np.maximum.accumulate(self.at_most), [1.0]])

    @cached_property
    def _edges(self) -> FloatArray:
        """Ends of the parts that are told apart, half a step beyond the steps."""
        value, end = self.ladder.value, self.ladder.last
        gaps = (value(1) - value(0), value(end) - value(end - 1)) if end else (1.0, 1.0)
        middles = [value(cut) + 0.5 * (value(cut + 1) - value(cut)) for cut in self.cuts.tolist()]
        return np.array([value(0) - 0.5 * gaps[0], *middles, value(end) + 0.5 * gaps[1]])

    @cached_property
    def _masses(self) -> tuple[FloatArray, FloatArray]:
        edges = self._edges
        return np.diff(self._rising), 0.5 * (edges[1:] + edges[:-1])

    def _up_to(self, number: float, side: Side) -> float:
        """The belief that it is at most a number; below it, with the side left."""
        ends = np.concatenate([[-1], self.cuts, [self.ladder.last]])
        step = self.ladder.rungs.rank(number, side) - 1
        return float(np.interp(step, ends, self._rising))


class Survey:
    """What history says about the quantiles of some columns; one for all groups of a question."""

    def __init__(self, inference: Inference, ladder: Ladder) -> None:
        self._inference = inference
        self._ladder = ladder
        self._seen = list(self._changes())

    def posterior(self, counted: Query) -> QuantilePosterior:
        """What is known about the quantile of the records that are counted."""
        looks_at: dict[int, _Look] = {}
        same, others, tables, vague = self._candidates(counted)
        for cuts in (same, others, tables):
            self._look(counted, _near(cuts, looks_at, self._ladder.last), looks_at)
        cuts_between = _near(vague, looks_at, self._ladder.last)
        probes = _spread(cuts_between, _PROBES)
        if any(self._asked(counted, cut) is not None for cut in probes):
            self._look(counted, cuts_between, looks_at)
        cuts = sorted(looks_at)
        looks = [looks_at[cut] for cut in cuts]
        records = self._inference.linear(counted)
        return QuantilePosterior(
            self._ladder,
            np.array(cuts, np.intp),
            np.array([look.at_most for look in looks]),
            np.array([look.above for look in looks]),
            np.array([look.excess for look in looks]),
            np.array([look.deviation for look in looks]),
            None if records is None else records[0],
            0.0 if records is None else math.sqrt(records[1].variance),
        )

    def _look(self, counted: Query, cuts: Sequence[int], looks_at: dict[int, _Look]) -> None:
        """Ask history about some cuts: evenly spread at first, then closer where it is in doubt."""
        most = _FIRST_LOOKS
        for _ in range(_ROUNDS):
            near = _near(cuts, looks_at, self._ladder.last)
            for cut in _spread(near, most):
                look = None if cut in looks_at else self._asked(counted, cut)
                if look is not None:
                    looks_at[cut] = look
            if len(near) <= most or (2 * len(near) > len(cuts) and most > _FIRST_LOOKS):
                break
            most, cuts = _LOOKS, near

    def _asked(self, counted: Query, cut: int) -> _Look | None:
        known = self._inference.linear(self._ladder.tilted(counted, cut))
        if known is None:
            return None
        excess, noise = known
        # An interpolated quantile lies between the records number p·(n − 1) + 1 rounded down and up
        share = self._ladder.share
        below = float(share.numerator) if self._ladder.is_between else 0.0
        beyond = float(share.denominator - share.numerator) if self._ladder.is_between else 0.0
        slack, unit = noise.grid_slack, share.denominator
        ends = np.array([excess + below + slack, excess - beyond - slack])
        higher, above = tails(noise, ends)
        deviation = math.sqrt(noise.variance) / unit
        return _Look(1.0 - float(higher), float(above), excess / unit, deviation)

    def _candidates(self, counted: Query) -> tuple[list[int], ...]:
        """Cuts at which history may know the records, in the order in which they are looked at.

        Those of counts under the same conditions come first, then those of other counts, all steps
        where a table is known, and last those of answers that change nearly everywhere.
        """
        name = self._ladder.attribute
        groups = [{n: v for n, v in term.vectors if n != name} for term in counted.terms]
        keys = {_key(group) for group in groups}
        same: set[int] = set()
        others: set[int] = set()
        vague: set[int] = set()
        domain = self._inference.domain
        is_known = self._inference.tables.knows(domain.in_order({name, *counted.attributes}))
        tables = set(range(self._ladder.last)) if is_known else set()
        for rest, cuts in self._seen:
            is_same = _key(rest) in keys
            if is_same or any(_meet(rest, group) for group in groups):
                # A sum changes at every step and tells little of any: cuts of counts would be lost
                # among them.
                few = same if is_same else others
                target = few if len(cuts) <= _LOOKS else vague
                target.update(cuts)
        others -= same
        tables -= same | others
        return sorted(same), sorted(others), sorted(tables), sorted(vague - same - others - tables)

    def _changes(self) -> Iterator[tuple[dict[str, Vector], list[int]]]:
        """Where answers of the history change along the ladder, with their other conditions."""
        name = self._ladder.attribute
        for row in self._inference.rows:
            for term in row.query.terms:
                rest = dict(term.vectors)
                vector = rest.pop(name, None)
                if vector is None:
                    continue
                cuts = self._ladder.rungs.cuts(vector)
                if cuts:
                    yield rest, list(cuts)


@dataclass(frozen=True, slots=True)
class _Look:
    """What history says at one cut."""

    at_most: float
    above: float
    excess: float
    deviation: float


def _doubtful(looks_at: dict[int, _Look], last: int) -> tuple[int, int]:
    """The cuts between which the quantile may lie, beyond all reasonable doubt."""
    low = max((cut for cut, look in looks_at.items() if look.at_most < _SURE), default=0)
    high = min((cut for cut, look in looks_at.items() if look.above < _SURE), default=last)
    return low, high


def _near(cuts: Sequence[int], looks_at: dict[int, _Look], last: int) -> list[int]:
    """Those of the cuts between which the quantile may lie."""
    low, high = _doubtful(looks_at, last)
    return [cut for cut in cuts if low <= cut <= high]


def _spread(cuts: Sequence[int], most: int) -> list[int]:
    """So many of the cuts, evenly spread, or all of them."""
    places = np.unique(np.linspace(0, len(cuts) - 1, most).round().astype(int))
    return [cuts[place] for place in places] if cuts else []


def _key(group: dict[str, Vector]) -> tuple[tuple[str, bytes], ...]:
    return tuple((name, content(vector)) for name, vector in sorted(group.items()))


def _meet(one: dict[str, Vector], other: dict[str, Vector]) -> bool:
    """Whether some record may be in both."""
    shared = one.keys() & other.keys()
    return all(meet(one[name], other[name]) for name in shared)
