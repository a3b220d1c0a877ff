"""Request: a question with its accuracy and who asks; what to do about it, and its answer."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from eke.errors import AccuracyError, EstimateError
from eke.history import Measurement
from eke.inference import ExactPosterior, Inference, Posterior
from eke.planning import (
    Decision,
    Facts,
    Policy,
    QuestionDemand,
    Requirement,
    checked,
    decide,
    policy_named,
)
from eke.planning.online.effort import LIGHT_STEPS, PER_FORMULA, check_effort, steps_for
from eke.query import Query
from eke.question import Key, Question, ResultRow
from eke.session.answer.answer import Answer, Cell
from eke.session.answer.qualified import qualified
from eke.session.answer.record import (
    Finding,
    Headline,
    answer_body,
    noise_text,
    read_rows,
    read_text,
    stored_text,
)

InferenceThrough: TypeAlias = Callable[[int], Inference]
Within: TypeAlias = float | Mapping[str, float] | None
"""A half-width for all values, one for each column of values, or none given."""

DEFAULT_CONFIDENCE = 0.95
FEWER_CELLS = "Ask for a marginal over fewer attributes, or for single cells of it"
_EXAMPLE = (
    "pass within=…, for example within=60, or end SQL with ERROR WITHIN 60 AT CONFIDENCE 0.95"
)


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


@dataclass(frozen=True, slots=True)
class Request:
    """A question to be answered; every value is to be as accurate as its column demands."""

    demand: QuestionDemand
    policy: str
    analyst: str

    @property
    def question(self) -> Question:
        return self.demand.question

    @property
    def in_steps(self) -> bool:
        """True when one measurement may not be the end of it."""
        return bool(self.demand.curved)

    @property
    def headline(self) -> Headline:
        return Headline(self.question.text, self.demand.columns[0][1], self.demand.confidence)

    @property
    def digest(self) -> str:
        """SHA-256 of what was requested: an idempotency key is bound to it."""
        within: Any = list(self.demand.within)
        body = {
            **self.question.identity,
            "within": within[-1] if self.question.is_block else within,
            "confidence": self.demand.confidence,
            "policy": self.policy,
        }
        return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()

    def work(self, rows: int) -> Work:
        """How much work deciding and answering take with so many single answers in the history."""
        groups, curved = len(self.question.places), self.demand.curved
        blocks = self.question.blocks
        several = len(blocks) + len(curved) > 1 or any(block.grouped is None for block in blocks)
        # A formula is approached by one more question: its derivative.
        answers = groups * (len(blocks) + len(curved))
        steps = steps_for(answers, rows, together=several)
        steps += groups * len(curved) * PER_FORMULA
        return Work(answers, steps, _fewer(self.question, len(curved)))

    def decide(self, facts: Facts, policy: Policy | None = None) -> Decision:
        """What to do about it now, by the policy asked for or another one."""
        return decide(self.demand, facts, policy or policy_named(self.policy))

    def text(self, facts: Facts, finding: Finding) -> str:
        """The stored answer from the facts as they are now."""
        question, inference = self.question, facts.inference
        shown = list(question.places) if _keeps_all(question) else self._shown(inference)
        cells = [
            [self._cell(column, place, inference) for column in self._value_columns]
            for place in shown
        ]
        first = self.demand.columns[0][1]
        widths = [
            (cell.high - cell.low) / 2.0 * (first / within)
            for row in cells
            for cell, (_, within) in zip(row, self.demand.columns, strict=True)
            if cell.low is not None and cell.high is not None
        ]
        body = {**answer_body(question, shown, cells), **self._asked}
        return stored_text(body, self.headline, max(widths, default=0.0), facts, finding)

    def answer(self, text: str, inference_through: InferenceThrough) -> Answer:
        """The answer that a stored text holds; its posteriors are computed when somebody looks."""
        body, receipt = read_text(text)
        question = self.question
        keys = question.keys()
        shown, cells = read_rows(question, body)

        def belief(row: int, column: int) -> Posterior:
            return self._belief(column, shown[row], inference_through(receipt.through))

        rows = []
        for place, values in zip(shown, cells, strict=True):
            found = iter(values)
            rows.append(
                tuple(
                    keys[place][column.formula.index]
                    if isinstance(column.formula, Key)
                    else next(found)
                    for column in question.columns
                )
            )
        answer = Answer(
            tuple(column.name for column in question.columns),
            tuple(column.is_key for column in question.columns),
            tuple(rows),
            receipt,
            question.is_named,
            question.is_block,
            belief,
        )
        return qualified(answer, question)

    # -- inside --------------------------------------------------------------------------------

    @property
    def _asked(self) -> dict[str, Any]:
        """What to send to ask the same in SQL again, in the words of the HTTP API."""
        sql, inline = self.question.identity.get("sql"), self.question.requirement
        if sql is None:
            return {}
        asked: dict[str, Any] = {"sql": sql, "policy": self.policy}
        if inline is None:
            pairs = zip(self.question.columns, self.demand.within, strict=True)
            widths = {column.name: width for column, width in pairs if width is not None}
            first, *others = widths.values()
            asked["within"] = first if all(one == first for one in others) else widths
        if inline is None or inline.confidence is None:
            asked["confidence"] = self.demand.confidence
        return {"asked": asked}

    def _shown(self, inference: Inference) -> list[int]:
        """The places of the rows after HAVING, ORDER BY and LIMIT, by the estimates."""
        keys = self.question.keys()
        rows = [
            ResultRow(
                keys[row],
                tuple(
                    self._estimate(block, row, inference)
                    for block in range(len(self.question.blocks))
                ),
            )
            for row in self.question.places
        ]
        return [self.question.places[place] for place in self.question.result(rows)]

    def _estimate(self, block: int, row: int, inference: Inference) -> float:
        return exact_posterior(self.question.query(block, row), inference).value

    @property
    def _value_columns(self) -> list[int]:
        return [i for i, column in enumerate(self.question.columns) if not column.is_key]

    def _cell(self, column: int, row: int, inference: Inference) -> Cell:
        posterior = self._posterior(column, row, inference)
        formula = self.question.columns[column].formula
        scaled = formula.scale()
        low, high = posterior.interval(self.demand.confidence)
        value: float | None = posterior.value
        if scaled is not None:  # the posterior is that of the answer itself
            ends = [float(formula.value(_at(scaled[0], x))) for x in (low, high)]
            value = float(formula.value(_at(scaled[0], posterior.value)))
            low, high = min(ends), max(ends)
        if value is None or not math.isfinite(value):
            return Cell(None, None, None)
        # Kept, for history may have grown when it is read: then it would be inferred anew. Of a
        # formula it takes many draws, and is kept where it is the only one.
        keeps = self.question.is_block or (self.question.is_number and math.isfinite(low))
        variance = posterior.variance if keeps else None
        first, last = (end if math.isfinite(end) else None for end in (low, high))
        return Cell(value, first, last, variance)

    def _belief(self, column: int, row: int, inference: Inference) -> Posterior:
        """What is known about a cell itself, scaled and shifted as its column is."""
        formula = self.question.columns[column].formula
        scaled = formula.scale()
        if scaled is None or scaled[1] == 1.0:
            return self._posterior(column, row, inference)
        place = scaled[0]
        shift, moved = (formula.value(_at(place, Fraction(x))) for x in (0, 1))
        query = (moved - shift) * self.question.query(place, row)
        return exact_posterior(Query(query.domain, query.terms, query.constant + shift), inference)

    def _posterior(self, column: int, row: int, inference: Inference) -> Posterior:
        """What is known about a cell, or about the answer that it is, scaled and shifted."""
        scaled = self.question.columns[column].formula.scale()
        if scaled is not None:
            return exact_posterior(self.question.query(scaled[0], row), inference)
        posterior = self.demand.posterior(column, row, inference)
        if posterior is None:
            raise EstimateError("history does not determine this question")
        return posterior


def request_of(
    question: Question, within: Within, confidence: float | None, *, policy: str, analyst: str
) -> Request:
    """The request for a question; what it says itself about accuracy must not be said twice."""
    inline = question.requirement
    if inline is not None:
        if within is not None or (confidence is not None and inline.confidence is not None):
            raise AccuracyError(
                "the accuracy is given twice: in the statement (ERROR WITHIN …) and as a "
                "parameter; keep one of them"
            )
        within = inline.within
        confidence = inline.confidence if confidence is None else confidence
    if within is None:
        raise AccuracyError(f"how accurate must the answer be? {_EXAMPLE}")
    sure = DEFAULT_CONFIDENCE if confidence is None else confidence
    widths = _by_column(question, within)
    if question.is_block:  # the digests of such requests have always been made of plain floats
        (wanted,) = (Requirement(width, sure) for width in widths if width is not None)
        widths = tuple(None if width is None else wanted.within for width in widths)
        sure = wanted.confidence
    demand = checked(QuestionDemand(question, widths, sure))
    return Request(demand, policy, analyst)


def finding_of(
    facts: Facts, released: Sequence[Measurement], cost: int, known: float | None
) -> Finding:
    """How an answer came about that measurements were made for."""
    return Finding(
        "measured",
        released[0].sequence,
        cost=cost,
        price=sum(facts.accountant.price(one.query, one.law) for one in released),
        known=known,
        noise=noise_text([one.law for one in released]),
    )


def exact_posterior(query: Query, inference: Inference) -> ExactPosterior:
    """What history says about a question that it determines."""
    known = inference.linear(query)
    if known is None:
        raise EstimateError("history does not determine this question")
    return ExactPosterior(*known)


def _keeps_all(question: Question) -> bool:
    """True when every row is shown, in its declared order."""
    bounded = question.limit is not None or question.offset
    return question.having is None and not question.order_by and not bounded


def _fewer(question: Question, curved: int) -> str:
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


def _by_column(question: Question, within: float | Mapping[str, float]) -> tuple[Any, ...]:
    names = [column.name for column in question.columns if not column.is_key]
    if not isinstance(within, Mapping):
        return tuple(None if column.is_key else within for column in question.columns)
    unknown = [name for name in within if name not in names]
    lacking = [name for name in names if name not in within]
    if unknown or lacking:
        raise AccuracyError(
            f"within names the half-width of each value column; they are {', '.join(names)}"
        )
    return tuple(None if c.is_key else within[c.name] for c in question.columns)


def _at(index: int, value: float | Fraction) -> list[float | Fraction]:
    """A row of answers in which only one is looked at."""
    return [Fraction(0)] * index + [value]
