"""Exact answers from exact counts: integers in, integers out, wrapped so that nobody can look."""

from __future__ import annotations

import numpy as np

from eke.data import Counts
from eke.mechanism import Secret
from eke.query import Marginal, Query


def needed_attributes(query: Query | Marginal) -> tuple[str, ...]:
    """The attributes whose counts an exact answer needs, in the domain's order."""
    if isinstance(query, Query):
        return query.attributes
    return query.domain.in_order((*query.attributes, *query.inside.attributes))


def exact_answers(query: Query | Marginal, counts: Counts) -> Secret:
    """The exact answer, or one for each cell of a block, in units of 2^exponent.

    Privacy: sums of Python integers, so neither overflow nor the order of rows can make one record
    move an answer by more than its coefficient.
    """
    inside = query.inside if isinstance(query, Marginal) else query
    coefficients = inside.numerators(counts.attributes, counts.codes)
    contributions = [c * int(n) for c, n in zip(coefficients, counts.counts, strict=True)]
    if isinstance(query, Query):
        return Secret([sum(contributions)], inside.exponent)
    columns = [counts.attributes.index(name) for name in query.attributes]
    flat = np.ravel_multi_index(tuple(counts.codes[:, columns].T), query.shape)
    totals = [0] * query.cells
    for cell, contribution in zip(flat.tolist(), contributions, strict=True):
        totals[cell] += contribution
    return Secret(totals, inside.exponent)
