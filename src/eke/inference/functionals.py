"""Random functionals, as many as needed, whose numbers are worked out where they are looked at.

A functional has a vector r for each attribute, random residues that add up to 1, and what is used
of it are the running sums S_j = r_0 + … + r_j. Sums that are random and independent, but for the
last, which is 1, have vectors that are. So S_j is a hash of the functional's number, the attribute
and j: nothing is stored, and a question that changes at two values looks at two of them.

Along a wide attribute the sums of sums of sums W_j are hashes, for `steps.py` takes third
differences there. The last is such that Σ r = W_j − 2W_{j−1} + W_{j−2}, at the last j, is 1.
Vectors and sums of any order determine each other, so that these vectors are as random.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from eke.inference.residues import PRIME, Residues, product
from eke.inference.steps import order_of, steps_of
from eke.query.growing import GrowingMatrix
from eke.query.runs import Vector

Numbers: TypeAlias = NDArray[np.int64]

# Fixed on purpose: decisions must come out the same on every replay. Whoever crafts a query to pass
# the checks only fools themselves: what is inferred costs no privacy.
_SEED = 727
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_FEW = 8
"""Vectors that change at fewer than one value in so many are looked up there."""


class Functionals:
    """The functionals 0, 1, 2, … over the attributes of a domain. Threads may share them."""

    def __init__(self, sizes: Mapping[str, int]) -> None:
        self._sizes = sizes
        self._seeds = {name: np.uint64(_SEED + place) for place, name in enumerate(sizes)}
        # All sums of the first functionals, along attributes where something changes often.
        self._sums: dict[str, GrowingMatrix[np.int32]] = {}
        self._lock = threading.Lock()

    @property
    def nbytes(self) -> int:
        return sum(matrix.nbytes for matrix in self._sums.values())

    def sums(self, name: str, number: int) -> Residues:  # (|A_k|,)
        """The running sums of one functional along an attribute."""
        (sums,) = self._drawn(name, np.array([number]), np.arange(self._sizes[name]))
        return np.asarray(sums)

    def sums_at(self, name: str, number: int, places: NDArray[np.integer[Any]]) -> Residues:
        """Some of the sums of one functional along an attribute."""
        (sums,) = self._drawn(name, np.array([number]), places)
        return np.asarray(sums)

    def products(self, name: str, vector: Vector, numbers: Numbers) -> Residues:
        """Σ_i vector_i r_i of each of these functionals, whose numbers increase."""
        places, steps = steps_of(vector)
        size = self._sizes[name]
        if len(places) * _FEW <= size:
            return product(self._drawn(name, numbers, places), steps)
        whole = np.zeros(size, np.int32)
        whole[places] = steps
        return product(self._kept(name, numbers), whole)

    def _kept(self, name: str, numbers: Numbers) -> Residues:
        """All sums of these functionals; they never change, and are kept for the next time."""
        last = int(numbers[-1]) + 1
        with self._lock:
            known = self._sums.setdefault(name, GrowingMatrix(np.int32, self._sizes[name]))
            for number in range(len(known), last):
                known.append(self.sums(name, number))
            sums = known.array
        return sums[:last] if last == len(numbers) else sums[numbers]

    def _drawn(self, name: str, numbers: Numbers, places: NDArray[np.integer[Any]]) -> Residues:
        """The sums of these functionals at these places, (numbers, places)."""
        rows = _mixed(_mixed(self._seeds[name]) + numbers.astype(np.uint64) * _GOLDEN)
        hashes = _mixed(rows[:, None] + places.astype(np.uint64) * _GOLDEN)
        residues: Residues = ((hashes >> np.uint64(35)) % np.uint64(PRIME)).astype(np.int32)
        last = self._sizes[name] - 1
        at_end = places == last
        if order_of(last + 1) == 1:
            residues[:, at_end] = 1
        elif at_end.any():
            before = self._drawn(name, numbers, np.array([last - 2, last - 1])).astype(np.int64)
            ends = (1 + 2 * before[:, 1] - before[:, 0]) % PRIME
            residues[:, at_end] = ends[:, None]
        return residues


def _mixed(bits: Any) -> Any:
    """A hash of 64 bits (the finalizer of SplitMix64)."""
    with np.errstate(over="ignore"):  # of single numbers; arrays wrap in silence
        bits = bits + _GOLDEN
        bits = (bits ^ (bits >> np.uint64(30))) * _FIRST
        bits = (bits ^ (bits >> np.uint64(27))) * _SECOND
        return bits ^ (bits >> np.uint64(31))
