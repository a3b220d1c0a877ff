"""People: what it means that a query counts units, and not their records.

With a unit of several rows, COUNT(DISTINCT id) is the number of ids with at least one record in
some cells. Such a query has the same terms as the count of the records in these cells, and is
marked (`Query.people`). It is no sum over records: the people of two groups do not add up to those
of both. So it is a number of its own, which nothing follows from but its multiples.

Privacy: A record in cell t, added to a table, moves the number of people by at most the coefficient
of the query at t, as it moves the count. So whatever bounds the loss of a count of these records
bounds that of the people, too. A unit moves it by one, however many rows it has: the accountant
knows that as well (docs/proofs/accounting.md, section 5).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from eke.domain import Domain
from eke.errors import QueryError
from eke.query.canonical import DENSE_CELLS, Term, wide_table
from eke.query.runs import extremes

APART = (
    "numbers of people do not add up as records do, for somebody may be in several of the groups; "
    "ask for each by itself, or for the people who meet one condition or another"
)


def check_counts(domain: Domain, terms: Sequence[Term]) -> None:
    """Raise unless the coefficient is the same wherever it is not 0, so that people are counted.

    Privacy: then the extreme coefficient is what every unit counts for, and not only a bound.
    """
    if len(terms) > 1:
        names = domain.in_order(name for term in terms for name in term.names)
        if math.prod(domain.sizes(names)) > DENSE_CELLS:
            raise QueryError(
                f"people are counted under conditions on up to {DENSE_CELLS:,} combinations of "
                "values, or on each column by itself; make the condition simpler"
            )
        numbers = set(np.unique(wide_table(domain, names, terms)).tolist())
        is_count = len(numbers - {0}) <= 1
    else:  # the vectors of a canonical term have no common divisor
        ends = (extremes(vector) for term in terms for _, vector in term.vectors)
        is_count = all(pair in {(0, 1), (1, 1)} for pair in ends)
    if not is_count:
        raise QueryError("people are counted, each once; sums of people are not asked")
