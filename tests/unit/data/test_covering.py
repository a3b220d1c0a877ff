"""Which sets of attributes a source counts so that those that are needed follow from them."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import eke
from eke.data import open_source
from eke.data.source import Counts

DOMAIN = eke.Domain({f"c{place}": eke.Integer(0, 2) for place in range(9)})
ROWS = pd.DataFrame(np.random.default_rng(0).integers(0, 3, (200, 9)), columns=list(DOMAIN.names))


def slow(attributes: tuple[str, ...]) -> dict[tuple[int, ...], int]:
    found = ROWS.groupby(list(attributes)).size()
    return {key if isinstance(key, tuple) else (key,): int(n) for key, n in found.items()}


def listed(counts: Counts) -> dict[tuple[int, ...], int]:
    return {tuple(c): n for c, n in zip(counts.codes.tolist(), counts.counts.tolist(), strict=True)}


def test_few_sets_are_counted_as_they_are_and_many_together() -> None:
    source = open_source(ROWS, DOMAIN)
    pairs = list(combinations(DOMAIN.names[1:], 2))
    assert source.covering(pairs[:5]) == pairs[:5]
    assert source.covering([]) == []
    many = [*pairs, *combinations(DOMAIN.names[1:], 3)]
    (together,) = source.covering(many)
    assert together == DOMAIN.names[1:]  # in the domain's order, and no more than is needed
    (counts,) = source.counts([together])
    for attributes in many[::7]:
        assert listed(counts.within(attributes)) == slow(attributes)


@pytest.mark.parametrize("attributes", [("c0",), ("c0", "c5"), ("c2", "c3", "c8")])
def test_counts_of_fewer_attributes_are_those_of_the_table(attributes: tuple[str, ...]) -> None:
    """The slow twin: pandas. Cells come in the order of their codes, as a source gives them."""
    (counts,) = open_source(ROWS, DOMAIN).counts([DOMAIN.names])
    within = counts.within(attributes)
    assert listed(within) == slow(attributes)
    (direct,) = open_source(ROWS, DOMAIN).counts([attributes])
    np.testing.assert_array_equal(within.codes, direct.codes)
    np.testing.assert_array_equal(within.counts, direct.counts)


def test_counts_of_nobody_and_of_wide_columns() -> None:
    nobody = Counts(("a", "b"), np.zeros((0, 2), np.int64), np.zeros(0, np.int64))
    assert nobody.within(("b",)).counts.tolist() == []
    far = np.array([[2**40 - 1, 0, 2**40 - 1], [2**40 - 1, 1, 2**40 - 1], [0, 1, 5]])
    wide = Counts(("a", "b", "c"), far, np.array([2, 3, 4]))
    assert listed(wide.within(("a", "c"))) == {(0, 5): 4, (2**40 - 1, 2**40 - 1): 5}
