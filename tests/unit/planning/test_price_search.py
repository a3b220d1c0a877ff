"""The search for the stretch that a price buys, on curves of costs; its slow twin is a grid."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from eke.planning.online.price_search import MOST_PLANS, NOTICEABLE, least_stretch_for

MOST = 10_000_000


def power(order: int, factor: float) -> Callable[[float], int]:
    return lambda stretch: math.ceil(MOST * (factor / stretch) ** order)


def with_room(stretch: float) -> int:
    """Nothing is charged before the largest loss is passed."""
    return max(0, power(1, 3.0)(stretch) - 4 * MOST)


def with_history(stretch: float) -> int:
    """As noise grows, what is known already does more and more of it; from 2 on it does all."""
    return 0 if stretch >= 2 else math.ceil(0.3 * MOST * (1 / stretch**2 - 1 / 4))


def in_jumps(stretch: float) -> int:
    """A table is bought where that is as cheap as questions by themselves."""
    return math.ceil(MOST * (1.4 if stretch < 0.9 else 0.7) / stretch)


CURVES: list[tuple[Callable[[float], int], float | None]] = [
    (power(1, 0.01), None),
    (power(1, 400.0), None),
    (power(2, 7.0), None),
    (with_room, None),
    (with_history, 2.0),
    (in_jumps, None),
]


@pytest.mark.parametrize("start", [1.0, 1e-3, 50.0])
@pytest.mark.parametrize(("cost", "free_at"), CURVES)
def test_the_stretch_is_the_least_that_the_price_buys(cost, free_at, start):
    plans: list[float] = []

    def cost_at(stretch: float) -> int:
        plans.append(stretch)
        return int(cost(stretch))

    order = 2 if cost(1.0) > 3 * cost(2.0) > 0 else 1
    found = least_stretch_for(cost_at, start, MOST, lambda x: x ** (1 / order), free_at)
    assert found is not None
    assert len(plans) <= MOST_PLANS
    assert cost(found) <= MOST
    grid = np.geomspace(found / 4, found, 4000)
    least = next(stretch for stretch in grid if cost(stretch) <= MOST)
    assert found <= least * 1.005


def test_nothing_noticeable_is_nothing():
    def dear(stretch: float) -> int:
        return 0 if stretch >= 2.0 else 100 * MOST

    assert least_stretch_for(dear, 1.0, MOST, float, 2.0) is None
    nearly = 2.0 / math.sqrt(NOTICEABLE)
    assert least_stretch_for(lambda s: 0 if s >= nearly else 9 * MOST, 1.0, MOST, float, 2) is None


def test_what_never_becomes_cheap_ends():
    plans: list[float] = []

    def cost_at(stretch: float) -> int:
        plans.append(stretch)
        return 2 * MOST

    assert least_stretch_for(cost_at, 1.0, MOST, float, None) is None
    assert len(plans) == MOST_PLANS
    assert max(plans) < 1e30
