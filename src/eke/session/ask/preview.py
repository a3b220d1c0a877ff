"""Preview: what a question would cost, and what a refused analyst can do instead."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from eke.session.answer import html


@dataclass(frozen=True, slots=True)
class Preview:
    """What a question would cost and where its answer would come from; nothing was spent.

    Made by `session.preview`, and the `refusal` of a `Refused`.

    Attributes:
        question: in words.
        within: what was asked for. With a price it is what that buys, with a share of the value
            what the next step aims at: None before a first look at the numbers behind a formula.
        confidence: that of the interval.
        action: "history", "measure" or "refuse".
        cost: what it would cost; of a formula, its next step.
        known: the half-width that history offers now; None where that would say nothing, such as
            ±60 of a percentage.
        narrowest: of a refusal, the half-width that the rest of the budget buys; None where that is
            nothing narrower.
        measure: "epsilon" or "rho".
        remaining: what may still be spent.
        first_step: True for a formula such as AVG, whose price is known step by step; `most` bounds
            all of them.
        hint: which group makes it expensive, or is wider.
        spend: what it may cost, if that was said instead of `within`.
        groups_of: how many records a group needs to be so accurate, if that was said.
        share: of the value itself, if that is asked for instead of `within`.
        capped: True when the analyst's own cap, not the dataset's limit, leaves so little.
        of_rank: True for a chosen quantile: `known` and what is bought are numbers of records that
            it may be off by, and no half-widths.
        likely: what averages cost in all their steps, or less, where each group has at least
            `records` records, nearly always; None for everything else.
        records: so many are taken for granted by `likely`: as many as history tells, or 1,000, or
            as many as what is left pays for.
        guarded: of a refusal, the guarded claims that measuring it could make more probable; empty
            where it is the budget that does not allow it.

    Example:
        >>> preview = session.preview(eke.count(age=(18, 29)), within=60)
        >>> preview.affordable, preview.free
        (True, False)
        >>> print(preview.explain())
        count where age 18–29
        Would cost epsilon 0.0499289 of 1 left; history gives nothing yet.
    """

    question: str
    within: float | None
    confidence: float
    action: Literal["history", "measure", "refuse"]
    cost: float
    known: float | None
    narrowest: float | None
    measure: str
    remaining: float
    first_step: bool = False
    hint: str = ""
    spend: float | None = None
    groups_of: int | None = None
    share: float | None = None
    capped: bool = False
    of_rank: bool = False
    likely: float | None = None
    records: int | None = None
    guarded: str = ""

    @property
    def free(self) -> bool:
        """True when history suffices."""
        return self.action == "history"

    @property
    def affordable(self) -> bool:
        """True when it is free, or the budget allows it and no claim is guarded against it."""
        return self.action != "refuse"

    @property
    def most(self) -> float:
        """The most that asking now can cost, all steps of it together; nothing if it is refused.

        How many steps there are, and what the later ones cost, depends on values that nobody knows
        beforehand. What is left, or the price that was said, bounds all of them.
        """
        if self.action != "measure":
            return 0.0
        if self.spend is not None:
            return self.spend
        return self.remaining if self.first_step else self.cost

    def explain(self) -> str:
        """The same in words."""
        return f"{self.question}\n{self._sentences()}"

    def _sentences(self) -> str:
        known = self._known_text
        if self.action == "history":
            more = ""
            if self.spend is not None:
                more = f", and {self.measure} {self.spend:.6g} buys nothing noticeably narrower"
            return f"Free: history gives {known}{more}."
        if self.action == "refuse":
            return advice(self)
        left = f"{self.remaining:.6g} {'that your cap leaves you' if self.capped else 'left'}"
        price = f"{self.measure} {self.cost:.6g} of {left}"
        if self.spend is not None:
            return f"{self._bought(price)}; history gives {known}.{self._open}"
        if self.first_step:
            return (
                f"The next step would cost {price}; history gives {known}. How much the whole "
                f"costs depends on {'the value' if self.share else 'how many records there are'}: "
                f"{self._likely_text}at most {self.measure} {self.most:.6g}, all that "
                f"{'your cap leaves you' if self.capped else 'is left'}."
            )
        return f"Would cost {price}; history gives {known}."

    @property
    def _known_text(self) -> str:
        """What history gives."""
        if self.known is None:
            return "nothing yet"
        return f"{self.known:.4g} records off" if self.of_rank else f"±{self.known:.4g}"

    @property
    def _likely_text(self) -> str:
        """What averages are likely to cost."""
        if self.likely is None:
            return ""
        return (
            f"about {self.measure} {self.likely:.3g} or less where each average is one of "
            f"{self.records:,} records or more; "
        )

    def _bought(self, price: str) -> str:
        """What a price buys."""
        if self.within is None:
            return f"A first step would cost {price}"
        if self.of_rank:
            return f"Would choose a number at most {self.within:.4g} records off for {price}"
        more = f" ({self.hint})" if self.hint else ""
        return f"Would buy ±{self.within:.4g}{more} for {price}"

    @property
    def _open(self) -> str:
        """What nobody knows before a first step that is paid for with a price."""
        if self.within is not None:
            return ""
        return (
            f" How accurate {self.measure} {self.spend:.6g} in all makes it depends on how many "
            "records there are."
        )

    def _repr_html_(self) -> str:
        return html.lines(self.explain())


def advice(preview: Preview, spent: str = "Nothing was spent") -> str:
    """What a refused analyst can do instead."""
    because = f" ({preview.hint})" if preview.hint else ""
    left = (
        f"your cap leaves you {preview.remaining:.6g}"
        if preview.capped
        else f"{preview.remaining:.6g} is left"
    )
    now = (
        "history says too little about it"
        if preview.known is None
        else f"±{preview.known:.4g} is free now (ask with within={_up(preview.known)})"
    )
    if preview.of_rank and preview.known is not None:
        now = f"a choice at most {preview.known:.4g} records off is free now; ask for that"
    if preview.guarded:
        return f"{preview.guarded[0].upper()}{preview.guarded[1:]}. {spent}. Instead: {now}."
    if preview.spend is not None:
        offered = (
            f"{preview.measure} {preview.spend:.6g} was offered, and {left}{because}. {spent}."
        )
        if preview.spend <= preview.remaining:
            return f"{offered} Instead: offer more; {now}."
        if preview.remaining <= 0.0:
            return f"{offered} Instead: {now}."
        return f"{offered} Instead: offer spend={preview.remaining:.9g} or less; {now}."
    purse = "what your cap leaves" if preview.capped else "the remaining budget"
    bought = (
        f"{purse} buys nothing narrower"
        if preview.narrowest is None or preview.narrowest >= (preview.known or math.inf)
        else f"the narrowest interval {purse} can buy is ±{_up(preview.narrowest)}"
    )
    asked = f"±{preview.within:.6g}" if preview.within else "A look at it"
    if preview.of_rank:
        bought = "offer what is left with spend=…, or ask for a larger share of the records"
        if preview.within is not None:
            asked = f"A choice at most {preview.within:.4g} records off its place"
    if preview.share is not None:
        asked = f"The next step to {100 * preview.share:.4g} % of the value"
        bought = "ask for a larger share, or with groups_of if small groups need not be so accurate"
    return (
        f"{asked} at confidence {preview.confidence:.4g} would cost "
        f"{preview.measure} {preview.cost:.6g}, and {left}{because}. {spent}. "
        f"Instead: {now}; {bought}."
    )


def _up(width: float) -> str:
    text = f"{width:.3g}"
    return text if float(text) >= width else f"{width * 1.01:.3g}"
