from __future__ import annotations

import numpy as np
import pytest

from eke.inference.residues import PRIME, residue
from eke.inference.span import ExactSpan
from eke.query import Query, count
from tests.parts import parts
from tests.unit.inference.dense import (
    coefficients_of,
    domain_of,
    exact_rank,
    is_estimable,
    product_query,
    query_of,
)


def span_of(queries: list[Query]) -> tuple[ExactSpan, list[Query]]:
    span = ExactSpan(queries[0].domain)
    basis = []
    for query in queries:
        place = span.locate(query)
        if not place.inside:
            span.append(query, place)
            basis.append(query)
    return span, basis


@pytest.mark.parametrize("seed", parts(30, 10))
@pytest.mark.parametrize("sizes", [(7,), (2, 3), (3, 1, 2, 2)])
def test_rank_and_membership_equal_exact_elimination(sizes, seed):
    generator = np.random.default_rng([seed, *sizes])
    domain = domain_of(*sizes)
    history = [product_query(domain, generator) for _ in range(int(generator.integers(1, 9)))]
    span, basis = span_of(history)
    assert span.rank == len(basis) == exact_rank(history)
    for _ in range(10):
        question = product_query(domain, generator)
        assert span.locate(question).inside == is_estimable(history, question)
    mixed = sum((h * int(generator.integers(-4, 5)) for h in history), history[0])
    assert span.locate(mixed).inside


@pytest.mark.parametrize("seed", range(10))
def test_coordinates_rebuild_the_query_and_vanish_for_rows_not_needed(seed):
    generator = np.random.default_rng(seed)
    domain = domain_of(3, 4)
    span, basis = span_of([product_query(domain, generator) for _ in range(6)])
    weights = [int(w) for w in generator.integers(-2, 3, len(basis))]
    query = basis[0] * 0
    for row, weight in zip(basis, weights, strict=True):
        query = query + row * weight
    coordinates = span.coordinates(span.locate(query))
    assert coordinates.tolist() == [w % PRIME for w in weights]
    rebuilt = [0] * domain.size
    for row, c in zip(basis, coordinates.tolist(), strict=True):
        for cell, value in enumerate(coefficients_of(row)):
            rebuilt[cell] += c * residue(value)
    assert [v % PRIME for v in rebuilt] == [residue(v) for v in coefficients_of(query)]


def test_the_zero_query_is_inside_of_every_span():
    domain = domain_of(3)
    span = ExactSpan(domain)
    assert span.locate(query_of(domain, [0, 0, 0])).inside
    assert not span.locate(query_of(domain, [0, 1, 0])).inside


def test_a_row_inside_cannot_be_appended():
    domain = domain_of(3)
    span, (row,) = span_of([query_of(domain, [1, 2, 3])])
    with pytest.raises(ValueError, match="already lies in the span"):
        span.append(row * 2, span.locate(row * 2))


def test_one_part_in_four_billion_is_seen():
    domain = domain_of(4)
    span, _ = span_of([query_of(domain, [2**32, 2**32, 2**32, 2**32])])
    assert span.locate(query_of(domain, [2**32, 2**32, 2**32, 2**32])).inside
    assert not span.locate(query_of(domain, [2**32, 2**32, 2**32, 2**32 - 1])).inside


def test_one_cell_of_ten_to_the_hundred_is_seen():
    domain = domain_of(*[10] * 100)
    everyone = count().on(domain)
    cell = count(dict.fromkeys(domain.names, 3)).on(domain)
    span, _ = span_of([everyone])
    assert not span.locate(everyone - cell).inside
    assert not span.locate(cell).inside
    span, _ = span_of([everyone, cell])
    assert span.locate(everyone - cell).inside


def test_growth_and_size():
    domain = domain_of(90)
    span, basis = span_of([query_of(domain, np.arange(90) <= k) for k in range(80)])
    assert span.rank == 80
    assert span.nbytes > 0
    assert span.locate(query_of(domain, (np.arange(90) > 20) & (np.arange(90) <= 79))).inside
    assert not span.locate(query_of(domain, np.arange(90) > 20)).inside
    assert len(basis) == 80
