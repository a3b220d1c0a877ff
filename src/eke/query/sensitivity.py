"""Sensitivity: how far one record can move an answer, for each neighbour relation."""

from __future__ import annotations

from fractions import Fraction
from typing import Literal, TypeAlias, get_args

from eke.errors import QueryError
from eke.query.linear import Query

Neighbours: TypeAlias = Literal["add_remove", "replace_one"]
"""`add_remove`: tables differ by one record. `replace_one`: one record has other values, so the
number of records is public."""


def check_neighbours(relation: str) -> Neighbours:
    """The relation of that name; raises for any other."""
    for known in get_args(Neighbours):
        if relation == known:
            return known  # type: ignore[no-any-return]
    raise QueryError(f"neighbours must be 'add_remove' or 'replace_one', not {relation!r}")


def sensitivity(query: Query, neighbours: Neighbours) -> Fraction:
    """The largest change of the exact answer between neighbouring tables (or a bound above it).

    Privacy: add_remove moves an answer by one cell's coefficient, so max |q|. replace_one moves a
    record from one cell to another, so max q - min q; when the domain can drop rows, a record may
    also come from or go to nowhere, whose coefficient is 0. The constant never matters.
    """
    low, high = query.extremes()
    if neighbours == "add_remove":
        return max(abs(low), abs(high))
    if not query.domain.total:
        low, high = min(low, Fraction(0)), max(high, Fraction(0))
    return high - low
