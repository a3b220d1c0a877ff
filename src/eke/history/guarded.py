"""Guarded: claims that the history is not to make more probable than the curator allows.

Inference control as BAYES §5 describes it: a claim C says that the answer to a question lies in
[L, U]. Once what was released makes it so probable, questions that could raise the probability are
answered from history only, or declined. The claim and everything that decides are public.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from eke.domain import Domain
from eke.errors import QueryError
from eke.query import Query

LONGEST_NOTE = 500


@dataclass(frozen=True, slots=True)
class GuardedClaim:
    """A claim about the answer to one linear question, and how probable it may become.

    Attributes:
        query: the question, without its constant.
        lower, upper: the open interval in which the answer to `query` is said to lie.
        threshold: the probability from which on the claim is closed.
        question: the question as the curator asked it, in words.
        text: the claim as it was written: "> 200", about the question with its constant.
        note: why it is guarded.
        by: who guards it.
        sequence: the ledger entry that holds it; 0 before there is one.
        at: when.
        until: the entry that lifted it; None while it is in force.
    """

    query: Query
    lower: float
    upper: float
    threshold: float
    question: str
    text: str
    note: str = ""
    by: str = ""
    sequence: int = 0
    at: str = ""
    until: int | None = None

    def __post_init__(self) -> None:
        texts = (self.question, self.text, self.note, self.by)
        if not all(isinstance(one, str) for one in texts) or not self.text or not self.question:
            raise QueryError("a guarded claim is told in words")
        if len(self.note) > LONGEST_NOTE or not (self.note.isprintable() or not self.note):
            raise QueryError(f"a note is printable text of at most {LONGEST_NOTE} characters")
        if self.query.constant or self.query.is_zero:
            raise QueryError("no record changes this number; there is nothing to guard about it")
        if not _is_number(self.threshold) or not 0.0 < self.threshold < 1.0:
            raise QueryError(
                "a threshold is a probability between 0 and 1, such as 0.9: from there on the "
                "claim is not made more probable"
            )
        ends = (self.lower, self.upper)
        if not all(_is_number(one) for one in ends) or not self.lower < self.upper:
            raise QueryError("nothing lies in what is claimed; name the lower end first")
        if math.isinf(self.lower) and math.isinf(self.upper):
            raise QueryError("a claim that leaves out no number is always true")

    @property
    def name(self) -> str:
        """How messages call it."""
        return f"{self.question}: {self.text} (entry {self.sequence}, from {self.threshold:g} on)"

    def to_document(self) -> dict[str, Any]:
        """What the ledger holds of it."""
        return {
            "by": self.by,
            "query": self.query.to_document(),
            "lower": None if math.isinf(self.lower) else self.lower,
            "upper": None if math.isinf(self.upper) else self.upper,
            "threshold": self.threshold,
            "question": self.question,
            "claim": self.text,
            "note": self.note,
        }

    @staticmethod
    def from_document(
        domain: Domain,
        document: Mapping[str, Any],
        sequence: int = 0,
        at: str = "",
        until: int | None = None,
    ) -> GuardedClaim:
        lower, upper = document["lower"], document["upper"]
        return GuardedClaim(
            Query.from_document(domain, document["query"]),
            -math.inf if lower is None else lower,
            math.inf if upper is None else upper,
            document["threshold"],
            document["question"],
            document["claim"],
            document["note"],
            document["by"],
            sequence,
            at,
            until,
        )


def holding(claims: Iterable[GuardedClaim]) -> tuple[GuardedClaim, ...]:
    """The claims that are guarded now."""
    return tuple(claim for claim in claims if claim.until is None)


def lifted(claims: Iterable[GuardedClaim], sequence: int, until: int) -> tuple[GuardedClaim, ...]:
    """The same, but the one that an entry holds is guarded only until another entry."""
    return tuple(
        replace(claim, until=until) if claim.sequence == sequence else claim for claim in claims
    )


def guarded_sentence(claims: Iterable[GuardedClaim]) -> str:
    """What is said where a question is declined for the sake of these claims."""
    named = "; ".join(claim.name for claim in claims)
    return (
        "what was released makes a guarded claim so probable already that nothing is measured "
        f"which could raise that: {named}"
    )


def _is_number(value: object) -> bool:
    return type(value) in (int, float) and not math.isnan(value)  # type: ignore[arg-type]
