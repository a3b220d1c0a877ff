"""Browser sessions: a token is exchanged for a cookie that scripts cannot read."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response

from eke.service.account import Caller
from eke.service.body import SignIn
from eke.service.failure import Problem
from eke.service.gate import COOKIE
from eke.service.permission import EVERYONE, caller_of, roles
from eke.service.state import state_of

router = APIRouter(prefix="/api/v1/session", tags=["session"])


@router.post("", status_code=201)
def sign_in(request: Request, response: Response, body: SignIn) -> dict[str, Any]:
    """Begin a browser session; the answer holds the CSRF token for unsafe requests."""
    state = state_of(request)
    client = request.client
    caller = state.access.by_token(body.token.strip())
    if caller is None:
        wait = state.failures.take(client.host if client else "unknown")
        if wait:
            raise Problem(429, "TooManyRequests", "too many wrong tokens; wait a minute")
        raise Problem(401, "Unauthorized", "this token is not valid (any more)")
    cookie, csrf = state.access.sign_in(caller, state.settings.session_hours)
    response.set_cookie(
        COOKIE,
        cookie,
        max_age=int(state.settings.session_hours * 3600),
        httponly=True,
        samesite="strict",
        secure=state.settings.secure_cookies,
        path="/",
    )
    return _shown(caller, csrf, request)


@router.get("", **roles(*EVERYONE))
def who_am_i(request: Request) -> dict[str, Any]:
    """Who is asking; for a browser also its CSRF token."""
    caller = caller_of(request)
    return _shown(caller, caller.csrf, request)


@router.delete("", status_code=204, **roles(*EVERYONE))
def sign_out(request: Request, response: Response) -> None:
    """End the browser session."""
    cookie = request.cookies.get(COOKIE)
    if cookie is not None:
        state_of(request).access.sign_out(cookie)
    response.delete_cookie(COOKIE, path="/")


def _shown(caller: Caller, csrf: str | None, request: Request) -> dict[str, Any]:
    settings, account = state_of(request).settings, caller.account
    whole = account.role == "curator" and account.datasets is None
    return {
        "name": account.name,
        "role": account.role,
        "datasets": None if account.datasets is None else list(account.datasets),
        "csrf": csrf,
        "sharing": settings.sharing,
        "can_create": settings.folder is not None and whole,
    }
