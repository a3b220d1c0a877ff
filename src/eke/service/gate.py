"""Gate: every request passes here first. It knows nothing of questions.

size → who is it → CSRF → rate → the application → pace → security headers, metrics, log

Whoever is not known gets no further than 401, whatever they sent and wherever; roles are checked
by each route (`permission.py`).
"""

from __future__ import annotations

import asyncio
import math
import secrets
import time
from http.cookies import CookieError, SimpleCookie
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from eke.service.account import Caller
from eke.service.failure import Problem, refused, unexpected
from eke.service.log import log
from eke.service.state import State
from eke.service.token import same

COOKIE = "eke_session"
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
SIGN_IN = "/api/v1/session"
SECURITY_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self'; connect-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
FRAMED = {
    "Content-Security-Policy": "sandbox; default-src 'none'; style-src 'unsafe-inline'; "
    "form-action 'none'; base-uri 'none'; frame-ancestors 'self'",
    "X-Frame-Options": "SAMEORIGIN",
    "Cross-Origin-Opener-Policy": "unsafe-none",  # browsers refuse any other one in a sandbox
}
"""Of a report, which has a style of its own, no scripts, and is shown within the console."""
_ENCODED_HEADERS = [
    (name.lower().encode(), text.encode()) for name, text in SECURITY_HEADERS.items()
]


class Gate:
    """ASGI middleware: recognises callers and bounds what they send."""

    def __init__(self, app: ASGIApp, state: State) -> None:
        self._app = app
        self._state = state

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, arrived = time.perf_counter(), self._state.pace.clock()
        number = secrets.token_hex(8)
        sent: dict[str, Any] = {"status": 500, "started": False}
        scope.setdefault("state", {})

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                sent.update(status=message["status"], started=True)
                given = {name for name, _ in message["headers"]}
                more = [one for one in self._headers(scope, number) if one[0] not in given]
                message["headers"] = [*message["headers"], *more]
                if scope["state"].get("held_back"):  # last: what follows should take no time
                    await self._state.pace.keep(arrived)
            await send(message)

        try:
            admitted = await self._admit(scope, receive)
            await self._app(scope, admitted, send_with_headers)
        except Problem as problem:
            await refused(problem)(scope, receive, send_with_headers)
        except Exception:  # noqa: BLE001 - the last place where it can become an answer
            answer = unexpected()
            if not sent["started"]:
                await answer(scope, receive, send_with_headers)
        self._record(scope, number, int(sent["status"]), time.perf_counter() - began)

    # -- before --------------------------------------------------------------------------------

    async def _admit(self, scope: Scope, receive: Receive) -> Receive:
        """The rest of the request, read and bounded; a Problem when it may not go on."""
        headers = {name.decode("latin-1"): value for name, value in scope["headers"]}
        if _needs_caller(scope):
            if self._state.access.storage.shared:  # on another machine: others need not wait for it
                caller = await asyncio.to_thread(self._recognise, scope, headers)
            else:
                caller = self._recognise(scope, headers)
            scope["state"]["caller"] = caller
        if scope["method"] in SAFE_METHODS:
            return receive
        if scope["path"] == SIGN_IN and scope["method"] == "POST":
            _require_same_origin(headers)
        body = await self._body(headers, receive)
        waiting = [{"type": "http.request", "body": body, "more_body": False}]

        async def replay() -> Message:
            return waiting.pop() if waiting else await receive()

        return replay

    def _recognise(self, scope: Scope, headers: dict[str, bytes]) -> Caller:
        state = self._state
        bearer = headers.get("authorization")
        cookie = _cookie(headers) if bearer is None else None
        if bearer is not None:
            scheme, _, text = bearer.decode("latin-1").partition(" ")
            known = state.access.by_token(text.strip()) if scheme.lower() == "bearer" else None
        elif cookie is not None:
            known = state.access.by_cookie(cookie)
        else:
            known = None
        if known is None:
            self._count_failure(scope, tried=bearer is not None)
            raise Problem(
                401,
                "Unauthorized",
                "send a valid token in the header Authorization: Bearer eke_…; a curator makes "
                "tokens with `eke token new`",
            )
        if known.csrf is not None and scope["method"] not in SAFE_METHODS:
            given = headers.get("x-csrf-token", b"").decode("latin-1")
            _require_same_origin(headers)
            if not same(given, known.csrf):
                raise Problem(403, "CsrfMissing", "a browser must send its X-CSRF-Token")
        wait = state.requests.take(known.account.name)
        if wait:
            raise _too_many(wait)
        return known

    def _count_failure(self, scope: Scope, *, tried: bool) -> None:
        """A wrong token counts against the address it came from; a right one is never blocked."""
        if not tried:
            return
        client = scope.get("client")
        wait = self._state.failures.take(client[0] if client else "unknown")
        if wait:
            raise _too_many(wait)

    async def _body(self, headers: dict[str, bytes], receive: Receive) -> bytes:
        most = self._state.settings.largest_body
        announced = headers.get("content-length", b"0")
        if announced.isdigit() and int(announced) > most:
            raise _too_large(most)
        body = bytearray()
        try:
            async with asyncio.timeout(self._state.settings.body_seconds):
                while True:
                    message = await receive()
                    body += message.get("body", b"")
                    if len(body) > most:
                        raise _too_large(most)
                    if message["type"] == "http.disconnect" or not message.get("more_body"):
                        return bytes(body)
        except TimeoutError:
            raise Problem(408, "RequestTimeout", "the body took too long to arrive") from None

    # -- after ---------------------------------------------------------------------------------

    def _headers(self, scope: Scope, number: str) -> list[tuple[bytes, bytes]]:
        shown = [*_ENCODED_HEADERS, (b"x-request-id", number.encode())]
        if not scope["path"].startswith("/console/"):
            shown.append((b"cache-control", b"no-store"))
        if scope.get("scheme") == "https":
            shown.append((b"strict-transport-security", b"max-age=31536000"))
        return shown

    def _record(self, scope: Scope, number: str, status: int, seconds: float) -> None:
        route = getattr(scope.get("route"), "path", "none")
        caller: Caller | None = scope["state"].get("caller")
        self._state.metrics.count(
            "eke_requests_total", route=route, method=scope["method"], status=str(status)
        )
        self._state.metrics.time(route, seconds)
        log(
            "request",
            request=number,
            method=scope["method"],
            route=route,
            status=status,
            milliseconds=round(seconds * 1000.0, 1),
            account=None if caller is None else caller.account.name,
        )


def _needs_caller(scope: Scope) -> bool:
    path: str = scope["path"]
    if path == SIGN_IN and scope["method"] == "POST":
        return False
    return path.startswith("/api/") or path == "/metrics"


def _cookie(headers: dict[str, bytes]) -> str | None:
    try:
        jar = SimpleCookie(headers.get("cookie", b"").decode("latin-1"))
    except CookieError:
        return None
    return jar[COOKIE].value if COOKIE in jar else None


def _require_same_origin(headers: dict[str, bytes]) -> None:
    """A page of another site may make a browser send a request, but not hide where it is from."""
    origin = headers.get("origin")
    if origin is None:
        return
    host = headers.get("host", b"")
    if origin.partition(b"://")[2] != host:
        raise Problem(403, "CrossOrigin", "requests of browsers must come from the console itself")


def _too_many(wait: float) -> Problem:
    seconds = math.ceil(wait)
    return Problem(
        429, "TooManyRequests", f"wait {seconds} s and send it again", retry_after=seconds
    )


def _too_large(most: int) -> Problem:
    return Problem(413, "TooLarge", f"a request body may have at most {most:,} bytes")
