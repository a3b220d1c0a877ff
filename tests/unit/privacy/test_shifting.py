"""Shifted tables against the sum they stand for, all cells at once, after every step."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from eke.privacy.loss_tables import LossTables
from eke.privacy.pair_split import split_into_pairs
from eke.privacy.shifted_tables import ShiftedTables, shared_groups

SIZES = {"a": 3, "b": 4, "c": 2, "d": 3}
SCOPES = [(), ("a",), ("a", "b"), ("b", "c"), ("a", "b", "c"), ("b", "c", "d"), ("a", "c", "d")]
Sums = NDArray[np.int64]


def random_losses(rng: np.random.Generator) -> LossTables:
    losses = LossTables(SIZES)
    for scope in SCOPES:
        losses.add(scope, np.asarray(rng.integers(0, 20, [SIZES[name] for name in scope])))
    return losses


def on_all(sizes: dict[str, int], tables: dict[tuple[str, ...], Sums]) -> Sums:
    """The sum of tables as one table over all attributes."""
    total = np.zeros(list(sizes.values()), np.int64)
    for scope, cells in tables.items():
        total += cells.reshape([size if name in scope else 1 for name, size in sizes.items()])
    return total


def check(shifted: ShiftedTables, truth: Sums, threshold: int, *, exact: bool) -> None:
    """What the class promises at all times."""
    chosen = np.ix_(*(shifted.values[name] for name in SIZES))
    removed = np.ones(truth.shape, np.bool_)
    removed[chosen] = False
    assert not (truth[removed] > threshold).any(), "a cell above the threshold is gone"
    sizes = {name: len(values) for name, values in shifted.values.items()}
    sums = shifted.constant + on_all(sizes, shifted.tables)
    here = truth[chosen]
    above = here > threshold
    if exact:
        assert (sums == here)[above].all()
        assert ((sums == here) | (sums <= threshold)).all()
    else:
        assert (sums >= here)[above].all()
        assert ((sums >= here) | (sums <= threshold)).all()
    for scope, cells in shifted.tables.items():
        assert all(sizes[name] > 1 for name in scope), "nothing is left to choose"
        assert int(cells.max()) == 0
        assert int(cells.min()) >= shifted.floor


@pytest.mark.parametrize("share", [0.5, 0.8, 0.95, 1.0])
def test_what_is_above_the_threshold_stays_as_it_is(share: float) -> None:
    """N = 30 sums, with a threshold that is passed by many cells, by few, or by none."""
    rng = np.random.default_rng(int(100 * share))
    removed = 0
    for _ in range(30):
        losses = random_losses(rng)
        truth = on_all(SIZES, {table.attributes: table.cells for table in losses})
        largest = int(truth.max())
        threshold = int(largest * share)
        shifted = ShiftedTables(losses, threshold)
        for sweep in range(8):
            if sweep == 3:
                shifted.include_rests()
            if shifted.constant <= threshold:
                assert largest <= threshold
                break
            check(shifted, truth, threshold, exact=sweep >= 3)
            before = shifted.constant
            shifted.sweep(threshold)
            assert shifted.constant <= before
        removed += sum(len(shifted.values[name]) < size for name, size in SIZES.items())
    assert removed > 5 or share == 0.5


def test_a_floor_is_as_deep_as_the_bound_is_above_the_threshold() -> None:
    losses = LossTables({"a": 2, "b": 2})
    losses.add(("a", "b"), np.array([[0, 30], [50, 7]]))
    for threshold, floor in ((20, -30), (48, -2), (49, -1), (50, -1), (60, -1)):
        shifted = ShiftedTables(losses, threshold)
        assert (shifted.constant, shifted.floor) == (50, floor)
        assert int(shifted.tables["a", "b"].min()) == floor


@pytest.mark.parametrize(("threshold", "left"), [(39, [0, 1, 2]), (40, [1, 2]), (89, [2])])
def test_values_that_cannot_pass_the_threshold_are_removed(threshold: int, left: list[int]) -> None:
    losses = LossTables({"a": 3, "b": 2})
    losses.add(("a",), np.array([30, 40, 80]))
    losses.add(("b",), np.array([10, 9]))
    shifted = ShiftedTables(losses, threshold)
    shifted.sweep(threshold)
    assert shifted.values["a"].tolist() == left
    assert shifted.values["b"].tolist() == ([0] if threshold == 89 else [0, 1])
    assert shifted.constant == 90


def test_the_likely_cell_is_the_best_of_each_attribute() -> None:
    losses = LossTables({"a": 3, "b": 2, "c": 4})
    losses.add(("a",), np.array([1, 9, 2]))
    losses.add(("b",), np.array([3, 5]))
    losses.add(("a", "b"), np.array([[1, 0], [0, 1], [0, 0]]))
    assert ShiftedTables(losses, 0).likely_cell() == {"a": 1, "b": 1, "c": 0}


def test_groups_come_small_ones_first_and_never_have_four_attributes() -> None:
    groups = shared_groups([("a", "b", "c", "d"), ("b", "c"), ("a", "b", "c", "e")])
    names = [group for group, _ in groups]
    assert names == [(x,) for x in "abcde"] + [
        ("a", "b"),
        ("a", "c"),
        ("b", "c"),
        ("a", "b", "c"),
    ]
    assert shared_groups([("a", "b", "c", "d")] * 2)[-1][0] == ("b", "c", "d")


def test_a_table_is_shared_out_among_its_pairs_before_the_rest_is_taken() -> None:
    """Each pair takes a third of what is left; in the second round the first takes all of it."""
    split = split_into_pairs(np.full((2, 3, 2), 9, np.int64))
    assert {pair: set(cells.reshape(-1).tolist()) for pair, cells in split.pairs.items()} == {
        (0, 1): {3 + 3},
        (0, 2): {2},
        (1, 2): {1},
    }
    assert not split.rest.any()
