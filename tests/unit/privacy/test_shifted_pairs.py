"""Shifted tables in one matrix against the same tables one by one: equal to the last number."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest

from eke.privacy import shifted_pairs
from eke.privacy.extremum import maximum
from eke.privacy.loss_tables import LossTables
from eke.privacy.shifted_pairs import Shifted, ShiftedPairs, shifted
from eke.privacy.shifted_tables import ShiftedTables


def random_losses(rng: np.random.Generator) -> LossTables:
    """Tables over up to three of up to six attributes, some with one value, with few levels."""
    names = "abcdef"[: rng.integers(1, 7)]
    sizes = {name: int(rng.integers(1, 6)) for name in names}
    losses = LossTables(sizes)
    for order, share in enumerate((0.3, 0.5, 0.6, 0.1)):
        for scope in combinations(names, order):
            if rng.random() < share:
                shape = [sizes[name] for name in scope]
                losses.add(scope, np.asarray(rng.integers(0, rng.choice([2, 6, 40]), shape)))
    return losses


def assert_same(fast: Shifted, slow: ShiftedTables) -> None:
    assert fast.constant == slow.constant
    assert fast.floor == slow.floor
    assert fast.sweep_cost == slow.sweep_cost
    assert fast.likely_cell() == slow.likely_cell()
    assert set(fast.tables) == set(slow.tables)
    for scope, cells in slow.tables.items():
        np.testing.assert_array_equal(fast.tables[scope], cells)
    assert set(fast.values) == set(slow.values)
    for name, values in slow.values.items():
        np.testing.assert_array_equal(fast.values[name], values)


def test_every_number_is_that_of_the_tables_one_by_one() -> None:
    """N = 250 sums, thresholds from hopeless to past the maximum, after every sweep."""
    rng = np.random.default_rng(1)
    swept = in_matrix = pruned = larger = 0
    for _ in range(250):
        losses = random_losses(rng)
        threshold = int(losses.total * rng.uniform(0.3, 1.05))
        slow = ShiftedTables(losses, threshold)
        fast = shifted(losses, threshold)
        in_matrix += isinstance(fast, ShiftedPairs)
        for sweep in range(7):
            if sweep == 4:
                slow.include_rests()
                fast = fast.with_rests()
                larger += isinstance(fast, ShiftedTables)
            assert_same(fast, slow)
            if slow.constant <= threshold:
                break
            before = sum(map(len, slow.values.values()))
            slow.sweep(threshold)
            fast.sweep(threshold)
            swept += 1
            pruned += sum(map(len, slow.values.values())) < before
    assert in_matrix > 220
    assert swept > 300
    assert pruned > 60
    assert larger > 15


def test_the_maximum_is_the_same_however_tables_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """N = 60 sums with efforts that end anywhere; without the matrix as with it."""
    rng = np.random.default_rng(2)
    cases = [(random_losses(rng), int(10 ** rng.uniform(2, 5))) for _ in range(60)]
    fast = [maximum(losses, effort=effort) for losses, effort in cases]
    monkeypatch.setattr(shifted_pairs, "LARGEST_MATRIX", 0)
    assert isinstance(shifted(cases[0][0], 0), ShiftedTables)
    assert [maximum(losses, effort=effort) for losses, effort in cases] == fast


def test_a_matrix_is_made_where_it_is_small_or_mostly_full() -> None:
    def kept(size: int, number: int) -> type[Shifted]:
        names = list("abcdefghijklmnop"[:number])
        losses = LossTables(dict.fromkeys(names, size))
        for one, other in pairwise(names):
            losses.add((one, other), np.arange(size * size).reshape(size, size))
        return type(shifted(losses, 0))

    assert kept(16, 9) is ShiftedPairs
    assert kept(128, 4) is ShiftedPairs
    assert kept(128, 16) is ShiftedTables, "eight of nine cells would be empty"
    assert type(shifted(LossTables({"a": 2}), 0)) is ShiftedTables
