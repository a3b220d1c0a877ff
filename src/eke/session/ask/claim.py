"""Claim: how probable it is, by what was released, that the true answers lie where somebody says.

    session.claim("SELECT COUNT(*) FROM adult WHERE age >= 65", "> 1500").probability

It is free: the question must have been answered before, or follow from what was.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import Any

from eke.domain import plain_label
from eke.errors import AccuracyError, EstimateError, QueryError
from eke.inference.quantile import QuantilePosterior
from eke.question import Question
from eke.question.calendar import Calendar, is_moment
from eke.question.chosen import chosen_ladder
from eke.session.answer.answer import NOT_HOW_FAR, Answer
from eke.session.answer.cell import Cell
from eke.session.ask.aim import Aim

ANY_WIDTH = Aim(within=1e90)
"""The accuracy of all that is known: claims are about what history says, however vague."""
_LONGEST = 100
_BEYOND = re.compile(r"\s*(>=|<=|>|<|≥|≤)\s*(.+?)\s*")
_BETWEEN = re.compile(r"\s*(?:between\s+)?(.+?)\s+(?:and|to)\s+(.+?)\s*", re.IGNORECASE)
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")
_NO_NUMBER = (
    "{!r} is not what an answer can be compared with; write a number plainly, such as 10000 or "
    "0.25, and a date such as 2013-06-30"
)
_UNDETERMINED = (
    "what was released does not determine the answer, so that it says nothing of a claim about it; "
    "ask the question first, as accurately as you need it, or take an estimate"
)


@dataclass(frozen=True, slots=True)
class ClaimText:
    """Where the true answer is said to lie, as it was written: "> 10000", "10 to 20".

    Attributes:
        text: as people read it.
        low, high: the ends as they were written, None for no end.
        closed: whether the ends belong to it, as those of `>=`, `<=` and `10 to 20` do.
    """

    text: str
    low: str | None
    high: str | None
    closed: bool

    @staticmethod
    def read(written: str) -> ClaimText:
        """The claim in a text."""
        is_short = isinstance(written, str) and len(written) <= _LONGEST
        beyond = _BEYOND.fullmatch(written) if is_short else None
        if beyond is not None:
            sign, end = {"≥": ">=", "≤": "<="}.get(beyond[1], beyond[1]), _checked(beyond[2])
            low, high = (end, None) if sign[0] == ">" else (None, end)
            return ClaimText(f"{sign} {end}", low, high, closed=len(sign) == 2)
        between = _BETWEEN.fullmatch(written) if is_short else None
        if between is not None:
            first, last = _checked(between[1]), _checked(between[2])
            return ClaimText(f"{first} to {last}", first, last, closed=True)
        raise AccuracyError(
            "a claim says where the true answer lies: '> 10000', '<= 0.5', '10 to 20', or of dates "
            "and times such as '> 2013-06-30'"
        )

    def ends(self, calendar: Calendar | None = None) -> tuple[float, float]:
        """The open interval that it is about, in the numbers of a value.

        `calendar` is that of a date or a time.
        """
        low, high = (_number(end, calendar) for end in (self.low, self.high))
        first = -math.inf if low is None else low
        last = math.inf if high is None else high
        if self.low is not None and self.high is not None and not first <= last:
            raise AccuracyError(f"nothing lies in {self.text}; name the lower end first")
        if not self.closed:
            return first, last
        return math.nextafter(first, -math.inf), math.nextafter(last, math.inf)


@dataclass(frozen=True, slots=True, repr=False)
class Claim:
    """How probable a claim about true answers is. Made by `session.claim`.

    Probabilities are those of a belief that begins with all values as likely as each other (BAYES);
    where bins leave something open, at least what is said.

    Attributes:
        question: what the claim is about.
        text: what is claimed, such as "> 10000".
        attributes: the names of the keys of a table; empty for a single number.
        keys: the labels of each row.
        probabilities: of each row; None where a formula has no value, or nothing is known of it.
        caveats: what the domain leaves open, besides the noise.

    Example:
        >>> _ = session.ask(eke.count(sex="F"), within=60)
        >>> claim = session.claim(eke.count(sex="F"), "> 200")
        >>> claim.text, 0 <= claim.probability <= 1
        ('> 200', True)
    """

    question: str
    text: str
    attributes: tuple[str, ...]
    keys: tuple[tuple[Any, ...], ...]
    probabilities: tuple[float | None, ...]
    caveats: tuple[str, ...] = ()

    @property
    def is_number(self) -> bool:
        """True for a claim about one number."""
        return not self.attributes and len(self.probabilities) == 1

    @property
    def probability(self) -> float:
        """The probability of a claim about one number."""
        known = self.probabilities[0] if self.is_number else None
        if known is None:
            raise QueryError(
                f"the claim is about {len(self.probabilities)} rows; look at its keys and "
                "probabilities"
            )
        return known

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        said: dict[str, Any] = {"question": self.question, "claim": self.text}
        if self.is_number:
            said["probability"] = self.probabilities[0]
        else:
            said["rows"] = [
                {
                    **dict(zip(self.attributes, map(plain_label, key), strict=True)),
                    "probability": probability,
                }
                for key, probability in zip(self.keys, self.probabilities, strict=True)
            ]
        return {**said, "caveats": list(self.caveats)}

    def __repr__(self) -> str:
        if self.is_number:
            return f"Claim({self.text} with probability {shown_probability(self.probabilities[0])})"
        return f"Claim({self.text}, {len(self.probabilities)} rows of {', '.join(self.attributes)})"


def shown_probability(probability: float | None) -> str:
    """A probability for people; what is nearly sure is not said to be sure."""
    if probability is None:
        return "not known"
    if 0.9995 <= probability < 1.0:
        return "more than 0.999"
    if 0.0 < probability <= 0.0005:
        return "less than 0.001"
    return (
        f"{probability:.3g}" if probability < 0.1 else f"{probability:.3f}".rstrip("0").rstrip(".")
    )


def claimed(question: Question) -> Question:
    """The question that a claim is about, whatever accuracy its text asks for."""
    values = [column for column in question.columns if not column.is_key]
    if len(values) != 1:
        raise QueryError(
            f"a claim is about one column of values, and the question has {len(values)}; select "
            "one of them"
        )
    if values[0].rank is not None:
        raise QueryError("a claim is about values; select what the ranks are made of")
    if chosen_ladder(question) is not None:
        raise QueryError(NOT_HOW_FAR)
    return replace(question, requirement=None)


def claim_from(answer: Answer | None, claim: ClaimText) -> Claim:
    """The claim about a free answer; without one nothing can be said."""
    if answer is None:
        raise EstimateError(_UNDETERMINED)
    (column,) = [place for place, is_key in enumerate(answer.is_key) if not is_key]

    def probability(row: int) -> float | None:
        cell: Cell = answer.rows[row][column]
        low, high = claim.ends(cell.calendar)
        belief = None if cell.value is None else answer.belief(row, column)
        if belief is None or (isinstance(belief, QuantilePosterior) and not len(belief.cuts)):
            return None
        return min(max(float(belief.probability(above=low, below=high)), 0.0), 1.0)

    probabilities = tuple(map(probability, range(len(answer))))
    if probabilities and all(one is None for one in probabilities):
        raise EstimateError(_UNDETERMINED)
    rows = answer.attributes, answer.keys, probabilities
    return Claim(answer.receipt.question, claim.text, *rows, answer.caveats)


def _checked(end: str) -> str:
    """An end that is a number, a date or a time; which of them, the question tells."""
    if _plain_number(end) is None and not is_moment(end):
        raise AccuracyError(_NO_NUMBER.format(end))
    return end


def _number(end: str | None, calendar: Calendar | None) -> float | None:
    """An end as a number; of a date or a time as one of its steps."""
    if end is None:
        return None
    if calendar is not None:
        return calendar.number(end)
    number = _plain_number(end)
    if number is None:
        raise AccuracyError(_NO_NUMBER.format(end))
    return number


def _plain_number(text: str) -> float | None:
    number = float(text) if _NUMBER.fullmatch(text) else math.inf
    return number if math.isfinite(number) else None
