"""Sums over many sets of attributes at once, against each by itself."""

import math
from itertools import combinations

import numpy as np
import pytest

from eke.planning.workload.sum_tree import SumTree
from eke.planning.workload.whole_numbers import summed

NAMES = ("a", "b", "c", "d")
SIZES = {"a": 3, "b": 1, "c": 4, "d": 2}
EVERY = [names for order in range(5) for names in combinations(NAMES, order)]


def some_sets(seed: int) -> list[tuple[str, ...]]:
    rng = np.random.default_rng(seed)
    return [EVERY[k] for k in rng.permutation(len(EVERY))[: int(rng.integers(1, 9))]]


@pytest.mark.parametrize(
    "sets", [EVERY, [()], [NAMES], [("b",)], *(some_sets(k) for k in range(40))]
)
def test_sums_and_their_transpose_are_those_of_each_set(sets):
    rng = np.random.default_rng(len(sets))
    table = rng.normal(size=tuple(SIZES.values()))
    tree = SumTree.of(NAMES, sets)
    sums = tree.sums(table, NAMES)
    assert set(sums) == set(sets)
    for names in sets:
        np.testing.assert_allclose(sums[names], summed(table, NAMES, names), atol=1e-12)
    given = {names: rng.normal(size=np.shape(sums[names])) for names in sets}
    spread = np.broadcast_to(tree.spread(given, NAMES), table.shape)
    inner = sum(float((given[names] * sums[names]).sum()) for names in sets)
    assert float((spread * table).sum()) == pytest.approx(inner)
    slow = sum(
        given[names].reshape([SIZES[name] if name in names else 1 for name in NAMES])
        for names in sets
    )
    np.testing.assert_allclose(spread, np.broadcast_to(slow, table.shape), atol=1e-12)


def test_all_pairs_read_the_table_ten_times_and_not_once_each():
    names = tuple(f"b{place:02d}" for place in range(19))
    tree = SumTree.of(names, list(combinations(names, 2)))
    cells = 2 ** len(names)
    assert tree.work(dict.fromkeys(names, 2)) < 10 * cells < math.comb(19, 2) * cells


class Counting(np.ndarray):
    """A table that counts the cells that are read when it is summed."""

    read = 0

    def sum(self, *args, **kwargs):
        Counting.read += self.size
        return super().sum(*args, **kwargs)


@pytest.mark.parametrize("seed", range(5))
def test_work_is_what_is_read(seed):
    tree = SumTree.of(NAMES, some_sets(seed))
    table = np.ones([SIZES[name] for name in tree.names]).view(Counting)
    Counting.read = 0
    tree.sums(table, tree.names)
    assert tree.work(SIZES) == Counting.read
