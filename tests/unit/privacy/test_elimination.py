from itertools import combinations, product
from math import prod

import numpy as np
import pytest

from eke.privacy.branch_bound import search
from eke.privacy.elimination import _parts, eliminate, elimination_order, exact_cells
from tests.parts import in_long

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
@pytest.mark.parametrize("number", [8, in_long(25)])
def test_regrets_add_up_to_the_sum_and_prefixes_bound_it(cap, number):
    rng = np.random.default_rng(1)
    for _ in range(number):
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


def test_what_is_eliminated_first_joins_the_least_that_was_apart():
    """N = 60 random graphs, each step against every attribute that could have been next."""
    rng = np.random.default_rng(3)
    sizes = {"a": 5, "b": 2, "c": 4, "d": 3, "e": 3, "f": 2}
    scopes = [scope for order in (2, 3) for scope in combinations(sizes, order)]
    for _ in range(60):
        chosen = [scopes[i] for i in rng.choice(len(scopes), size=6, replace=False)]
        edges = {frozenset(pair) for scope in chosen for pair in combinations(scope, 2)}
        left = {name for scope in chosen for name in scope}
        order = elimination_order(chosen, sizes)
        assert sorted(order) == sorted(left)
        for name in order:
            prices = {}
            for other in left:
                near = sorted(n for n in left if frozenset((n, other)) in edges and n != other)
                apart = [p for p in combinations(near, 2) if frozenset(p) not in edges]
                fill = sum(sizes[x] * sizes[y] for x, y in apart)
                prices[other] = (fill, prod(sizes[n] for n in near), other), near
            assert prices[name][0] == min(price for price, _ in prices.values())
            left.discard(name)
            edges |= {frozenset(pair) for pair in combinations(prices[name][1], 2)}


def test_without_a_constant_only_the_tables_count():
    tables = {("a",): np.array([-3, -1, -2]), ("a", "b"): np.array([[-9, -4], [-5, -7], [0, -9]])}
    assert eliminate(tables, ["b", "a"]).constant == -2
    assert eliminate(tables, ["b", "a"], constant=5).constant == 3


def test_tables_are_put_together_up_to_the_cap():
    sizes = {"a": 2, "b": 3, "c": 4, "d": 5}

    def grouped(scopes: list[tuple[str, ...]], cap: int | None) -> list:
        members = [(s, np.zeros([sizes[name] for name in s], np.int64)) for s in scopes]
        return [
            (names, [scope for scope, _ in group]) for names, group in _parts(members, sizes, cap)
        ]

    scopes: list[tuple[str, ...]] = [("a",), ("a", "b"), ("a", "c"), ("a", "b", "c")]
    largest_first = [("a", "b", "c"), ("a", "b"), ("a", "c"), ("a",)]
    assert grouped(scopes, None) == [(("a", "b", "c"), largest_first)]
    # What is inside of a group costs nothing more, even where that group is beyond the cap.
    assert grouped(scopes, 3) == [(("a", "b", "c"), largest_first)]
    chain: list[tuple[str, ...]] = [("a", "b"), ("a", "c"), ("a", "d")]
    assert grouped(chain, 24) == [(("a", "b", "c"), chain[:2]), (("a", "d"), chain[2:])]
    assert grouped(chain, 23) == [((*scope,), [scope]) for scope in chain]
    assert grouped(chain, 30) == [(("a", "b", "c"), chain[:2]), (("a", "d"), chain[2:])]
    same: list[tuple[str, ...]] = [("a", "b"), ("a", "b"), ("b",)]
    assert grouped(same, 1) == [(("a", "b"), same)]


def test_no_table_of_an_elimination_is_larger_than_its_cap():
    rng = np.random.default_rng(4)
    sizes = dict.fromkeys("abcde", 3)
    pairs: list[tuple[str, ...]] = list(combinations(sizes, 2))
    tables = {pair: rng.integers(-9, 1, (3, 3)) for pair in pairs}
    order = elimination_order(sorted(tables), sizes)
    for cap in (9, 27, 81):
        result = eliminate(tables, order, largest_table=cap)
        largest = max(regret.cells.size for step in result.steps for regret in step.regrets)
        assert largest == cap
        assert not result.exact
