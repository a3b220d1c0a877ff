"""Exact answers from exact counts: integers in, integers out, wrapped so that nobody can look."""

from __future__ import annotations

import numpy as np

from eke.data import Counts
from eke.mechanism import Secret
from eke.query import Kronecker, Marginal, Measurable, Query


def needed_attributes(query: Measurable) -> tuple[str, ...]:
    """The attributes whose counts an exact answer needs, in the domain's order."""
    if isinstance(query, (Query, Kronecker)):
        return query.attributes
    return query.domain.in_order((*query.attributes, *query.inside.attributes))


def exact_answers(query: Measurable, counts: Counts) -> Secret:
    """The exact answer, or one for each cell of a block, in units of 2^exponent.

    Privacy: sums of Python integers, or of 64-bit ones where Python integers bound every partial
    sum; so neither overflow nor the order of rows can make one record move an answer by more than
    its coefficient.
    """
    if isinstance(query, Kronecker):
        return Secret(block_answers(query, counts), 0)
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


def block_answers(block: Kronecker, counts: Counts) -> list[int]:
    """The exact answers of a block of products, in the order of its queries.

    Privacy: exact, for the junction only.
    """
    table = np.zeros(block.domain.sizes(block.attributes), np.int64)
    table[tuple(counts.codes.T)] = counts.counts
    return [int(answer) for answer in block.exact(table).ravel()]
