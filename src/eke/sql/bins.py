"""Bins: conditions on binned columns, which must run along their edges."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from eke.domain import Attribute, Domain
from eke.domain.placing import Cut
from eke.domain.rule import number_text
from eke.sql.value import Line

_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "<>": "<>"}


def line_codes(domain: Domain, line: Line, sign: str) -> NDArray[np.bool_] | None:
    """The bins in which slope · column + intercept compares with 0; None if one is cut."""
    attribute, cuts = _binned(domain, line)
    threshold, sign = _solved(cuts, line, sign)
    edges = [Fraction(e) for e in cuts]
    first, last, bins = edges[0], edges[-1], len(edges) - 1
    # Below (and at) the threshold lie the bins up to `place`; a bin holds its lower edge.
    if sign in ("=", "<>"):
        if first <= threshold <= last:
            return None
        below = 0
    elif threshold < first or (threshold == first and sign in ("<", ">=")):
        below = 0
    elif threshold > last or (threshold == last and sign in ("<=", ">")):
        below = bins
    elif sign in ("<", ">=") and threshold in edges and threshold != last:
        below = edges.index(threshold)
    else:
        return None
    inside = np.arange(attribute.size) < below
    if sign in (">", ">=", "<>"):
        inside = ~inside
    inside[bins:] = False  # the bucket is unknown anyway
    return inside if sign != "=" else np.zeros(attribute.size, bool)


def cut_message(domain: Domain, line: Line, sign: str) -> str:
    """Why a comparison is refused, the two nearest edges, and what to write instead."""
    (attribute, edges), name = _binned(domain, line), line.attribute
    threshold, sign = _solved(edges, line, sign)
    code = min(max(bisect_right(edges, threshold) - 1, 0), len(edges) - 2)
    low, high = number_text(edges[code]), number_text(edges[code + 1])
    first, last = code == 0, code == len(edges) - 2
    if sign in ("=", "<>"):
        upper = "<=" if last else "<"
        options = [f"{name} >= {low} AND {name} {upper} {high}"]
        if sign == "<>":
            options = [f"NOT ({options[0]})"]
    elif sign in ("<", "<="):
        options = [] if first else [f"{name} < {low}"]
        options.append(f"{name} {'<=' if last else '<'} {high}")
    else:
        options = [f"{name} >= {low}"]
        if not last:
            options.append(f"{name} >= {high}")
    return (
        f"{name} {sign} {_text(threshold)} cuts through the bin {attribute.label_text(code)}; the "
        f"nearest edges are {low} and {high}: write {' or '.join(options)}"
    )


def _binned(domain: Domain, line: Line) -> tuple[Attribute, Sequence[float]]:
    """(the column of a line, its edges)."""
    attribute = domain[line.attribute or ""]
    if not isinstance(attribute.placing, Cut):
        raise TypeError("only binned columns have edges")
    return attribute, attribute.placing.edges


def _solved(edges: Sequence[float], line: Line, sign: str) -> tuple[Fraction, str]:
    """(threshold, sign) with `column sign threshold` in place of slope · column + intercept."""
    threshold = -line.intercept / line.slope
    # 0.1 in a question is a tenth, as an edge it is the double next to it: the same is meant.
    near = _nearest_double(threshold)
    meant = [Fraction(edge) for edge in edges if float(edge) == near]
    return (meant or [threshold])[0], sign if line.slope > 0 else _FLIPPED[sign]


def _nearest_double(number: Fraction) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def _text(number: Fraction) -> str:
    return str(number.numerator) if number.denominator == 1 else f"{_nearest_double(number):.8g}"
