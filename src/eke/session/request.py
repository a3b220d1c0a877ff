"""Requests: a question with its requirement and who asks; what to do about it, and its answer."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from eke.errors import EstimateError
from eke.history import Measurement
from eke.inference import ExactPosterior, Inference, Posterior
from eke.planning import Decision, Facts, Policy, Requirement, decide, policy_named
from eke.planning.effort import LIGHT_STEPS, check_effort, steps_for
from eke.query import Marginal, Query, describe
from eke.session.answer import Answer, TableAnswer
from eke.session.record import Finding, Headline, noise_text, read_text, stored_text
from eke.session.sql_answer import SqlAnswer

AnyAnswer: TypeAlias = Answer | TableAnswer | SqlAnswer
InferenceThrough: TypeAlias = Callable[[int], Inference]


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


class Request(Protocol):
    """What the session needs of a request, whatever form the question has."""

    @property
    def analyst(self) -> str: ...

    @property
    def headline(self) -> Headline: ...

    @property
    def digest(self) -> str:
        """SHA-256 of what was requested: an idempotency key is bound to it."""
        ...

    @property
    def in_steps(self) -> bool:
        """True when one measurement may not be the end of it."""
        ...

    def work(self, rows: int) -> Work:
        """How much work deciding and answering take with so many single answers in the history."""
        ...

    def decide(self, facts: Facts, policy: Policy | None = None) -> Decision:
        """What to do about it now, by the policy asked for or another one."""
        ...

    def text(self, facts: Facts, finding: Finding) -> str:
        """The stored answer from the facts as they are now."""
        ...

    def answer(self, text: str, inference_through: InferenceThrough) -> AnyAnswer:
        """The answer that a stored text holds; its posterior is computed when somebody looks."""
        ...


def digest_of(body: dict[str, Any]) -> str:
    """SHA-256 of a request."""
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


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


@dataclass(frozen=True, slots=True)
class QueryRequest:
    """A linear question, or a block of them, with one requirement."""

    asked: Query | Marginal
    requirement: Requirement
    policy: str
    analyst: str
    in_steps: bool = field(default=False, init=False)

    @property
    def headline(self) -> Headline:
        wanted = self.requirement
        return Headline(describe(self.asked), wanted.within, wanted.confidence)

    @property
    def digest(self) -> str:
        return digest_of(
            {
                "query": self.asked.to_document(),
                "within": self.requirement.within,
                "confidence": self.requirement.confidence,
                "policy": self.policy,
            }
        )

    def work(self, rows: int) -> Work:
        cells = self.asked.cells if isinstance(self.asked, Marginal) else 1
        return Work(cells, steps_for(cells, rows, together=False), FEWER_CELLS)

    def decide(self, facts: Facts, policy: Policy | None = None) -> Decision:
        return decide(self.asked, self.requirement, facts, policy or policy_named(self.policy))

    def text(self, facts: Facts, finding: Finding) -> str:
        cells = []
        for posterior in _posteriors(self.asked, facts.inference):
            low, high = posterior.interval(self.requirement.confidence)
            cells.append([posterior.value, low, high, posterior.variance])
        known = max((high - low) / 2.0 for _, low, high, _ in cells)
        return stored_text({"cells": cells}, self.headline, known, facts, finding)

    def answer(self, text: str, inference_through: InferenceThrough) -> Answer | TableAnswer:
        body, receipt = read_text(text)

        def posteriors() -> list[Posterior]:
            return _posteriors(self.asked, inference_through(receipt.through))

        cells = body["cells"]
        if isinstance(self.asked, Query):
            value, low, high, variance = cells[0]
            return Answer(value, (low, high), variance, receipt, lambda: posteriors()[0])
        return TableAnswer(
            self.asked.attributes,
            tuple(self.asked.keys()),
            tuple(cell[0] for cell in cells),
            tuple((cell[1], cell[2]) for cell in cells),
            tuple(cell[3] for cell in cells),
            receipt,
            posteriors,
        )


def exact_posterior(query: Query, inference: Inference) -> ExactPosterior:
    """What history says about a question that it determines."""
    known = inference.linear(query)
    if known is None:
        raise EstimateError("history does not determine this question")
    return ExactPosterior(*known)


def _posteriors(asked: Query | Marginal, inference: Inference) -> list[Posterior]:
    return [exact_posterior(single, inference) for single in asked.queries()]
