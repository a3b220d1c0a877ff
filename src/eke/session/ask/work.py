"""Work: how much a request takes, counted before any of it is done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from eke.inference import Inference
from eke.planning import QuestionDemand
from eke.planning.online import effort
from eke.planning.online.effort import (
    LIGHT_STEPS,
    MOST_STEPS,
    PER_FORMULA,
    PER_RATIO,
    check_effort,
    quantile_steps,
    steps_for,
    table_steps,
)
from eke.planning.online.facts import MANY_CELLS
from eke.planning.online.price_search import LEAST_PLANS, MOST_PLANS
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

    @property
    def is_allowed(self) -> bool:
        """True unless it is too much for one request."""
        return self.steps <= effort.MOST_STEPS

    def check(self) -> None:
        """Raise `QueryError` if it is too much for one request; nothing has been done by then."""
        check_effort(self.steps, self.answers, self.advice)


def combined_work(each: Sequence[Work]) -> Work:
    """Several pieces of work as one."""
    advice = each[0].advice
    if len(each) > 1:
        advice = f"Ask for fewer than {len(each)} half-widths at a time. {advice}"
    return Work(sum(one.answers for one in each), sum(one.steps for one in each), advice)


def work_of(demand: QuestionDemand, inference: Inference, *, spends: bool) -> Work:
    """How much work deciding about a question and answering it take with what is known."""
    question, curved = demand.question, demand.curved
    groups, blocks, rows = len(question.places), question.blocks, len(inference.rows)
    table = demand.table if groups > MANY_CELLS else None
    if table is not None:
        prices = 2 if spends else 1
        steps = prices * table_steps(groups, inference.kinds(table), rows)
        return Work(groups, steps, less_to_ask(question, 0))
    several = len(blocks) + len(curved) > 1 or any(block.grouped is None for block in blocks)
    # A formula is approached by one more question: its derivative.
    answers = groups * (len(blocks) + len(curved))
    steps = steps_for(answers, rows, together=several)
    intervals = _steps_for_intervals(demand)
    if demand.relative:  # formulas are looked at twice
        steps += intervals
    if spends:  # planned more than once, but looked up only once
        steps *= plans_for(demand, rows) if several else 2
    steps += intervals
    for _, _, ladder, _ in demand.quantiles:
        steps += quantile_steps(groups, ladder.rungs.entries, rows)
    return Work(answers, steps, less_to_ask(question, len(curved)))


def looking_work(demand: QuestionDemand, inference: Inference) -> Work | None:
    """How much work it takes to see whether history is accurate enough, and to answer from it.

    None when it is not worth a look: the first row is not known at all.
    """
    question, rows = demand.question, len(inference.rows)
    first = [
        question.query(k, row) for row in question.places[:1] for k in range(len(question.blocks))
    ]
    if not first or any(inference.estimate(query) is None for query in first):
        return None
    answers = len(question.places) * len(question.blocks)
    steps = steps_for(answers, rows, together=False) + _steps_for_intervals(demand)
    for _, _, ladder, _ in demand.quantiles:
        steps += quantile_steps(len(question.places), ladder.rungs.entries, rows)
    return Work(answers, steps, less_to_ask(question, len(demand.curved)))


def plans_for(demand: QuestionDemand, rows: int) -> int:
    """How many plans a price is searched for with: fewer for what is much work."""
    groups, curved = len(demand.question.places), len(demand.curved)
    answers = groups * (len(demand.question.blocks) + curved)
    left = MOST_STEPS - _steps_for_intervals(demand)
    affordable = left // steps_for(answers, rows, together=True)
    return min(max(affordable, LEAST_PLANS), MOST_PLANS)


def _steps_for_intervals(demand: QuestionDemand) -> int:
    """The steps for the intervals of the formulas in every group."""
    each = [
        PER_FORMULA if formula.over(places).ratio(len(places)) is None else PER_RATIO
        for formula, _ in demand.curved
        for places in [formula.aggregates()]
    ]
    return len(demand.question.places) * sum(each)


def less_to_ask(question: Question, curved: int) -> str:
    """What to leave out of a question that is too much work."""
    parts = []
    if question.group_by:
        parts.append(f"group by fewer or coarser keys (there are {len(question.places):,} groups)")
    values = sum(not column.is_key for column in question.columns)
    if values > 1:
        parts.append(f"select fewer columns at a time (there are {values} values)")
    if curved:
        parts.append("leave out formulas such as AVG and STDDEV, and ask for SUM and COUNT")
    text = ", or ".join(parts) or "ask for less at a time"
    return text[0].upper() + text[1:]
