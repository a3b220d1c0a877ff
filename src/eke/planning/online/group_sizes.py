"""Group sizes: how many records groups are planned for."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eke.arrays import FloatArray
from eke.planning.online.question_demand import QuestionDemand


def planned_for(
    demand: QuestionDemand, places: Sequence[int], estimates: Sequence[FloatArray]
) -> list[FloatArray]:
    """The estimates of each row; with `groups_of`, small groups filled up to that size.

    They are filled up with records like those of all groups together, and noise must not make them
    records that cannot be: a sum is at most the size of the group times what a record adds.
    """
    if demand.groups_of is None:
        return list(estimates)
    counts = [places.index(k) for k in demand.records()]
    low, high = _ends(demand, places)
    pooled = np.nansum(estimates, axis=0)
    planned = []
    for values in estimates:
        if np.isnan(values).any():
            planned.append(values)
            continue
        least = min(counts, key=lambda k: values[k])
        lacking = demand.groups_of - values[least]
        if lacking <= 0.0:
            planned.append(values)
            continue
        each = pooled / pooled[least] if pooled[least] > 0.0 else (low + high) / 2.0
        filled = values + lacking * np.clip(each, low, high)
        filled[counts] = np.maximum(filled[counts], demand.groups_of)
        others = [k for k in range(len(places)) if k not in counts]
        size = filled[least]
        filled[others] = np.clip(filled[others], size * low[others], size * high[others])
        planned.append(filled)
    return planned


def _ends(demand: QuestionDemand, places: Sequence[int]) -> tuple[FloatArray, FloatArray]:
    """What one record adds to each block, at least and at most."""
    ends = [demand.question.blocks[k].inside.extremes() for k in places]
    return np.array([float(low) for low, _ in ends]), np.array([float(high) for _, high in ends])
