"""Inner products of queries under the uniform prior, by the steps of their vectors.

With S_j = v_0 + … + v_j, a product Σ_i w_i v_i is Σ_j (w_j − w_{j+1}) S_j (w ends in a zero). Only
the values at which w changes count: two for a range, however wide its attribute is. Which of the
two is taken by its steps is free: vectors that change rarely are kept as their steps, the others as
their sums. Vectors are whole numbers, so that sums below 2⁵³ are exact in doubles, and whatever
could be larger is multiplied entry by entry. `TermStack` knows any prior, and looks at every entry.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from eke.arrays import FloatArray
from eke.domain import Domain
from eke.query.growing import GrowingMatrix, GrowingVector
from eke.query.linear import Query
from eke.query.parts import Parts, under, within
from eke.query.run_stack import RunStack, prior_mean
from eke.query.runs import Runs, Vector, dense
from eke.query.vector import IntVector, absolute_sum
from eke.query.view import made_of, view_with

_EXACT = 2**53
_FEW = 8
"""Vectors that change at fewer than one value in so many are kept, or looked up, by their steps."""


class StepStack:
    """The terms of many queries, their vectors stacked per attribute.

    Wide attributes that nobody asks about cost nothing: where a term has no vector, all are ones.
    """

    def __init__(self, domain: Domain) -> None:
        self._sizes = dict(zip(domain.names, domain.shape, strict=True))
        self._vectors: dict[str, _Vectors] = {}
        self._weights = GrowingVector(np.float64)  # of the terms
        self._starts = GrowingVector(np.int64)  # first term of each query

    @property
    def rows(self) -> int:
        """How many queries are held."""
        return len(self._starts)

    @property
    def nbytes(self) -> int:
        return self._weights.nbytes + sum(part.nbytes for part in self._vectors.values())

    def view(self) -> StepStack:
        """The queries so far, for good; what is added to either of the two is not in the other."""
        return view_with(
            self,
            _vectors={name: part.view() for name, part in self._vectors.items()},
            _weights=self._weights.view(),
            _starts=self._starts.view(),
        )

    def parts(self) -> Parts:
        """Everything in it, as arrays."""
        return {
            "weights": self._weights.array,
            "starts": self._starts.array,
            **{
                name: array
                for attribute, vectors in self._vectors.items()
                for name, array in within(attribute, vectors.parts()).items()
            },
        }

    @classmethod
    def from_parts(cls, domain: Domain, parts: Parts) -> StepStack:
        """A stack as it was when its parts were taken."""
        sizes = dict(zip(domain.names, domain.shape, strict=True))
        held = [name for name in sizes if f"{name}/bounds" in parts]
        return made_of(
            cls,
            _sizes=sizes,
            _vectors={name: _Vectors.from_parts(sizes[name], under(name, parts)) for name in held},
            _weights=GrowingVector.of(parts["weights"]),
            _starts=GrowingVector.of(parts["starts"]),
        )

    def append(self, query: Query, divisor: float = 1.0) -> None:
        """Add a query, its coefficients divided by `divisor`. A zero query is one zero term."""
        self._starts.extend(len(self._weights))
        for term in query.terms:
            for name, vector in term.vectors:
                if name not in self._vectors:
                    self._vectors[name] = _Vectors(self._sizes[name])
                self._vectors[name].append(len(self._weights), vector)
            self._weights.extend(float(term.weight) / divisor)
        if not query.terms:
            self._weights.extend(0.0)

    def against(self, query: Query) -> FloatArray:
        """The inner products ⟨row, query⟩ of every row held; shape (rows,).

        Those beyond what a double can hold are infinite.
        """
        terms = len(self._weights)
        total = np.zeros(terms)
        for term in query.terms:
            product = np.full(terms, float(term.weight))
            vectors = dict(term.vectors)
            for name, size in self._sizes.items():
                if name in vectors or name in self._vectors:
                    vector = vectors.get(name)
                    along = np.full(terms, 1.0 if vector is None else _mean(vector, size))
                    if name in self._vectors:
                        self._vectors[name].write_means(vector, along)
                    product *= along
            total += product
        with np.errstate(over="ignore"):
            total *= self._weights.array
        starts = self._starts.array
        return total if terms == len(starts) else np.add.reduceat(total, starts)


_VECTORS = ("terms", "totals", "thin", "starts", "places", "steps", "thick", "huge")
_MATRICES = ("sums", "entries")
"""What a part holds, by the name that it has among arrays."""


class _Vectors:
    """Vectors along one attribute, each of one term."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._terms = GrowingVector(np.int64)
        self._totals = GrowingVector(np.float64)  # of the entries
        # Those that change rarely: where, and by how much.
        self._thin = GrowingVector(np.int64)  # the terms
        self._starts = GrowingVector(np.int64)  # the first step of each
        self._places = GrowingVector(np.int32)
        self._steps = GrowingVector(np.float64)
        # The others: their running sums.
        self._thick = GrowingVector(np.int64)  # the terms
        self._sums: GrowingMatrix[np.float64] = GrowingMatrix(np.float64, size)
        # Those whose sums no double holds, entry by entry.
        self._huge = GrowingVector(np.int64)  # the terms
        self._entries: GrowingMatrix[np.float64] = GrowingMatrix(np.float64, size)
        self._bounds = np.zeros(2, np.int64)  # on the sum of all steps, and on a sum of entries
        # Those that are kept as runs, as wide attributes have them.
        self._runs = RunStack(size)

    @property
    def nbytes(self) -> int:
        return sum(part.nbytes for part in self.parts().values())

    def view(self) -> _Vectors:
        grown = {f"_{name}": getattr(self, f"_{name}").view() for name in (*_VECTORS, *_MATRICES)}
        runs = self._runs.view()
        return made_of(_Vectors, _size=self._size, _bounds=self._bounds, _runs=runs, **grown)

    def parts(self) -> Parts:
        return {
            "terms": self._terms.array,
            "totals": self._totals.array,
            "thin": self._thin.array,
            "starts": self._starts.array,
            "places": self._places.array,
            "steps": self._steps.array,
            "thick": self._thick.array,
            "sums": self._sums.array,
            "huge": self._huge.array,
            "entries": self._entries.array,
            "bounds": self._bounds,
            **within("runs", self._runs.parts()),
        }

    @classmethod
    def from_parts(cls, size: int, parts: Parts) -> _Vectors:
        return made_of(
            cls,
            _size=size,
            _bounds=parts["bounds"],
            _runs=RunStack.from_parts(size, under("runs", parts)),
            **{f"_{name}": GrowingVector.of(parts[name]) for name in _VECTORS},
            **{f"_{name}": GrowingMatrix.of(parts[name]) for name in _MATRICES},
        )

    def append(self, term: int, vector: Vector) -> None:
        """Keep the vector of a term."""
        self._terms.extend(term)
        if isinstance(vector, Runs):
            self._totals.extend(float(prior_mean(vector) * vector.size))
            self._runs.append(term, vector)
            return
        self._totals.extend(float(np.sum(vector, dtype=np.float64)))
        weight = absolute_sum(vector)
        if weight >= _EXACT:
            self._huge.extend(term)
            self._entries.append(vector)
            return
        places, steps = _steps(vector)
        if len(places) * _FEW > self._size:
            self._thick.extend(term)
            self._sums.append(np.cumsum(vector))
        else:
            self._thin.extend(term)
            self._starts.extend(len(self._places))
            self._places.extend(places)
            self._steps.extend(steps)
        self._bounds = np.maximum(self._bounds, [absolute_sum(steps), weight])

    def write_means(self, given: Vector | None, into: FloatArray) -> None:
        """The mean of each vector · this one, into the places of their terms; none is all ones."""
        if given is None:
            into[self._terms.array] = self._totals.array / self._size
            return
        self._runs.write_means(given, into)
        if len(self._runs) == len(self._terms):
            return
        vector = dense(given)
        if len(self._huge):
            into[self._huge.array] = self._entries.array @ (vector / self._size)
        weight = absolute_sum(vector)
        places, steps = _steps(vector)
        most_steps, most = (int(bound) for bound in self._bounds)
        if max(most_steps * weight, absolute_sum(steps) * most) >= _EXACT:
            into[self._thin.array] = self._expanded() @ (vector / self._size)
            rows = np.diff(self._sums.array, axis=1, prepend=0.0)
            into[self._thick.array] = rows @ (vector / self._size)
            return
        if len(self._thin):
            products = self._steps.array * np.cumsum(vector)[self._places.array]
            into[self._thin.array] = np.add.reduceat(products, self._starts.array) / self._size
        if len(self._thick):
            sums = self._sums.array
            changes = steps.astype(np.float64)
            if len(places) * _FEW > self._size:
                changes = np.zeros(self._size)
                changes[places] = steps
                into[self._thick.array] = sums @ changes / self._size
            else:
                into[self._thick.array] = sums[:, places] @ changes / self._size

    def _expanded(self) -> FloatArray:
        """Every entry of the vectors that are kept as steps."""
        steps = np.zeros((len(self._thin), self._size))
        owners = np.repeat(
            np.arange(len(self._thin)),
            np.diff(np.append(self._starts.array, len(self._places))),
        )
        steps[owners, self._places.array] = self._steps.array
        return np.cumsum(steps[:, ::-1], axis=1)[:, ::-1]


def _mean(vector: Vector, size: int) -> float:
    if isinstance(vector, Runs):
        return float(prior_mean(vector))
    return float(np.sum(vector / size))


def _steps(vector: IntVector) -> tuple[NDArray[np.intp], IntVector]:
    """(places, steps): where a vector differs from the value after it, and by how much.

    There is always one, of zero if need be.
    """
    changes = vector - np.append(vector[1:], 0)  # below 2⁶³: vectors are below 2⁶²
    places = np.flatnonzero(changes)
    if not len(places):
        places = np.zeros(1, np.intp)
    return places, changes[places]
