"""The obvious slow twin of inference: every query a vector over all cells."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

import numpy as np

from eke.domain import Domain, Integer
from eke.query import Query, Term


def domain_of(*sizes: int) -> Domain:
    return Domain({f"a{k}": Integer(0, size - 1) for k, size in enumerate(sizes)})


def query_of(domain: Domain, coefficients, constant: object = 0) -> Query:
    """The query with these integer (or dyadic) coefficients, written as one term for each cell."""
    terms = []
    for cell, value in zip(cells(domain), np.asarray(coefficients).reshape(-1), strict=True):
        factors = []
        for (name, attribute), code in zip(domain.attributes, cell, strict=True):
            indicator = np.zeros(attribute.size, np.int64)
            indicator[code] = 1
            factors.append((name, indicator))
        terms.append(Term(Fraction(value.item()), tuple(factors)))
    return Query.of(domain, terms, constant)


def product_query(domain: Domain, generator: np.random.Generator) -> Query:
    """A random sum of one to three products of small vectors over some of the attributes."""
    terms = []
    for _ in range(int(generator.integers(1, 4))):
        names = [name for name in domain.names if generator.random() < 0.6]
        factors = tuple(
            (name, generator.integers(-1, 3, domain[name].size).astype(np.int64)) for name in names
        )
        terms.append(Term(Fraction(int(generator.integers(-3, 4))), factors))
    return Query.of(domain, terms)


def cells(domain: Domain) -> list[tuple[int, ...]]:
    return list(itertools.product(*(range(size) for size in domain.shape)))


@lru_cache(maxsize=4096)
def coefficients_of(query: Query) -> list[Fraction]:
    """The exact coefficient of every cell."""
    unit = Fraction(2) ** query.exponent
    return [n * unit for n in numerators_of(query)]


@lru_cache(maxsize=4096)
def numerators_of(query: Query) -> list[int]:
    """The whole number of each cell that, times two to the query's exponent, counts it."""
    return list(query.numerators(query.domain.names, np.array(cells(query.domain))))


def matrix_of(queries: Sequence[Query]) -> np.ndarray:
    return np.array([[math.ldexp(n, q.exponent) for n in numerators_of(q)] for q in queries])


def exact_rank(queries: Sequence[Query]) -> int:
    """The rank over the rationals, by elimination with whole numbers of any length."""
    rows = [_whole(coefficients_of(q)) for q in queries]
    rank = 0
    for column in range(len(rows[0]) if rows else 0):
        found = next((i for i in range(rank, len(rows)) if rows[i][column]), None)
        if found is None:
            continue
        rows[rank], rows[found] = rows[found], rows[rank]
        pivot = rows[rank]
        for i in range(rank + 1, len(rows)):
            if rows[i][column]:
                a, b = pivot[column], rows[i][column]
                mixed = [a * x - b * y for x, y in zip(rows[i], pivot, strict=True)]
                divisor = math.gcd(*mixed) or 1
                rows[i] = [x // divisor for x in mixed]
        rank += 1
    return rank


def _whole(row: Sequence[Fraction]) -> list[int]:
    common = math.lcm(*(c.denominator for c in row))
    return [int(c * common) for c in row]


def is_estimable(history: Sequence[Query], question: Query) -> bool:
    return exact_rank([*history, question]) == exact_rank(history)


def generalised_least_squares(history: np.ndarray, variances, question: np.ndarray) -> np.ndarray:
    """The weights a of least aᵀΣa with Hᵀa = q, as a minimum norm solution."""
    deviations = np.sqrt(np.asarray(variances, float))
    scaled, *_ = np.linalg.lstsq((history / deviations[:, None]).T, question, rcond=1e-12)
    return np.asarray(scaled / deviations)
