"""Aim: how accurate an answer is to be, or what it may cost, as whoever asks says it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from eke.errors import AccuracyError, PrivacyError
from eke.privacy.budget import nano_floor
from eke.privacy.record_loss import NANO
from eke.question import Accuracy

HalfWidth: TypeAlias = float | str
"""A number, or a share of the value such as "2 %"."""
Within: TypeAlias = HalfWidth | Mapping[str, HalfWidth] | None
"""A half-width for all values, one for each column of values, or none given."""

_SHARE = re.compile(r"\s*((?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?)\s*%\s*")
_MOST_LETTERS = 40
_EXAMPLE = (
    "pass within=…, for example within=60 or within='2 %', or end SQL with ERROR WITHIN 60 AT "
    "CONFIDENCE 0.95; or say what it may cost with spend=… (SPEND 0.05 in SQL)"
)


@dataclass(frozen=True, slots=True)
class Aim:
    """A half-width or a price, how sure an interval must be, and how large groups must be for it.

    `spend` is in the dataset's own measure; its mirror image is `within`, and one of them is given.
    """

    within: Within = None
    confidence: float | None = None
    spend: float | None = None
    groups_of: int | None = None

    def with_inline(self, inline: Accuracy | None) -> Aim:
        """With what the statement itself says; nothing may be said twice."""
        aim = self
        if inline is not None:
            mine = self.within if self.spend is None else self.spend
            said = inline.within if inline.spend is None else inline.spend
            twice = any(
                one is not None and other is not None
                for one, other in (
                    (mine, said),
                    (self.confidence, inline.confidence),
                    (self.groups_of, inline.groups_of),
                )
            )
            if twice:
                raise AccuracyError(
                    "the accuracy is given twice: in the statement (ERROR WITHIN …, SPEND …) and "
                    "as a parameter; keep one of them"
                )
            aim = Aim(
                inline.within if self.within is None else self.within,
                inline.confidence if self.confidence is None else self.confidence,
                inline.spend if self.spend is None else self.spend,
                inline.groups_of if self.groups_of is None else self.groups_of,
            )
        if aim.within is not None and aim.spend is not None:
            raise AccuracyError(
                "give either within (how far the answer may be off) or spend (what it may cost), "
                "not both"
            )
        if aim.within is None and aim.spend is None:
            raise AccuracyError(f"how accurate must the answer be? {_EXAMPLE}")
        return aim

    @property
    def spend_nano(self) -> int | None:
        """The price in nano-units, rounded down."""
        if self.spend is None:
            return None
        try:
            return nano_floor(self.spend)
        except PrivacyError:
            raise AccuracyError(
                "spend must be a number between 1e-9 and about 1e9, in the dataset's own measure: "
                "what the answer may cost, for example spend=0.05"
            ) from None


def price_of_nano(nano: int) -> float:
    """The shortest number that is so many nano-units, rounded down: what somebody may have said."""
    prices = (float(f"{(nano + 0.5) / NANO:.{digits}g}") for digits in range(1, 18))
    return next((price for price in prices if nano_floor(price) == nano), nano / NANO)


def half_width(given: HalfWidth) -> tuple[float, bool]:
    """A half-width as a number, and whether that is a share of the value."""
    if not isinstance(given, str):
        return given, False
    match = _SHARE.fullmatch(given) if len(given) <= _MOST_LETTERS else None
    percent = float(match[1]) if match else 0.0
    if not 0.0 < percent < 100.0:
        raise AccuracyError(
            'within must be a number, or a share of the value between 0 and 100 such as "2 %"'
        )
    return percent / 100.0, True
