"""Numbers and vectors as documents hold them: fractions as texts, vectors run-length coded."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate, groupby

import numpy as np

from eke.domain import Domain
from eke.errors import QueryError
from eke.query.runs import Runs, Vector
from eke.query.vector import SAFE

_FRACTION = re.compile(r"-?[0-9]{1,4000}(/[0-9]{1,4000})?")


def read_number(text: object) -> Fraction:
    """The number that a text such as '3' or '-1/4' holds."""
    # Fraction also reads "1e999999999", and would spend the day on it.
    if not isinstance(text, str) or not _FRACTION.fullmatch(text):
        raise QueryError("a number of a query document must be a text such as '3' or '-1/4'")
    return Fraction(text)


def runs_of(vector: Vector) -> list[list[int]]:
    """The vector as pairs [coefficient, repeats], with differences where it is kept as `Runs`."""
    if isinstance(vector, Runs):
        return vector.written()
    return [[value, len(list(run))] for value, run in groupby(vector.tolist())]


def read_runs(runs: Sequence[Sequence[int]], domain: Domain, name: str) -> Vector:
    """The vector over an attribute that `runs_of` wrote down."""
    if name not in domain:
        raise QueryError(domain.unknown(name))
    whole = all(type(number) is int and abs(number) < SAFE for run in runs for number in run)
    if not whole or any(not 2 <= len(run) <= 4 or run[1] < 1 for run in runs):
        raise QueryError(
            "a factor of a query document is a list of pairs [coefficient, repeats], each with up "
            "to two differences after it, all of them whole numbers below 2^62"
        )
    # Before any memory is taken: a few bytes can ask for gigabytes.
    size = domain[name].size
    repeats = [run[1] for run in runs]
    if sum(repeats) != size:
        raise QueryError(f"a factor of a query document needs {size} coefficients here")
    if all(len(run) == 2 for run in runs):
        return np.repeat(np.array([run[0] for run in runs], np.int64), repeats)
    starts = [0, *accumulate(repeats)]
    pieces = []
    for start, run in zip(starts, runs, strict=False):
        first, second = (*run[2:], 0, 0)[:2]
        pieces.append((start, run[0], first, second))
    return Runs.of_pieces(size, pieces)
