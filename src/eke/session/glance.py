"""Glance: budget and history of a dataset in a file, read straight from its ledger.

For commands that only show them. Nothing here loads the engine, the data or NumPy. What is said is
what the session says; `tests/unit/session/test_glance.py` compares the two. `records.py` lists what
was measured.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eke.errors import LedgerError
from eke.ledger.look import Look, look
from eke.session.budget import Budget
from eke.session.settings import FORMAT

CAP = "cap"  # as in eke.engine.share


@dataclass(frozen=True, slots=True)
class Glance:
    """A dataset as its ledger shows it."""

    settings: Mapping[str, Any]
    ledger: Look

    @property
    def budget(self) -> Budget:
        """Limit and loss, as the session's `budget`."""
        balance = self.ledger.balance
        return Budget(str(self.settings["measure"]), balance.limit, balance.spent)

    @property
    def caps(self) -> dict[str, int]:
        """What each analyst may spend whom a curator has given a cap, in nano-units."""
        changes = [
            self.ledger.whole(entry.sequence).payload
            for entry in self.ledger.entries
            if entry.kind == CAP
        ]
        caps = {str(change["analyst"]): change["cap"] for change in changes}
        return {analyst: cap for analyst, cap in caps.items() if isinstance(cap, int)}


def glance(path: Path) -> Glance:
    """What the ledger of a dataset in a file says; `LedgerError` when a session should be opened.

    Privacy: only what was released is read, and the public settings.
    """
    seen = look(path)
    settings = seen.whole(1).payload
    if settings.get("format") != FORMAT:
        raise LedgerError(f"{path} is not a dataset of this version of eke")
    return Glance(settings, seen)
