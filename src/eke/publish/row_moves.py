"""Row moves: as few rows as possible get another sort, and values that go with it.

Rows of a sort that cannot be go to the nearest one that can; then rows leave sorts that have too
many for the nearest ones that have too few. Near are sorts that differ in few published columns.
The values come from a row that is of that sort already, if there is one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from eke.arrays import Codes, FloatArray
from eke.publish.row_sorts import RowSorts


def possible(
    sorts: Codes,
    part: RowSorts,
    allowed: NDArray[np.bool_],
    costs: FloatArray,
    source: np.random.Generator,
) -> Codes:
    """The sorts of rows, those that cannot be replaced by near ones that can, common ones first."""
    result = sorts.copy()
    wrong = np.unique(sorts[~allowed[sorts]])
    if not len(wrong):
        return result
    choices = np.flatnonzero(allowed)
    where = np.stack(np.unravel_index(choices, part.shape))
    common = np.bincount(sorts, minlength=part.size)[choices] + 1e-6
    for sort in wrong:
        rows = np.flatnonzero(sorts == sort)
        far = _distances(sort, where, part.shape, costs)
        near = far <= far.min() + 1e-9
        likely = common[near] / common[near].sum()
        result[rows] = source.choice(choices[near], len(rows), p=likely)
    return result


def balanced(
    sorts: Codes, part: RowSorts, wanted: Codes, costs: FloatArray, source: np.random.Generator
) -> Codes:
    """The sorts of rows, changed so that there are as many of each as wanted."""
    result = sorts.copy()
    lacking = wanted - np.bincount(sorts, minlength=part.size)
    where = np.stack(np.unravel_index(np.arange(part.size), part.shape))
    leaving = {
        sort: source.permutation(np.flatnonzero(sorts == sort))[: -lacking[sort]]
        for sort in np.flatnonzero(lacking < 0).tolist()
    }
    for reach in range(1, len(part.attributes) + 2):
        for sort, rows in leaving.items():
            open_ = np.flatnonzero(lacking > 0)
            far = _distances(sort, where[:, open_], part.shape, costs)
            near = open_[far < reach] if reach <= len(part.attributes) else open_
            places = np.repeat(near, np.minimum(lacking[near], len(rows)))
            places = source.permutation(places)[: len(rows)]
            result[rows[: len(places)]] = places
            np.subtract.at(lacking, places, 1)
            leaving[sort] = rows[len(places) :]
    return result


def with_values(
    columns: Sequence[Codes],
    before: Codes,
    after: Codes,
    part: RowSorts,
    source: np.random.Generator,
) -> list[Codes]:
    """The codes of rows in a part's attributes, changed where their sort is another one now."""
    result = [own.copy() for own in columns]
    moved = np.flatnonzero(before != after)
    old = np.unravel_index(before[moved], part.shape)
    new = np.unravel_index(after[moved], part.shape)
    donors = _members(np.where(before == after, after, -1), part.size)
    given = _drawn(donors, after[moved], source)
    for place, (codes, classes) in enumerate(zip(columns, part.classes, strict=True)):
        changed = old[place] != new[place]
        rows, wanted, donor = moved[changed], new[place][changed], given[changed]
        alike = _drawn(_members(classes[codes], part.shape[place]), wanted, source)
        declared = _drawn(_members(classes, part.shape[place]), wanted, source)
        others = np.where(alike >= 0, codes[alike], declared)
        result[place][rows] = np.where(donor >= 0, codes[donor], others)
    return result


def _distances(
    sort: int, where: NDArray[np.int64], shape: tuple[int, ...], costs: FloatArray
) -> FloatArray:
    mine = np.array(np.unravel_index(sort, shape))[:, None]
    return np.asarray(((where != mine) * costs[:, None]).sum(axis=0))


def _members(groups: Codes, size: int) -> tuple[Codes, Codes]:
    """Those of each group one after the other, and where each group begins; -1 is none."""
    order = np.argsort(groups, kind="stable")
    return order, np.searchsorted(groups[order], np.arange(size + 1))


def _drawn(members: tuple[Codes, Codes], groups: Codes, source: np.random.Generator) -> Codes:
    """A member of each of these groups; -1 of a group without any."""
    order, begin = members
    sizes = begin[groups + 1] - begin[groups]
    places = begin[groups] + (source.random(len(groups)) * sizes).astype(np.int64)
    return np.where(sizes > 0, order[np.minimum(places, len(order) - 1)], -1)
