"""Rungs: the steps of a ladder, and which values of a column stand on each of them.

A column whose numbers are evenly spaced needs no list of them: its steps are its values, in their
order or in the opposite one, and whatever is counted up to a step is a run of codes.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from eke.arrays import FloatArray
from eke.query.runs import WIDE, Runs, Vector

_ENTRIES = 4 * 4  # four runs of four numbers
Side: TypeAlias = Literal["left", "right"]


class Rungs(Protocol):
    """What a ladder asks of its steps, which are numbered from 0 in ascending order."""

    @property
    def count(self) -> int:
        """How many steps there are."""

    @property
    def codes(self) -> int:
        """How many codes the column has."""

    @property
    def entries(self) -> int:
        """How many numbers a vector of coefficients is kept as."""

    @property
    def key(self) -> object:
        """Equal for equal steps of one column."""

    def value(self, step: int) -> float:
        """The number of a step."""

    def rank(self, number: float, side: Side) -> int:
        """How many steps lie below a number; with the side right, or at it."""

    def steps_of(self, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        """The step on which each code of the column stands; -1 for none."""

    def half(self, step: int) -> float:
        """How far the table's own numbers may be from that of a step."""

    @property
    def is_exact(self) -> bool:
        """Whether the table's own numbers are those of the steps."""

    def weighted(self, first: int, last: int, inside: int, above: int) -> Vector:
        """Coefficients: one on the steps from the first to the last, another above, 0 below."""

    def cuts(self, vector: Vector) -> Sequence[int]:
        """The steps after which an answer with these coefficients changes.

        Of a vector kept as runs, those after which a run ends: within a run it may change at every
        step, as a sum does, which tells little of any one of them.
        """


@dataclass(frozen=True, slots=True, eq=False)
class Uneven:
    """Steps in a list, with the step of each code."""

    values: FloatArray  # (steps,) ascending
    halves: FloatArray  # (steps,)
    places: NDArray[np.int64]  # (codes,) the step of each code; -1 for none
    rising: int | None = None  # how many codes of a wide column stand on steps, if in their order

    @staticmethod
    def of(numbers: FloatArray, halves: Sequence[Fraction] | None, scale: Fraction) -> Uneven:
        """The steps of a column whose codes stand for these numbers; NaN for none."""
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
        return Uneven(values, off, places, rising)

    @property
    def count(self) -> int:
        return len(self.values)

    @property
    def codes(self) -> int:
        return len(self.places)

    @property
    def entries(self) -> int:
        return self.codes

    @property
    def key(self) -> object:
        return self.values.tobytes(), self.halves.tobytes(), self.places.tobytes()

    def value(self, step: int) -> float:
        return float(self.values[step])

    def rank(self, number: float, side: Side) -> int:
        return int(np.searchsorted(self.values, number, side=side))

    def steps_of(self, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        return self.places[codes]

    def half(self, step: int) -> float:
        return float(self.halves[step])

    @property
    def is_exact(self) -> bool:
        return not self.halves.any()

    def weighted(self, first: int, last: int, inside: int, above: int) -> Vector:
        if self.rising is not None:
            start, stop = self._codes_up_to(first - 1), self._codes_up_to(last)
            stretches = [(0, start), (inside, stop), (above, self.rising), (0, self.codes)]
            return Runs.of_stretches(stretches)
        vector = np.where(self.places <= last, inside, above)
        return np.where(self.places < max(first, 0), 0, vector)

    def cuts(self, vector: Vector) -> Sequence[int]:
        places = self.places
        if isinstance(vector, Runs):
            ends = np.array(vector.stops[:-1], np.intp)
            lower = np.minimum(places[ends - 1], places[ends])
            return _listed(np.unique(lower[(lower >= 0) & (lower < self.count - 1)]))
        codes = np.zeros(self.count, np.intp)
        known = np.flatnonzero(places >= 0)
        codes[places[known][::-1]] = known[::-1]  # the first code of each step
        along = vector[codes]
        return _listed(np.flatnonzero(along[1:] != along[:-1]))

    def _codes_up_to(self, step: int) -> int:
        """How many codes of a rising ladder stand on a step or below it."""
        return int(np.searchsorted(self.places[: self.rising], step, side="right"))


@dataclass(frozen=True, slots=True)
class Even:
    """Steps at equal distances, one for each declared code of a wide column."""

    first: Fraction  # of the first code
    between: Fraction  # from each code to the next; below 0 where the steps go down
    count: int
    codes: int
    width: Fraction  # how far the table's own numbers may be from any of them

    @property
    def entries(self) -> int:
        return _ENTRIES

    @property
    def key(self) -> object:
        return self

    def value(self, step: int) -> float:
        if not 0 <= step < self.count:
            raise IndexError(step)
        code = step if self.between > 0 else self.count - 1 - step
        return float(self.first + self.between * code)

    def rank(self, number: float, side: Side) -> int:
        search = bisect_right if side == "right" else bisect_left
        return search(range(self.count), number, key=self.value)

    def steps_of(self, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        steps = codes if self.between > 0 else self.count - 1 - codes
        return np.where(codes < self.count, steps, -1)

    def half(self, step: int) -> float:
        del step
        return float(self.width)

    @property
    def is_exact(self) -> bool:
        return not self.width

    def weighted(self, first: int, last: int, inside: int, above: int) -> Vector:
        start, stop = max(first, 0), max(last + 1, first, 0)
        stretches: list[Any] = [(0, start), (inside, stop), (above, self.count)]
        if self.between < 0:
            turned = [self.count - stop, self.count - start, self.count]
            stretches = list(zip((above, inside, 0), turned, strict=True))
        return Runs.of_stretches([*stretches, (0, self.codes)])

    def cuts(self, vector: Vector) -> Sequence[int]:
        if isinstance(vector, Runs):
            ends = np.array(vector.stops[:-1], np.int64)
        else:
            ends = np.flatnonzero(vector[1:] != vector[:-1]) + 1
        ends = ends[ends < self.count]
        return _listed(ends - 1 if self.between > 0 else self.count - 1 - ends[::-1])


def _listed(steps: NDArray[np.integer[Any]]) -> list[int]:
    numbers: list[int] = steps.tolist()
    return numbers
