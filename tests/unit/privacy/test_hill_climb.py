"""Cells of high loss: where the climb begins, where it ends, and to the last unit."""

from __future__ import annotations

import numpy as np

from eke.privacy.hill_climb import climbed_cell, promising_cell
from eke.privacy.loss_tables import LossTables


def test_the_climb_begins_where_all_tables_together_promise_most() -> None:
    tables = LossTables({"a": 3, "b": 2})
    tables.add(("a",), np.array([5, 0, 4]))
    tables.add(("a", "b"), np.array([[0, 0], [3, 0], [1, 3]]))
    assert promising_cell(tables) == {"a": 2, "b": 0}


def test_the_climb_ends_where_no_single_change_is_better() -> None:
    """N = 20 sums over three attributes, many of which need more than one round."""
    rng = np.random.default_rng(1)
    rounds = 0
    for _ in range(20):
        tables = LossTables({"a": 4, "b": 4, "c": 4})
        for pair in (("a", "b"), ("b", "c"), ("a", "c")):
            tables.add(pair, rng.integers(0, 30, (4, 4)))
        start = {name: int(rng.integers(4)) for name in "abc"}
        end = climbed_cell(tables, start)
        assert tables.at(end) >= tables.at(start)
        neighbours = [{**end, name: value} for name in "abc" for value in range(4)]
        assert max(tables.at(cell) for cell in neighbours) == tables.at(end)
        once = dict(start)
        for name in "abc":
            along = [tables.at({**once, name: value}) for value in range(4)]
            once[name] = int(np.argmax(along))
        rounds += tables.at(once) < tables.at(end)
    assert rounds > 2


def test_a_cell_is_not_left_for_one_that_is_as_good() -> None:
    tables = LossTables({"a": 3, "b": 2})
    tables.add(("a", "b"), np.full((3, 2), 7))
    assert climbed_cell(tables, {"a": 2, "b": 1}) == {"a": 2, "b": 1}


def test_the_last_unit_of_large_losses_counts() -> None:
    """A double would not tell these losses apart."""
    tables = LossTables({"a": 3})
    tables.add(("a",), np.array([2**60, 2**60 + 1, 2**60]))
    assert promising_cell(tables) == {"a": 1}
    assert climbed_cell(tables, {"a": 2}) == {"a": 1}
