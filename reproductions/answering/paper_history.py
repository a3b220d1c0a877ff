"""What both papers keep: H, y and the privacy costs; their estimates and their price list.

Plain matrices and the papers' formulas, written to be compared with eke and sharing none of its
code. `paper_systems` answers questions with it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Reals = NDArray[np.float64]
_NEGLIGIBLE = 1e-9


@dataclass(frozen=True, slots=True)
class Estimate:
    """θ̂ = A·y, and |A_i|·S_i/α_i, the Laplace scales of the parts of its error."""

    value: float
    multipliers: Reals  # A: (m,)
    laplace_scales: Reals  # (m,)


class _RowSpace:
    """H in terms of an orthonormal basis V of its rows, H = G·Vᵀ, solved once for all questions."""

    def __init__(self, matrix: Reals, values: Reals, laplace_scales: Reals) -> None:
        _, singular, rows = np.linalg.svd(matrix, full_matrices=False)
        self.basis: Reals = rows[singular > _NEGLIGIBLE * singular[0]].T  # V: (cells, rank)
        self._regressors: Reals = matrix @ self.basis  # G: (m, rank)
        self._values = values
        self._laplace_scales = laplace_scales

    @cached_property
    def blue(self) -> Reals:
        """(Gᵀ diag²(α./S) G)⁻¹ Gᵀ diag²(α./S), of shape (rank, m)."""
        weighted = self._regressors / self._laplace_scales[:, None] ** 2
        solved = np.linalg.solve(self._regressors.T @ weighted, weighted.T)
        return np.asarray(solved, np.float64)

    @cached_property
    def least_squares(self) -> Reals:
        """The ordinary least squares solution, of shape (rank,)."""
        solution, *_ = np.linalg.lstsq(self._regressors, self._values, rcond=None)
        return np.asarray(solution)


class PaperHistory:
    """Query history H, noisy answers y, and the loss B of each cell."""

    def __init__(self, cells: int) -> None:
        self.cell_losses = np.zeros(cells)  # B of ONLINE eq. 42, BAYES eq. 35
        self._rows: list[NDArray[np.int64]] = []
        self._values: list[float] = []
        self._scales: list[float] = []
        self._space: _RowSpace | None = None

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def matrix(self) -> Reals:  # (m, cells)
        return np.array(self._rows, np.float64).reshape(len(self), len(self.cell_losses))

    @property
    def values(self) -> Reals:  # (m,)
        return np.array(self._values)

    @property
    def laplace_scales(self) -> Reals:  # (m,) S./α
        return np.array(self._scales)

    @property
    def system_cost(self) -> float:
        """ᾱ, the largest loss of any cell (ONLINE Th. 3.8, BAYES Th. 5.4)."""
        return float(self.cell_losses.max())

    def cost_with(self, query: NDArray[np.int64], laplace_scale: float) -> float:
        """ᾱ if this query were answered with this noise."""
        return float((self.cell_losses + np.abs(query) / laplace_scale).max())

    def append(self, query: NDArray[np.int64], value: float, laplace_scale: float) -> None:
        self.cell_losses += np.abs(query) / laplace_scale
        self._rows.append(query)
        self._values.append(value)
        self._scales.append(laplace_scale)
        self._space = None

    def best_linear_unbiased(self, query: NDArray[np.int64]) -> Estimate | None:
        """BLUE by the normal equations (BAYES eq. 16); None if history does not determine it."""
        found = self._in_row_space(query)
        if found is None:
            return None
        space, target = found
        multipliers = target @ space.blue
        value = float(multipliers @ self.values)
        return Estimate(value, multipliers, np.abs(multipliers) * self.laplace_scales)

    def least_squares(self, query: NDArray[np.int64]) -> float | None:
        """The answer of ordinary least squares, for which all noisy answers are equally good."""
        found = self._in_row_space(query)
        if found is None:
            return None
        space, target = found
        return float(target @ space.least_squares)

    def _in_row_space(self, query: NDArray[np.int64]) -> tuple[_RowSpace, Reals] | None:
        """The query in terms of the rows' basis, if it has a representation T·H = q."""
        if not self._rows:
            return None
        if self._space is None:
            self._space = _RowSpace(self.matrix, self.values, self.laplace_scales)
        target = query @ self._space.basis
        rest = query - self._space.basis @ target
        if math.sqrt(float(rest @ rest)) > _NEGLIGIBLE * math.sqrt(float(query @ query)):
            return None
        return self._space, target
