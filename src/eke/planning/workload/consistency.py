"""Consistency: tables that are sums of one another, as near as possible to given ones.

CUBE §3.3 and §4.3: the nearest tables Q·x to noisy tables y in the L2, L1 or L∞ norm, without a
variable for each cell of the domain. L2 has a closed form (`inference.residuals`). For L1 and L∞
the variables of a linear program are the degrees of freedom of the components: for every set of
attributes, the cells without the last value of any of them. They span the same tables as the
paper's Fourier coefficients do, for any attribute sizes, and make a sparser program.

By the triangle inequality no norm of the error more than doubles (§3.3).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import product
from typing import TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array, kron, vstack

from eke.arrays import FloatArray
from eke.errors import EstimateError, QueryError
from eke.inference.residuals import Names, Residuals, closure
from eke.planning.workload.equations import Equation, Meeting, Projection
from eke.planning.workload.programs import Norm, Program, nearest

Tables: TypeAlias = Mapping[Names, ArrayLike]

MOST_PROGRAM_CELLS = 200_000
_MOST_ROUNDS = 20_000
_MOST_ROUNDS_WITH_FACTS = 3_000
_SETTLED = 1e-9
_CUT_OFF = 1e-3


def consistent_tables(
    tables: Tables,
    sizes: Mapping[str, int],
    norm: Norm = "l2",
    *,
    nonnegative: bool = False,
    variances: Mapping[Names, float] | None = None,
    total: float | None = None,
    equations: Sequence[Equation] = (),
) -> dict[Names, FloatArray]:
    """The tables that agree with each other and are nearest to the given ones.

    `variances` weigh the tables in the L2 norm. With `nonnegative` all cells are at least zero;
    that makes small counts too large on average (their noise is cut off on one side only) and,
    since totals are kept consistent, large ones slightly too small. `total` is the number of
    records where it is known: every table then adds up to it. `equations` are what else is public:
    the tables meet them exactly, without negative cells to a thousandth of a record.
    """
    if norm not in get_args(Norm):
        raise QueryError("norm must be 'l2', 'l1' or 'linf'")
    given = {names: np.asarray(table, np.float64) for names, table in tables.items()}
    if not given:
        raise QueryError("there is nothing to make consistent: give at least one table")
    if total is not None and not 0.0 <= total < math.inf:
        raise QueryError("the number of records must be a finite number of at least 0")
    if norm == "l2":
        project = _projection(given, sizes, variances or {}, total, equations)
        if nonnegative:
            return _nearest_nonnegative(given, project, may_lift=not equations)
        return project(given)
    return _by_program(given, sizes, norm, total, equations, nonnegative=nonnegative)


def _projection(
    tables: Mapping[Names, FloatArray],
    sizes: Mapping[str, int],
    variances: Mapping[Names, float],
    total: float | None,
    equations: Sequence[Equation],
) -> Projection:
    """What makes tables consistent: with the total, and with what else is public."""
    if not equations:
        return lambda given: _nearest(given, sizes, variances, total)
    known = [] if total is None else [Equation((), np.ones(()), total)]
    plain: Projection = lambda given: _nearest(given, sizes, variances, None)  # noqa: E731
    return Meeting.of(plain, [*known, *equations], sizes, list(tables), variances)


def _nearest(
    tables: Mapping[Names, FloatArray],
    sizes: Mapping[str, int],
    variances: Mapping[Names, float],
    total: float | None,
) -> dict[Names, FloatArray]:
    known = Residuals(sizes, closure(list(tables)))
    if total is not None:
        known.fix_total(total)
    for names, table in tables.items():
        known.add(names, table, variances.get(names, 1.0))
    return {names: known.marginal(names) for names in tables}


def _nearest_nonnegative(
    tables: Mapping[Names, FloatArray], project: Projection, *, may_lift: bool
) -> dict[Names, FloatArray]:
    """Dykstra's alternating projections between consistent and non-negative tables.

    The first projection is the closed form, so a round is linear in the cells. Ends on the
    consistent side, shifted towards evenly spread counts just enough to leave no cell below zero;
    or, where facts do not allow that, with what rounding leaves below zero cut off.
    """
    current = {names: table.copy() for names, table in tables.items()}
    correction = {names: np.zeros_like(table) for names, table in tables.items()}
    settled = {names: table.copy() for names, table in tables.items()}
    lowest = 0.0
    for _ in range(_MOST_ROUNDS if may_lift else _MOST_ROUNDS_WITH_FACTS):
        settled = project(current)
        lowest = min(float(table.min()) for table in settled.values())
        largest = max(float(np.abs(table).max()) for table in settled.values())
        if lowest >= -_SETTLED * max(1.0, largest):
            break
        for names, table in settled.items():
            shifted = table + correction[names]
            current[names] = np.maximum(shifted, 0.0)
            correction[names] = shifted - current[names]
    if may_lift:
        return _lifted(settled)
    if lowest < -_CUT_OFF:
        raise EstimateError(
            "no tables without negative counts were found that meet all public facts; leave out "
            "nonnegative, or look whether the facts allow any"
        )
    return {names: np.maximum(table, 0.0) for names, table in settled.items()}


def _lifted(tables: dict[Names, FloatArray]) -> dict[Names, FloatArray]:
    """The consistent tables mixed with the even spread of their total, so that none is negative."""
    total = float(next(iter(tables.values())).sum())
    if total <= 0.0:
        return {names: np.zeros_like(table) for names, table in tables.items()}
    share = 0.0
    for table in tables.values():
        even, lowest = total / table.size, float(table.min())
        if lowest < 0.0:
            share = max(share, -lowest / (even - lowest))
    return {
        names: np.maximum((1.0 - share) * table + share * total / table.size, 0.0)
        for names, table in tables.items()
    }


def too_many_cells(cells: int) -> str:
    """What is said where a linear program would be too large."""
    return (
        f"the L1 and L∞ programs are for at most {MOST_PROGRAM_CELLS:,} cells, not {cells:,}; "
        "use norm='l2'"
    )


def _by_program(
    tables: Mapping[Names, FloatArray],
    sizes: Mapping[str, int],
    norm: Norm,
    total: float | None,
    equations: Sequence[Equation],
    *,
    nonnegative: bool,
) -> dict[Names, FloatArray]:
    cells = sum(table.size for table in tables.values())
    if cells > MOST_PROGRAM_CELLS:
        raise EstimateError(too_many_cells(cells))
    design = free_cells(list(tables), sizes)
    target = np.concatenate([table.reshape(-1) for table in tables.values()])
    known, told = [csr_array((0, design.shape[1]))], []
    if total is not None:  # tables that agree have one total: fixing that of one fixes all
        first = next(iter(tables.values())).size
        known.append(csr_array(np.asarray(design[:first].sum(axis=0)).reshape(1, -1)))
        told.append(total)
    starts = np.cumsum([0, *(table.size for table in tables.values())]).tolist()
    places = dict(zip(tables, starts, strict=False))
    for equation in equations:
        holder = next((n for n in tables if set(equation.attributes) <= set(n)), None)
        if holder is not None:
            coefficients = csr_array(equation.over(holder, sizes).reshape(1, -1))
            cells_of_it = design[places[holder] : places[holder] + coefficients.shape[1]]
            known.append(csr_array(coefficients @ cells_of_it))
            told.append(equation.value)
    conditions = csr_array(vstack(known, format="csr"))
    floor = design if nonnegative else None
    program = Program(design, target, floor, conditions, np.array(told, np.float64))
    values = np.asarray(design @ nearest(program, norm), np.float64)
    if nonnegative:
        values = np.maximum(values, 0.0)  # the solver's tolerance
    split = np.split(values, np.cumsum([table.size for table in tables.values()])[:-1])
    return {
        names: part.reshape(table.shape)
        for (names, table), part in zip(tables.items(), split, strict=True)
    }


def free_cells(marginals: Sequence[Names], sizes: Mapping[str, int]) -> csr_array[np.float64]:
    """(cells of all marginals, degrees of freedom): every consistent set of tables, once.

    The columns are, for each set in the closure, its cells without any attribute's last value; the
    remaining cells are differences of sums.
    """
    place: dict[tuple[Names, tuple[int, ...]], int] = {}
    for names in closure(list(marginals)):
        for cell in product(*(range(sizes[name] - 1) for name in names)):
            place[names, cell] = len(place)
    rows = []
    for names in marginals:
        block = csr_array(np.ones((1, 1)))
        for name in names:
            block = csr_array(kron(block, _last_by_difference(sizes[name]), format="csr"))
        columns = []
        # Along each attribute, 0 stands for the sum over it and j for its cell j - 1.
        for index in product(*(range(sizes[name]) for name in names)):
            subset = tuple(name for name, j in zip(names, index, strict=True) if j)
            columns.append(place[subset, tuple(j - 1 for j in index if j)])
        cells = math.prod(sizes[name] for name in names)
        chosen = csr_array((np.ones(cells), (np.arange(cells), columns)), shape=(cells, len(place)))
        rows.append(block @ chosen)
    return csr_array(vstack(rows, format="csr"))


def _last_by_difference(size: int) -> csr_array[np.float64]:
    """(cells, [sum, all cells but the last])."""
    matrix = np.zeros((size, size))
    matrix[:-1, 1:] = np.eye(size - 1)
    matrix[-1, 0] = 1.0
    matrix[-1, 1:] = -1.0
    return csr_array(matrix)
