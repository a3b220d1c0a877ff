"""Ladder: the numbers of a column in order, and what is counted to find a quantile among them.

With n records and N(t) of them at most t, the p-quantile is the least number t with N(t) ≥ p·n. So
G(t) = N(t) − p·n, which is linear, tells on which side of t it lies.
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
from eke.errors import QueryError
from eke.query import Query, Term
from eke.query.numbers import whole_vector
from eke.query.runs import WIDE, Runs, Vector, extremes
from eke.question.calendar import Calendar, calendar_of_column

MOST_DIGITS = 6
"""Of a share, as in 0.999999."""


@dataclass(frozen=True, slots=True, eq=False)
class Ladder:
    """The steps that a quantile can be, each a number, and which codes of a column stand on them.

    `is_between` is for quantiles that lie between two records, as PERCENTILE_CONT has them: they
    are interpolated, and the two may stand on different steps. With a calendar the numbers stand
    for dates or times.
    """

    attribute: str
    values: FloatArray  # (steps,) ascending
    halves: FloatArray  # (steps,) how far the table's own numbers may be from them
    places: NDArray[np.int64]  # (codes,) the step of each code; -1 for none
    share: Fraction
    is_between: bool
    rising: int | None = None  # how many codes of a wide column stand on steps, if in their order
    calendar: Calendar | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ladder) and self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    @property
    def _identity(self) -> tuple[object, ...]:
        arrays = (self.values, self.halves, self.places)
        told = self.attribute, self.share, self.is_between, self.calendar
        return *told, *(one.tobytes() for one in arrays)

    @staticmethod
    def of(
        attribute: str,
        numbers: FloatArray,
        halves: Sequence[Fraction] | None,
        share: Fraction,
        *,
        is_between: bool,
        scale: Fraction = Fraction(1),
        calendar: Calendar | None = None,
    ) -> Ladder:
        """The ladder of a column whose codes stand for these numbers; NaN for none.

        `halves` times the scale is how far the table's own numbers may be from them.
        """
        known = np.flatnonzero(~np.isnan(numbers))
        values, steps = np.unique(numbers[known], return_inverse=True)
        places = np.full(len(numbers), -1, np.int64)
        places[known] = steps
        off = np.zeros(len(values))
        if halves is not None:
            # One Fraction may stand for a million codes: it is worked out once.
            far = {id(half): half for half in halves}
            floats = {key: float(scale * half) for key, half in far.items()}
            np.maximum.at(off, steps, np.array([floats[id(half)] for half in halves])[known])
        in_order = bool((np.diff(places[: len(known)]) >= 0).all()) and len(places) > WIDE
        rising = len(known) if in_order and not (places[: len(known)] < 0).any() else None
        wanted = checked_share(share)
        return Ladder(attribute, values, off, places, wanted, is_between, rising, calendar)

    @staticmethod
    def of_column(domain: Domain, attribute: str, share: Fraction, *, is_between: bool) -> Ladder:
        """The ladder of a column as it is."""
        column = domain[attribute]
        calendar = calendar_of_column(column)
        if calendar is None:
            whole, unit = whole_vector(column)
        else:
            whole, unit = np.array(column.step_numbers()[0], np.int64), 1
        numbers = whole.astype(np.float64) / unit
        numbers[column.size - column.has_bucket :] = math.nan
        halves = column.half_widths()
        return Ladder.of(
            attribute, numbers, halves, share, is_between=is_between, calendar=calendar
        )

    @property
    def last(self) -> int:
        """The last step."""
        return len(self.values) - 1

    def between(self, counted: Query, first: int, last: int) -> Query:
        """Of the records counted, those on the steps from the first to the last of these."""
        if self.rising is not None:
            start, stop = self._codes_up_to(first - 1), self._codes_up_to(last)
            inside = [(0, start), (1, stop), (0, len(self.places))]
            return self._of(counted, Runs.of_stretches(inside))
        chosen = (self.places >= first) & (self.places <= last)
        return self._of(counted, chosen.astype(np.int64))

    def tilted(self, counted: Query, step: int) -> Query:
        """G at a step, times the denominator of the share, so that coefficients are whole."""
        below, above = self.share.denominator - self.share.numerator, -self.share.numerator
        if self.rising is not None:
            stops = [(below, self._codes_up_to(step)), (above, self.rising), (0, len(self.places))]
            return self._of(counted, Runs.of_stretches(stops))
        vector = np.where(self.places <= step, below, above)
        return self._of(counted, np.where(self.places < 0, 0, vector))

    def _codes_up_to(self, step: int) -> int:
        """How many codes of a rising ladder stand on a step or below it."""
        return int(np.searchsorted(self.places[: self.rising], step, side="right"))

    def _of(self, counted: Query, vector: Vector) -> Query:
        if extremes(vector) == (0, 0):
            return Query.of(counted.domain, [])
        cut = Query.unrounded(counted.domain, [Term(Fraction(1), ((self.attribute, vector),))])
        return counted.pointwise(cut)

    def outwards(self, low: float, high: float) -> tuple[float, float]:
        """An interval that allows for how far the table's own numbers may be from the steps."""
        first, last = np.searchsorted(self.values, [low, high])
        return (
            low - float(self.halves[min(first, self.last)]),
            high + float(self.halves[min(last, self.last)]),
        )


def checked_share(share: Fraction) -> Fraction:
    """The share below a quantile, if it is one."""
    if not 0 < share < 1:
        raise QueryError(
            "a quantile has a share between 0 and 1 below it, such as 0.5; for the least or the "
            "largest number ask for an extreme one, such as 0.001 or 0.999"
        )
    if share.denominator > 10**MOST_DIGITS:
        raise QueryError(f"write the share of a quantile with at most {MOST_DIGITS} digits")
    return share
