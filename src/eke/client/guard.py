"""Guarded claims of a dataset on a server."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from eke.client.wire import Wire
from eke.question.posed import Asked
from eke.session.guard.guarding import Guarding, GuardState


class GuardingThere(Guarding):
    """The guarded claims of a dataset on a server; guarding and lifting are for curators."""

    _wire: Wire
    _place: str

    def guard(self, query: Asked, claim: str, *, threshold: float, note: str = "") -> int:
        """Guard a claim, and return the number of its ledger entry; for curators."""
        body = {**self._asked(query), "claim": claim, "threshold": threshold, "note": note}
        return int(self._wire.post(f"{self._place}/guards", body)["sequence"])

    @property
    def guards(self) -> tuple[GuardState, ...]:
        """The claims that are guarded there."""
        return tuple(GuardState(**one) for one in self._wire.get(f"{self._place}/guards")["guards"])

    def lift(self, sequence: int) -> None:
        """Guard what a ledger entry holds no longer; for curators."""
        self._wire.delete(f"{self._place}/guards/{int(sequence)}")

    @abstractmethod
    def _asked(self, query: Asked) -> dict[str, Any]:
        """The part of a body that is the question."""
