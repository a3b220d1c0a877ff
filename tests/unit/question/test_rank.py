from __future__ import annotations

import numpy as np
import pytest

from eke.errors import AccuracyError
from eke.question.formula import Aggregate, Key
from eke.question.outcome import Ordering, ResultRow
from eke.question.rank import Ranking, RankOf, possible_ranks, with_ranks


def slow_twin(lows, highs):
    """Every order of one value from each interval, of ends and middles, larger ones first."""
    ranges = []
    for i in range(len(lows)):
        surely = sum(lows[j] > highs[i] for j in range(len(lows)))
        perhaps = sum(highs[j] >= lows[i] for j in range(len(lows)) if j != i)
        ranges.append((surely + 1, perhaps + 1))
    return ranges


def test_possible_ranks_are_those_of_counting_pairs():
    generator = np.random.default_rng(3)
    for size in (1, 2, 7, 40):
        middles, widths = generator.integers(0, 30, size), generator.integers(0, 9, size)
        lows, highs = (middles - widths).astype(float), (middles + widths).astype(float)
        assert possible_ranks(lows, highs, descending=True) == slow_twin(lows, highs)
        assert possible_ranks(-highs, -lows, descending=False) == slow_twin(lows, highs)


def test_nothing_known_leaves_every_rank():
    ends = np.full(3, np.inf)
    assert possible_ranks(-ends, ends, descending=True) == [(1, 3)] * 3


@pytest.mark.parametrize(
    ("word", "ranks"),
    [("rank", [1, 2, 2, 1]), ("dense_rank", [1, 2, 2, 1]), ("row_number", [1, 2, 3, 1])],
)
def test_ranks_within_partitions(word, ranks):
    rows = [ResultRow((key,), (n,)) for key, n in (("a", 9), ("a", 5), ("a", 5), ("b", 5))]
    ranking = Ranking(word, (0,), (Ordering(Aggregate(0), descending=True),))
    assert [row.keys[1] for row in with_ranks([ranking], rows)] == ranks
    assert RankOf(1).value((), with_ranks([ranking], rows)[1].keys) == ranks[1]


def test_ranks_skip_and_dense_ranks_do_not():
    rows = [ResultRow((key,), ()) for key in (3, 1, 1, 2)]
    by = (Ordering(Key(0)),)
    assert Ranking("rank", (), by).ranks(rows) == [4, 1, 1, 3]
    assert Ranking("dense_rank", (), by).ranks(rows) == [3, 1, 1, 2]


def test_a_rank_has_no_distribution():
    with pytest.raises(AccuracyError, match="no distribution"):
        RankOf(1).values(np.zeros((1, 2)))
