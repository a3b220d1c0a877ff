"""Kernels of mixed histories equal the sums over all cells that they stand for (HIST Th. 1, 2)."""

import numpy as np
import pytest

from eke.domain import Domain, Integer
from eke.errors import QueryError
from eke.inference.features import HistoryFeatures, cross_kernel, kernel, norms
from eke.query import Kronecker, Marginal, Query, count, marginal
from tests.unit.inference.shrinkage.worlds import DOMAIN, PRIOR, World, matrix_of, random_query


@pytest.mark.parametrize("seed", range(4))
def test_the_kernel_is_the_weighted_product_of_the_matrix(seed: int) -> None:
    world = World.drawn(np.random.default_rng(seed))
    dense = (world.matrix * world.p0) @ world.matrix.T
    np.testing.assert_allclose(kernel(world.features, PRIOR), dense, atol=1e-12)
    np.testing.assert_allclose(norms(world.features, PRIOR), np.diag(dense), atol=1e-12)
    np.testing.assert_allclose(world.features.means(PRIOR), world.matrix @ world.p0, atol=1e-12)


def test_cross_kernels_pair_every_kind_with_every_kind() -> None:
    generator = np.random.default_rng(7)
    world = World.drawn(generator)
    asked: list[Query | Marginal] = [marginal("a").on(DOMAIN)]
    asked += [random_query(generator) for _ in range(8)]
    expected = (world.matrix * world.p0) @ matrix_of(asked).T
    found = cross_kernel(world.features, HistoryFeatures.of(DOMAIN, asked), PRIOR)
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_a_whole_marginal_is_never_written_out() -> None:
    features = HistoryFeatures.of(DOMAIN, [marginal("a", "b").on(DOMAIN)])
    assert features.groups[0].tables is None
    assert features.size == 15


def test_a_block_of_products_is_its_queries() -> None:
    matrices = (np.array([[1, 1, 0, 0, 0], [0, -1, 2, 0, 3]]), np.array([[1, 0, 1], [0, 2, 0]]))
    block = Kronecker(DOMAIN, ("a", "b"), matrices)
    together = kernel(HistoryFeatures.of(DOMAIN, [block, count(a=1).on(DOMAIN)]), PRIOR)
    apart = kernel(HistoryFeatures.of(DOMAIN, [*block.queries(), count(a=1).on(DOMAIN)]), PRIOR)
    np.testing.assert_allclose(together, apart, atol=1e-12)


def test_features_of_another_domain_are_refused() -> None:
    other = Domain(a=Integer(0, 1))
    with pytest.raises(QueryError, match="one domain"):
        HistoryFeatures.of(DOMAIN, [count().on(other)])


def test_products_need_their_rows() -> None:
    with pytest.raises(QueryError, match="row number"):
        HistoryFeatures(DOMAIN, products=[count().on(DOMAIN)])
