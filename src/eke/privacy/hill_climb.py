"""A cell of high loss, found by changing one attribute at a time: a lower bound with a witness."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from eke.privacy.loss_tables import LossTable, LossTables

# Every round raises the loss; more than a handful was never seen.
MOST_ROUNDS = 32


def promising_cell(losses: LossTables) -> dict[str, int]:
    """The cell whose values have the largest sums of table maxima, each attribute on its own."""
    scores: dict[str, NDArray[np.int64]] = {}
    for table in losses:
        for name, maxima in zip(table.attributes, table.axis_maxima, strict=True):
            scores[name] = scores[name] + maxima if name in scores else maxima
    # A value of a column that no table asks for is as good as another.
    return {name: int(scores[name].argmax()) if name in scores else 0 for name in losses.sizes}


def climbed_cell(losses: LossTables, start: Mapping[str, int]) -> dict[str, int]:
    """A cell with at least the loss of `start`, which no change of one attribute improves."""
    tables_of: dict[str, list[tuple[int, LossTable]]] = {}
    for table in losses:
        for axis, name in enumerate(table.attributes):
            tables_of.setdefault(name, []).append((axis, table))
    cell = dict(start)
    for _ in range(MOST_ROUNDS):
        improved = False
        for name, tables in tables_of.items():
            along = np.zeros(losses.sizes[name], np.int64)
            for axis, table in tables:
                place: list[int | slice] = [cell[other] for other in table.attributes]
                place[axis] = slice(None)
                along += table.cells[tuple(place)]
            best = int(along.argmax())
            if along[best] > along[cell[name]]:
                cell[name] = best
                improved = True
        if not improved:
            break
    return cell
