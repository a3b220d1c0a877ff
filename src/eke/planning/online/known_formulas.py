"""What is known about the formulas of a question, and what to measure to know them better.

The error of a formula is nearly linear in the errors of its aggregates. What is measured is that
linear question (for an average: the sum of x − r, with r the average itself), which a record moves
far less than the aggregates one by one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np

from eke.arrays import FloatArray
from eke.inference import (
    ComposedNoise,
    FormulaPosterior,
    Inference,
    Joint,
    halfwidth,
    halfwidths,
    search_ratios,
)
from eke.planning.online.group_sizes import planned_for
from eke.planning.online.look import small_groups
from eke.planning.online.question_demand import QuestionDemand, demands_of
from eke.planning.online.requirement import Demand, Requirement
from eke.planning.online.slopes import along_direction, gradient, reach_of, rounded, sizes_of
from eke.question import AskedBlock, Formula, evaluated

_CLEAR = 0.25  # a denominator is clear when its half-width is at most this share of it
_TIGHTER = 3.0
_SAFETY = 0.97  # the estimates that a plan is made for move when it is carried out
_LOOKED_AT = 8
_SAME = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class KnownFormulas:
    """What history says about the aggregates behind the formulas of a question, row by row."""

    demand: QuestionDemand
    places: tuple[int, ...]  # the aggregates in question
    rows: tuple[int, ...]  # of the result, those that something is known about
    joints: tuple[Joint, ...]  # one for each row
    points: tuple[FloatArray, ...]  # the estimates that are planned for, one for each row
    # row, which of the formulas, belief, half-width asked for
    cells: tuple[tuple[int, int, FormulaPosterior, float], ...]
    _found: list[tuple[int, float, float]] = field(default_factory=list, init=False, repr=False)

    @staticmethod
    def of(demand: QuestionDemand, inference: Inference) -> KnownFormulas | None:
        """What history says; None when it leaves an aggregate undetermined."""
        places = tuple(demand.curved_blocks())
        joints = []
        for row in demand.question.places:
            queries = [demand.question.query(i, row) for i in places]
            joint = Joint.of(inference, queries)
            if joint is None:
                return None
            # NaN where a window has no value, and where nobody is counted whatever the data and
            # that leaves a formula without one, so that nothing is planned for what is made of it.
            without = {
                i
                for formula, _ in demand.curved
                if not demand.question.has_value(formula, row)
                for i in formula.aggregates()
            }
            nulls = [
                (query.is_zero and i in without) or demand.question.is_null(i, row)
                for i, query in zip(places, queries, strict=True)
            ]
            joints.append(
                replace(joint, values=np.where(nulls, np.nan, joint.values))
                if any(nulls)
                else joint
            )
        columns = [
            (column, within)
            for column, within in enumerate(demand.within)
            if within is not None and demand.is_curved(column)
        ]
        cells = [
            (row, which, posterior, within)
            for row in demand.question.places
            for which, (column, within) in enumerate(columns)
            if demand.question.has_value(demand.question.columns[column].formula, row)
            and (posterior := demand.posterior(column, row, inference)) is not None
        ]
        points = planned_for(demand, places, [joint.values for joint in joints])
        rows = tuple(demand.question.places)
        return KnownFormulas(demand, places, rows, tuple(joints), tuple(points), tuple(cells))

    @staticmethod
    def of_nothing(demand: QuestionDemand) -> KnownFormulas | None:
        """What formulas that are sums need to know of it: nothing. None where others are asked for.

        Their derivatives are the same whatever the numbers are, so no look need tell these.
        """
        places, rows = tuple(demand.curved_blocks()), tuple(demand.question.places)
        for formula, _ in demand.curved:
            ratio = formula.over(places).ratio(len(places))
            if ratio is None or ratio[1][:-1].any():
                return None
        nothing = np.zeros(len(places))
        joint = Joint(nothing, np.zeros((len(places), 0)), *[np.zeros(0)] * 4)
        joints, points = (joint,) * len(rows), (nothing,) * len(rows)
        return KnownFormulas(demand, places, rows, joints, points, ())

    def for_demand(self, demand: QuestionDemand) -> KnownFormulas:
        """The same knowledge about the same question, when other half-widths are asked for."""
        widths = [within for _, within in demand.curved]
        cells = [(row, which, belief, widths[which]) for row, which, belief, _ in self.cells]
        return replace(self, demand=demand, cells=tuple(cells))

    def among(self, rows: Sequence[bool]) -> KnownFormulas:
        """What is known about some rows only, one truth value for each; to plan for them."""
        chosen = [at for at, is_one in enumerate(rows) if is_one]
        return replace(
            self,
            rows=tuple(self.rows[at] for at in chosen),
            joints=tuple(self.joints[at] for at in chosen),
            points=tuple(self.points[at] for at in chosen),
            cells=(),
        )

    def formulas(self) -> list[tuple[Formula, float]]:
        """The formulas over the aggregates in question, with their half-widths."""
        return [(f.over(self.places), w) for f, w in self.demand.curved]

    def worst(self) -> float:
        """The largest half-width as a share of what is asked for."""
        return max((width / within for _, width, within in self.widths()), default=0.0)

    def hint(self) -> str:
        """What makes the question expensive: a group, and how to leave small ones aside."""
        if self.demand.groups_of is not None or not self.demand.question.group_by:
            return small_groups(self.demand)
        row = max(self.widths(), key=lambda found: found[1] / found[2])[0]
        return small_groups(self.demand, f"the group {self.demand.question.group(row)} decides")

    def widths(self) -> list[tuple[int, float, float]]:
        """(row, half-width, half-width asked for) of every cell; they are searched for once.

        In a group that is smaller than those asked about it is what a group of their size would
        have with the same noise.
        """
        if not self._found:
            sure = self.demand.confidence
            place = {row: at for at, row in enumerate(self.rows)}
            formulas = [formula for formula, _ in self.formulas()]
            filled = {row for row, at in place.items() if self._is_filled(at)}
            search_ratios((belief for row, _, belief, _ in self.cells if row not in filled), sure)
            for row, which, belief, within in self.cells:
                width = (
                    self.linear_width(formulas[which], place[row])
                    if row in filled
                    else belief.halfwidth(sure)
                )
                self._found.append((row, width, within))
        return self._found

    def values(self) -> list[tuple[int, float, float]]:
        """(which of the formulas, value, half-width) of every cell, as it is planned for."""
        place = {row: at for at, row in enumerate(self.rows)}
        formulas = [formula for formula, _ in self.formulas()]
        known = []
        for (row, which, belief, _), (_, width, _) in zip(self.cells, self.widths(), strict=True):
            value = belief.value
            if self._is_filled(place[row]):
                value = float(evaluated(formulas[which], self.points[place[row]][:, None])[0])
            known.append((which, value, width))
        return known

    @property
    def are_exact(self) -> bool:
        """True when no value is open by more than rounding errors: nothing can be bought."""
        return all(width <= _SAME * abs(value) for _, value, width in self.values())

    def _is_filled(self, at: int) -> bool:
        """True for a row with fewer records than it is planned for."""
        return self.points[at] is not self.joints[at].values

    def linear_width(self, formula: Formula, at: int) -> float:
        """The half-width of a formula in one row, taken as linear where it is planned for."""
        slope = gradient(formula, self.points[at])
        if not np.isfinite(slope).all():
            return math.inf
        return halfwidth(self.joints[at].combination(slope)[1], self.demand.confidence)

    def at_places(self, blocks: Sequence[int]) -> FloatArray:
        """The estimates of some aggregates in the rows that have a value; shape (rows, blocks)."""
        columns = [self.places.index(block) for block in blocks]
        points = np.array(self.points).reshape(len(self.points), len(self.places))
        return points[~np.isnan(points).any(axis=1)][:, columns]

    def vague(self) -> float:
        """The largest half-width of a denominator or radicand, as a share of it."""
        parts = [known for part in self._fragile_parts() for known in self._parts(part)]
        shares = (width / value if value > 0.0 else math.inf for value, width in parts)
        return max(shares, default=0.0)

    def clear(self) -> bool:
        """True when no denominator and no radicand can be 0, so that formulas are smooth."""
        return all(self.clear_rows())

    def clear_rows(self) -> list[bool]:
        """The same row by row."""
        clear = [True] * len(self.joints)
        for part in self._fragile_parts():
            for at, (value, width) in enumerate(self._parts(part)):
                clear[at] &= width <= _CLEAR * value
        return clear

    def clarifying(self) -> list[Demand]:
        """Demands with which denominators and radicands can be told from 0, or nearly so."""
        wanted = []
        for part in self._fragile_parts():
            known = self._parts(part)
            if all(width <= _CLEAR * value for value, width in known):
                continue
            aims = [max(0.8 * _CLEAR * value, width / _TIGHTER) for value, width in known]
            wanted.append((part, aims))
        return self._accurate(wanted, self.points)

    def linearised(self, points: Sequence[FloatArray] | None = None) -> list[Demand]:
        """Demands with which every formula is accurate enough, taken as linear in its errors."""
        points = self.points if points is None else points
        wanted = [(f, [within] * len(points)) for f, within in self.formulas()]
        return self._accurate(wanted, points)

    def hopeful(self) -> list[FloatArray]:
        """The estimates, with denominators as large as they may be.

        What is planned for them is the least that the question can cost.
        """
        hopeful = []
        for joint, point in zip(self.joints, self.points, strict=True):
            raised = point.copy()
            for k in {k for part in self._fragile_parts() for k in part.aggregates()}:
                value, noise = joint.combination(np.eye(len(raised))[k])
                width = halfwidth(noise, self.demand.confidence)
                raised[k] = max(raised[k], abs(value) + width)
            hopeful.append(raised)
        return hopeful

    def reaches(self) -> list[float]:
        """How far one record can move each formula, in the row where that is farthest."""
        insides = [self.demand.question.blocks[k].inside for k in self.places]
        sizes = sizes_of([self.demand.question.blocks[k] for k in self.places])
        reaches = []
        for formula, _ in self.formulas():
            slopes = [gradient(formula, point) for point in self.points]
            usable = [slope for slope in slopes if np.isfinite(slope).all()]
            steepest = max(usable, key=lambda slope: float(np.abs(slope) @ sizes), default=None)
            if steepest is None or not (np.abs(steepest) @ sizes) > 0.0:
                reaches.append(1.0)
                continue
            direction = rounded(steepest, sizes)
            lead = abs(steepest[int(np.argmax(np.abs(steepest) * sizes))])
            reaches.append(lead * reach_of(direction, insides))
        return reaches

    def _fragile_parts(self) -> list[Formula]:
        return list(dict.fromkeys(p for f, _ in self.formulas() for p in f.fragile()))

    def _parts(self, part: Formula) -> list[tuple[float, float]]:
        """(value, half-width) of a part of a formula in each row, as if it were linear."""
        values, noises = [], []
        for joint, point in zip(self.joints, self.points, strict=True):
            value, noise = math.inf, ComposedNoise(np.empty(0))
            if not np.isnan(point[part.aggregates()]).any():  # else, no value whatever the data
                value = float(evaluated(part, point[:, None])[0])
                slope = gradient(part, point)
                usable = math.isfinite(value) and bool(np.isfinite(slope).all())
                value = value if usable else 0.0
                noise = joint.combination(slope)[1] if usable else noise
            values.append(value)
            noises.append(noise)
        widths = halfwidths(noises, self.demand.confidence)
        return list(zip(values, np.where(widths > 0.0, widths, 1.0).tolist(), strict=True))

    def _accurate(
        self, wanted: Sequence[tuple[Formula, Sequence[float]]], points: Sequence[FloatArray]
    ) -> list[Demand]:
        """Demands that keep the errors of formulas within the half-widths wanted in each row.

        Each grouping is planned for by itself: sums over all records need not be known as well as
        those of the smallest group.
        """
        groups = self.demand.question.groups
        demands = []
        for grouping in range(len(groups.each)):
            inside = [at for at, row in enumerate(self.rows) if groups.within(row)[0] == grouping]
            if inside:
                here = [(formula, [aims[at] for at in inside]) for formula, aims in wanted]
                demands += self._in_grouping(grouping, here, [points[at] for at in inside])
        return demands

    def _in_grouping(
        self,
        grouping: int,
        wanted: Sequence[tuple[Formula, Sequence[float]]],
        points: Sequence[FloatArray],
    ) -> list[Demand]:
        """The same for the rows of one grouping.

        Demands are on the aggregates, and on one linear question for each formula: its derivative.
        Numbers of people are no part of that, for they are no sums over records.
        """
        count, question = len(self.places), self.demand.question
        blocks: list[AskedBlock] = [question.blocks[i].parts[grouping] for i in self.places]
        sizes = sizes_of(blocks)
        pooled = np.nansum(points, axis=0)
        of_records = np.array([not block.inside.people for block in blocks])
        shares = []  # of the allowed error that an error of 1 in each block makes, for each cell
        for formula, aims in wanted:
            direction = rounded(np.where(of_records, gradient(formula, pooled), 0.0), sizes)
            direction = np.where(of_records, direction, 0.0)
            weights = [Fraction(float(weight)) for weight in direction]
            blocks.append(
                question.mixed(self.places, weights).parts[grouping] if any(weights) else blocks[0]
            )
            for point, within in zip(points, aims, strict=True):
                if not within > 0.0:
                    continue  # it is known exactly
                slope = gradient(formula, point) / within
                if not np.isfinite(slope).all():
                    continue  # nothing can be planned for a cell without a value
                along = along_direction(slope, direction, sizes) if any(weights) else 0.0
                share = np.zeros(count + len(wanted))
                share[:count] = np.abs(slope - along * direction)
                share[len(blocks) - 1] = abs(along)
                shares.append(share)
        if not shares:
            return []
        widths = self._allotted(np.array(shares), sizes_of(blocks))
        return [
            demand
            for block, width in zip(blocks, widths, strict=True)
            if math.isfinite(width)
            for demand in demands_of(block, Requirement(width, self.demand.confidence))
        ]

    def _allotted(self, shares: FloatArray, sizes: FloatArray) -> FloatArray:
        """The half-width of each block: the cheapest with which every cell is accurate enough.

        Several errors together are smaller than the sum of their half-widths.
        """
        needed = shares.max(axis=0)
        needed[(needed * sizes < 1e-9 * (needed * sizes).max()) | (sizes == 0.0)] = 0.0
        used = needed > 0.0
        widths = np.full(len(sizes), math.inf)
        if not used.any():  # of blocks that are always 0 nothing need be measured
            return widths
        widths[used] = np.sqrt(sizes[used] / needed[used])
        reach = shares[:, used] @ widths[used]
        confidence = self.demand.confidence
        largest = 0.0
        for place in np.argsort(-reach)[:_LOOKED_AT]:
            parts = shares[place, used] * widths[used] / -math.log(1.0 - confidence)
            largest = max(largest, halfwidth(ComposedNoise(parts), confidence))
        rest = np.sort(reach)[::-1][_LOOKED_AT:]
        return np.asarray(widths * (_SAFETY / max([largest, *rest[:1]])))
