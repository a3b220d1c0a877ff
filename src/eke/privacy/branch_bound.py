"""A depth-first search for the cells of an eliminated sum that exceed a threshold.

Partial assignments are expanded in blocks, best first within a block, and dropped when their
bound does not exceed the threshold. Effort is counted in visited children, never in seconds, so
the outcome is the same on every machine.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eke.privacy.elimination import Elimination, EliminationStep
from eke.privacy.pair_split import Cells

# Children made by one expansion: few at first, for a quick dive to a good cell, then doubled with
# every such dive until blocks are large enough for NumPy to be efficient.
SMALLEST_BLOCK = 2**6
LARGEST_BLOCK = 2**16
# A looked-up child takes about twice the time of a cell visited by a sweep.
CHILD_COST = 2


@dataclass(frozen=True, slots=True)
class BestCell:
    """The best cell above the threshold, if any, and a bound on everything.

    `best` gives positions in the order of the elimination's steps. No cell exceeds `upper`.
    """

    best: tuple[int, ...] | None
    upper: int
    cost: int


@dataclass(frozen=True, slots=True)
class _Block:
    """Partial assignments of equal depth, best bound first."""

    chosen: NDArray[np.int32]  # (assignments, depth)
    bounds: Cells  # (assignments,)


def search(
    elimination: Elimination, threshold: int, *, first_is_enough: bool, budget: int
) -> BestCell:
    """The best cell whose sum exceeds the threshold, searched within a budget of children.

    With `first_is_enough` the search stops at the first such cell. `upper` is at least the
    maximum and at least the threshold; equal to the best sum (or to the threshold, if no cell
    exceeds it) when the search was completed.
    """
    steps = elimination.steps
    columns = {step.attribute: depth for depth, step in enumerate(steps)}
    stack = [_Block(np.zeros((1, 0), np.int32), np.array([elimination.constant], np.int64))]
    best: tuple[int, ...] | None = None
    cost = expansions = 0
    while stack:
        block = stack.pop()
        alive = int(np.searchsorted(-block.bounds, -threshold, side="left"))
        if alive == 0:
            continue
        depth = block.chosen.shape[1]
        if depth == len(steps):
            threshold = int(block.bounds[0])
            best = tuple(int(position) for position in block.chosen[0])
            if first_is_enough:
                break
            continue
        step = steps[depth]
        width = step.regrets[0].cells.shape[-1]
        doublings = min(expansions // len(steps), 32)
        children = min(LARGEST_BLOCK, SMALLEST_BLOCK << doublings)
        taken = min(alive, max(1, children // width))
        if taken < alive:
            stack.append(_Block(block.chosen[taken:alive], block.bounds[taken:alive]))
        head = _Block(block.chosen[:taken], block.bounds[:taken])
        price = CHILD_COST * taken * width * len(step.regrets)
        if cost + price > budget:
            stack.append(head)
            break
        cost += price
        expansions += 1
        stack.append(_expanded(head, step, columns, threshold))
    waiting = [int(block.bounds[0]) for block in stack if len(block.bounds)]
    return BestCell(best, max([threshold, *waiting]), cost)


def _expanded(
    block: _Block, step: EliminationStep, columns: dict[str, int], threshold: int
) -> _Block:
    """All children of a block whose bound exceeds the threshold, best first."""
    width = step.regrets[0].cells.shape[-1]
    bounds = np.repeat(block.bounds[:, None], width, axis=1)  # (assignments, width)
    for regret in step.regrets:
        given = tuple(block.chosen[:, columns[name]] for name in regret.given)
        bounds += regret.cells[given]
    parents, values = np.nonzero(bounds > threshold)
    upper = bounds[parents, values]
    order = np.argsort(-upper, kind="stable")
    parents, values = parents[order], values[order]
    chosen = np.concatenate([block.chosen[parents], values[:, None].astype(np.int32)], axis=1)
    return _Block(chosen, upper[order])
