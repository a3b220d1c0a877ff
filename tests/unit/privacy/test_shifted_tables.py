from itertools import product

import numpy as np
import pytest

from eke.privacy.loss_tables import LossTables
from eke.privacy.shifted_tables import ShiftedTables, shared_groups
from tests.parts import in_long

SIZES = {"a": 3, "b": 4, "c": 2, "d": 3}
SCOPES = [("a",), ("a", "b"), ("b", "c"), ("a", "b", "c"), ("b", "c", "d"), ("a", "c", "d")]


def random_losses(rng: np.random.Generator) -> LossTables:
    losses = LossTables(SIZES)
    for scope in SCOPES:
        losses.add(scope, rng.integers(0, 20, [SIZES[name] for name in scope]))
    return losses


def shifted_sum(shifted: ShiftedTables, cell: dict[str, int]) -> int:
    positions = {n: int(np.searchsorted(shifted.values[n], value)) for n, value in cell.items()}
    return shifted.constant + sum(
        int(cells[tuple(positions[name] for name in scope)])
        for scope, cells in shifted.tables.items()
    )


def survives(shifted: ShiftedTables, cell: dict[str, int]) -> bool:
    return all(value in shifted.values[name] for name, value in cell.items())


@pytest.mark.parametrize("number", [20, in_long(60)])
def test_cells_above_the_threshold_keep_their_loss_and_others_stay_below(number):
    """Collections, thresholds from hopeless to tight, every cell after every sweep."""
    rng = np.random.default_rng(1)
    for _ in range(number):
        losses = random_losses(rng)
        cells = [dict(zip(SIZES, t, strict=True)) for t in product(*map(range, SIZES.values()))]
        truth = {tuple(cell.values()): losses.at(cell) for cell in cells}
        largest = max(truth.values())
        threshold = int(largest * rng.uniform(0.5, 1.02))
        shifted = ShiftedTables(losses, threshold)
        for sweep in range(6):
            if sweep == 2:
                shifted.include_rests()
            bound = shifted.constant
            if bound <= threshold:
                assert largest <= threshold
                break
            assert bound >= largest
            assert all(int(table.max()) <= 0 for table in shifted.tables.values())
            for cell in cells:
                loss = truth[tuple(cell.values())]
                if loss > threshold:
                    assert survives(shifted, cell)
                    if sweep < 2:
                        assert shifted_sum(shifted, cell) >= loss
                    else:
                        assert shifted_sum(shifted, cell) == loss
                elif sweep >= 2 and survives(shifted, cell):
                    assert shifted_sum(shifted, cell) <= threshold
            shifted.sweep(threshold)
            assert shifted.constant <= bound


def test_values_no_table_tells_apart_are_merged():
    losses = LossTables({"a": 4, "b": 3})
    losses.add(("a",), np.array([5, 5, 2, 5]))
    shifted = ShiftedTables(losses, 0)
    assert shifted.values["a"].tolist() == [0, 2]
    assert shifted.values["b"].tolist() == [0]


def test_groups_are_single_attributes_and_what_two_tables_share():
    groups = dict(shared_groups([("a", "b", "c"), ("b", "c"), ("d",)]))
    assert groups == {
        ("a",): [("a", "b", "c")],
        ("b",): [("a", "b", "c"), ("b", "c")],
        ("c",): [("a", "b", "c"), ("b", "c")],
        ("d",): [("d",)],
        ("b", "c"): [("a", "b", "c"), ("b", "c")],
    }
