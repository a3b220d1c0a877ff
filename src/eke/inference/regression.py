"""BLUE from any history for any query, kept up to date as history grows (BAYES Th. 3.1).

The noisy answers are y = Hx + e. A maximal set of independent rows H_b is kept, every other row
written in its terms (H = C·H_b), so that y = Cβ + e is a full-rank regression of size rank(H)
whatever the number of cells. A query q = c·H_b has the estimate c·β̂; a query outside the span of
the rows has none: history does not determine it.

Whether a row lies in the span is decided exactly (`span.py`); its coordinates are computed with
inner products under a uniform product prior. A row that is independent but too close to the span
for that is set aside: it answers its own question and multiples of it, and is used for nothing
else. So is every number of people (`query/people.py`), which no sum over cells determines.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from eke.arrays import FloatArray
from eke.domain import Domain
from eke.history import Row
from eke.inference.latest import BasisState, Latest, Sight
from eke.inference.packed import PackedFactor
from eke.inference.span import ExactSpan, Place
from eke.inference.tables import CellWeights
from eke.privacy.law import Charged
from eke.query import Query
from eke.query.growing import GrowingMatrix
from eke.query.parts import Parts, under, within
from eke.query.step_stack import StepStack
from eke.query.view import made_of, view_with

RESOLUTION = 1e-7
"""Relative squared distance from the span below which a row counts as near-dependent.

Inner products are right to 1e-16, so coordinates and weights to about 1e-16 / RESOLUTION."""
SURELY_OUTSIDE = 1e-6
"""The same, where rounding can no longer be the reason."""
_CANCELLATION = 1e-6
"""The least share of a query's squared norm that its terms may leave of each other."""
_NEGLIGIBLE = 1e-13


@dataclass(frozen=True, slots=True)
class LinearEstimate:
    """θ̂ = weights · y + constant over some rows of the history; exact when it has no weights."""

    value: float
    rows: NDArray[np.intp]  # (k,) indices into the history's rows
    weights: FloatArray  # (k,)
    cells: tuple[CellWeights, ...] = ()  # of the released tables


class Regression:
    """The regression behind all answers; `append` rows, then `estimate` queries."""

    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        self.laws: list[Charged] = []
        self._stack = StepStack(domain)
        self._span = ExactSpan(domain)
        self._kernel = PackedFactor()  # of K_bb, rows at unit norm
        self._information = PackedFactor()  # of CᵀΣ⁻¹C
        self._basis: list[int] = []  # history row of each basis row
        self._dependent: list[int] = []
        self._coordinates = GrowingMatrix(np.float64)  # C of the dependent rows
        self._values: list[float] = []  # at unit norm, like all below
        self._precisions: list[float] = []
        self._norms: list[float] = []
        self._aside = SetAside()
        self._state = BasisState()
        self._latest = Latest()  # of all views

    def __len__(self) -> int:
        return len(self.laws)

    @property
    def rank(self) -> int:
        return self._kernel.size

    @property
    def nbytes(self) -> int:
        parts = (self._stack, self._kernel, self._information, self._coordinates, self._span)
        return sum(part.nbytes for part in parts)

    def view(self) -> Regression:
        """The regression as it is, for good; rows appended to either are not in the other."""
        return view_with(
            self,
            laws=list(self.laws),
            _stack=self._stack.view(),
            _span=self._span.view(),
            _kernel=self._kernel.view(),
            _information=self._information.view(),
            _basis=list(self._basis),
            _dependent=list(self._dependent),
            _coordinates=self._coordinates.view(),
            _values=list(self._values),
            _norms=list(self._norms),
            _precisions=list(self._precisions),
            _aside=self._aside.view(),
        )

    def parts(self) -> Parts:
        """Everything in it but the domain and the laws, as arrays."""
        return {
            "basis": np.array(self._basis, np.int64),
            "dependent": np.array(self._dependent, np.int64),
            "values": np.array(self._values),
            "precisions": np.array(self._precisions),
            "norms": np.array(self._norms),
            "coordinates": self._coordinates.array,
            **within("stack", self._stack.parts()),
            **within("span", self._span.parts()),
            **within("kernel", self._kernel.parts()),
            **within("information", self._information.parts()),
        }

    @classmethod
    def from_parts(
        cls, domain: Domain, laws: Sequence[Charged], parts: Parts, aside: SetAside
    ) -> Regression:
        """A regression as it was when its parts were taken."""
        return made_of(
            cls,
            domain=domain,
            laws=list(laws),
            _basis=parts["basis"].tolist(),
            _dependent=parts["dependent"].tolist(),
            _values=parts["values"].tolist(),
            _precisions=parts["precisions"].tolist(),
            _norms=parts["norms"].tolist(),
            _coordinates=GrowingMatrix.of(parts["coordinates"]),
            _stack=StepStack.from_parts(domain, under("stack", parts)),
            _span=ExactSpan.from_parts(domain, under("span", parts)),
            _kernel=PackedFactor.from_parts(under("kernel", parts)),
            _information=PackedFactor.from_parts(under("information", parts)),
            _aside=aside,
            _state=BasisState(),
            _latest=Latest(),
        )

    @property
    def aside(self) -> SetAside:
        """The rows that are used for their own question only."""
        return self._aside

    def append(self, row: Row) -> None:
        """Take one more noisy answer into account: O(rank²)."""
        index = len(self.laws)
        self.laws.append(row.law)
        sight = self._look(row.query)
        norm = sight.norm
        unit = norm or 1.0
        self._norms.append(unit)
        self._values.append(row.value / unit)
        precision = unit**2 / row.law.variance
        self._precisions.append(precision)
        if row.query.is_zero:  # it says nothing
            return
        if not norm or not ordinary(precision):
            self._aside.add(index, row)
            return
        projected, place = self._projected(sight), self._place(sight)
        distance = 1.0 - float(projected @ projected)
        inside = place is None or place.inside
        if inside and distance < SURELY_OUTSIDE:
            coordinates = self._coordinates_in(sight)
            self._information.update(coordinates * math.sqrt(precision))
            self._coordinates.append(coordinates)
            self._dependent.append(index)
        elif place is not None and not inside and distance > RESOLUTION:
            self._kernel.append(projected, math.sqrt(distance))
            self._information.append(np.zeros(self.rank - 1), math.sqrt(precision))
            self._stack.append(row.query, norm)
            self._span.append(row.query, place)
            self._basis.append(index)
            self._state = BasisState()
            self._latest.sight = Sight(row.query, self._state, norm, is_row=True)
        else:
            self._aside.add(index, row)

    def estimate(self, query: Query) -> LinearEstimate | None:
        """The best linear unbiased estimate, or None when history does not determine the query."""
        constant = float(query.constant)
        if query.is_zero:
            return LinearEstimate(constant, np.empty(0, np.intp), np.empty(0))
        sight = self._look(query)
        norm = sight.norm
        coordinates = self._coordinates_of(sight) if norm and self.rank else None
        if coordinates is None:
            return self._aside.estimate(query, constant, self.laws)
        solved = self._information.solve(self._information.solve_transposed(coordinates))
        rows = np.array(self._basis + self._dependent, np.intp)
        multipliers = solved
        if self._dependent:
            known = self._coordinates.array
            multipliers = np.concatenate([solved, known @ solved[: known.shape[1]]])
        precisions = np.asarray(self._precisions)[rows]
        unit_weights = multipliers * precisions
        # What rounding leaves of a weight of zero matters neither to the mean nor to the noise.
        is_used = matters(unit_weights) | matters(multipliers * np.sqrt(precisions))
        rows, unit_weights = rows[is_used], unit_weights[is_used]
        value = norm * float(unit_weights @ np.asarray(self._values)[rows]) + constant
        return LinearEstimate(value, rows, norm * unit_weights / np.asarray(self._norms)[rows])

    def _look(self, query: Query) -> Sight:
        """What is known of a query; what is not is worked out when it is asked for."""
        latest = self._latest.sight
        if latest is not None and latest.query == query:
            if latest.state is self._state:
                return latest
            sight = Sight(query, self._state, latest.norm)
        else:
            sight = Sight(query, self._state, norm_of(query))
        self._latest.sight = sight
        return sight

    def _place(self, sight: Sight) -> Place | None:
        """Where a query lies; None for a row of the basis."""
        if sight.place is None and not sight.is_row:
            sight.place = self._span.locate(sight.query)
        return sight.place

    def _projected(self, sight: Sight) -> FloatArray:
        if sight.projected is None:
            against = self._stack.against(sight.query) / sight.norm
            sight.projected = self._kernel.solve_transposed(against)
        return sight.projected

    def _coordinates_in(self, sight: Sight) -> FloatArray:
        if sight.coordinates is None:
            sight.coordinates = self._kernel.solve(self._projected(sight))
        return sight.coordinates

    def _coordinates_of(self, sight: Sight) -> FloatArray | None:
        place = self._place(sight)
        if place is not None and not place.inside:
            return None
        projected = self._projected(sight)
        if 1.0 - float(projected @ projected) > SURELY_OUTSIDE:
            return None
        return self._coordinates_in(sight)


class SetAside:
    """Rows that answer their own question and multiples of it, and are used for nothing else."""

    def __init__(self) -> None:
        self._rows: dict[object, list[tuple[int, Fraction, float]]] = {}

    def view(self) -> SetAside:
        """The rows so far, for good."""
        copy = SetAside()
        copy._rows = {direction: list(kept) for direction, kept in self._rows.items()}
        return copy

    def rows(self) -> list[int]:
        """Their places in the history, in order."""
        return sorted(index for kept in self._rows.values() for index, _, _ in kept)

    def add(self, index: int, row: Row) -> None:
        direction, factor = row.query.direction
        self._rows.setdefault(direction, []).append((index, factor, row.value))

    def estimate(
        self, query: Query, constant: float, laws: Sequence[Charged]
    ) -> LinearEstimate | None:
        """The average of the rows that ask the same, weighted by their precision."""
        direction, factor = query.direction
        parallel = self._rows.get(direction)
        if not parallel:
            return None
        rows = np.array([index for index, _, _ in parallel], np.intp)
        ratios = np.array([float(factor / own) for _, own, _ in parallel])  # query = ratio · row
        precision = 1.0 / np.array([laws[i].variance for i in rows]) / ratios**2
        weights = precision / precision.sum() * ratios
        values = np.array([value for _, _, value in parallel])
        return LinearEstimate(float(weights @ values) + constant, rows, weights)


def norm_of(query: Query) -> float:
    """The query's norm, or 0 where it is too small, or its terms too alike, for floating point.

    Numbers of people have none: they are no sums over cells, and answer for themselves alone.
    """
    if query.people:
        return 0.0
    parts = [Query(query.domain, (term,), Fraction(0)) for term in query.terms]
    stack = StepStack(query.domain)
    for part in parts:
        stack.append(part)
    square = largest = 0.0
    for part in parts:
        products = stack.against(part)
        square += float(products.sum())
        largest += float(np.abs(products).sum())
    resolved = ordinary(square) and square > _CANCELLATION * largest
    return math.sqrt(square) if resolved else 0.0


def matters(parts: FloatArray) -> NDArray[np.bool_]:
    """Which parts are more than rounding."""
    size = np.abs(parts)
    return np.asarray(size > _NEGLIGIBLE * size.max())


def ordinary(number: float) -> bool:
    """True when neither the number nor a few products of it leave the range of doubles."""
    return 1e-240 < number < 1e240
