"""Joint recovery: least squares over everything that a plan measured, across its sections.

Sections are planned apart, so a range and the marginal that contains it may disagree by their
noise. Where the attributes of the plan have few enough cells, one least squares estimate of all of
them makes everything agree. No matrix is formed: blocks are applied along the axes of a table, and
LSMR needs nothing else. Variances are no larger than those of the sections.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse.linalg import LinearOperator, lsmr

from eke.domain import Domain
from eke.errors import EstimateError
from eke.planning.release.plan import ReleasePlan
from eke.planning.release.section import FloatArray, Table
from eke.planning.strategy.line import question_values
from eke.query import Marginal, Measurable, Query

MOST_CELLS = 1_000_000
_PRECISION = 1e-12
_MOST_ROUNDS = 5000


class MeasuredRows:
    """The rows of one measured block as a linear map of a table over given attributes."""

    def __init__(self, domain: Domain, attributes: tuple[str, ...], measured: Measurable) -> None:
        self._shape = domain.sizes(attributes)
        own = measured.attributes
        self._summed = tuple(i for i, name in enumerate(attributes) if name not in own)
        self._spread = [domain[name].size if name in own else 1 for name in attributes]
        self._matrices: list[FloatArray] = []
        self._table: FloatArray | None = None
        if isinstance(measured, Query):
            self._table = np.asarray(measured.table(), np.float64) * 2.0**measured.exponent
            self.rows = 1
        elif isinstance(measured, Marginal):
            self.rows = measured.cells
        else:
            self._matrices = [matrix.astype(np.float64) for matrix in measured.matrices]
            self.rows = measured.cells

    def forward(self, cells: FloatArray) -> FloatArray:
        """The answers on a table of cells."""
        own = cells.sum(axis=self._summed)
        if self._table is not None:
            return np.array([float(np.sum(self._table * own))])
        for axis, matrix in enumerate(self._matrices):
            own = np.moveaxis(np.tensordot(matrix, own, (1, axis)), 0, axis)
        return np.asarray(own.reshape(-1))

    def backward(self, answers: FloatArray) -> FloatArray:
        """The transposed map: a table of cells from answers."""
        if self._table is not None:
            own = self._table * float(answers[0])
        elif self._matrices:
            own = answers.reshape([len(matrix) for matrix in self._matrices])
            for axis, matrix in enumerate(self._matrices):
                own = np.moveaxis(np.tensordot(matrix, own, (0, axis)), 0, axis)
        else:
            own = answers
        return np.broadcast_to(np.reshape(own, self._spread), self._shape)


def recover_jointly(plan: ReleasePlan, answers: Sequence[ArrayLike]) -> tuple[Table, ...]:
    """The answers to the workload from all noisy values together.

    The variances given are the sections', which these estimates stay below.
    """
    domain, parts = plan.workload.domain, plan.parts
    attributes = domain.in_order({name for part in parts for name in part.measured.attributes})
    shape = domain.sizes(attributes)
    cells = math.prod(shape)
    if cells > MOST_CELLS:
        raise EstimateError(
            f"joint recovery is for at most {MOST_CELLS:,} cells, not {cells:,}; "
            "use recover, section by section"
        )
    blocks = [MeasuredRows(domain, attributes, part.measured) for part in parts]
    factor = 2.0 if plan.measure == "epsilon" else 1.0
    roots = [1.0 / (part.noise_scale * math.sqrt(factor)) for part in parts]
    splits = np.cumsum([block.rows for block in blocks])

    def forward(x: FloatArray) -> FloatArray:
        table = x.reshape(shape)
        pairs = zip(blocks, roots, strict=True)
        return np.concatenate([root * block.forward(table) for block, root in pairs])

    def backward(z: FloatArray) -> FloatArray:
        total = np.zeros(shape)
        for block, root, part in zip(blocks, roots, np.split(z, splits[:-1]), strict=True):
            total += root * block.backward(part)
        return total.reshape(-1)

    operator = LinearOperator((int(splits[-1]), cells), matvec=forward, rmatvec=backward)
    scaled = np.concatenate(
        [r * np.asarray(a, np.float64).reshape(-1) for r, a in zip(roots, answers, strict=True)]
    )
    solved = lsmr(operator, scaled, atol=_PRECISION, btol=_PRECISION, maxiter=_MOST_ROUNDS)
    return _questions(plan, attributes, np.asarray(solved[0], np.float64).reshape(shape))


def _questions(
    plan: ReleasePlan, attributes: tuple[str, ...], cells: FloatArray
) -> tuple[Table, ...]:
    domain = plan.workload.domain
    variances = [variance for section in plan.sections for variance in section.variances]
    marginals = [t for t in plan.workload.targets if t.is_marginal]
    others = [t for t in plan.workload.targets if not t.is_marginal]
    tables = []
    for target, variance in zip([*marginals, *others], variances, strict=False):
        axes = tuple(i for i, name in enumerate(attributes) if name not in target.attributes)
        values = cells.sum(axis=axes)
        for axis, kind in enumerate(target.along):
            values = question_values(kind, values, axis)
        tables.append(Table(target.attributes, target.along, values, variance))
    for query, variance in zip(plan.workload.queries, variances[len(tables) :], strict=True):
        value = MeasuredRows(domain, attributes, query).forward(cells) + float(query.constant)
        tables.append(Table(query.attributes, (), value, variance))
    return tuple(tables)
