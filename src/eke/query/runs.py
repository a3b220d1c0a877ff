"""Runs: a vector over very many values as a few stretches, each a polynomial of degree 2 at most.

A condition is 0 or 1 on stretches of values; a column's own numbers, and their squares, are
polynomials of the code on them. So over a million values a vector is a few numbers, and nothing
that is kept of it, in memory or in a ledger, grows with the column.

A stretch from `start` has the differences (d0, d1, d2): k values further on its entry is
d0 + d1·k + d2·k(k − 1)/2, which is whole for whole differences, and every integer quadratic has
such. Which runs a vector has depends on its entries alone, never on how it was made (`_greedy`).
Everything said of entries here is exact: Python's integers, or 64-bit ones that wrap around and
come back, as the entries themselves are below 2⁶².
"""

from __future__ import annotations

import bisect
import math
import operator
import weakref
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from eke.domain.wide import is_wide, unlisted
from eke.errors import QueryError
from eke.query.vector import SAFE, IntVector, frozen_array, height

WIDE = 2**16
"""Vectors of more entries are kept as runs where they have few."""
_LIMIT = 2**59
"""Entries below it have third differences that int64 holds."""
_MOST_RUNS = 512
MOST_WIDE_RUNS = 4_096
"""Of a column whose values are never listed: a vector has no other form there."""
_WORTH = 8
"""A run is no polynomial unless that makes it so many entries longer."""

Piece: TypeAlias = tuple[int, int, int, int]
"""(start, d0, d1, d2)."""


class Runs:
    """A vector of `size` entries in canonical runs; immutable."""

    __slots__ = ("__dict__", "__weakref__", "_written", "pieces", "size")

    def __init__(self, size: int, pieces: Sequence[Piece]) -> None:
        """`pieces` are canonical already: `held` and `of_pieces` make them so."""
        self.size = size
        self.pieces = tuple(pieces)
        self._written: weakref.ref[IntVector] | None = None

    @staticmethod
    def of_pieces(size: int, pieces: Sequence[Piece]) -> Vector:
        """The vector with these pieces, in canonical form; the first starts at 0."""
        plain = Runs(size, pieces)
        if plain.height >= SAFE:
            raise QueryError("a factor of a query must hold integers below 2^62")
        if is_wide(size) and plain.height >= _LIMIT:
            raise QueryError(f"a factor over {size:,} values must hold integers below 2^59")
        ends = [start for start, *_ in pieces[1:]]
        near = sorted({p for end in ends for p in range(end - 3, end) if 0 <= p < size - 3})
        breaks = [p for p in near if plain._third(p)]
        most = MOST_WIDE_RUNS if is_wide(size) else _MOST_RUNS
        whole = _greedy(size, breaks, plain.at, plain._constant_until, most)
        if is_wide(size) and whole is None:
            raise QueryError(f"a factor has more than {most:,} runs of its {size:,} values")
        small = size <= WIDE or whole is None or plain.height >= _LIMIT
        return plain.dense() if small or whole is None else Runs(size, whole)

    @staticmethod
    def of_stretches(stretches: Sequence[tuple[int, int]]) -> Vector:
        """The vector with (entry, stop) of each stretch, which may be empty; the last ends it."""
        pieces: list[Piece] = []
        start = 0
        for entry, stop in stretches:
            if stop > start:
                pieces.append((start, entry, 0, 0))
                start = stop
        return Runs.of_pieces(start, pieces)

    @property
    def shape(self) -> tuple[int]:
        return (self.size,)

    @property
    def dtype(self) -> np.dtype[np.int64]:
        """That of its entries, written out."""
        return np.dtype(np.int64)

    # -- entries -------------------------------------------------------------------------------

    def dense(self) -> IntVector:
        """All entries, read-only; written out anew unless somebody holds them."""
        held = self._written() if self._written is not None else None
        if held is not None:
            return held
        if is_wide(self.size):
            raise QueryError(unlisted(self.size))
        vector = np.empty(self.size, np.int64)
        for (start, *differences), stop in zip(self.pieces, self.stops, strict=True):
            vector[start:stop] = _along(np.arange(stop - start), differences)
        vector.setflags(write=False)
        self._written = weakref.ref(vector)
        return vector

    def at(self, code: int) -> int:
        """One entry."""
        start, d0, d1, d2 = self.pieces[bisect.bisect_right(self._starts, code) - 1]
        k = code - start
        return d0 + d1 * k + d2 * (k * (k - 1) // 2)

    def at_codes(self, codes: NDArray[np.integer[Any]]) -> IntVector:
        """The entries at some codes."""
        places = np.searchsorted(self._starts, codes, side="right") - 1
        pieces = np.array(self.pieces, np.int64)[places]
        return _along(codes.astype(np.int64) - pieces[:, 0], pieces[:, 1:].T)

    @cached_property
    def stops(self) -> tuple[int, ...]:
        """The place after each run."""
        return (*self._starts[1:], self.size)

    @cached_property
    def _starts(self) -> list[int]:
        return [start for start, *_ in self.pieces]

    # -- what is asked of a vector -------------------------------------------------------------

    @cached_property
    def bounds(self) -> tuple[int, int]:
        """(lowest, highest) entry."""
        entries = [self.at(code) for places in self._turns() for code in places]
        return min(entries), max(entries)

    @property
    def height(self) -> int:
        """The largest absolute value."""
        return max(map(abs, self.bounds))

    @property
    def heights(self) -> list[int]:
        """The largest absolute value of each run; of equal entries, these."""
        return [
            piece[1] if not any(piece[2:]) else max(abs(self.at(code)) for code in places)
            for piece, places in zip(self.pieces, self._turns(), strict=True)
        ]

    @property
    def is_stepwise(self) -> bool:
        """True when the entries of each run are equal."""
        return not any(any(piece[2:]) for piece in self.pieces)

    @cached_property
    def total(self) -> int:
        """The sum of all entries."""
        return sum(
            d0 * n + d1 * math.comb(n, 2) + d2 * math.comb(n, 3)
            for n, (_, d0, d1, d2) in zip(self._lengths, self.pieces, strict=True)
        )

    @property
    def is_constant(self) -> bool:
        return len(self.pieces) == 1 and not any(self.pieces[0][2:])

    @cached_property
    def content(self) -> bytes:
        """Equal for equal vectors over one attribute, and never that of entries written out."""
        return repr(self.pieces).encode()

    def primitive(self) -> tuple[int, Runs]:
        """(factor, v) with factor · v the vector, v of gcd 1 and first non-zero entry positive."""
        numbers = [number for _, *differences in self.pieces for number in differences]
        divisor = math.gcd(*numbers)
        if divisor == 0:
            return 0, self
        # The first difference that is not 0 is the first entry that is not.
        factor = divisor if next(filter(None, numbers)) > 0 else -divisor
        if factor == 1:
            return 1, self
        divided = [(s, a // factor, b // factor, c // factor) for s, a, b, c in self.pieces]
        return factor, Runs(self.size, divided)

    def written(self) -> list[list[int]]:
        """[d0, repeats], followed by d1 and d2 where they are not 0."""
        runs = []
        for n, (_, d0, *higher) in zip(self._lengths, self.pieces, strict=True):
            while higher and not higher[-1]:
                higher.pop()
            runs.append([d0, n, *higher])
        return runs

    def third_differences(self) -> list[tuple[int, int]]:
        """(j, v_j − 3v_{j+1} + 3v_{j+2} − v_{j+3}) where it is not 0; entries beyond are 0."""
        places = sorted({p for stop in self.stops for p in range(max(stop - 3, 0), stop)})
        return [(place, third) for place in places if (third := self._third(place))]

    # -- how it is done ------------------------------------------------------------------------

    @property
    def _lengths(self) -> list[int]:
        return list(map(operator.sub, self.stops, self._starts))

    def _turns(self) -> Iterable[set[int]]:
        """Where each run may be lowest or highest: its ends, and next to its vertex."""
        for (start, _, d1, d2), stop in zip(self.pieces, self.stops, strict=True):
            places = {start, stop - 1}
            if d2:
                vertex = start - d1 // d2  # the step from k to k + 1 is d1 + d2·k
                places |= {min(max(vertex + k, start), stop - 1) for k in (-1, 0, 1, 2)}
            yield places

    def _third(self, place: int) -> int:
        v = [self.at(code) if code < self.size else 0 for code in range(place, place + 4)]
        return v[0] - 3 * v[1] + 3 * v[2] - v[3]

    def _constant_until(self, place: int) -> int:
        """The first place from here on with another entry."""
        entry = self.at(place)
        while place < self.size and self.at(place) == entry:
            run = bisect.bisect_right(self._starts, place) - 1
            place = place + 1 if any(self.pieces[run][2:]) else self.stops[run]
        return place


Vector: TypeAlias = IntVector | Runs
"""The coefficients of the values of one attribute. Equal ones have the same form."""


def held(vector: Vector) -> Vector:
    """The vector as it is kept: in runs if it is long and has few, else its entries, read-only."""
    if isinstance(vector, Runs):
        return vector
    if len(vector.shape) != 1 or len(vector) <= WIDE or vector.dtype != np.int64:
        return frozen_array(vector)
    return _in_runs(vector) or frozen_array(vector)


def codes_used(vector: Vector) -> IntVector:
    """Where entries are not 0; of a column that is not listed, the ends of such stretches.

    The place before the last one of a stretch is among them, for that may be a bucket's.
    """
    if not (isinstance(vector, Runs) and is_wide(vector.size)):
        return np.flatnonzero(dense(vector))
    stretches = zip(vector.pieces, vector.stops, strict=True)
    used = [(start, stop) for (start, *entry), stop in stretches if any(entry)]
    ends = {code for a, b in used for code in (a, max(a, b - 2), b - 1)}
    return np.array(sorted(ends), np.int64)


def dense(vector: Vector) -> IntVector:
    """All entries."""
    return vector.dense() if isinstance(vector, Runs) else vector


def copied(vector: Vector) -> Vector:
    """An equal vector that is made anew, and shares no memory that anybody can write to."""
    if isinstance(vector, Runs):
        return Runs.of_pieces(vector.size, vector.pieces)
    return vector.view()  # it belongs to somebody else, so that a term makes a copy of it


def content(vector: Vector) -> bytes:
    """Equal for equal vectors over one attribute."""
    return vector.content if isinstance(vector, Runs) else vector.tobytes()


def extremes(vector: Vector) -> tuple[int, int]:
    """(lowest, highest) entry."""
    return vector.bounds if isinstance(vector, Runs) else (int(vector.min()), int(vector.max()))


def steps_of(vector: Vector) -> tuple[IntVector, IntVector]:
    """(stops, entries) of stretches on which entries are equal; see `is_stepwise`.

    Where a run is no such stretch, its largest absolute value stands for all of its entries.
    """
    if isinstance(vector, Runs):
        return np.array(vector.stops, np.int64), np.array(vector.heights, np.int64)
    stops = np.append(np.flatnonzero(np.diff(vector)) + 1, len(vector)).astype(np.int64)
    return stops, vector[stops - 1]


def is_stepwise(vector: Vector) -> bool:
    """True when `steps_of` tells the very entries of a vector."""
    return not isinstance(vector, Runs) or vector.is_stepwise


def at_codes(vector: Vector, codes: NDArray[np.integer[Any]]) -> IntVector:
    """The entries at some codes."""
    return vector.at_codes(codes) if isinstance(vector, Runs) else vector[codes]


def total(vector: Vector) -> int:
    """The sum of all entries, exactly."""
    if isinstance(vector, Runs):
        return vector.total
    fits = height(vector) * vector.size < SAFE
    return int(vector.sum()) if fits else sum(vector.tolist())


def _in_runs(vector: IntVector) -> Runs | None:
    if height(vector) >= _LIMIT:
        return None
    steps = np.diff(vector)
    breaks = np.flatnonzero(np.diff(steps, n=2))
    if len(breaks) > 4 * _MOST_RUNS:
        return None
    changes = np.flatnonzero(steps)

    def constant_until(place: int) -> int:
        following = int(np.searchsorted(changes, place))
        return int(changes[following]) + 1 if following < len(changes) else len(vector)

    entry = lambda place: int(vector[place])  # noqa: E731
    pieces = _greedy(len(vector), breaks.tolist(), entry, constant_until)
    return None if pieces is None else Runs(len(vector), pieces)


def _greedy(
    size: int,
    breaks: Sequence[int],  # where the third difference of four entries is not 0
    entry: Callable[[int], int],
    constant_until: Callable[[int], int],
    most: int = _MOST_RUNS,
) -> list[Piece] | None:
    """The canonical runs, each as long as can be; None if there are too many.

    Equal entries are a run of their own unless a polynomial goes on for `_WORTH` more.
    """
    pieces: list[Piece] = []
    start = 0
    while start < size:
        if len(pieces) == most:
            return None
        after = bisect.bisect_left(breaks, start)
        until = breaks[after] + 3 if after < len(breaks) else size
        same = constant_until(start)
        v0 = entry(start)
        if until < same + _WORTH:
            pieces.append((start, v0, 0, 0))
            start = same
        else:
            v1, v2 = entry(start + 1), entry(start + 2)
            pieces.append((start, v0, v1 - v0, v2 - 2 * v1 + v0))
            start = until
    return pieces


def _along(k: IntVector, differences: Iterable[Any]) -> IntVector:
    """d0 + d1·k + d2·k(k − 1)/2, each maybe an array; int64 wraps around, and comes back."""
    d0, d1, d2 = (np.asarray(number, np.int64) for number in differences)
    with np.errstate(over="ignore"):
        entries: IntVector = d0 + d1 * k
        if not np.any(d2):
            return entries
        # Of k and k - 1 one is even; halved first, what wraps around is the number itself.
        even = k % 2 == 0
        pairs = np.where(even, k // 2, k) * np.where(even, k - 1, (k - 1) // 2)
        return np.asarray(entries + d2 * pairs)
