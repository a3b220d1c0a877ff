"""Column counts: what is known of one column, alone and with counts of groups of its values."""

from collections.abc import Callable

import numpy as np
import pytest

from eke.arrays import FloatArray
from eke.domain import Domain, Integer
from eke.inference.shrinkage import onto_simplex
from eke.publish.coarse import CoarseMarginal, groups_of_values
from eke.publish.column_counts import ColumnCounts, GroupCounts, spread_doubt

SIZE, RECORDS, DEVIATION, RUNS = 800, 20_000, 10.0, 20
DOMAIN = Domain(delay=Integer(0, SIZE - 1), other=Integer(0, 1))


def long_tail() -> FloatArray:
    """Most records at small values, and hardly anybody beyond."""
    share = np.exp(-np.arange(SIZE) / 15.0)
    return np.asarray(RECORDS * share / share.sum())


def deviation_of(counts: FloatArray) -> float:
    places = np.arange(len(counts))
    mean = np.average(places, weights=counts)
    return float(np.sqrt(np.average((places - mean) ** 2, weights=counts)))


def slow_shares(known: ColumnCounts, again: GroupCounts, total: float) -> FloatArray:
    """The obvious version, group by group."""
    labels = again.marginal.groups[0]
    groups, sums = range(int(labels.max()) + 1), []
    for group in groups:
        own = [known.values[value] for value in range(len(labels)) if labels[value] == group]
        weights = np.array([1.0 / (len(own) * known.variance), 1.0 / again.variance])
        sums.append((weights @ [sum(own), again.values[group]] / weights.sum(), weights.sum()))
    threshold = np.sqrt(2.0 * np.log(len(sums)))
    kept = [k for k in groups if sums[k][0] > threshold * sums[k][1] ** -0.5]
    kept = kept or [max(groups, key=lambda k: sums[k][0])]
    held = dict(zip(kept, onto_simplex(np.array([sums[k][0] for k in kept]), total), strict=True))
    result = np.zeros(len(labels))
    for group, number in held.items():
        if number > 0.0:
            result[labels == group] = onto_simplex(known.values[labels == group], float(number))
    return result


def errors_of_spread(estimate: Callable[[ColumnCounts, GroupCounts], FloatArray]) -> list[float]:
    """By how much the spread is off, in parts of itself, of 20 draws of noise."""
    draw, true = np.random.default_rng(3), long_tail()
    found = []
    for _ in range(RUNS):
        known = ColumnCounts(true + draw.normal(0, DEVIATION, SIZE), DEVIATION**2)
        first = {"delay": known.shares(None, RECORDS), "other": np.ones(2)}
        block = CoarseMarginal(
            DOMAIN, ("delay",), (groups_of_values(DOMAIN, first, most=20)["delay"],)
        )
        counts = np.bincount(block.groups[0], weights=true)
        again = GroupCounts(block, counts + draw.normal(0, DEVIATION, block.cells), DEVIATION**2)
        found.append(deviation_of(estimate(known, again)) / deviation_of(true) - 1.0)
    return found


def test_groups_keep_noise_from_making_the_spread() -> None:
    with_groups = errors_of_spread(lambda known, again: known.shares(again, RECORDS))
    assert abs(np.mean(with_groups)) < 1.0  # 0.5, give or take 0.3 for one draw
    alone = errors_of_spread(lambda known, _: known.shares(None, RECORDS))
    assert np.mean(alone) > 4.0  # the control: the tail is noise


@pytest.mark.parametrize("seed", range(3))
def test_shares_are_those_of_the_slow_version(seed: int) -> None:
    draw = np.random.default_rng(seed)
    labels = np.sort(draw.integers(0, 4, 12))
    labels = np.unique(labels, return_inverse=True)[1]
    domain = Domain(a=Integer(0, 11), b=Integer(0, 1))
    known = ColumnCounts(draw.normal(5, 8, 12), 64.0)
    again = GroupCounts(
        CoarseMarginal(domain, ("a",), (labels,)), draw.normal(15, 9, labels.max() + 1), 9.0
    )
    found = known.shares(again, 70.0)
    np.testing.assert_allclose(found, slow_shares(known, again, 70.0))
    assert found.sum() == pytest.approx(70.0)
    assert found.min() >= 0.0


def test_of_one_group_and_of_nobody() -> None:
    domain = Domain(a=Integer(0, 2), b=Integer(0, 1))
    block = CoarseMarginal(domain, ("a",), (np.zeros(3, np.int64),))
    known = ColumnCounts(np.array([-4.0, -5.0, -9.0]), 4.0)
    assert known.shares(GroupCounts(block, np.array([-3.0]), 1.0), 1.0).sum() == pytest.approx(1.0)


def test_both_counts_of_a_column_weigh_as_they_are_precise() -> None:
    both = ColumnCounts(np.array([10.0]), 1.0).with_more(np.array([20.0]), 4.0)
    assert both.values[0] == pytest.approx(12.0)
    assert both.variance == pytest.approx(0.8)


def test_doubt_of_a_spread_follows_noise_and_distance() -> None:
    even = np.ones(100)
    doubt = spread_doubt(even, 2.0, 1000.0)
    assert spread_doubt(even, 4.0, 1000.0) == pytest.approx(2.0 * doubt)
    assert spread_doubt(even, 2.0, 2000.0) == pytest.approx(0.5 * doubt)
    assert spread_doubt(long_tail(), 2.0, 1000.0) > 10.0 * doubt
    simulated = np.random.default_rng(1).normal(0.0, 2.0, (4000, 100))
    places = np.arange(100.0) - 49.5
    moved = simulated @ places**2 / (1000.0 * np.average(places**2))
    assert moved.std() == pytest.approx(doubt, rel=0.05)  # 4,000 draws: 1.1 % of itself
