"""Wire: requests to a server, and its failures as the errors that a local session raises."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import httpx

from eke import errors
from eke.errors import AccessDenied, EkeError, Refused, ServiceError, SqlError
from eke.session import Preview

_TRIES = 3
_PAUSE_SECONDS = 0.3


class Wire:
    """A connection to a server, with a token."""

    def __init__(
        self, url: str, token: str, *, timeout: float, transport: httpx.BaseTransport | None
    ) -> None:
        if not url.startswith(("http://", "https://")):
            raise ServiceError("the address of a server starts with https:// (or http://)")
        self._client = httpx.Client(
            base_url=url.rstrip("/"),
            headers={"Authorization": f"Bearer {token}", "User-Agent": "eke"},
            timeout=timeout,
            transport=transport,
        )

    def get(self, path: str) -> dict[str, Any]:
        return self._send("GET", path, None, {})

    def post(self, path: str, body: Mapping[str, Any], key: str | None = None) -> dict[str, Any]:
        """The answer to a request that may be sent again when the connection breaks.

        With a key it is then answered exactly once; without, what was bought the first time makes
        the second free.
        """
        return self._send("POST", path, body, {} if key is None else {"Idempotency-Key": key})

    def text(self, path: str) -> str:
        """The body of an answer as it came."""
        found = self._reach("GET", path, None, {})
        if found.is_success:
            return found.text
        raise _error(found)

    def close(self) -> None:
        self._client.close()

    def _send(
        self, method: str, path: str, body: Mapping[str, Any] | None, headers: dict[str, str]
    ) -> dict[str, Any]:
        found = self._reach(method, path, body, headers)
        if found.is_success:
            document: dict[str, Any] = found.json()
            return document
        raise _error(found)

    def _reach(
        self, method: str, path: str, body: Mapping[str, Any] | None, headers: dict[str, str]
    ) -> httpx.Response:
        """The first response that comes through."""
        left = _TRIES
        while True:
            left -= 1
            try:
                return self._client.request(method, path, json=body, headers=headers)
            except httpx.TransportError as problem:
                if not left:
                    raise ServiceError(
                        f"the server cannot be reached ({type(problem).__name__}); check the "
                        "address"
                    ) from None
                time.sleep(_PAUSE_SECONDS)


def _error(found: httpx.Response) -> EkeError:
    """The error that a local session would have raised."""
    try:
        document = dict(found.json())
        return error_in(document, found.status_code)
    except (ValueError, KeyError, TypeError):
        return ServiceError(f"the server answered {found.status_code}, and not as eke does")


def error_in(document: Mapping[str, Any], status: int) -> EkeError:
    """The error that a document of a failure stands for."""
    name, message = str(document["error"]), str(document["message"])
    if status in (401, 403):
        return AccessDenied(message)
    if name == "SqlError":
        return SqlError(message, int(document["line"]), int(document["column"]))
    if name == "Refused":
        refusal = document.get("refusal")
        return Refused(message, None if refusal is None else _refusal(refusal))
    kind = getattr(errors, name, None)
    if isinstance(kind, type) and issubclass(kind, EkeError):
        return kind(message)
    return ServiceError(f"{message} (status {status})")


def _refusal(document: Mapping[str, Any]) -> Preview:
    return Preview(
        "", 0.0, 0.0, "refuse", document["cost"], document["known"], document["narrowest"],
        document.get("measure", "epsilon"), document["remaining"],
    )  # fmt: skip
