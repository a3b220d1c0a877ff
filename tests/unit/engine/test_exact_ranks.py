"""Exact ranks as runs: the slow twin looks at every step by itself."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest

from eke.data import Counts
from eke.domain import Boolean, Categorical, Domain, Integer, Numeric
from eke.engine.exact_ranks import exact_ranks, records_on_steps
from eke.history import RankChoice
from eke.mechanism import secret
from eke.privacy.law import DiscreteLaplace
from eke.query import count
from eke.query.expression import present

DOMAIN = Domain(
    x=Integer(3, 14, null="bucket"),
    sex=Categorical("F", "M"),
    pay=Numeric(0, 100_000, step=0.5),
    old=Boolean(),
)
LAW = DiscreteLaplace(5, 0)


def counts(rows: Sequence[tuple[int, ...]], *names: str) -> Counts:
    codes, numbers = np.unique(
        np.array(rows, np.int64).reshape(-1, len(names)), axis=0, return_counts=True
    )
    return Counts(names, codes, numbers.astype(np.int64))


def spread(choice: RankChoice, counted: Counts) -> list[int]:
    """The score of each step, from the runs."""
    runs = secret._EXACT.__get__(exact_ranks(choice, counted))
    return [score for width, score in zip(runs[::2], runs[1::2], strict=True) for _ in range(width)]


def obvious(choice: RankChoice, stand: list[int]) -> list[int]:
    """The score of each step from all records, one by one."""
    share, scores = choice.share, []
    for step in range(choice.ladder.last + 1):
        below, up_to = sum(one < step for one in stand), sum(one <= step for one in stand)
        place = share * len(stand)
        away = max(below - place, place - up_to, Fraction(0))
        scores.append(int(away * share.denominator))
    return scores


@pytest.mark.parametrize("share", [Fraction(1, 2), Fraction(9, 10), Fraction(1, 1000)])
@pytest.mark.parametrize("number", [0, 1, 2, 7, 60])
def test_the_runs_are_the_scores_of_all_steps(number, share):
    """Eight tables of each size, with records that do not count and some without a number."""
    coins = np.random.default_rng(number)
    choice = RankChoice(present("x", {"sex": "F"}).on(DOMAIN), "x", share, LAW)
    for _ in range(8):
        rows = [(int(coins.integers(0, 13)), int(coins.integers(0, 2))) for _ in range(number)]
        stand = [code for code, sex in rows if sex == 0 and code < 12]
        assert spread(choice, counts(rows, "x", "sex")) == obvious(choice, stand)


def test_of_records_without_a_number_none_counts_even_if_the_query_says_so():
    choice = RankChoice(count().on(DOMAIN), "x", Fraction(1, 2), LAW)
    assert records_on_steps(choice, counts([(12,), (12,), (3,)], "x")) == [(3, 1)]


def test_a_wide_column_has_few_runs():
    choice = RankChoice(count().on(DOMAIN), "pay", Fraction(1, 2), LAW)
    assert choice.ladder.last == 200_000
    held = exact_ranks(choice, counts([(7,), (7,), (150_000,)], "pay"))
    assert held.count == 2 * 5
    assert secret._EXACT.__get__(held) == (7, 3, 1, 0, 149_992, 1, 1, 1, 50_000, 3)


@pytest.mark.parametrize("at", [0, 11])
def test_all_records_on_one_end_leave_one_run_beside_it(at):
    choice = RankChoice(count().on(DOMAIN), "x", Fraction(1, 2), LAW)
    held = exact_ranks(choice, counts([(at,)] * 5, "x"))
    assert secret._EXACT.__get__(held) == ((1, 0, 11, 5) if at == 0 else (11, 5, 1, 0))


@pytest.mark.parametrize(("low", "high"), [(5, 9), (3, 3), (14, 14)])
def test_only_steps_between_those_that_conditions_leave_are_chosen_from(low, high):
    """Of the scores of all steps, those of the others are left out; the best stays."""
    coins = np.random.default_rng(low)
    choice = RankChoice(count(x=(low, high)).on(DOMAIN), "x", Fraction(1, 3), LAW)
    assert choice.steps == (low - 3, high - 3)
    for _ in range(8):
        rows = [(int(coins.integers(0, 13)),) for _ in range(9)]
        stand = [code for (code,) in rows if low <= code + 3 <= high]
        expected = obvious(choice, stand)[low - 3 : high - 2]
        assert spread(choice, counts(rows, "x")) == expected
        assert min(expected) == 0


def test_without_records_all_steps_are_as_good():
    choice = RankChoice(count().on(DOMAIN), "x", Fraction(1, 2), LAW)
    empty = Counts(("x",), np.zeros((0, 1), np.int64), np.zeros(0, np.int64))
    assert secret._EXACT.__get__(exact_ranks(choice, empty)) == (12, 0)
