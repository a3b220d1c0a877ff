"""The part of a dataset that is about guarded claims, here or on a server."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eke.question.posed import Asked


@dataclass(frozen=True, slots=True)
class GuardState:
    """A guarded claim, and how probable it is now. Listed by `session.guards`.

    Attributes:
        sequence: the ledger entry that holds it; it is lifted by that number.
        at: when it was guarded.
        by: who guards it.
        question: what the claim is about.
        claim: where the answer is said to lie, such as "> 200".
        threshold: the probability from which on it is closed.
        note: why it is guarded.
        probability: what was released says of it; None while that does not determine the answer.
        closed: True once it is as probable as the threshold: what could raise that is not measured.
    """

    sequence: int
    at: str
    by: str
    question: str
    claim: str
    threshold: float
    note: str
    probability: float | None
    closed: bool

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)


class Guarding(ABC):
    """Claims that are not to become more probable than the curator allows.

    Privacy: this declines what the limit would have allowed, and allows nothing else. Whether a
    claim is closed, and what could raise its probability, follows from the ledger alone; everybody
    who reads the history sees the claims.
    """

    @abstractmethod
    def guard(self, query: Asked, claim: str, *, threshold: float, note: str = "") -> int:
        """Guard a claim, and return the number of its ledger entry; for the curator.

        Once released answers make the claim as probable as `threshold`, questions that could raise
        that are answered from history, or declined. See docs/how-to/guard-a-claim.md.
        In a session `by` says who guards it, if not the session's analyst.

        Args:
            query: one count or sum, in SQL or as an expression.
            claim: where its answer is said to lie, as in `claim`: "> 200", "10 to 20".
            threshold: a probability, such as 0.9.
            note: why, for everybody who reads the history.

        Raises:
            QueryError: when the question is not one count or sum: an average, a ratio, a table.

        Example:
            >>> entry = session.guard(eke.count(sex="F"), "> 50", threshold=0.9)
            >>> _ = session.ask(eke.count(sex="F"), within=60)
            >>> session.guards[0].closed
            True
            >>> session.preview(eke.count(sex="F"), within=30).affordable
            False
        """

    @property
    @abstractmethod
    def guards(self) -> tuple[GuardState, ...]:
        """The claims that are guarded, each a `GuardState`."""

    @abstractmethod
    def lift(self, sequence: int) -> None:
        """Guard what a ledger entry holds no longer; for the curator. Both entries stay.

        Example:
            >>> entry = session.guard(eke.count(), "> 10", threshold=0.5, note="A trial")
            >>> session.lift(entry)
            >>> session.guards
            ()
        """
