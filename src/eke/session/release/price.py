"""Price: what a release would cost now, as the junction would compute it."""

from __future__ import annotations

from dataclasses import dataclass

from eke.engine import Vault
from eke.planning import Plan
from eke.privacy.measure import Measure
from eke.privacy.record_loss import NANO


@dataclass(frozen=True, slots=True)
class Price:
    """What a release would cost, and what one analyst may still spend. Made by `session.price`.

    Attributes:
        cost: by how much the loss would grow.
        remaining: what the analyst may spend.
        measure: "epsilon" or "rho".
        capped: True when the analyst's own cap, not the dataset's limit, leaves so little.
        guarded: the guarded claims that it could make more probable, in words; then it is refused.
    """

    cost: float
    remaining: float
    measure: str
    capped: bool = False
    guarded: str = ""

    @property
    def affordable(self) -> bool:
        """True when what remains suffices, and no claim is guarded against it."""
        return self.cost <= self.remaining and not self.guarded

    @property
    def standing_against(self) -> str:
        """Why it would be refused; empty where it would not."""
        if self.affordable or self.guarded:
            return self.guarded
        return f"it costs up to {self.measure} {self.cost:.6g} and {self.remaining_text}"

    @property
    def remaining_text(self) -> str:
        """What may still be spent, and whether an analyst's cap or the dataset's limit says so."""
        if self.capped:
            return f"your cap leaves you {self.remaining:.6g}"
        return f"{self.remaining:.6g} remains"


def price_of(vault: Vault, plan: Plan | None, measure: Measure, analyst: str) -> Price:
    """The price of a plan; of none, that nothing is measured."""
    now = vault.snapshot()
    facts = now.facts_for(analyst)
    spent = after = facts.spent
    if plan is not None:
        parts = [(part.query, part.charged) for part in plan.parts]
        after = facts.accountant.after_all(parts, facts.limit, plan.flat_loss)
    capped = facts.limit < now.facts.limit
    guarded = "" if plan is None else now.at_risk(plan)
    left = (facts.limit - spent) / NANO
    return Price((after - spent) / NANO, left, measure.name, capped, guarded)
