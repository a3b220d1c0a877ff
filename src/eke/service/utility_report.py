"""Utility report: how near published rows are to what history says. For nothing, and for anyone.

Privacy: post-processing. It compares rows that were published with answers that were released; the
table itself is not looked at. Nearness to the table is `eke.publish.utility.compare`, on the
curator's own machine and not private.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eke.publish import Published
from eke.query import Query, count, marginal
from eke.session import History, Session

_MOST_CELLS = 200
_MOST_TABLES = 60


def utility_report(published: Published, session: Session) -> list[dict[str, Any]]:
    """For each column and measured pair: Σ |p - p̃| of rows against history, from 0 to 2.

    `noise` is how large that would be expected to be if the rows agreed with the table exactly and
    only the noise of history were between them. Tables that history does not determine are left
    out.
    """
    if not len(published):
        return []
    history = session.history
    everyone = _known(history, count().on(session.domain))
    total = float(len(published)) if everyone is None else max(everyone[0], 1.0)
    wanted = [(name,) for name in published.attributes]
    wanted += [tuple(pair) for pair in published.receipt.get("pairs", ())]
    lines = []
    for names in list(dict.fromkeys(wanted))[:_MOST_TABLES]:
        block = marginal(*names).on(session.domain)
        known = [] if block.cells > _MOST_CELLS else [_known(history, q) for q in block.queries()]
        cells = [one for one in known if one is not None]
        if len(cells) < block.cells:
            continue
        values, errors = np.array(cells).T
        shares = _shares(published, block.attributes, block.shape)
        lines.append(
            {
                "attributes": list(block.attributes),
                "cells": block.cells,
                "error": float(np.abs(shares - values / total).sum()),
                "noise": float(math.sqrt(2.0 / math.pi) * errors.sum() / total),
            }
        )
    return lines


def _known(history: History, query: Query) -> tuple[float, float] | None:
    """(value, standard error) of what history determines."""
    if not history.determines(query):
        return None
    belief = history.estimate(query)
    return belief.value, math.sqrt(belief.variance)


def _shares(
    published: Published, names: tuple[str, ...], shape: tuple[int, ...]
) -> NDArray[np.float64]:
    """The share of the rows in each cell."""
    places = [published.attributes.index(name) for name in names]
    cells = np.ravel_multi_index(tuple(published.codes[:, place] for place in places), shape)
    return np.asarray(np.bincount(cells, minlength=math.prod(shape)) / len(published), float)
