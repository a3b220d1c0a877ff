"""Inner products of queries under the uniform prior, by the steps of their vectors.

With S_j = v_0 + … + v_j, a product Σ_i w_i v_i is Σ_j (w_j − w_{j+1}) S_j (w ends in a zero). Only
the values at which w changes count: two for a range, however wide its attribute is. Vectors are
whole numbers, so that sums below 2⁵³ are exact in doubles, and whatever could be larger is
multiplied entry by entry. `TermStack` knows any prior, and looks at every entry.
"""

from __future__ import annotations

import numpy as np

from eke.arrays import FloatArray
from eke.domain import Domain
from eke.query.linear import Query
from eke.query.vector import IntVector, absolute_sum
from eke.query.view import view_with

_EXACT = 2**53
_FEW = 8
"""Vectors that change at fewer than one value in so many are worth being looked up there."""


class StepStack:
    """The terms of many queries, stacked per attribute as running sums.

    An attribute gets its matrix when the first term varies along it; until then all its factors
    are one, and wide attributes that nobody asks about cost nothing.
    """

    def __init__(self, domain: Domain, capacity: int = 64) -> None:
        self.rows = 0  # queries held
        self._sizes = dict(zip(domain.names, domain.shape, strict=True))
        self._terms = 0
        self._capacity = max(1, capacity)
        self._sums: dict[str, FloatArray] = {}  # (capacity, |A_k|) each
        self._largest: dict[str, int] = {}  # no sum is larger
        self._plain: dict[str, FloatArray] = {}  # the vectors themselves, where sums are not exact
        self._weight = np.zeros(self._capacity)
        self._start: list[int] = []  # first term of each query

    @property
    def nbytes(self) -> int:
        parts = (*self._sums.values(), *self._plain.values())
        return self._weight.nbytes + sum(part.nbytes for part in parts)

    def view(self) -> StepStack:
        """The queries so far, for good; what is added to either of the two is not in the other.

        Terms never change, so they are shared; a view has no room, and moves when it grows.
        """
        return view_with(
            self,
            _capacity=self._terms,
            _sums={name: part[: self._terms] for name, part in self._sums.items()},
            _largest=dict(self._largest),
            _plain={name: part[: self._terms] for name, part in self._plain.items()},
            _weight=self._weight[: self._terms],
            _start=list(self._start),
        )

    def append(self, query: Query, divisor: float = 1.0) -> None:
        """Add a query, its coefficients divided by `divisor`. A zero query is one zero term."""
        self._start.append(self._terms)
        self.rows += 1
        if not query.terms:
            self._new_term()
        for term in query.terms:
            row = self._new_term()
            self._weight[row] = float(term.weight) / divisor
            for name, vector in term.factors:
                self._write(name, row, vector)

    def against(self, query: Query) -> FloatArray:
        """The inner products ⟨row, query⟩ of every row held; shape (rows,)."""
        total = np.zeros(self._terms)
        held = {*self._sums, *self._plain}
        for term in query.terms:
            product = np.full(self._terms, float(term.weight))
            vectors = dict(term.factors)
            for name in self._sizes:
                if name in vectors or name in held:
                    product *= self._along(name, vectors.get(name))
            total += product
        total *= self._weight[: self._terms]
        return total if self._terms == self.rows else np.add.reduceat(total, self._start)

    def _along(self, name: str, vector: IntVector | None) -> FloatArray | float:
        """The mean of term · vector along one attribute, for every term; no vector is all ones."""
        size = self._sizes[name]
        if name in self._plain:
            own = self._plain[name][: self._terms]
            return own.sum(axis=1) / size if vector is None else own @ (vector / size)
        if name not in self._sums:
            return 1.0 if vector is None else float(np.sum(vector / size))
        sums = self._sums[name][: self._terms]
        if vector is None:
            return sums[:, -1] / size
        changes = vector - np.append(vector[1:], 0)  # below 2⁶³: vectors are below 2⁶²
        places = np.flatnonzero(changes)
        if absolute_sum(changes[places]) * self._largest[name] >= _EXACT:
            return np.diff(sums, axis=1, prepend=0.0) @ (vector / size)
        if len(places) * _FEW > size:
            return np.asarray(sums @ changes / size)
        return np.asarray(sums[:, places] @ changes[places] / size)

    def _write(self, name: str, row: int, vector: IntVector) -> None:
        """Keep a vector as a row; a new attribute gets a matrix of ones first."""
        if name in self._plain:
            self._plain[name][row] = vector
            return
        size, weight = self._sizes[name], absolute_sum(vector)
        if name not in self._sums:
            self._sums[name] = self._ones(name)
            self._largest[name] = size
        if weight >= _EXACT:
            self._plain[name] = np.diff(self._sums.pop(name), axis=1, prepend=0.0)
            self._plain[name][row] = vector
            return
        self._sums[name][row] = np.cumsum(vector)
        self._largest[name] = max(self._largest[name], weight)

    def _ones(self, name: str) -> FloatArray:
        return np.tile(np.arange(1.0, self._sizes[name] + 1.0), (self._capacity, 1))

    def _new_term(self) -> int:
        if self._terms == self._capacity:
            self._capacity = self._capacity * 3 // 2 + 8
            self._weight = np.append(self._weight, np.zeros(self._capacity - self._terms))
            for name, before in self._sums.items():
                grown = self._sums[name] = self._ones(name)
                grown[: self._terms] = before
            for name, before in self._plain.items():
                grown = self._plain[name] = np.ones((self._capacity, self._sizes[name]))
                grown[: self._terms] = before
        self._terms += 1
        return self._terms - 1
