"""Request: a question with its requirement, who asks, and the text its answer is stored as."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from eke.history import Measurement
from eke.planning import Decision, Facts, Policy, Requirement, decide, policy_named
from eke.privacy.accountant import Measure
from eke.query import Marginal, Query
from eke.session.record import Finding, answer_text


@dataclass(slots=True)
class Request:
    """One request; `decision` is the latest made about it."""

    asked: Query | Marginal
    requirement: Requirement
    policy: str
    measure: Measure
    analyst: str
    decision: Decision | None = field(default=None, init=False)

    @property
    def digest(self) -> str:
        """SHA-256 of what was requested: an idempotency key is bound to it."""
        body = {
            "query": self.asked.to_document(),
            "within": self.requirement.within,
            "confidence": self.requirement.confidence,
            "policy": self.policy,
        }
        return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()

    def decide(self, facts: Facts) -> Decision:
        """What to do about it now."""
        rule: Policy = policy_named(self.policy)
        self.decision = decide(self.asked, self.requirement, facts, rule)
        return self.decision

    def measured(self, facts: Facts, released: Sequence[Measurement], cost: int) -> str:
        """The stored answer after measurements were made for it."""
        finding = Finding(
            "measured",
            released[0].sequence,
            cost=cost,
            price=sum(facts.accountant.price(one.query, one.law) for one in released),
            known=None if self.decision is None else self.decision.known,
            laws=tuple(one.law for one in released),
        )
        return answer_text(self.asked, self.requirement, facts, finding)

    def from_history(self, facts: Facts, through: int) -> str:
        """The stored answer when history suffices."""
        return answer_text(self.asked, self.requirement, facts, Finding("history", through))
