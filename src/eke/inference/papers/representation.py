"""Disjoint linear representations T·H = q, found greedily in the order of asking (ONLINE Alg. 2).

Rows are scanned from the first; as soon as the rows seen so far can express q, their combination
is one representation, the rows it uses are struck out, and the scan goes on with the rest.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from eke.arrays import FloatArray
from eke.inference.packed import PackedFactor
from eke.inference.regression import RESOLUTION, norm_of
from eke.inference.span import ExactSpan
from eke.query import Prior, Query, TermStack


def linear_representations(rows: Sequence[Query], query: Query) -> list[FloatArray]:  # each (rows,)
    """The weights over the rows of each representation found."""
    if query.is_zero or not rows:
        return []
    wanted, factor = query.direction
    scan = _Scan(rows, query)
    representations = []
    for last, row in enumerate(rows):
        if not row.is_zero and (along := row.direction)[0] == wanted:
            # A multiple of the query needs no others, and no arithmetic that could fail.
            alone = np.zeros(len(rows))
            alone[last] = float(factor / along[1])
            representations.append(alone)
            scan.strike([last])
            continue
        scan.admit(last)
        while (weights := scan.express(last)) is not None:
            representations.append(weights)
    return representations


class _Scan:
    """An independent subset of the rows still available, and the query's part in its span."""

    def __init__(self, rows: Sequence[Query], query: Query) -> None:
        prior = Prior(query.domain)
        self._rows = rows
        self._query = query
        self._norm = norm_of(query)
        self._norms = np.array([norm_of(row) for row in rows])
        stack = TermStack(prior, capacity=max(1, len(rows)))
        for row, norm in zip(rows, self._norms, strict=True):
            stack.append(row, norm or 1.0)
        self._kernel = stack.gram()  # (rows, rows), rows at unit norm
        self._cross = stack.against(query) / (self._norm or 1.0)  # (rows,)
        self._free = self._norms > 0.0
        self._restart()

    def _restart(self) -> None:
        self._span = ExactSpan(self._query.domain)
        self._factor = PackedFactor()
        self._basis: list[int] = []

    def admit(self, row: int) -> None:
        """Take a row into the subset, if it is still free and says anything new."""
        if not self._free[row]:
            return
        column = self._factor.solve_transposed(self._kernel[self._basis, row])
        distance = self._kernel[row, row] - float(column @ column)
        place = self._span.locate(self._rows[row])
        if place.inside or distance <= RESOLUTION:
            return
        self._factor.append(column, math.sqrt(distance))
        self._span.append(self._rows[row], place)
        self._basis.append(row)

    def express(self, last: int) -> FloatArray | None:
        """The weights that express the query, or None; the rows used are no longer available."""
        place = self._span.locate(self._query)
        if not self._basis or not self._norm or not place.inside:
            return None
        solved = self._factor.solve(self._factor.solve_transposed(self._cross[self._basis]))
        used = self._span.coordinates(place) != 0
        rows = np.array(self._basis)[used]
        weights = np.zeros(len(self._rows))
        weights[rows] = solved[used] * self._norm / self._norms[rows]
        self.strike(rows)
        self._restart()
        for row in range(last + 1):
            self.admit(row)
        return weights

    def strike(self, rows: Sequence[int] | NDArray[np.intp]) -> None:
        """Make the rows unavailable."""
        self._free[rows] = False
