"""Inner products of vectors in runs, by closed sums over the stretches that two of them share.

Where two runs overlap, on n values around a middle m, each is p(m) + p′(m)·u + p″(m)/2·u², and
Σ 1 = n, Σ u² = n(n² − 1)/12, Σ u⁴ = n(n² − 1)(3n² − 7)/240, while odd powers cancel. In doubles
this is as exact as a product entry by entry, and costs as much for ten million values as for ten.

Any prior would do, as what follows from history does not depend on it. Over a wide column the first
and the last two codes, of which the last may be the bucket, have 1/64 each, and all codes share the
rest. Else x > 0, or x IS NOT NULL, would differ from everything by one of 10⁹ values, and doubles
could not tell the two apart well enough to use both.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from eke.arrays import FloatArray
from eke.domain.wide import is_wide
from eke.query.growing import GrowingMatrix, GrowingVector
from eke.query.parts import Parts
from eke.query.runs import Runs, Vector
from eke.query.view import made_of

ATOM = Fraction(1, 64)


def ends_of(size: int) -> tuple[int, ...]:
    """The codes that have a share of the prior for themselves."""
    return (0, size - 2, size - 1) if is_wide(size) else ()


def prior_mean(vector: Runs) -> Fraction:
    """The mean of the entries of a vector under the prior."""
    ends = ends_of(vector.size)
    plain = (1 - len(ends) * ATOM) * Fraction(vector.total, vector.size)
    return plain + ATOM * sum(vector.at(code) for code in ends)


class RunStack:
    """Vectors in runs along one attribute, each of one term."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._terms = GrowingVector(np.int64)
        self._starts = GrowingVector(np.int64)  # the first piece of each
        self._pieces: GrowingMatrix[np.int64] = GrowingMatrix(np.int64, 5)  # with where they stop

    def __len__(self) -> int:
        return len(self._terms)

    def view(self) -> RunStack:
        """The vectors so far, for good; they are shared."""
        return made_of(
            RunStack,
            _size=self._size,
            _terms=self._terms.view(),
            _starts=self._starts.view(),
            _pieces=self._pieces.view(),
        )

    def parts(self) -> Parts:
        """Everything in it, as arrays."""
        return {
            "terms": self._terms.array,
            "starts": self._starts.array,
            "pieces": self._pieces.array,
        }

    @classmethod
    def from_parts(cls, size: int, parts: Parts) -> RunStack:
        return made_of(
            cls,
            _size=size,
            _terms=GrowingVector.of(parts["terms"]),
            _starts=GrowingVector.of(parts["starts"]),
            _pieces=GrowingMatrix.of(parts["pieces"]),
        )

    def append(self, term: int, runs: Runs) -> None:
        """Keep the vector of a term."""
        self._terms.extend(term)
        self._starts.extend(len(self._pieces))
        for piece, stop in zip(runs.pieces, runs.stops, strict=True):
            self._pieces.append(np.array([*piece, stop]))

    def write_means(self, vector: Vector, into: FloatArray) -> None:
        """The mean of each vector held · this one, into the places of their terms."""
        if not len(self):
            return
        if not isinstance(vector, Runs):
            stops = [*self._starts.array[1:].tolist(), len(self._pieces)]
            for term, start, stop in zip(self._terms.array, self._starts.array, stops, strict=True):
                held = [(a, b, c, d) for a, b, c, d, _ in self._pieces.array[start:stop].tolist()]
                into[term] = Runs(self._size, held).dense() @ (vector / self._size)
            return
        pieces = self._pieces.array.astype(np.float64)
        total = np.zeros(len(pieces))
        for piece, stop in zip(vector.pieces, vector.stops, strict=True):
            total += _overlaps(pieces, np.array([*piece, stop], np.float64))
        means = np.add.reduceat(total, self._starts.array) / self._size
        ends = ends_of(self._size)
        if ends:
            means *= float(1 - len(ends) * ATOM)
            means += self._at(ends) @ np.array([float(ATOM * vector.at(code)) for code in ends])
        into[self._terms.array] = means

    def _at(self, codes: tuple[int, ...]) -> FloatArray:  # (vectors, codes)
        """The entries of the vectors held at some codes."""
        pieces = self._pieces.array.astype(np.float64)
        owners = np.repeat(
            np.arange(len(self)), np.diff(np.append(self._starts.array, len(pieces)))
        )
        entries = np.zeros((len(self), len(codes)))
        for place, code in enumerate(codes):
            here = (pieces[:, 0] <= code) & (code < pieces[:, 4])
            entries[owners[here], place] = _around(pieces[here].T, np.float64(code))[0]
        return entries


def _overlaps(pieces: FloatArray, other: FloatArray) -> FloatArray:  # (pieces,)
    """Σ over the values that each piece and another one share, of the product of their entries."""
    first = np.maximum(pieces[:, 0], other[0])
    n = np.maximum(np.minimum(pieces[:, 4], other[4]) - first, 0.0)
    middle = first + (n - 1.0) / 2.0
    p0, p1, p2 = _around(pieces.T, middle)
    q0, q1, q2 = _around(other, middle)
    squares = n * (n * n - 1.0) / 12.0
    fourths = squares * (3.0 * n * n - 7.0) / 20.0
    total: FloatArray = n * p0 * q0 + squares * (p1 * q1 + p0 * q2 + p2 * q0) + fourths * p2 * q2
    return total


def _around(
    piece: FloatArray, middle: FloatArray | np.float64
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """(p(m), p′(m), p″(m)/2)."""
    start, d0, d1, d2, _ = piece
    k = middle - start
    return d0 + d1 * k + d2 * k * (k - 1.0) / 2.0, d1 + d2 * (k - 0.5), d2 / 2.0 + 0.0 * k
