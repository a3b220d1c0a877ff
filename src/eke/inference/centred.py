"""Queries taken apart as marginals are: for each attribute a mean and what deviates from it.

A term w·Π_k g_k reads component B of the table (see `residuals.py`) with the coefficients
w · Π_{k∈B} (g_k − ḡ_k) · Π_{k∉B} ḡ_k, where ḡ is the mean; attributes that it lacks have ḡ = 1 and
no deviation. So inner products of components are products of small numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eke.arrays import FloatArray
from eke.domain import Domain
from eke.domain.wide import is_wide
from eke.inference.wide_deviations import WideDeviation, WideDeviations
from eke.query import Query
from eke.query.growing import GrowingMatrix
from eke.query.runs import Runs, dense
from eke.query.view import view_with

Names = tuple[str, ...]

_MOST_AT_ONCE = 2**22  # numbers held while rows are added up
MOST_ATTRIBUTES = 12
"""Of a query whose components are listed one by one; beyond, the rest is found by subtraction."""


@dataclass(frozen=True, slots=True)
class CentredTerm:
    """One term of a query: its weight, and mean and deviation for each attribute it has."""

    weight: float
    means: dict[str, float]
    deviations: dict[str, Any]  # an array of all values; of a wide column, a `WideDeviation`

    def part(self, names: Names) -> tuple[float, list[FloatArray]] | None:
        """(factor, deviation along each name) of its component; None where that is zero.

        No table has a wide column, so none of the names is one.
        """
        factor = self.weight
        for name, mean in self.means.items():
            if name not in names:
                factor *= mean
        if factor == 0.0 or any(name not in self.deviations for name in names):
            return None
        return factor, [self.deviations[name] for name in names]


def centred_terms(query: Query) -> list[CentredTerm]:
    """The terms of a query, centred."""
    terms = []
    for term in query.terms:
        means: dict[str, float] = {}
        deviations: dict[str, Any] = {}
        for name, vector in term.vectors:
            if isinstance(vector, Runs) and is_wide(vector.size):
                means[name], deviations[name] = WideDeviation.of(vector)
                continue
            values = dense(vector).astype(np.float64)
            mean = float(values.mean())
            means[name], deviations[name] = mean, values - mean
        terms.append(CentredTerm(float(term.weight), means, deviations))
    return terms


def subsets_of(names: Collection[str]) -> Iterator[Names]:
    """Every subset of the names, in the order given."""
    for length in range(len(names) + 1):
        yield from combinations(names, length)


class CentredStack:
    """Many queries, to be multiplied with one: component by component, over some components."""

    def __init__(self, domain: Domain) -> None:
        self._domain = domain
        self._sizes = dict(zip(domain.names, domain.shape, strict=True))
        self._deviations: dict[str, GrowingMatrix[np.float64] | WideDeviations] = {
            name: WideDeviations(size) if is_wide(size) else GrowingMatrix(np.float64, size)
            for name, size in self._sizes.items()
        }
        self._owners: dict[str, list[int]] = {name: [] for name in self._sizes}  # terms
        self._means: dict[str, list[float]] = {name: [] for name in self._sizes}
        self._weights: list[float] = []
        self._starts: list[int] = []
        self.supports: dict[Names, None] = {}  # the attributes of the terms, each set once

    def __len__(self) -> int:
        return len(self._starts)

    @property
    def nbytes(self) -> int:
        return sum(matrix.nbytes for matrix in self._deviations.values())

    def view(self) -> CentredStack:
        """The queries so far, for good; what is added to either of the two is not in the other."""
        return view_with(
            self,
            _deviations={name: matrix.view() for name, matrix in self._deviations.items()},
            _owners={name: list(owners) for name, owners in self._owners.items()},
            _means={name: list(means) for name, means in self._means.items()},
            _weights=list(self._weights),
            _starts=list(self._starts),
            supports=dict(self.supports),
        )

    def append(self, query: Query, norm: float) -> None:
        """Add a query divided by its norm."""
        self._starts.append(len(self._weights))
        for term in centred_terms(query):
            for name, deviation in term.deviations.items():
                self._deviations[name].append(deviation)
                self._owners[name].append(len(self._weights))
                self._means[name].append(term.means[name])
            self._weights.append(term.weight / norm)
            self.supports[self._domain.in_order(term.means)] = None

    def against(
        self, query: Query, components: Collection[Names], gain: Callable[[Names], float]
    ) -> FloatArray:  # (queries,)
        """Σ_B gain(B) · ⟨q_B, row_B⟩ over the components, for every row."""
        total = np.zeros(len(self._weights))
        for term in centred_terms(query):
            products, means, others = self._factors(term)
            for names in components:
                if any(name not in term.deviations for name in names):
                    continue
                part = gain(names) * others
                for name in term.means:
                    part *= products[name] if name in names else means[name]
                total += part
        return self._by_query(total)

    def against_whole(self, query: Query) -> FloatArray:  # (queries,)
        """The inner products over uniform cells, all components together."""
        total = np.zeros(len(self._weights))
        for term in centred_terms(query):
            products, means, others = self._factors(term)
            part = others
            for name in term.means:
                part = part * (products[name] / self._sizes[name] + means[name])
            total += part
        return self._by_query(total)

    def combined(
        self, weights: FloatArray, components: Collection[Names]
    ) -> dict[Names, FloatArray]:
        """The components of Σ weight · row, each as a table; those that are zero are left out."""
        terms = len(self._weights)
        lengths = np.diff(np.append(self._starts, terms))
        scaled = np.asarray(self._weights) * np.repeat(weights, lengths)
        means = {name: np.ones(terms) for name in self._sizes}
        places: dict[str, NDArray[np.intp]] = {}
        for name, owners in self._owners.items():
            places[name] = np.full(terms, -1, np.intp)
            if owners:
                means[name][owners] = self._means[name]
                places[name][owners] = np.arange(len(owners))
        tables = {}
        for names in components:
            having = scaled != 0.0
            factor = scaled.copy()
            for name in self._sizes:
                if name in names:
                    having &= places[name] >= 0
                else:
                    factor *= means[name]
            rows = np.flatnonzero(having & (factor != 0.0))
            if not len(rows):
                continue
            table = np.zeros([self._sizes[name] for name in names])
            step = max(1, _MOST_AT_ONCE // table.size)
            for start in range(0, len(rows), step):
                some = rows[start : start + step]
                outer = factor[some, None]  # (rows, cells so far)
                for name in names[:-1]:
                    deviations = self._listed(name)[places[name][some]]
                    outer = (outer[:, :, None] * deviations[:, None, :]).reshape(len(some), -1)
                last = np.ones((len(some), 1))
                if names:
                    last = self._listed(names[-1])[places[names[-1]][some]]
                table += (outer.T @ last).reshape(table.shape)
            tables[names] = table
        return tables

    def _listed(self, name: str) -> FloatArray:
        """The deviations along an attribute of a table, which is no wide one."""
        held = self._deviations[name]
        if not isinstance(held, GrowingMatrix):
            raise TypeError("a table has no wide column")
        return held.array

    def _by_query(self, terms: FloatArray) -> FloatArray:
        weighted = terms * np.asarray(self._weights)
        return np.add.reduceat(weighted, self._starts) if self._starts else weighted

    def _factors(
        self, term: CentredTerm
    ) -> tuple[dict[str, FloatArray], dict[str, FloatArray], FloatArray]:
        """For each attribute of a term the products of deviations and of means, and the rest."""
        products, means = {}, {}
        others = np.full(len(self._weights), term.weight)
        for name, owners in self._owners.items():
            if name not in term.means:
                if owners:
                    others[owners] *= self._means[name]
                continue
            mean = np.full(len(self._weights), term.means[name])
            product = np.zeros(len(self._weights))
            if owners:
                mean[owners] *= self._means[name]
                held, other = self._deviations[name], term.deviations[name]
                if isinstance(held, GrowingMatrix):
                    product[owners] = held.array @ other
                else:
                    product[owners] = held.products(other)
            products[name], means[name] = product, mean
        return products, means, others


def inner(
    one: Query, other: Query, components: Collection[Names], gain: Callable[[Names], float]
) -> float:
    """Σ_B gain(B) · ⟨one_B, other_B⟩ over the components."""
    total = 0.0
    for first in centred_terms(one):
        for second in centred_terms(other):
            for names in components:
                left, right = first.part(names), second.part(names)
                if left is None or right is None:
                    continue
                value = gain(names) * left[0] * right[0]
                for a, b in zip(left[1], right[1], strict=True):
                    value *= float(a @ b)
                total += value
    return total
