"""Chains of refinements: estimates and answers in terms of noises that are independent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from eke.history import Row
from eke.inference.regression import LinearEstimate
from eke.privacy.law import Charged, Refinement, noise_in

_ROUNDING = 1e-6
"""Of the deviation of a noise: less than this is what rounding leaves, and widens nothing."""


def as_drawn(
    estimate: LinearEstimate | None, refined: Mapping[int, int], laws: Sequence[Charged]
) -> LinearEstimate | None:
    """The estimate in terms of noises that are independent: of a refined one, the last.

    The regression weighs y₁ and z, which is made of y₁ and y₂. Mostly it weighs both by their
    precisions, and nothing of y₁ is left; else, as n₁ is n₂ and something that is at most as
    wide as n₁, what is left counts as a noise like n₁ of its own.
    """
    if estimate is None or not refined:
        return estimate
    weights = dict(zip(estimate.rows.tolist(), estimate.weights.tolist(), strict=True))
    for coarse, fine in refined.items():  # a row that refines comes before it is refined
        law = laws[fine]
        if isinstance(law, Refinement) and not weights.keys().isdisjoint((coarse, fine)):
            before, added = weights.pop(coarse, 0.0), weights.get(fine, 0.0)
            left, weights[fine] = before - law.share * added, before + added
            if abs(left) * law.before > _ROUNDING * abs(weights[fine]) * law.steps:
                weights[coarse] = left
    rows = np.array(sorted(weights), np.intp)
    return replace(estimate, rows=rows, weights=np.array([weights[row] for row in rows.tolist()]))


def lasting_rows(rows: Sequence[Row], refined: Mapping[int, int]) -> list[Row]:
    """The answers with noises of their own: of each chain of refinements, the last one."""
    values = [row.value for row in rows]
    for coarse, fine in sorted(refined.items()):
        law = rows[fine].law
        if isinstance(law, Refinement):  # y₂ of y₁ and what refined it
            values[fine] = law.refined(values[coarse], values[fine])
    return [
        replace(row, value=values[place], law=noise_in(row.law))
        for place, row in enumerate(rows)
        if place not in refined and not row.query.people
    ]
