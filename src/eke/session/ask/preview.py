"""Preview: what a question would cost, and what a refused analyst can do instead."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from eke.session.answer import html


@dataclass(frozen=True, slots=True)
class Preview:
    """What a question would cost and where its answer would come from; nothing was spent."""

    question: str
    within: float
    confidence: float
    action: Literal["history", "measure", "refuse"]
    cost: float
    known: float | None
    narrowest: float | None
    measure: str
    remaining: float
    # A formula such as AVG is approached in steps: the cost is that of the next one.
    first_step: bool = False
    hint: str = ""  # what makes it expensive
    capped: bool = False  # whether the analyst's own cap, not the dataset's limit, leaves so little

    @property
    def free(self) -> bool:
        return self.action == "history"

    @property
    def affordable(self) -> bool:
        return self.action != "refuse"

    def explain(self) -> str:
        known = "nothing yet" if self.known is None else f"±{self.known:.4g}"
        if self.action == "history":
            return f"{self.question}\nFree: history gives {known}."
        if self.action == "refuse":
            return f"{self.question}\n{advice(self)}"
        left = f"{self.remaining:.6g} {'that your cap leaves you' if self.capped else 'left'}"
        price = f"{self.measure} {self.cost:.6g} of {left}"
        if self.first_step:
            return (
                f"{self.question}\nThe next step would cost {price}; history gives {known}. How "
                "much the whole costs depends on how many records there are."
            )
        return f"{self.question}\nWould cost {price}; history gives {known}."

    def _repr_html_(self) -> str:
        return html.lines(self.explain())


def advice(preview: Preview, spent: str = "Nothing was spent") -> str:
    """What a refused analyst can do instead."""
    now = (
        "history does not determine this question"
        if preview.known is None
        else f"±{preview.known:.4g} is free now (ask with within={_up(preview.known)})"
    )
    purse = "what your cap leaves" if preview.capped else "the remaining budget"
    bought = (
        f"{purse} buys nothing narrower"
        if preview.narrowest is None or preview.narrowest >= (preview.known or math.inf)
        else f"the narrowest interval {purse} can buy is ±{_up(preview.narrowest)}"
    )
    left = (
        f"your cap leaves you {preview.remaining:.6g}"
        if preview.capped
        else f"{preview.remaining:.6g} is left"
    )
    return (
        f"±{preview.within:.6g} at confidence {preview.confidence:.4g} would cost "
        f"{preview.measure} {preview.cost:.6g}, and {left}"
        f"{f' ({preview.hint})' if preview.hint else ''}. {spent}. Instead: {now}; {bought}."
    )


def _up(width: float) -> str:
    text = f"{width:.3g}"
    return text if float(text) >= width else f"{width * 1.01:.3g}"
