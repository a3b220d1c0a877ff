"""Exactly: is a query a combination of the rows held?

Inner products cannot tell. A difference that lives in one of 10¹¹ cells, or in the ninth digit of
a coefficient, drowns in rounding although the people of one city may live there. So the question is
decided in a finite field. A functional φ(q) = Σ_l weight_l · Π_k ⟨r_k, factor_lk⟩ modulo a prime,
with random r_k, is exact, linear, and as cheap as one inner product. With one such functional for
each row, a query in the span has known multipliers of the rows, and a few more functionals check
them. A combination always passes. Anything else passes with a probability below
(attributes / 2²⁹)⁴ (Schwartz 1980), whatever its size: 1e-27 for a hundred attributes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eke.domain import Domain
from eke.inference.growing import GrowingMatrix
from eke.inference.residues import (
    PRIME,
    Residues,
    ResidueTriangle,
    inverse,
    multiply,
    product,
    residue,
    residues,
)
from eke.inference.steps import StepRows, product_of_sums, sums
from eke.query import Query
from eke.query.view import view_with

Names = tuple[str, ...]
_CHECKS = 4


@dataclass(frozen=True, slots=True)
class Place:
    """Where a query lies relative to the span, as `ExactSpan.locate` found it."""

    multipliers: Residues  # (rank,) of the eliminated rows
    gaps: Residues  # (checks,) what the checks find left over

    @property
    def inside(self) -> bool:
        return not self.gaps.any()


class ExactSpan:
    """The span of the rows appended so far, all independent of each other.

    With A_ij = φ_j(row_i) = L·U, a query with φ(q) = a has the multipliers t of t·U = a, and the
    coordinates c of c·L = t.

    `known` components (see `tables.py`) count as part of the span: the functionals are blind to
    them.
    """

    def __init__(self, domain: Domain, known: Collection[Names] = ()) -> None:
        self._sizes = dict(zip(domain.names, domain.shape, strict=True))
        components = [names for names in known if all(self._sizes[n] > 1 for n in names)]
        # Fixed on purpose: decisions must come out the same on every replay. Whoever crafts a query
        # to pass the checks only fools themselves: what is inferred costs no privacy.
        self._generator = np.random.Generator(np.random.PCG64(727))
        self._functionals = _Functionals(self._sizes, components)
        self._rows = _TermResidues(self._sizes, components)
        self._lower = ResidueTriangle()  # L
        self._upper = ResidueTriangle()  # Uᵀ
        self._check_columns = GrowingMatrix(np.int32, _CHECKS)  # L⁻¹·φ_check(rows)
        for _ in range(_CHECKS):
            self._functionals.append(self._draw())

    @property
    def rank(self) -> int:
        return self._lower.size

    @property
    def nbytes(self) -> int:
        return (
            self._lower.nbytes + self._upper.nbytes + self._functionals.nbytes + self._rows.nbytes
        )

    def view(self) -> ExactSpan:
        """The span as it is, for good; rows appended to either of the two are not in the other."""
        # The generator is copied: both draw the same from here on.
        return view_with(
            self,
            _generator=deepcopy(self._generator),
            _functionals=self._functionals.view(),
            _rows=self._rows.view(),
            _lower=self._lower.view(),
            _upper=self._upper.view(),
            _check_columns=self._check_columns.view(),
        )

    def locate(self, query: Query) -> Place:
        """Whether the query lies in the span: O(rank²)."""
        values = self._functionals.at(query)
        multipliers = self._upper.solve(values[_CHECKS:])
        found = product(np.ascontiguousarray(self._check_columns.array.T), multipliers)
        gaps = (values[:_CHECKS].astype(np.int64) - found) % PRIME
        return Place(multipliers, gaps.astype(np.int32))

    def coordinates(self, place: Place) -> Residues:
        """The query's coordinates in the rows, modulo PRIME: zero exactly for rows not needed."""
        return self._lower.solve_transposed(place.multipliers)

    def append(self, query: Query, place: Place) -> None:
        """Add a row that `locate` found outside the span."""
        if place.inside:
            raise ValueError("the row already lies in the span")
        self._rows.append(query)
        while True:  # a pivot of zero is a one in 2²⁹ chance
            functional = self._draw()
            values = self._rows.under(functional)
            column = self._lower.solve(values[:-1])
            used = int(product(column[None, :], place.multipliers)[0])
            pivot = (int(values[-1]) - used) % PRIME
            if pivot:
                break
        self._lower.append(place.multipliers, pivot)
        self._upper.append(column, 1)
        self._check_columns.append(multiply(place.gaps, np.array(inverse(pivot))))
        self._functionals.append(functional)

    def _draw(self) -> dict[str, Residues]:
        """Random vectors that add up to 1, so that absent attributes can be left out."""
        drawn = {}
        for name, size in self._sizes.items():
            while True:
                vector = self._generator.integers(1, PRIME, size)
                total = int(vector.sum()) % PRIME
                if total:
                    break
            drawn[name] = multiply(vector, np.array(inverse(total)))
        return drawn


class _Functionals:
    """Many functionals, to be evaluated at one query."""

    def __init__(self, sizes: Mapping[str, int], known: Sequence[Names]) -> None:
        self._sizes = sizes
        self._known = known
        self._sums = {name: GrowingMatrix(np.int32, size) for name, size in sizes.items()}
        self._count = 0

    @property
    def nbytes(self) -> int:
        return sum(matrix.nbytes for matrix in self._sums.values())

    def view(self) -> _Functionals:
        return view_with(
            self,
            _sums={name: matrix.view() for name, matrix in self._sums.items()},
        )

    def append(self, functional: Mapping[str, Residues]) -> None:
        for name, vector in functional.items():
            self._sums[name].append(sums(vector))
        self._count += 1

    def at(self, query: Query) -> Residues:  # (functionals,)
        total = np.zeros(self._count, np.int64)
        for term in query.terms:
            weight = np.full(self._count, residue(term.weight), np.int32)
            values, means = {}, {}
            for name, vector in term.factors:
                values[name] = product_of_sums(self._sums[name].array, vector)
                means[name] = np.full(self._count, _mean(vector, self._sizes[name]), np.int32)
            total += _without(self._known, weight, values, means)
        return residues(total)


class _TermResidues:
    """The terms of many queries, each attribute's vectors together, for one functional at once."""

    def __init__(self, sizes: Mapping[str, int], known: Sequence[Names]) -> None:
        self._sizes = sizes
        self._known = known
        self._means: dict[str, list[int]] = {name: [] for name in sizes}
        self._vectors = {name: StepRows() for name in sizes}
        self._owners: dict[str, list[int]] = {name: [] for name in sizes}  # terms
        self._weights: list[int] = []
        self._starts: list[int] = []  # first term of each query

    @property
    def nbytes(self) -> int:
        return sum(matrix.nbytes for matrix in self._vectors.values())

    def view(self) -> _TermResidues:
        return view_with(
            self,
            _vectors={name: matrix.view() for name, matrix in self._vectors.items()},
            _means={name: list(means) for name, means in self._means.items()},
            _owners={name: list(owners) for name, owners in self._owners.items()},
            _weights=list(self._weights),
            _starts=list(self._starts),
        )

    def append(self, query: Query) -> None:
        self._starts.append(len(self._weights))
        for term in query.terms:
            for name, vector in term.factors:
                self._vectors[name].append(vector)
                self._owners[name].append(len(self._weights))
                self._means[name].append(_mean(vector, self._sizes[name]))
            self._weights.append(residue(term.weight))

    def under(self, functional: Mapping[str, Residues]) -> Residues:  # (queries,)
        weights: NDArray[np.int32] = np.array(self._weights, np.int32)
        values, means = {}, {}
        for name, owners in self._owners.items():
            if owners:
                values[name], means[name] = np.ones_like(weights), np.ones_like(weights)
                values[name][owners] = self._vectors[name].products(functional[name])
                means[name][owners] = self._means[name]
        terms = _without(self._known, weights, values, means)
        return residues(np.add.reduceat(terms, self._starts))


def _mean(vector: NDArray[np.int64], size: int) -> int:
    """The mean of a vector's entries modulo PRIME."""
    return int(residues(vector).astype(np.int64).sum()) * inverse(size) % PRIME


def _without(
    known: Sequence[Names],
    weights: Residues,
    values: Mapping[str, Residues],
    means: Mapping[str, Residues],
) -> NDArray[np.int64]:
    """What the functionals find in terms outside the known components B.

    weight · (Π_k value_k − Σ_B Π_{k∈B} (value_k − mean_k) · Π_{k∉B} mean_k), not yet reduced.
    """
    total = weights
    for value in values.values():
        total = multiply(total, value)
    left = total.astype(np.int64)
    differences = {n: residues(v.astype(np.int64) - means[n]) for n, v in values.items()}
    for names in known:
        if any(name not in values for name in names):
            continue
        part = weights
        for name in values:
            part = multiply(part, differences[name] if name in names else means[name])
        left -= part
    return left
