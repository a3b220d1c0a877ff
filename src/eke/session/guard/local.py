"""Guarded claims of a dataset on this machine: tied to its domain, and written down."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from eke.engine.guarding import claim_probability, guard, is_closed, lift
from eke.errors import QueryError
from eke.history.guarded import GuardedClaim
from eke.session.ask.claim import ClaimText, claimed
from eke.session.guard.guarding import Guarding, GuardState
from eke.session.outside.statement import Shown, linear_table

if TYPE_CHECKING:
    from eke.engine import Vault
    from eke.question import Question
    from eke.question.posed import Asked
    from eke.session.ask.question_store import QuestionStore

_LINEAR = (
    "a guarded claim is about one count or sum, such as SELECT COUNT(*) FROM t WHERE age > 40; of "
    "an average or a ratio guard what it is made of, of a table its cells one by one"
)


class GuardingHere(Guarding):
    """The guarded claims of a session."""

    _vault: Vault
    _questions: QuestionStore
    analyst: str

    def guard(
        self, query: Asked, claim: str, *, threshold: float, note: str = "", by: str | None = None
    ) -> int:
        question = claimed(self._questions.of(query))
        told = guarded_claim(question, ClaimText.read(claim), threshold, note, by or self.analyst)
        return guard(self._vault.ledger, self._vault.domain, told)

    @property
    def guards(self) -> tuple[GuardState, ...]:
        now = self._vault.snapshot()
        inference = now.facts.inference
        return tuple(
            GuardState(
                claim.sequence,
                claim.at,
                claim.by,
                claim.question,
                claim.text,
                claim.threshold,
                claim.note,
                claim_probability(claim, inference),
                is_closed(claim, inference),
            )
            for claim in now.guards
        )

    def lift(self, sequence: int, *, by: str | None = None) -> None:
        lift(self._vault.ledger, self._vault.domain, sequence, by or self.analyst)


def guarded_claim(
    question: Question, said: ClaimText, threshold: float, note: str, by: str
) -> GuardedClaim:
    """A claim about a question, in the numbers that are measured for it."""
    block, keys = linear_table(question, _LINEAR)
    if not block.is_single or len(keys) != 1:
        raise QueryError(_LINEAR)
    shown = Shown.of(question)
    lower, upper = sorted(_back(end, shown) for end in said.ends())
    query = block.without_constant()
    return GuardedClaim(query, lower, upper, threshold, question.text, said.text, note=note, by=by)


def _back(end: float, shown: Shown) -> float:
    """An end in the numbers of the block; none stays none."""
    if math.isinf(end):
        return end if shown.unit > 0 else -end
    return float(shown.back(Fraction(end)))
