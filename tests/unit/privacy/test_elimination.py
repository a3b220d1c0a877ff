from itertools import combinations, product
from math import prod

import numpy as np
import pytest

from eke.privacy.branch_bound import search
from eke.privacy.elimination import eliminate, elimination_order, exact_cells

SIZES = {"a": 3, "b": 2, "c": 4, "d": 3, "e": 1}


def random_case(rng: np.random.Generator):
    """Tables, an order, and the sum at every cell."""
    scopes = [scope for order in (1, 2, 3) for scope in combinations(SIZES, order)]
    chosen = [scopes[i] for i in rng.choice(len(scopes), size=rng.integers(1, 9), replace=False)]
    tables = {s: rng.integers(-30, 1, [SIZES[name] for name in s]) for s in chosen}
    order = elimination_order(sorted(tables), SIZES)
    sums = {}
    for cell in product(*(range(SIZES[name]) for name in order)):
        at = dict(zip(order, cell, strict=True))
        sums[cell] = sum(int(t[tuple(at[name] for name in s)]) for s, t in tables.items())
    return tables, order, sums


@pytest.mark.parametrize("cap", [None, 12, 3])
def test_regrets_add_up_to_the_sum_and_prefixes_bound_it(cap):
    rng = np.random.default_rng(1)
    for _ in range(25):
        tables, order, sums = random_case(rng)
        result = eliminate(tables, order, constant=7, largest_table=cap)
        assert [step.attribute for step in result.steps] == order[::-1]
        if result.exact:
            assert result.constant == 7 + max(sums.values())
        assert cap is not None or result.exact
        for cell, loss in sums.items():
            at = dict(zip(order, cell, strict=True))
            bound = result.constant
            for depth, step in enumerate(result.steps):
                prefix = [one.attribute for one in result.steps[:depth]]
                best = max(s for c, s in sums.items() if _agrees(c, order, at, prefix))
                assert bound >= 7 + best
                for regret in step.regrets:
                    place = tuple(at[name] for name in (*regret.given, step.attribute))
                    assert regret.cells[place] <= 0
                    bound += int(regret.cells[place])
            assert bound == 7 + loss


def _agrees(cell, order, at, prefix) -> bool:
    return all(cell[order.index(name)] == at[name] for name in prefix)


def test_cells_are_counted_and_a_chain_is_eliminated_from_its_ends():
    sizes = dict.fromkeys("abcd", 10)
    scopes: list[tuple[str, ...]] = [("a", "b"), ("b", "c"), ("c", "d")]
    order = elimination_order(scopes, sizes)
    assert order == ["a", "b", "c", "d"]
    assert exact_cells(scopes, order, sizes) == 310
    assert exact_cells([tuple("abcd")], order, sizes) == sum(prod([10] * n) for n in (1, 2, 3, 4))


@pytest.mark.parametrize("cap", [None, 3])
def test_search_finds_what_exceeds_the_threshold_and_bounds_the_rest(cap):
    """N = 200; an unlimited budget is exact, any budget is safe."""
    rng = np.random.default_rng(2)
    stopped = 0
    for _ in range(200):
        tables, order, sums = random_case(rng)
        result = eliminate(tables, order, largest_table=cap)
        largest = max(sums.values())
        for threshold in (largest - 10, largest - 1, largest, largest + 5):
            whole = search(result, threshold, first_is_enough=False, budget=10**9)
            assert whole.upper == max(largest, threshold)
            assert (whole.best is None) == (largest <= threshold)
            if whole.best is not None:
                assert sums[whole.best[::-1]] == largest
            first = search(result, threshold, first_is_enough=True, budget=10**9)
            assert (first.best is None) == (largest <= threshold)
            short = search(result, threshold, first_is_enough=False, budget=int(rng.integers(200)))
            assert short.upper >= max(largest, threshold)
            assert short.best is None or sums[short.best[::-1]] > threshold
            stopped += short.upper > max(largest, threshold)
    assert cap is None or stopped > 20
