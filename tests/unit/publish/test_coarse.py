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
    assert groups["age"].tolist() == [0, 0, 0, 1, 2, 2, 2, 2, 2, 3]  # the last is far out
    assert groups["city"].tolist() == [0, 2, 1, 2, 2]


def test_few_records_far_out_are_no_single_group() -> None:
    """Half of what a group may hold is its share of the spread; the control has records alone."""
    domain = Domain(delay=Integer(0, 99))
    share = np.concatenate([np.full(10, 9.5), np.full(90, 5.0 / 90)])
    groups = groups_of_values(domain, {"delay": share}, most=10, least_share=0.001)["delay"]
    assert len(set(groups[10:].tolist())) >= 4
    records_alone = np.floor(np.cumsum(share) / share.sum() * 10)
    assert len(set(records_alone[10:-1].tolist())) == 1
    means = [np.average(np.arange(100)[groups == g], weights=share[groups == g]) for g in groups]
    correlation = np.cov(means, np.arange(100), aweights=share)
    assert correlation[0, 1] / correlation[1, 1] > 0.95


def test_what_is_missing_is_no_neighbour_of_the_largest() -> None:
    domain = Domain(pay=Integer(0, 9, null="bucket"))
    share = np.array([1.0] * 10 + [3.0])
    for least, groups in ((0.0, 5), (0.9, 1)):
        labels = groups_of_values(domain, {"pay": share}, most=4, least_share=least)["pay"]
        assert len(labels) == 11
        assert sorted(set(labels.tolist())) == list(range(labels.max() + 1))
        assert (labels[10] != labels[9]) == (least == 0.0)
        assert len(set(labels.tolist())) <= groups + 1


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
