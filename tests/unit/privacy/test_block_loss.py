"""The loss of blocks of products, against the sum over their queries, cell by cell."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from eke.domain import Domain, Integer
from eke.errors import BudgetExceeded
from eke.privacy.block_loss import block_cell_losses, block_loss, block_nano
from eke.privacy.law import DiscreteGaussian, DiscreteLaplace, DiscreteLaw
from eke.privacy.loss_tables import LARGEST_TOTAL
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
    names, table = _cell_losses(block, law, 2**18)
    assert names == tuple(sorted(names))
    for cell, exact in brute.items():
        place = tuple(cell[DOMAIN.names.index(name)] for name in names)
        assert exact <= int(table[place]) < exact + 1
    largest = max(brute.values())
    assert largest <= block_loss(block, law) < largest + 1
    _, bounded = _cell_losses(block, law, 3)
    assert bounded.size <= 4
    assert int(bounded.max()) == block_loss(block, law)


class Quarters(Kronecker):
    """The same product in multiples of 1/4."""

    __slots__ = ()

    @property
    def exponent(self) -> int:
        return -2


@pytest.mark.parametrize("law", LAWS)
def test_finer_coefficients_lose_as_much_less(law: DiscreteLaw) -> None:
    matrices = (np.array([[1, 2, -3], [0, 5, 1]]), np.array([[2, 0, 1, 4], [1, -1, 3, 2]]))
    power = 1 if law.loss_unit == "epsilon" else 2
    brute = _brute(Kronecker(DOMAIN, ("b", "a"), matrices), law)
    exact = {cell: loss / 4**power for cell, loss in brute.items()}
    block = Quarters(DOMAIN, ("b", "a"), matrices)
    assert block_loss(block, law) == math.ceil(max(exact.values()))
    names, table = _cell_losses(block, law, 2**18)
    for cell, loss in exact.items():
        place = tuple(cell[DOMAIN.names.index(name)] for name in names)
        assert int(table[place]) == math.ceil(loss)
    assert block_nano(7, law) == block_nano(7, law, 0) != block_nano(7, law, 1)


@pytest.mark.parametrize("law", LAWS)
def test_residual_tables_cost_every_record_the_same(law: DiscreteLaw) -> None:
    matrices = tuple(n * np.eye(n, dtype=np.int64) - 1 for n in (3, 4))
    block = Kronecker(DOMAIN, ("b", "a"), matrices)
    names, table = _cell_losses(block, law, 2**18)
    assert names == ()
    assert table.shape == ()
    assert int(table) == block_loss(block, law)


def _cell_losses(
    block: Kronecker, law: DiscreteLaw, most: int
) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    found = block_cell_losses(block, law, most)
    assert found is not None, "a product"
    return found


def _diagonal(**reaches: list[int]) -> Kronecker:
    """A block in which a record's reach is the product of these."""
    matrices = tuple(np.diag(np.array(numbers, np.int64)) for numbers in reaches.values())
    return Kronecker(DOMAIN, tuple(reaches), matrices)


def test_attributes_along_which_the_reach_varies_least_are_bounded_first() -> None:
    law = DiscreteLaplace(1, 0)
    block = _diagonal(b=[1, 1, 100], a=[2, 2, 2, 1])
    names, table = _cell_losses(block, law, 12)
    assert names == ("a", "b")
    assert table.tolist() == [[x * y * NANO for y in (1, 1, 100)] for x in (2, 2, 2, 1)]
    names, table = _cell_losses(block, law, 11)
    assert names == ("b",)
    assert table.tolist() == [2 * NANO, 2 * NANO, 200 * NANO]
    names, table = _cell_losses(block, law, 2)
    assert names == ()
    assert int(table) == 200 * NANO


def test_what_is_the_same_for_all_is_multiplied() -> None:
    names, table = _cell_losses(
        _diagonal(b=[3, 3, 3], a=[1, 2, 0, 1], c=[5, 5]), DiscreteLaplace(1, 0), 2**18
    )
    assert names == ("a",)
    assert table.tolist() == [15 * NANO, 30 * NANO, 0, 15 * NANO]


@pytest.mark.parametrize("more", [-1, 0, 1])
def test_losses_beyond_exact_sums_are_refused(more: int) -> None:
    half = LARGEST_TOTAL // 2
    rows = np.array([[half, 1], [half + more, 0]], np.int64)
    block = Kronecker(DOMAIN, ("c",), (rows,))
    law = DiscreteLaplace(NANO, 0)  # so that a reach costs as many nano-units
    if more < 0:
        _, table = _cell_losses(block, law, 2**18)
        assert table.tolist() == [LARGEST_TOTAL - 1, 1]
        return
    with pytest.raises(BudgetExceeded):
        _cell_losses(block, law, 2**18)


def test_products_beyond_64_bits_are_exact() -> None:
    """Squares of large coefficients: in 64 bits their product would wrap around to a small loss."""
    law = DiscreteGaussian(2**53, 0)
    b, a, c = [2**19, 2**19 + 1, 3], [2**19, 1, 2**19 + 7, 5], [2**20, 2**20]
    block = _diagonal(b=b, a=a, c=c)
    names, table = _cell_losses(block, law, 2**18)
    assert names == ("a", "b")
    expected = [[-(-NANO * (x * y * 2**20) ** 2 // 2**107) for y in b] for x in a]
    assert table.tolist() == expected
    assert max(map(max, expected)) == block_loss(block, law)
