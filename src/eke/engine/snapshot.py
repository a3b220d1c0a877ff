"""Snapshot: what the ledger said at one moment, for whoever decides, prices, infers or explains.

It never changes, and any number of threads may look at it for as long as they like: nobody waits
for them. What is decided on a snapshot is carried out by `Vault.release` with its `sequence`; if
the ledger has moved on by then, the decision is made again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from eke.engine.share import Shares
from eke.history import Measurement
from eke.inference import Inference
from eke.planning import Facts


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """History, accounts, caps and the limit after one entry of the ledger.

    Privacy: a function of the ledger; there is no handle on data in it.
    """

    sequence: int  # the last entry that it takes into account
    facts: Facts
    shares: Shares
    measurements: tuple[Measurement, ...]
    _inferred: Callable[[Sequence[Measurement]], Inference]

    def facts_for(self, analyst: str) -> Facts:
        """The facts with the limit that this analyst's cap leaves."""
        facts = self.facts
        limit = self.shares.limit_for(analyst, facts.limit, facts.accountant.spent)
        return replace(facts, limit=limit)

    def inference_through(self, sequence: int) -> Inference:
        """What was known right after a ledger entry: for answers given in the past."""
        if not self.measurements or self.measurements[-1].sequence <= sequence:
            return self.facts.inference
        return self._inferred([one for one in self.measurements if one.sequence <= sequence])
