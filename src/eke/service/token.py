"""Tokens: random, prefixed so that scanners find a leaked one, kept only as a hash.

eke_3f9c2a7d1b04_ZkV0…  =  prefix _ public id _ secret (256 random bits)
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass, field

PREFIX = "eke"
_FORM = re.compile(r"eke_([0-9a-f]{12})_([A-Za-z0-9_-]{43})")


@dataclass(frozen=True, slots=True)
class Token:
    """A token as its owner holds it; the secret shows in `text` only."""

    identity: str
    _secret: str = field(repr=False)

    @property
    def text(self) -> str:
        """What the owner is shown once."""
        return f"{PREFIX}_{self.identity}_{self._secret}"

    @property
    def hash(self) -> str:
        """What is kept. The secret is random, so that a plain hash cannot be searched."""
        return hashed(self._secret)


def new_token() -> Token:
    """A token that nobody else has."""
    return Token(secrets.token_hex(6), secrets.token_urlsafe(32))


def read_token(text: str) -> Token | None:
    """The token that a text holds; None for anything else."""
    parts = _FORM.fullmatch(text)
    return None if parts is None else Token(parts[1], parts[2])


def hashed(secret: str) -> str:
    """SHA-256 in hexadecimal."""
    return hashlib.sha256(secret.encode()).hexdigest()


def same(one: str, other: str) -> bool:
    """Equality in a time that does not tell where they differ."""
    return hmac.compare_digest(one.encode(), other.encode())
