"""Inner products of queries under a product prior, a Hadamard product of small Gram matrices.

⟨q1, q2⟩ = Σ_t p0(t) q1(t) q2(t) with p0 = Π_k p0_k factorises over attributes for products of
vectors (HIST eq. 20, Th. 1 and 2), so it costs Σ_k |A_k| per pair, never Π_k |A_k|. `TermStack`
keeps the vectors of many queries side by side, one matrix an attribute, and grows cheaply.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from eke.arrays import FloatArray
from eke.domain import Domain
from eke.errors import QueryError
from eke.query.linear import Query
from eke.query.view import view_with

_CHUNK_NUMBERS = 2**22


class Prior:
    """A product distribution p0 over the cells: one probability vector an attribute."""

    __slots__ = ("domain", "vectors")

    def __init__(
        self, domain: Domain, vectors: Mapping[str, Sequence[float]] | None = None
    ) -> None:
        given = vectors or {}
        unknown = [str(name) for name in given if name not in domain]
        if unknown:
            raise QueryError(f"the prior has vectors of unknown attributes: {', '.join(unknown)}")
        self.domain = domain
        self.vectors: dict[str, FloatArray] = _PriorVectors(
            {
                name: _probabilities(name, attribute.size, given.get(name))
                for name, attribute in domain.attributes
                if not attribute.is_wide
            }
        )


class _PriorVectors(dict[str, FloatArray]):
    """The vectors by name; there is none of a wide column."""

    def __missing__(self, name: str) -> FloatArray:
        raise QueryError(f"{name} has too many values for an estimate from a prior of each of them")


def _probabilities(name: str, size: int, given: Sequence[float] | None) -> FloatArray:
    if given is None:
        return np.full(size, 1.0 / size)
    advice = f"the prior of {name!r} needs {size} positive numbers"
    try:
        vector: FloatArray = np.asarray(given, np.float64)
    except (TypeError, ValueError) as problem:
        raise QueryError(advice) from problem
    if vector.shape != (size,) or not ((vector > 0) & np.isfinite(vector)).all():
        raise QueryError(advice)
    return vector / float(vector.sum())


class TermStack:
    """The terms of many queries stacked per attribute, so that ⟨stack, q⟩ is a few BLAS calls.

    An attribute gets its matrix when the first term varies along it; until then all its factors
    are one, and wide attributes that nobody asks about cost nothing.
    """

    def __init__(self, prior: Prior, capacity: int = 64) -> None:
        self.prior = prior
        self.names = prior.domain.names
        self.rows = 0  # queries held
        self._terms = 0
        self._capacity = max(1, capacity)
        self._column = {name: column for column, name in enumerate(self.names)}
        self._factor: dict[str, FloatArray] = {}  # (capacity, |A_k|) each
        self._mean = np.ones((self._capacity, len(self.names)))  # Σ_v p0_k(v) · factor(v)
        self._weight = np.zeros(self._capacity)
        self._start: list[int] = []  # first term of each query

    def view(self) -> TermStack:
        """The queries so far, for good; what is added to either of the two is not in the other.

        Terms never change, so they are shared; a view has no room, and moves when it grows.
        """
        return view_with(
            self,
            _capacity=self._terms,
            _factor={name: factor[: self._terms] for name, factor in self._factor.items()},
            _mean=self._mean[: self._terms],
            _weight=self._weight[: self._terms],
            _start=list(self._start),
        )

    def append(self, query: Query, divisor: float = 1.0) -> None:
        """Add a query, its coefficients divided by `divisor`. A zero query is one zero term."""
        self._check_domain(query)
        self._start.append(self._terms)
        self.rows += 1
        if not query.terms:
            self._new_term()
            return
        for term in query.terms:
            row = self._new_term()
            weight = float(term.weight) / divisor
            for name, vector in term.factors:
                largest = float(np.abs(vector).max())
                # Vectors are kept at unit height; the heights go into the weight.
                factor = self._matrix(name)
                factor[row] = vector / largest
                self._mean[row, self._column[name]] = factor[row] @ self.prior.vectors[name]
                weight *= largest
            self._weight[row] = weight

    def against(self, query: Query) -> FloatArray:
        """The inner products ⟨row, query⟩ of every row held; shape (rows,)."""
        self._check_domain(query)
        total = np.zeros(self._terms)
        for term in query.terms:
            mean = self._mean[: self._terms].copy()
            weight = float(term.weight)
            for name, vector in term.factors:
                scaled = self.prior.vectors[name] * vector
                factor = self._factor.get(name)
                mean[:, self._column[name]] = (
                    scaled.sum() if factor is None else factor[: self._terms] @ scaled
                )
            total += weight * mean.prod(axis=1)
        return self._by_row(total * self._weight[: self._terms])

    def at(self, codes: NDArray[np.int64]) -> FloatArray:
        """Coefficients of every row at some cells, (cells, attributes); shape (rows, cells)."""
        values = np.repeat(self._weight[: self._terms, None], len(codes), axis=1)
        for name, factor in self._factor.items():
            values *= factor[: self._terms][:, codes[:, self._column[name]]]
        return self._by_row(values)

    def project(self, vectors: Mapping[str, FloatArray]) -> FloatArray:
        """Σ_t Π_k vectors_k(t_k) · row(t) for several product functionals at once.

        vectors[name]: (|A_k|, functionals) -> (rows, functionals)
        """
        values = self._weight[: self._terms, None]
        for name in self.names:
            factor = self._factor.get(name)
            values = values * (
                vectors[name].sum(axis=0)
                if factor is None
                else factor[: self._terms] @ vectors[name]
            )
        return self._by_row(values)

    def averaged(self, names: Sequence[str], weights: FloatArray) -> FloatArray:
        """Σ_row weight · E[row | names] as a table over the names, for several weightings at once.

        weights: (rows, weightings) -> (|A_1|, …, |A_k|, weightings)
        """
        terms = weights if self._terms == self.rows else np.repeat(weights, self._lengths(), axis=0)
        longest, others = self._longest(names)
        rest = self._side_by_side(others) * self._outside(names)[:, None]  # (terms, cells)
        first = self._written(longest)
        table = np.empty((first.shape[1], rest.shape[1], weights.shape[1]))
        step = max(1, _CHUNK_NUMBERS // max(1, rest.size))
        for start in range(0, weights.shape[1], step):
            some = rest[:, :, None] * terms[:, None, start : start + step]
            product = first.T @ some.reshape(len(some), -1)
            table[:, :, start : start + step] = product.reshape(len(product), rest.shape[1], -1)
        shape = [len(self.prior.vectors[name]) for name in others]
        whole = table.reshape(first.shape[1], *shape, -1)
        return np.moveaxis(whole, 0, list(names).index(longest))

    def totals(self, names: Sequence[str], tables: FloatArray) -> FloatArray:
        """Σ_cells E[row | names] · table, the transpose of `averaged`.

        tables: (|A_1|, …, |A_k|, columns) -> (rows, columns)
        """
        longest, others = self._longest(names)
        rest = self._side_by_side(others) * self._outside(names)[:, None]
        first = self._written(longest)
        columns = tables.shape[-1]
        moved = np.moveaxis(tables, list(names).index(longest), 0)
        flat = moved.reshape(first.shape[1], rest.shape[1], columns)
        totals = np.empty((self._terms, columns))
        step = max(1, _CHUNK_NUMBERS // max(1, rest.size))
        for start in range(0, columns, step):
            some = np.ascontiguousarray(flat[:, :, start : start + step])
            product = (first @ some.reshape(len(some), -1)).reshape(*rest.shape, -1)
            totals[:, start : start + step] = np.einsum("tc,tcn->tn", rest, product)
        return self._by_row(totals)

    def gram(self) -> FloatArray:
        """All inner products of the rows held; shape (rows, rows)."""
        product = np.multiply.outer(self._weight[: self._terms], self._weight[: self._terms])
        for name, whole in self._factor.items():
            factor = whole[: self._terms]
            product *= (factor * self.prior.vectors[name]) @ factor.T
        if self._terms == self.rows:
            return product
        by_rows = np.add.reduceat(product, self._start, axis=0)
        return np.add.reduceat(by_rows, self._start, axis=1)

    def _lengths(self) -> NDArray[np.intp]:
        return np.diff([*self._start, self._terms])

    def _longest(self, names: Sequence[str]) -> tuple[str, list[str]]:
        longest = max(names, key=lambda name: len(self.prior.vectors[name]))
        return longest, [name for name in names if name != longest]

    def _written(self, name: str) -> FloatArray:
        """The factors of one attribute, ones where it is absent; shape (terms, |A_k|)."""
        factor = self._factor.get(name)
        if factor is None:
            return np.ones((self._terms, len(self.prior.vectors[name])))
        return factor[: self._terms]

    def _side_by_side(self, names: Sequence[str]) -> FloatArray:
        """Products of the factors of some attributes over their cells; shape (terms, cells)."""
        product = np.ones((self._terms, 1))
        for name in names:
            written = self._written(name)
            product = (product[:, :, None] * written[:, None, :]).reshape(self._terms, -1)
        return product

    def _outside(self, names: Sequence[str]) -> FloatArray:
        """Weights times the means along all other attributes; shape (terms,)."""
        means = self._mean[: self._terms].copy()
        means[:, [self._column[name] for name in names]] = 1.0
        return np.asarray(means.prod(axis=1) * self._weight[: self._terms])

    def _by_row(self, per_term: FloatArray) -> FloatArray:
        if self._terms == self.rows:  # one term each, or nothing held at all
            return per_term
        return np.add.reduceat(per_term, self._start, axis=0)

    def _check_domain(self, query: Query) -> None:
        domain = self.prior.domain
        if query.domain is not domain and query.domain != domain:
            raise QueryError("the query and the prior are over different domains")

    def _matrix(self, name: str) -> FloatArray:
        if name not in self._factor:
            self._factor[name] = np.ones((self._capacity, len(self.prior.vectors[name])))
        return self._factor[name]

    def _new_term(self) -> int:
        if self._terms == self._capacity:
            self._capacity = self._capacity * 3 // 2 + 8
            self._factor = {name: self._grown(f, 1.0) for name, f in self._factor.items()}
            self._mean = self._grown(self._mean, 1.0)
            self._weight = self._grown(self._weight, 0.0)
        self._terms += 1
        return self._terms - 1

    def _grown(self, array: FloatArray, filler: float) -> FloatArray:
        grown = np.full((self._capacity, *array.shape[1:]), filler)
        grown[: self._terms] = array
        return grown


def inner(first: Query, second: Query, prior: Prior) -> float:
    """⟨first, second⟩ under the prior."""
    stack = TermStack(prior, capacity=max(1, len(first.terms)))
    stack.append(first)
    return float(stack.against(second)[0])


def gram(queries: Sequence[Query], prior: Prior) -> FloatArray:
    """The kernel matrix K of a list of queries; shape (queries, queries)."""
    stack = TermStack(prior, capacity=max(1, sum(max(1, len(q.terms)) for q in queries)))
    for query in queries:
        stack.append(query)
    return stack.gram()
