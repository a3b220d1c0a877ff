"""Shared measurements: several questions about the same few cells, answered from those cells."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from eke.inference import ComposedNoise, halfwidth
from eke.planning.online.plan import Part, part_for
from eke.planning.online.requirement import Demand
from eke.privacy.measure import Measure
from eke.query import Marginal, Query, Term

MOST_SHARED_CELLS = 512
# The grid moves a scale up by at most this share, and widens an interval by half a step.
_GRID = 2.0**-18


def common_cells(demands: Sequence[Demand], measure: Measure) -> Part | None:
    """The marginal over all attributes in question, with the noise that meets every demand.

    None when it has too many cells. A question that adds up cells adds up their errors, so this
    wins when many questions overlap on few cells, and loses when they are disjoint or wide.
    """
    singles = [
        (one, demand)
        for demand in demands
        for one in demand.query.queries()
        if not one.is_zero  # what is always 0 is known without any noise
    ]
    domain = demands[0].query.domain
    names = domain.in_order({name for query, _ in singles for name in query.attributes})
    cells = math.prod(domain[name].size for name in names)
    if not names or cells > MOST_SHARED_CELLS:
        return None
    everyone = Query.of(domain, [Term(Fraction(1), ())])
    noise_scale = min(
        demand.requirement.within / _width_at_unit_noise(query, cells, demand, measure)
        for query, demand in singles
    )
    return part_for(Marginal(names, everyone), noise_scale * (1.0 - _GRID), measure)


def _width_at_unit_noise(query: Query, cells: int, demand: Demand, measure: Measure) -> float:
    """The half-width of a sum of cells when each has noise of scale one."""
    coefficients = _coefficients(query)
    sizes = np.repeat(
        coefficients, cells // coefficients.size
    )  # each of the query's cells is a sum of several
    noise = (
        ComposedNoise(sizes, 0.0, _GRID * float(sizes.sum()))
        if measure.unit_law.laplace_scale
        else ComposedNoise(np.empty(0), float(sizes @ sizes), _GRID * float(sizes.sum()))
    )
    return halfwidth(noise, demand.requirement.confidence)


def _coefficients(query: Query) -> NDArray[np.float64]:
    table = query.table()
    return np.abs(np.asarray(table, dtype=np.float64).ravel()) * 2.0**query.exponent
