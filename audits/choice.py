"""What private choices really cost: the exponential mechanism, alone and at an adaptive desk.

The option that a record favours is behind by 1.5 of the noise's scale: the rarer it is, the nearer
is the loss to its bound, and the fewer samples tell of it. Choices are drawn with one try a
round instead of 64, which changes their number of rounds and nothing else, and their noise is taken
from long vectors of real draws: a call for a handful costs as much as one for hundreds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from numpy.typing import NDArray

from audits.claim import EPSILONS, Claim, Integers, Sampler, Sides, judge
from audits.epsilon import require_price
from audits.row import Row, Scale
from eke.mechanism import Secret, choose_with_noise, secret
from eke.privacy.accountant import Accountant
from eke.privacy.law import DiscreteLaplace, DiscreteLaw
from eke.privacy.pure import PURE
from tests.privacy.sampled_choice import CELLS, DOMAIN, MORE, chosen, worst_selection
from tests.privacy.sampled_release import Draw

POOL = 50_000


@contextmanager
def pooled_draws(tries: int = 1) -> Iterator[None]:
    """Within the block small draws are slices of large ones, each used once."""
    plain: Draw = vars(secret)["draw"]  # possibly a narrow one
    pool: dict[DiscreteLaw, NDArray[np.int64]] = {}

    def slice_of_pool(law: DiscreteLaw, count: int) -> NDArray[np.int64]:
        left = pool.get(law)
        if left is None or len(left) < count:
            left = plain(law, max(POOL, count))
        pool[law] = left[count:]
        return left[:count]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(secret, "draw", slice_of_pool)
        patch.setattr(secret, "TRIES_EACH", tries)
        yield


def claim_of(title: str, prepare: object) -> Claim:
    """A choice tells less than its price where the favoured option is not rare."""
    return Claim(
        title,
        EPSILONS,
        prepare,  # type: ignore[arg-type]
        share=0.5,
        seen=0.5,
        control_samples=400_000,
        tiny_losses=(2.0,),
        tiny_samples=6_000,
    )


def exponential(scale: Scale) -> tuple[Row, ...]:
    """`choose_with_noise` with b = 20: a record that moves both scores by w loses ε = 2w/b."""
    law = DiscreteLaplace(20, 0)

    def choices(moved: int, count: int) -> Integers:
        with pooled_draws():
            scores = Secret([moved - 30, -moved], 0)
            return np.array([choose_with_noise(scores, law) for _ in range(count)], np.int64)

    def prepare(count: int) -> Sampler:
        without = choices(0, count)
        accountant = Accountant(DOMAIN, PURE, "add_remove")

        def sides(epsilon: float) -> Sides:
            moved = round(10 * epsilon)
            require_price(accountant.price_of_choice(moved, law), epsilon)
            return without, choices(moved, count)

        return sides

    return judge(claim_of("exponential mechanism", prepare), scale)


def adaptive(scale: Scale) -> tuple[Row, ...]:
    """`Desk.choose` between two marginals on a table and on one with a record more."""

    def prepare(count: int) -> Sampler:
        def sides(epsilon: float) -> Sides:
            width = round(2 / epsilon)
            selection = worst_selection(width, math.ceil(1.5 * width))
            accountant = Accountant(DOMAIN, PURE, "add_remove")
            require_price(accountant.price_of_choice(selection.reach, selection.law), epsilon)
            with pooled_draws():
                return chosen(CELLS, selection, count), chosen(MORE, selection, count)

        return sides

    return judge(claim_of("adaptive selection of marginals", prepare), scale)
