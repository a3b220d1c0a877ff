"""Row form: a linear form of counts as published rows have it, and as records could that they lack.

Rows hold nobody where few are: what such a record would add is known all the same, from the
question.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from eke.arrays import Codes, FloatArray
from eke.query import Query, Term
from eke.query.runs import at_codes, dense

_MOST_CELLS = 2**20  # looked at one by one, for the least and the most that a record adds


@dataclass(frozen=True, slots=True, eq=False)
class RowForm:
    """Σ over all records of what each adds: `added` by each row, from `least` to `most` by any.

    `by_value` is what a record of each value of a column adds: on average of the rows that have the
    value, and where none has it, of all rows if they had it; `held` is how many rows have it.
    """

    added: FloatArray  # (rows,)
    by_value: Mapping[str, FloatArray]
    held: Mapping[str, FloatArray]
    least: float
    most: float

    @staticmethod
    def of(
        queries: Sequence[Query], slopes: Sequence[float], columns: Mapping[str, Codes]
    ) -> RowForm:
        """The sum of some questions, each times its slope, over at least one row."""
        rows = max((len(codes) for codes in columns.values()), default=0)
        added = np.zeros(rows)
        for query, slope in zip(queries, slopes, strict=True):
            added += slope * added_by(query, columns, rows)
        domain = queries[0].domain
        names = domain.in_order({name for query in queries for name in query.attributes})
        held = {
            name: np.bincount(columns[name], minlength=domain[name].size).astype(float)
            for name in names
        }
        by_value = {name: _if_all_had(name, queries, slopes, columns, rows) for name in names}
        for name in names:
            sums = np.bincount(columns[name], weights=added, minlength=len(held[name]))
            some = held[name] > 0.0
            by_value[name][some] = sums[some] / held[name][some]
        return RowForm(added, by_value, held, *_extremes(queries, slopes))


def added_by(query: Query, columns: Mapping[str, Codes], rows: int) -> FloatArray:
    """What each row adds to a question."""
    result = np.zeros(rows)
    for term in query.terms:
        result += _product(term, columns, rows)
    return result


def _product(term: Term, columns: Mapping[str, Codes], rows: int, without: str = "") -> FloatArray:
    part = np.full(rows, float(term.weight))
    for name, vector in term.vectors:
        if name != without:
            part *= at_codes(vector, columns[name])
    return part


def _if_all_had(
    name: str,
    queries: Sequence[Query],
    slopes: Sequence[float],
    columns: Mapping[str, Codes],
    rows: int,
) -> FloatArray:
    """What a row adds on average if all of them have one value of a column, for each value."""
    result = np.zeros(queries[0].domain[name].size)
    for query, slope in zip(queries, slopes, strict=True):
        for term in query.terms:
            others = slope * float(_product(term, columns, rows, without=name).mean())
            vector = dict(term.vectors).get(name)
            result += others if vector is None else others * dense(vector)
    return result


def _extremes(queries: Sequence[Query], slopes: Sequence[float]) -> tuple[float, float]:
    """(least, most) that any record adds; bounds of them where a form has very many cells."""
    domain = queries[0].domain
    names = domain.in_order({name for query in queries for name in query.attributes})
    shape = domain.sizes(names)
    if math.prod(shape) > _MOST_CELLS:
        ends = [
            sorted(slope * float(end) for end in query.extremes())
            for query, slope in zip(queries, slopes, strict=True)
        ]
        return sum(low for low, _ in ends), sum(high for _, high in ends)
    table = np.zeros(shape)
    for query, slope in zip(queries, slopes, strict=True):
        for term in query.terms:
            part = np.full((), slope * float(term.weight))
            vectors = dict(term.vectors)
            for axis, name in enumerate(names):
                if name in vectors:
                    along = [-1 if k == axis else 1 for k in range(len(names))]
                    part = part * dense(vectors[name]).reshape(along)
            table += part
    return float(table.min()), float(table.max())
