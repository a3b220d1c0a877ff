"""Receipt: what an answer cost, where it came from, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from eke.privacy.record_loss import NANO

Source = Literal["history", "measured"]


@dataclass(frozen=True, slots=True)
class Receipt:
    """What an answer cost and how it was obtained; the same for single answers and tables."""

    question: str
    within: float
    confidence: float
    source: Source
    cost_nano: int
    price_nano: int
    known: float | None  # the half-width that history offered before
    noise: str
    measure: str
    spent_nano: int
    limit_nano: int
    through: int  # the ledger entry up to which history was used
    steps: int = 1  # charges made for it, one after the other

    @property
    def cost(self) -> float:
        """By how much the dataset's loss grew, in epsilon or rho."""
        return self.cost_nano / NANO

    @property
    def remaining(self) -> float:
        return (self.limit_nano - self.spent_nano) / NANO

    def sentence(self) -> str:
        """Why it was free, or what was bought and why."""
        unit = self.measure
        if self.source == "history":
            return (
                f"Free: what was released before already gives ±{self.known:.4g} "
                f"at {self.confidence:.4g} confidence, and ±{self.within:.6g} was asked for."
            )
        steps = f" in {self.steps} steps" if self.steps > 1 else ""
        before = "nothing" if self.known is None else f"only ±{self.known:.4g}"
        shared = ""
        if self.cost_nano != self.price_nano:
            why = (
                "the records it touches had room below the largest loss"
                if self.cost_nano < self.price_nano
                else "what a record loses by all answers together is too much work to find, and a "
                "bound is charged"
            )
            shared = f" (by itself it is worth {unit} {self.price_nano / NANO:.6g}; {why})"
        return (
            f"Paid {unit} {self.cost:.6g}{shared}{steps}: history offered {before}, so the "
            f"question was measured with {self.noise}. Left: {unit} {self.remaining:.6g} "
            f"of {self.limit_nano / NANO:.6g}."
        )


class Receipted:
    """What every answer with a receipt says about its price."""

    __slots__ = ()
    receipt: Receipt

    @property
    def confidence(self) -> float:
        """Of each interval by itself."""
        return self.receipt.confidence

    @property
    def cost(self) -> float:
        """By how much the dataset's loss grew, in epsilon or rho."""
        return self.receipt.cost

    @property
    def free(self) -> bool:
        """True when nothing was measured: the answer follows from what was released before."""
        return self.receipt.source == "history"

    @property
    def source(self) -> str:
        return "from history" if self.free else "paid"
