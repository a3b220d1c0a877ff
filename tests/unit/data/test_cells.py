"""Marginals of a sparse histogram against a GROUP BY in plain Python."""

from __future__ import annotations

import copy
import pickle
from collections import Counter
from itertools import combinations, permutations

import numpy as np
import pytest

from eke.data.cells import Cells, sorted_cells
from eke.data.source import Counts, check_totals
from eke.errors import DataError, SecretLeak
from tests.unit.data.slow_twin import as_counter


def random_cells(rng: np.random.Generator, sizes: tuple[int, ...], rows: int) -> Cells:
    codes = [rng.integers(0, size, rows, dtype=np.int32) for size in sizes]
    distinct = sorted(set(zip(*(column.tolist() for column in codes), strict=True)))
    rng.shuffle(distinct)
    columns = [np.array([row[k] for row in distinct], dtype=np.int32) for k in range(len(sizes))]
    counts = rng.integers(1, 2**40, len(distinct))
    return sorted_cells(tuple("abcdefgh"[: len(sizes)]), sizes, columns, counts)


def slow_marginal(cells: Cells, attributes: tuple[str, ...]) -> Counter[tuple[int, ...]]:
    sums: Counter[tuple[int, ...]] = Counter()
    columns = [cells.columns[cells.names.index(name)].tolist() for name in attributes]
    for row, count in enumerate(cells.counts.tolist()):
        sums[tuple(column[row] for column in columns)] += count
    return sums


# Small products are summed in a dense array, large ones by sorting, and those beyond 64 bits by
# sorting ranks: all three must agree with the slow twin.
@pytest.mark.parametrize(
    "sizes", [(2, 3, 4), (1, 5, 1), (900, 800, 700, 3), (999_983, 999_979, 999_961, 999_959, 7)]
)
def test_marginals_equal_a_slow_group_by_in_any_attribute_order(sizes: tuple[int, ...]) -> None:
    cells = random_cells(np.random.default_rng(7), sizes, rows=300)
    for length in range(1, len(sizes) + 1):
        for attributes in combinations(cells.names, length):
            for order in list(permutations(attributes))[:4]:
                found = cells.marginal(order)
                assert as_counter(found) == slow_marginal(cells, order)
                assert found.codes.tolist() == sorted(found.codes.tolist())
                assert found.codes.dtype == found.counts.dtype == np.int64


def test_the_empty_attribute_set_is_the_total() -> None:
    cells = random_cells(np.random.default_rng(1), (4, 5), rows=50)
    total = cells.marginal(())
    assert total.codes.shape == (1, 0)
    assert total.counts.tolist() == [sum(cells.counts.tolist())]


@pytest.mark.parametrize("sizes", [(2, 3), (10**6, 10**6)])
def test_an_empty_table_has_no_cells_and_a_total_of_zero(sizes: tuple[int, ...]) -> None:
    nothing = np.zeros(0, dtype=np.int8)
    cells = sorted_cells(("a", "b"), sizes, [nothing, nothing], np.zeros(0, dtype=np.int64))
    assert cells.marginal(("b", "a")).codes.shape == (0, 2)
    assert cells.marginal(()).counts.tolist() == [0]


def test_order_of_the_given_rows_changes_nothing_not_even_the_digest() -> None:
    rng = np.random.default_rng(3)
    cells = random_cells(rng, (5, 6, 7), rows=100)
    mixed = rng.permutation(len(cells.counts))
    again = sorted_cells(
        cells.names, cells.sizes, [c[mixed] for c in cells.columns], cells.counts[mixed]
    )
    assert again.sha256() == cells.sha256()
    assert np.array_equal(again.marginal(("c", "a")).codes, cells.marginal(("c", "a")).codes)
    more = cells.counts.copy()
    more[0] += 1
    assert sorted_cells(cells.names, cells.sizes, list(cells.columns), more).sha256() != (
        cells.sha256()
    )


def test_sums_beyond_double_precision_are_exact() -> None:
    columns = [np.zeros(2, dtype=np.int8), np.arange(2, dtype=np.int8)]
    cells = sorted_cells(("a", "b"), (1, 2), columns, np.array([2**53, 1]))
    assert cells.marginal(("a",)).counts.tolist() == [2**53 + 1]


def test_unknown_and_repeated_attributes_are_refused() -> None:
    cells = random_cells(np.random.default_rng(1), (2, 2), rows=5)
    with pytest.raises(DataError, match="no attribute 'z'"):
        cells.marginal(("z",))
    with pytest.raises(DataError, match="only once"):
        cells.marginal(("a", "a"))


def test_codes_outside_the_domain_are_refused() -> None:
    one = np.ones(1, dtype=np.int64)
    for code in (-1, 2):
        with pytest.raises(DataError, match="outside the domain"):
            Cells(("a",), (2,), (np.array([code]),), one)
    with pytest.raises(DataError, match="same length"):
        Cells(("a",), (2,), (np.array([0, 1]),), one)
    with pytest.raises(DataError, match="one size"):
        Cells(("a", "b"), (2,), (np.array([0]),), one)


def test_malformed_counts_are_refused() -> None:
    codes, counts = np.zeros((1, 1), dtype=np.int64), np.ones(1, dtype=np.int64)
    with pytest.raises(DataError, match="64-bit"):
        Counts(("a",), codes.astype(float), counts)
    with pytest.raises(DataError, match="one row a cell"):
        Counts(("a", "b"), codes, counts)
    with pytest.raises(DataError, match="positive"):
        Counts(("a",), codes, counts * 0)
    with pytest.raises(DataError, match="exactly one cell"):
        Counts((), np.zeros((2, 0), dtype=np.int64), np.ones(2, dtype=np.int64))


def test_tables_of_one_scan_must_have_the_same_total() -> None:
    codes, counts = np.zeros((1, 1), dtype=np.int64), np.ones(1, dtype=np.int64)
    same = Counts(("a",), codes, counts)
    check_totals([same, Counts(("b",), codes, counts)])
    with pytest.raises(DataError, match="same total"):
        check_totals([same, Counts(("b",), codes, counts * 2)])


def test_exact_counts_cannot_be_printed_pickled_or_copied() -> None:
    cells = random_cells(np.random.default_rng(1), (3, 4), rows=20)
    counts = cells.marginal(("a",))
    for secret in (cells, counts):
        shown = f"{secret!r} {secret} {secret:}"
        assert not any(str(n) in shown for n in counts.counts.tolist())
        for leak in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(SecretLeak):
                leak(secret)
