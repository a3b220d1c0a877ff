"""Numbers and vectors as documents hold them: fractions as texts, vectors run-length coded."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from itertools import groupby

import numpy as np

from eke.domain import Domain
from eke.errors import QueryError
from eke.query.vector import IntVector

_FRACTION = re.compile(r"-?[0-9]{1,4000}(/[0-9]{1,4000})?")


def read_number(text: object) -> Fraction:
    """The number that a text such as '3' or '-1/4' holds."""
    # Fraction also reads "1e999999999", and would spend the day on it.
    if not isinstance(text, str) or not _FRACTION.fullmatch(text):
        raise QueryError("a number of a query document must be a text such as '3' or '-1/4'")
    return Fraction(text)


def runs_of(vector: IntVector) -> list[list[int]]:
    """The vector as pairs [coefficient, repeats]."""
    return [[value, len(list(run))] for value, run in groupby(vector.tolist())]


def read_runs(runs: Sequence[Sequence[int]], domain: Domain, name: str) -> IntVector:
    """The vector over an attribute that `runs_of` wrote down."""
    if name not in domain:
        raise QueryError(domain.unknown(name))
    values, repeats = [v for v, _ in runs], [n for _, n in runs]
    if {*map(type, values), *map(type, repeats)} - {int} or min(repeats, default=1) < 1:
        raise QueryError("a factor of a query document is a list of pairs [coefficient, repeats]")
    # Before any memory is taken: a few bytes can ask for gigabytes.
    size = domain[name].size
    if sum(repeats) != size:
        raise QueryError(f"a factor of a query document needs {size} coefficients here")
    return np.repeat(np.array(values, np.int64), repeats)
