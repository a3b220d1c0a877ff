"""Vectors of residues by their steps: most are constant over long ranges of values.

With S_j = r_0 + … + r_j, a product Σ_i v_i r_i is Σ_j (v_j − v_{j+1}) S_j (v ends in a zero). Only
the values at which v changes count: two for a range, however wide its attribute is. Arithmetic
modulo a prime is exact, so that this is the same number.

Along a wide attribute the same is done three times over, with the third differences of v and sums
of sums of sums: those of numbers and of their squares are 0 but where a run ends (`query/runs.py`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from eke.inference.compiled import loops, worth
from eke.inference.residues import PRIME, Residues, multiply, residues
from eke.query.growing import GrowingVector
from eke.query.parts import Parts
from eke.query.runs import WIDE, Runs, Vector
from eke.query.view import made_of


def steps_of(vector: Vector) -> tuple[NDArray[np.intp], Residues]:
    """(places, steps): where a vector differs from the value after it, and by how much.

    Of a long one, where its third differences are not 0, and what they are.
    """
    if isinstance(vector, Runs):
        known = [(place, step % PRIME) for place, step in vector.third_differences()]
        at = np.array([place for place, step in known if step], np.intp)
        return at, np.array([step for _, step in known if step], np.int32)
    steps = residues(vector)
    for _ in range(order_of(len(vector))):
        wide = steps.astype(np.int64)
        steps = residues(wide - np.append(wide[1:], 0))
    places = np.flatnonzero(steps)
    return places, steps[places]


def order_of(size: int) -> int:
    """Which differences are taken along an attribute."""
    return 3 if size > WIDE else 1


class StepRows:
    """Many vectors over one attribute, each as its steps."""

    __slots__ = ("_ends", "_places", "_steps")

    def __init__(self, size: int = 0) -> None:
        self._ends = GrowingVector(np.int64)
        self._places: GrowingVector[Any] = GrowingVector(np.int32 if size < 2**31 else np.int64)
        self._steps = GrowingVector(np.int32)

    @property
    def nbytes(self) -> int:
        return self._places.nbytes + self._steps.nbytes

    def view(self) -> StepRows:
        """The vectors so far, for good; they never change, so they are shared (`growing.py`)."""
        return made_of(
            StepRows,
            _ends=self._ends.view(),
            _places=self._places.view(),
            _steps=self._steps.view(),
        )

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

    @property
    def places(self) -> NDArray[np.integer[Any]]:
        """Where the vectors have steps, one after the other."""
        return self._places.array

    def append(self, vector: Vector) -> None:
        places, steps = steps_of(vector)
        self._places.extend(places)
        self._steps.extend(steps)
        self._ends.extend(len(self._places))

    def products(self, running: Residues) -> Residues:
        """The product of each vector held with the one that has these running sums."""
        ends, places, steps = self._ends.array, self._places.array, self._steps.array
        if worth(len(ends)):
            return np.asarray(loops().step_products(places, steps, ends, running))
        return self.products_at(running[places])

    def products_at(self, sums: Residues) -> Residues:
        """The same, given the running sums at `places` alone."""
        added = np.cumsum(multiply(self._steps.array, sums), dtype=np.int64)
        ends = np.concatenate([[0], self._ends.array])
        return residues(np.diff(np.concatenate([[0], added])[ends]))
