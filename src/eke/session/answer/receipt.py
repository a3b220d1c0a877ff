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
    within: float | None  # what was asked for; of a price or a share, the widest that was reached
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
    spend_nano: int | None = None  # what it might cost, if that was said instead of `within`
    groups_of: int | None = None  # records that a group needs to be so accurate
    share: float | None = None  # of the value itself, if that was asked for instead of `within`
    of_records: bool = False  # of a quantile, the share is one of the records
    rank_error: int | None = None  # of a chosen quantile: records that it may be off by

    @property
    def cost(self) -> float:
        """By how much the dataset's loss grew, in epsilon or rho."""
        return self.cost_nano / NANO

    @property
    def remaining(self) -> float:
        return (self.limit_nano - self.spent_nano) / NANO

    @property
    def spend(self) -> float | None:
        """What it might cost, in epsilon or rho, if that was said."""
        return None if self.spend_nano is None else self.spend_nano / NANO

    def sentence(self) -> str:
        """Why it was free, or what was bought and why."""
        unit = self.measure
        if self.rank_error is not None:
            return self._sentence_of_choice(self.rank_error)
        if self.source == "history":
            return f"Free: {self._why_free()}."
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
        bought = ""
        if self.spend is not None:
            width = (
                "intervals of which some have no end"
                if self.within is None
                else f"±{self.within:.4g} or better"
            )
            bought = f" of at most {self.spend:.6g}, which bought {width}"
        elif self.share is not None:
            bought = f", to come within {self._share_text}"
        return (
            f"Paid {unit} {self.cost:.6g}{shared}{bought}{steps}: history offered {before}, so the "
            f"question was measured with {self.noise}. Left: {unit} {self.remaining:.6g} "
            f"of {self.limit_nano / NANO:.6g}."
        )

    def _sentence_of_choice(self, error: int) -> str:
        """The same of a quantile that was chosen."""
        unit, records = self.measure, f"{error:,} record{'s' * (error != 1)}"
        if self.spend is None:
            asked = f"{self._share_text} was asked for"
        else:
            asked = f"{unit} {self.spend:.6g} buys nothing nearer"
        if self.source == "history":
            return f"Free: what was chosen before is at most {records} off, and {asked}."
        offered = "" if self.spend is None else f" of at most {self.spend:.6g}"
        steps = f" in {self.steps} steps" if self.steps > 1 else ""
        return (
            f"Paid {unit} {self.cost:.6g}{offered}{steps} for {self.noise}. Left: "
            f"{unit} {self.remaining:.6g} of {self.limit_nano / NANO:.6g}."
        )

    @property
    def _share_text(self) -> str:
        of = "records" if self.of_records else "value"
        return f"{100 * (self.share or 0.0):.4g} % of the {of}"

    def _why_free(self) -> str:
        known = "no end of some intervals" if self.known is None else f"±{self.known:.4g}"
        given = (
            f"what was released before already gives {known} at {self.confidence:.4g} confidence"
        )
        if self.spend is not None:
            return f"{given}, and {self.measure} {self.spend:.6g} buys nothing noticeably narrower"
        if self.share is not None:
            return f"{given}, and {self._share_text} was asked for"
        if self.groups_of is not None:
            return (
                f"what was released before gives ±{self.within:.6g} at {self.confidence:.4g} "
                f"confidence in groups of {self.groups_of:,} records or more, as was asked for"
            )
        return f"{given}, and ±{self.within:.6g} was asked for"


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
    def rank_error(self) -> int | None:
        """How many records lie at most between a chosen quantile and its place in their order.

        With probability `confidence`; None of every other answer.
        """
        return self.receipt.rank_error

    @property
    def free(self) -> bool:
        """True when nothing was measured: the answer follows from what was released before."""
        return self.receipt.source == "history"

    @property
    def source(self) -> str:
        """Where it came from: "from history" or "paid"."""
        return "from history" if self.free else "paid"
