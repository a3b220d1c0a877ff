"""Permission: which roles may use a route, and which datasets an account may see."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from fastapi import Depends, Path, Request

from eke.service.account import Account, Caller, Role
from eke.service.failure import Problem
from eke.service.state import state_of
from eke.session import Session

EVERYONE: tuple[Role, ...] = ("curator", "analyst", "auditor")
ASKING: tuple[Role, ...] = ("curator", "analyst")
AUDITING: tuple[Role, ...] = ("curator", "auditor")
CURATING: tuple[Role, ...] = ("curator",)


def roles(*allowed: Role) -> dict[str, Any]:
    """The part of a route's declaration that says who may use it, for machines and people."""
    return {"dependencies": [Depends(_requirement(allowed))], "openapi_extra": _shown(allowed)}


def _shown(allowed: tuple[Role, ...]) -> dict[str, Any]:
    return {"x-roles": sorted(allowed), "security": [{"token": []}]}


def _requirement(allowed: tuple[Role, ...]) -> Callable[[Request], Awaitable[None]]:
    async def require(request: Request) -> None:
        if caller_of(request).account.role not in allowed:
            raise Problem(403, "Forbidden", f"this needs the role {' or '.join(allowed)}")

    return require


def caller_of(request: Request) -> Caller:
    """Who sent the request; the gate has found out."""
    caller: Caller = request.state.caller
    return caller


async def _account(request: Request) -> Account:
    return caller_of(request).account


def own_only(request: Request, account: Account) -> bool:
    """Whether this account sees only what it asked for itself."""
    return account.role == "analyst" and state_of(request).settings.sharing == "own"


DatasetName = Annotated[str, Path(max_length=64, description="The name of a dataset.")]


async def _dataset(request: Request, name: DatasetName) -> Session:
    """The dataset of this name; one that the caller may not see might as well not be there."""
    session = state_of(request).datasets.get(name)
    if session is None or not caller_of(request).account.may_see(name):
        raise Problem(404, "NotFound", "there is no such dataset, or it is not yours to see")
    return session


Who = Annotated[Account, Depends(_account)]
Dataset = Annotated[Session, Depends(_dataset)]
