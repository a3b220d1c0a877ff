"""Matching: which rows of one side go with which of the other, so that a table comes out."""

from __future__ import annotations

import numpy as np

from eke.arrays import Codes, FloatArray

_FITTINGS = 100


def matched(first: Codes, second: Codes, wanted: FloatArray, source: np.random.Generator) -> Codes:
    """For each row the row of the other side to go with it, each once.

    `first` and `second` are the groups of the rows on either side. The table of both comes as near
    to `wanted` as the numbers of rows in each group let it: fitted to these by turns (iterative
    proportional fitting), rounded down, and the rows that are left go together as they come.
    """
    rows, columns = wanted.shape
    across, down = np.bincount(first, minlength=rows), np.bincount(second, minlength=columns)
    table = np.maximum(wanted, 1e-9 * max(float(wanted.sum()), 1.0))
    for _ in range(_FITTINGS):
        table *= (across / np.maximum(table.sum(axis=1), 1e-300))[:, np.newaxis]
        table *= down / np.maximum(table.sum(axis=0), 1e-300)
    # A fit that is not done yet may give a group more than it has, and rounding a little more, but
    # less than one: whole numbers add up to what there is at most.
    for axis, have in ((1, across), (0, down)):
        sums = np.maximum(table.sum(axis=axis), 1e-300)
        table *= np.expand_dims(np.minimum(have / sums, 1.0), axis)
    whole = np.floor(table).astype(np.int64)
    # The rows of each group in any order; cells take them one stretch after the other.
    mixed = [np.lexsort((source.random(len(own)), own)) for own in (first, second)]
    cells = np.repeat(np.arange(whole.size), whole.reshape(-1))
    partner = np.full(len(first), -1, np.int64)
    taken = [mixed[0][_places(cells // columns, across)], mixed[1][_places(cells % columns, down)]]
    partner[taken[0]] = taken[1]
    left = np.setdiff1d(np.arange(len(second)), taken[1])
    partner[partner < 0] = source.permutation(left)
    return partner


def _places(groups: Codes, sizes: Codes) -> Codes:
    """Where the members of each group stand who are taken one after the other."""
    order = np.argsort(groups, kind="stable")
    begin = np.concatenate([[0], np.cumsum(np.bincount(groups, minlength=len(sizes)))])
    rank = np.empty(len(groups), np.int64)
    rank[order] = np.arange(len(groups)) - begin[groups[order]]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    return np.asarray(starts[groups] + rank)
