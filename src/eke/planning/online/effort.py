"""Effort: how much work a decision or an estimate takes, counted before any of it is done.

Whoever asks decides how many answers they want, and looking costs nothing, so the work must be
bounded by what is asked and not by somebody's patience. Work is counted in steps, which are the
same on every machine: an answer takes some steps by itself, and is compared with each pair of the
answers that are known, or asked with it. A request of more steps than `MOST_STEPS` is refused
before it begins, with what to leave out.
"""

from __future__ import annotations

import math

from eke.errors import QueryError

PER_ANSWER = 2**18
"""Steps for an answer by itself: its canonical form, its law, its interval."""
PER_RATIO = 2**20
"""Steps for the interval of a ratio, such as an average: they are searched for together."""
PER_FORMULA = 2**24
"""Steps for the interval of another formula, which is drawn."""
PER_CELL = 2**14
"""Steps for a cell of a plain table of counts: all are estimated at once, and written down."""
TOGETHER = 3
"""How many times the work of a comparison it is where several blocks are planned together: each is
looked at as if those before it were known, and for that they are taken in."""
PARTS_OF_A_QUANTILE = 64
"""Counts by which a quantile is found in a group, and places in which it is sought."""
PER_ENTRY = 2**5
"""Steps for an entry of a vector, a code of a column, in one of these counts."""
MOST_STEPS = 2**33
"""Of one request: some seconds of a processor."""
LIGHT_STEPS = 2**26
"""A request of so few steps, or for one answer, need not wait for its turn: milliseconds."""


def steps_for(answers: int, rows: int, *, together: bool) -> int:
    """The steps for some answers from a history of so many single answers."""
    if not together:
        return answers * (PER_ANSWER + rows**2)
    return answers * (PER_ANSWER + TOGETHER * (rows + answers) ** 2)


def quantile_steps(groups: int, entries: int, rows: int) -> int:
    """The steps for a quantile in every group, of a column whose vectors have so many entries.

    Each group is looked at in some sixty places and counted in as many parts until it is found, and
    every part is a vector over the column.
    """
    measured = groups * PARTS_OF_A_QUANTILE
    looks = steps_for(measured, rows + measured, together=False)
    return looks + measured * entries * PER_ENTRY


def table_steps(cells: int, kinds: int, rows: int) -> int:
    """The steps for a plain table of counts whose cells are of so many kinds.

    Of each kind one answer is looked at, with the weight of every cell in it.
    """
    return cells * PER_CELL + kinds * (PER_ANSWER + rows**2 + TOGETHER * cells)


def check_effort(steps: int, answers: int, advice: str) -> None:
    """Raise `QueryError` when a request takes too many steps."""
    if steps > MOST_STEPS:
        share = math.ceil(steps / MOST_STEPS)
        raise QueryError(
            f"this takes {steps:,} steps of work for {answers:,} answers, {share:,} times what one "
            f"request may take ({MOST_STEPS:,}); nothing was spent. {advice}"
        )
