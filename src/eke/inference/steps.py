"""Vectors of residues by their steps: most are constant over long ranges of values.

With S_j = r_0 + … + r_j, a product Σ_i v_i r_i is Σ_j (v_j − v_{j+1}) S_j (v ends in a zero). Only
the values at which v changes count: two for a range, however wide its attribute is. Arithmetic
modulo a prime is exact, so that this is the same number.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from eke.inference.compiled import loops, worth
from eke.inference.residues import Residues, multiply, residues
from eke.query.growing import GrowingVector
from eke.query.parts import Parts
from eke.query.view import made_of


def steps_of(vector: NDArray[np.int64]) -> tuple[NDArray[np.intp], Residues]:
    """(places, steps): where a vector differs from the value after it, and by how much."""
    remainders = residues(vector).astype(np.int64)
    steps = residues(remainders - np.append(remainders[1:], 0))
    places = np.flatnonzero(steps)
    return places, steps[places]


class StepRows:
    """Many vectors over one attribute, each as its steps."""

    __slots__ = ("_ends", "_places", "_steps")

    def __init__(self) -> None:
        self._ends = GrowingVector(np.int64)
        self._places = GrowingVector(np.int32)
        self._steps = GrowingVector(np.int32)

    @property
    def nbytes(self) -> int:
        return self._places.nbytes + self._steps.nbytes

    def view(self) -> StepRows:
        """The vectors so far, for good; they never change, so they are shared (`growing.py`)."""
        return self.from_parts(self.parts())

    def parts(self) -> Parts:
        """Everything in it, as arrays."""
        return {
            "ends": self._ends.array,
            "places": self._places.array,
            "steps": self._steps.array,
        }

    @classmethod
    def from_parts(cls, parts: Parts) -> StepRows:
        """The vectors as they were when their parts were taken."""
        return made_of(
            cls,
            _ends=GrowingVector.of(parts["ends"]),
            _places=GrowingVector.of(parts["places"]),
            _steps=GrowingVector.of(parts["steps"]),
        )

    def append(self, vector: NDArray[np.int64]) -> None:
        places, steps = steps_of(vector)
        self._places.extend(places)
        self._steps.extend(steps)
        self._ends.extend(len(self._places))

    def products(self, running: Residues) -> Residues:
        """The product of each vector held with the one that has these running sums."""
        ends, places, steps = self._ends.array, self._places.array, self._steps.array
        if worth(len(ends)):
            return np.asarray(loops().step_products(places, steps, ends, running))
        added = np.concatenate([[0], np.cumsum(multiply(steps, running[places]), dtype=np.int64)])
        return residues(np.diff(added[np.concatenate([[0], ends])]))
