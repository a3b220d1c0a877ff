"""Ladder: the numbers of a column in order, and what is counted to find a quantile among them.

With n records and N(t) of them at most t, the p-quantile is the least number t with N(t) ≥ p·n. So
G(t) = N(t) − p·n, which is linear, tells on which side of t it lies.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np

from eke.arrays import FloatArray
from eke.domain import Domain
from eke.errors import QueryError
from eke.query import Query, Term
from eke.query.numbers import whole_vector
from eke.query.runs import WIDE, Vector, extremes
from eke.question.calendar import Calendar, calendar_of_column
from eke.question.rungs import Even, Rungs, Uneven

MOST_DIGITS = 6
"""Of a share, as in 0.999999."""


@dataclass(frozen=True, slots=True)
class Ladder:
    """The steps that a quantile can be, each a number, and which codes of a column stand on them.

    `is_between` is for quantiles that lie between two records, as PERCENTILE_CONT has them: they
    are interpolated, and the two may stand on different steps. With a calendar the numbers stand
    for dates or times. With `is_chosen` the quantile is chosen among the steps by one private
    choice (`eke.history.choice`), and not found by counts up to each of them.
    """

    attribute: str
    rungs: Rungs = field(compare=False)
    share: Fraction
    is_between: bool
    calendar: Calendar | None = None
    is_chosen: bool = False
    key: Any = field(init=False, repr=False)
    """What tells its rungs from those of other ladders of the column."""

    def __post_init__(self) -> None:
        checked_share(self.share)
        object.__setattr__(self, "key", self.rungs.key)

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
        rungs = Uneven.of(numbers, halves, scale)
        return Ladder(attribute, rungs, share, is_between, calendar)

    @staticmethod
    def even(
        domain: Domain,
        attribute: str,
        share: Fraction,
        *,
        is_between: bool,
        slope: Fraction = Fraction(1),
        shift: Fraction = Fraction(0),
    ) -> Ladder | None:
        """That of slope · column + shift for a wide column of numbers; None for other columns."""
        column = domain[attribute]
        spaced = column.progression
        if spaced is None or column.size <= WIDE or not slope:
            return None
        first, between = slope * spaced[0] + shift, slope * spaced[1]
        half = abs(slope) * column.widest_half()
        declared = column.size - column.has_bucket
        rungs = Even(first, between, declared, column.size, half)
        return Ladder(attribute, rungs, share, is_between)

    @staticmethod
    def of_column(
        domain: Domain,
        attribute: str,
        share: Fraction,
        *,
        is_between: bool,
        is_chosen: bool = False,
    ) -> Ladder:
        """The ladder of a column as it is."""
        even = Ladder.even(domain, attribute, share, is_between=is_between)
        if even is not None:
            return replace(even, is_chosen=is_chosen)
        column = domain[attribute]
        calendar = calendar_of_column(column)
        if calendar is None:
            whole, unit = whole_vector(column)
        else:
            whole, unit = np.array(column.step_numbers()[0], np.int64), 1
        numbers = whole.astype(np.float64) / unit
        numbers[column.size - column.has_bucket :] = math.nan
        halves = column.half_widths()
        uneven = Ladder.of(
            attribute, numbers, halves, share, is_between=is_between, calendar=calendar
        )
        return replace(uneven, is_chosen=is_chosen)

    @property
    def last(self) -> int:
        """The last step."""
        return self.rungs.count - 1

    def value(self, step: int) -> float:
        """The number of a step."""
        return self.rungs.value(step)

    def between(self, counted: Query, first: int, last: int) -> Query:
        """Of the records counted, those on the steps from the first to the last of these."""
        return self._of(counted, self.rungs.weighted(first, last, 1, 0))

    def tilted(self, counted: Query, step: int) -> Query:
        """G at a step, times the denominator of the share, so that coefficients are whole."""
        below, above = self.share.denominator - self.share.numerator, -self.share.numerator
        return self._of(counted, self.rungs.weighted(0, step, below, above))

    def _of(self, counted: Query, vector: Vector) -> Query:
        if extremes(vector) == (0, 0):
            return Query.of(counted.domain, [])
        cut = Query.unrounded(counted.domain, [Term(Fraction(1), ((self.attribute, vector),))])
        return counted.pointwise(cut)

    def outwards(self, low: float, high: float) -> tuple[float, float]:
        """An interval that allows for how far the table's own numbers may be from the steps."""
        first, last = (min(self.rungs.rank(end, "left"), self.last) for end in (low, high))
        return low - self.rungs.half(first), high + self.rungs.half(last)


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
