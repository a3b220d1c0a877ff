"""Refining whole tables: the finer noise of all answers at once, by the law of `refining.py`.

Of each answer the piece of the law that its random place falls into is found in doubles, which
decide wherever they cannot be wrong; what they leave open is decided one by one, exactly and by the
same random numbers. So the law is exact, and a table of a hundred thousand cells takes a second.
See docs/proofs/refinement.md, §3.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from eke.arrays import FloatArray
from eke.mechanism.noise import MANY
from eke.mechanism.refining import Drawn, FinerNoise
from eke.mechanism.table_noise import Integers, draw_geometric, random_words, shares_of
from eke.privacy.refinement import Refinement

MOST_STEPS = 2**42
"""Distances that fall off more slowly than this leave too much open to doubles."""

_OF_PLACES = 2.0**-44  # more than twice what the double of a place, or of an end, may be off
_LARGEST = 2**53  # noise that doubles hold


@dataclass(frozen=True, slots=True, eq=False)
class DrawnTogether:
    """What is drawn for many answers: the first 128 bits of a place, and two distances."""

    first: NDArray[np.uint64]
    more: NDArray[np.uint64]
    inside: Integers
    outside: Integers

    def one(self, answer: int) -> Drawn:
        """What was drawn for one of them."""
        place = (int(self.first[answer]) << 64) | int(self.more[answer])
        return Drawn(place, int(self.inside[answer]), int(self.outside[answer]))


class FinerTable:
    """The law of n₂ given n₁, for many answers at a time; see `FinerNoise`, its slow twin."""

    def __init__(self, law: Refinement) -> None:
        self._one_by_one = FinerNoise(law)
        coarse, fine = Fraction(1, law.coarse.steps), Fraction(1, law.fine.steps)
        self._inside, self._outside = fine - coarse, fine + coarse
        self._kept = math.expm1(-2.0 * coarse) / math.expm1(-2.0 * fine)

    @staticmethod
    def serves(law: Refinement, count: int) -> bool:
        """Whether so many answers are refined together; it follows from public numbers."""
        slowest = Fraction(1, law.fine.steps) - Fraction(1, law.coarse.steps)
        return count >= MANY and slowest * MOST_STEPS >= 1

    def draw(self, count: int) -> DrawnTogether:
        """What so many answers need, whatever they are."""
        return DrawnTogether(
            random_words(count),
            random_words(count),
            draw_geometric(1 / self._inside, count),
            draw_geometric(1 / self._outside, count),
        )

    @np.errstate(all="ignore")  # whatever others set; an underflow would tell of the noise
    def given(self, before: Sequence[int], drawn: DrawnTogether) -> list[int]:
        """The finer noise of each answer, given the noise before."""
        small = [noise if -_LARGEST < noise < _LARGEST else 0 for noise in before]
        signed = np.array(small, np.int64)
        distance, side = np.abs(signed), np.where(signed < 0, -1, 1)
        ends = self._ends(distance.astype(np.float64))
        share = shares_of(drawn.first)
        piece = sum((share > end).astype(np.int64) for end in ends)
        between = 1 + drawn.inside % np.maximum(distance - 1, 1)
        beyond = np.maximum(distance, 1) + drawn.outside
        finer: list[int] = np.choose(
            piece, [signed, -side * drawn.outside, side * between, side * beyond]
        ).tolist()
        open_ones = np.array([one != noise for one, noise in zip(small, before, strict=True)])
        for end in ends:
            open_ones |= np.abs(share - end) <= _OF_PLACES
        for answer in np.flatnonzero(open_ones).tolist():
            finer[answer] = self._one_by_one.given(before[answer], drawn.one(answer))
        return finer

    def _ends(self, distance: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The ends of the first three pieces, as `refining.py` has them, to 2^-46."""
        inside, outside = float(self._inside), float(self._outside)
        same = np.exp(-(distance + 1.0) * inside) * self._kept
        outer = -1.0 / math.expm1(-outside)
        inner = math.exp(-inside) / math.expm1(-inside)
        between = np.where(distance > 1.0, inner * np.expm1(-(distance - 1.0) * inside), 0.0)
        power = np.where(distance > 0.0, np.exp(-distance * inside), math.exp(-outside))
        above = power * outer
        moved = (1.0 - same) / (outer + between + above)
        below = same + moved * outer
        return same, below, below + moved * between
