"""What an analyst asks for: an interval of at most ± within that holds with some confidence."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real

from eke.errors import AccuracyError
from eke.query import Marginal, Query

# Squares of widths, and of noise made for them, stay ordinary doubles.
LEAST_WITHIN, MOST_WITHIN = 1e-100, 1e100
_EXAMPLES = {"within": "within=50", "confidence": "confidence=0.95"}


@dataclass(frozen=True, slots=True)
class Requirement:
    """The half-width of the interval and the probability with which it holds the true answer."""

    within: float
    confidence: float

    def __post_init__(self) -> None:
        for name in ("within", "confidence"):
            number = getattr(self, name)
            if isinstance(number, bool) or not isinstance(number, Real):
                raise AccuracyError(f"{name} must be a number, for example {_EXAMPLES[name]}")
            try:
                object.__setattr__(self, name, float(number))
            except OverflowError:
                raise AccuracyError(f"{name} is too large; use a smaller number") from None
        if not (LEAST_WITHIN < self.within < MOST_WITHIN):
            raise AccuracyError("within must be positive and finite: the half-width you can accept")
        if not (0.0 < self.confidence < 1.0):
            raise AccuracyError("confidence must lie strictly between 0 and 1, for example 0.95")


@dataclass(frozen=True, slots=True)
class Demand:
    """A question, or a block of them, with the accuracy that each of its answers must have."""

    query: Query | Marginal
    requirement: Requirement

    def relaxed(self, stretch: float) -> Demand:
        """The same question with wider intervals."""
        wider = Requirement(self.requirement.within * stretch, self.requirement.confidence)
        return Demand(self.query, wider)
