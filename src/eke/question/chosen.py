"""Chosen: what a question with a chosen quantile may look like, and what to ask in its place."""

from __future__ import annotations

from eke.errors import AccuracyError, QueryError
from eke.question.ladder import Ladder
from eke.question.question import Question

ALONE = (
    "a chosen quantile is one number of one column, asked for by itself: without GROUP BY, HAVING, "
    "other columns or arithmetic. Ask for several with QUANTILE_DISC, which finds them by counting "
    "and shares the price, or choose one by one with FILTER or WHERE"
)
OF_RANK = (
    "how far a chosen quantile is off is known in records only: write within='1 %' (ERROR WITHIN "
    "1 % in SQL), a share of the records, or say what it may cost with spend=… (SPEND 0.05). For a "
    "half-width in the column's own unit ask for MEDIAN or QUANTILE_DISC"
)


def chosen_ladder(question: Question) -> Ladder | None:
    """The steps that the question has one number chosen among; None for every other question.

    Raises:
        QueryError: when something else is asked for beside it.
    """
    ladders = [column.formula.ladder for column in question.columns]
    wanted = [ladder for ladder in ladders if ladder is not None and ladder.is_chosen]
    if not wanted:
        return None
    (first, *_), is_single = question.blocks, len(question.blocks) == 1
    is_whole = not question.chooses_rows and not question.ranks and not question.offset
    is_shown = is_whole and question.limit != 0 and question.possible in (None, (0,))
    if not (is_single and question.is_number and is_shown) or question.columns[0].finishes:
        raise QueryError(ALONE)
    if first.inside.people or not question.counts_records(0):
        raise QueryError("a quantile is one of some records; give it the number of them")
    return wanted[0]


def check_accuracy(*, is_share: bool, spends: bool, groups_of: int | None) -> None:
    """Raise for an accuracy that a choice cannot have: in the column's own unit, or of groups."""
    if not (is_share or spends):
        raise AccuracyError(OF_RANK)
    if groups_of is not None:
        raise AccuracyError("a chosen quantile has no groups; leave groups_of out")
