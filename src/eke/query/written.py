"""Numbers and vectors as documents hold them: fractions as texts, vectors run-length coded."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import accumulate, chain, groupby
from typing import Any

import numpy as np

from eke.domain import Domain
from eke.domain.run_vector import RunVector
from eke.domain.wide import is_wide
from eke.errors import QueryError
from eke.query.canonical import Term
from eke.query.runs import WIDE, Runs, Vector, dense
from eke.query.vector import SAFE

_FRACTION = re.compile(r"-?[0-9]{1,4000}(/[0-9]{1,4000})?")

_LARGEST = Fraction(10) ** 300
_SPARSE = 64
"""Entries for each run, on average, from which on a long vector is never written out."""


def read_number(text: object) -> Fraction:
    """The number that a text such as '3' or '-1/4' holds."""
    # Fraction also reads "1e999999999", and would spend the day on it.
    if isinstance(text, str) and _FRACTION.fullmatch(text):
        over, _, under = text.partition("/")
        if int(under or 1):
            return Fraction(int(over), int(under or 1))
    raise QueryError("a number of a query document must be a text such as '3' or '-1/4'")


def read_weight(text: object) -> Fraction:
    """The weight of a term, of a size that a double can have."""
    weight = read_number(text)
    if weight and not 1 / _LARGEST < abs(weight) < _LARGEST:
        raise QueryError("a weight must be between 1e-300 and 1e300 in size; rescale it")
    return weight


def terms_document(terms: Iterable[Term]) -> list[dict[str, Any]]:
    """The terms of a query in JSON; vectors are run-length coded."""
    return [
        {
            "weight": str(term.weight),
            "factors": {name: runs_of(vector) for name, vector in term.vectors},
        }
        for term in terms
    ]


def read_terms(domain: Domain, documents: Iterable[Mapping[str, Any]]) -> list[Term]:
    """The terms that `terms_document` wrote down."""
    return [
        Term(
            read_weight(term["weight"]),
            tuple((name, read_runs(runs, domain, name)) for name, runs in term["factors"].items()),
        )
        for term in documents
    ]


def runs_of(vector: Vector) -> list[list[int]]:
    """The vector as pairs [coefficient, repeats], with differences where it is kept as `Runs`."""
    if isinstance(vector, Runs):
        return vector.written()
    return [[value, len(list(run))] for value, run in groupby(vector.tolist())]


def described(vector: Vector) -> list[int] | RunVector:
    """The vector as `eke.domain.describe` reads it."""
    if isinstance(vector, Runs) and is_wide(vector.size):
        return RunVector.of_written(vector.written())
    entries: list[int] = dense(vector).tolist()
    return entries


def read_runs(runs: Sequence[Sequence[int]], domain: Domain, name: str) -> Vector:
    """The vector over an attribute that `runs_of` wrote down."""
    if name not in domain:
        raise QueryError(domain.unknown(name))
    lengths, numbers = set(map(len, runs)), list(chain.from_iterable(runs))
    if (
        not lengths <= {2, 3, 4}
        or not set(map(type, numbers)) <= {int}
        or max(numbers, default=0) >= SAFE
        or min(numbers, default=0) <= -SAFE
        or any(run[1] < 1 for run in runs)
    ):
        raise QueryError(
            "a factor of a query document is a list of pairs [coefficient, repeats], each with up "
            "to two differences after it, all of them whole numbers below 2^62"
        )
    # Before any memory is taken: a few bytes can ask for gigabytes.
    size = domain[name].size
    repeats = [run[1] for run in runs]
    if sum(repeats) != size:
        raise QueryError(f"a factor of a query document needs {size} coefficients here")
    if lengths == {2} and not WIDE < size >= _SPARSE * len(runs):
        return np.repeat(np.array(numbers[::2], np.int64), repeats)
    starts = [0, *accumulate(repeats)]
    pieces = []
    for start, run in zip(starts, runs, strict=False):
        first, second = (*run[2:], 0, 0)[:2]
        pieces.append((start, run[0], first, second))
    return Runs.of_pieces(size, pieces)
