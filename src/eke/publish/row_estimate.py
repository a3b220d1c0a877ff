"""Row estimate: a number computed from published rows, with the interval that it deserves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from statistics import NormalDist
from typing import Any

import numpy as np

from eke.arrays import Codes
from eke.domain import Domain
from eke.errors import QueryError
from eke.publish.row_accuracy import RowAccuracy, RowErrors
from eke.publish.row_form import RowForm, added_by
from eke.query import Query
from eke.question import Column, Question, bias, caveats
from eke.question.finish import finished_interval
from eke.question.formula import Formula
from eke.question.posed import Asked, question_of
from eke.sql import parse

_STEP = 1e-5


@dataclass(frozen=True, slots=True)
class RowEstimate:
    """A number computed from synthetic rows. Made by `Published.estimate`.

    Attributes:
        value: what the rows say, for as many records as there are estimated to be; None if they say
            nothing, such as the mean of nobody.
        interval: where the number of the real table is, with this confidence; None where nothing
            honest can be said, and `reason` says why.
        confidence: how often such intervals hold it, at least.
        errors: the standard deviations by noise, misfit and sampling; None without an interval.
        reason: why there is no interval.
        question: what was asked, in words.
        caveats: what bins, bounds and rules of the domain leave open; a sentence each. By as much
            as bins may change an average the interval is wider already.
    """

    value: float | None
    interval: tuple[float, float] | None
    confidence: float
    errors: RowErrors | None = None
    reason: str = ""
    question: str = ""
    caveats: tuple[str, ...] = ()

    def qualified(self, question: Question) -> RowEstimate:
        """The same with what the domain leaves open of its question, in its interval or in words.

        What SQL does to the number at last, such as ROUND, is done to both ends, too.
        """
        column, _ = _number_of(question)
        said = tuple(dict.fromkeys((*caveats(question), *self.caveats)))
        value, interval, reason = self.value, self.interval, self.reason
        if interval is not None and (off := bias(question, column.formula)):
            interval = (interval[0] - off, interval[1] + off)
        if column.finishes:
            ends, bounds = interval or (None, None), question.bounds(column.formula)
            value, low, high = finished_interval(column.finishes, value, ends, bounds)
            if interval is not None:
                interval = None if low is None or high is None else (low, high)
                reason = reason if interval else "what is made of it at last has no bound"
        made = replace(self, value=value, interval=interval, reason=reason)
        errors = None if interval is None else self.errors
        return replace(made, errors=errors, question=question.text, caveats=said)

    def explain(self) -> str:
        """A few lines: the question, the value, where the real number is, and why so wide."""
        if self.interval is None or self.errors is None or self.value is None:
            value = "No value" if self.value is None else f"{self.value:,.6g}"
            return f"{self.question}\n{value}, without an interval: {self.reason}."
        (low, high), parts = self.interval, self.errors
        lies = (
            f"{self.value:,.6g}, and with probability {self.confidence:.4g} the real number is "
            f"between {low:,.6g} and {high:,.6g}."
        )
        why = (
            f"Standard deviations: {parts.noise:.3g} by the noise of what was measured, "
            f"{parts.misfit:.3g} by what rows do not know of columns together, "
            f"{parts.sampling:.3g} by being so many rows."
        )
        free = "Free: it reads published rows."
        return "\n".join((self.question, lies, why, free, *self.caveats))

    def to_dict(self) -> dict[str, Any]:
        """Plain values; `low`, `high` and `errors` are None without an interval."""
        low, high = (None, None) if self.interval is None else self.interval
        return {
            "question": self.question,
            "value": self.value,
            "low": low,
            "high": high,
            "confidence": self.confidence,
            "errors": None if self.errors is None else asdict(self.errors),
            "reason": self.reason,
            "caveats": list(self.caveats),
        }

    def __str__(self) -> str:
        if self.interval is None or self.errors is None or self.value is None:
            return f"{self.value} without an interval: {self.reason}"
        low, high = self.interval
        parts = self.errors
        return (
            f"{self.value:,.6g}, from {low:,.6g} to {high:,.6g} ({self.confidence:.0%}; "
            f"deviations: noise {parts.noise:.3g}, misfit {parts.misfit:.3g}, "
            f"sampling {parts.sampling:.3g})"
        )


def estimate_from_rows(
    domain: Domain,
    columns: Mapping[str, Codes],
    receipt: Mapping[str, Any],
    asked: Asked,
    confidence: float,
) -> RowEstimate:
    """The estimate of a question from published rows. Privacy: reads what was released."""
    if not isinstance(confidence, float) or not 0.0 < confidence < 1.0:
        raise QueryError("confidence is a number between 0 and 1, such as 0.95")
    question = parse(asked, domain) if isinstance(asked, str) else question_of(asked, domain)
    return _estimated(question, columns, receipt, confidence).qualified(question)


def _estimated(
    question: Question,
    columns: Mapping[str, Codes],
    receipt: Mapping[str, Any],
    confidence: float,
) -> RowEstimate:
    domain = question.domain
    column, queries = _number_of(question)
    names = domain.in_order({name for query in queries for name in query.attributes})
    hidden = [name for name in names if name not in columns]
    if hidden:
        raise QueryError(f"the rows do not have {', '.join(hidden)}; ask about what was published")
    rows = max((len(codes) for codes in columns.values()), default=0)
    document, total = receipt.get("accuracy"), float(receipt.get("total", rows))
    answers = [
        float(query.constant) + total / max(rows, 1) * float(added_by(query, columns, rows).sum())
        for query in queries
    ]
    value = column.formula.value(answers)
    value = None if value is None or not np.isfinite(float(value)) else float(value)
    reason = _unknown(document, names, value, rows)
    if document is None or value is None or reason:
        return RowEstimate(value, None, confidence, reason=reason)
    slopes = _slopes(column, answers)
    if slopes is None:
        return RowEstimate(value, None, confidence, reason="it has no value next to this one")
    accuracy = RowAccuracy.from_document(document)
    errors = accuracy.errors(RowForm.of(queries, slopes, columns))
    half = NormalDist().inv_cdf(0.5 + confidence / 2.0) * errors.together
    return RowEstimate(value, (value - half, value + half), confidence, errors)


def _number_of(question: Question) -> tuple[Column, list[Query]]:
    """The one column of a question that has one number for an answer, and what it is made of."""
    shown = [column for column in question.columns if not column.is_key]
    singles = [block for block in question.blocks if block.grouped == ()]
    queries = [query for block in singles for query in block.queries()]
    if (
        len(shown) != 1
        or question.group_by
        or question.having is not None
        or shown[0].rank is not None
        or any(one.ladder is not None for one in _within(shown[0].formula))
        or len(queries) < len(question.blocks)
        or any(query.people for query in queries)
    ):
        raise QueryError(
            "rows are asked for one number at a time, of counts and sums of records: a count, a "
            "sum, an average, a variance or a ratio; other figures can be computed from the rows, "
            "and have no interval"
        )
    return shown[0], queries


def _within(formula: Formula) -> Iterator[Formula]:
    """A formula and all that it is made of."""
    yield formula
    for part in formula.parts:
        yield from _within(part)


def _unknown(
    document: Mapping[str, Any] | None, names: tuple[str, ...], value: float | None, rows: int
) -> str:
    """Why nothing can be said about the error; empty if something can."""
    if value is None or not rows:
        return "the rows have nobody to compute it from"
    if document is None:
        return (
            "the receipt of these rows does not say how far they are from the table; rows that "
            "max_entropy publishes for a budget say so"
        )
    if len(names) > document["columns"]:
        return (
            f"rows were compared with the table in at most {document['columns']} columns together, "
            f"and this is about {len(names)}"
        )
    if len(names) > 1 and document["spread"] is None:
        return "no table of two columns was measured, so that nobody knows how far rows are off"
    return ""


def _slopes(column: Column, answers: list[float]) -> list[float] | None:
    """How the number moves with each answer."""
    slopes = []
    for place, answer in enumerate(answers):
        step = _STEP * max(abs(answer), 1.0)
        ends = [
            column.formula.value([*answers[:place], answer + by, *answers[place + 1 :]])
            for by in (step, -step)
        ]
        if ends[0] is None or ends[1] is None:
            return None
        slopes.append((float(ends[0]) - float(ends[1])) / (2.0 * step))
    return slopes
