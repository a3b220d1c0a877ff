"""Ratios of linear forms of the answers, as averages and percentages are."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from eke.arrays import FloatArray

Ratio: TypeAlias = tuple[FloatArray, FloatArray]
"""Numerator and denominator, each a linear form of the answers: coefficients, constant last."""


def unit(answers: int) -> FloatArray:
    """The number 1 as a linear form of so many answers."""
    form = np.zeros(answers + 1)
    form[-1] = 1.0
    return form


def joined(sign: str, first: Ratio, second: Ratio) -> Ratio | None:
    """Two ratios added, subtracted, multiplied or divided; None if that is no ratio any more."""
    (top, bottom), (other_top, other_bottom) = first, second
    if sign == "/":  # (t/b) / (T/B) = tB / bT, as long as one factor of each product is a number
        return joined("*", first, (other_bottom, other_top))
    if sign == "*":
        tops, bottoms = _product(top, other_top), _product(bottom, other_bottom)
        return None if tops is None or bottoms is None else (tops, bottoms)
    factor = -1.0 if sign == "-" else 1.0
    if np.array_equal(bottom, other_bottom):
        return top + factor * other_top, bottom
    left, right = _product(top, other_bottom), _product(other_top, bottom)
    bottoms = _product(bottom, other_bottom)
    if left is None or right is None or bottoms is None:
        return None
    return left + factor * right, bottoms


def scaled_average(ratio: Ratio) -> tuple[int, int] | None:
    """The places of a and b if the ratio is (c·a + d·b) / b; None if it is not."""
    top, bottom = ratio
    below = np.flatnonzero(bottom)
    if len(below) != 1 or below[0] == len(bottom) - 1 or top[-1]:
        return None
    rows = int(below[0])
    above = [int(place) for place in np.flatnonzero(top) if place != rows]
    return (above[0], rows) if len(above) == 1 else None


def _product(one: FloatArray, other: FloatArray) -> FloatArray | None:
    """The product of two linear forms of which one is a number."""
    if not one[:-1].any():
        return np.asarray(one[-1] * other)
    return None if other[:-1].any() else np.asarray(other[-1] * one)
