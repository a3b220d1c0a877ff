"""Constraints: noisy shares that a model must come near, each with its penalty (HIST eq. 25 to 30).

A noisy answer a_i becomes the share π_i = a_i/n. Laplace noise of scale b_i gives the penalty
β_i·|π_i − p[f_i]| with β_i = αn/b_i, which bounds its weight in the dual, |w_i| ≤ β_i. Gaussian
noise of variance σ² gives (αn²/2σ²)(π_i − p[f_i])², which costs w_i²σ²/2αn² in the dual instead.
α = ∞ asks for the shares themselves, and so does a fact, which has no noise.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eke.arrays import FloatArray
from eke.domain import Domain
from eke.errors import EstimateError
from eke.history import PUBLIC, Measurement
from eke.inference.features import HistoryFeatures, TableGroup, table_of
from eke.privacy.law import NoiseLaw

AttributeSet = tuple[str, ...]

MOST_CELLS = 2**22
"""A question over more cells than this cannot be a constraint."""


@dataclass(frozen=True, slots=True, eq=False)
class Constraints:
    """Groups of features over small attribute sets, their targets and penalties."""

    domain: Domain
    groups: tuple[TableGroup, ...]  # rows count constraints; attribute sets may repeat
    targets: FloatArray  # (m,) π
    bounds: FloatArray  # (m,) β, inf for Gaussian noise
    quadratics: FloatArray  # (m,) σ²/αn², 0 for Laplace noise
    deviations: FloatArray  # (m,) of the noise in the shares
    left_out: tuple[int, ...] = ()  # rows of the history over too many cells

    @property
    def size(self) -> int:
        return len(self.targets)

    @property
    def attribute_sets(self) -> list[AttributeSet]:
        return list(dict.fromkeys(group.attributes for group in self.groups))

    def log_tables(self, weights: FloatArray) -> dict[AttributeSet, FloatArray]:
        """Σ_i w_i·f_i as one flat table for each attribute set."""
        tables: dict[AttributeSet, FloatArray] = {}
        for group in self.groups:
            part = group.transposed_times(weights[group.rows])
            known = tables.get(group.attributes)
            tables[group.attributes] = part.copy() if known is None else known + part
        return tables

    def expectations(self, marginals: dict[AttributeSet, FloatArray]) -> FloatArray:
        """p[f_i] of every constraint from flat marginals; shape (m,)."""
        result = np.zeros(self.size)
        for group in self.groups:
            result[group.rows] += group.times(marginals[group.attributes])
        return result

    def squares(self, marginals: dict[AttributeSet, FloatArray]) -> FloatArray:
        """p[f_i²], group by group; shape (m,)."""
        result = np.zeros(self.size)
        for group in self.groups:
            cells = marginals[group.attributes]
            result[group.rows] += cells if group.tables is None else group.tables**2 @ cells
        return result

    def excess(
        self, weights: FloatArray, gradient: FloatArray, expectations: FloatArray
    ) -> FloatArray:
        """How far each constraint is from the optimum's condition, as a share; shape (m,).

        The gradient, but nothing where a bound holds the weight back. Averages of weights at a
        bound come near it only, so the gradient fades over the last fiftieth of the way. A count
        that should be negative asks for weights that run away to change almost nothing: what they
        could still change is the share that is left.
        """
        gradient = np.where(self._counts(), np.maximum(gradient, -expectations), gradient)
        room = np.where(gradient > 0.0, self.bounds - weights, self.bounds + weights)
        with np.errstate(invalid="ignore"):
            left = np.where(
                np.isinf(self.bounds), 1.0, np.clip(50.0 * room / self.bounds, 0.0, 1.0)
            )
        return gradient * left

    def _counts(self) -> NDArray[np.bool_]:
        """Which features are nowhere negative."""
        result = np.zeros(self.size, np.bool_)
        for group in self.groups:
            result[group.rows] = True if group.tables is None else group.tables.min(axis=1) >= 0.0
        return result


def constraints_of(
    features: HistoryFeatures,
    values: ArrayLike,
    laws: Sequence[NoiseLaw],
    *,
    total: float,
    alpha: float = 1.0,
) -> Constraints:
    """The constraints of noisy answers on a table with `total` records."""
    if not 0.0 < total < math.inf:
        raise EstimateError("the number of records must be a finite number above 0")
    if not alpha > 0.0:
        raise EstimateError("alpha must be above 0; math.inf asks for the noisy answers themselves")
    answers = np.asarray(values, np.float64)
    if not features.size == len(answers) == len(laws):
        raise EstimateError("constraints need one value and one noise law for each query")
    groups, left_out = _tabulated(features)
    used = np.setdiff1d(np.arange(features.size), np.array(left_out, np.intp))
    place = np.full(features.size, -1, np.intp)
    place[used] = np.arange(len(used))
    scales = np.array([law.laplace_scale for law in laws])[used]
    exact = [law == PUBLIC for law in laws]
    gaussian = np.where(exact, 0.0, [law.gaussian_variance for law in laws])[used]
    with np.errstate(divide="ignore"):
        bounds = np.where(scales > 0, alpha * total / scales, math.inf)
    return Constraints(
        features.domain,
        tuple(TableGroup(g.attributes, place[g.rows], g.tables) for g in groups),
        answers[used] / total,
        bounds,
        gaussian / (alpha * total**2),
        np.sqrt(np.array([law.variance for law in laws])[used]) / total,
        tuple(left_out),
    )


def constraints_of_history(
    domain: Domain, measurements: Iterable[Measurement], *, total: float, alpha: float = 1.0
) -> Constraints:
    """The constraints of everything released so far."""
    history = list(measurements)
    laws = [m.law for m in history for _ in m.values]
    values = [value for m in history for value in m.values]
    features = HistoryFeatures.of_measurements(domain, history)
    return constraints_of(features, values, laws, total=total, alpha=alpha)


def _tabulated(features: HistoryFeatures) -> tuple[list[TableGroup], list[int]]:
    """Every feature as tables; a sum over many cells becomes one table for each of its parts."""
    groups, left_out = list(features.groups), []
    by_set: dict[AttributeSet, list[tuple[int, FloatArray]]] = {}
    for row, query in zip(features.product_rows.tolist(), features.products, strict=True):
        if query.support_size <= MOST_CELLS:
            table = table_of(query, query.attributes)
            by_set.setdefault(query.attributes, []).append((row, table))
        else:
            left_out.append(row)
    for attributes, rows_and_tables in by_set.items():
        rows = np.array([row for row, _ in rows_and_tables], np.intp)
        groups.append(
            TableGroup(attributes, rows, np.array([table for _, table in rows_and_tables]))
        )
    return groups, left_out
