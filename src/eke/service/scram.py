"""SCRAM-SHA-256 (RFC 5802, RFC 7677): a client proves that it holds a token without sending it.

Of a token a verifier is kept, from which neither the token nor a proof can be made. Clients prove
themselves before they say with which token, so that all tokens of an account have one salt, which
follows from its name; a token is 256 random bits, and needs no other. A name that nobody has gets
one as well: nothing tells whether there is such an account.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets
from collections.abc import Iterable
from dataclasses import dataclass

MECHANISM = "SCRAM-SHA-256"
ITERATIONS = 4096
_NO_BINDING = {"n,,": "biws", "y,,": "eSws"}  # what a client says, and repeats in base64
_MOST_LETTERS = 200  # of a client's nonce


class ScramError(Exception):
    """A message that is none of SCRAM's, or wants what is not offered."""


@dataclass(frozen=True, slots=True)
class Verifier:
    """What is kept of a token to recognise proofs of it."""

    stored_key: bytes
    server_key: bytes

    @staticmethod
    def of(account: str, token: str) -> Verifier:
        """The verifier of a token."""
        salted = hashlib.pbkdf2_hmac("sha256", token.encode(), salt_of(account), ITERATIONS)
        client_key = _hmac(salted, b"Client Key")
        return Verifier(hashlib.sha256(client_key).digest(), _hmac(salted, b"Server Key"))

    def to_text(self) -> str:
        return f"{_text(self.stored_key)}:{_text(self.server_key)}"

    @staticmethod
    def from_text(text: str) -> Verifier:
        stored_key, _, server_key = text.partition(":")
        return Verifier(_bytes(stored_key), _bytes(server_key))


class ScramExchange:
    """The server's side of one exchange: its first message, and whether the proof is right."""

    def __init__(self, account: str, mechanism: str, client_first: str) -> None:
        if mechanism != MECHANISM:
            raise ScramError(f"this server offers {MECHANISM} alone")
        header, self._first = client_first[:3], client_first[3:]
        parts = self._first.split(",")
        if header not in _NO_BINDING or len(parts) != 2 or not parts[0].startswith("n="):
            raise ScramError("the first message is not one of SCRAM without channel binding")
        nonce = parts[1].removeprefix("r=")
        if nonce == parts[1] or not nonce or len(nonce) > _MOST_LETTERS:
            raise ScramError("the first message has no nonce")
        self._binding = _NO_BINDING[header]
        self._nonce = nonce + secrets.token_urlsafe(24)
        self.server_first = f"r={self._nonce},s={_text(salt_of(account))},i={ITERATIONS}"

    def server_final(
        self, client_final: str, verifiers: Iterable[tuple[str, Verifier]]
    ) -> tuple[str, str] | None:
        """Of whose verifiers one fits the proof: its name and the last message; None if none does.

        All are tried: how long it takes does not tell which it was.
        """
        without, _, proof = client_final.rpartition(",p=")
        if without != f"c={self._binding},r={self._nonce}":
            raise ScramError("the last message does not belong to the first")
        given = _bytes(proof)
        said = f"{self._first},{self.server_first},{without}".encode()
        fitting: tuple[str, str] | None = None
        for name, verifier in verifiers:
            mask = _hmac(verifier.stored_key, said)
            key = bytes(one ^ other for one, other in zip(given, mask, strict=False))
            same = hmac.compare_digest(hashlib.sha256(key).digest(), verifier.stored_key)
            if same and len(given) == len(mask):
                fitting = name, f"v={_text(_hmac(verifier.server_key, said))}"
        return fitting


def salt_of(account: str) -> bytes:
    """The salt of all tokens of an account."""
    return hashlib.sha256(b"eke SCRAM salt of " + account.encode()).digest()[:16]


def _hmac(key: bytes, text: bytes) -> bytes:
    return hmac.digest(key, text, "sha256")


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _bytes(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise ScramError("a message is not in base64") from None
