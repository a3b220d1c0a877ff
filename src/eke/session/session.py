"""Session: the public face. A curator creates a protected dataset, analysts ask it questions.

    session = eke.create("adult.eke", data="adult.parquet", domain=domain, epsilon=1.0)
    answer = session.ask(eke.count(age=(30, 40), sex="Female"), within=60, confidence=0.95)

`ask` infers from history; if the interval is narrow enough that is the answer, free. Otherwise the
policy chooses the least noise that suffices and the engine releases it. Questions are written with
`eke.query`; what to measure is decided in `eke.planning`; data is touched in `eke.engine` only.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any, overload

from eke.domain import Domain
from eke.engine import Stale, Vault
from eke.errors import BudgetExceeded, QueryError, Refused
from eke.ledger import Entry, HighWaterMark, Verification
from eke.planning import Decision, Facts, Requirement, policy_named
from eke.privacy.accountant import Measure
from eke.privacy.budget import nano_floor
from eke.privacy.record_loss import NANO
from eke.query import Expression, Marginal, MarginalExpression, Query, describe
from eke.session.answer import Answer, Preview, TableAnswer, advice
from eke.session.budget import Budget
from eke.session.history import History
from eke.session.record import answer_from_text
from eke.session.request import Request

Question = Expression | MarginalExpression | Query | Marginal
_TRIES_ON_A_MOVING_LEDGER = 5
_MOST_CELLS = 4096


class Session:
    """A protected dataset, open for questions. Made by `eke.create` and `eke.open`."""

    def __init__(
        self,
        vault: Vault,
        *,
        measure: Measure,
        policy: str,
        analyst: str,
        settings: Mapping[str, Any],
    ) -> None:
        policy_named(policy)
        self._vault = vault
        self._measure: Measure = measure
        self._policy = policy
        self.analyst = analyst
        self.settings = dict(settings)

    # -- asking --------------------------------------------------------------------------------

    @overload
    def ask(
        self,
        query: Expression | Query,
        within: float,
        confidence: float = ...,
        *,
        key: str | None = ...,
        analyst: str | None = ...,
        policy: str | None = ...,
    ) -> Answer: ...
    @overload
    def ask(
        self,
        query: MarginalExpression | Marginal,
        within: float,
        confidence: float = ...,
        *,
        key: str | None = ...,
        analyst: str | None = ...,
        policy: str | None = ...,
    ) -> TableAnswer: ...
    @overload
    def ask(
        self,
        query: Question,
        within: float,
        confidence: float = ...,
        *,
        key: str | None = ...,
        analyst: str | None = ...,
        policy: str | None = ...,
    ) -> Answer | TableAnswer: ...
    def ask(
        self,
        query: Question,
        within: float,
        confidence: float = 0.95,
        *,
        key: str | None = None,
        analyst: str | None = None,
        policy: str | None = None,
    ) -> Answer | TableAnswer:
        """The answer to a question, at most ± within with this confidence.

        A marginal gives a `TableAnswer`, anything else an `Answer`. With `key` the same request
        gets the same stored answer, however often it is sent and whatever crashes in between.
        Raises `Refused`, having spent nothing, when the budget does not allow it.
        """
        request = self._request(query, within, confidence, policy=policy, analyst=analyst)
        text = None if key is None else self._repeated(request, key)
        for attempt in range(_TRIES_ON_A_MOVING_LEDGER):
            if text is not None:
                break
            last = attempt == _TRIES_ON_A_MOVING_LEDGER - 1
            text = self._answered(request, key, insist=last)
        if text is None:
            raise BudgetExceeded("others spent the budget meanwhile; nothing was spent here")
        return answer_from_text(text, request.asked, self._vault.inference_through)

    def preview(
        self, query: Question, within: float, confidence: float = 0.95, *, policy: str | None = None
    ) -> Preview:
        """Price and source of an answer; spends nothing and touches no data."""
        request = self._request(query, within, confidence, policy=policy)
        with self._vault.lock:
            facts = self._vault.facts()
            return self._preview(request, request.decide(facts), facts)

    # -- looking -------------------------------------------------------------------------------

    @property
    def domain(self) -> Domain:
        return self._vault.domain

    @property
    def budget(self) -> Budget:
        balance = self._vault.ledger.balance()
        return Budget(self._measure, balance.limit, balance.spent)

    @property
    def history(self) -> History:
        """Everything released so far, by anyone."""
        with self._vault.lock:
            facts = self._vault.facts()
            return History(self.domain, self._vault.measurements, facts.inference)

    def change_limit(self, limit: float) -> Budget:
        """Raise or lower the limit, in the dataset's own measure; for the curator.

        Privacy: what people were promised changes with it. The change is an entry of the ledger; a
        limit below what is spent is refused.
        """
        self._vault.change_limit(nano_floor(limit), self.analyst)
        return self.budget

    def ledger_entries(self) -> list[Entry]:
        """The ledger's entries, for reports and audits; they hold no exact answer."""
        return self._vault.ledger.entries()

    def verify(self, mark: str | None = None) -> Verification:
        """Whether the ledger is intact, and not older than a mark that was exported before."""
        known = None if mark is None else HighWaterMark.from_json(mark)
        return self._vault.ledger.verify(known)

    def mark(self) -> str:
        """A high-water mark to keep elsewhere, so that a restored old ledger is noticed."""
        return self._vault.ledger.mark().to_json()

    def __repr__(self) -> str:
        return f"Session({len(self.domain)} attributes, {self.domain.size:,} cells; {self.budget})"

    # -- inside --------------------------------------------------------------------------------

    def _request(
        self,
        query: Question,
        within: float,
        confidence: float,
        *,
        policy: str | None,
        analyst: str | None = None,
    ) -> Request:
        chosen = policy or self._policy
        policy_named(chosen)
        return Request(
            self._bind(query),
            Requirement(within, confidence),
            chosen,
            self._measure,
            analyst or self.analyst,
        )

    def _repeated(self, request: Request, key: str) -> str | None:
        return self._vault.complete(
            analyst=request.analyst, key=key, digest=request.digest, answer=request.measured
        )

    def _answered(self, request: Request, key: str | None, *, insist: bool) -> str | None:
        """The stored text of an answer; None when the ledger moved on: try again."""
        with self._vault.lock:
            facts = self._vault.facts()
            as_of = self._vault.sequence
            decision = request.decide(facts)
            if decision.action == "history":
                text = request.from_history(facts, as_of)
                if key is None:
                    return text
                return self._vault.remember(request.analyst, key, request.digest, text)
            if decision.plan is None:
                refusal = self._preview(request, decision, facts)
                raise Refused(advice(refusal), refusal)
            try:
                return self._vault.release(
                    decision.plan,
                    analyst=request.analyst,
                    key=f"once-{secrets.token_hex(16)}" if key is None else key,
                    digest=request.digest,
                    answer=request.measured,
                    as_of=None if insist else as_of,
                )
            except (Stale, BudgetExceeded):
                return None

    def _bind(self, query: Question) -> Query | Marginal:
        if isinstance(query, (Expression, MarginalExpression)):
            bound: Query | Marginal = query.on(self.domain)
        elif isinstance(query, (Query, Marginal)):
            if query.domain != self.domain:
                raise QueryError("the question is over another domain than this dataset's")
            bound = query
        else:
            raise QueryError(
                "a question is an expression such as eke.count(age=(30, 40)), "
                f"not {type(query).__name__}"
            )
        if isinstance(bound, Marginal) and bound.cells > _MOST_CELLS:
            raise QueryError(
                f"a marginal of {bound.cells:,} cells cannot be asked online; "
                f"at most {_MOST_CELLS:,} can"
            )
        return bound

    def _preview(self, request: Request, decision: Decision, facts: Facts) -> Preview:
        return Preview(
            describe(request.asked),
            request.requirement.within,
            request.requirement.confidence,
            decision.action,
            decision.cost / NANO,
            decision.known,
            decision.narrowest,
            self._measure,
            (facts.limit - facts.accountant.spent) / NANO,
        )
