from __future__ import annotations

import numpy as np
import pytest

from eke.inference.papers.representation import linear_representations
from eke.query import Query, count
from tests.unit.inference.dense import (
    coefficients_of,
    domain_of,
    is_estimable,
    matrix_of,
    product_query,
    query_of,
)


def greedy(rows: list[Query], question: Query) -> list[set[int]]:
    """ONLINE Algorithm 2 by exact elimination: the rows of each representation, as sets."""
    free: list[int] = []
    found = []
    for last in range(len(rows)):
        free.append(last)
        while is_estimable([rows[k] for k in free], question):
            basis: list[int] = []
            for k in free:  # the first independent rows, as the scan keeps them
                if not is_estimable([rows[b] for b in basis], rows[k]):
                    basis.append(k)
            used = [
                k for k in basis if not is_estimable([rows[b] for b in basis if b != k], question)
            ]
            found.append(set(used))
            free = [k for k in free if k not in used]
    return found


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("sizes", [(4,), (2, 3)])
def test_representations_equal_exact_greedy_search(sizes, seed):
    generator = np.random.default_rng([seed, *sizes])
    domain = domain_of(*sizes)
    rows = [product_query(domain, generator) for _ in range(int(generator.integers(1, 14)))]
    question = rows[0] - rows[-1] * 2 if seed % 3 else product_query(domain, generator)
    if question.is_zero:
        question = count().on(domain)
    found = linear_representations(rows, question)
    assert [set(np.flatnonzero(w).tolist()) for w in found] == greedy(rows, question)
    for weights in found:
        expected = [float(c) for c in coefficients_of(question)]
        np.testing.assert_allclose(weights @ matrix_of(rows), expected, atol=1e-9)


def test_rows_are_used_at_most_once_and_repeats_are_representations():
    domain = domain_of(3)
    row = query_of(domain, [1, 0, 2])
    rows = [row, row * -2, query_of(domain, [0, 0, 0]), row, row * 0.5]
    found = linear_representations(rows, row * 3)
    assert [w.tolist() for w in found] == [
        [3.0, 0, 0, 0, 0],
        [0, -1.5, 0, 0, 0],
        [0, 0, 0, 3.0, 0],
        [0, 0, 0, 0, 6.0],
    ]


def test_nothing_to_represent():
    domain = domain_of(3)
    row = query_of(domain, [1, 0, 2])
    assert linear_representations([], row) == []
    assert linear_representations([row], query_of(domain, [0, 0, 0])) == []
    assert linear_representations([row], query_of(domain, [1, 0, 1])) == []
    assert linear_representations([query_of(domain, [0, 0, 0])], row) == []


@pytest.mark.parametrize("attributes", [9, 100])
def test_a_coordinate_of_one_cell_in_a_huge_domain_is_not_dropped(attributes):
    domain = domain_of(*[10] * attributes)
    everyone = count().on(domain)
    cell = count(dict.fromkeys(domain.names, 3)).on(domain)
    others = everyone - cell
    assert linear_representations([everyone], others) == []
    found = linear_representations([everyone, cell, others], others)
    np.testing.assert_allclose(found, [[1.0, -1.0, 0.0], [0.0, 0.0, 1.0]], rtol=1e-12)


def test_near_dependent_rows_never_stand_for_each_other():
    domain = domain_of(4)
    base = query_of(domain, [2**30] * 4)
    near = query_of(domain, [2**30, 2**30, 2**30, 2**30 + 1])
    assert linear_representations([base], near) == []
    assert [w.tolist() for w in linear_representations([base, near, base], near)] == [
        [0.0, 1.0, 0.0]
    ]
