"""Work: how much a request takes, counted before any of it is done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from eke.planning.online.effort import LIGHT_STEPS, check_effort
from eke.question import Question

FEWER_CELLS = "Ask for a marginal over fewer attributes, or for single cells of it"


@dataclass(frozen=True, slots=True)
class Work:
    """How much work a request takes, and what to leave out if that is too much."""

    answers: int
    steps: int
    advice: str

    @property
    def is_light(self) -> bool:
        """True when it is done in no time."""
        return self.answers == 1 or self.steps <= LIGHT_STEPS

    def check(self) -> None:
        """Raise `QueryError` if it is too much for one request; nothing has been done by then."""
        check_effort(self.steps, self.answers, self.advice)


def combined_work(each: Sequence[Work]) -> Work:
    """Several pieces of work as one."""
    advice = each[0].advice
    if len(each) > 1:
        advice = f"Ask for fewer than {len(each)} half-widths at a time. {advice}"
    return Work(sum(one.answers for one in each), sum(one.steps for one in each), advice)


def less_to_ask(question: Question, curved: int) -> str:
    """What to leave out of a question that is too much work."""
    parts = []
    if question.group_by:
        parts.append(f"group by fewer or coarser keys (there are {len(question.places):,} groups)")
    values = len(question.columns) - len(question.group_by)
    if values > 1:
        parts.append(f"select fewer columns at a time (there are {values} values)")
    if curved:
        parts.append("leave out formulas such as AVG and STDDEV, and ask for SUM and COUNT")
    text = ", or ".join(parts) or "ask for less at a time"
    return text[0].upper() + text[1:]
