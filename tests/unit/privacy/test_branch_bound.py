"""The search for cells above a threshold: complete, within its budget, the same everywhere."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest

from eke.privacy import branch_bound
from eke.privacy.branch_bound import CHILD_COST, search
from eke.privacy.elimination import Elimination, EliminationStep, Regret, eliminate

SIZES = {"a": 3, "b": 4, "c": 3, "d": 3}
ORDER = ["a", "b", "c", "d"]
SCOPES: list[tuple[str, ...]] = list(combinations(ORDER, 2))


def split_case(rng: np.random.Generator) -> tuple[Elimination, dict[tuple[int, ...], int]]:
    """An elimination whose bound is loose, and the sum at every cell in the order of its steps."""
    tables = {s: rng.integers(-30, 1, [SIZES[name] for name in s]) for s in SCOPES}
    sums = {}
    for cell in product(*(range(SIZES[name]) for name in ORDER[::-1])):
        at = dict(zip(ORDER[::-1], cell, strict=True))
        sums[cell] = sum(int(t[tuple(at[name] for name in s)]) for s, t in tables.items())
    return eliminate(tables, ORDER, largest_table=12), sums


@pytest.fixture
def children(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """What is looked up at each expansion, as it happens."""
    looked_up: list[int] = []
    really = branch_bound._expanded

    def watched(
        block: branch_bound._Block, step: EliminationStep, columns: dict[str, int], threshold: int
    ) -> branch_bound._Block:
        assert len(block.chosen) == len(block.bounds)
        width = step.regrets[0].cells.shape[-1]
        looked_up.append(len(block.bounds) * width * len(step.regrets))
        return really(block, step, columns, threshold)

    monkeypatch.setattr(branch_bound, "_expanded", watched)
    return looked_up


@pytest.mark.parametrize("smallest", [1, 7, 64])
def test_every_block_is_searched_however_small_they_are(
    monkeypatch: pytest.MonkeyPatch, smallest: int
) -> None:
    """N = 30 sums; the best cell is the best of all, and it is the first one if that is enough."""
    monkeypatch.setattr(branch_bound, "SMALLEST_BLOCK", smallest)
    rng = np.random.default_rng(1)
    later = 0
    for _ in range(30):
        elimination, sums = split_case(rng)
        largest = max(sums.values())
        for threshold in (largest - 60, largest - 10, largest - 1, largest):
            whole = search(elimination, threshold, first_is_enough=False, budget=10**9)
            assert whole.upper == max(largest, threshold)
            assert (whole.best is None) == (largest <= threshold)
            assert whole.best is None or sums[whole.best] == largest
            first = search(elimination, threshold, first_is_enough=True, budget=10**9)
            assert first.upper >= whole.upper
            assert (first.best is None) == (largest <= threshold)
            if first.best is not None:
                assert threshold < sums[first.best] <= largest
                later += sums[first.best] < largest
    assert later > 5 or smallest > 1


def test_effort_is_what_was_looked_up_and_stays_within_the_budget(
    monkeypatch: pytest.MonkeyPatch, children: list[int]
) -> None:
    monkeypatch.setattr(branch_bound, "SMALLEST_BLOCK", 8)
    rng = np.random.default_rng(2)
    for _ in range(10):
        elimination, sums = split_case(rng)
        threshold = max(sums.values()) - 20
        children.clear()
        whole = search(elimination, threshold, first_is_enough=False, budget=10**9)
        assert whole.cost == CHILD_COST * sum(children)
        for budget in range(0, whole.cost + 1, max(1, whole.cost // 7)):
            children.clear()
            short = search(elimination, threshold, first_is_enough=False, budget=budget)
            assert short.cost == CHILD_COST * sum(children) <= budget
            assert short.upper >= whole.upper
        assert search(elimination, threshold, first_is_enough=False, budget=whole.cost) == whole
        just = search(elimination, threshold, first_is_enough=False, budget=whole.cost - 1)
        assert just.cost < whole.cost


def test_children_of_equal_bounds_come_in_order_on_every_machine() -> None:
    """Sorting algorithms that differ between processors would try them in different orders."""
    regret = Regret((), -(np.arange(200, dtype=np.int64) % 3))
    block = branch_bound._Block(np.zeros((1, 0), np.int32), np.array([10], np.int64))
    expanded = branch_bound._expanded(block, EliminationStep("a", (regret,)), {"a": 0}, 0)
    expected = sorted(range(200), key=lambda value: (value % 3, value))
    assert expanded.chosen[:, 0].tolist() == expected
