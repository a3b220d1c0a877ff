"""Which blocks are kept whole, told without a number for each pair of values."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from numpy.typing import NDArray

from eke.domain import Domain, Integer
from eke.inference.tables import table_weight
from eke.query import Kronecker


def alike(matrix: NDArray[np.int64]) -> bool:
    """Of the definition: MᵀM has one number on its diagonal and one beside it."""
    gram = matrix.T @ matrix
    beside = gram[~np.eye(len(gram), dtype=bool)]
    return len({*np.diag(gram).tolist()}) <= 1 and len({*beside.tolist()}) <= 1


def test_values_are_alike_as_by_the_definition() -> None:
    """N = 3,000 small matrices; of most, values are not alike."""
    rng, found = np.random.default_rng(3), 0
    for _ in range(3000):
        rows, size = rng.integers(1, 5, 2)
        matrix = rng.integers(0, 2, (rows, size))
        block = Kronecker(Domain(a=Integer(0, int(size) - 1)), ("a",), (matrix,))
        assert (table_weight(block) is not None) == alike(matrix)
        found += alike(matrix)
    assert 300 < found < 2700


@pytest.mark.parametrize("rows", [1, 2])
def test_groups_of_very_many_values_need_no_number_for_each_pair(rows: int) -> None:
    """Else what was released could not be learnt from, and no session opened any more."""
    size = 4000
    matrix = (np.arange(size) % rows == np.arange(rows)[:, np.newaxis]).astype(np.int64)
    block = Kronecker(Domain(a=Integer(0, size - 1)), ("a",), (matrix,))
    tracemalloc.start()
    weight = table_weight(block)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (weight is not None) == (rows == 1)
    assert rows == 1 or most < 8 * size**2 / 10
