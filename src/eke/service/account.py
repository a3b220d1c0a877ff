"""Accounts: who may do what."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, get_args

from eke.errors import ServiceError

Role = Literal["curator", "analyst", "auditor"]
ROLES: tuple[Role, ...] = get_args(Role)
_NAME = re.compile(r"[\w.@+-]{1,100}")


@dataclass(frozen=True, slots=True)
class Account:
    """A person or a program with a role, and the datasets it may see (None: all of them).

    A curator may do everything with them, and grant as much to others; an analyst asks; an auditor
    reads, ledgers included, and asks nothing.
    """

    name: str
    role: Role
    datasets: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ServiceError(
                "the name of an account has 1 to 100 letters, digits or any of . @ + - _"
            )
        if self.role not in ROLES:
            raise ServiceError(f"a role is one of {', '.join(ROLES)}")
        if self.datasets is not None and not all(_NAME.fullmatch(d) for d in self.datasets):
            raise ServiceError("datasets are given by name, separated by commas")

    def may_see(self, dataset: str) -> bool:
        return self.datasets is None or dataset in self.datasets

    def reaches(self, other: Account) -> bool:
        """Whether this account may do everything that the other may: nobody grants more.

        Roles need no comparison, because only a curator is ever asked, and that may do everything.
        """
        if self.role != "curator":
            return False
        if self.datasets is None:
            return True
        return other.datasets is not None and set(other.datasets) <= set(self.datasets)


@dataclass(frozen=True, slots=True)
class TokenRecord:
    """What is known of a token: everything but the token."""

    identity: str
    account: str
    made_at: float
    expires_at: float | None
    revoked_at: float | None

    def alive(self, now: float) -> bool:
        expired = self.expires_at is not None and now >= self.expires_at
        return self.revoked_at is None and not expired


@dataclass(frozen=True, slots=True)
class Caller:
    """An account, and how it proved itself: by a token, or by a browser session with its CSRF."""

    account: Account
    token: str  # its public id
    csrf: str | None = None
