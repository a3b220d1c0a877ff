"""Exact ranks: how far each step of a column is from being a quantile, as runs that nobody sees.

Between two steps on which records stand, all steps are equally good: the scores of a column are a
few runs, however many steps it has.
"""

from __future__ import annotations

from collections.abc import Iterator

from eke.data import Counts
from eke.history import RankChoice
from eke.mechanism import Secret


def exact_ranks(choice: RankChoice, counted: Counts) -> Secret:
    """The runs of all steps of the choice, in order: how many, and their score, for each.

    Privacy: sums of Python integers, so that one record moves no score by more than the choice's
    `reach`. How many runs there are tells how many distinct numbers: the secret stays here.
    """
    return Secret(_runs(choice, records_on_steps(choice, counted)), 0)


def records_on_steps(choice: RankChoice, counted: Counts) -> list[tuple[int, int]]:
    """The steps on which records stand that the choice is about, in order, with their numbers."""
    weights = choice.counted.numerators(counted.attributes, counted.codes)
    codes = counted.codes[:, counted.attributes.index(choice.attribute)]
    steps = choice.ladder.rungs.steps_of(codes).tolist()
    records: dict[int, int] = {}
    for step, weight, number in zip(steps, weights, counted.counts.tolist(), strict=True):
        if step >= 0 and weight and number:
            records[step] = records.get(step, 0) + weight * number
    return sorted(records.items())


def _runs(choice: RankChoice, records: list[tuple[int, int]]) -> Iterator[int]:
    share, (first, last) = choice.share, choice.steps
    place = share.numerator * sum(number for _, number in records)
    below, next_step = 0, first  # den · N before the run, and its first step
    for step, number in records:
        if step > next_step:
            yield from (step - next_step, abs(place - below))
        up_to = below + share.denominator * number
        yield from (1, max(0, below - place, place - up_to))
        below, next_step = up_to, step + 1
    if last >= next_step:
        yield from (last - next_step + 1, abs(place - below))
