"""The loss of blocks of products, against the sum over their queries, cell by cell."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from eke.domain import Domain, Integer
from eke.privacy.block_loss import block_cell_losses, block_loss
from eke.privacy.law import DiscreteGaussian, DiscreteLaplace, DiscreteLaw
from eke.privacy.record_loss import NANO
from eke.query.kronecker import Kronecker

DOMAIN = Domain(b=Integer(0, 2), a=Integer(0, 3), c=Integer(0, 1))
LAWS: list[DiscreteLaw] = [DiscreteLaplace(3_000_001, -18), DiscreteGaussian(5_000_003, -17)]


def _brute(block: Kronecker, law: DiscreteLaw) -> dict[tuple[int, ...], Fraction]:
    """The exact loss of a record in every cell, query by query."""
    scale = law.steps * Fraction(2) ** law.exponent
    cells = np.array(list(np.ndindex(*DOMAIN.shape)))
    total = dict.fromkeys(map(tuple, cells.tolist()), Fraction(0))
    for index in range(block.cells):
        query = block.cell(index)
        for cell, number in zip(cells.tolist(), query.numerators(DOMAIN.names, cells), strict=True):
            height = Fraction(number) * Fraction(2) ** query.exponent
            loss = abs(height) / scale if law.loss_unit == "epsilon" else height**2 / (2 * scale**2)
            total[tuple(cell)] += loss * NANO
    return total


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("seed", range(8))
def test_losses_are_the_sums_over_queries_rounded_up(seed: int, law: DiscreteLaw) -> None:
    rng = np.random.default_rng(seed)
    block = Kronecker(
        DOMAIN, ("b", "a"), (rng.integers(-5, 6, size=(4, 3)), rng.integers(-5, 6, size=(3, 4)))
    )
    brute = _brute(block, law)
    names, table = block_cell_losses(block, law, 2**18)
    assert names == tuple(sorted(names))
    for cell, exact in brute.items():
        place = tuple(cell[DOMAIN.names.index(name)] for name in names)
        assert exact <= int(table[place]) < exact + 1
    largest = max(brute.values())
    assert largest <= block_loss(block, law) < largest + 1
    _, bounded = block_cell_losses(block, law, 3)
    assert bounded.size <= 4
    assert int(bounded.max()) == block_loss(block, law)


@pytest.mark.parametrize("law", LAWS)
def test_residual_tables_cost_every_record_the_same(law: DiscreteLaw) -> None:
    matrices = tuple(n * np.eye(n, dtype=np.int64) - 1 for n in (3, 4))
    names, table = block_cell_losses(Kronecker(DOMAIN, ("b", "a"), matrices), law, 2**18)
    assert names == ()
    assert table.shape == ()
