"""Row numbers: how many rows of each sort public facts ask for, as equations in integers.

The last number is that of all rows. Each part of the columns has a number for every sort of rows
that there can be; those of a part add up to the last one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from eke.arrays import Codes
from eke.errors import FactError
from eke.inference.whole_counts import Equations, nearest_in, whole_near
from eke.publish.row_sorts import MOST_ENTRIES, TOO_MANY, PublicNumber, RowSorts

MOST_COUNTED = 2**13
"""Sorts of rows whose numbers are sought together."""


@dataclass(frozen=True, slots=True, eq=False)
class RowPart:
    """A part of the columns, which sorts of its rows can be, and what else is said of them."""

    sorts: RowSorts
    allowed: NDArray[np.bool_]
    counted: tuple[tuple[Codes, Codes, int], ...]  # (sorts, coefficients, value) of each equation


def part_with_rules(sorts: RowSorts, rows: int | None) -> RowPart:
    """A part with what is said of it, as rules for every row as far as that is what it says.

    A sum is a rule when it is the least or the most that so many rows could have.
    """
    allowed = np.ones(sorts.size, np.bool_)
    counted = []
    for number in sorts.numbers:
        places, coefficients = sorts.coefficients(number.query)
        value = _whole(number)
        every = np.zeros(sorts.size, np.int64)
        every[places] = coefficients
        for end, ruled_out in (
            (int(every.min()), every > every.min()),
            (int(every.max()), every < every.max()),
        ):
            if value == 0 == end or (rows and value == end * rows):
                allowed &= ~ruled_out
                break
        else:
            counted.append((places, coefficients, value))
    if not allowed.any() and rows != 0:
        named = ", ".join(dict.fromkeys(one.name for one in sorts.numbers))
        raise FactError(
            f"no row can meet all public facts together: they rule out every value of "
            f"{', '.join(sorts.attributes)} ({named}). Nothing was charged; take back what is wrong"
        )
    return RowPart(sorts, allowed, tuple(counted))


class RowNumbers:
    """The equations of all parts, and whole numbers that meet them; raises if there are none."""

    def __init__(self, parts: Sequence[RowPart], low: int, high: int) -> None:
        self._parts = [part for part in parts if part.counted]
        self._equations = _equations(self._parts, low, high)
        self._solved: dict[int, Codes] = {}
        self._first = self._nearest(low)
        if self._first is None:
            named = "; ".join(
                dict.fromkeys(one.name for part in self._parts for one in part.sorts.numbers)
            )
            many = f"with {low:,} rows " if low == high else ""
            raise FactError(
                f"public facts cannot hold {many}all together, in whole numbers of rows: {named}. "
                "Nothing was charged; leave rows= out, or take back the facts that are wrong"
            )

    def rows_near(self, wanted: int) -> int:
        """A number of rows for which the equations can be met, next to this one."""
        solved = self._nearest(wanted)
        if solved is None and self._first is not None:
            solved = self._first
        return wanted if solved is None else int(solved[-1])

    def wanted(self, counts: Sequence[Codes], rows: int) -> list[Codes]:
        """How many rows of each sort there are to be, next to how many there are in each part.

        Of as many rows as `rows_near` said.
        """
        present = [
            own[part.allowed].astype(np.float64)
            for own, part in zip(counts, self._parts, strict=True)
        ]
        low, high = self._equations.low.copy(), self._equations.high.copy()
        low[-1] = high[-1] = rows
        fixed = self._equations.with_bounds(low, high)
        solved = whole_near(fixed, np.concatenate([*present, [float(rows)]]))
        if solved is None:
            solved = self._solved[rows]
        result, start = [], 0
        for part in self._parts:
            size = int(part.allowed.sum())
            numbers = np.zeros(part.sorts.size, np.int64)
            numbers[part.allowed] = solved[start : start + size]
            result.append(numbers)
            start += size
        return result

    def _nearest(self, wanted: int) -> Codes | None:
        solved = nearest_in(self._equations, len(self._equations.low) - 1, wanted)
        if solved is not None:
            self._solved[int(solved[-1])] = solved
        return solved


def _equations(parts: Sequence[RowPart], low: int, high: int) -> Equations:
    sizes = [int(part.allowed.sum()) for part in parts]
    last = sum(sizes)
    if last > MOST_COUNTED:
        raise FactError(TOO_MANY)
    rows, places, coefficients = [], [], []
    values: list[int] = []
    start = 0
    for part, size in zip(parts, sizes, strict=True):
        position = np.cumsum(part.allowed) - 1 + start
        for sorts, amounts, value in part.counted:
            open_to = part.allowed[sorts]
            rows.append(np.full(int(open_to.sum()), len(values)))
            places.append(position[sorts[open_to]])
            coefficients.append(amounts[open_to])
            values.append(value)
        rows.append(np.full(size + 1, len(values)))  # all sorts together are all rows
        places.append(np.append(np.arange(start, start + size), last))
        coefficients.append(np.append(np.ones(size, np.int64), -1))
        values.append(0)
        start += size
    if sum(map(len, rows)) > MOST_ENTRIES:
        raise FactError(TOO_MANY)
    most = np.full(last + 1, high, np.int64)
    least = np.append(np.zeros(last, np.int64), low)
    return Equations(
        np.concatenate(rows).astype(np.int64),
        np.concatenate(places).astype(np.int64),
        np.concatenate(coefficients).astype(np.int64),
        np.array(values, np.int64),
        least,
        most,
    )


def _whole(number: PublicNumber) -> int:
    """The value in units of the question's coefficients."""
    units = number.value / Fraction(2) ** number.query.exponent
    if units.denominator != 1:
        raise FactError(
            f"{number.name} would have to be {float(number.value):.10g} in the rows, which whole "
            "rows cannot have. Nothing was charged; leave rows= out, say another number of rows, "
            "or take the fact back"
        )
    return int(units)
