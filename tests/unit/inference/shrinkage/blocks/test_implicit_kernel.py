"""The kernel applied to vectors is the kernel written out, for blocks of every kind."""

from __future__ import annotations

import numpy as np
import pytest

from eke.inference.features import HistoryFeatures
from eke.inference.shrinkage.blocks.evidence import evidence_of_blocks
from eke.inference.shrinkage.blocks.implicit_kernel import ImplicitKernel
from tests.unit.inference.shrinkage.blocks.histories import (
    DOMAIN,
    P0,
    PRIOR,
    Reals,
    history,
    matrix_of,
    questions,
    written_out,
)


def case(*, kept_numbers: int, least_block: int = 2) -> tuple[ImplicitKernel, Reals]:
    """(the kernel, the coefficients of its rows over all cells, centred)."""
    evidence = evidence_of_blocks(
        DOMAIN, history(np.random.default_rng(1), varied=True), PRIOR, least_block=least_block
    )
    made = evidence.kernel
    singles = made.singles.features
    kernel = ImplicitKernel(made.blocks, singles, PRIOR, kept_numbers=kept_numbers)
    matrix = written_out(kernel)
    return kernel, matrix - (matrix @ P0)[:, None]


@pytest.mark.parametrize("kept_numbers", [0, 10**6])
@pytest.mark.parametrize("least_block", [2, 1000])
def test_it_is_the_dense_kernel(kept_numbers: int, least_block: int) -> None:
    kernel, matrix = case(kept_numbers=kept_numbers, least_block=least_block)
    assert (len(kernel.blocks) == 0) == (least_block == 1000)
    dense = (matrix * P0) @ matrix.T
    columns = np.random.default_rng(2).normal(size=(kernel.size, 3))
    np.testing.assert_allclose(kernel.times(columns), dense @ columns, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(kernel.diagonal(), np.diag(dense), rtol=1e-9, atol=1e-9)
    asked = questions(np.random.default_rng(3))
    found = kernel.products(HistoryFeatures.of(DOMAIN, asked))
    expected = (matrix * P0) @ matrix_of([*asked]).T
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def test_products_of_blocks_with_questions_come_in_pieces() -> None:
    kernel, matrix = case(kept_numbers=0)
    dense = (matrix * P0) @ matrix.T
    split = kernel.block_rows
    for some, found in kernel.across():
        np.testing.assert_allclose(found, dense[:split, split:][:, some], rtol=1e-9, atol=1e-9)
