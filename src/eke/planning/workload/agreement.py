"""Agreement: answers to any linear workload that hang together, as near as possible to given ones.

A question is linear in the marginal over its own attributes. So the answers Q·x of some counts x
are those of marginals that agree with each other, and only marginals over the largest sets of
attributes that a question has are looked at (CUBE §3.3 and §4.3 with questions other than cells).
Values of an attribute that no question tells apart are one.

What is asked for is one of three kinds:

- consistent: the answers are Q·x for some x, whose counts may be negative or fractional;
- nonnegative: besides, no cell of these marginals is below zero;
- whole: the answers are those of one table of whole counts, none negative.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, eye_array, kron, vstack

from eke.arrays import FloatArray
from eke.errors import EstimateError, QueryError
from eke.inference.residuals import Names
from eke.planning.workload.consistency import (
    MOST_PROGRAM_CELLS,
    consistent_tables,
    free_cells,
    too_many_cells,
)
from eke.planning.workload.equations import Equation
from eke.planning.workload.programs import MOST_FREE, Norm, Program, nearest, too_many_free
from eke.planning.workload.strategy.line import question_values
from eke.planning.workload.sum_tree import SumTree
from eke.planning.workload.whole_numbers import (
    MOST_FITTED_CELLS,
    fitted_counts,
    round_running_sums,
    summed,
    whole_tables,
)
from eke.planning.workload.workload import Target, Workload

Kind: TypeAlias = Literal["consistent", "nonnegative", "whole"]

KINDS: tuple[Kind, ...] = ("consistent", "nonnegative", "whole")
MOST_CELLS = 20_000
"""Of the marginals that questions are about; whole marginals in L2 have no such limit."""
_MOST_ENTRIES = 5_000_000
_MOST_TABLE = 2**20
_CUT_OFF = 1e-3


@dataclass(frozen=True, slots=True, eq=False)
class Agreed:
    """Answers in the order of a workload's targets and queries.

    `joint` is true where they are those of one table of counts that satisfies what was asked for.
    """

    answers: tuple[FloatArray, ...]
    joint: bool


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """The marginals that questions are about, and the questions over their cells."""

    sizes: dict[str, int]
    marginals: tuple[Names, ...]
    questions: csr_array[np.float64]  # (questions, cells of all marginals)
    cells: csr_array[np.float64]  # (cells, free numbers)
    conditions: csr_array[np.float64]  # (conditions, cells)
    values: FloatArray  # (conditions,)


def agreed_answers(
    workload: Workload,
    answers: Sequence[FloatArray],
    kind: Kind,
    norm: Norm = "l2",
    *,
    total: int | None = None,
    equations: Sequence[Equation] = (),
) -> Agreed:
    """The answers nearest to given ones, in a norm, that are consistent, non-negative or whole.

    `total` and `equations` are what is public: answers of the first two kinds meet them.
    """
    if kind not in KINDS:
        raise QueryError(f"released counts are made {', '.join(KINDS[:-1])} or {KINDS[-1]}")
    if norm not in get_args(Norm):
        raise QueryError("norm must be 'l2', 'l1' or 'linf'")
    if workload.is_marginal:
        return _marginals(workload, answers, kind, norm, total=total, equations=equations)
    constants = np.array([float(query.constant) for query in workload.queries])
    flat = np.concatenate([np.reshape(a, -1) for a in answers]).astype(np.float64)
    flat[len(flat) - len(constants) :] -= constants
    frame = frame_of(workload, total, equations)
    tables = _nearest_tables(
        frame, flat, norm, nonnegative=kind != "consistent", lift=not equations
    )
    if kind == "whole":
        tables = _whole(frame, tables, total)
    values = frame.questions @ np.concatenate([tables[n].reshape(-1) for n in frame.marginals])
    values[len(values) - len(constants) :] += constants
    ends = np.cumsum([np.size(a) for a in answers])[:-1]
    split = [
        part.reshape(np.shape(a)) for part, a in zip(np.split(values, ends), answers, strict=True)
    ]
    return Agreed(tuple(split), kind != "nonnegative" or len(frame.marginals) == 1)


def check_adjustable(workload: Workload, kind: Kind, norm: Norm) -> None:
    """Raise for a workload whose answers could not be adjusted: before it is paid for."""
    if workload.is_marginal:
        cells = workload.questions
        if norm != "l2" and cells > MOST_PROGRAM_CELLS:
            raise EstimateError(too_many_cells(cells))
        return
    frame = frame_of(workload, None, ())
    free = frame.cells.shape[1]
    if kind != "consistent" and norm == "l2" and free > MOST_FREE:
        raise EstimateError(too_many_free(free))
    if kind == "whole":
        _check_whole(frame)


def fitting_work(workload: Workload) -> int:
    """How many cells are read in each round of fitting whole counts."""
    if not workload.is_marginal:
        frame = frame_of(workload, None, ())
        return _round(frame.sizes, frame.marginals)
    sets = [target.attributes for target in workload.targets]
    domain = workload.domain
    sizes = {name: domain[name].size for name in domain.names if any(name in s for s in sets)}
    return 0 if math.prod(sizes.values()) > MOST_FITTED_CELLS else _round(sizes, sets)


def _round(sizes: Mapping[str, int], sets: Sequence[Names]) -> int:
    """All cells, and those that are read to sum them over each set of attributes."""
    return math.prod(sizes.values()) + SumTree.of(tuple(sizes), sets).work(sizes)


def _check_whole(frame: Frame) -> None:
    cells = math.prod(frame.sizes.values())
    if cells > MOST_FITTED_CELLS:
        raise EstimateError(
            f"whole counts behind these questions have {cells:,} cells, and at most "
            f"{MOST_FITTED_CELLS:,} can be fitted; ask for non-negative ones, or release less"
        )


def _marginals(
    workload: Workload,
    answers: Sequence[FloatArray],
    kind: Kind,
    norm: Norm,
    *,
    total: int | None,
    equations: Sequence[Equation],
) -> Agreed:
    """Whole marginals need no questions: their cells are what is looked for."""
    sets = [target.attributes for target in workload.targets]
    given = dict(zip(sets, answers, strict=True))
    sizes = dict(zip(workload.domain.names, workload.domain.shape, strict=True))
    if kind == "whole":
        whole = whole_tables(given, sizes, norm=norm, total=total, equations=equations)
        counts = tuple(whole.tables[names].astype(np.float64) for names in sets)
        return Agreed(counts, whole.joint)
    tables = consistent_tables(
        given, sizes, norm, nonnegative=kind == "nonnegative", total=total, equations=equations
    )
    joint = kind == "consistent" or len(largest_sets(sets)) == 1
    return Agreed(tuple(tables[names] for names in sets), joint)


def frame_of(workload: Workload, total: float | None, equations: Sequence[Equation]) -> Frame:
    """What the questions are about, as small as it can be told apart."""
    domain = workload.domain
    tables = []
    for query in workload.queries:
        if query.support_size > _MOST_TABLE:
            raise EstimateError("a question of this release has too many cells to be adjusted")
        shape = domain.sizes(query.attributes)
        small = query.table().astype(np.float64) * 2.0**query.exponent
        tables.append((query.attributes, small.reshape(shape)))
    asked = [*(t.attributes for t in workload.targets), *(names for names, _ in tables)]
    marginals = largest_sets(asked)
    told = [e for e in equations if any(set(e.attributes) <= set(m) for m in marginals)]
    distinguished = [*tables, *((e.attributes, e.coefficients) for e in told)]
    order = [name for name in domain.names if any(name in names for names in marginals)]
    apart = {name for target in workload.targets for name in target.attributes}
    kinds = {
        name: np.arange(domain[name].size) if name in apart else _classes(name, distinguished)
        for name in order
    }
    sizes = {name: int(kinds[name].max()) + 1 for name in order}
    cells = sum(math.prod(sizes[n] for n in names) for names in marginals)
    if cells > MOST_CELLS:
        raise EstimateError(
            f"these questions are about {cells:,} cells that must agree; at most {MOST_CELLS:,} "
            "can be adjusted together. Release fewer questions at a time, or whole marginals"
        )
    place = _Place(marginals, sizes)
    parts = [place.of(t.attributes, _target_rows(t, domain.sizes)) for t in workload.targets]
    parts += [place.of(names, _row(names, table, kinds)) for names, table in tables]
    known = [place.of(e.attributes, _row(e.attributes, e.coefficients, kinds)) for e in told]
    values = [e.value for e in told]
    if total is not None:
        known.append(place.of((), csr_array(np.ones((1, 1)))))
        values.append(float(total))
    empty = csr_array((0, cells))
    return Frame(
        sizes,
        marginals,
        csr_array(vstack(parts, format="csr")),
        free_cells(marginals, sizes),
        csr_array(vstack([empty, *known], format="csr")),
        np.array(values, np.float64),
    )


def largest_sets(sets: Sequence[Names]) -> tuple[Names, ...]:
    """The sets that lie in no other one."""
    distinct = sorted(set(sets), key=lambda names: (-len(names), names))
    largest: list[Names] = []
    for names in distinct:
        if not any(set(names) <= set(other) for other in largest):
            largest.append(names)
    return tuple(largest)


def _classes(name: str, tables: Sequence[tuple[Names, FloatArray]]) -> NDArray[np.int64]:
    """For each value of an attribute the number of its class: those that no table tells apart."""
    slices = [
        np.moveaxis(table, names.index(name), 0).reshape(table.shape[names.index(name)], -1)
        for names, table in tables
        if name in names
    ]
    classes = np.unique(np.hstack(slices), axis=0, return_inverse=True)[1]
    return np.asarray(classes, np.int64).reshape(-1)


def _row(
    names: Names, table: FloatArray, kinds: Mapping[str, NDArray[np.int64]]
) -> csr_array[np.float64]:
    """A question over the classes: its coefficient on the first value of each."""
    firsts = [np.unique(kinds[name], return_index=True)[1] for name in names]
    return csr_array(table[np.ix_(*firsts)].reshape(1, -1))


def _target_rows(target: Target, sizes: Any) -> csr_array[np.float64]:
    """(questions, cells of the target's attributes)."""
    rows = csr_array(np.ones((1, 1)))
    for kind, size in zip(target.along, sizes(target.attributes), strict=True):
        unit = csr_array(eye_array(size, format="csr"))
        line = unit if kind == "cells" else csr_array(question_values(kind, unit.toarray(), 0))
        if rows.nnz * line.nnz > _MOST_ENTRIES:
            raise EstimateError("this release has too many ranges to be adjusted together")
        rows = csr_array(kron(rows, line, format="csr"))
    return rows


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the cells of each marginal stand."""

    marginals: tuple[Names, ...]
    sizes: Mapping[str, int]

    def of(self, names: Names, rows: csr_array[np.float64]) -> csr_array[np.float64]:
        """Rows over the cells of some attributes, as rows over those of all marginals."""
        counts = [math.prod(self.sizes[n] for n in each) for each in self.marginals]
        holder = next(i for i, each in enumerate(self.marginals) if set(names) <= set(each))
        spread = csr_array(np.ones((1, 1)))
        for name in self.marginals[holder]:
            size = self.sizes[name]
            line = eye_array(size, format="csr") if name in names else np.ones((1, size))
            spread = csr_array(kron(spread, line, format="csr"))
        inside = csr_array(rows @ spread).tocoo()
        start = sum(counts[:holder])
        columns = inside.col + start
        return csr_array((inside.data, (inside.row, columns)), (rows.shape[0], sum(counts)))


def _nearest_tables(
    frame: Frame, target: FloatArray, norm: Norm, *, nonnegative: bool, lift: bool
) -> dict[Names, FloatArray]:
    """The marginals whose answers are nearest."""
    program = Program(
        csr_array(frame.questions @ frame.cells),
        target,
        frame.cells if nonnegative else None,
        csr_array(frame.conditions @ frame.cells),
        frame.values,
    )
    cells = np.asarray(frame.cells @ nearest(program, norm), np.float64)
    if nonnegative:
        cells = _lifted(frame, cells) if lift else _cut(cells)
    shapes = [tuple(frame.sizes[n] for n in names) for names in frame.marginals]
    ends = np.cumsum([math.prod(shape) for shape in shapes])[:-1]
    parts = np.split(cells, ends)
    return {
        names: part.reshape(shape)
        for names, part, shape in zip(frame.marginals, parts, shapes, strict=True)
    }


def _lifted(frame: Frame, cells: FloatArray) -> FloatArray:
    """Mixed with the even spread of their total, just enough to leave none below zero."""
    counts = [math.prod(frame.sizes[n] for n in names) for names in frame.marginals]
    total = max(0.0, float(cells[: counts[0]].sum()))
    even = np.repeat([total / count for count in counts], counts)
    below = cells < 0.0
    if not below.any() or total == 0.0:
        return np.maximum(cells, 0.0)
    share = float((-cells[below] / (even[below] - cells[below])).max())
    return np.maximum((1.0 - share) * cells + share * even, 0.0)


def _cut(cells: FloatArray) -> FloatArray:
    if float(cells.min(initial=0.0)) < -_CUT_OFF:
        raise EstimateError(
            "no counts at least zero were found that meet all public facts; ask for consistent "
            "ones, or look whether the facts allow any"
        )
    return np.maximum(cells, 0.0)


def _whole(
    frame: Frame, tables: Mapping[Names, FloatArray], total: int | None
) -> dict[Names, FloatArray]:
    """Marginals of one table of whole counts, near the given ones."""
    order = tuple(frame.sizes)
    _check_whole(frame)
    base = fitted_counts(tables, order, frame.sizes)
    whole = round_running_sums(base.reshape(-1), total).reshape(base.shape)
    return {names: summed(whole, order, names).astype(np.float64) for names in tables}
