"""The loss of every record for a block of products, as one small exact table.

A record in cell t loses Π_k reach_k(t_k) / b (Laplace) or Π_k reach_k(t_k) / 2σ² (Gaussian), the
reaches being sums over the rows of absolute or squared coefficients (docs/proofs/blocks.md).
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from eke.errors import BudgetExceeded
from eke.privacy.law import DiscreteLaw, Refinement
from eke.privacy.loss_tables import LARGEST_TOTAL
from eke.privacy.measures import measure_of
from eke.query import Block

Cells = NDArray[np.int64]


def block_nano(reach: int, law: DiscreteLaw | Refinement, exponent: int = 0) -> int:
    """The nano-units that a record of some reach loses, rounded up.

    Privacy: `reach` is the L1 norm of the record's coefficients for Laplace noise, their squared
    L2 norm for Gaussian noise, coefficients being multiples of 2^exponent. Rational arithmetic, so
    nothing is rounded down.
    """
    return math.ceil(reach * law.rate * Fraction(2) ** (_power(law) * exponent))


def block_loss(block: Block, law: DiscreteLaw | Refinement) -> int:
    """The largest loss of a record that is added or removed.

    Privacy: that of the block's largest reach, which is exact or a bound above.
    """
    return block_nano(block.largest_reach(_power(law)), law, block.exponent)


def block_cell_losses(
    block: Block, law: DiscreteLaw | Refinement, largest_table: int
) -> tuple[tuple[str, ...], Cells] | None:
    """(attributes sorted by name, losses): a table that no record's loss exceeds.

    None for a block whose reach is no product.

    Privacy: exact up to `largest_table` cells. Beyond, attributes are bounded by their largest
    reach, those along which it varies least first, never from below.
    """
    factors = block.reach(_power(law))
    if factors is None:
        return None
    constant, chosen = 1, []
    for name, vector in factors:
        numbers = [int(v) for v in vector]
        if min(numbers) == max(numbers):
            constant *= numbers[0]
        else:
            chosen.append((name, numbers))
    chosen.sort(key=lambda pair: sum(pair[1]) / (len(pair[1]) * max(pair[1])))
    while math.prod(len(numbers) for _, numbers in chosen) > largest_table:
        constant *= max(chosen.pop()[1])
    chosen.sort()
    reaches: NDArray[np.object_] = np.full((1,) * len(chosen), constant, object)
    for axis, (_, numbers) in enumerate(chosen):
        shape = [1] * len(chosen)
        shape[axis] = -1
        reaches = reaches * np.array(numbers, object).reshape(shape)
    exponent = block.exponent
    priced = {
        reach: block_nano(reach, law, exponent) for reach in set(reaches.reshape(-1).tolist())
    }
    if max(priced.values()) >= LARGEST_TOTAL:
        raise BudgetExceeded("the loss of one measurement is beyond the range of exact integers")
    flat = np.array([priced[reach] for reach in reaches.reshape(-1).tolist()], np.int64)
    return tuple(name for name, _ in chosen), flat.reshape(reaches.shape)


def _power(law: DiscreteLaw | Refinement) -> int:
    return measure_of(law).order
