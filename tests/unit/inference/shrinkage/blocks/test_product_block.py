"""Blocks as products of matrices answer like the queries they stand for."""

from __future__ import annotations

import numpy as np
import pytest

from eke.inference.shrinkage.blocks.product_block import product_block
from eke.query import Block, Kronecker, count, marginal
from tests.unit.inference.shrinkage.blocks.histories import DOMAIN, matrix_of

HALVES = np.array([[1, 1, 0, 0, 0], [0, 0, 1, 1, 1]])
BLOCKS: list[Block] = [
    marginal("a").on(DOMAIN),
    marginal("a", "c").on(DOMAIN),
    marginal("b", of=count(a=(1, 3))).on(DOMAIN),
    marginal("a", "b", of=count(a=(1, 3), d=2) * 3).on(DOMAIN),
    Kronecker(DOMAIN, ("a", "b"), (HALVES, np.eye(3, dtype=np.int64))),
]


@pytest.mark.parametrize("query", BLOCKS)
def test_answers_and_sums_are_those_of_the_queries(query: Block) -> None:
    generator = np.random.default_rng(1)
    block = product_block(query)
    assert block is not None
    matrix = matrix_of([query])
    whole = generator.normal(size=(*DOMAIN.shape, 2))
    outside = tuple(k for k, name in enumerate(DOMAIN.names) if name not in block.attributes)
    table = whole.sum(axis=outside)
    found = block.answers(table)
    np.testing.assert_allclose(found, matrix @ whole.reshape(-1, 2), rtol=1e-12, atol=1e-12)
    weights = generator.normal(size=(block.rows, 2))
    spread = np.expand_dims(block.tables(weights), outside)
    spread = np.broadcast_to(spread, (*DOMAIN.shape, 2)).reshape(-1, 2)
    np.testing.assert_allclose(spread, matrix.T @ weights, rtol=1e-12, atol=1e-12)


def test_only_the_same_questions_are_alike() -> None:
    made = [product_block(query) for query in (*BLOCKS, marginal("a").on(DOMAIN))]
    likeness = [block.likeness for block in made if block is not None]
    assert likeness[0] == likeness[-1]
    assert len(set(likeness)) == len(BLOCKS)


def test_what_is_no_product_is_no_block() -> None:
    assert product_block(count(a=1).on(DOMAIN)) is None
    assert product_block(marginal("b", of=count(a=1) + count(c=2)).on(DOMAIN)) is None
    assert product_block(Kronecker(DOMAIN, (), ())) is None
