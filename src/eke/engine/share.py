"""Shares: how much of the dataset's loss each analyst has caused, and how much each may cause.

An analyst's share is the sum of what the dataset's loss grew by at their questions, so that the
shares add up to the loss. Caps are entries of the ledger: every server that shares it obeys the
same ones, and an auditor sees who changed them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from eke.errors import LedgerError, PrivacyError

CAP = "cap"  # the kind of the entry
_LONGEST_NAME = 255


@dataclass(frozen=True, slots=True)
class Shares:
    """What was spent and what may be spent, by analyst, in nano-units."""

    spent: Mapping[str, int] = field(default_factory=dict)
    caps: Mapping[str, int] = field(default_factory=dict)

    def limit_for(self, analyst: str, limit: int, spent: int) -> int:
        """The loss that the dataset may reach by this analyst's next question.

        Privacy: never above the dataset's own limit.
        """
        cap = self.caps.get(analyst)
        if cap is None:
            return limit
        return min(limit, spent + max(0, cap - self.spent.get(analyst, 0)))

    def charged(self, analyst: str, cost: int) -> Shares:
        return Shares({**self.spent, analyst: self.spent.get(analyst, 0) + cost}, self.caps)

    def capped(self, document: Mapping[str, Any]) -> Shares:
        """The shares after an entry that changes a cap; one of unknown form releases nothing."""
        analyst, cap = document.get("analyst"), document.get("cap")
        if not isinstance(analyst, str) or not (cap is None or (type(cap) is int and cap >= 0)):
            raise LedgerError("the ledger holds a cap of an unknown form")
        others = {name: amount for name, amount in self.caps.items() if name != analyst}
        return Shares(self.spent, others if cap is None else {**others, analyst: cap})


def cap_document(analyst: str, cap: int | None, by: str) -> dict[str, object]:
    """The payload of the entry that changes a cap."""
    if not analyst or not analyst.isprintable() or len(analyst) > _LONGEST_NAME:
        raise PrivacyError(f"an analyst's name is printable and at most {_LONGEST_NAME} long")
    if cap is not None and (type(cap) is not int or not 0 <= cap < 2**63):
        raise PrivacyError("a cap is a number of epsilon or rho that is not negative")
    return {"analyst": analyst, "cap": cap, "by": by}
