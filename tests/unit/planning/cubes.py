"""Small domains and exact answers for tests of plans; the slow twins of what plans compute."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eke.domain import Categorical, Domain
from eke.planning.workload.release import ReleasePlan
from eke.privacy.pure import PURE
from eke.query import Block, Query

FloatArray = NDArray[np.float64]


def cube(*sizes: int) -> Domain:
    """A domain of categorical attributes a, b, c, … of these sizes."""
    names = [chr(ord("a") + i) for i in range(len(sizes))]
    labels = [[f"v{j}" for j in range(size)] for size in sizes]
    return Domain({n: Categorical(*values) for n, values in zip(names, labels, strict=True)})


def rows_of(domain: Domain, measured: Block) -> FloatArray:
    """(rows, cells): every coefficient of what is measured, cell by cell."""
    cells = np.array(list(np.ndindex(*domain.shape)))
    queries = [measured.cell(i) for i in range(measured.cells)]
    rows = [
        np.array(q.numerators(domain.names, cells), np.float64) * 2.0**q.exponent for q in queries
    ]
    return np.array(rows)


def marginal_rows(domain: Domain, names: tuple[str, ...]) -> FloatArray:
    """(cells of the marginal, cells of the domain)."""
    matrix: NDArray[Any] = np.eye(1)
    for name, size in zip(domain.names, domain.shape, strict=True):
        matrix = np.kron(matrix, np.eye(size) if name in names else np.ones((1, size)))
    return matrix


def noise_of(plan: ReleasePlan) -> FloatArray:
    """The variance of every measured row."""
    found = []
    for part in plan.parts:
        rows = 1 if isinstance(part.measured, Query) else part.measured.cells
        variance = part.noise_scale**2 * (2.0 if plan.measure == PURE else 1.0)
        found.append(np.full(rows, variance))
    return np.concatenate(found)


def strategy_of(plan: ReleasePlan) -> FloatArray:
    return np.vstack([rows_of(plan.workload.domain, part.measured) for part in plan.parts])


def answers_split(plan: ReleasePlan, flat: FloatArray) -> list[FloatArray]:
    """Values of all rows as one array for each part."""
    counts = [1 if isinstance(p.measured, Query) else p.measured.cells for p in plan.parts]
    return list(np.split(flat, np.cumsum(counts)[:-1]))


def loss_of(plan: ReleasePlan) -> float:
    """The largest loss of a record, from the matrix itself."""
    rows, variances = strategy_of(plan), noise_of(plan)
    if plan.measure == PURE:
        return float((np.abs(rows) * np.sqrt(2.0 / variances)[:, None]).sum(axis=0).max())
    return float((rows**2 / (2.0 * variances[:, None])).sum(axis=0).max())


def recovery_of(plan: ReleasePlan) -> FloatArray:
    """(questions, rows): the plan's recovery, found by recovering unit vectors."""
    total = len(noise_of(plan))
    columns = []
    for unit in np.eye(total):
        tables = plan.recover(answers_split(plan, unit))
        columns.append(np.concatenate([table.values.reshape(-1) for table in tables]))
    return np.array(columns).T


def stated_variances(plan: ReleasePlan) -> FloatArray:
    """The variance that the plan states for every question."""
    tables = plan.recover(answers_split(plan, np.zeros(len(noise_of(plan)))))
    return np.concatenate([np.broadcast_to(t.variance, t.values.shape).reshape(-1) for t in tables])


def cells_of(domain: Domain) -> int:
    return math.prod(domain.shape)
