"""Slopes of formulas, and short questions that go nearly the same way."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from eke.arrays import FloatArray
from eke.query import Query, sensitivity
from eke.question import AskedBlock, Formula, evaluated

_BITS = 6  # of the weights in a question that is measured for a formula


def gradient(formula: Formula, values: FloatArray) -> FloatArray:
    """The derivatives of a formula by central differences."""
    steps = 1e-5 * np.maximum(np.abs(values), 1.0)
    moved = values[:, None] + np.concatenate([np.diag(steps), -np.diag(steps)], axis=1)
    moved_values = evaluated(formula, moved)
    count = len(values)
    return np.asarray((moved_values[:count] - moved_values[count:]) / (2.0 * steps))


def reach_of(direction: FloatArray, insides: Sequence[Query]) -> float:
    """How far a record can move the sum of some questions, weighted by a direction.

    Numbers of people are no part of a question about records, and are moved by themselves.
    """
    apart = [place for place, inside in enumerate(insides) if inside.people]
    reach = sum(abs(direction[at]) * float(sensitivity(insides[at], "add_remove")) for at in apart)
    of_records = [place for place in range(len(insides)) if place not in apart]
    if of_records:
        together = combined(direction[of_records], [insides[place] for place in of_records])
        reach += float(sensitivity(together, "add_remove"))
    return float(reach)


def sizes_of(blocks: Sequence[AskedBlock]) -> FloatArray:
    """How much a record can move an answer of each block."""
    return np.array([float(sensitivity(block.inside, "add_remove")) for block in blocks])


def rounded(gradient: FloatArray, sizes: FloatArray) -> FloatArray:
    """A short dyadic direction near the gradient, with 1 for what moves the formula most."""
    usable = np.where(np.isfinite(gradient), gradient, 0.0)
    lead = int(np.argmax(np.abs(usable) * sizes))
    if usable[lead] == 0.0:
        return np.asarray(np.ones_like(usable))
    unit = usable / usable[lead]
    exponents = np.floor(np.log2(np.maximum(np.abs(unit), 1e-12))) - _BITS
    return np.asarray(np.round(unit / 2.0**exponents) * 2.0**exponents)


def along_direction(slope: FloatArray, direction: FloatArray, sizes: FloatArray) -> float:
    """How much of a slope lies along a direction: the weighted median of their ratios."""
    used = direction != 0.0
    ratios, weights = slope[used] / direction[used], np.abs(direction[used]) * sizes[used]
    order = np.argsort(ratios)
    middle = np.searchsorted(np.cumsum(weights[order]), 0.5 * weights.sum())
    return float(ratios[order][min(int(middle), len(order) - 1)])


def combined(direction: FloatArray, insides: Sequence[Query]) -> Query:
    """One question: the sum of some, weighted by a direction."""
    total = Fraction(float(direction[0])) * insides[0]
    for weight, inside in zip(direction[1:], insides[1:], strict=True):
        total += Fraction(float(weight)) * inside
    return total.without_constant()
