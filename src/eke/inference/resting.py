"""What an answer rests on of all that is known from elsewhere, so that it can say so."""

from __future__ import annotations

from collections.abc import Iterable

from eke.history import Outside
from eke.inference.state import Inference
from eke.query import Query

MOST_LOOKED_AT = 64
"""Of the cells of a table: what these rest on is said of it."""


def resting_on(inference: Inference, queries: Iterable[Query]) -> tuple[Outside, ...]:
    """The facts and outside tables that have a part in the answers to some questions."""
    if not inference.outside:
        return ()
    used: set[int] = set()
    for _, query in zip(range(MOST_LOOKED_AT), queries, strict=False):
        used |= _used(inference, query)
    return tuple(inference.outside[at] for at in sorted(used))


def _used(inference: Inference, query: Query) -> set[int]:
    exactly, foreign = inference.exactly, inference.foreign
    owners = [at for at, one in enumerate(inference.outside) for _ in one.facts]
    if exactly.value(query) is not None:
        return {owners[place] for place in exactly.resting_on(query)}
    estimate = inference.estimate(query)
    if estimate is None:
        return set()
    used = {owners[place] for place in exactly.removed_from(query)}
    for row in estimate.rows.tolist():
        place = foreign.rows[row] if row < len(foreign.rows) else None
        used |= set() if place is None else {place}
    return used | {
        foreign.tables[one.table]
        for one in estimate.cells
        if one.table < len(foreign.tables) and one.weights.any()
    }
