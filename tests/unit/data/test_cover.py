"""Which tables are counted so that all the wanted ones are sums of them."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eke.data.cover import MOST_CELLS, cells, check_size, cover
from eke.domain import Domain, Integer
from eke.errors import DataError

NINE = Domain(
    {f"x{i}": Integer(0, size - 1) for i, size in enumerate((79, 2, 17, 51, 9, 7, 6, 50, 50))}
)


@given(st.lists(st.sets(st.sampled_from(NINE.names), max_size=5), min_size=1, max_size=12))
def test_every_wanted_set_lies_in_a_counted_one(wanted: list[set[str]]) -> None:
    found = cover([tuple(names) for names in wanted], NINE)
    assert len(set(found)) == len(found) <= len(wanted)
    for names in wanted:
        assert any(names <= set(known) for known in found)
    largest = max(cells(tuple(names), NINE) for names in wanted)
    for known in found:
        assert known == NINE.in_order(known)
        assert cells(known, NINE) <= max(2**16, largest)
    assert found == cover([tuple(names) for names in wanted[::-1]], NINE), "whatever the order"


def test_all_pairs_need_ten_tables() -> None:
    assert len(cover(combinations(NINE.names, 2), NINE)) == 10


def test_the_total_alone_is_counted_by_the_smallest_attribute() -> None:
    assert cover([()], NINE) == (("x1",),)


def test_only_the_domain_decides_what_is_too_much() -> None:
    edge = Domain(a=Integer(0, 2**12 - 1), b=Integer(0, 2**12 - 1), c=Integer(0, 1))
    assert cells(("a", "b"), edge) == MOST_CELLS
    check_size(("a", "b"), edge)
    with pytest.raises(DataError, match=r"33,554,432 cells \(a, b, c\).* at most 16,777,216"):
        check_size(("a", "b", "c"), edge)
