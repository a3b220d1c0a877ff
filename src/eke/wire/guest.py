"""Guest: a client that is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from eke.service.account import Account
from eke.wire.message import Startup


@dataclass(frozen=True, slots=True)
class Guest:
    """Its account, the id of the token by which it proved itself, and what it wants.

    `settings` are those that its account begins with.
    """

    account: Account
    token: str
    wants: Startup
    settings: Mapping[str, str]
