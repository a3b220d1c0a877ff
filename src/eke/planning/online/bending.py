"""Bending: where formulas are less accurate than their derivatives, and what makes them straight.

An aggregate by itself may be known far worse than what formulas make of it: of two variances, their
product. What follows is of second order, and stays however well the derivative is known.
"""

from __future__ import annotations

import math

import numpy as np

from eke.inference import halfwidth
from eke.planning.online.known_formulas import KnownFormulas
from eke.planning.online.question_demand import demands_of
from eke.planning.online.requirement import Demand, Requirement
from eke.question import evaluated

_AMONG_WORST = 0.5


def bend_of(known: KnownFormulas) -> float:
    """By how much formulas are less accurate than their derivatives, as a share of within.

    With half the error of what they bend in, a quarter of it is left. Ratios of sums do not count:
    they bend in their denominators only, which are known well by then.
    """
    place = {row: at for at, row in enumerate(known.rows)}
    formulas = [formula for formula, _ in known.formulas()]
    bends = [0.0]
    for (row, which, _, _), (_, width, within) in zip(known.cells, known.widths(), strict=True):
        if formulas[which].ratio(len(known.places)) is not None:
            continue
        straight = known.linear_width(formulas[which], place[row])
        if math.isfinite(width) and math.isfinite(straight):
            bends.append((width - straight) / within)
    return max(bends)


def steadying(known: KnownFormulas, share: float) -> list[Demand]:
    """Demands that leave this share of the errors of those aggregates in which formulas bend."""
    bends: dict[int, tuple[float, float]] = {}  # of each aggregate, with its half-width there
    sure = known.demand.confidence
    for joint, point in zip(known.joints, known.points, strict=True):
        units = np.eye(len(point))
        widths = np.array([halfwidth(joint.combination(unit)[1], sure) for unit in units])
        steps = np.concatenate([units * widths, -units * widths, 0.0 * units], axis=1)
        for formula, within in known.formulas():
            up, down, middle = np.split(evaluated(formula, point[:, None] + steps), 3)
            for k, bend in enumerate(np.abs(up + down - 2.0 * middle) / within):
                if math.isfinite(bend):
                    here = float(bend), float(widths[k])
                    bends[k] = max(bends.get(k, (0.0, 1.0)), here)
    worst = max((bend for bend, _ in bends.values()), default=0.0)
    blocks = known.demand.question.blocks
    return [
        demand
        for k, (bend, width) in bends.items()
        if bend > 0.0 and bend >= _AMONG_WORST * worst
        for demand in demands_of(blocks[known.places[k]], Requirement(share * width, sure))
    ]
