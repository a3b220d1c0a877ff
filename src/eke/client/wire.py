"""Wire: requests to a server, and its failures as the errors that a local session raises."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from typing import Any

import httpx

from eke import errors
from eke.errors import AccessDenied, EkeError, Refused, ServiceError, SqlError, Unanswered
from eke.session import Preview

_TRIES = 3
_PAUSE_SECONDS = 0.3
_CONNECT_SECONDS = 10.0  # a server that takes longer is not there, however long its answers take
_KEY = re.compile(r"[!-~]{1,200}")


class Wire:
    """A connection to a server, with a token."""

    def __init__(
        self, url: str, token: str, *, timeout: float, transport: httpx.BaseTransport | None
    ) -> None:
        if not url.startswith(("http://", "https://")):
            raise ServiceError("the address of a server starts with https:// (or http://)")
        if not _KEY.fullmatch(token.strip()):
            raise AccessDenied("this is not a token of eke; those begin with eke_")
        self._timeout = timeout
        try:
            self._client = httpx.Client(
                base_url=url.rstrip("/"),
                headers={"Authorization": f"Bearer {token.strip()}", "User-Agent": "eke"},
                timeout=httpx.Timeout(timeout, connect=min(timeout, _CONNECT_SECONDS)),
                transport=transport,
            )
        except httpx.InvalidURL as problem:
            raise ServiceError(f"this is not the address of a server: {problem}") from None

    def get(self, path: str) -> dict[str, Any]:
        return self._send("GET", path, None, {})

    def find(self, path: str) -> dict[str, Any] | None:
        """What is at an address; None when there is nothing that the token may see."""
        response = self._reach("GET", path, None, {})
        return None if response.status_code == httpx.codes.NOT_FOUND else _document(response)

    def post(self, path: str, body: Mapping[str, Any], key: str | None = None) -> dict[str, Any]:
        """The answer to a request that may be sent again when the connection breaks.

        With a key it is then answered exactly once; without, what was bought the first time makes
        the second free.
        """
        if key is not None and not _KEY.fullmatch(key):
            raise ServiceError(
                "a key for a server has 1 to 200 ASCII letters, digits and signs, and no blanks"
            )
        return self._send("POST", path, body, {} if key is None else {"Idempotency-Key": key})

    def delete(self, path: str) -> None:
        """Remove what is at an address."""
        response = self._reach("DELETE", path, None, {})
        if response.status_code != httpx.codes.NO_CONTENT:
            _document(response)

    def text(self, path: str) -> str:
        """The body of an answer as it came."""
        response = self._reach("GET", path, None, {})
        if response.is_success:
            return response.text
        raise _error(response)

    def close(self) -> None:
        self._client.close()

    def _send(
        self, method: str, path: str, body: Mapping[str, Any] | None, headers: dict[str, str]
    ) -> dict[str, Any]:
        return _document(self._reach(method, path, body, headers))

    def _reach(
        self, method: str, path: str, body: Mapping[str, Any] | None, headers: dict[str, str]
    ) -> httpx.Response:
        """The first response that comes through."""
        left = _TRIES
        while True:
            left -= 1
            try:
                return self._client.request(method, path, json=body, headers=headers)
            except httpx.ReadTimeout:  # sent again, it would only be computed twice
                raise Unanswered(
                    f"the server did not answer within {self._timeout:g} seconds"
                ) from None
            except httpx.TransportError as problem:
                if not left:
                    raise Unanswered(
                        f"the server cannot be reached ({type(problem).__name__}); check the "
                        "address"
                    ) from None
                time.sleep(_PAUSE_SECONDS)


def _document(response: httpx.Response) -> dict[str, Any]:
    """The document in a response, or the error that it stands for."""
    if not response.is_success:
        raise _error(response)
    try:
        return dict(response.json())
    except (ValueError, TypeError):
        raise _stranger(response) from None


def _error(response: httpx.Response) -> EkeError:
    """The error that a local session would have raised."""
    try:
        return error_in(dict(response.json()), response.status_code)
    except (ValueError, KeyError, TypeError):
        return _stranger(response)


def _stranger(response: httpx.Response) -> EkeError:
    return Unanswered(
        f"the server answered {response.status_code}, and not as eke does; check the address"
    )


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
    if name == "NotFound":
        return ServiceError(message)
    unknown = status == httpx.codes.INTERNAL_SERVER_ERROR
    return (Unanswered if unknown else ServiceError)(f"{message} (status {status})")


def _refusal(document: Mapping[str, Any]) -> Preview:
    return Preview(
        "", 0.0, 0.0, "refuse", document["cost"], document["known"], document["narrowest"],
        document.get("measure", "epsilon"), document["remaining"],
        capped=document.get("capped", False), guarded=document.get("guarded", ""),
    )  # fmt: skip


def without(analyst: str | None) -> None:
    """Raise when somebody says who asks: a server knows it."""
    if analyst is not None:
        raise ServiceError("a server knows you by your token; leave analyst= out")
