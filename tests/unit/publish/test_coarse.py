"""Coarse marginals: groups cover every value, counts add up, and a record is counted once."""

import numpy as np
import pytest

from eke.domain import Categorical, Domain, Integer
from eke.errors import QueryError
from eke.inference.features import table_of
from eke.publish.coarse import CoarseMarginal, groups_of_values

DOMAIN = Domain(age=Integer(0, 9), city=Categorical("a", "b", "c", "d", "e"))
SHARES = {
    "age": np.array([1, 1, 1, 40, 1, 1, 1, 1, 1, 2.0]),
    "city": np.array([50, 1, 45, 2, 2.0]),
}


def test_neighbours_join_until_they_matter_and_large_values_stay_alone() -> None:
    groups = groups_of_values(DOMAIN, SHARES, most=5, least_share=0.04)
    assert groups["age"].tolist() == [0, 0, 0, 1, 2, 2, 2, 2, 2, 2]
    assert groups["city"].tolist() == [0, 2, 1, 2, 2]


def test_without_noise_every_category_stays() -> None:
    groups = groups_of_values(DOMAIN, SHARES, most=100, least_share=0.0)
    assert sorted(groups["city"].tolist()) == [0, 1, 2, 3, 4]
    assert len(set(groups["age"].tolist())) == 10


def test_shares_that_are_all_noise_leave_one_group_or_more() -> None:
    nothing = {"age": np.zeros(10), "city": np.full(5, -1.0)}
    groups = groups_of_values(DOMAIN, nothing, most=3, least_share=0.5)
    for labels in groups.values():
        assert sorted(set(labels.tolist())) == list(range(int(labels.max()) + 1))


def test_coarse_counts_are_sums_of_fine_ones() -> None:
    groups = groups_of_values(DOMAIN, SHARES, most=5, least_share=0.04)
    block = CoarseMarginal(DOMAIN, ("age", "city"), (groups["age"], groups["city"]))
    counts = np.random.default_rng(0).integers(0, 9, (10, 5))
    coarse = block.of_counts(counts)
    expected = [int(table_of(q, DOMAIN.names) @ counts.reshape(-1)) for q in block.queries()]
    assert coarse.tolist() == expected
    assert coarse.sum() == counts.sum()
    assert [q.digest for q in block.block().queries()] == [q.digest for q in block.queries()]


def test_a_record_adds_one_to_exactly_one_cell() -> None:
    block = CoarseMarginal(DOMAIN, ("age",), (np.array([0, 0, 1, 1, 2, 2, 2, 2, 2, 2]),))
    total = sum(table_of(query, ("age",)) for query in block.queries())
    assert np.asarray(total).tolist() == [1.0] * 10


@pytest.mark.parametrize(
    ("attributes", "groups"),
    [
        (("city", "age"), (np.zeros(5, int), np.zeros(10, int))),
        (("age",), (np.zeros(9, int),)),
        (("age",), (np.full(10, 1),)),
        ((), ()),
    ],
)
def test_malformed_blocks_are_refused(attributes: tuple[str, ...], groups: tuple) -> None:
    with pytest.raises(QueryError):
        CoarseMarginal(DOMAIN, attributes, groups)
