"""Guest: a client that is known."""

from __future__ import annotations

from dataclasses import dataclass

from eke.service.account import Account
from eke.wire.message import Startup


@dataclass(frozen=True, slots=True)
class Guest:
    """Its account, the token it came with, and what it wants."""

    account: Account
    token: str
    wants: Startup
