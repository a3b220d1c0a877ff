"""Pieces: a function of the codes of one column, a polynomial on each of a few stretches.

So a column of 10¹² values is calculated with exactly, in Python's integers of any size, without a
list of its values: sums and products of pieces are pieces again, and so is what a function makes of
them that rises, or falls, by steps. What a query keeps in the end are `Runs`.

A stretch from `start` has differences (d0, d1, …): k codes further on the number is
Σ d_j · C(k, j), Newton's form, in which polynomials with whole values have whole differences.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from eke.errors import QueryError
from eke.query.runs import MOST_WIDE_RUNS, Runs, Vector, dense

Differences: TypeAlias = tuple[int, ...]
LabelT = TypeVar("LabelT")
_HIGHEST_DEGREE = 16


class TooLarge(QueryError):
    """An expression has too many terms, digits or stretches."""


class Pieces:
    """The numbers of the codes of a column, by stretches; immutable."""

    __slots__ = ("__dict__", "parts", "size")

    def __init__(self, size: int, parts: Sequence[tuple[int, Differences]]) -> None:
        """`parts` are (start, differences), the first from 0; neighbours are joined if they can."""
        self.size = size
        self.parts = tuple(_joined(size, parts))
        if len(self.parts) > MOST_WIDE_RUNS:
            raise TooLarge(too_many_stretches(size, MOST_WIDE_RUNS))

    # -- making --------------------------------------------------------------------------------

    @staticmethod
    def constant(size: int, number: int) -> Pieces:
        """The same number everywhere."""
        return Pieces(size, [(0, (number,))])

    @staticmethod
    def of_stretches(stretches: Sequence[tuple[int, int]]) -> Pieces:
        """The function with (number, stop) of each stretch, which may be empty."""
        parts: list[tuple[int, Differences]] = []
        start = 0
        for number, stop in stretches:
            if stop > start:
                parts.append((start, (number,)))
                start = stop
        return Pieces(start, parts)

    @staticmethod
    def of_vector(vector: Vector) -> Pieces:
        """The same function as a vector of a query."""
        if isinstance(vector, Runs):
            return Pieces(vector.size, [(start, tuple(rest)) for start, *rest in vector.pieces])
        return Pieces(
            len(vector), [(code, (number,)) for code, number in enumerate(vector.tolist())]
        )

    # -- reading -------------------------------------------------------------------------------

    def at(self, code: int) -> int:
        """The number of one code."""
        start, differences = self.parts[bisect.bisect_right(self._starts, code) - 1]
        return _value(differences, code - start)

    def at_codes(self, codes: NDArray[Any]) -> NDArray[Any]:
        """The numbers of some codes, as Python's integers."""
        numbers = np.empty(len(codes), object)
        numbers[:] = [self.at(int(code)) for code in codes]
        return numbers

    @cached_property
    def _starts(self) -> list[int]:
        return [start for start, _ in self.parts]

    @cached_property
    def stretches(self) -> list[tuple[int, int, Differences]]:
        """(start, stop, differences) of each stretch."""
        stops = [*self._starts[1:], self.size]
        return [(start, stop, d) for (start, d), stop in zip(self.parts, stops, strict=True)]

    @cached_property
    def bounds(self) -> tuple[int, int]:
        """(lowest, highest) number."""
        numbers = [
            _value(differences, place - start)
            for start, stop, differences in self.stretches
            for first, last in _rising_or_falling(differences, stop - start)
            for place in (start + first, start + last - 1)
        ]
        return min(numbers), max(numbers)

    @property
    def height(self) -> int:
        """The largest absolute number."""
        return max(map(abs, self.bounds))

    @property
    def is_zero(self) -> bool:
        return all(not any(differences) for _, differences in self.parts)

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for equal functions alone; two spellings of one may still have two keys."""
        return self.parts

    def signs(self) -> Iterator[tuple[int, int]]:
        """(sign, stop) of stretches on which all numbers are positive, zero or negative."""
        for start, stop, differences in self.stretches:
            for sign, end in _signs(differences, stop - start):
                yield sign, start + end

    def steps(self, label: Callable[[int], LabelT], most: int) -> Iterator[tuple[LabelT, int]]:
        """(label, stop) of stretches of equal labels, which rise, or fall, with the numbers."""
        made = 0
        for start, stop, differences in self.stretches:
            for first, last in _rising_or_falling(differences, stop - start):
                place, width = first, 1
                while place < last:
                    made += 1
                    if made > most:
                        raise TooLarge(too_many_stretches(self.size, most))
                    here = label(_value(differences, place))
                    end = _end_of(_labelling(label, differences), here, place, last, width)
                    width, place = end - place, end
                    yield here, start + end

    # -- calculating ---------------------------------------------------------------------------

    def __add__(self, other: Pieces) -> Pieces:
        return self._with(other, _sum)

    def __sub__(self, other: Pieces) -> Pieces:
        return self + other * -1

    def __mul__(self, other: Pieces | int) -> Pieces:
        if isinstance(other, int):
            parts = [(start, tuple(other * one for one in d)) for start, d in self.parts]
            return Pieces(self.size, parts)
        return self._with(other, _product)

    def __abs__(self) -> Pieces:
        return self * self.sign()

    def sign(self) -> Pieces:
        """1, 0 or -1 for each number."""
        return Pieces.of_stretches(list(self.signs()))

    def minimum(self, other: Pieces) -> Pieces:
        """The smaller of two numbers."""
        below = Pieces.of_stretches(
            [(int(sign < 0), stop) for sign, stop in (self - other).signs()]
        )
        return other + (self - other) * below

    def maximum(self, other: Pieces) -> Pieces:
        """The larger of two numbers."""
        return (self * -1).minimum(other * -1) * -1

    def _with(
        self, other: Pieces, operation: Callable[[Differences, Differences], Differences]
    ) -> Pieces:
        if self.size != other.size:
            raise ValueError("the two are over different columns")
        parts = [
            (start, operation(self._from(start), other._from(start)))
            for start in sorted({*self._starts, *other._starts})
        ]
        return Pieces(self.size, parts)

    def _from(self, start: int) -> Differences:
        """The differences of a stretch, seen from a code within it."""
        begin, differences = self.parts[bisect.bisect_right(self._starts, start) - 1]
        return _moved(differences, start - begin)

    def runs(self) -> Vector:
        """The same as a vector of a query."""
        if any(len(differences) > 3 for _, differences in self.parts):
            raise TooLarge(
                f"only numbers and their squares are added up over a column of {self.size:,} "
                "values; use lower powers"
            )
        pieces = [(start, *(*d, 0, 0, 0)[:3]) for start, d in self.parts]
        return Runs.of_pieces(self.size, pieces)  # type: ignore[arg-type]


def meet(first: Vector, second: Vector) -> bool:
    """Whether some entry is 0 in neither of two vectors."""
    if isinstance(first, Runs) and isinstance(second, Runs):
        return not (Pieces.of_vector(first) * Pieces.of_vector(second)).is_zero
    return bool((dense(first) * dense(second)).any())


def too_many_stretches(size: int, most: int) -> str:
    """Why a function of a wide column is refused."""
    return (
        f"this parts the {size:,} values of the column into more than {most:,} stretches, and no "
        "more are told apart; take wider steps, as FLOOR(x / 1000) has a thousand times wider ones "
        "than FLOOR(x), or list fewer values"
    )


def _joined(
    size: int, parts: Sequence[tuple[int, Differences]]
) -> Iterator[tuple[int, Differences]]:
    """The same parts without zeros at the end, each as long as it can be."""
    held: Differences
    begin, held = parts[0][0], (0,)
    for place, (start, differences) in enumerate(parts):
        stop = parts[place + 1][0] if place + 1 < len(parts) else size
        short = _trimmed(differences, stop - start)
        if place and _trimmed(_moved(held, start - begin), stop - start) == short:
            continue
        if place:
            yield begin, held
        begin, held = start, short
    yield begin, held


def _trimmed(differences: Differences, length: int) -> Differences:
    shorter = list(differences[:length])
    while len(shorter) > 1 and not shorter[-1]:
        shorter.pop()
    return tuple(shorter)


def _value(differences: Differences, k: int) -> int:
    total, binomial = 0, 1
    for j, difference in enumerate(differences):
        total += difference * binomial
        binomial = binomial * (k - j) // (j + 1)
    return total


def _moved(differences: Differences, by: int) -> Differences:
    """The differences of the same polynomial, seen from some codes further on."""
    if not by:
        return differences
    return tuple(_value(differences[j:], by) for j in range(len(differences)))


def _sum(first: Differences, second: Differences) -> Differences:
    length = max(len(first), len(second))
    left, right = ((*one, *[0] * (length - len(one))) for one in (first, second))
    return tuple(map(int.__add__, left, right))


def _product(first: Differences, second: Differences) -> Differences:
    degree = len(first) + len(second) - 2
    if degree > _HIGHEST_DEGREE:
        raise TooLarge("the powers are too high; use lower ones")
    numbers = [_value(first, k) * _value(second, k) for k in range(degree + 1)]
    differences = []
    while numbers:
        differences.append(numbers[0])
        numbers = [later - earlier for earlier, later in pairwise(numbers)]
    return tuple(differences)


def _signs(differences: Differences, length: int) -> list[tuple[int, int]]:
    """(sign, stop) of the stretches of a polynomial on codes 0 to length - 1."""
    stretches: list[tuple[int, int]] = []
    for first, last in _rising_or_falling(differences, length):
        place = first
        while place < last:
            here = _sign(_value(differences, place))
            end = _end_of(lambda k: _sign(_value(differences, k)), here, place, last, last - place)
            if stretches and stretches[-1][0] == here:
                stretches.pop()
            stretches.append((here, end))
            place = end
    return stretches


def _rising_or_falling(differences: Differences, length: int) -> list[tuple[int, int]]:
    """(first, stop) of stretches on which a polynomial never turns."""
    if len(differences) <= 2 or length <= 2:
        return [(0, length)]
    stops = [stop for _, stop in _signs(differences[1:], length - 1)]
    stops[-1] = length
    return [*pairwise([0, *stops])]


def _labelling(label: Callable[[int], LabelT], differences: Differences) -> Callable[[int], LabelT]:
    return lambda k: label(_value(differences, k))


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)


def _end_of(label: Callable[[int], Any], here: object, first: int, stop: int, width: int) -> int:
    """The first place from `first` to `stop` with another label; first + width is a guess."""
    known, other = first, stop
    for guess in (first + width - 1, first + width):
        if known < guess < other:
            if label(guess) == here:
                known = guess
            else:
                other = guess
    while other - known > 1:
        middle = (known + other) // 2
        if label(middle) == here:
            known = middle
        else:
            other = middle
    return other
