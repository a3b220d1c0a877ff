"""Choice: a number of a column that was chosen as a quantile, kept for ever like a measurement.

The exponential mechanism chooses the step of a ladder: the less likely, the more records lie
between it and where the quantile is in their order. Nothing linear follows from a choice, so that
inference does not look at it; it answers its own question. See docs/proofs/quantiles.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from eke.domain import Domain
from eke.errors import PrivacyError
from eke.privacy.accountant import Accountant
from eke.privacy.law import DiscreteLaplace, law_from_json
from eke.query import Query
from eke.query.runs import codes_used
from eke.query.written import read_number
from eke.question.ladder import Ladder, checked_share

_SLACK = 1.0 + 1e-9  # for what the double of a logarithm may be off


@dataclass(frozen=True, slots=True)
class RankChoice:
    """A step to be chosen as the quantile of the records that a query counts.

    With n records, N(t) of them at most t, and a share of num/den, the score of a step t is den
    times how far num/den · n lies outside of N(t − 1) to N(t); its chance is ∝ exp(-score / b). The
    law says b, in units of that score.
    """

    counted: Query
    attribute: str
    share: Fraction
    law: DiscreteLaplace

    def __post_init__(self) -> None:
        if self.counted.people or self.counted.constant or self.counted.is_zero:
            raise PrivacyError("a quantile is chosen among records, some of which may be there")
        if self.counted.exponent != 0 or not set(self.counted.extremes()) <= {0, 1}:
            raise PrivacyError("a quantile is chosen among records that count once each")
        if type(self.law) is not DiscreteLaplace or type(self.share) is not Fraction:
            raise PrivacyError("a choice has the scale of discrete Laplace noise, and a Fraction")
        if self.attribute not in self.counted.domain.names:
            raise PrivacyError("a quantile is chosen among the values of a declared column")
        checked_share(self.share)

    @property
    def ladder(self) -> Ladder:
        """The steps that can be chosen."""
        return ladder_of_column(self.counted.domain, self.attribute, self.share)

    @property
    def steps(self) -> tuple[int, int]:
        """The first and the last step on which a record can stand that counts.

        Privacy: a function of question and domain. The quantile lies between them, so that nothing
        else is chosen.
        """
        return steps_within(self.counted, self.attribute)

    @property
    def needed(self) -> tuple[str, ...]:
        """The columns whose counts it takes."""
        domain = self.counted.domain
        return domain.in_order({self.attribute, *self.counted.attributes})

    @property
    def scale(self) -> Fraction:
        """b, in units of the score."""
        return self.law.steps * Fraction(2) ** self.law.exponent

    @property
    def reach(self) -> int:
        """The most that one added record moves the score of any step.

        Privacy: den·N(t − 1) − num·n and num·n − den·N(t) move by den − num or by num, and the
        score is the largest of both and 0.
        """
        return max(self.share.numerator, self.share.denominator - self.share.numerator)

    def price(self, accountant: Accountant) -> int:
        """Its loss, in nano-units.

        Privacy: a replaced record leaves n as it is, and then moves a score by den at most; or it
        comes or goes, and is like an added one.
        """
        return accountant.price_of_choice(self.reach, self.law, replaced=self.share.denominator)

    def rank_error(self, confidence: float) -> Fraction:
        """How many records lie at most between the chosen step and the quantile's place.

        With this probability. Some step has the score 0, so that one of m steps has at least x
        with a chance of at most k/(1 + k), where k = (m − 1)·exp(-x / b).
        """
        others, missed = self.steps[1] - self.steps[0], 1.0 - confidence
        if not others:
            return Fraction(0)
        least = float(self.scale) * math.log(others * confidence / missed)
        return Fraction(max(0, math.ceil(least * _SLACK) - 1), self.share.denominator)

    def is_like(self, other: RankChoice) -> bool:
        """True for the same quantile of the same records, chosen with any noise."""
        same = self.attribute == other.attribute and self.share == other.share
        return same and self.counted == other.counted

    @property
    def description(self) -> str:
        """What was chosen, in words."""
        middle = "median" if self.share == Fraction(1, 2) else f"{float(self.share):g} quantile"
        return f"chosen {middle} of {self.attribute} in ({self.counted.description})"

    def to_document(self) -> dict[str, Any]:
        return {
            "counted": self.counted.to_document(),
            "attribute": self.attribute,
            "share": str(self.share),
            "scale": self.law.to_json(),
        }

    @staticmethod
    def from_document(domain: Domain, document: Mapping[str, Any]) -> RankChoice:
        law = law_from_json(document["scale"])
        if not isinstance(law, DiscreteLaplace):
            raise PrivacyError("a choice has the scale of discrete Laplace noise")
        counted = Query.from_document(domain, document["counted"])
        return RankChoice(counted, str(document["attribute"]), read_number(document["share"]), law)


@dataclass(frozen=True, slots=True)
class ChosenStep:
    """What was chosen: a step of the ladder, and where the ledger says so."""

    choice: RankChoice
    step: int
    sequence: int = 0
    analyst: str = ""
    at: str = ""

    def __post_init__(self) -> None:
        first, last = self.choice.steps
        if type(self.step) is not int or not first <= self.step <= last:
            raise PrivacyError("what was chosen is a step on which such a record can stand")

    @property
    def value(self) -> float:
        """The number of the step; of dates and times, as the ladder counts them."""
        return self.choice.ladder.value(self.step)

    @property
    def shown(self) -> float | str:
        """The same as people read it: a date or a time is a text."""
        calendar = self.choice.ladder.calendar
        return self.value if calendar is None else calendar.text(self.value)

    def to_record(self) -> dict[str, Any]:
        """A line for lists of what was released, beside those of measurements."""
        return {
            "sequence": self.sequence,
            "at": self.at,
            "analyst": self.analyst,
            "question": self.choice.description,
            "value": self.value,
            "cells": 1,
            "noise_deviation": None,
            "refines": None,
            "chosen": self.shown,
        }


@lru_cache(maxsize=32)
def steps_within(counted: Query, attribute: str) -> tuple[int, int]:
    """The first and the last step of a column that a query counts records on."""
    rungs = ladder_of_column(counted.domain, attribute, Fraction(1, 2)).rungs
    ends: list[int] = []
    for term in counted.terms:
        vector = dict(term.vectors).get(attribute)
        if vector is None:
            return 0, rungs.count - 1
        steps = rungs.steps_of(codes_used(vector))
        steps = steps[steps >= 0]
        ends += [int(steps.min()), int(steps.max())] if len(steps) else []
    return (min(ends), max(ends)) if ends else (0, rungs.count - 1)


@lru_cache(maxsize=32)
def ladder_of_column(domain: Domain, attribute: str, share: Fraction) -> Ladder:
    """The steps of a column as it is, for the quantile with a share."""
    return Ladder.of_column(domain, attribute, share, is_between=False)
