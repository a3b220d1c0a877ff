"""Whole numbers: released tables as counts that people could have, totals still consistent.

CUBE §6 leaves open how to get non-negative whole counts without base counts. Two ways:

- on domains with few cells, fit non-negative base counts to the tables, round them, and sum them up
  again: all tables then come from one set of whole records;
- otherwise round each (already consistent, non-negative) table by its running sums to one common
  total: all totals agree, and a cell moves by less than one.

Both are biased: non-negativity raises small counts, and `Whole.moved` says by how much the tables
were moved on average. Estimates that will be added up further should stay as they were measured.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eke.arrays import FloatArray, IntArray
from eke.errors import QueryError
from eke.inference.residuals import Names
from eke.planning.workload.consistency import Tables, consistent_tables
from eke.planning.workload.equations import Equation
from eke.planning.workload.programs import Norm
from eke.planning.workload.sum_tree import SumTree

MOST_FITTED_CELLS = 1_000_000
_ROUNDS = 300


@dataclass(frozen=True, slots=True, eq=False)
class Whole:
    """Tables of non-negative whole numbers.

    `moved` is the mean absolute change of a cell: an upper bound of the bias that it introduces,
    averaged over cells. `joint` is true when all tables are sums of one set of whole counts.
    """

    tables: dict[Names, IntArray]
    moved: float
    joint: bool


def whole_tables(
    tables: Tables,
    sizes: Mapping[str, int],
    variances: Mapping[Names, float] | None = None,
    *,
    norm: Norm = "l2",
    total: int | None = None,
    equations: Sequence[Equation] = (),
) -> Whole:
    """Non-negative whole counts near the tables, with one total: that of the records, if known.

    `norm` says which non-negative tables are nearest; these are then rounded.

    `equations` are met before numbers are rounded, and cells that they leave empty stay empty.
    """
    given = {names: np.asarray(table, np.float64) for names, table in tables.items()}
    nearest = consistent_tables(
        given,
        sizes,
        norm,
        nonnegative=True,
        variances=variances,
        total=total,
        equations=equations,
    )
    attributes = tuple(dict.fromkeys(name for names in given for name in names))
    ordered = tuple(name for name in sizes if name in attributes)
    cells = math.prod(sizes[name] for name in ordered)
    if cells <= MOST_FITTED_CELLS:
        base = fitted_counts(nearest, ordered, sizes)
        whole = round_running_sums(base.reshape(-1), total).reshape(base.shape)
        rounded = {names: summed(whole, ordered, names) for names in given}
    else:
        rounded = {
            names: round_running_sums(table.reshape(-1), total).reshape(table.shape)
            for names, table in nearest.items()
        }
    change = sum(float(np.abs(rounded[names] - table).sum()) for names, table in given.items())
    count = sum(table.size for table in given.values())
    return Whole(rounded, change / count, cells <= MOST_FITTED_CELLS)


def round_running_sums(values: FloatArray, total: int | None = None) -> IntArray:
    """Whole numbers whose running sums are the nearest to those of non-negative numbers.

    No running sum moves by more than a half, no number by one or more; the total is rounded to the
    nearest. A `total` that the numbers add up to but for rounding is met exactly.
    """
    if values.size and float(values.min()) < 0.0:
        raise QueryError("only non-negative numbers can be rounded to counts")
    sums = np.floor(np.cumsum(values) + 0.5 + 1e-9).astype(np.int64)
    if total is not None and sums.size:
        sums = np.minimum(sums, total)
        sums[-1] = total
    return np.diff(sums, prepend=np.int64(0))


def fitted_counts(
    tables: Mapping[Names, FloatArray], attributes: Names, sizes: Mapping[str, int]
) -> FloatArray:
    """Non-negative base counts whose marginals are near the tables (accelerated descent)."""
    shape = tuple(sizes[name] for name in attributes)
    total = float(next(iter(tables.values())).sum())
    base = np.full(shape, total / math.prod(shape))
    # The sum of the squared norms of the summing operators bounds the curvature.
    step = 1.0 / sum(math.prod(shape) / table.size for table in tables.values())
    tree = SumTree.of(attributes, list(tables))
    ahead, inertia = base.copy(), 1.0
    for _ in range(_ROUNDS):
        sums = tree.sums(ahead, attributes)
        off = {names: sums[names] - table for names, table in tables.items()}
        following = np.maximum(ahead - step * tree.spread(off, attributes), 0.0)
        next_inertia = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * inertia**2))
        ahead = following + (inertia - 1.0) / next_inertia * (following - base)
        base, inertia = following, next_inertia
    fitted = float(base.sum())
    return base * (total / fitted) if fitted > 0.0 else base


def summed(table: NDArray[Any], attributes: Names, names: Names) -> NDArray[Any]:
    """The marginal over some of a table's attributes."""
    axes = tuple(axis for axis, name in enumerate(attributes) if name not in names)
    return np.asarray(table.sum(axis=axes))
