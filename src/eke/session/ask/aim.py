"""Aim: how accurate an answer is to be, or what it may cost, as whoever asks says it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from eke.errors import AccuracyError, PrivacyError
from eke.privacy.budget import nano_floor
from eke.privacy.record_loss import NANO
from eke.question import Accuracy, Question
from eke.question.calendar import Calendar, unit_seconds

HalfWidth: TypeAlias = float | str
"""A number, a share of the value such as "2 %", or of dates and times a length: "6 hours"."""
Within: TypeAlias = HalfWidth | Mapping[str, HalfWidth] | None
"""A half-width for all values, one for each column of values, or none given."""

_NUMBER = r"\s*((?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?)\s*"
_SHARE = re.compile(_NUMBER + r"%\s*")
_LENGTH = re.compile(_NUMBER + r"([A-Za-z]{3,7})\s*")
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


def by_column(
    question: Question, within: HalfWidth | Mapping[str, HalfWidth]
) -> tuple[HalfWidth | None, ...]:
    """The half-width of each column of a question; None for keys and ranks."""
    plain = [not (column.is_key or column.rank is not None) for column in question.columns]
    names = [column.name for column, asked in zip(question.columns, plain, strict=True) if asked]
    if not isinstance(within, Mapping):
        return tuple(within if asked else None for asked in plain)
    unknown = [name for name in within if name not in names]
    lacking = [name for name in names if name not in within]
    if unknown or lacking:
        raise AccuracyError(
            f"within names the half-width of each value column; they are {', '.join(names)}"
        )
    return tuple(
        within[column.name] if asked else None
        for column, asked in zip(question.columns, plain, strict=True)
    )


def half_width(given: HalfWidth, calendar: Calendar | None = None) -> tuple[float, bool]:
    """A half-width as a number, and whether that is a share of the value.

    With a calendar the number is one of its steps, and the text may be a length of time.
    """
    if not isinstance(given, str):
        return given, False
    is_short = len(given) <= _MOST_LETTERS
    length = _LENGTH.fullmatch(given) if is_short else None
    seconds = unit_seconds(length[2]) if length else None
    if length is not None and seconds is not None:
        if calendar is None:
            raise AccuracyError(
                f"{given!r} is a length of time, which is the accuracy of quantiles of dates and "
                "times only; give a number, or within={'column': …} for each column"
            )
        steps = calendar.steps(float(length[1]) * seconds)
        if not steps > 0.0:
            raise AccuracyError("within must be a length above 0, such as '2 days' or '6 hours'")
        return steps, False
    match = _SHARE.fullmatch(given) if is_short else None
    percent = float(match[1]) if match else 0.0
    if not 0.0 < percent < 100.0:
        raise AccuracyError(
            'within must be a number, a share of the value between 0 and 100 such as "2 %", or of '
            "a quantile of dates or times a length such as '2 days' or '6 hours'"
        )
    return percent / 100.0, True
