"""BLUE from released tables and single answers together.

The tables determine some components of the data (`tables.py`), with a known covariance V; a query
splits into q = q_U + q_⊥, the part that they determine and the rest. A single noisy answer is then

    y_i − q̂_iU = q_i⊥·x + (error of q̂_iU) + noise_i,

a regression on the rests, whose errors are correlated through the tables. It is whitened by the
Cholesky factor of Σ = [cov(q_iU, q_jU)] + diag(noise), row by row as answers come, and solved as in
`regression.py`. An estimate Σ w_i·y_i + (estimate from the tables of q − Σ w_i·q_i) is unbiased for
any w with the right rests; the regression finds the best one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from eke.arrays import FloatArray
from eke.domain import Domain
from eke.history import Row
from eke.inference.centred import CentredStack, Names, subsets_of
from eke.inference.packed import PackedFactor
from eke.inference.regression import (
    RESOLUTION,
    SURELY_OUTSIDE,
    LinearEstimate,
    SetAside,
    matters,
    norm_of,
    ordinary,
)
from eke.inference.span import ExactSpan
from eke.inference.tables import ReleasedTables
from eke.privacy.law import Charged
from eke.query import Query
from eke.query.growing import GrowingMatrix
from eke.query.view import view_with

RESOLUTION_OF_FACTS = 1e-9
"""Of the variance that tables leave a fact: so near to it least squares comes.

Facts that tables know alike make Σ singular but for their own noise. As it is, that would drown in
rounding; their true error is nothing, whatever they are taken for, so intervals stay right.
"""


class MixedRegression:
    """The regression behind all answers once whole tables were released."""

    def __init__(
        self,
        domain: Domain,
        tables: ReleasedTables,
        rows: Sequence[Row] = (),
        resolution: float = 0.0,
    ) -> None:
        """With `resolution` above 0, no row is taken for more precise than that share allows."""
        self.domain = domain
        self._resolution = resolution
        self.tables = tables
        self.laws: list[Charged] = []
        self._span = ExactSpan(domain, tuple(tables.known))
        self._basis = CentredStack(domain)  # rows whose rests are independent
        self._used = CentredStack(domain)  # every row in the regression
        self._places: list[int] = []  # history row of each of them
        self._norms: list[float] = []
        self._kernel = PackedFactor()  # of the rests' inner products, rows at unit norm
        self._noise = PackedFactor()  # of Σ
        self._information = PackedFactor()  # of CᵀΣ⁻¹C
        self._design = GrowingMatrix(np.float64)  # Σ^-½·C
        self._values: list[float] = []  # Σ^-½·(y − q̂_U)
        self._aside = SetAside()
        for row in rows:
            self.append(row)

    def __len__(self) -> int:
        return len(self.laws)

    @property
    def rank(self) -> int:
        """The number of single answers that say something beyond the tables."""
        return self._kernel.size

    @property
    def aside(self) -> SetAside:
        """The rows that are used for their own question only."""
        return self._aside

    @property
    def nbytes(self) -> int:
        factors = (self._kernel, self._noise, self._information, self._design)
        return sum(one.nbytes for one in (*factors, self._span, self._basis, self._used))

    def view(self) -> MixedRegression:
        """The regression as it is, for good; the tables are shared, and must not change."""
        return view_with(
            self,
            laws=list(self.laws),
            _span=self._span.view(),
            _basis=self._basis.view(),
            _used=self._used.view(),
            _places=list(self._places),
            _kernel=self._kernel.view(),
            _noise=self._noise.view(),
            _information=self._information.view(),
            _design=self._design.view(),
            _norms=list(self._norms),
            _values=list(self._values),
            _aside=self._aside.view(),
        )

    def append(self, row: Row) -> None:
        """Take one more noisy answer into account: O(rows²)."""
        index = len(self.laws)
        self.laws.append(row.law)
        query = row.query
        if query.is_zero:  # it says nothing
            return
        norm = norm_of(query)
        if not norm or not ordinary(norm**2 / row.law.variance):
            self._aside.add(index, row)
            return
        coordinates = self._coordinates(query, norm, grow=True)
        if coordinates is None:
            self._aside.add(index, row)
            return
        shared = self.tables.covariances(self._used, query) / norm
        factor = self._noise.solve_transposed(shared)
        known = self.tables.covariance(query, query)
        noise = max(row.law.variance, self._resolution * known)
        variance = (known + noise) / norm**2
        pivot = math.sqrt(max(variance - float(factor @ factor), noise / norm**2))
        design = self._design.array
        before = np.zeros(len(coordinates))
        before[: design.shape[1]] = factor @ design if len(design) else 0.0
        whitened = (coordinates - before) / pivot
        self._noise.append(factor, pivot)
        while self._information.size < len(whitened):
            self._information.append(np.zeros(self._information.size), 0.0)
        self._information.update(whitened)
        residual = (row.value - self.tables.estimate(query)) / norm
        self._values.append((residual - float(factor @ np.asarray(self._values))) / pivot)
        self._design.append(whitened)
        self._used.append(query, norm)
        self._places.append(index)
        self._norms.append(norm)

    def estimate(self, query: Query) -> LinearEstimate | None:
        """The best linear unbiased estimate, or None when history does not determine the query."""
        constant = float(query.constant)
        if query.is_zero:
            return LinearEstimate(constant, np.empty(0, np.intp), np.empty(0))
        norm = norm_of(query)
        coordinates = self._coordinates(query, norm, grow=False) if norm else None
        if coordinates is None:
            return self._aside.estimate(query, constant, self.laws)
        shared = self.tables.covariances(self._used, query) / norm
        best = self._noise.solve_transposed(shared)
        if len(coordinates):
            design = self._design.array
            left = coordinates - best @ design
            solved = self._information.solve(self._information.solve_transposed(left))
            best = best + design @ solved
        value = norm * float(best @ np.asarray(self._values)) + self.tables.estimate(query)
        weights = self._noise.solve(best) * norm / np.asarray(self._norms)
        is_used = (
            matters(weights * np.asarray(self._norms)) if len(weights) else np.empty(0, np.bool_)
        )
        used = np.flatnonzero(is_used)
        rows = np.array([self._places[i] for i in used], np.intp)
        # Rows in the stack are divided by their norms.
        told = np.where(is_used, weights * np.asarray(self._norms), 0.0)
        cells = tuple(self.tables.cell_weights(query, self._used, told))
        return LinearEstimate(value + constant, rows, weights[used], cells)

    def table(self, names: Names) -> FloatArray | None:  # (values of each name, ...)
        """The estimates of all cells of a table of counts; None where one is not from the tables.

        The rest of a cell is zero then, and the estimate Cov(cell, rows)ᵀ·u plus that of the
        tables, with one u = L⁻ᵀ·(I − D(DᵀD)⁻¹Dᵀ)·L⁻¹·(y − q̂_U) for all cells (tables.md, §3). So it
        is the table whose components are those of the tables plus V · component of Σ u_i·q_i.
        """
        if not self.tables.knows(names):
            return None
        values, design = np.asarray(self._values), self._design.array
        told: dict[Names, FloatArray] = {}
        if len(values):
            left = values
            if design.shape[1]:
                along = self._information.solve_transposed(design.T @ values)
                left = values - design @ self._information.solve(along)
            told = self._used.combined(self._noise.solve(left), list(subsets_of(names)))
        return self.tables.table(names, told)

    def _coordinates(self, query: Query, norm: float, *, grow: bool) -> FloatArray | None:
        """The rest of a query in terms of the basis; None when it cannot be expressed.

        With `grow`, a rest that is independent of the basis joins it.
        """
        place = self._span.locate(query)
        if not place.inside and not grow:
            return None
        rest = self.tables.unknown_inner(query, query) / norm**2
        projected = self._kernel.solve_transposed(
            self.tables.unknown_inners(self._basis, query) / norm
        )
        distance = rest - float(projected @ projected)
        if place.inside and distance < SURELY_OUTSIDE:
            return self._kernel.solve(projected)
        if place.inside or distance <= RESOLUTION:
            return None
        self._kernel.append(projected, math.sqrt(distance))
        self._basis.append(query, norm)
        self._span.append(query, place)
        unit = np.zeros(self._kernel.size)
        unit[-1] = 1.0
        return unit
