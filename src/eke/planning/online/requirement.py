"""What an analyst asks for: an interval of at most ± within that holds with some confidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

from eke.domain import Domain
from eke.errors import AccuracyError, QueryError
from eke.query import Block
from eke.query.kinds import ReadBlocks, block_read

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

    query: Block
    requirement: Requirement

    def relaxed(self, stretch: float) -> Demand:
        """The same question with wider intervals."""
        wider = Requirement(self.requirement.within * stretch, self.requirement.confidence)
        return Demand(self.query, wider)

    def to_document(self) -> dict[str, Any]:
        return {
            "query": self.query.to_document(),
            "within": self.requirement.within,
            "confidence": self.requirement.confidence,
        }

    @staticmethod
    def from_document(domain: Domain, document: Mapping[str, Any], read: ReadBlocks = ()) -> Demand:
        query = block_read(domain, document["query"], read)
        if query.grouped is None:
            raise QueryError("a block of products is released by a plan, not asked for")
        return Demand(query, Requirement(document["within"], document["confidence"]))
