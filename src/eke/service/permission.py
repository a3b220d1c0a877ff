"""Permission: which roles may use a route, and how far an account reaches.

An account reaches the datasets it may see. A curator reaches the accounts that may see nothing
else: whoever could make, list or hold a token of any other account would hold more than was given
to them. What is out of reach might as well not be there.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from fastapi import Depends, Path, Request

from eke.service.access import Access
from eke.service.account import Account, Caller, Role
from eke.service.failure import Problem
from eke.service.state import State, state_of
from eke.session import Session

EVERYONE: tuple[Role, ...] = ("curator", "analyst", "auditor")
ASKING: tuple[Role, ...] = ("curator", "analyst")
AUDITING: tuple[Role, ...] = ("curator", "auditor")
CURATING: tuple[Role, ...] = ("curator",)


_Check = Callable[[Request], Awaitable[None]]


def roles(*allowed: Role, also: _Check | None = None) -> dict[str, Any]:
    """The part of a route's declaration that says who may use it, for machines and people."""
    checks = [_requirement(allowed), *([] if also is None else [also])]
    return {"dependencies": [Depends(one) for one in checks], "openapi_extra": _shown(allowed)}


def _shown(allowed: tuple[Role, ...]) -> dict[str, Any]:
    return {"x-roles": sorted(allowed), "security": [{"token": []}]}


def _requirement(allowed: tuple[Role, ...]) -> _Check:
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
    return sees_own_only(state_of(request), account)


def sees_own_only(state: State, account: Account) -> bool:
    """The same, for whoever comes in by another door."""
    return account.role == "analyst" and state.settings.sharing == "own"


DatasetName = Annotated[str, Path(max_length=64, description="The name of a dataset.")]


async def _dataset(request: Request, name: DatasetName) -> Session:
    """The dataset of this name; one that the caller may not see might as well not be there."""
    session = state_of(request).datasets.get(name)
    if session is None or not caller_of(request).account.may_see(name):
        raise Problem(404, "NotFound", "there is no such dataset, or it is not yours to see")
    return session


AccountName = Annotated[str, Path(max_length=100, description="The name of an account.")]
TokenName = Annotated[str, Path(max_length=40, description="The id of a token.")]


async def require_whole_server(request: Request) -> None:
    """For what belongs to no dataset, such as the tables in the folder: a curator of everything."""
    if caller_of(request).account.datasets is not None:
        raise Problem(403, "Forbidden", "this needs a curator who may see all datasets")


def reached_account(access: Access, who: Account, name: str) -> Account:
    """The account of this name; 404 when there is none within reach."""
    account = access.find(name)
    if account is None or not who.reaches(account):
        raise Problem(404, "NotFound", "there is no such account, or it is not yours to manage")
    return account


def require_grantable(who: Account, wanted: Account) -> None:
    """Refuse an account that could do more than the one who makes it."""
    if not who.reaches(wanted):
        raise Problem(
            403,
            "Forbidden",
            "an account cannot see more than the curator who makes it; name its datasets, out of "
            "those that you see",
        )


Who = Annotated[Account, Depends(_account)]
Dataset = Annotated[Session, Depends(_dataset)]
