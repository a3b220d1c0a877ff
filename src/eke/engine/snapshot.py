"""Snapshot: what the ledger said at one moment, for whoever decides, prices, infers or explains.

It never changes, and any number of threads may look at it for as long as they like: nobody waits
for them. What is decided on a snapshot is carried out by `Vault.release` with its `sequence`; if
the ledger has moved on by then, the decision is made again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from eke.engine.accounts import Books
from eke.engine.guarding import claims_at_risk, claims_touched
from eke.engine.share import Shares
from eke.history import Measurement, Outside
from eke.history.guarded import GuardedClaim, guarded_sentence, holding
from eke.history.outside import in_force
from eke.inference import Inference
from eke.planning import Facts, Plan
from eke.query import Block


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """History, accounts, caps and the limit after one entry of the ledger.

    Privacy: a function of the ledger; there is no handle on data in it.
    """

    sequence: int  # the last entry that it takes into account
    facts: Facts
    capped: frozenset[str]  # analysts with a cap
    last_release: int  # the last entry that holds measurements, or says what else is known
    _books: Callable[[], Books]
    _inferred: Callable[[Sequence[Measurement], Sequence[Outside]], Inference]
    all_outside: tuple[Outside, ...] = ()  # what was ever registered as known from outside
    all_guards: tuple[GuardedClaim, ...] = ()  # claims that were ever guarded

    @property
    def shares(self) -> Shares:
        """Who has spent how much, and who may spend how much."""
        return self._books().shares

    @property
    def measurements(self) -> tuple[Measurement, ...]:
        """Everything released."""
        return tuple(self._books().measurements)

    @property
    def outside(self) -> tuple[Outside, ...]:
        """What is known from outside: facts, and what others measured."""
        return in_force(self.all_outside)

    @property
    def guards(self) -> tuple[GuardedClaim, ...]:
        """The claims that are guarded."""
        return holding(self.all_guards)

    def at_risk(self, plan: Plan, blocks: Iterable[Block] = ()) -> str:
        """Which guarded claims a plan could make more probable, as a sentence; empty for none.

        With `blocks`, whatever is measured for these later counts, too.
        """
        inference = self.facts.inference
        claims = claims_at_risk(plan, self.all_guards, inference)
        claims = claims or claims_touched(blocks, self.all_guards, inference)
        return guarded_sentence(claims) if claims else ""

    def registered(self, numbers: Collection[int]) -> tuple[Outside, ...]:
        """What some entries registered, removed since or not."""
        return tuple(item for item in self.all_outside if item.sequence in numbers)

    def facts_for(self, analyst: str) -> Facts:
        """The facts with the limit that this analyst's cap leaves."""
        if analyst not in self.capped:
            return self.facts
        limit = self.shares.limit_for(analyst, self.facts.limit, self.facts.spent)
        return replace(self.facts, limit=limit)

    def inference_through(self, sequence: int) -> Inference:
        """What was known right after a ledger entry: for answers given in the past."""
        if self.last_release <= sequence:
            return self.facts.inference
        then = [one for one in self.measurements if one.sequence <= sequence]
        return self._inferred(then, in_force(self.all_outside, sequence))
