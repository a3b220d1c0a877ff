"""Stretches: losses along columns of very many values, the same on each of a few stretches.

A table of losses over a column of a million values would be too large to keep. But a condition such
as 10 ≤ price < 20 has the same coefficient on each of three stretches of the column, and a table
needs one entry for each. Where a coefficient changes from value to value, as that of a sum does,
the largest one counts on the whole stretch.

A stretch is told by its stop, the first code after it; stops ascend, and the last one is the number
of values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from eke.domain import Domain, Integer
from eke.query import Query, Term
from eke.query.runs import Vector, extremes, is_stepwise, steps_of

Stops: TypeAlias = NDArray[np.int64]
Cells: TypeAlias = NDArray[np.int64]

MOST_VALUES = 2**18
"""Columns with more values are looked at in stretches."""
MOST_STRETCHES = 2**16


def is_wide(size: int) -> bool:
    """Whether a column of so many values is looked at in stretches."""
    return size > MOST_VALUES


@dataclass(frozen=True, slots=True)
class Stretched:
    """Queries over stretches that together bound one over values.

    Privacy: the loss of a cell is at most that of its stretches under the one query, or the sum of
    those under all of them where there are several, one for each term.
    """

    queries: tuple[Query, ...]
    stops: Mapping[str, Stops]


def stretched(query: Query) -> Stretched:
    """A query with its wide columns in stretches; itself where it has none.

    Privacy: where each coefficient is the same on all of a stretch, sums of terms are what they
    were. Otherwise there is a query for each term, with the largest absolute value of each
    stretch, so that nothing cancels out that does not cancel out in every cell.
    """
    domain = query.domain
    wide = [name for name in query.attributes if is_wide(domain[name].size)]
    if not wide:
        return Stretched((query,), {})
    forms = [{name: _form(v) for name, v in term.vectors if name in wide} for term in query.terms]
    stops = {name: together(form[name].stops for form in forms if name in form) for name in wide}
    narrow = Domain(
        {
            name: Integer(0, len(stops[name]) - 1) if name in stops else attribute
            for name, attribute in domain.attributes
            if name in query.attributes
        }
    )
    terms = [
        Term(
            term.weight,
            tuple(
                (name, form[name].on(stops[name]) if name in form else vector)
                for name, vector in term.vectors
            ),
        )
        for term, form in zip(query.terms, forms, strict=True)
    ]
    if all(one.is_exact for form in forms for one in form.values()):
        return Stretched((Query.unrounded(narrow, terms),), stops)
    return Stretched(tuple(Query.unrounded(narrow, [term]) for term in terms), stops)


@dataclass(frozen=True, slots=True)
class _Form:
    """The entries of a vector on stretches of its own, or the largest absolute value on each."""

    stops: Stops
    entries: Cells
    is_exact: bool

    def on(self, stops: Stops) -> Cells:
        """The entries on finer stretches."""
        return self.entries[_within(self.stops, stops)]


def _form(vector: Vector) -> _Form:
    stops, entries = steps_of(vector)
    if len(stops) > MOST_STRETCHES:
        largest = max(map(abs, extremes(vector)))
        return _Form(np.array([vector.shape[0]]), np.array([largest]), is_exact=False)
    return _Form(stops, entries, is_stepwise(vector))


def together(each: Iterable[Stops]) -> Stops:
    """The stretches on which all are the same."""
    return reduce(np.union1d, each)


def expanded(cells: Cells, axis: int, stops: Stops, finer: Stops) -> Cells:
    """A table with finer stretches along an axis."""
    return cells if len(stops) == len(finer) else cells.take(_within(stops, finer), axis)


def coarsened(cells: Cells, axis: int, stops: Stops, coarser: Stops) -> Cells:
    """A table with other stretches along an axis, each with the largest of all that meet it.

    Privacy: never less than before, for any code.
    """
    finer = np.union1d(stops, coarser)
    starts = np.searchsorted(finer, np.append(0, coarser[:-1]), side="right")
    return np.maximum.reduceat(expanded(cells, axis, stops, finer), starts, axis)


def _within(stops: Stops, finer: Stops) -> NDArray[np.intp]:
    """The stretch that each of the finer ones is in."""
    return np.searchsorted(stops, finer)
