"""Matching: which rows of one side go with which of the other, so that a table comes out."""

from __future__ import annotations

import numpy as np

from eke.arrays import Codes, FloatArray

_FITTINGS = 100
_ASKED = 12  # times that rows which are left ask for a partner


def matched(first: Codes, second: Codes, wanted: FloatArray, source: np.random.Generator) -> Codes:
    """For each row the row of the other side to go with it, each once.

    `first` and `second` are the groups of the rows on either side. The table of both comes as near
    to `wanted` as the numbers of rows in each group let it: fitted to these by turns (iterative
    proportional fitting) and rounded down. Rows that are left are drawn groups by the parts that
    rounding took, as long as these have rows left; at last they go together as they come.
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
    parts = table - whole
    for _ in range(_ASKED):
        alone = np.flatnonzero(partner < 0)
        if not len(alone):
            break
        free = np.bincount(second[left], minlength=columns)
        chosen = _drawn(np.where(free > 0, parts, 0.0), first[alone], source)
        asking = source.permutation(len(alone))
        asking = asking[np.argsort(chosen[asking], kind="stable")]  # in any order, by what they ask
        chosen = chosen[asking]
        served = (chosen >= 0) & (_ranks(chosen) < free[chosen])
        left = left[np.argsort(second[left], kind="stable")]
        given = left[
            _ranks(second[left]) < np.bincount(chosen[served], minlength=columns)[second[left]]
        ]
        partner[alone[asking[served]]] = given
        left = np.setdiff1d(left, given)
    partner[partner < 0] = source.permutation(left)
    return partner


def _drawn(weights: FloatArray, rows: Codes, source: np.random.Generator) -> Codes:
    """A column for each of these rows of weights, as likely as its weight; -1 where all are 0."""
    up_to = np.cumsum(weights, axis=1)
    ends = up_to[:, -1]
    beyond = np.cumsum(ends) - ends
    places = np.searchsorted(
        (up_to + beyond[:, np.newaxis]).reshape(-1),
        beyond[rows] + source.random(len(rows)) * ends[rows],
        side="right",
    )
    drawn = np.minimum(places, weights.size - 1) - rows * weights.shape[1]
    able = (ends[rows] > 0.0) & (drawn >= 0) & (drawn < weights.shape[1])
    return np.where(able, drawn, -1)


def _ranks(ordered: Codes) -> Codes:
    """How many of the same stand before each, where equal ones stand together."""
    begins = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    return np.arange(len(ordered)) - np.repeat(begins, np.diff(np.append(begins, len(ordered))))


def _places(groups: Codes, sizes: Codes) -> Codes:
    """Where the members of each group stand who are taken one after the other."""
    order = np.argsort(groups, kind="stable")
    begin = np.concatenate([[0], np.cumsum(np.bincount(groups, minlength=len(sizes)))])
    rank = np.empty(len(groups), np.int64)
    rank[order] = np.arange(len(groups)) - begin[groups[order]]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    return np.asarray(starts[groups] + rank)
