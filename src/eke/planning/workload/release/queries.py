"""The section of single queries, or of any workload with a user-given strategy matrix.

The cells are those of the attributes that the questions mention. On few cells everything is dense
and optimal for the strategy; on many, the queries themselves are measured, each priced by its own
sensitivity.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from eke.arrays import FloatArray
from eke.domain import Domain
from eke.errors import QueryError
from eke.planning.workload import budget as noise_budget
from eke.planning.workload.dense import DensePlan, dense_plan, least_squares_recovery
from eke.planning.workload.options import Noise, Recovery
from eke.planning.workload.release.section import (
    Alternative,
    PlannedBlock,
    Table,
    remaining_variances,
    scaled_alternatives,
    variance_factor,
)
from eke.planning.workload.strategy.line import question_values
from eke.planning.workload.strategy.matrices import (
    MatrixStrategy,
    characters,
    haar,
    hierarchy,
    identity,
)
from eke.planning.workload.workload import Workload
from eke.privacy.measure import Measure
from eke.query import Block, Marginal, Query, Term, sensitivity, table

MOST_DENSE_CELLS = 1024
_REFINED = 2
_MOST_CELLS_OF_TREES = 256


@dataclass(frozen=True, slots=True, eq=False)
class MatrixSection:
    """Questions answered from the rows of a strategy matrix."""

    workload: Workload
    attributes: tuple[str, ...]
    counts: tuple[int, ...]  # questions of each
    weights: FloatArray  # (questions,)
    constants: FloatArray  # (questions,)
    plan: DensePlan
    measured: tuple[Block, ...]
    costs: tuple[float, ...]
    measure: Measure
    budget: float
    alternatives: tuple[Alternative, ...]

    @property
    def strategy(self) -> str:
        return self.plan.strategy.name

    @property
    def questions(self) -> int:
        return sum(self.counts)

    @property
    def question_weight(self) -> float:
        return float(self.weights.sum())

    @property
    def total_error(self) -> float:
        return self.plan.total_error

    @property
    def variances(self) -> list[FloatArray]:
        return np.split(self.plan.variances, np.cumsum(self.counts)[:-1])

    def _used(self) -> NDArray[np.intp]:
        return np.flatnonzero(np.isfinite(self.plan.noise_variances))

    def at(self, budget: float) -> MatrixSection:
        factor = variance_factor(self.measure, self.budget, budget)
        plan = replace(
            self.plan,
            noise_variances=factor * self.plan.noise_variances,
            variances=factor * self.plan.variances,
            total_error=factor * self.plan.total_error,
        )
        listed = scaled_alternatives(self.alternatives, factor)
        costs = tuple(cost * budget / self.budget for cost in self.costs)
        return replace(self, plan=plan, costs=costs, budget=budget, alternatives=listed)

    @property
    def part_count(self) -> int:
        return 1 if self._is_one_block else len(self._used())

    @property
    def _is_one_block(self) -> bool:
        return len(self.measured) == 1 and not self.measured[0].is_single

    def parts(self) -> list[PlannedBlock]:
        variances = self.plan.noise_variances
        if self._is_one_block:
            noise_variance = float(variances.max())
            return [PlannedBlock(self.measured[0], self._scale(noise_variance), self.costs[0])]
        return [
            PlannedBlock(self.measured[i], self._scale(float(variances[i])), self.costs[i])
            for i in self._used()
        ]

    def _scale(self, noise_variance: float) -> float:
        return self.measure.scale_of(noise_variance)

    def recover(self, answers: Sequence[FloatArray], total: float | None = None) -> list[Table]:
        flat = np.concatenate([np.asarray(a, np.float64).reshape(-1) for a in answers])
        used = self._used()
        if len(flat) != len(used):
            raise QueryError(f"the plan measures {len(used)} numbers, not {len(flat)}")
        values, variances = self.plan.recovery[:, used] @ flat, self.plan.variances
        if total is not None:
            values, variances = self._told(values, variances, flat, total)
        workload = self.workload
        shapes: list[tuple[int, ...]] = [one.shape(workload.domain) for one in workload.targets]
        shapes += [(1,)] * len(workload.queries)
        made_of = [(target.attributes, target.along) for target in workload.targets]
        made_of += [(query.attributes, ()) for query in workload.queries]
        split = np.split(values + self.constants, np.cumsum(self.counts)[:-1])
        spread = np.split(variances, np.cumsum(self.counts)[:-1])
        return [
            Table(*of, part.reshape(shape), variance.reshape(shape))
            for of, shape, part, variance in zip(made_of, shapes, split, spread, strict=True)
        ]

    def _told(
        self, values: FloatArray, variances: FloatArray, answers: FloatArray, total: float
    ) -> tuple[FloatArray, FloatArray]:
        """(values, variances) when the number of records is known.

        Without strategy matrix only a question about that number itself profits.
        """
        cells = math.prod(self.workload.domain.sizes(self.attributes))
        if self.plan.strategy.matrix.shape[1] != cells:  # queries by themselves
            everyone = [not query.attributes for query in self.workload.queries]
            heights = [float(sum(t.weight for t in q.terms)) for q in self.workload.queries]
            told = np.where(everyone, total * np.array(heights), values)
            return told, np.where(everyone, 0.0, variances)
        used = self._used()
        rows = self.plan.strategy.matrix[used].astype(np.float64)
        noise = self.plan.noise_variances[used]
        try:
            (weights,) = least_squares_recovery(np.ones((1, rows.shape[1])), rows, noise)
        except QueryError:  # nothing that was measured says how many records there are
            return values, variances
        shared = self.plan.recovery[:, used] @ (noise * weights)
        variance = float(weights**2 @ noise)
        told = values + shared / variance * (total - float(weights @ answers))
        return told, remaining_variances(variances, shared**2 / variance)


def matrix_section(
    workload: Workload,
    measure: Measure,
    budget: float,
    strategy: str | MatrixStrategy = "auto",
    *,
    noise: Noise = "least_squares",
    recovery: Recovery = "least_squares",
) -> MatrixSection:
    """The best strategy matrix on the workload's own cells, or the one given."""
    domain = workload.domain
    named = {name for target in workload.targets for name in target.attributes}
    named |= {name for query in workload.queries for name in query.attributes}
    attributes = domain.in_order(named)
    cells = math.prod(domain.sizes(attributes))
    counts = tuple(t.questions(domain) for t in workload.targets) + (1,) * len(workload.queries)
    weights = np.repeat(
        [*(t.weight for t in workload.targets), *workload.query_weights], counts
    ).astype(np.float64)
    constants = np.zeros(sum(counts))
    if workload.queries:
        constants[-len(workload.queries) :] = [float(q.constant) for q in workload.queries]
    if cells > MOST_DENSE_CELLS:
        if workload.targets or strategy not in {"auto", "Q"}:
            raise QueryError(
                f"strategy matrices are for workloads over at most {MOST_DENSE_CELLS:,} cells; "
                "plan fewer attributes at a time"
            )
        return _by_themselves(workload, weights, constants, measure, budget)
    matrix = workload_matrix(workload, attributes)
    candidates = _candidates(matrix, attributes, strategy)
    # Budgets and recovery are optimised in turn for the best few only: that takes a while.
    first: Noise = "groups" if noise == "least_squares" and len(candidates) > 1 else noise
    plans = [
        dense_plan(matrix, s, measure, budget, weights=weights, noise=first, recovery=recovery)
        for s in candidates
    ]
    plans.sort(key=lambda plan: plan.total_error)
    if first != noise:
        plans[:_REFINED] = [
            dense_plan(
                matrix, p.strategy, measure, budget, weights=weights, noise=noise, recovery=recovery
            )
            for p in plans[:_REFINED]
        ]
        plans.sort(key=lambda plan: plan.total_error)
    listed = tuple(
        Alternative(
            plan.strategy.name,
            math.sqrt(plan.total_error / float(weights.sum())),
            math.sqrt(float(plan.variances.max())),
            len(plan.strategy.matrix),
        )
        for plan in plans
    )
    chosen = plans[0]
    measured, costs = _measured(domain, attributes, chosen, measure)
    return MatrixSection(
        workload=workload,
        attributes=attributes,
        counts=counts,
        weights=weights,
        constants=constants,
        plan=chosen,
        measured=measured,
        costs=costs,
        measure=measure,
        budget=budget,
        alternatives=listed,
    )


def workload_matrix(workload: Workload, attributes: tuple[str, ...]) -> FloatArray:
    """(questions, cells): the coefficients of every question over the attributes' cells."""
    domain = workload.domain
    shape = domain.sizes(attributes)
    cells = math.prod(shape)
    rows = []
    for target in workload.targets:
        # The questions of a target are linear in the cells: ask them of every unit table.
        summed = tuple(i for i, name in enumerate(attributes) if name not in target.attributes)
        units = np.eye(cells).reshape(*shape, cells).sum(axis=summed)
        for axis, kind in enumerate(target.along):
            units = question_values(kind, units, axis)
        rows.append(units.reshape(-1, cells))
    for query in workload.queries:
        small = query.table().astype(np.float64) * 2.0**query.exponent
        spread = [domain[n].size if n in query.attributes else 1 for n in attributes]
        rows.append(np.broadcast_to(small.reshape(spread), shape).reshape(1, cells))
    return np.vstack(rows)


def _candidates(
    matrix: FloatArray, attributes: tuple[str, ...], strategy: str | MatrixStrategy
) -> list[MatrixStrategy]:
    cells = matrix.shape[1]
    if isinstance(strategy, MatrixStrategy):
        if strategy.matrix.shape[1] != cells:
            raise QueryError(
                f"the strategy matrix needs {cells} columns for this workload: the cells of "
                f"{' × '.join(attributes) or 'the total'}, the last one fastest; it has "
                f"{strategy.matrix.shape[1]}"
            )
        return [strategy]
    known = {"I": identity(cells)}
    distinct = np.unique(matrix[matrix.any(axis=1)], axis=0)
    scaled = distinct * 2.0 ** _common_exponent(distinct)
    if len(distinct) and np.abs(scaled).max() < 2**31:
        known["Q"] = MatrixStrategy.of("Q", scaled)
    if 1 < cells <= _MOST_CELLS_OF_TREES:
        known["W"] = haar(cells)
        known["H2"] = hierarchy(cells, 2)
        if cells & (cells - 1) == 0:
            known["F"] = characters(cells)
    if strategy == "auto":
        return list(known.values())
    if strategy not in known:
        raise QueryError(f"no strategy {strategy!r} here; choose one of {', '.join(known)}")
    return [known[strategy]]


def _common_exponent(matrix: FloatArray) -> int:
    """The least e >= 0 such that 2^e times the matrix is whole; 40 when there is none."""
    for exponent in range(40):
        scaled = matrix * 2.0**exponent
        if np.array_equal(scaled, np.rint(scaled)):
            return exponent
    return 40


def _measured(
    domain: Domain, attributes: tuple[str, ...], plan: DensePlan, measure: Measure
) -> tuple[tuple[Block, ...], tuple[float, ...]]:
    variances, rows = plan.noise_variances, plan.strategy.matrix
    # Asked of the matrix: whoever gives one may call it what they like.
    cells = np.array_equal(rows, np.eye(rows.shape[1], dtype=np.int64))
    if cells and attributes and np.isfinite(variances).all() and _alike(variances):
        noise_variance = float(variances.max())
        block = Marginal(attributes, Query.of(domain, [Term(Fraction(1), ())]))
        return (block,), (_cost(1.0, noise_variance, measure),)
    shape = domain.sizes(attributes)
    measured: list[Block] = []
    for row in rows:
        if not attributes:
            measured.append(Query.of(domain, [Term(Fraction(int(row[0])), ())]))
        else:
            measured.append(table(attributes, row.reshape(shape)).on(domain))
    largest = np.abs(rows).max(axis=1).astype(np.float64)
    costs = [_cost(float(h), float(v), measure) for h, v in zip(largest, variances, strict=True)]
    return tuple(measured), tuple(costs)


def _alike(variances: FloatArray) -> bool:
    return bool(np.ptp(variances) <= 1e-6 * variances.max())


def _cost(height: float, noise_variance: float, measure: Measure) -> float:
    return float(measure.loss_of_reach(measure.raised(height), noise_variance))


def _by_themselves(
    workload: Workload,
    weights: FloatArray,
    constants: FloatArray,
    measure: Measure,
    budget: float,
) -> MatrixSection:
    """Queries over many cells: each is measured, priced as if every record met all of them."""
    queries = tuple(q.without_constant() for q in workload.queries)
    reaches = np.array([float(sensitivity(q, "add_remove")) for q in queries])
    prices = measure.raised(reaches)
    variances = noise_budget.by_groups(weights, np.maximum(prices, 1e-300), measure, budget)
    rows = np.ones((len(queries), 1), np.int64)
    plan = DensePlan(
        MatrixStrategy("Q", rows, None),
        variances,
        np.eye(len(queries)),
        variances,
        float(weights @ variances),
    )
    costs = tuple(
        _cost(float(h), float(v), measure) for h, v in zip(reaches, variances, strict=True)
    )
    listed = (
        Alternative(
            "Q",
            math.sqrt(plan.total_error / float(weights.sum())),
            math.sqrt(float(variances.max())),
            len(queries),
        ),
    )
    return MatrixSection(
        workload=workload,
        attributes=workload.domain.in_order({n for q in queries for n in q.attributes}),
        counts=(1,) * len(queries),
        weights=weights,
        constants=constants,
        plan=plan,
        measured=queries,
        costs=costs,
        measure=measure,
        budget=budget,
        alternatives=listed,
    )
