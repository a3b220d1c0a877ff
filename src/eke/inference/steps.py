"""Vectors of residues by their steps: most are constant over long ranges of values.

With S_j = r_0 + … + r_j, a product Σ_i v_i r_i is Σ_j (v_j − v_{j+1}) S_j (v ends in a zero). Only
the values at which v changes count: two for a range, however wide its attribute is. Arithmetic
modulo a prime is exact, so that this is the same number.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from eke.inference.compiled import SMALL, loops
from eke.inference.residues import Residues, multiply, product, residues
from eke.query.view import view_with

_FEW = 8
"""Vectors that change at fewer than one value in so many are worth being looked up there."""


def sums(vector: Residues) -> Residues:
    """r_0, r_0 + r_1, …, modulo PRIME."""
    return residues(np.cumsum(vector, dtype=np.int64))


def steps_of(vector: NDArray[np.int64]) -> tuple[NDArray[np.intp], Residues]:
    """(places, steps): where a vector differs from the value after it, and by how much."""
    own = residues(vector).astype(np.int64)
    steps = residues(own - np.append(own[1:], 0))
    places = np.flatnonzero(steps)
    return places, steps[places]


def product_of_sums(matrix: Residues, vector: NDArray[np.int64]) -> Residues:
    """For each row S of sums, Σ_i vector_i r_i."""
    places, steps = steps_of(vector)
    if len(places) * _FEW > matrix.shape[1]:
        whole = np.zeros(matrix.shape[1], np.int32)
        whole[places] = steps
        return product(matrix, whole)
    return product(matrix[:, places], steps)


class StepRows:
    """Many vectors over one attribute, each as its steps."""

    __slots__ = ("_ends", "_places", "_size", "_steps")

    def __init__(self) -> None:
        self._ends: list[int] = []
        self._places = np.empty(64, np.int32)
        self._steps = np.empty(64, np.int32)
        self._size = 0

    @property
    def nbytes(self) -> int:
        return self._places.nbytes + self._steps.nbytes

    def view(self) -> StepRows:
        """The vectors so far, for good; they never change, so they are shared (`growing.py`)."""
        return view_with(
            self,
            _ends=list(self._ends),
            _places=self._places[: self._size],
            _steps=self._steps[: self._size],
        )

    def append(self, vector: NDArray[np.int64]) -> None:
        places, steps = steps_of(vector)
        first, self._size = self._size, self._size + len(places)
        self._places = _with_room(self._places, first, self._size)
        self._steps = _with_room(self._steps, first, self._size)
        self._places[first : self._size] = places
        self._steps[first : self._size] = steps
        self._ends.append(self._size)

    def products(self, vector: Residues) -> Residues:
        """The product of each vector held with this one."""
        ends = np.array(self._ends, np.int64)
        running = sums(vector)
        if len(ends) > SMALL:
            return np.asarray(loops().step_products(self._places, self._steps, ends, running))
        terms = multiply(self._steps[: self._size], running[self._places[: self._size]])
        added = np.concatenate([[0], np.cumsum(terms, dtype=np.int64)])
        return residues(np.diff(added[np.concatenate([[0], ends])]))


def _with_room(buffer: Residues, used: int, needed: int) -> Residues:
    if needed <= len(buffer):
        return buffer
    grown = np.empty(max(needed, len(buffer) * 3 // 2), np.int32)
    grown[:used] = buffer[:used]
    return grown
