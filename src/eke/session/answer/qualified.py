"""Qualified: an answer with what the domain leaves open of it, in its intervals or in words."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from eke.inference import Posterior, WidenedPosterior
from eke.question import Question, bias, caveats
from eke.question.finish import finished_interval
from eke.question.ladder import Ladder
from eke.session.answer.answer import Answer
from eke.session.answer.cell import Cell


def qualified(answer: Answer, question: Question, more: tuple[str, ...] = ()) -> Answer:
    """The answer to a question, its intervals widened by what bins leave open, with its caveats.

    Nothing of it is stored: it follows from the question and the public domain; `more` is what
    else is to be said.
    """
    off = [bias(question, column.formula) or 0.0 for column in question.columns]
    said = tuple(dict.fromkeys((*more, *caveats(question), *answer.caveats)))
    answer = _stepped(answer, question)
    if not any(off):
        return _told(_finished(replace(answer, caveats=said), question), question)

    def belief(row: int, column: int) -> Posterior:
        posterior = answer.belief(row, column)
        return WidenedPosterior(posterior, off[column]) if off[column] else posterior

    rows = [
        tuple(cell.widened(by) if by else cell for cell, by in zip(row, off, strict=True))
        for row in answer.rows
    ]
    widened = replace(answer, rows=tuple(rows), caveats=said, _belief=belief)
    return _told(_finished(widened, question), question)


def _stepped(answer: Answer, question: Question) -> Answer:
    """The answer with quantiles as far from their steps as the table's own numbers may be."""
    ladders = [column.formula.ladder for column in question.columns]
    if not any(ladder is not None and not ladder.rungs.is_exact for ladder in ladders):
        return answer

    def shown(ladder: Ladder | None, cell: Any) -> Any:
        if ladder is None or cell.low is None or cell.high is None:
            return cell
        low, high = ladder.outwards(cell.low, cell.high)
        return replace(cell, low=low, high=high)

    rows = [
        tuple(shown(ladder, cell) for ladder, cell in zip(ladders, row, strict=True))
        for row in answer.rows
    ]
    return replace(answer, rows=tuple(rows))


def _told(answer: Answer, question: Question) -> Answer:
    """The answer with quantiles of dates and times as texts of these."""
    calendars = [column.formula.calendar for column in question.columns]
    if not any(calendars):
        return answer
    rows = [
        tuple(
            cell if calendar is None else cell.told(calendar)
            for calendar, cell in zip(calendars, row, strict=True)
        )
        for row in answer.rows
    ]
    return replace(answer, rows=tuple(rows))


def _finished(answer: Answer, question: Question) -> Answer:
    """The answer with what SQL does to its columns at last; beliefs stay those before it."""
    if not any(column.finishes for column in question.columns):
        return answer
    bounds = [question.bounds(column.formula) for column in question.columns]

    def shown(place: int, cell: Any) -> Any:
        finishes = question.columns[place].finishes
        if not finishes:
            return cell
        ends = (cell.low, cell.high)
        return Cell(*finished_interval(finishes, cell.value, ends, bounds[place]), cell.variance)

    rows = [tuple(shown(place, cell) for place, cell in enumerate(row)) for row in answer.rows]
    return replace(answer, rows=tuple(rows))
