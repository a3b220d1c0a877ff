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
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eke.domain import Domain
from eke.inference.functionals import Functionals
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
from eke.inference.steps import StepRows
from eke.query import Query
from eke.query.growing import GrowingMatrix, GrowingVector
from eke.query.parts import Parts, under, within
from eke.query.runs import Vector, at_codes
from eke.query.runs import total as total_of
from eke.query.view import made_of, view_with

Names = tuple[str, ...]
_CHECKS = 4
_FEW = 8
"""Steps at fewer than one value in so many are looked up one by one."""


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
        self._known = components
        self._functionals = Functionals(self._sizes)
        self._numbers = GrowingVector(np.int64)  # of the functionals: the checks, then one a row
        self._numbers.extend(range(_CHECKS))
        self._rows = _TermResidues(self._sizes, components)
        self._lower = ResidueTriangle()  # L
        self._upper = ResidueTriangle()  # Uᵀ
        # L⁻¹·φ_check(rows)
        self._check_columns: GrowingMatrix[np.int32] = GrowingMatrix(np.int32, _CHECKS)

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
        return view_with(
            self,
            _numbers=self._numbers.view(),
            _rows=self._rows.view(),
            _lower=self._lower.view(),
            _upper=self._upper.view(),
            _check_columns=self._check_columns.view(),
        )

    def parts(self) -> Parts:
        """Everything in it but the domain and what is known, as arrays."""
        return {
            "numbers": self._numbers.array,
            "checks": self._check_columns.array,
            **within("rows", self._rows.parts()),
            **within("lower", self._lower.parts()),
            **within("upper", self._upper.parts()),
        }

    @classmethod
    def from_parts(cls, domain: Domain, parts: Parts) -> ExactSpan:
        """A span without known components."""
        empty = cls(domain)
        return view_with(
            empty,
            _numbers=GrowingVector.of(parts["numbers"]),
            _check_columns=GrowingMatrix.of(parts["checks"]),
            _rows=_TermResidues.from_parts(empty._sizes, under("rows", parts)),
            _lower=ResidueTriangle.from_parts(under("lower", parts)),
            _upper=ResidueTriangle.from_parts(under("upper", parts)),
        )

    def locate(self, query: Query) -> Place:
        """Whether the query lies in the span: O(rank²)."""
        values = self._values(query)
        multipliers = self._upper.solve(values[_CHECKS:])
        reproduced = product(np.ascontiguousarray(self._check_columns.array.T), multipliers)
        gaps = (values[:_CHECKS].astype(np.int64) - reproduced) % PRIME
        return Place(multipliers, gaps.astype(np.int32))

    def coordinates(self, place: Place) -> Residues:
        """The query's coordinates in the rows, modulo PRIME: zero exactly for rows not needed."""
        return self._lower.solve_transposed(place.multipliers)

    def append(self, query: Query, place: Place) -> None:
        """Add a row that `locate` found outside the span."""
        if place.inside:
            raise ValueError("the row already lies in the span")
        self._rows.append(query)
        number = int(self._numbers.array[-1])
        while True:  # a pivot of zero is a one in 2²⁹ chance
            number += 1
            values = self._rows.under(self._functionals, number)
            column = self._lower.solve(values[:-1])
            used = int(product(column[None, :], place.multipliers)[0])
            pivot = (int(values[-1]) - used) % PRIME
            if pivot:
                break
        self._lower.append(place.multipliers, pivot)
        self._upper.append(column, 1)
        self._check_columns.append(multiply(place.gaps, np.array(inverse(pivot))))
        self._numbers.extend(number)

    def _values(self, query: Query) -> Residues:  # (functionals,)
        """What each functional finds in a query."""
        numbers = self._numbers.array
        total = np.zeros(len(numbers), np.int64)
        for term in query.terms:
            weight = np.full(len(numbers), residue(term.weight), np.int32)
            values, means = {}, {}
            for name, vector in term.vectors:
                values[name] = self._functionals.products(name, vector, numbers)
                means[name] = np.full(len(numbers), _mean(vector, self._sizes[name]), np.int32)
            total += _without(self._known, weight, values, means)
        return residues(total)


class _TermResidues:
    """The terms of many queries, each attribute's vectors together, for one functional at once."""

    def __init__(self, sizes: Mapping[str, int], known: Sequence[Names]) -> None:
        self._sizes = sizes
        self._known = known
        self._vectors = {name: StepRows(size) for name, size in sizes.items()}
        self._means = {name: GrowingVector(np.int32) for name in sizes}
        self._owners = {name: GrowingVector(np.int64) for name in sizes}  # terms
        self._weights = GrowingVector(np.int32)
        self._starts = GrowingVector(np.int64)  # first term of each query

    @property
    def nbytes(self) -> int:
        return sum(matrix.nbytes for matrix in self._vectors.values())

    def view(self) -> _TermResidues:
        return self.from_parts(self._sizes, self.parts(), self._known)

    def parts(self) -> Parts:
        parts: dict[str, NDArray[Any]] = {
            "weights": self._weights.array,
            "starts": self._starts.array,
        }
        for name in self._sizes:
            parts |= within(f"vectors/{name}", self._vectors[name].parts())
            parts[f"means/{name}"] = self._means[name].array
            parts[f"owners/{name}"] = self._owners[name].array
        return parts

    @classmethod
    def from_parts(
        cls, sizes: Mapping[str, int], parts: Parts, known: Sequence[Names] = ()
    ) -> _TermResidues:
        return made_of(
            cls,
            _sizes=sizes,
            _known=known,
            _vectors={n: StepRows.from_parts(under(f"vectors/{n}", parts)) for n in sizes},
            _means={name: GrowingVector.of(parts[f"means/{name}"]) for name in sizes},
            _owners={name: GrowingVector.of(parts[f"owners/{name}"]) for name in sizes},
            _weights=GrowingVector.of(parts["weights"]),
            _starts=GrowingVector.of(parts["starts"]),
        )

    def append(self, query: Query) -> None:
        self._starts.extend(len(self._weights))
        for term in query.terms:
            for name, vector in term.vectors:
                self._vectors[name].append(vector)
                self._owners[name].extend(len(self._weights))
                self._means[name].extend(_mean(vector, self._sizes[name]))
            self._weights.extend(residue(term.weight))

    def under(self, functionals: Functionals, number: int) -> Residues:  # (queries,)
        """What one functional finds in each query."""
        weights = self._weights.array
        values, means = {}, {}
        for name, owners in self._owners.items():
            if len(owners):
                values[name], means[name] = np.ones_like(weights), np.ones_like(weights)
                values[name][owners.array] = self._along(name, functionals, number)
                means[name][owners.array] = self._means[name].array
        terms = _without(self._known, weights, values, means)
        return residues(np.add.reduceat(terms, self._starts.array))

    def _along(self, name: str, functionals: Functionals, number: int) -> Residues:
        """What one functional finds in each vector along an attribute."""
        rows = self._vectors[name]
        if len(rows.places) * _FEW <= self._sizes[name]:
            return rows.products_at(functionals.sums_at(name, number, rows.places))
        return rows.products(functionals.sums(name, number))


def _mean(vector: Vector, size: int) -> int:
    """The mean of a vector's entries modulo PRIME.

    A size that has no inverse has no mean, either; then it is the first entry, for anything linear
    will do that is 1 for ones: what lies outside the known components does not depend on it.
    """
    if size % PRIME == 0:
        return int(at_codes(vector, np.zeros(1, np.int64))[0]) % PRIME
    return total_of(vector) * inverse(size) % PRIME


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
