import numpy as np
import pytest

from eke.errors import BudgetExceeded, PrivacyError
from eke.privacy.loss_tables import LARGEST_TOTAL, LossTables


def test_adding_equals_a_fresh_build():
    rng = np.random.default_rng(1)
    sizes = {"a": 3, "b": 4, "c": 1}
    scopes = [(), ("a",), ("b",), ("a", "b"), ("a", "c"), ("a", "b", "c")]
    for _ in range(100):
        grown = LossTables(sizes)
        sums: dict = {}
        for choice in rng.integers(len(scopes), size=12):
            scope = scopes[choice]
            cells = np.asarray(rng.integers(0, 9, size=[sizes[name] for name in scope]), np.int64)
            grown.add(scope, cells)
            sums[scope] = sums.get(scope, 0) + cells
        fresh = LossTables(sizes)
        for scope, cells in sums.items():
            fresh.add(scope, np.asarray(cells))
        assert [t.attributes for t in grown] == sorted(sums) == [t.attributes for t in fresh]
        assert all(
            np.array_equal(one.cells, other.cells) for one, other in zip(grown, fresh, strict=True)
        )
        assert grown.total == fresh.total == sum(int(np.max(cells)) for cells in sums.values())


def test_tables_are_copied_and_read_only():
    tables = LossTables({"a": 2})
    mine = np.array([1, 2])
    tables.add(("a",), mine)
    mine[:] = 0
    assert tables.at({"a": 1}) == 2
    (table,) = tables
    with pytest.raises(ValueError, match="read-only"):
        table.cells[0] = 0


def test_a_trial_copies_only_the_touched_table():
    tables = LossTables({"a": 2, "b": 3})
    tables.add(("a",), np.array([1, 2]))
    tables.add(("b",), np.array([1, 2, 3]))
    candidate = tables.trial(("a",), np.array([5, 0]))
    assert list(candidate)[1] is list(tables)[1]
    assert (tables.total, candidate.total) == (5, 9)
    assert tables.at({"a": 0, "b": 0}) == 2
    assert candidate.at({"a": 0, "b": 0}) == 7


def test_a_digest_stands_for_the_content_and_for_nothing_else():
    def of(*added, sizes=(("a", 2), ("b", 4))):
        tables = LossTables(dict(sizes))
        for attributes, cells, *stops in added:
            tables.add(attributes, np.array(cells), *stops)
        return tables.digest

    one, other = (("a",), [1, 2]), (("b",), [1, 2, 3, 4])
    stretches = {"b": np.array([1, 4])}
    assert of(one, other) == of(other, one) == of((("a",), [0, 2]), (("a",), [1, 0]), other)
    contents = [
        of(),
        of(one),
        of(other),
        of(one, other),
        of((("a",), [2, 1])),
        of((("a",), [1, 2]), sizes=(("a", 2), ("b", 5))),
        of((("a",), [1, 2]), sizes=(("a", 2), ("c", 4))),
        of((("b",), [1, 2], stretches)),
        of((("b",), [1, 2], {"b": np.array([2, 4])})),
        of((("a", "b"), [[1, 1, 1, 1], [2, 2, 2, 2]])),
        of(((), 1)),
    ]
    assert len(set(contents)) == len(contents)


def test_facts_about_a_table_are_what_they_say():
    rng = np.random.default_rng(2)
    for _ in range(50):
        tables = LossTables({"a": 4, "b": 3, "c": 5, "d": 2})
        tables.add(("a", "b", "c", "d"), rng.integers(0, 2, (4, 3, 5, 2)) * rng.integers(0, 2))
        (table,) = tables
        split = table.pair_split
        total = split.rest.copy()
        for (one, other), cells in split.pairs.items():
            shape = [n if axis in (one, other) else 1 for axis, n in enumerate(table.cells.shape)]
            total += cells.reshape(shape)
        assert np.array_equal(total, table.cells)
        assert split.rest.max() <= 0
        for axis, labels in enumerate(table.value_labels):
            slices = np.moveaxis(table.cells, axis, 0)
            for one in range(len(slices)):
                for other in range(len(slices)):
                    same = np.array_equal(slices[one], slices[other])
                    assert (labels[one] == labels[other]) == same


@pytest.mark.parametrize(
    ("attributes", "cells"),
    [
        (("b", "a"), np.zeros((3, 2), np.int64)),
        (("a", "a"), np.zeros((2, 2), np.int64)),
        (("z",), np.zeros(2, np.int64)),
        (("a",), np.zeros(3, np.int64)),
        (("a",), np.zeros(2)),
        (("a",), np.array([0, -1])),
    ],
)
def test_malformed_tables_are_refused_and_change_nothing(attributes, cells):
    tables = LossTables({"a": 2, "b": 3})
    with pytest.raises(PrivacyError):
        tables.add(attributes, cells)
    assert len(tables) == 0


def test_attributes_need_values():
    with pytest.raises(PrivacyError, match="at least one value"):
        LossTables({"a": 0})


def test_sums_that_would_leave_exact_integers_are_refused_and_change_nothing():
    tables = LossTables({"a": 2, "b": 2})
    with pytest.raises(BudgetExceeded):
        tables.add(("a",), np.array([0, LARGEST_TOTAL]))
    tables.add(("a",), np.array([LARGEST_TOTAL - 2, 0]))
    for scope in (("a",), ("b",)):
        with pytest.raises(BudgetExceeded):
            tables.add(scope, np.array([2, 2]))
    tables.add(("b",), np.array([1, 0]))
    assert tables.at({"a": 0, "b": 0}) == LARGEST_TOTAL - 1
