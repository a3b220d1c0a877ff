"""Blur: how far what a record adds to an answer may be from what its own values would add.

A column that is cut into bins enters sums by the middle of each bin; the table's own values may lie
half a bin away. For every column that a question reads, its blur is a bound on the difference for
one record, which follows from the domain and is public. It is 0 for columns that enter by exact
numbers, or in conditions only, even in such as are always true.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

from eke.domain import Attribute, Domain
from eke.query.runs import Runs, Vector, dense

Blur: TypeAlias = Mapping[str, Fraction]
Extremes: TypeAlias = Callable[[], tuple[Fraction, Fraction]]

Codes: TypeAlias = Vector
"""1 at the codes of a column that meet a condition, 0 elsewhere."""

NO_BLUR: Blur = MappingProxyType({})


def added(blurs: Iterable[Blur]) -> Blur:
    """The blur of a sum."""
    total: dict[str, Fraction] = {}
    for blur in blurs:
        for name, bound in blur.items():
            total[name] = total.get(name, Fraction(0)) + bound
    return total or NO_BLUR


def scaled(blur: Blur, factor: Fraction) -> Blur:
    """The blur of a multiple."""
    return {name: abs(factor) * bound for name, bound in blur.items()} or NO_BLUR


def widest(first: Blur, second: Blur) -> Blur:
    """A bound for either of two."""
    zero = Fraction(0)
    return {
        name: max(first.get(name, zero), second.get(name, zero)) for name in {**first, **second}
    }


def multiplied(first: Blur, first_within: Extremes, second: Blur, second_within: Extremes) -> Blur:
    """The blur of a product of two factors, each of which lies within its extremes.

    |ab − AB| ≤ |a − A|·|B| + |A|·|b − B| + |a − A|·|b − B|, and so it is at most what either
    blurs times the largest that the other can be, its own blur included.
    """
    totals = [sum(blur.values(), Fraction(0)) for blur in (first, second)]
    if not any(totals):
        return added([first, second])
    largest = [
        total + max(map(abs, within()))
        for total, within in zip(totals, (first_within, second_within), strict=True)
    ]
    return added([scaled(first, largest[1]), scaled(second, largest[0])])


def _pairs(attribute: Attribute, chosen: Codes | None) -> list[tuple[Fraction, Fraction]]:
    """(|number|, half width) of the chosen codes; of evenly spaced ones those at either end."""
    if attribute.progression is not None:
        first, step = attribute.progression
        declared = attribute.size - attribute.has_bucket
        ends = [0, declared - 1] if chosen is None else _ends(chosen, declared)
        return [(abs(first + code * step), attribute.widest_half([code])) for code in ends]
    codes = np.arange(attribute.size) if chosen is None else np.flatnonzero(dense(chosen))
    numbers, halves = attribute.numbers(), attribute.half_widths()
    return [(abs(numbers[code]), halves[code] if halves else Fraction(0)) for code in codes]


def _ends(chosen: Codes, declared: int) -> list[int]:
    """The first and the last chosen code of those that are declared."""
    if isinstance(chosen, Runs):
        starts = [start for start, entry, *_ in chosen.pieces if entry and start < declared]
        stops = [
            stop for stop, (_, entry, *_) in zip(chosen.stops, chosen.pieces, strict=True) if entry
        ]
        return [starts[0], min(stops[-1], declared) - 1] if starts else []
    codes = np.flatnonzero(chosen[:declared])
    return [int(code) for code in (*codes[:1], *codes[-1:])]


def of_powers(domain: Domain, powers: Mapping[str, int], chosen: Mapping[str, Codes]) -> Blur:
    """The blur of a product of powers of columns, over the chosen codes of each."""
    if not any(domain[name].widest_half() for name in powers):
        return dict.fromkeys(powers, Fraction(0))
    bounds, largest = {}, {}
    for name, power in powers.items():
        pairs = _pairs(domain[name], chosen.get(name))
        highest = max((number + half for number, half in pairs), default=Fraction(0))
        bounds[name] = max(
            ((number + half) ** power - number**power for number, half in pairs),
            default=Fraction(0),
        )
        largest[name] = highest**power
    others = {name: math.prod(v for k, v in largest.items() if k != name) for name in largest}
    return {name: bound * others[name] for name, bound in bounds.items()}
