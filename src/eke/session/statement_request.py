"""StatementRequest: a SQL statement with the accuracy of each of its columns."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from eke.errors import AccuracyError, EstimateError
from eke.inference import Inference, Posterior
from eke.planning import (
    Decision,
    Facts,
    Policy,
    StatementDemand,
    checked,
    decide_statement,
    policy_named,
    scale_of,
)
from eke.planning.effort import PER_FORMULA, steps_for
from eke.session.answer import Answer
from eke.session.question import Within
from eke.session.record import Finding, Headline, read_text, stored_text
from eke.session.request import InferenceThrough, Work, digest_of, exact_posterior
from eke.session.sql_answer import Cell, SqlAnswer
from eke.sql import Key, Partition, Row, Statement, evaluate

_EXAMPLE = "pass within=… or end the statement with ERROR WITHIN 60 AT CONFIDENCE 0.95"


@dataclass(frozen=True, slots=True)
class StatementRequest:
    """A statement to be answered; every value is to be as accurate as its column demands."""

    demand: StatementDemand
    policy: str
    analyst: str

    @property
    def statement(self) -> Statement:
        return self.demand.statement

    @property
    def in_steps(self) -> bool:
        return bool(self.demand.curved)

    @property
    def headline(self) -> Headline:
        question = " ".join(self.statement.text.split())
        return Headline(question, self.demand.columns[0][1], self.demand.confidence)

    @property
    def digest(self) -> str:
        return digest_of(
            {
                "sql": self.statement.text,
                "within": list(self.demand.within),
                "confidence": self.demand.confidence,
                "policy": self.policy,
            }
        )

    def work(self, rows: int) -> Work:
        groups, curved = self.statement.rows, self.demand.curved
        blocks = self.statement.aggregates
        several = len(blocks) + len(curved) > 1 or any(isinstance(b, Partition) for b in blocks)
        # A formula is approached by one more question: its derivative.
        answers = groups * (len(blocks) + len(curved))
        steps = steps_for(answers, rows, together=several)
        steps += groups * len(curved) * PER_FORMULA
        return Work(answers, steps, _fewer(self.statement, len(curved)))

    def decide(self, facts: Facts, policy: Policy | None = None) -> Decision:
        return decide_statement(self.demand, facts, policy or policy_named(self.policy))

    def text(self, facts: Facts, finding: Finding) -> str:
        statement, inference = self.statement, facts.inference
        rows = [
            Row(keys, tuple(self._estimate(i, place, inference) for i in self._indices))
            for place, keys in enumerate(statement.keys())
        ]
        shown = statement.result(rows)
        cells = [
            [self._cell(column, place, inference) for column in self._value_columns]
            for place in shown
        ]
        widths = [
            (high - low) / 2.0 / within
            for row in cells
            for (_, low, high), (_, within) in zip(row, self.demand.columns, strict=True)
            if low is not None and high is not None
        ]
        known = max(widths, default=0.0) * self.demand.columns[0][1]
        body: dict[str, Any] = {"shown": shown, "cells": cells}
        if self._is_single and cells and cells[0][0][1] is not None:
            # Kept, for history may have grown when it is read: then it would be inferred anew.
            body["variance"] = self._posterior(0, 0, inference).variance
        return stored_text(body, self.headline, known, facts, finding)

    def answer(self, text: str, inference_through: InferenceThrough) -> Answer | SqlAnswer:
        body, receipt = read_text(text)
        cells = body["cells"]
        if self._is_single and cells:
            value, low, high = cells[0][0]

            def posterior() -> Posterior:
                return self._posterior(0, 0, inference_through(receipt.through))

            if value is not None and low is not None:
                return Answer(value, (low, high), body["variance"], receipt, posterior)
        keys = self.statement.keys()
        rows = []
        for place, values in zip(body["shown"], cells, strict=True):
            found = iter([Cell(*cell) for cell in values])
            rows.append(
                tuple(
                    keys[place][column.formula.index]
                    if isinstance(column.formula, Key)
                    else next(found)
                    for column in self.statement.columns
                )
            )
        return SqlAnswer(
            tuple(column.name for column in self.statement.columns),
            tuple(column.is_key for column in self.statement.columns),
            tuple(rows),
            receipt,
        )

    # -- inside --------------------------------------------------------------------------------

    @property
    def _is_single(self) -> bool:
        statement = self.statement
        return not statement.group_by and len(statement.columns) == 1

    @property
    def _indices(self) -> range:
        return range(len(self.statement.aggregates))

    @property
    def _value_columns(self) -> list[int]:
        return [i for i, column in enumerate(self.statement.columns) if not column.is_key]

    def _estimate(self, aggregate: int, row: int, inference: Inference) -> float:
        return exact_posterior(self.statement.query(aggregate, row), inference).value

    def _cell(self, column: int, row: int, inference: Inference) -> list[float | None]:
        posterior = self._posterior(column, row, inference)
        formula = self.statement.columns[column].formula
        scaled = scale_of(formula)
        low, high = posterior.interval(self.demand.confidence)
        value: float | None = posterior.value
        if scaled is not None:  # the posterior is that of the aggregate itself
            ends = [float(evaluate(formula, _at(scaled[0], x))) for x in (low, high)]
            value = float(evaluate(formula, _at(scaled[0], posterior.value)))
            low, high = min(ends), max(ends)
        if value is None or not math.isfinite(value):
            return [None, None, None]
        return [value, *(end if math.isfinite(end) else None for end in (low, high))]

    def _posterior(self, column: int, row: int, inference: Inference) -> Posterior:
        formula = self.statement.columns[column].formula
        scaled = scale_of(formula)
        if scaled is not None:
            return exact_posterior(self.statement.query(scaled[0], row), inference)
        posterior = self.demand.posterior(column, row, inference)
        if posterior is None:
            raise EstimateError("history does not determine this question")
        return posterior


def statement_request(
    statement: Statement, within: Within, confidence: float | None, *, policy: str, analyst: str
) -> StatementRequest:
    """The request for a statement; what it says itself about accuracy must not be said twice."""
    inline = statement.requirement
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
    demand = StatementDemand(
        statement, _by_column(statement, within), 0.95 if confidence is None else confidence
    )
    return StatementRequest(checked(demand), policy, analyst)


def _fewer(statement: Statement, curved: int) -> str:
    """What to leave out of a statement that is too much work."""
    parts = []
    if statement.group_by:
        parts.append(f"group by fewer or coarser keys (there are {statement.rows:,} groups)")
    if len(statement.columns) - len(statement.group_by) > 1:
        values = len(statement.columns) - len(statement.group_by)
        parts.append(f"select fewer columns at a time (there are {values} values)")
    if curved:
        parts.append("leave out formulas such as AVG and STDDEV, and ask for SUM and COUNT")
    text = ", or ".join(parts) or "ask for less at a time"
    return text[0].upper() + text[1:]


def _by_column(
    statement: Statement, within: float | Mapping[str, float]
) -> tuple[float | None, ...]:
    names = [column.name for column in statement.columns if not column.is_key]
    if not isinstance(within, Mapping):
        return tuple(None if column.is_key else within for column in statement.columns)
    unknown = [name for name in within if name not in names]
    lacking = [name for name in names if name not in within]
    if unknown or lacking:
        raise AccuracyError(
            f"within names the half-width of each value column; they are {', '.join(names)}"
        )
    return tuple(None if c.is_key else within[c.name] for c in statement.columns)


def _at(index: int, value: float) -> list[float]:
    """A row of aggregates in which only one is looked at."""
    return [0.0] * index + [value]
